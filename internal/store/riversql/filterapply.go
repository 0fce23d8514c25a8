package riversql

import (
	"cmp"
	"context"
	"database/sql"
	"maps"
	"slices"
	"time"

	"cloudburst/internal/river"
	"cloudburst/internal/river/filter"
	"cloudburst/internal/store/sqldb"
)

// ruleKey identifies one state of a rule.
type ruleKey struct{ id, version int64 }

// filtering contains the matches of the rules of a source's followers for the items of a check. It
// is computed before the transaction, because matching may take longer than a transaction should.
type filtering struct {
	matches map[ruleKey][]bool // by rule, then by index in Put
	fresh   []int              // indexes in Put of the new items, in order of place
	budget  filter.Budget
}

// rulesFor returns the rules that apply to new items of a source, by reader and in the reader's
// order.
func rulesFor(ctx context.Context, c sqldb.Conn, source int64) ([]filter.Rule, error) {
	return unpackRules(sqldb.Collect(ctx, c, scanRule, `SELECT `+filterColumns+` FROM river_filter AS f WHERE f.source_id IN (0, $1) AND f.enabled AND f.dropped_at = 0
			AND EXISTS (SELECT 1 FROM river_subscription AS u WHERE u.reader = f.reader AND u.source_id = $1)
			AND (f.category = '' OR EXISTS (SELECT 1 FROM river_category_source AS m
				WHERE m.reader = f.reader AND m.category = f.category AND m.source_id = $1)) ORDER BY f.reader, f.position, f.id`, source))
}

func newFiltering() filtering {
	return filtering{matches: map[ruleKey][]bool{}, budget: filter.Budget{Left: filter.CheckBudget}}
}

// match compares the items of a check with the rules of the source's followers, before the
// transaction. As long as no rule applied to any check, runFilters alone looks for rules.
func (v *saving) match(ctx context.Context, db *sqldb.DB) error {
	if len(v.Put) == 0 {
		return nil
	}
	rules, err := sqldb.Read(ctx, db, func(ctx context.Context, c sqldb.Conn) ([]filter.Rule, error) { return rulesFor(ctx, c, v.Source.ID) })
	if err != nil {
		return err
	}
	return v.matchRules(ctx, rules)
}

// matchRules compares the items with those rules that have no matches in v.filters yet.
func (v *saving) matchRules(ctx context.Context, rules []filter.Rule) error {
	var subjects []*filter.Subject
	for i := range rules {
		r := &rules[i]
		key := ruleKey{r.ID, r.Version}
		if _, done := v.filters.matches[key]; done {
			continue
		}
		compiled, err := filter.Compile(r)
		if err != nil {
			v.filters.matches[key] = make([]bool, len(v.Put)) // no item matches: an earlier version with other limits stored this rule
			continue
		}
		if subjects == nil {
			for j := range v.Put {
				subjects = append(subjects, filter.NewSubject(filter.ItemOf(&v.Put[j].Content)))
			}
		}
		matches := make([]bool, len(v.Put))
		for j, subject := range subjects {
			if err := ctx.Err(); err != nil {
				return err
			}
			matches[j] = compiled.Match(subject, &v.filters.budget)
		}
		v.filters.matches[key] = matches
	}
	return nil
}

// filtered is the decision of a reader's rules about one item.
type filtered struct {
	reader            string
	place, source, id int64
	filter.Effect
}

// countFiltered updates the counters for items that rules are about to mark as read. The transaction
// has locked them.
func countFiltered(ctx context.Context, c sqldb.Conn, list []filtered) error {
	ids := map[string][]int64{}
	for i := range list {
		if f := &list[i]; f.Read {
			ids[f.reader] = append(ids[f.reader], f.id)
		}
	}
	for _, reader := range slices.Sorted(maps.Keys(ids)) {
		found, err := markableNow(ctx, c, reader, ids[reader])
		if err != nil {
			return err
		}
		if err := countMarks(ctx, c, reader, found, true); err != nil {
			return err
		}
	}
	return nil
}

// runFilters applies the rules of the source's followers to the new items of a check. The first
// check of a feed does not forward items.
func (v *saving) runFilters(ctx context.Context, c sqldb.Conn, places []int64, first bool) error {
	rules, err := rulesFor(ctx, c, v.Source.ID)
	if err != nil || len(rules) == 0 {
		return err
	}
	if err := v.matchRules(ctx, rules); err != nil { // compare with rules that changed since v.match
		return err
	}
	var list []filtered
	for len(rules) > 0 {
		n := 1
		for n < len(rules) && rules[n].Reader == rules[0].Reader {
			n++
		}
		own := rules[:n]
		rules = rules[n:]
		for at, i := range v.filters.fresh {
			d := filter.Combine(own, false, func(r int) bool { return v.filters.matches[ruleKey{own[r].ID, own[r].Version}][i] })
			if len(d.Rules) > 0 {
				list = append(list, filtered{own[0].Reader, places[at], v.Source.ID, v.Put[i].ID, d})
			}
		}
	}
	if err := countFiltered(ctx, c, list); err != nil {
		return err
	}
	if err := markFiltered(ctx, c, list, v.Now); err != nil {
		return err
	}
	if !first {
		if err := forwardFiltered(ctx, c, list, v.Now); err != nil {
			return err
		}
	}
	return countMatched(ctx, c, list, v.Now)
}

