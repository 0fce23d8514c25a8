package riversql

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"

	"cloudburst/internal/fault"
	"cloudburst/internal/river"
	"cloudburst/internal/river/search"
	"cloudburst/internal/store/sqldb"
)

// itemPlan finds the places of the items of a query. Conditions use named arguments (":reader"), so
// that the same text can run once or for many rows. They read the data of a reader in subqueries of
// one row, so that the planner keeps the order of the river.
type itemPlan struct {
	river.ItemQuery
	terms  []search.Term // nil: the query has no word that an item must contain
	no     string        // condition that an item contains none of the words that are excluded; used if terms is nil
	lo, hi int64         // places in [lo, hi)
	limit  int
	values map[string]any
}

const maxKeys = 1000 // maximum length of the query's lists

func planItems(q river.ItemQuery, words Words) (*itemPlan, error) {
	p := &itemPlan{ItemQuery: q, lo: math.MinInt64, hi: math.MaxInt64, limit: min(q.Limit, 1000)}
	if q.Bare {
		p.limit = min(q.Limit, 10_000)
	}
	if p.limit <= 0 {
		p.limit = 50
	}
	for what, n := range map[string]int{"items": max(len(q.IDs), len(q.Firsts)), "feeds": len(q.Sources), "categories": len(q.Categories)} {
		if n > maxKeys {
			return nil, fault.New(fault.Invalid, "The query names %d %s; at most %d are allowed.", n, what, maxKeys)
		}
	}
	if !q.From.IsZero() {
		p.lo = placeAt(q.From)
	}
	if !q.To.IsZero() {
		p.hi = placeAt(q.To)
	}
	if strings.TrimSpace(q.Match) != "" {
		var err error
		if p.terms, err = readMatch(q.Match); err != nil {
			return nil, err
		}
	}
	excluded := ""
	if p.terms != nil && !slices.ContainsFunc(p.terms, func(t search.Term) bool { return !t.Not }) {
		if !p.restricted() {
			return nil, search.NoWords()
		}
		excluded, p.no, p.terms = words.excluded(p.terms), words.notIn(), nil
	}
	p.values = map[string]any{"excluded": excluded, "reader": sqldb.Clean(q.Reader), "source": q.SourceID, "category": sqldb.Clean(q.Category), "changed": q.ChangedIn,
		"after": q.FirstAfter, "until": q.FirstBefore, "nothing": int64(math.MinInt64), "rule": q.HiddenBy}
	if len(q.Sources) > 0 {
		b, _ := json.Marshal(q.Sources) // encoding numbers never fails
		p.values["sources"] = string(b)
	}
	for i, name := range q.Categories {
		p.values[fmt.Sprintf("category%d", i)] = sqldb.Clean(name)
	}
	return p, nil
}

// restricted reports whether the query selects only a part of the river, regardless of its words.
func (p *itemPlan) restricted() bool {
	return p.Starred || p.Unread || p.Read || p.SourceID != 0 || p.Category != "" || len(p.Sources)+len(p.Categories)+len(p.IDs)+len(p.Firsts) > 0 ||
		!p.From.IsZero() || !p.To.IsZero() || p.ChangedIn > 0 || p.FirstAfter > 0 || p.FirstBefore > 0
}

// start limits the plan to the items after q.Before. It looks up the place of that item, because
// the place can differ from the one computed from its time.
func (p *itemPlan) start(ctx context.Context, c sqldb.Conn) error {
	if p.Before == (river.Place{}) || p.BySeq || p.ByFirst {
		return nil
	}
	place := placeOf(p.Before)
	found, err := itemPlaces(ctx, c, [][]any{{p.Before.ID}})
	if err != nil {
		return err
	}
	if at, ok := found[p.Before.ID]; ok && atOf(at).UnixMilli() == p.Before.At {
		place = at
	}
	if p.Oldest {
		p.lo = max(p.lo, place+1)
	} else {
		p.hi = min(p.hi, place)
	}
	return nil
}

// order returns the sort order of the items.
func (p *itemPlan) order() string {
	column := "i.place"
	switch {
	case p.BySeq:
		column = "i.seq"
	case p.ByFirst:
		column = "i.came"
	}
	if p.Oldest {
		return column
	}
	return column + " DESC"
}

const (
	markOf   = `COALESCE((SELECT k.%s FROM item_mark AS k WHERE k.reader = :reader AND k.place = i.place), FALSE)`
	readOf   = `(SELECT f.read_place FROM river_subscription AS f WHERE f.reader = :reader AND f.source_id = i.source_id)`
	publicOf = `(SELECT 1 FROM source AS o WHERE NOT (` + hidden + `) AND o.id = %s) = 1`
	memberOf = `(SELECT 1 FROM river_category_source AS m WHERE m.reader = :reader AND m.category = :%s AND m.source_id = %s) = 1`
)

// hidden is the condition that only users who follow the source o may see it, as [river.Source.Hidden].
//
// spec:cloudburst#public-river-private
const hidden = `o.login <> '' OR {O IS PRIVATE}`

