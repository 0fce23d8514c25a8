package content

import "strings"

// WithoutMedia takes what package sanitize has made safe and makes it fit for a page of this
// server: nothing is loaded from anywhere else, so pictures, sound and films become
// links; headings stand below those of the page; landmarks of the page stay its own;
// and a post's times stay as its author wrote them.
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

// quieter goes through markup from tag to tag.
type tagRewriter struct {
	in          string // what is to come
	out         strings.Builder
	openLinks   int // open <a>
	openForeign int // open <svg> and <math>
	openPicture int // open <picture>
}

type markupTag struct {
	name  string
	end   bool
	void  bool // written <x/>
	attrs []markupAttr
}

// markupAttr has its value as it is written, with its references.
type markupAttr struct{ name, value string }

func (t markupTag) attr(name string) string {
	for _, a := range t.attrs {
		if a.name == name {
			return a.value
		}
	}
	return ""
}

// next takes the text up to a tag, and the tag.
func (q *tagRewriter) next() bool {
	text, rest, ok := strings.Cut(q.in, "<")
	q.out.WriteString(text)
	if !ok {
		return false
	}
	t, after, ok := readTag(rest)
	if !ok { // this is not as the sanitizer writes
		q.out.WriteString("&lt;")
		q.in = rest
		return true
	}
	q.in = after
	q.tag(t)
	return true
}

// readTag reads what stands after a "<", as the sanitizer writes it: names and values
// in double quotes.
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

// tag writes what becomes of a tag.
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

// renamed is what stands for an element that a page has for itself.
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

// write copies a tag but for attributes that load something, or that the page's own
// style and script take notice of.
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
			if a.value == "" { // it led where nobody should go
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

// shown makes a link of what a browser would load; within a link only words. A picture
// that is in its address needs no loading.
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
	q.out.WriteString(`<a class="pic" href="` + src + `" rel="nofollow noopener noreferrer ugc">` + words + "</a>")
}

// LastPathPart is the name of a file in an address, which has its references written.
func LastPathPart(src string) string {
	if i := strings.IndexAny(src, "?#"); i >= 0 && (i == 0 || src[i] == '?' || src[i-1] != '&') {
		src = src[:i]
	}
	name := src[strings.LastIndexByte(src, '/')+1:]
	if strings.Contains(name, "&") || len(name) > 60 {
		return "" // half of a reference would be something else
	}
	return name
}
