package href

import (
	"html"
	"net/url"
	"strings"
	"unicode/utf8"
)

// Most references in feeds are absolute. So HTML scans the markup without parsing it: it skips tags
// without references, checks values in place, and copies only when a value changes.

// HTML returns s with its relative references resolved against b. It resolves the references in the
// URL attributes of HTML and of SVG images. Everything else is unchanged byte for byte; without
// relative references the result is s itself. Comments, CDATA sections, and the text of scripts and
// styles are not markup.
//
// If the result would exceed eight times s plus 64 KiB, s is hostile and returned unchanged.
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

// linkResolver holds the state of one run over a text.
type linkResolver struct {
	s       string
	base    *Base
	out     strings.Builder
	done    int  // the output for s[:done] is in out
	limit   int  // maximum length of out; -1: exceeded
	noCDATA bool // there is no further end of a CDATA section
}

// over reports whether the result has become too long.
func (r *linkResolver) over() bool { return r.out.Len() > r.limit }

// markup reads the construct after "<" at i and returns its end, -1 at the end of the text.
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
	return i // an end tag, or a stray "<": neither has references
}

// afterFirst returns the index after the first end from i on, -1 if there is none.
func afterFirst(s string, i int, end string) int {
	n := strings.Index(s[i:], end)
	if n < 0 {
		return -1
	}
	return i + n + len(end)
}

// declaration reads the construct after "<!" at i.
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
		r.noCDATA = true // do not search again for the next section
	}
	return afterFirst(r.s, i, ">")
}

// afterComment returns the index after "-->" or "--!>", -1 if there is none.
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

// tag reads a start tag from its name on, and the content of a raw text element.
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

// rawTextEnd returns the index of the end tag that ends a raw text element.
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

// skipAttributes returns the index after the tag around i.
func (r *linkResolver) skipAttributes(i int) int {
	n := strings.IndexByte(r.s[i:], '>')
	if n < 0 {
		return -1
	}
	if strings.IndexByte(r.s[i:i+n], '=') < 0 {
		return i + n + 1 // the tag has no values, so its first ">" ends it
	}
	return r.attributes(i, 0)
}

// attributes reads the attributes of a tag from i on, resolves the attributes in the set kind, and
// returns the index after the tag.
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

// value resolves the attribute value r.s[start:end]. quote is the quotation mark around the value;
// 0: none.
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
		return // a fragment of the same drawing
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

// grow ensures space for n bytes and at least doubles the capacity. Growing in smaller steps would
// copy more.
func grow(out *strings.Builder, n int) {
	if out.Cap()-out.Len() < n {
		out.Grow(n)
	}
}

// writeValue writes an attribute value with escapes that HTML and XML decode equally.
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

// escapeForbidden percent-encodes a decoded character that XML forbids, as browsers do in requests.
func escapeForbidden(s string) string {
	c, _ := utf8.DecodeRuneInString(s)
	if c >= ' ' && c != 0xfffe && c != 0xffff || c == '\t' || c == '\n' || c == '\r' {
		return s
	}
	return url.PathEscape(s)
}

// decodeValue decodes an attribute value. A name without a semicolon is not a reference here:
// "?a=1&copy=2" contains no ©.
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