// markFiltered sets the marks that rules decided. It never hides starred items. Hidden items are
// removed from the queues of forwardings.
func markFiltered(ctx context.Context, c sqldb.Conn, list []filtered, now time.Time) error {
	var rows, hidden [][]any
	slices.SortFunc(list, func(a, b filtered) int { return cmp.Or(cmp.Compare(a.reader, b.reader), cmp.Compare(a.place, b.place)) })
	for i := range list {
		f := &list[i]
		if f.Read || f.Star {
			rows = append(rows, []any{f.reader, f.place, f.source, f.Read, f.Star, f.Hide, sqldb.Millis(now)})
		}
		if f.Hide != 0 {
			hidden = append(hidden, []any{f.reader, f.place})
		}
	}
	_, err := c.Bulk(ctx, `rows(reader t, place i, source i, read o, starred o, hidden i, now i)
		INSERT INTO item_mark (reader, place, source_id, read, starred, starred_at, hidden_by)
		SELECT :reader, :place, :source, :read, :starred, CASE WHEN :starred THEN :now ELSE 0 END, :hidden
		{FROM ROWS} WHERE true ON CONFLICT (reader, place) DO UPDATE SET read = (item_mark.read OR excluded.read),
			starred = (item_mark.starred OR excluded.starred),
			starred_at = CASE WHEN item_mark.starred THEN item_mark.starred_at ELSE excluded.starred_at END,
			hidden_by = CASE WHEN item_mark.starred THEN 0 WHEN item_mark.hidden_by <> 0 THEN item_mark.hidden_by ELSE excluded.hidden_by END`, rows)
	if err != nil {
		return err
	}
	_, err = c.Bulk(ctx, `rows(reader t, place i) DELETE FROM notice_queue AS q {USING ROWS}
		WHERE q.place = :place AND q.notice_id IN (SELECT n.id FROM notice AS n WHERE n.reader = :reader)`, hidden)
	return err
}

// forwardFiltered queues items for the forwardings that rules name. It omits forwardings that are
// paused or not confirmed.
func forwardFiltered(ctx context.Context, c sqldb.Conn, list []filtered, now time.Time) error {
	may := map[int64]string{} // key: id of a usable forwarding, value: its reader
	for i := range list {
		for _, id := range list[i].Forward {
			may[id] = ""
		}
	}
	if len(may) == 0 {
		return nil
	}
	var ids [][]any
	for id := range may {
		ids = append(ids, []any{id})
	}
	err := c.BulkQuery(ctx, `rows(id i) SELECT n.id, n.reader FROM notice AS n {AND ROWS} WHERE n.id = :id AND NOT n.paused AND n.state = 'confirmed'`, func(rows *sql.Rows) error {
		var id int64
		var reader string
		err := rows.Scan(&id, &reader)
		may[id] = "=" + reader
		return err
	}, ids)
	if err != nil {
		return err
	}
	at := map[int64][]int64{}
	for i := range list {
		for _, id := range list[i].Forward {
			if may[id] == "="+list[i].reader {
				at[id] = append(at[id], list[i].place)
			}
		}
	}
	for id, places := range at {
		if err := enqueue(ctx, c, []int64{id}, places, now); err != nil {
			return err
		}
	}
	return nil
}

// countMatched adds the matched items to the totals of the applied rules.
func countMatched(ctx context.Context, c sqldb.Conn, list []filtered, now time.Time) error {
	sum := map[int64]int64{}
	for i := range list {
		for _, id := range list[i].Rules {
			sum[id]++
		}
	}
	var rows [][]any
	for id, n := range sum {
		rows = append(rows, []any{id, n, sqldb.Millis(now)})
	}
	slices.SortFunc(rows, func(a, b []any) int { return cmp.Compare(a[0].(int64), b[0].(int64)) })
	_, err := c.Bulk(ctx, `rows(id i, n i, now i) UPDATE river_filter AS f SET matched = f.matched + :n, last_at = :now {FROM ROWS} WHERE f.id = :id`, rows)
	return err
}

