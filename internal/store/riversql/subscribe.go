package riversql

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"slices"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/river"
	"cloudburst/internal/store/sqldb"
)

// follower is a reader and a source.
type follower struct {
	reader string
	source int64
}

// addition is a river.Addition with encoded values, to be written.
type addition struct {
	follower
	river.Addition
	state, login string
	details      details
	fresh        bool // the subscription is new
}

// RiverSubscribe implements river.Store.
func (s *subscriptionStore) RiverSubscribe(ctx context.Context, list []river.Addition, now time.Time, limit int) ([]bool, error) {
	all, which, err := packAdditions(list)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	err = s.db.Write(ctx, func(ctx context.Context, c sqldb.Conn) error {
		if err := holdSources(ctx, c, s.db.Shared, sourcesOf(all)); err != nil {
			return err
		}
		if err := addSubscriptions(ctx, c, all, limit); err != nil {
			return err
		}
		if err := addSources(ctx, c, all, now); err != nil {
			return err
		}
		if err := recount(ctx, c, freshOf(all)); err != nil {
			return err
		}
		if err := moveRules(ctx, c, all); err != nil {
			return err
		}
		return addCategories(ctx, c, all)
	})
	if err != nil {
		return nil, err
	}
	isNew := make([]bool, len(list))
	for i, n := range which {
		isNew[i] = n >= 0 && all[n].fresh
	}
	return isNew, nil
}

func sourcesOf(all []addition) (ids []int64) {
	for i := range all {
		ids = append(ids, all[i].source)
	}
	return ids
}

// freshOf returns the subscriptions that are new.
func freshOf(all []addition) (list []follower) {
	for i := range all {
		if all[i].fresh {
			list = append(list, all[i].follower)
		}
	}
	return list
}

// packAdditions merges duplicates and sorts the additions, so that all callers lock in the same
// order. which has the index in all of each element of list, or -1 for a duplicate.
func packAdditions(list []river.Addition) (all []addition, which []int, err error) {
	at := make(map[follower]int, len(list))
	for _, a := range list {
		key := follower{sqldb.Clean(a.Reader), a.Source.ID}
		n, again := at[key]
		if again {
			all[n].Categories = append(all[n].Categories, a.Categories...)
			continue
		}
		one := addition{follower: key, Addition: a}
		one.Categories = slices.Clone(a.Categories)
		if one.Source.State.URL == "" {
			one.Source.State.URL = a.Source.URL
		}
		if one.state, one.details, err = packSource(&one.Source); err != nil {
			return nil, nil, err
		}
		if one.login, err = packLogin(a.Source.Login); err != nil {
			return nil, nil, err
		}
		at[key] = len(all)
		all = append(all, one)
	}
	slices.SortFunc(all, func(a, b addition) int {
		return cmp.Or(cmp.Compare(a.source, b.source), cmp.Compare(a.reader, b.reader))
	})
	for i := range all {
		at[all[i].follower] = i
		all[i].Categories = sortCategories(all[i].Categories)
	}
	which = make([]int, len(list))
	for i, a := range list {
		key := follower{sqldb.Clean(a.Reader), a.Source.ID}
		n, ok := at[key]
		if which[i] = n; !ok {
			which[i] = -1
		}
		delete(at, key) // the next addition with this key is a duplicate
	}
	return all, which, nil
}

// sortCategories returns a sorted list of categories without duplicates and empty names.
func sortCategories(list []string) []string {
	tidy := make([]string, 0, len(list))
	for _, name := range list {
		if name = sqldb.Clean(name); name != "" {
			tidy = append(tidy, name)
		}
	}
	slices.Sort(tidy)
	return slices.Compact(tidy)
}

func packCategories(list []string) string {
	if len(list) == 0 {
		return "[]"
	}
	b, _ := json.Marshal(list) // encoding texts never fails
	return string(b)
}

func unpackCategories(text string) (list []string) {
	if text != "[]" {
		_ = json.Unmarshal([]byte(text), &list) // the text comes from packCategories, so decoding cannot fail
	}
	return list
}

// addSubscriptions writes the missing subscriptions and records which are new. A title that the feed
// has too is no title of the user. The caller may have looked before the feed was read, so the
// statement compares again.
func addSubscriptions(ctx context.Context, c sqldb.Conn, all []addition, limit int) error {
	at, rows, gained := make(map[follower]int, len(all)), make([][]any, len(all)), map[string]bool{}
	for i := range all {
		a := &all[i]
		a.fresh = false
		at[a.follower] = i
		rows[i] = []any{a.reader, a.source, readPlace(a.ReadTo), sqldb.Millis(a.AddedAt), int64(a.Interval), a.ListID, sqldb.Clean(a.Title), packCategories(a.Categories), a.FullText}
	}
	err := c.BulkQuery(ctx, `rows(reader t, source i, read i, added i, wish i, list i, title t, categories t, whole o)
		INSERT INTO river_subscription (reader, source_id, read_place, added_at, wish, list_id, title, categories, full_text)
		SELECT :reader, :source, :read, :added, :wish, :list,
			CASE WHEN EXISTS (SELECT 1 FROM source AS s WHERE s.id = :source AND s.title = :title) THEN '' ELSE :title END, :categories, :whole
		{FROM ROWS} WHERE true
		ON CONFLICT (reader, source_id) DO NOTHING RETURNING reader, source_id`, func(rows *sql.Rows) error {
		var f follower
		err := rows.Scan(&f.reader, &f.source)
		all[at[f]].fresh, gained[f.reader] = true, true
		return err
	}, rows)
	if err != nil || limit <= 0 {
		return err
	}
	for reader := range gained {
		have, err := sqldb.Count(ctx, c, `SELECT COUNT(*) FROM (SELECT 1 FROM river_subscription WHERE reader = $1 LIMIT $2) AS n`, reader, limit+1)
		if err != nil {
			return err
		}
		if have > int64(limit) {
			return fault.New(fault.TooMany, "You can follow at most %d feeds.", limit)
		}
	}
	return nil
}

