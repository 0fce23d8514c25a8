package render

import (
	"html"
	"strconv"
	"strings"
	"unicode/utf8"

	"cloudburst/feed"
)

// plainOf returns a text as one line, without markup.
func plainOf(x *feed.Text) string {
	if !isHTML(x) {
		return x.Value
	}
	if s := x.Value; !strings.ContainsAny(s, "<&\n\r\t") && !strings.Contains(s, "  ") {
		return strings.TrimSpace(s)
	}
	return strings.Join(strings.Fields(asWords(x)), " ")
}

// linesOf converts markup to text. Blocks end with a line break, an empty line separates
// paragraphs, and scripts and styles are omitted. If links is not nil, linesOf appends the URL of
// each link and writes the link's number, from 1, in brackets. The run time is proportional to the
// size of the markup.
func linesOf(markup string, links *[]string) string {
	r := &lineReader{rest: markup, links: links}
	r.b.Grow(len(markup))
	for r.rest != "" {
		i := strings.IndexByte(r.rest, '<')
		if i < 0 {
			i = len(r.rest)
		}
		r.words(html.UnescapeString(r.rest[:i]))
		r.rest = r.rest[i:]
		if r.rest != "" {
			r.tag()
		}
	}
	return strings.TrimSpace(r.b.String())
}

// lineReader is the state of linesOf.
type lineReader struct {
	rest  string // markup that was not read yet
	b     strings.Builder
	links *[]string
	open  string // URL of the link that is open
	lines int    // number of line breaks to write before the next word
	gap   bool   // write a space before the next word
	pre   int    // number of open elements that preserve white space
}

// words writes a text. The enclosing elements determine how white space is written.
func (r *lineReader) words(s string) {
	if r.pre > 0 {
		if s != "" {
			r.gaps()
			r.b.WriteString(s)
		}
		return
	}
	for s != "" {
		if isGap(s[0]) {
			r.gap, s = true, s[1:]
			continue
		}
		n := 1 // length up to white space other than a single space
		for n < len(s) && (!isGap(s[n]) || s[n] == ' ' && n+1 < len(s) && !isGap(s[n+1])) {
			n++
		}
		r.gaps()
		r.b.WriteString(s[:n])
		s = s[n:]
	}
}

func isGap(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f' }

// gaps writes the white space that precedes the next word.
func (r *lineReader) gaps() {
	switch {
	case r.b.Len() == 0:
	case r.lines > 0:
		r.b.WriteString("\n\n"[:min(r.lines, 2)])
	case r.gap:
		r.b.WriteByte(' ')
	}
	r.lines, r.gap = 0, false
}

// tag reads the markup that begins at the next <.
func (r *lineReader) tag() {
	s := r.rest
	switch {
	case strings.HasPrefix(s, "<!--"):
		r.skip("-->")
		return
	case len(s) < 2 || !isLetter(s[1]) && s[1] != '/' && s[1] != '!' && s[1] != '?':
		r.gaps()
		r.b.WriteByte('<')
		r.rest = s[1:]
		return
	}
	n := tagEnd(s)
	if n < 0 { // ignore an unfinished tag, in the way of browsers
		r.rest = ""
		return
	}
	r.rest = s[n:]
	r.element(s[:n])
}

// skip discards everything up to the end of mark, or the whole rest.
func (r *lineReader) skip(mark string) {
	i := strings.Index(r.rest, mark)
	if i < 0 {
		r.rest = ""
		return
	}
	r.rest = r.rest[i+len(mark):]
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// tagEnd returns the offset after the > of the tag at the beginning of s. A > inside a quoted value
// is ignored.
func tagEnd(s string) int {
	quote := byte(0)
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '>':
			return i + 1
		case (c == '"' || c == '\'') && s[i-1] == '=':
			quote = c
		}
	}
	return -1
}

// element updates the state for a tag.
func (r *lineReader) element(tag string) {
	name, end := tagName(tag)
	switch name {
	case "script", "style", "template", "textarea", "title", "iframe", "noframes", "noembed", "xmp", "plaintext":
		if !end {
			r.hidden(name)
		}
	case "br":
		r.lines++
	case "p", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "dl", "blockquote", "table", "figure", "hr", "section", "article":
		r.lines = max(r.lines, 2)
	case "pre":
		r.lines = max(r.lines, 2)
		if !end {
			r.pre++
		} else if r.pre > 0 {
			r.pre--
		}
	case "div", "tr", "dt", "dd", "header", "footer", "figcaption", "address", "details", "summary":
		r.lines = max(r.lines, 1)
	case "li":
		r.lines = max(r.lines, 1)
		if !end {
			r.gaps()
			r.b.WriteString("* ")
		}
	case "td", "th":
		r.gap = true
	case "img":
		r.words(attrOf(tag, "alt"))
	case "a":
		r.link(tag, end)
	}
}

