package sanitize

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// attrList holds the kept attributes of a tag.
type attrList struct {
	n         int
	all       [12]keptAttribute
	seen      seenSet
	same      bool // the tag already equals the output
	hasTarget bool // the tag has a link target
	hasRel    bool // the rel of the tag equals Options.LinkRel
}

// startTag reads a start tag and begins its element.
func (q *fastPath) startTag(i int) int {
	s := q.s
	n := i + 1
	for n < len(s) && ('a' <= s[n] && s[n] <= 'z' || '0' <= s[n] && s[n] <= '9') {
		n++
	}
	if n == i+1 || n == len(s) {
		return 0
	}
	name := s[i+1 : n]
	o := ordinaries.get(name)
	if o == nil {
		return q.leaveOut(i, n)
	}
	if !q.mayStart(i, o) {
		return 0
	}
	begin, end := q.length(i), n+1
	if s[n] != '>' || o.e.is(void) {
		if end = q.attributes(o.e, n); end == 0 {
			return 0
		}
		if !q.attrs.same || (q.attrs.hasTarget && q.z.o.LinkRel != "") != q.attrs.hasRel {
			q.write(o.e, i, end)
		}
	}
	q.fresh = name == "pre"
	if o.e.is(void) {
		return end
	}
	if !q.open(o) {
		return 0
	}
	q.stack[q.depth].from, q.stack[q.depth].to = begin, q.length(end)
	return end
}

// length returns the length of the output for s[:i].
func (q *fastPath) length(i int) int { return len(q.out) + i - q.done }

// mayStart reports whether o is allowed here.
func (q *fastPath) mayStart(i int, o *ordinary) bool {
	in := q.stack[q.depth].in
	if in&o.at == 0 {
		return false
	}
	if in == groups && o.in == cells { // a row directly in a table gets its own section
		q.replace(i, i, "<tbody>")
		if q.depth++; q.depth >= maxOrdinaryDepth-1 {
			return false
		}
		q.stack[q.depth] = place{is: ordinaries.get("tbody"), in: rows, implied: true}
	}
	return true
}

// open begins an element that is allowed here. It returns false if too many elements are open, or
// for a link in a link or a table in a table.
func (q *fastPath) open(o *ordinary) bool {
	in := o.in
	if in == 0 {
		in = q.stack[q.depth].in &^ versions
		if in == 0 {
			in = phrasing
		}
	}
	switch o.e.name {
	case "a":
		if q.link {
			return false
		}
		q.link = true
	case "table":
		if q.table {
			return false
		}
		q.table = true
	case "picture", "video", "audio":
		in |= phrasing
	}
	if q.depth++; q.depth >= maxOrdinaryDepth {
		return false
	}
	q.stack[q.depth] = place{is: o, in: in}
	return true
}

// leaveOut reads the start tag of an element that is dropped. A script is dropped together with its
// end tag and must be empty.
func (q *fastPath) leaveOut(i, n int) int {
	name := q.s[i+1 : n]
	empty := ""
	switch {
	case q.fresh:
		return 0
	case name == "script":
		empty = "</script>"
	case !isLeftOut(name):
		return 0
	}
	end := q.attributes(nil, n)
	if end == 0 || empty != "" && (q.s[end-2] == '/' || !strings.HasPrefix(q.s[end:], empty)) {
		return 0
	}
	q.replace(i, end+len(empty), "")
	return end + len(empty)
}

// isLeftOut reports whether the tags of an element are dropped and its content remains.
func isLeftOut(name string) bool {
	switch name {
	case "button", "embed", "form", "input", "link", "meta", "nobr", "noscript", "object", "param":
		return true
	}
	return false
}

