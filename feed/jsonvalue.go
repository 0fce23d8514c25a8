package feed

import (
	"math"
	"strconv"
	"strings"
	"time"

	"cloudburst/internal/href"
)

// text reads a value that is one line of text. It reports a value of another kind and
// converts it to text if possible.
func (r *jsonReader) text() string {
	return strings.TrimSpace(r.words())
}

// words reads a text value and keeps it unchanged.
func (r *jsonReader) words() string {
	v := r.s.value()
	switch {
	case v.kind == jsonString:
		return v.text
	case v.kind == jsonNumber, v.kind == jsonBool && v.text == "true":
		r.report(ProblemValue, v.at, v.kind.Upper()+" is used where a text is expected; it is read as text.")
		return v.text
	}
	return r.other(v, "a text")
}

// address reads a value that is a URL.
func (r *jsonReader) address() string {
	v := r.s.value()
	if v.kind == jsonString {
		return strings.TrimSpace(v.text)
	}
	return strings.TrimSpace(r.other(v, "an address"))
}

// other reads a value of an unexpected kind. due names the expected kind. null counts as a missing
// value. An object or array is stored as unknown, and the first suitable text in it is the value.
func (r *jsonReader) other(v jsonValue, due string) string {
	switch v.kind {
	case jsonNone:
		return ""
	case jsonNull:
		r.report(ProblemValue, v.at, "null is used where "+due+" is expected; leave out missing values in JSON Feed.")
		return ""
	}
	if v.kind != jsonObject && v.kind != jsonArray {
		r.report(ProblemValue, v.at, v.kind.Upper()+" is used where "+due+" is expected.")
		return ""
	}
	key := ""
	for i := len(r.s.frames) - 2; i >= 0 && key == ""; i-- { // an element has no name of its own: use the name of its array
		key = r.s.frames[i].key
	}
	r.report(ProblemValue, v.at, v.kind.Upper()+" is used where "+due+" is expected; the first suitable value in it is read.")
	n := len(*r.into)
	*r.into = r.tree(key, v, *r.into)
	return firstText((*r.into)[n:])
}

// firstText returns the text in a tree that is used where a text is expected.
func firstText(nodes []Node) string {
	for i := range nodes {
		n := &nodes[i]
		if n.Text != "" {
			return n.Text
		}
		for _, name := range [...]string{n.Name, "url", "href", "src", "value", "name", "term", "title", "text", "html", "content", "rendered"} {
			for j := range n.Children {
				if c := &n.Children[j]; c.Name == name && c.Text != "" {
					return c.Text
				}
			}
		}
		if len(n.Children) == 1 && n.Children[0].Text != "" {
			return n.Children[0].Text
		}
	}
	return ""
}

// String returns the name of the kind for messages; Upper returns it with a capital letter.
func (k jsonKind) String() string {
	return [...]string{"nothing", "null", "a boolean", "a number", "a text", "an object", "an array"}[k]
}

func (k jsonKind) Upper() string {
	return [...]string{"Nothing", "null", "A boolean", "A number", "A text", "An object", "An array"}[k]
}

// plainText reads a text without markup. Markup is reported and kept as plain characters.
func (r *jsonReader) plainText() Text {
	at := r.s.pos
	text := r.text()
	if text == "" {
		return Text{}
	}
	if strings.ContainsAny(text, "<&") && href.LooksLikeHTML(text) {
		r.report(ProblemValue, at, "A plain text contains HTML; its tags are displayed as text.")
	}
	return Text{Value: text, Type: plainText}
}

