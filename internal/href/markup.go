package href

import (
	"html"
	"net/url"
	"strings"
	"unicode/utf8"
)

// Most references in feeds are absolute. So the markup is read without being taken
// apart: tags that hold no references are passed over, values are looked at where
// they stand, and only when one has to change is anything copied.

// HTML gives s with the relative references in it made absolute on b: those
// in the attributes of HTML that hold addresses, and of SVG's images. Everything else
// stays byte for byte, and without a relative reference s is the result itself.
// Comments, CDATA sections and the text of scripts and styles are not markup.
//
// When s would become more than eightfold, it is hostile, and stays as it is.
func HTML(s string, b *Base) string {
	if !b.Absolute() || strings.IndexByte(s, '=') < 0 {
		return s
	}
	r := linkResolver{s: s, base: b, limit: 8*len(s) + 1<<16}
	for i := 0; ; {
		n := strings.IndexByte(s[i:], '<')
		if n < 0 {
			break
		}
		if i = r.markup(i + n + 1); i < 0 {
			break
		}
	}
	if r.done == 0 || r.over() {
		return s
	}
	r.out.WriteString(s[r.done:])
	return r.out.String()
}

// linkResolver is one run over a text.
type linkResolver struct {
	s       string
	base    *Base
	out     strings.Builder
	done    int  // up to here s is in out
	limit   int  // of out
	noCDATA bool // no CDATA section ends from here on
}

// over says whether the result has become too long.
func (r *linkResolver) over() bool { return r.out.Len() > r.limit }

// markup reads what "<" begins, from after it, and gives where it ends: -1 at the
// end of the text.
func (r *linkResolver) markup(i int) int {
	if i >= len(r.s) {
		return -1
	}
	switch c := r.s[i]; {
	case 'a' <= c|0x20 && c|0x20 <= 'z':
		return r.tag(i)
	case c == '!':
		return r.declaration(i + 1)
	case c == '?':
		return afterFirst(r.s, i, ">")
	}
	return i // an end tag, or a stray "<": neither holds references
}

// pastFirst is the place after the first end from i on, -1 where there is none.
func afterFirst(s string, i int, end string) int {
	n := strings.Index(s[i:], end)
	if n < 0 {
		return -1
	}
	return i + n + len(end)
}

// declaration reads what "<!" begins.
func (r *linkResolver) declaration(i int) int {
	rest := r.s[i:]
	switch {
	case strings.HasPrefix(rest, "-->"):
		return i + 3
	case strings.HasPrefix(rest, "--->"):
		return i + 4
	case strings.HasPrefix(rest, "--"):
		return afterComment(r.s, i+2)
	case strings.HasPrefix(rest, "[CDATA[") && !r.noCDATA:
		if end := afterFirst(r.s, i, "]]>"); end > 0 {
			return end
		}
		r.noCDATA = true // so that many beginnings are not many searches
	}
	return afterFirst(r.s, i, ">")
}

// afterComment is the place after "-->" or "--!>", -1 where there is none.
func afterComment(s string, i int) int {
	for {
		n := strings.Index(s[i:], "--")
		if n < 0 {
			return -1
		}
		i += n + 2
		for i < len(s) && s[i] == '-' {
			i++
		}
		if strings.HasPrefix(s[i:], ">") {
			return i + 1
		}
		if strings.HasPrefix(s[i:], "!>") {
			return i + 2
		}
	}
}

// tag reads a start tag from its name on, and the text of an element that has
// nothing but text.
func (r *linkResolver) tag(i int) int {
	start := i
	for i < len(r.s) && r.s[i] > ' ' && r.s[i] != '>' && r.s[i] != '/' {
		i++
	}
	if i == len(r.s) {
		return -1
	}
	name := r.s[start:i]
	kind := elementOf(name)
	if kind&inAny == 0 {
		i = r.skipAttributes(i)
	} else {
		i = r.attributes(i, kind)
	}
	if kind&isRawText != 0 && i >= 0 {
		return rawTextEnd(r.s, i, name)
	}
	return i
}

// afterRaw is the place of the end tag that ends the text of an element.
func rawTextEnd(s string, i int, name string) int {
	for {
		n := strings.Index(s[i:], "</")
		if n < 0 {
			return -1
		}
		i += n + 2
		if len(s)-i > len(name) && strings.EqualFold(s[i:i+len(name)], name) {
			if c := s[i+len(name)]; c <= ' ' || c == '>' || c == '/' {
				return i
			}
		}
	}
}

// passAttributes gives the place after the tag that i is in.
func (r *linkResolver) skipAttributes(i int) int {
	n := strings.IndexByte(r.s[i:], '>')
	if n < 0 {
		return -1
	}
	if strings.IndexByte(r.s[i:i+n], '=') < 0 {
		return i + n + 1 // no values, so no quotes
	}
	return r.attributes(i, 0)
}

