package render

import (
	"strconv"
	"strings"

	"cloudburst/feed"
)

// csvColumns are the column names, in the order in which row writes them.
const csvColumns = "guid title link body date author author_url categories enclosure_url enclosure_type enclosure_length depth"

// appendCSV writes a table with a header and one row per item. Nested items follow their parent.
// The column depth is 0 for top-level items.
//
// Each cell contains the feed's text unchanged, even if it begins with = + - or @, so that
// programs read the original text. A spreadsheet may interpret such a cell as a formula:
// import its columns as text.
//
// spec:csv-rfc4180#format
func appendCSV(w *writer) {
	t := &table{writer: w, cell: quoteCSV, part: ",", end: "\r\n"}
	t.write()
}

// appendTSV writes the same table with tabs. It escapes tabs and line ends as \t, \n and \r,
// and doubles backslashes.
//
// spec:tsv-iana1993#fields
func appendTSV(w *writer) {
	t := &table{writer: w, cell: quoteTSV, part: "\t", end: "\n"}
	t.write()
}

// table writes rows.
type table struct {
	*writer
	cell      func(b []byte, s string) []byte
	part, end string
	cells     int // number of cells written in this row
}

func (t *table) write() {
	for name := range strings.SplitSeq(csvColumns, " ") {
		t.put(name, "")
	}
	t.b, t.cells = append(t.b, t.end...), 0
	t.rows(t.f.Items)
}

func (t *table) rows(list []feed.Item) {
	for i := range list {
		t.enter(i)
		t.row(&list[i])
		if len(t.at) < deepestItems {
			t.rows(list[i].Items)
		} else if len(list[i].Items) > 0 {
			t.warn("depth", "items", "This is nested deeper than programs can read; the nested content is omitted.")
		}
		t.leave()
	}
}

func (t *table) row(it *feed.Item) {
	author, enclosure := t.authorOf(it), feed.Enclosure{}
	if len(it.Enclosures) > 0 {
		enclosure = it.Enclosures[0]
	}
	if len(it.Enclosures) > 1 {
		t.warn("enclosures", "enclosures", "The table can hold one enclosure per item; the others are omitted.")
	}
	t.put(t.guid(it), "guid")
	t.put(plainOf(&it.Title), "title")
	t.put(it.Link, "link")
	t.put(bodyOf(it).Value, "body")
	date := itemDate(it)
	var buf [40]byte
	when := buf[:0]
	if t.moment(&date, "date") {
		when = appendRFC3339(when, date.UTC)
	}
	t.put(string(when), "date")
	t.put(nameOf(&author), "author")
	t.put(author.URL, "author_url")
	t.put(categoryNames(it.Categories), "categories")
	t.put(enclosure.URL, "enclosures")
	t.put(enclosure.Type, "enclosures")
	length := ""
	if enclosure.Length > 0 {
		length = strconv.FormatInt(enclosure.Length, 10)
	}
	t.put(length, "")
	t.put(strconv.Itoa(len(t.at)-1), "")
	t.b, t.cells = append(t.b, t.end...), 0
}

// categoryNames joins category names with semicolons. A semicolon within a name is not
// escaped.
func categoryNames(list []feed.Category) string {
	var names []string
	for i := range list {
		if name := categoryName(&list[i]); name != "" {
			names = append(names, strings.ReplaceAll(name, ";", ","))
		}
	}
	return strings.Join(names, "; ")
}

func categoryName(c *feed.Category) string {
	if c.Label != "" {
		return c.Label
	}
	return c.Term
}

// put writes a cell.
func (t *table) put(s, where string) {
	if t.cells > 0 {
		t.b = append(t.b, t.part...)
	}
	t.cells++
	s = t.validText(s, where)
	if strings.IndexByte(s, 0) >= 0 {
		t.warnCharacters(where)
		s = strings.ReplaceAll(s, "\x00", "")
	}
	t.b = t.cell(t.b, s)
}

func quoteCSV(b []byte, s string) []byte {
	if !strings.ContainsAny(s, ",\"\r\n") && strings.TrimSpace(s) == s {
		return append(b, s...)
	}
	b = append(b, '"')
	for {
		i := strings.IndexByte(s, '"')
		if i < 0 {
			return append(append(b, s...), '"')
		}
		b = append(append(b, s[:i]...), `""`...)
		s = s[i+1:]
	}
}

func quoteTSV(b []byte, s string) []byte {
	from := 0
	for i := range len(s) {
		c := s[i]
		switch c {
		case '\t':
			c = 't'
		case '\n':
			c = 'n'
		case '\r':
			c = 'r'
		case '\\':
		default:
			continue
		}
		b = append(append(b, s[from:i]...), '\\', c)
		from = i + 1
	}
	return append(b, s[from:]...)
}
