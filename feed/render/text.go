package render

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"cloudburst/feed"
)

// appendText writes the readable text of the feed in lines of at most 78 characters. Longer words,
// such as URLs and sentences in scripts without spaces, are not broken. The URLs of links are
// listed after the text, with numbers.
func appendText(w *writer) {
	t := &textWriter{writer: w}
	f := w.f
	title := t.clean(plainOf(&f.Title), "title")
	if title != "" {
		t.paragraph(title, "")
		t.b = append(t.b, strings.Repeat("=", min(utf8.RuneCountInString(title), textWidth))...)
		t.b = append(t.b, '\n')
	}
	t.paragraph(t.clean(asText(&f.Subtitle, nil), "description"), "")
	t.line(f.Link, "link")
	date := w.feedDate()
	t.line(t.day(&date), "date")
	t.items(f.Items)
	if len(t.b) == 0 {
		t.b = append(t.b, '\n')
	}
}

const textWidth = 78

// textWriter writes lines.
type textWriter struct{ *writer }

// clean returns s without control characters that a terminal would interpret.
func (t *textWriter) clean(s, where string) string {
	s = t.validText(s, where)
	from, n := 0, 0
	var b []byte
	for i := 0; i < len(s); i += max(n, 1) {
		if n = control(s[i:]); n > 0 {
			b = append(b, s[from:i]...)
			from = i + n
		}
	}
	if from == 0 {
		return s
	}
	t.warnCharacters(where)
	return string(append(b, s[from:]...))
}

// control returns the length of the control character at the beginning of s, or 0 if there is none.
// White space does not count as a control character.
func control(s string) int {
	switch c := s[0]; {
	case c >= ' ' && c < 0x7f || c > 0xC2, c == '\n', c == '\t', c == '\r':
		return 0
	case c < ' ', c == 0x7f:
		return 1
	case c == 0xC2 && s[1] < 0xA0:
		return 2
	}
	return 0
}

// asText returns a text as lines.
func asText(x *feed.Text, links *[]string) string {
	if isHTML(x) {
		return linesOf(x.Value, links)
	}
	return strings.TrimSpace(x.Value)
}

// day formats a date in an internationally readable form.
func (t *textWriter) day(d *feed.Date) string {
	if d.UTC.IsZero() || !t.moment(d, "date") {
		return ""
	}
	return d.UTC.UTC().Format("2006-01-02 15:04 UTC")
}

// line writes one unbroken line, unless it is empty.
func (t *textWriter) line(s, where string) {
	if s = strings.Join(strings.Fields(t.clean(s, where)), " "); s != "" {
		t.b = append(append(t.b, s...), '\n')
	}
}

// paragraph writes text as indented lines of limited length. Line breaks in the text are
// preserved.
func (t *textWriter) paragraph(s, indent string) {
	if s == "" {
		return
	}
	for line := range strings.Lines(s) {
		width := 0
		for word := range strings.FieldsSeq(line) {
			n := utf8.RuneCountInString(word)
			switch {
			case width == 0:
				t.b = append(append(t.b, indent...), lead(line)...)
				width = len(indent) + len(lead(line))
			case width+1+n > textWidth:
				t.b = append(append(t.b, '\n'), indent...)
				width = len(indent)
			default:
				t.b = append(t.b, ' ')
				width++
			}
			t.b = append(t.b, word...)
			width += n
		}
		t.b = append(t.b, '\n')
	}
}

// lead returns the white space at the beginning of a line, as spaces. It keeps the indentation of
// source code, for example.
func lead(line string) string {
	const spaces = "                                        "
	n := 0
	for i := 0; i < len(line) && (line[i] == ' ' || line[i] == '\t'); i++ {
		if n++; line[i] == '\t' {
			n += 3
		}
	}
	return spaces[:min(n, len(spaces))]
}

func (t *textWriter) items(list []feed.Item) {
	const indents = "                "
	for i := range list {
		t.enter(i)
		it := &list[i]
		t.b = append(t.b, "\n\n"...)
		t.item(it, indents[:min(2*(len(t.at)-1), len(indents))])
		if len(t.at) < deepestItems {
			t.items(it.Items)
		}
		t.leave()
	}
}

func (t *textWriter) item(it *feed.Item, indent string) {
	title := t.clean(plainOf(&it.Title), "title")
	t.paragraph(title, indent)
	if title != "" {
		n := min(utf8.RuneCountInString(title), textWidth-len(indent))
		t.b = append(append(append(t.b, indent...), strings.Repeat("-", n)...), '\n')
	}
	date, by := itemDate(it), ""
	if who := it.Byline(); len(who) > 0 {
		by = nameOf(&who[0])
	}
	when := t.day(&date)
	if when != "" && by != "" {
		when += ", "
	}
	t.labelled(indent, "", when+by, "authors")
	t.labelled(indent, "", it.Link, "link")
	var links []string
	if body := t.clean(asText(bodyOf(it), &links), "content"); body != "" {
		t.b = append(t.b, '\n')
		t.paragraph(body, indent)
	}
	if len(links)+len(it.Enclosures)+len(it.Categories) > 0 {
		t.b = append(t.b, '\n')
	}
	for i, link := range links {
		t.labelled(indent, "["+strconv.Itoa(i+1)+"] ", link, "content")
	}
	for i := range it.Enclosures {
		e := &it.Enclosures[i]
		t.labelled(indent, "File: ", e.URL+aboutFile(e), "enclosures")
	}
	t.labelled(indent, "Categories: ", categoryNames(it.Categories), "categories")
}

// aboutFile returns the type and the size of a file in parentheses, with a space before them.
func aboutFile(e *feed.Enclosure) string {
	about := e.Type
	if e.Length > 0 {
		about = strings.TrimPrefix(about+", ", ", ") + strconv.FormatInt(e.Length, 10) + " bytes"
	}
	if about == "" {
		return ""
	}
	return " (" + about + ")"
}

// labelled writes a line with a label, unless the value is empty.
func (t *textWriter) labelled(indent, label, s, where string) {
	if s != "" {
		t.b = append(append(t.b, indent...), label...)
		t.line(s, where)
	}
}
