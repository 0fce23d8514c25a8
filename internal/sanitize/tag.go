package sanitize

import "strings"

// attrList are the attributes of a tag that stay.
type attrList struct {
	n    int
	all  [12]kept
	seen seenSet
	same bool // the tag is as it would be written
	goes bool // it has an address to go to
}

// startTag reads a start tag, and begins its element.
func (q *quick) startTag(i int) int {
	s := q.s
	n := i + 1
	for n < len(s) && ('a' <= s[n] && s[n] <= 'z' || '0' <= s[n] && s[n] <= '9') {
		n++
	}
	if n == i+1 || n == len(s) {
		return 0
	}
	name := s[i+1 : n]
	if name == "iframe" {
		return q.frame(i, n)
	}
	o := ordinaries.of(name)
	if o == nil || !q.makeRoom(i, o) {
		return 0
	}
	end := n + 1
	if s[n] != '>' || o.e.is(void) {
		if end = q.attributes(o.e, n); end == 0 {
			return 0
		}
		if !q.attrs.same || q.attrs.goes && q.z.o.LinkRel != "" {
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
func (q *quick) makeRoom(i int, o *ordinary) bool {
	in := q.stack[q.depth].in
	if in&o.at == 0 {
		return false
	}
	if in == groups && o.in == cells { // a row right in a table is in a section of its own
		q.replace(i, i, "<tbody>")
		if q.depth++; q.depth >= deepestOrdinary-1 {
			return false
		}
		q.stack[q.depth] = place{ordinaries.of("tbody"), rows, true}
	}
	return true
}

// open begins the element of which the start tag ends at end.
func (q *quick) open(o *ordinary, end int) int {
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
	if q.depth++; q.depth >= deepestOrdinary {
		return 0
	}
	q.stack[q.depth] = place{o, in, false}
	return end
}

// frame reads an empty iframe, which is left out.
func (q *quick) frame(i, n int) int {
	if q.fresh || q.stack[q.depth].in&(flow|phrasing) == 0 {
		return 0
	}
	end := q.attributes(nil, n)
	const empty = "</iframe>"
	if end == 0 || q.s[end-2] == '/' || !strings.HasPrefix(q.s[end:], empty) {
		return 0
	}
	q.replace(i, end+len(empty), "")
	return end + len(empty)
}

// attributes reads those of e, nil for an element that is left out, from n on. It
// gives the end of the tag.
func (q *quick) attributes(e *element, n int) int {
	s, a := q.s, &q.attrs
	a.n, a.seen, a.same, a.goes = 0, seenSet{}, true, false
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
func (q *quick) attribute(e *element, n int) int {
	s := q.s
	from := n
	for n < len(s) && ('a' <= s[n] && s[n] <= 'z' || s[n] == '-' || s[n] == ':' || '0' <= s[n] && s[n] <= '9') {
		n++
	}
	if n == from || n+1 >= len(s) {
		return 0
	}
	key := s[from:n]
	if strings.HasPrefix(key, "on") || len(key) > 32 {
		return 0
	}
	v := value{same: true}
	if s[n] == '=' {
		if n++; s[n] == '"' || s[n] == '\'' {
			quote := s[n]
			size := strings.IndexByte(s[n+1:], quote)
			if size < 0 {
				return 0
			}
			v = readValue(s[n+1 : n+1+size])
			v.same = v.same && quote == '"'
			n += size + 2
		} else {
			start := n
			for n < len(s) && (isAlphanumeric(s[n]) || s[n] == '%' || s[n] == '-' || s[n] == '_') {
				n++
			}
			if n == start || n == len(s) || s[n] == '/' { // the slash would be of the value
				return 0
			}
			v = value{text: s[start:n], tame: true}
		}
		if v.wild {
			return 0
		}
	} else {
		v.same = false
	}
	if e != nil && !q.keep(e, key, v) {
		return 0
	}
	return n
}

// value is that of an attribute.
type value struct {
	text string // references read
	same bool   // it stands as it would be written
	tame bool   // it is of visible ASCII characters only
	wild bool   // it is not ordinary
}

// readValue reads what is between quotes.
func readValue(raw string) value {
	v := value{text: raw, same: true, tame: true}
	refers := false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case c > '>' && c < 0x7f:
		case c == '&':
			refers = true
		case c == '"' || c == '>':
			v.same = false
		case c == '<', c < ' ' && c != '\n' && c != '\t':
			return value{wild: true}
		case c <= ' ' || c >= 0x7f:
			v.tame = false
		}
	}
	if !refers {
		return v
	}
	text := make([]byte, 0, 128)
	done := 0
	for {
		i := strings.IndexByte(raw[done:], '&')
		if i < 0 {
			break
		}
		i += done
		is, n, ok := reference(raw[i:], true)
		if !ok {
			return value{wild: true}
		}
		v.same = v.same && raw[i:i+n] == escapedInValue(is)
		v.tame = v.tame && is[0] < 0x80
		text = append(append(text, raw[done:i]...), is...)
		done = i + n
	}
	v.text = string(append(text, raw[done:]...))
	return v
}

// escapedInValue is a character, or two, as it stands between quotes.
func escapedInValue(is string) string {
	if is == `"` {
		return "&#34;"
	}
	return escaped(is)
}

// keep notes what stays of an attribute. It says whether that is certain.
func (q *quick) keep(e *element, key string, v value) bool {
	a := &q.attrs
	k, ok := q.z.keep(e, &a.seen, key, v.text)
	address := k.nature == linked || k.nature == shown || k.nature == shownSet
	switch {
	case address && (!ok || k.value != v.text):
		return false // it was meant as something else
	case !ok:
		a.same = false
		return true
	case k.value != v.text:
		// What the careful reader writes, it reads once more.
		var seen seenSet
		again, ok := q.z.keep(e, &seen, key, k.value)
		if !ok || again.value != k.value {
			return false
		}
		a.same = false
	}
	if a.n == len(a.all)-1 { // one may be added
		return false
	}
	a.same = a.same && v.same && (a.n == 0 || a.all[a.n-1].name < k.name)
	a.all[a.n] = k
	a.n++
	a.goes = a.goes || k.name == "href"
	return true
}

// write writes the start tag of e for s[from:to].
func (q *quick) write(e *element, from, to int) {
	q.replace(from, to, "")
	q.out = q.z.appendKept(q.out, e, q.attrs.all[:q.attrs.n], q.attrs.goes)
}
