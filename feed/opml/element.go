package opml

import (
	"slices"
	"strings"

	"cloudburst/internal/scan"
)

// undeclared is the beginning of the URI that the writer declares for a prefix without a
// declaration, so that other programs accept the document. The parser treats this URI as no
// namespace.
const undeclared = "undeclared:"

// sourceURI is the most frequent namespace in lists. Some lists use it without a declaration.
const sourceURI = "http://source.scripting.com/"

// A document must not declare these two namespaces.
const (
	xmlURI   = "http://www.w3.org/XML/1998/namespace"
	xmlnsURI = "http://www.w3.org/2000/xmlns/"
)

// value resolves the references in an attribute's value. Line ends and tabs become spaces,
// unless they are written as references.
func (b *builder) value(raw string) string {
	if literal(raw) {
		return raw
	}
	if strings.ContainsAny(raw, "\t\r\n") {
		raw = strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ", "\t", " ").Replace(raw)
	}
	return b.Decode(raw)
}

// literal reports whether a value contains no reference and no control character. It checks
// eight bytes at once.
func literal(s string) bool {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	for len(s) >= 8 {
		x := uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
			uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
		amp := x ^ '&'*ones
		if ((x-' '*ones)&^x|(amp-ones)&^amp)&tops != 0 {
			return false
		}
		s = s[8:]
	}
	for i := range len(s) {
		if s[i] < ' ' || s[i] == '&' {
			return false
		}
	}
	return true
}

// outlineAttrs reads the attributes of an outline.
func (b *builder) outlineAttrs(o *Outline) {
	order, seen, loose := b.order[:0], 0, false
	for i := range b.Attrs {
		f, exact := fieldOf(b.Attrs[i].Name)
		if exact {
			seen |= 1 << f
		} else if f != other {
			loose = true
		}
		order = append(order, f)
	}
	if loose {
		b.fixCase(order, seen)
	}
	kept := order[:0] // the known attributes, without xmlns and those beyond a limit
	for i := range b.Attrs {
		switch f := order[i]; {
		case f == other:
			if n := len(o.Attrs); !isXMLNS(b.Attrs[i].Name) {
				if o.Attrs = b.attr(o.Attrs, b.Attrs[i]); len(o.Attrs) > n {
					kept = append(kept, other)
				}
			}
		case b.known(o, f, b.Attrs[i].Raw):
			kept = append(kept, f)
		default: // the value is invalid for the field
			o.Attrs = b.attr(o.Attrs, b.Attrs[i])
			kept = append(kept, other)
		}
	}
	b.order = b.fill(o, kept)
	if !o.plain(b.order) {
		if b.last != string(b.order) { // most outlines of a list have the same order
			b.last = string(b.order)
		}
		o.order = b.last
	}
}

// fixCase handles known names in the wrong case. The value of such an attribute is used if the
// correctly spelled attribute is missing.
func (b *builder) fixCase(order []field, seen int) {
	for i, f := range order {
		name := b.Attrs[i].Name
		if f == other || name == f.String() {
			continue
		}
		if seen&(1<<f) != 0 {
			order[i] = other
			continue
		}
		seen |= 1 << f
		b.problemf(ProblemAttribute, "The attribute %.40s should be spelled %s, and is read as that.", name, f)
	}
}

// known stores the value of a known attribute. It returns false if the value is invalid for the
// field.
func (b *builder) known(o *Outline, f field, raw string) bool {
	v := b.value(raw)
	switch f {
	case fieldXMLURL, fieldHTMLURL, fieldURL, fieldType:
		if v != "" && (v[0] <= ' ' || v[len(v)-1] <= ' ') {
			b.problemf(ProblemValue, "There is white space around the value of %s.", f)
			v = strings.TrimSpace(v)
		}
	case fieldCreated:
		if _, ok := Date(v).Time(); !ok && v != "" {
			b.problemf(ProblemDate, "The date %.40q cannot be read.", v)
		}
	}
	if o.set(f, v) {
		return true
	}
	b.problemf(ProblemValue, "The value of %s must be true or false, but is %.40q.", f, v)
	return false
}