// hidden skips an element whose text is not displayed.
func (r *lineReader) hidden(name string) {
	for {
		i := strings.Index(r.rest, "</")
		if i < 0 {
			r.rest = ""
			return
		}
		r.rest = r.rest[i:]
		if len(r.rest) > len(name)+2 && strings.EqualFold(r.rest[2:2+len(name)], name) {
			return
		}
		r.rest = r.rest[2:]
	}
}

// link records the URL of a link, and writes the link's number after its text.
func (r *lineReader) link(tag string, end bool) {
	if r.links == nil {
		return
	}
	if r.open != "" {
		const limit = 1000
		if len(*r.links) < limit {
			*r.links = append(*r.links, r.open)
			r.b.WriteString(" [" + strconv.Itoa(len(*r.links)) + "]")
		}
		r.open = ""
	}
	if end {
		return
	}
	if href := attrOf(tag, "href"); !strings.HasPrefix(href, "#") {
		r.open = webAddress(href)
	}
}

// tagName returns the name of a tag in lowercase, and whether it is an end tag.
func tagName(tag string) (name string, end bool) {
	tag = tag[1:]
	if tag[0] == '/' {
		tag, end = tag[1:], true
	}
	n := 0
	for n < len(tag) && (isLetter(tag[n]) || '0' <= tag[n] && tag[n] <= '9') {
		n++
	}
	const longest = 12
	return strings.ToLower(tag[:min(n, longest)]), end
}

// attrOf returns the value of an attribute in a tag, or "" if the tag does not have it.
func attrOf(tag, name string) string {
	tag = strings.TrimRight(tag, "/>")
	for i := 1; i < len(tag); {
		for i < len(tag) && !isGap(tag[i]) && tag[i] != '"' && tag[i] != '\'' { // skip what precedes: a name or a closing quote
			i++
		}
		for i < len(tag) && (isGap(tag[i]) || tag[i] == '"' || tag[i] == '\'') {
			i++
		}
		from := i
		for i < len(tag) && !isGap(tag[i]) && tag[i] != '=' {
			i++
		}
		key := tag[from:i]
		for i < len(tag) && isGap(tag[i]) {
			i++
		}
		if i >= len(tag) || tag[i] != '=' {
			continue
		}
		value, n := attrValue(tag[i+1:])
		i += 1 + n
		if strings.EqualFold(key, name) {
			return html.UnescapeString(value)
		}
	}
	return ""
}

// attrValue returns the value at the beginning of s and the number of bytes that it has in s.
func attrValue(s string) (value string, n int) {
	for n < len(s) && isGap(s[n]) {
		n++
	}
	if n < len(s) && (s[n] == '"' || s[n] == '\'') {
		from := n + 1
		if end := strings.IndexByte(s[from:], s[n]); end >= 0 {
			return s[from : from+end], from + end
		}
		return s[from:], len(s)
	}
	from := n
	for n < len(s) && !isGap(s[n]) {
		n++
	}
	return s[from:n], n
}

// webAddress returns ref if a page may link to it: a URL of the web or of mail, or a relative
// reference. It returns "" for all others, such as javascript: URLs.
func webAddress(ref string) string {
	if strings.ContainsAny(ref, "\t\n\r") { // browsers ignore these characters
		ref = strings.NewReplacer("\t", "", "\n", "", "\r", "").Replace(ref)
	}
	ref = strings.TrimFunc(ref, func(c rune) bool { return c <= ' ' })
	if !utf8.ValidString(ref) {
		return ""
	}
	colon := strings.IndexByte(ref, ':')
	if colon < 0 || strings.ContainsAny(ref, "/?#") && strings.IndexAny(ref, "/?#") < colon {
		return ref
	}
	switch strings.ToLower(ref[:colon]) {
	case "http", "https", "mailto", "ftp", "gopher", "gemini", "tel", "news", "nntp", "magnet", "feed", "xmpp", "sip", "geo":
		return ref
	}
	return ""
}
