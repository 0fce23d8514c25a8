package docsui

import (
	"html/template"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"cloudburst/internal/sanitize"
)

// section is the text under one heading of a page.
type section struct {
	id, title string
	level     int
	text      string // text of the section as plain text, without the heading
	folded    string // title and text in lowercase
}

// result is a section that matches a search.
type result struct {
	Page    *page
	ID      string // ID of the section's heading; "": the page itself
	Title   string // title of the section; "": the page itself
	Snippet template.HTML

	score, at int
}

var heading = regexp.MustCompile(`(?s)<h([1-6]) id="([^"]*)">(.*?)</h[1-6]>`)

// sections splits a page at its headings.
func sections(title, body string) []section {
	found := heading.FindAllStringSubmatchIndex(body, -1)
	var all []section
	for i, m := range found {
		end := len(body)
		if i+1 < len(found) {
			end = found[i+1][0]
		}
		s := section{id: body[m[4]:m[5]], title: plain(body[m[6]:m[7]]), level: int(body[m[2]] - '0'), text: plain(body[m[1]:end])}
		if s.level == 1 {
			s.id, s.title = "", title
		}
		s.folded = strings.ToLower(s.title + "\n" + s.text)
		all = append(all, s)
	}
	return all
}

// plain returns the text of HTML in one line. Cells and items keep a space between them.
func plain(body string) string {
	return strings.Join(strings.Fields(sanitize.Text(strings.NewReplacer("</td>", " </td>", "</th>", " </th>", "</li>", " </li>", "</p>", " </p>").Replace(body))), " ")
}

// maxResults is the maximum number of results on the page.
const maxResults = 40

// search returns the sections that contain each word of the query, the best first. A word in a
// title counts more than a word in the text.
func search(shelves []pageGroup, query string) []result {
	words := strings.FieldsFunc(strings.ToLower(query), func(r rune) bool { return unicode.IsSpace(r) || r == '"' })
	if len(words) == 0 {
		return nil
	}
	var found []result
	for _, p := range inOrder(shelves) {
		for _, s := range p.section {
			if r, ok := s.match(p, words); ok {
				r.at = len(found)
				found = append(found, r)
			}
		}
	}
	slices.SortFunc(found, order)
	return found[:min(len(found), maxResults)]
}

func (s section) match(p *page, words []string) (result, bool) {
	r := result{Page: p, ID: s.id}
	if s.level > 1 {
		r.Title = s.title
	}
	title, name := strings.ToLower(s.title), strings.ToLower(p.Title+" "+p.Name)
	for _, w := range words {
		n := strings.Count(s.folded, w)
		if n == 0 && !strings.Contains(name, w) {
			return r, false
		}
		r.score += min(n, 5)
		if strings.Contains(title, w) {
			r.score += 20
		}
		if strings.Contains(name, w) {
			r.score += 8
		}
	}
	r.Snippet = s.snippet(words)
	return r, true
}

// around is the number of bytes of a snippet before the first found word. The snippet has twice as
// many bytes from this word on.
const around = 90

// snippet returns the text around the first word that the section contains, with the words marked.
func (s section) snippet(words []string) template.HTML {
	folded := strings.ToLower(s.text)
	if len(folded) != len(s.text) { // a letter has another length in lowercase, so positions in folded are wrong for text
		folded = s.text
	}
	first := 0
	for _, w := range words {
		if i := strings.Index(folded, w); i >= 0 {
			first = i
			break
		}
	}
	from, to := max(first-around, 0), min(first+2*around, len(s.text))
	for from > 0 && s.text[from-1] != ' ' {
		from--
	}
	for to < len(s.text) && s.text[to] != ' ' {
		to++
	}
	return mark(s.text[from:to], folded[from:to], words)
}

// mark escapes a text and marks the words in it.
func mark(text, folded string, words []string) template.HTML {
	var b strings.Builder
	for text != "" {
		at, length := len(text), 0
		for _, w := range words {
			if i := strings.Index(folded, w); i >= 0 && i < at {
				at, length = i, len(w)
			}
		}
		b.WriteString(template.HTMLEscapeString(text[:at]))
		if length > 0 {
			b.WriteString("<mark>" + template.HTMLEscapeString(text[at:at+length]) + "</mark>")
		}
		text, folded = text[at+length:], folded[at+length:]
	}
	return template.HTML(b.String()) //nolint:gosec // escaped above
}