// fill adds the required attributes whose values can be derived.
//
// spec:opml20-2007#text-required
func (b *builder) fill(o *Outline, order []field) []field {
	if o.Text == "" && !has(order, fieldText) {
		order = insert(order, fieldText)
		if o.Title != "" {
			o.Text = o.Title
			b.problem(ProblemMissing, "The outline has no text attribute; its title is used.")
		} else {
			b.problem(ProblemMissing, "The outline has no text attribute; its content is used, if there is any.")
		}
	}
	if o.Type == "" && o.XMLURL != "" {
		o.Type = "rss"
		if !has(order, fieldType) {
			order = insert(order, fieldType)
		}
		b.problem(ProblemMissing, "The outline has an xmlUrl but no type; it is read as a subscription (rss).")
	}
	if o.XMLURL == "" && o.isFeedType() {
		b.problemf(ProblemMissing, "The outline has the type %s but no xmlUrl.", o.Type)
	}
	return order
}

func has(order []field, f field) bool {
	return slices.Contains(order, f)
}

// insert adds a field to order at its default position.
func insert(order []field, f field) []field {
	i := 0
	for i < len(order) && order[i] != other && order[i] < f {
		i++
	}
	order = append(order, f)
	copy(order[i+1:], order[i:])
	order[i] = f
	return order
}

func isXMLNS(name string) bool { return name == "xmlns" || strings.HasPrefix(name, "xmlns:") }

// attrs appends attributes that have no field.
//
// spec:opml20-2007#namespaces
func (b *builder) attrs(to []Attr, list []scan.Attr) []Attr {
	for _, a := range list {
		if !isXMLNS(a.Name) {
			to = b.attr(to, a)
		}
	}
	return to
}

// attr appends one attribute, unless the list already has it.
func (b *builder) attr(to []Attr, a scan.Attr) []Attr {
	out := Attr{Name: a.Name}
	if strings.IndexByte(a.Name, ':') >= 0 || !simpleName(a.Name) {
		prefix, local := b.name(a.Name)
		if out.Name = local; prefix != "" {
			out.Name, out.Space = prefix+":"+local, b.uri(prefix)
		}
	}
	if repeated(to, out) || !b.mayKeep(1) {
		return to
	}
	out.Value = b.value(a.Raw)
	return append(to, out)
}

// repeated reports whether the list has an attribute with the same name, or with the same
// namespace and local name.
func repeated(list []Attr, a Attr) bool {
	for i := range list {
		if list[i].Name == a.Name || a.Space != "" && list[i].Space == a.Space && local(list[i].Name) == local(a.Name) {
			return true
		}
	}
	return false
}

func local(name string) string { return name[strings.IndexByte(name, ':')+1:] }

// uri returns the namespace that a prefix has at the scanner's position.
func (b *builder) uri(prefix string) string {
	uri := b.URI(prefix)
	switch {
	case prefix == "" && uri == b.space, isNone(prefix, uri):
		return ""
	case uri != "" || prefix == "":
		return uri
	}
	for _, n := range b.d.Namespaces {
		if n.Prefix == prefix { // an unclosed tag may have ended the scope of the declaration too early
			return n.URI
		}
	}
	if slices.Contains(b.reportedPrefixes, prefix) {
		return ""
	}
	b.problemf(ProblemNamespace, "The prefix %.40s is not declared.", prefix)
	if prefix == "source" {
		b.d.Namespaces = append(b.d.Namespaces, Namespace{prefix, sourceURI})
		return sourceURI
	}
	if len(b.reportedPrefixes) < 64 {
		b.reportedPrefixes = append(b.reportedPrefixes, prefix)
	}
	return ""
}

// isNone reports whether a namespace declaration is empty or forbidden.
func isNone(prefix, uri string) bool {
	if rest, ok := strings.CutPrefix(uri, undeclared); ok && rest == prefix {
		return true
	}
	return uri == xmlURI && prefix != "xml" || uri == xmlnsURI
}

