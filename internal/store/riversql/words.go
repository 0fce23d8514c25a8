package riversql

import (
	"slices"
	"strconv"
	"strings"

	"cloudburst/internal/fault"
	"cloudburst/internal/river"
	"cloudburst/internal/river/search"
	"cloudburst/internal/store/sqldb"
)

// Words is the search syntax of a database. This package splits texts into words, so that both
// databases find the same items.
type Words int

const (
	FTS5     Words = iota // SQLite
	TSVector              // PostgreSQL
)

const maxWords = 4096 // per item

// sourceWord returns a word that stands for a source and that users cannot type. With this word a
// search finds the few items of one source among many.
func sourceWord(id int64) string { return "\uE000" + strconv.FormatInt(id, 16) }

// separator separates the title from the text, so that no phrase spans both.
const separator = "\uE001"

// texts returns the searchable texts of an item: the title, and everything else.
func texts(it *river.Item) (title string, rest []string) {
	rest = append(rest, it.Text)
	rest = append(rest, it.Authors...)
	rest = append(rest, it.Categories...)
	for i := range it.Enclosures {
		rest = append(rest, it.Enclosures[i].Title)
	}
	var nested func(list []river.Content, depth int)
	nested = func(list []river.Content, depth int) {
		for i := range list {
			rest = append(rest, list[i].Title, list[i].Text)
			if depth < 8 {
				nested(list[i].Nested, depth+1)
			}
		}
	}
	nested(it.Nested, 0)
	return it.Title, rest
}

// document returns the content of the search table for an item.
func (d Words) document(it *river.Item) string {
	title, rest := texts(it)
	list := []string{sourceWord(it.SourceID)}
	add := func(w string, _ bool) bool {
		list = append(list, w)
		return len(list) < maxWords
	}
	search.Split(title, add)
	body := len(list) + 1
	list = append(list, separator)
	for _, text := range rest {
		search.Split(text, add)
		list = append(list, separator)
	}
	if d == FTS5 {
		return strings.Join(list, " ")
	}
	return tsvector(list, body)
}

// tsvector returns a list of words in PostgreSQL's format. The words before index body are the
// title.
func tsvector(list []string, body int) string {
	at := map[string][]int{}
	for i, w := range list {
		if w != separator && len(at[w]) < 200 { // PostgreSQL stores at most 255 positions of a word
			at[w] = append(at[w], i+1)
		}
	}
	var b strings.Builder
	for i, w := range list {
		if w == separator || at[w] == nil || at[w][0] != i+1 {
			continue
		}
		b.WriteString("'" + w + "':")
		for n, pos := range at[w] {
			if n > 0 {
				b.WriteByte(',')
			}
			b.WriteString(strconv.Itoa(pos))
			if pos <= body {
				b.WriteByte('A')
			}
		}
		b.WriteByte(' ')
	}
	return b.String()
}

// readMatch parses river.ItemQuery.Match. It returns fault.Invalid if there is no word.
func readMatch(text string) ([]search.Term, error) {
	if len(text) > sqldb.MaxMatch {
		return nil, fault.New(fault.Invalid, "The text to search for has %d bytes; at most %d can be searched for.", len(text), sqldb.MaxMatch)
	}
	return search.Terms(text)
}

// query returns terms in the syntax of the database. If sources is not empty, an item must belong
// to one of the sources. Words consist of letters and digits, so they contain no syntax; they are
// quoted anyway.
func (d Words) query(terms []search.Term, sources []int64) string {
	var yes, no, of []string
	for _, t := range terms {
		if t.Not {
			no = append(no, d.term(t))
		} else {
			yes = append(yes, d.term(t))
		}
	}
	for _, id := range sources {
		of = append(of, d.term(search.Term{Words: []string{sourceWord(id)}}))
	}
	and, or, not := " AND ", " OR ", " NOT "
	if d == TSVector {
		and, or, not = " & ", " | ", " & !"
	}
	if len(of) > 0 {
		yes = slices.Insert(yes, 0, "("+strings.Join(of, or)+")")
	}
	q := "(" + strings.Join(yes, and) + ")"
	for _, n := range no {
		q = "(" + q + not + n + ")"
	}
	return q
}

// excluded returns a query for the items that contain any of the terms.
func (d Words) excluded(terms []search.Term) string {
	var all []string
	for _, t := range terms {
		all = append(all, d.term(t))
	}
	if d == TSVector {
		return strings.Join(all, " | ")
	}
	return strings.Join(all, " OR ")
}

// notIn returns the condition that an item does not match the query :excluded. FTS5 has no such
// query: its NOT needs words that an item must contain.
func (d Words) notIn() string {
	if d == TSVector {
		return `NOT EXISTS (SELECT 1 FROM item_word AS w WHERE w.place = i.place AND w.words @@ CAST(:excluded AS tsquery))`
	}
	return `NOT EXISTS (SELECT 1 FROM item_word WHERE item_word MATCH :excluded AND item_word.rowid = i.place)`
}

func (d Words) term(t search.Term) string {
	if d == FTS5 {
		q := `"` + strings.Join(t.Words, " ") + `"`
		if t.Open {
			q += " *"
		}
		return q
	}
	q := "'" + strings.Join(t.Words, "' <-> '") + "'"
	if t.Open {
		q += ":*"
	}
	return "(" + q + ")"
}
