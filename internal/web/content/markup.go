package content

import (
	"strings"

	"cloudburst/internal/sanitize"
)

// WithoutMedia rewrites sanitized markup so that the page loads nothing from other servers: images,
// audio and video become links. Headings move below those of the page, landmark elements are
// replaced, and times keep the text of their author.
func WithoutMedia(safe string) string {
	if strings.IndexByte(safe, '<') < 0 {
		return safe
	}
	q := tagRewriter{in: safe}
	q.out.Grow(len(safe))
	for q.next() {
	}
	return q.out.String()
}

// tagRewriter rewrites markup tag by tag.
type tagRewriter struct {
	in          string // remaining input
	out         strings.Builder
	openLinks   int // number of open <a>
	openForeign int // number of open <svg> and <math>
	openPicture int // number of open <picture>
}

type markupTag struct {
	name  string
	end   bool
	void  bool // the tag is written as <x/>
	attrs []markupAttr
}

// markupAttr is an attribute; its value is still escaped.
type markupAttr struct{ name, value string }

func (t markupTag) attr(name string) string {
	for _, a := range t.attrs {
		if a.name == name {
			return a.value
		}
	}
	return ""
}

// next processes the text up to the next tag, and then the tag. It returns false at the end of the input.
func (q *tagRewriter) next() bool {
	text, rest, ok := strings.Cut(q.in, "<")
	q.out.WriteString(text)
	if !ok {
		return false
	}
	t, after, ok := readTag(rest)
	if !ok { // cannot happen: the sanitizer writes only valid tags
		q.out.WriteString("&lt;")
		q.in = rest
		return true
	}
	q.in = after
	q.tag(t)
	return true
}

// readTag parses what follows a "<" in the sanitizer's output: names, and values in double quotes.
func readTag(s string) (t markupTag, after string, ok bool) {
	if t.end = strings.HasPrefix(s, "/"); t.end {
		s = s[1:]
	}
	n := nameLength(s)
	if n == 0 {
		return t, s, false
	}
	t.name, s = s[:n], s[n:]
	for {
		s = strings.TrimLeft(s, " ")
		switch {
		case strings.HasPrefix(s, ">"):
			return t, s[1:], true
		case strings.HasPrefix(s, "/>"):
			t.void = true
			return t, s[2:], true
		}
		n := nameLength(s)
		if n == 0 {
			return t, s, false
		}
		a := markupAttr{name: s[:n]}
		s = s[n:]
		if value, found := strings.CutPrefix(s, `="`); found {
			if a.value, s, found = strings.Cut(value, `"`); !found {
				return t, s, false
			}
		}
		t.attrs = append(t.attrs, a)
	}
}

func nameLength(s string) int {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if !('a' <= c|0x20 && c|0x20 <= 'z' || i > 0 && ('0' <= c && c <= '9' || c == '-' || c == ':' || c == '_')) {
			return i
		}
	}
	return len(s)
}

// tag rewrites and writes one tag.
func (q *tagRewriter) tag(t markupTag) {
	step := 1
	if t.end {
		step = -1
	} else if t.void {
		step = 0
	}
	switch t.name {
	case "svg", "math":
		q.openForeign += step
	case "picture":
		q.openPicture += step
		return
	case "audio", "video", "img", "source":
		if q.openForeign == 0 {
			q.writeMediaLink(t)
			return
		}
	case "track", "area", "map":
		return
	case "a":
		q.openLinks += step
	}
	if q.openForeign == 0 {
		t.name = replacementElement(t.name)
	}
	q.write(t)
}

// replacementElement returns the element that replaces an element reserved for the page, such as main.
func replacementElement(name string) string {
	switch name {
	case "h1", "h2", "h3", "h4":
		return "h" + string(name[1]+2)
	case "h5", "h6":
		return "h6"
	case "main", "nav", "header", "footer", "aside", "fieldset":
		return "div"
	case "legend", "label", "progress", "meter", "output":
		return "span"
	}
	return name
}

// write copies a tag without attributes that load something or that the page's style and script
// use.
func (q *tagRewriter) write(t markupTag) {
	q.out.WriteByte('<')
	if t.end {
		q.out.WriteByte('/')
	}
	q.out.WriteString(t.name)
	for _, a := range t.attrs {
		switch a.name {
		case "src", "srcset", "poster", "background", "style", "class", "id", "datetime":
			continue
		case "href":
			if a.value == "" { // empty, because the sanitizer removed an unsafe URL
				continue
			}
		}
		q.out.WriteString(" " + a.name + `="` + a.value + `"`)
	}
	if t.void {
		q.out.WriteByte('/')
	}
	q.out.WriteByte('>')
}

// writeMediaLink writes a link for an element that a browser would load; inside another link, it
// writes only the link's text. A data URL image is kept, because it loads nothing.
func (q *tagRewriter) writeMediaLink(t markupTag) {
	src := t.attr("src")
	if t.end || src == "" || t.name == "source" && q.openPicture > 0 {
		return
	}
	alt := t.attr("alt")
	if t.name == "img" && len(src) > 5 && strings.EqualFold(src[:5], "data:") {
		q.out.WriteString(`<img src="` + src + `" alt="` + alt + `"/>`)
		return
	}
	words := map[string]string{"img": "Image", "audio": "Sound", "video": "Film", "source": "File"}[t.name]
	if alt = strings.TrimSpace(alt); alt == "" {
		alt = LastPathPart(src)
	}
	if alt != "" {
		words += ": " + alt
	}
	if q.openLinks > 0 {
		q.out.WriteString("<span>" + words + "</span>")
		return
	}
	q.out.WriteString(`<a class="pic" href="` + src + `" rel="` + sanitize.PageRel + `">` + words + "</a>")
}

// LastPathPart returns the file name in an escaped URL.
func LastPathPart(src string) string {
	if i := strings.IndexAny(src, "?#"); i >= 0 && (i == 0 || src[i] == '?' || src[i-1] != '&') {
		src = src[:i]
	}
	name := src[strings.LastIndexByte(src, '/')+1:]
	if strings.Contains(name, "&") || len(name) > 60 {
		return "" // the name ends within a character reference
	}
	return name
}