// attributes reads the attributes of a tag of which i is after the name, resolves
// those of kind, and gives the place after the tag.
func (r *linkResolver) attributes(i int, kind reference) int {
	s := r.s
	for {
		for i < len(s) && (s[i] <= ' ' || s[i] == '/') {
			i++
		}
		if i >= len(s) {
			return -1
		}
		if s[i] == '>' {
			return i + 1
		}
		start := i
		for i++; i < len(s) && s[i] > ' ' && s[i] != '=' && s[i] != '>' && s[i] != '/'; i++ {
		}
		name := s[start:i]
		for i < len(s) && s[i] <= ' ' {
			i++
		}
		if i >= len(s) {
			return -1
		}
		if s[i] != '=' {
			continue
		}
		for i++; i < len(s) && s[i] <= ' '; i++ {
		}
		if i >= len(s) {
			return -1
		}
		start = i
		quote := s[i]
		switch quote {
		case '"', '\'':
			n := strings.IndexByte(s[i+1:], quote)
			if n < 0 {
				return -1
			}
			start, i = i+1, i+1+n
		case '>':
			continue
		default:
			quote = 0
			for i < len(s) && s[i] > ' ' && s[i] != '>' {
				i++
			}
			if i >= len(s) {
				return -1
			}
		}
		if kind != 0 {
			if k := attributeOf(name) & kind; k != 0 {
				r.value(start, i, quote, k)
			}
		}
		if quote != 0 {
			i++
		}
	}
}

// value resolves the value that is s[start:end], between quotes unless quote is 0.
func (r *linkResolver) value(start, end int, quote byte, kind reference) {
	raw := r.s[start:end]
	if isPlainURL(raw) && kind != inSrcset || r.over() {
		return
	}
	ref := decodeValue(raw)
	abs := ""
	switch {
	case kind == inSrcset:
		var fits bool
		if abs, fits = r.base.resolveSet(ref, r.limit-r.out.Len()); !fits {
			r.limit = -1
			return
		}
	case kind == inXlink && strings.HasPrefix(ref, "#"):
		return // a part of the same drawing
	default:
		abs = r.base.Resolve(ref)
	}
	if abs == ref {
		return
	}
	if r.done == 0 {
		r.out.Grow(len(r.s) + len(r.s)/16 + 2*len(abs) + 64)
	} else {
		grow(&r.out, start-r.done+len(abs)+len(`""`))
	}
	r.out.WriteString(r.s[r.done:start])
	if quote == 0 {
		r.out.WriteByte('"')
	}
	writeValue(&r.out, abs, quote)
	if quote == 0 {
		r.out.WriteByte('"')
	}
	r.done = end
}

// makeRoom doubles a text that n bytes do not fit into. By itself it would grow in
// smaller steps, and leave more behind.
func grow(out *strings.Builder, n int) {
	if out.Cap()-out.Len() < n {
		out.Grow(n)
	}
}

// writeValue writes an attribute's value so that it reads the same in HTML and XML.
func writeValue(out *strings.Builder, v string, quote byte) {
	for {
		i := strings.IndexAny(v, `&<>"'`)
		if i < 0 {
			out.WriteString(v)
			return
		}
		out.WriteString(v[:i])
		switch c := v[i]; {
		case c == '&':
			out.WriteString("&amp;")
		case c == '<':
			out.WriteString("&lt;")
		case c == '>':
			out.WriteString("&gt;")
		case c == '\'' && quote == '\'':
			out.WriteString("&#39;")
		case c == '"' && quote != '\'':
			out.WriteString("&#34;")
		default:
			out.WriteByte(c)
		}
		v = v[i+1:]
	}
}

// printable is the text of a reference as an address has it: characters that no text
// may have are written as browsers ask for them.
func escapeForbidden(s string) string {
	c, _ := utf8.DecodeRuneInString(s)
	if c >= ' ' && c != 0xfffe && c != 0xffff || c == '\t' || c == '\n' || c == '\r' {
		return s
	}
	return url.PathEscape(s)
}

// decodeValue is the text of an attribute's value. A name without its semicolon is
// no reference here: "?a=1&copy=2" has no © in it.
func decodeValue(raw string) string {
	i := strings.IndexByte(raw, '&')
	if i < 0 {
		return raw
	}
	var out strings.Builder
	for i >= 0 {
		out.WriteString(raw[:i])
		raw = raw[i:]
		n := 1
		if strings.HasPrefix(raw, "&#") {
			n = 2
		}
		for n < len(raw) && n < 33 && isWordByte(raw[n]) {
			n++
		}
		if n < len(raw) && raw[n] == ';' {
			n++
			out.WriteString(escapeForbidden(html.UnescapeString(raw[:n])))
		} else {
			out.WriteString(raw[:n])
		}
		raw = raw[n:]
		i = strings.IndexByte(raw, '&')
	}
	out.WriteString(raw)
	return out.String()
}