// attributes reads the attributes of e from n on and returns the end of the tag. e is nil for a
// dropped element.
func (q *fastPath) attributes(e *element, n int) int {
	s, a := q.s, &q.attrs
	a.n, a.seen, a.same, a.hasTarget, a.hasRel = 0, seenSet{}, true, false, false
	for n < len(s) {
		from := n
		for n < len(s) && (s[n] == ' ' || s[n] == '\n' || s[n] == '\t') {
			n++
		}
		if n == len(s) {
			return 0
		}
		switch c := s[n]; {
		case c == '>':
			a.same = a.same && n == from && (e == nil || !e.is(void))
			return n + 1
		case c == '/':
			if n+1 == len(s) || s[n+1] != '>' || e != nil && !e.is(void) {
				return 0
			}
			a.same = a.same && n == from
			return n + 2
		case n == from:
			return 0
		}
		a.same = a.same && n == from+1 && s[from] == ' '
		if n = q.attribute(e, n); n == 0 {
			return 0
		}
	}
	return 0
}

// attribute reads the attribute at n and returns its end.
func (q *fastPath) attribute(e *element, n int) int {
	s := q.s
	from := n
	capitals := false
	for ; n < len(s); n++ {
		c := s[n]
		if !isAlphanumeric(c) && c != '-' && c != ':' && c != '_' && c != '.' {
			break
		}
		capitals = capitals || 'A' <= c && c <= 'Z'
	}
	if n == from || n+1 >= len(s) {
		return 0
	}
	key := s[from:n]
	if capitals {
		key = strings.ToLower(key)
		q.attrs.same = false
	}
	if strings.HasPrefix(key, "on") || e != nil && isLazySource(e, key) {
		return 0
	}
	raw, quote := "", byte(0)
	if s[n] == '=' {
		if raw, quote, n = rawValue(s, n+1); n == 0 {
			return 0
		}
	}
	var a *attribute
	if e != nil {
		a = allowedAttribute(e, &q.attrs.seen, key)
	}
	if a == nil {
		q.attrs.same = false
		if !isHarmless(raw) {
			return 0
		}
		return n
	}
	v, ok := readValue(raw)
	v.same = v.same && quote == '"'
	if !ok || !q.keep(e, a, v) {
		return 0
	}
	return n
}

// rawValue reads the value at n: a quoted string or a simple word. end is 0 for other values.
func rawValue(s string, n int) (raw string, quote byte, end int) {
	if quote = s[n]; quote == '"' || quote == '\'' {
		size := strings.IndexByte(s[n+1:], quote)
		if size < 0 {
			return "", 0, 0
		}
		return s[n+1 : n+1+size], quote, n + size + 2
	}
	from := n
	for n < len(s) && (isAlphanumeric(s[n]) || s[n] == '%' || s[n] == '-' || s[n] == '_') {
		n++
	}
	if n == from || n == len(s) || s[n] == '/' { // a slash would belong to the value
		return "", 0, 0
	}
	return s[from:n], 0, n
}

// value is the value of an attribute.
type value struct {
	raw     string // value as in the source
	same    bool   // the source already equals the output
	visible bool   // the value has only visible ASCII characters
	refs    bool   // the source has character references
}

// readValue classifies a raw value, and reports whether it is ordinary.
func readValue(raw string) (v value, ok bool) {
	v = value{raw: raw, same: true, visible: true}
	for i := 0; i < len(raw); i++ {
		if i = skipVisible(raw, i); i == len(raw) {
			break
		}
		switch valueClass(raw[i]) {
		case spaceClass:
			v.visible = false
			if raw[i] >= utf8.RuneSelf {
				if i = skipBeyondASCII(raw, i); i < len(raw) && raw[i] >= utf8.RuneSelf {
					return v, false
				}
				i--
			}
		case escapedClass:
			v.same = false
		case referenceClass:
			v.refs = true
			if strings.HasPrefix(raw[i:], "&amp;") {
				i += len("amp;")
				continue
			}
			is, n, ok := reference(raw[i:], true)
			if !ok {
				return v, false
			}
			v.same = v.same && raw[i:i+n] == escapedInValue(is)
			v.visible = v.visible && is[0] < 0x80
			i += n - 1
		default:
			return v, false
		}
	}
	return v, true
}