// addSources creates the sources of new subscriptions, or makes existing sources due again.
func addSources(ctx context.Context, c sqldb.Conn, all []addition, now time.Time) error {
	var rows [][]any
	for i := 0; i < len(all); {
		a, readers, wish := &all[i], 0, all[i].Source.State.Interval
		for ; i < len(all) && all[i].source == a.source; i++ {
			if one := &all[i]; one.fresh {
				readers++
				if one.Interval > 0 && (wish == 0 || one.Interval < wish) {
					wish = one.Interval
				}
			}
		}
		if readers == 0 {
			continue
		}
		next := sqldb.Millis(a.Source.NextAt)
		if next == 0 && !a.details.gone {
			next = sqldb.Millis(now)
		}
		rows = append(rows, []any{a.source, next, int64(readers), int64(wish), sqldb.Millis(now), sqldb.Clean(a.Source.URL), a.details.title, a.login, a.state,
			a.details.gone, a.details.moved, a.details.failing, sqldb.Millis(a.Source.State.CheckedAt)})
	}
	_, err := c.Bulk(ctx, `rows(id i, next i, readers i, wish i, now i, url t, title t, login t, state t, gone o, moved o, failing o, checked i)
		INSERT INTO source (id, next_at, claim, heard_at, heard_in, readers, checks, checked_at, told_hash, items, failing, gone, moved,
			pushed_until, wish, created_at, heard, url, first_url, topic, title, login, state)
		SELECT :id, NULLIF(:next, 0), 0, 0, FALSE, :readers, 0, :checked, 0, 0, :failing, :gone, :moved,
			0, :wish, :now, '', :url, :url, '', :title, :login, :state
		{FROM ROWS} WHERE true
		ON CONFLICT (id) DO UPDATE SET readers = source.readers + excluded.readers, left_at = NULL,
			next_at = CASE WHEN source.gone THEN NULL WHEN source.readers = 0 OR source.next_at IS NULL THEN excluded.created_at ELSE source.next_at END,
			wish = CASE WHEN source.wish = 0 OR excluded.wish > 0 AND excluded.wish < source.wish THEN excluded.wish ELSE source.wish END`, rows)
	return err
}

// moveRules moves the forwardings and filters of replaced sources to the sources that replace them.
func moveRules(ctx context.Context, c sqldb.Conn, all []addition) error {
	var rows [][]any
	for i := range all {
		if a := &all[i]; a.Replaces != 0 {
			rows = append(rows, []any{a.reader, a.Replaces, a.source})
		}
	}
	_, err := c.Bulk(ctx, `rows(reader t, replaced i, source i) UPDATE notice AS n SET source_id = :source {FROM ROWS}
		WHERE n.reader = :reader AND n.source_id = :replaced`, rows)
	if err != nil {
		return err
	}
	_, err = c.Bulk(ctx, `rows(reader t, replaced i, source i) UPDATE river_filter AS f SET source_id = :source, version = f.version + 1 {FROM ROWS}
		WHERE f.reader = :reader AND f.source_id = :replaced`, rows)
	return err
}

// addCategories puts new subscriptions into their categories, and adds categories to existing ones.
func addCategories(ctx context.Context, c sqldb.Conn, all []addition) error {
	names, members := map[[2]string]bool{}, [][]any{}
	for i := range all {
		a := &all[i]
		for _, name := range a.Categories {
			names[[2]string{a.reader, name}] = true
			members = append(members, []any{a.reader, name, a.source})
		}
		if a.fresh || len(a.Categories) == 0 {
			continue
		}
		had, err := categoriesOf(ctx, c, a.follower)
		if err != nil {
			return err
		}
		_, err = c.Exec(ctx, `UPDATE river_subscription SET categories = $1 WHERE reader = $2 AND source_id = $3`,
			packCategories(sortCategories(append(had, a.Categories...))), a.reader, a.source)
		if err != nil {
			return err
		}
	}
	return putMembers(ctx, c, names, members)
}

func categoriesOf(ctx context.Context, c sqldb.Conn, f follower) (list []string, err error) {
	err = c.Query(ctx, `SELECT categories FROM river_subscription WHERE reader = $1 AND source_id = $2 {LOCK}`, func(rows *sql.Rows) error {
		var text string
		err := rows.Scan(&text)
		list = unpackCategories(text)
		return err
	}, f.reader, f.source)
	return list, err
}

// putMembers creates missing categories and adds sources to them.
func putMembers(ctx context.Context, c sqldb.Conn, names map[[2]string]bool, members [][]any) error {
	var rows [][]any
	for n := range names {
		rows = append(rows, []any{n[0], n[1]})
	}
	slices.SortFunc(rows, func(a, b []any) int {
		return cmp.Or(cmp.Compare(a[0].(string), b[0].(string)), cmp.Compare(a[1].(string), b[1].(string)))
	})
	_, err := c.Bulk(ctx, `rows(reader t, name t) INSERT INTO river_category (reader, name, shown, made) SELECT :reader, :name, FALSE, FALSE
		{FROM ROWS} WHERE true ON CONFLICT (reader, name) DO NOTHING`, rows)
	if err != nil {
		return err
	}
	_, err = c.Bulk(ctx, `rows(reader t, category t, source i) INSERT INTO river_category_source (reader, category, source_id)
		SELECT :reader, :category, :source {FROM ROWS} WHERE true ON CONFLICT (reader, category, source_id) DO NOTHING`, members)
	return err
}
