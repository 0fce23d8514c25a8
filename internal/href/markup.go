package href

import (
	"bytes"
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
	s, _ = HTMLFrom(s, 0, b, b)
	return s
}

// FirstRelative returns the offset of the first tag of s with a reference that HTML would change;
// -1 if there is none.
func FirstRelative(s string, b *Base) int {
	if !b.Absolute() || strings.IndexByte(s, '=') < 0 {
		return -1
	}
	r := linkResolver{s: s, base: b, other: b, search: true, limit: 8*len(s) + 1<<16}
	return r.run(0)
}

// HTMLFrom is like HTML for a text whose tags before the offset from have no relative references.
// differs is the offset in the result of the first reference that would be different with the base
// other; -1 if there is none.
func HTMLFrom(s string, from int, b, other *Base) (resolved string, differs int) {
	if !b.Absolute() || strings.IndexByte(s, '=') < 0 {
		return s, -1
	}
	r := linkResolver{s: s, base: b, other: other, limit: 8*len(s) + 1<<16, differs: -1}
	r.run(from)
	switch {
	case r.over():
		return s, min(r.differs, 0)
	case r.done == 0:
		return s, r.differs
	}
	r.out.WriteString(s[r.done:])
	return r.out.String(), r.differs
}

// run reads the text from offset i on. In a search it returns the offset of the tag with the first
// relative reference, otherwise -1.
func (r *linkResolver) run(i int) int {
	for !r.found {
		n := strings.IndexByte(r.s[i:], '<')
		if n < 0 {
			return -1
		}
		tag := i + n
		if i = r.markup(tag + 1); r.found {
			return tag
		}
		if i < 0 {
			break
		}
	}
	return -1
}

// linkResolver holds the state of one run over a text.
type linkResolver struct {
	s               string
	base            *Base
	other           *Base // a base to compare with; base: none
	out             strings.Builder
	done            int    // the output for s[:done] is in out
	limit           int    // maximum length of out; -1: exceeded
	long, otherLong []byte // buffers of resolve
	differs         int    // offset in the output of the first reference that would be different with other; -1: none
	search          bool   // only search for a relative reference
	found           bool   // the search has found a relative reference
	noCDATA         bool   // there is no further end of a CDATA section
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
	if end := plainLink(r.s[i:]); end > 0 {
		return i + end
	}
	start := i
	for i < len(r.s) && r.s[i] > ' ' && r.s[i] != '>' && r.s[i] != '/' {
		i++
	}
	if i == len(r.s) {
		return -1
	}
	name := r.s[start:i]
	if r.s[i] == '>' && len(name) < len("xmp") { // no attributes, and no raw text element
		return i + 1
	}
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

// plainLink returns the length of the most common tag after its "<": a link with an absolute URL and no
// other attributes. It returns 0 for other tags.
func plainLink(s string) int {
	const begin = `a href="`
	if !strings.HasPrefix(s, begin) {
		return 0
	}
	n := len(begin) + strings.IndexByte(s[len(begin):], '"')
	if n <= len(begin) || n+1 >= len(s) || s[n+1] != '>' || !isPlainURL(s[len(begin):n]) {
		return 0
	}
	return n + len(`">`)
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
	if kind == inXlink && strings.HasPrefix(ref, "#") {
		return // a fragment of the same drawing
	}
	var space, otherSpace [256]byte // avoid allocations
	abs, fits := r.resolve(r.base, space[:0], &r.long, ref, kind)
	if !fits {
		r.limit = -1
		return
	}
	if r.other != r.base && r.differs < 0 {
		if other, fits := r.resolve(r.other, otherSpace[:0], &r.otherLong, ref, kind); !fits || string(other) != string(abs) {
			r.differs = r.out.Len() + start - r.done
			if quote == 0 {
				r.differs++
			}
		}
	}
	if string(abs) == ref {
		return
	}
	if r.search {
		r.found = true
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

// resolve returns the reference ref resolved against b: in space if it fits, otherwise in the buffer
// long, which further references reuse. fits is false if a srcset would be longer than the limit.
func (r *linkResolver) resolve(b *Base, space []byte, long *[]byte, ref string, kind reference) (abs []byte, fits bool) {
	switch {
	case kind == inSrcset:
		set, fits := b.resolveSet(ref, r.limit-r.out.Len())
		*long = append((*long)[:0], set...)
		return *long, fits
	case len(b.url)+len("/")+len(ref) > cap(space):
		*long = b.appendResolved((*long)[:0], ref)
		return *long, true
	}
	return b.appendResolved(space, ref), true
}

// grow ensures space for n bytes and at least doubles the capacity. Growing in smaller steps would
// copy more.
func grow(out *strings.Builder, n int) {
	if out.Cap()-out.Len() < n {
		out.Grow(n)
	}
}

// writeValue writes an attribute value with escapes that HTML and XML decode equally.
func writeValue(out *strings.Builder, v []byte, quote byte) {
	for {
		i := bytes.IndexAny(v, `&<>"'`)
		if i < 0 {
			out.Write(v)
			return
		}
		out.Write(v[:i])
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
