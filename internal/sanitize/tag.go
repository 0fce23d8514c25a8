package sanitize

import "strings"

// attrList are the attributes of a tag that stay.
type attrList struct {
	n         int
	all       [12]keptAttribute
	seen      seenSet
	same      bool // the tag is as it would be written
	hasTarget bool // it has an address to go to
}

// startTag reads a start tag, and begins its element.
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
	end := n + 1
	if s[n] != '>' || o.e.is(void) {
		if end = q.attributes(o.e, n); end == 0 {
			return 0
		}
		if !q.attrs.same || q.attrs.hasTarget && q.z.o.LinkRel != "" {
			q.write(o.e, i, end)
		}
	}
	q.fresh = name == "pre"
	if o.e.is(void) {
		return end
	}
	return q.open(o, end)
}

// makeRoom says whether o may begin here.
func (q *fastPath) mayStart(i int, o *ordinary) bool {
	in := q.stack[q.depth].in
	if in&o.at == 0 {
		return false
	}
	if in == groups && o.in == cells { // a row right in a table is in a section of its own
		q.replace(i, i, "<tbody>")
		if q.depth++; q.depth >= maxOrdinaryDepth-1 {
			return false
		}
		q.stack[q.depth] = place{ordinaries.get("tbody"), rows, true}
	}
	return true
}

// open begins the element of which the start tag ends at end.
func (q *fastPath) open(o *ordinary, end int) int {
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
			return 0
		}
		q.link = true
	case "table":
		if q.table {
			return 0
		}
		q.table = true
	case "picture", "video", "audio":
		in |= phrasing
	}
	if q.depth++; q.depth >= maxOrdinaryDepth {
		return 0
	}
	q.stack[q.depth] = place{o, in, false}
	return end
}

// leaveOut reads a tag of which nothing stays, and with scripts that their content is
// nothing either.
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

// isLeftOut says whether the tags of an element go, one by one, and all else stays.
func isLeftOut(name string) bool {
	switch name {
	case "button", "embed", "form", "input", "nobr", "noscript", "object", "param":
		return true
	}
	return false
}

// attributes reads those of e, nil for an element that is left out, from n on. It
// gives the end of the tag.
func (q *fastPath) attributes(e *element, n int) int {
	s, a := q.s, &q.attrs
	a.n, a.seen, a.same, a.hasTarget = 0, seenSet{}, true, false
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

// attribute reads one that begins at n, and gives its end.
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
	if strings.HasPrefix(key, "on") {
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

// rawValue reads a value that begins at n: what is between quotes, or a simple word.
// Its end is 0 where it is not that.
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
	if n == from || n == len(s) || s[n] == '/' { // the slash would be of the value
		return "", 0, 0
	}
	return s[from:n], 0, n
}

// value is that of an attribute.
type value struct {
	raw     string // as it stands
	same    bool   // it stands as it would be written
	visible bool   // it is of visible ASCII characters only
	refs    bool   // it has character references
}

// readValue reads what is between quotes, and says whether it is ordinary.
func readValue(raw string) (v value, ok bool) {
	v = value{raw: raw, same: true, visible: true}
	for i := 0; i < len(raw); i++ {
		switch valueClass(raw[i]) {
		case visibleClass:
		case spaceClass:
			v.visible = false
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

// text is the value with its references read.
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

// Classes of characters in values.
const (
	otherClass     = iota // not ordinary
	visibleClass          // visible
	spaceClass            // white space, and what is beyond ASCII
	escapedClass          // quotes and such
	referenceClass        // the beginning of a reference
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

// escapedInValue is a character, or two, as it stands between quotes.
func escapedInValue(is string) string {
	if is == `"` {
		return "&#34;"
	}
	return escaped(is)
}

// keep notes what stays of an attribute. It says whether that is certain.
func (q *fastPath) keep(e *element, a *attribute, v value) bool {
	list := &q.attrs
	address := a.valueKind == linkValue || a.valueKind == sourceValue
	if address && v.visible && v.same && isWebURL(v.raw) {
		// Nothing else would come of it by all that follows.
		return list.add(keptAttribute{a.name, v.raw, a.valueKind, true}, true)
	}
	text := v.text()
	k, ok := q.z.keep(e, a, text)
	if k.value != text || !ok {
		if address || a.valueKind == sourceSetValue && !ok {
			return false // it was meant as something else
		}
		v.same = false
		if !ok {
			list.same = false
			return true
		}
		// What the careful reader writes, it reads once more.
		if again, ok := q.z.keep(e, a, k.value); !ok || again.value != k.value {
			return false
		}
	}
	if v.same {
		k.value, k.written = v.raw, true
	}
	return list.add(k, v.same)
}

// add notes an attribute that stays. It says whether there is room.
func (l *attrList) add(k keptAttribute, same bool) bool {
	if l.n == len(l.all)-1 { // one may be added
		return false
	}
	l.same = l.same && same && (l.n == 0 || l.all[l.n-1].name < k.name)
	l.all[l.n] = k
	l.n++
	l.hasTarget = l.hasTarget || k.name == "href"
	return true
}

// write writes the start tag of e for s[from:to].
func (q *fastPath) write(e *element, from, to int) {
	q.replace(from, to, "")
	q.out = q.z.appendKept(q.out, e, q.attrs.all[:q.attrs.n], q.attrs.hasTarget)
}