// date reads a date. A number is read as seconds or milliseconds since 1970.
// spec:jsonfeed11-2020#dates
func (r *jsonReader) date() Date {
	v := r.s.value()
	var d Date
	switch v.kind {
	case jsonString:
		d.Raw = strings.TrimSpace(v.text)
		if n := len(d.Raw); n >= 9 && n <= 14 && digits(d.Raw) == n && d.Raw[0] != '2' {
			return r.epoch(v) // digits that begin with 2 are excluded: they may be a year or a date such as 20261120
		}
	case jsonNumber:
		return r.epoch(v)
	default:
		d.Raw = strings.TrimSpace(r.other(v, "a date"))
	}
	if d.Raw == "" {
		return Date{}
	}
	t, ok := ParseDate(d.Raw)
	switch {
	case !ok:
		r.report(ProblemDate, v.at, "The date "+quote(d.Raw)+" cannot be read; write it like 2020-12-31T23:59:59Z.")
		return d
	case !isRFC3339(d.Raw):
		r.report(ProblemDate, v.at, "The date "+quote(d.Raw)+" is not in the form of RFC 3339; write it like 2020-12-31T23:59:59Z.")
	}
	d.UTC = t.UTC()
	return d
}

func (r *jsonReader) epoch(v jsonValue) Date {
	d := Date{Raw: strings.TrimSpace(v.text)}
	n, err := strconv.ParseFloat(d.Raw, 64)
	if err != nil || math.Abs(n) > 1e14 || math.IsNaN(n) {
		r.report(ProblemDate, v.at, "The number "+quote(v.text)+" is used where a date is expected and is not a date.")
		return d
	}
	r.report(ProblemDate, v.at, "A number is used where a date is expected; it is read as the time since 1970.")
	ms := n * 1000
	if math.Abs(n) >= 1e11 { // seconds would mean a year after 5138, so the number is in milliseconds
		ms = n
	}
	d.UTC = time.UnixMilli(int64(ms)).UTC()
	return d
}

// isRFC3339 reports whether s has the form of a date in RFC 3339.
func isRFC3339(s string) bool {
	const form = "0000-00-00T00:00:00"
	if len(s) < len(form)+1 {
		return false
	}
	for i := range len(form) {
		c := s[i]
		if form[i] == '0' && (c < '0' || c > '9') || form[i] != '0' && c|0x20 != form[i]|0x20 {
			return false
		}
	}
	s = s[len(form):]
	if s[0] == '.' {
		s = s[1+digits(s[1:]):]
	}
	return s == "Z" || s == "z" || len(s) == 6 && (s[0] == '+' || s[0] == '-') && s[3] == ':' && digits(s[1:]) == 2 && digits(s[4:]) == 2
}

// boolean reads true or false.
func (r *jsonReader) boolean() bool {
	v := r.s.value()
	if v.kind == jsonBool {
		return v.text == "true"
	}
	text := v.text
	if v.kind == jsonString || v.kind == jsonNumber {
		r.report(ProblemValue, v.at, v.kind.Upper()+" is used where true or false is expected.")
	} else {
		text = r.other(v, "true or false")
	}
	switch strings.ToLower(strings.TrimSpace(text[:min(len(text), 16)])) {
	case "true", "yes", "1":
		return true
	}
	return false
}

// number reads a number that is not negative; what names it in messages.
func (r *jsonReader) number(what string) float64 {
	v := r.s.value()
	text := v.text
	switch v.kind {
	case jsonNumber:
	case jsonString:
		r.report(ProblemValue, v.at, "A text is used where "+what+" is expected.")
	default:
		text = r.other(v, what)
	}
	if text = strings.TrimSpace(text); text == "" {
		return 0
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		n, err = clock(text)
	}
	if err != nil || math.IsNaN(n) || math.IsInf(n, 0) || n < 0 {
		r.report(ProblemValue, v.at, quote(text)+" is not "+what+"; it is left out.")
		return 0
	}
	return n
}

// bytes reads a size in bytes.
func (r *jsonReader) bytes() int64 {
	at := r.s.pos
	n := r.number("a number of bytes")
	if n >= 1<<53 { // in JSON, greater numbers are not exact
		r.report(ProblemValue, at, "The size is larger than any file; it is left out.")
		return 0
	}
	return int64(n)
}