// sources returns the conditions on the source in a column.
func (p *itemPlan) sources(column string) (conds []string) {
	if p.SourceID != 0 {
		conds = append(conds, column+" = :source")
	}
	if len(p.Sources) > 0 {
		conds = append(conds, column+" {ALL} :sources {END ALL}")
	}
	if p.Public {
		conds = append(conds, fmt.Sprintf(publicOf, column))
	}
	if p.Category != "" {
		conds = append(conds, fmt.Sprintf(memberOf, "category", column))
	}
	if len(p.Categories) > 0 {
		var any []string
		for i := range p.Categories {
			any = append(any, fmt.Sprintf(memberOf, fmt.Sprintf("category%d", i), column))
		}
		conds = append(conds, "("+strings.Join(any, " OR ")+")")
	}
	return conds
}

// marks returns the conditions on the marks and numbers of an item. floor is the SQL expression of
// the place up to which its source is read. If led is set, an index already limits the change or
// arrival number, and the condition on the number is omitted.
func (p *itemPlan) marks(floor string, led bool) (conds []string) {
	if p.Starred {
		conds = append(conds, fmt.Sprintf(markOf, "starred"))
	}
	read := fmt.Sprintf(markOf, "read")
	if p.Unread {
		conds = append(conds, floor+" <= i.place", "NOT "+read)
	}
	if !p.Starred && !p.Unread && !p.Hidden && p.HiddenBy == 0 { // a hidden item is always read and not starred
		conds = append(conds, "NOT "+fmt.Sprintf(markOf, "hidden_by <> 0"))
	}
	if p.Read {
		conds = append(conds, "("+floor+" > i.place OR "+read+")")
	}
	if p.no != "" {
		conds = append(conds, p.no)
	}
	if led {
		return conds
	}
	if p.ChangedIn > 0 {
		conds = append(conds, "+i.seq > :changed")
	}
	if p.FirstAfter > 0 {
		conds = append(conds, "+i.came > :after")
	}
	if p.FirstBefore > 0 {
		conds = append(conds, "+i.came < :until")
	}
	return conds
}

// all returns all conditions on an item, for a scan that has not checked any of them. led has the
// same meaning as in marks.
func (p *itemPlan) all(led bool) []string {
	conds := p.sources("+i.source_id")
	floor := "COALESCE(" + readOf + ", :nothing)"
	switch {
	case len(p.IDs) > 0 || len(p.Firsts) > 0:
		conds = append(conds, "("+readOf+" IS NOT NULL OR "+fmt.Sprintf(markOf, "starred")+")")
	case p.Starred:
	case p.Unread:
		floor = readOf
	default:
		conds = append(conds, readOf+" IS NOT NULL")
	}
	return append(conds, p.marks(floor, led)...)
}

// named replaces the names in a text with placeholders and returns their values in order.
func (p *itemPlan) named(text string, more map[string]any) (string, []any) {
	var args []any
	at := map[string]string{}
	text = names().ReplaceAllStringFunc(text, func(s string) string {
		if at[s] == "" {
			args = append(args, p.value(s[1:], more))
			at[s] = sqldb.Placeholder(len(args))
		}
		return at[s]
	})
	return text, args
}

func (p *itemPlan) value(name string, more map[string]any) any {
	if v, ok := more[name]; ok {
		return v
	}
	return p.values[name]
}

var names = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`:[a-z][a-z0-9]*`) })

// each returns a bulk statement that runs a text for each of rows. columns are the names of the
// numeric columns; other names in the text have the same value for all rows.
func (p *itemPlan) each(text string, columns []string, rows [][]int64) (string, [][]any) {
	head := make([]string, len(columns))
	for i, name := range columns {
		head[i] = name + " i"
	}
	var same []any
	for _, s := range slices.Compact(slices.Sorted(slices.Values(names().FindAllString(text, -1)))) {
		if name := s[1:]; !slices.Contains(columns, name) {
			typ := " i"
			v := p.values[name]
			if _, ok := v.(string); ok {
				typ = " t"
			}
			head, same = append(head, name+typ), append(same, v)
		}
	}
	all := make([][]any, len(rows))
	for i, row := range rows {
		for _, n := range row {
			all[i] = append(all[i], n)
		}
		all[i] = append(all[i], same...)
	}
	return "rows(" + strings.Join(head, ", ") + ") " + text, all
}

// keep returns those of the places whose items match the query, in the same order.
func (p *itemPlan) keep(ctx context.Context, c sqldb.Conn, places []int64) ([]int64, error) {
	rows := make([][]int64, len(places))
	for i, place := range places {
		rows[i] = []int64{place}
	}
	conds := append([]string{"i.place = :place"}, p.all(false)...)
	text, args := p.each(`SELECT i.place FROM item AS i {AND ROWS} WHERE `+strings.Join(conds, " AND "), []string{"place"}, rows)
	kept := make(map[int64]bool, len(places))
	err := c.BulkQuery(ctx, text, func(rows *sql.Rows) error {
		var place int64
		err := rows.Scan(&place)
		kept[place] = p.lo <= place && place < p.hi
		return err
	}, args)
	return slices.DeleteFunc(slices.Clone(places), func(place int64) bool { return !kept[place] }), err
}

// sort sorts places in the order of the river and truncates them to the limit.
func (p *itemPlan) sort(places []int64) []int64 {
	slices.SortFunc(places, p.compare)
	return places[:min(len(places), p.limit)]
}