// ApplyFilters implements river.Store.
func (s *filterStore) ApplyFilters(ctx context.Context, now, before time.Time, n int) (bool, error) {
	rows, err := sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) ([]ruleRow, error) {
		return sqldb.Collect(ctx, c, scanRule, `SELECT `+filterColumns+` FROM river_filter AS f WHERE f.apply_place IS NOT NULL ORDER BY f.id LIMIT 1`)
	})
	rules, err := unpackRules(rows, err)
	if err != nil {
		return false, err
	}
	if len(rules) == 0 {
		return s.purgeFilter(ctx, before, n)
	}
	return true, s.applyFilter(ctx, &rules[0], rows[0].apply.Int64, now, n)
}

// applyFilter applies a rule to the next existing items below a place. It does not forward items.
func (s *filterStore) applyFilter(ctx context.Context, r *filter.Rule, below int64, now time.Time, n int) error {
	entries, err := s.itemsBelow(ctx, r, below, n)
	if err != nil {
		return err
	}
	list, err := unpackEntries(entries, nil)
	if err != nil {
		return err
	}
	compiled, err := filter.Compile(r)
	if err != nil {
		compiled = &filter.Compiled{} // an earlier version with other limits stored this rule: it matches nothing
	}
	var found []filtered
	var ids []int64
	for i := range list {
		e := &list[i]
		if !compiled.Match(filter.NewSubject(filter.ItemOf(&e.Content)), nil) {
			continue
		}
		d := filter.Combine([]filter.Rule{*r}, e.Starred, func(int) bool { return true })
		found = append(found, filtered{r.Reader, entries[i].place, e.SourceID, e.ID, d})
		ids = append(ids, e.ID)
	}
	var next any
	if len(list) == n && r.Applied+int64(n) < filter.MaxApplied {
		next = entries[n-1].place
	}
	return s.db.Write(ctx, func(ctx context.Context, c sqldb.Conn) error {
		// Lock the counters before the rule, in the same order as a check.
		if _, err := (&itemStore{db: s.db}).markable(ctx, c, r.Reader, ids); err != nil {
			return err
		}
		done, err := c.Exec(ctx, `UPDATE river_filter SET apply_place = $1, applied = applied + $2 WHERE id = $3 AND version = $4 AND apply_place = $5`,
			next, int64(len(list)), r.ID, r.Version, below)
		if err != nil || done == 0 { // the rule changed, or another process has applied it
			return err
		}
		if err := countFiltered(ctx, c, found); err != nil {
			return err
		}
		if err := markFiltered(ctx, c, found, now); err != nil {
			return err
		}
		return countMatched(ctx, c, found, now)
	})
}

// itemsBelow returns the next items in the scope of a rule that are below its place, newest first.
func (s *filterStore) itemsBelow(ctx context.Context, r *filter.Rule, below int64, n int) ([]entryRow, error) {
	p, err := planItems(river.ItemQuery{Reader: r.Reader, SourceID: r.SourceID, Category: r.Category, Limit: n}, FTS5)
	if err != nil {
		return nil, err
	}
	p.hi = min(p.hi, below)
	return sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) ([]entryRow, error) {
		q := *p
		places, err := q.places(ctx, &itemStore{db: s.db}, c)
		if err != nil {
			return nil, err
		}
		return loadEntries(ctx, c, r.Reader, places[:min(len(places), n)], false)
	})
}

// purgeFilter completes the deletion of a rule that was deleted before a time. It shows up to n of
// the items that the rule has hidden, and removes the rule when none are left.
func (s *filterStore) purgeFilter(ctx context.Context, before time.Time, n int) (bool, error) {
	const text = `SELECT ` + filterColumns + ` FROM river_filter AS f WHERE f.dropped_at > 0 AND f.dropped_at < $1 ORDER BY f.dropped_at LIMIT 1`
	rows, err := sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) ([]ruleRow, error) {
		return sqldb.Collect(ctx, c, scanRule, text, sqldb.Millis(before))
	})
	if err != nil || len(rows) == 0 {
		return false, err
	}
	r := &rows[0]
	return true, s.db.Write(ctx, func(ctx context.Context, c sqldb.Conn) error {
		places, err := sqldb.Collect(ctx, c, sqldb.ScanID, `SELECT place FROM item_mark WHERE reader = $1 AND hidden_by = $2 AND hidden_by <> 0 ORDER BY place LIMIT $3`, r.Reader, r.ID, n)
		if err != nil {
			return err
		}
		marks := make([][]any, len(places))
		for i, place := range places {
			marks[i] = []any{r.Reader, place, r.ID}
		}
		_, err = c.Bulk(ctx, `rows(reader t, place i, rule i) UPDATE item_mark AS k SET hidden_by = 0 {FROM ROWS} WHERE k.reader = :reader AND k.place = :place AND k.hidden_by = :rule`, marks)
		if err != nil || len(places) == n {
			return err
		}
		_, err = c.Exec(ctx, `DELETE FROM river_filter WHERE id = $1 AND dropped_at > 0 AND dropped_at < $2`, r.ID, sqldb.Millis(before))
		return err
	})
}