// clock parses hours, minutes and seconds that are separated by colons, and returns the number of
// seconds.
func clock(text string) (float64, error) {
	sum := 0.0
	for part := range strings.SplitSeq(text[:min(len(text), 32)], ":") {
		n, err := strconv.ParseFloat(part, 64)
		if err != nil || n < 0 {
			return 0, strconv.ErrSyntax
		}
		sum = sum*60 + n
	}
	return sum, nil
}

// each calls one for every element of the array v. If v is no array, it is reported and used as the
// only element.
func (r *jsonReader) each(v jsonValue, one func(v jsonValue)) {
	switch v.kind {
	case jsonArray:
		for r.s.element() {
			one(r.s.value())
		}
	case jsonNull:
		r.other(v, "a list")
	case jsonNone:
	default:
		r.report(ProblemValue, v.at, v.kind.Upper()+" is used where a list is expected; it is read as a list of one value.")
		one(v)
	}
}

// tree appends the value v to out as a node with this name; see json for the form.
func (r *jsonReader) tree(name string, v jsonValue, out []Node) []Node {
	if v.kind == jsonNone || !r.hasRoom(v) {
		return out
	}
	switch v.kind {
	case jsonArray:
		list, n := r.elements(name)
		if n >= 2 {
			return append(out, list...)
		}
		return append(out, Node{Name: name, Attrs: r.typed("array"), Children: list})
	case jsonObject:
		node := Node{Name: name}
		for {
			key, ok := r.s.key()
			if !ok {
				break
			}
			node.Children = r.tree(key, r.s.value(), node.Children)
		}
		if node.Children == nil {
			node.Attrs = r.typed("object")
		}
		return append(out, node)
	case jsonString:
		return append(out, Node{Name: name, Text: v.text})
	}
	return append(out, Node{Name: name, Text: v.text, Attrs: r.typed(v.kind.name())})
}

// elements reads the elements of the open array and returns their number n.
func (r *jsonReader) elements(name string) (list []Node, n int) {
	for ; r.s.element(); n++ {
		v := r.s.value()
		if v.kind != jsonArray {
			list = r.tree(name, v, list)
			continue
		}
		if r.hasRoom(v) {
			inner, _ := r.elements(name)
			list = append(list, Node{Name: name, Attrs: r.typed("array"), Children: inner})
		}
	}
	return list, n
}

// hasRoom reports whether one more unknown value may be stored. If not, it skips the value.
func (r *jsonReader) hasRoom(v jsonValue) bool {
	r.unknown++
	if r.unknown <= r.o.Limits.Unknown {
		return true
	}
	if !r.full {
		r.full = true
		r.report(ProblemLimit, v.at, "There are too many values that JSON Feed does not define; the rest is left out.")
	}
	r.s.pass(v)
	return false
}

// name returns the value of the attribute "type".
func (k jsonKind) name() string {
	return [...]string{"", "null", "boolean", "number", "string", "object", "array"}[k]
}

func (r *jsonReader) typed(kind string) []Attr {
	r.unknown++
	return r.attrs.add(nil, Attr{Name: "type", Value: kind})
}

// part reads an object in a list. names are the names that the object can have. use reads the value
// of a name; it returns false for a name without a field and for 0, and the value is then stored as
// a tree.
func (r *jsonReader) part(list string, index int, names jsonNames, use func(jsonName) bool) {
	var seen jsonNames
	var rest []Node
	outer := r.into
	r.into = &rest
	for {
		key, more := r.s.key()
		if !more {
			break
		}
		if !use(r.name(key, names, &seen)) {
			rest = r.tree(key, r.s.value(), rest)
		}
	}
	r.into = outer
	r.extra(list, index, rest)
}

// extra stores the unknown members of an element of a list.
func (r *jsonReader) extra(list string, index int, nodes []Node) {
	if len(nodes) == 0 {
		return
	}
	*r.into = append(*r.into, Node{Name: list, Attrs: r.attrs.add(nil, Attr{Name: "index", Value: strconv.Itoa(index)}), Children: nodes})
}