// name splits a qualified name. Characters that a name must not contain become underscores.
func (b *builder) name(qualified string) (prefix, local string) {
	if i := strings.IndexByte(qualified, ':'); i > 0 && i < len(qualified)-1 {
		prefix, local = qualified[:i], qualified[i+1:]
	} else {
		local = qualified
	}
	if prefix == "xmlns" {
		prefix = "xmlns_"
	}
	if simpleName(local) && (prefix == "" || simpleName(prefix)) {
		return prefix, local
	}
	if clean := cleanName(local); clean != local {
		b.problemf(ProblemMarkup, "%.40q is not a valid name; it is read as %.40s.", local, clean)
		local = clean
	}
	return cleanName(prefix), local
}

// simpleName reports whether a name is ASCII and valid without further checks.
func simpleName(s string) bool {
	for i := range len(s) {
		c := s[i]
		if l := c | 0x20; l >= 'a' && l <= 'z' || c == '_' || i > 0 && (c >= '0' && c <= '9' || c == '-' || c == '.') {
			continue
		}
		return false
	}
	return s != ""
}

// cleanName turns s into a name that every edition of XML allows. Many parsers still implement
// the fourth edition, which allows far fewer letters than the fifth.
func cleanName(s string) string {
	if s == "" || simpleName(s) {
		return s
	}
	var out strings.Builder
	for _, r := range s {
		if letter(r) || r == '_' || out.Len() > 0 && (r >= '0' && r <= '9' || r == '-' || r == '.') {
			out.WriteRune(r)
		} else {
			out.WriteByte('_')
		}
	}
	return out.String()
}

// letter reports whether r is a letter of a script that is common in names.
func letter(r rune) bool {
	switch {
	case r < 0x80:
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
	case r <= 0xFF:
		return r >= 0xC0 && r != 0xD7 && r != 0xF7
	}
	return r >= 0x100 && r <= 0x131 || // Latin
		r >= 0x391 && r <= 0x3A1 || r >= 0x3A3 && r <= 0x3CE || // Greek
		r >= 0x410 && r <= 0x44F || // Cyrillic
		r >= 0x3041 && r <= 0x3094 || r >= 0x30A1 && r <= 0x30FA || // Kana
		r >= 0x4E00 && r <= 0x9FA5 || r >= 0xAC00 && r <= 0xD7A3 // Han, Hangul
}

// node reads the element that has begun, with all its content.
func (b *builder) node(to []Node) []Node {
	if !b.mayKeep(1) {
		b.skip()
		return to
	}
	var n Node
	if n.Prefix, n.Name = b.name(b.Name); n.Prefix != "" && n.Prefix == b.prefix {
		n.Prefix = "" // do not store the prefix of the root, which the writer omits
	} else {
		n.Space = b.uri(n.Prefix)
	}
	n.Attrs = b.attrs(nil, b.Attrs)
	var text []string
	empty := true
	flush := func() {
		if len(text) > 0 {
			n.Children = append(n.Children, Node{Text: strings.Join(text, "")})
			text = text[:0]
		}
	}
	elements := 0
	for depth := len(b.steps); len(b.steps) >= depth; {
		switch b.next() {
		case scan.Text:
			empty = empty && b.IsSpace()
			text = append(text, b.Chars())
		case scan.Start:
			flush()
			before := len(n.Children)
			n.Children = b.node(n.Children)
			elements += len(n.Children) - before
		}
	}
	flush()
	return append(to, tidy(n, elements, empty))
}

// tidy removes white space between child elements. If an element has no children, tidy stores its
// text in Text.
func tidy(n Node, elements int, empty bool) Node {
	switch {
	case empty && elements == 0:
		n.Children = nil
	case empty:
		kept := n.Children[:0]
		for _, c := range n.Children {
			if c.Name != "" {
				kept = append(kept, c)
			}
		}
		n.Children = kept
	case elements == 0:
		var s strings.Builder
		for _, c := range n.Children {
			s.WriteString(c.Text)
		}
		n.Text, n.Children = s.String(), nil
	}
	return n
}