// text returns the value with its references decoded.
func (v *value) text() string {
	if !v.refs {
		return v.raw
	}
	text := make([]byte, 0, 128)
	raw := v.raw
	for {
		i := strings.IndexByte(raw, '&')
		if i < 0 {
			return string(append(text, raw...))
		}
		is, n, _ := reference(raw[i:], true)
		text = append(append(text, raw[:i]...), is...)
		raw = raw[i+n:]
	}
}

// These are the classes of characters in attribute values.
const (
	otherClass     = iota // the character is not ordinary
	visibleClass          // the character is visible ASCII without a special meaning
	spaceClass            // the character is white space or not ASCII
	escapedClass          // the character must be escaped
	referenceClass        // the character begins a reference
)

func valueClass(c byte) uint8 { return valueClasses[c] }

var valueClasses = makeValueClasses()

func makeValueClasses() (classes [256]uint8) {
	for c := range classes {
		switch {
		case c == '&':
			classes[c] = referenceClass
		case c == '"' || c == '>':
			classes[c] = escapedClass
		case c == ' ' || c == '\n' || c == '\t' || c >= 0x7f:
			classes[c] = spaceClass
		case c > ' ' && c != '<':
			classes[c] = visibleClass
		}
	}
	return classes
}

// escapedInValue returns the characters of a reference, which are one or two, escaped for a value
// in double quotes.
func escapedInValue(is string) string {
	if is == `"` {
		return "&#34;"
	}
	return escaped(is)
}

// keep adds the allowed part of an attribute. It returns false if the builder must decide.
func (q *fastPath) keep(e *element, a *attribute, v value) bool {
	list := &q.attrs
	address := a.valueKind == linkValue || a.valueKind == sourceValue
	if address && v.visible && v.same && isWebURL(v.raw) {
		// The checks below would return the same URL.
		return list.add(keptAttribute{a.name, v.raw, a.valueKind, true}, true)
	}
	if a.valueKind == relValue && v.same && v.raw == q.z.o.LinkRel && v.raw != "" {
		list.hasRel = true // write drops this attribute, because appendKept adds it
		return list.add(keptAttribute{a.name, v.raw, relValue, true}, true)
	}
	text := v.text()
	k, ok := q.z.keep(e, a, text)
	if k.value != text || !ok {
		if address || a.valueKind == sourceSetValue && !ok {
			return false // the builder decides about unusual URLs
		}
		v.same = false
		if !ok {
			list.same = false
			return true
		}
		// The builder's output must pass the builder unchanged.
		if again, ok := q.z.keep(e, a, k.value); !ok || again.value != k.value {
			return false
		}
	}
	if v.same {
		k.value, k.written = v.raw, true
	}
	return list.add(k, v.same)
}

// add adds an attribute, and reports whether there was space.
func (l *attrList) add(k keptAttribute, same bool) bool {
	if l.n == len(l.all)-1 { // one slot is reserved for rel
		return false
	}
	l.same = l.same && same && (l.n == 0 || l.all[l.n-1].name < k.name)
	l.all[l.n] = k
	l.n++
	l.hasTarget = l.hasTarget || k.name == "href"
	return true
}

// write writes the start tag of e in place of s[from:to].
func (q *fastPath) write(e *element, from, to int) {
	q.replace(from, to, "")
	if list := &q.attrs; list.hasRel {
		all := slices.DeleteFunc(list.all[:list.n], func(k keptAttribute) bool { return k.valueKind == relValue })
		list.n = len(all)
	}
	q.out = q.z.appendKept(q.out, e, q.attrs.all[:q.attrs.n], q.attrs.hasTarget)
}

// TagEnd returns the length of the tag at the beginning of s. s must be sanitized HTML.
func TagEnd(s string) int {
	quote := byte(0)
	for i := range len(s) {
		switch c := s[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '>':
			return i + 1
		}
	}
	return len(s)
}
