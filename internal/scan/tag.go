package scan

import "strings"

// startTag reads <name …>. It returns false for an element beyond the depth limit.
func (r *Reader) startTag() (Kind, bool) {
	begin := r.pos
	i, colon, upper := r.elementName(begin + 1)
	name := r.doc[begin+1 : i]
	prefix, local := "", name
	if colon >= 0 {
		prefix, local = r.doc[begin+1:colon], r.doc[colon+1:i]
	}
	if upper {
		local = r.lowered(local)
	}
	if i == len(r.doc) { // drop the tag, because its name may be incomplete
		r.problem(Truncated, begin, "The document ends in a tag.")
		r.pos = i
		return EOF, false
	}
	r.tags++
	if name == r.sibling && len(r.stack) > r.within && !nested(r, name) {
		r.closeFor(name)
		return r.pop(), true
	}
	if r.opt.Closes != nil && len(r.stack) > 0 && r.over == 0 {
		if top := &r.stack[len(r.stack)-1]; r.opt.Closes(top.prefix(), r.local(top), prefix, local) {
			r.problem(Unclosed, begin, "<", top.name, "> was not closed before <", name, ">; it is taken to end here.")
			r.quiet = max(r.quiet, begin+1)
			return r.pop(), true
		}
	}
	r.Name, r.Local, r.Base = name, local, ""
	mark := len(r.bindings)
	lang, outer := r.Lang(), r.unprefixed
	closed := false
	r.Attrs = r.Attrs[:0]
	if i < len(r.doc) && r.doc[i] == '>' {
		r.pos = i + 1
	} else {
		closed = r.attributes(i)
		lang = r.xmlAttributes(lang)
	}
	if len(r.stack) >= r.opt.Depth {
		r.bindings, r.unprefixed = r.bindings[:mark], outer
		r.copied = true
		if r.over == 0 {
			r.problem(Limit, begin, "Elements are nested deeper than the limit; those below <", r.stack[len(r.stack)-1].name, "> are ignored, but not their text.")
		}
		if !closed {
			r.over++
		}
		return EOF, false
	}
	if len(r.stack) == 0 && r.rooted {
		r.problem(Junk, begin, "There is <", name, "> after the end of the document.")
	}
	r.rooted = true
	r.Space = r.lookup(prefix)
	r.stack = append(r.stack, frame{name: name, lang: lang, colon: int32(max(colon-begin-1, -1)), upper: upper, space: int32(r.Space), bindings: int32(mark), outer: int32(outer)})
	r.empty = closed
	return Start, true
}

// closeFor closes all elements inside the parent of a sibling. The caller pops the innermost
// element. next pops the other elements before it reads the tag again.
func (r *Reader) closeFor(name string) {
	top := r.stack[len(r.stack)-1]
	r.problem(Unclosed, r.pos, "<", top.name, "> was not closed before the next <", name, ">; it is taken to end here.")
	r.quiet = max(r.quiet, r.pos+1)
	r.ends = len(r.stack) - r.within - 1
	r.over = 0
}

// endTag reads </name>. An end tag of an outer element also closes the elements inside it.
func (r *Reader) endTag() (Kind, bool) {
	begin := r.pos
	n := len(r.stack)
	if n > 0 && r.over == 0 { // nearly always the innermost element ends
		top := r.stack[n-1].name
		if rest := r.doc[begin+2:]; len(rest) > len(top) && rest[:len(top)] == top && rest[len(top)] == '>' {
			r.pos = begin + 2 + len(top) + 1
			return r.pop(), true
		}
	}
	i := nameEnd(r.doc, begin+2)
	name := r.doc[begin+2 : i]
	r.endOfTag(i, name)
	if r.over > 0 {
		r.over--
		return EOF, false
	}
	for k := n - 1; k >= 0; k-- {
		if r.stack[k].name == name || len(name) <= maxFoldName && strings.EqualFold(r.stack[k].name, name) {
			if r.stack[k].name != name {
				r.problem(Markup, begin, "</", name, "> differs in case from <", r.stack[k].name, ">; XML names are case-sensitive.")
			}
			if k < n-1 {
				r.problem(Unclosed, begin, "</", name, "> occurs while <", r.stack[n-1].name, "> is open, which is taken to end here.")
			}
			r.ends = n - 1 - k
			return r.pop(), true
		}
	}
	r.problem(StrayEnd, begin, "</", name, "> has no start tag; it is ignored.")
	return EOF, false
}

// endOfTag moves to the > of an end tag.
func (r *Reader) endOfTag(i int, name string) {
	for i < len(r.doc) && space(r.doc[i]) {
		i++
	}
	if i < len(r.doc) && r.doc[i] == '>' {
		r.pos = i + 1
		return
	}
	r.problem(Markup, r.pos, "The end tag of ", name, " is malformed.")
	for i < len(r.doc) && r.doc[i] != '>' && r.doc[i] != '<' {
		i++
	}
	if i < len(r.doc) && r.doc[i] == '>' {
		i++
	}
	r.pos = i
}

// attributes reads the rest of a start tag after the name, and reports whether the element is
// empty.
func (r *Reader) attributes(i int) (closed bool) {
	doc := r.doc
	r.names = nil
	for {
		for i < len(doc) && space(doc[i]) {
			i++
		}
		if i >= len(doc) {
			r.problem(Truncated, r.tok, "The document ends in a tag.")
			r.pos = i
			return false
		}
		switch doc[i] {
		case '>':
			r.pos = i + 1
			return false
		case '/':
			if i+1 < len(doc) && doc[i+1] == '>' {
				r.pos = i + 2
				return true
			}
			i++
		case '<':
			r.problem(Markup, i, "A tag begins before the one before it ended.")
			r.pos = i
			return false
		case '"', '\'', '=':
			r.problem(Attribute, i, "There is an extra ", doc[i:i+1], " in a tag.")
			i++
		default:
			i = r.attribute(i)
		}
	}
}

// attribute reads one attribute and returns the offset after it.
func (r *Reader) attribute(i int) int {
	doc := r.doc
	begin := i
	i = nameEnd(doc, i)
	name := doc[begin:i]
	j := i
	for j < len(doc) && space(doc[j]) {
		j++
	}
	if j >= len(doc) || doc[j] != '=' {
		r.problem(Attribute, begin, "The attribute ", name, " has no value.")
		r.add(name, "", begin)
		return i
	}
	for j++; j < len(doc) && space(doc[j]); {
		j++
	}
	if j >= len(doc) {
		return j
	}
	if q := doc[j]; q == '"' || q == '\'' {
		if end := r.quoted(j+1, q); end >= 0 {
			if cut := missingQuote(doc, j+1, end); cut >= 0 {
				r.problem(Attribute, begin, "The value of the attribute ", name, " has no closing quote; it is taken to end before the next attribute.")
				r.add(name, doc[j+1:cut], begin)
				return cut
			}
			r.add(name, doc[j+1:end], begin)
			return end + 1
		}
		r.problem(Attribute, begin, "The value of the attribute ", name, " has no closing quote; it is taken to end with the tag.")
		j++
		end := unquotedEnd(doc, j, ">")
		r.add(name, doc[j:end], begin)
		return end
	}
	end := unquotedEnd(doc, j, " \n\t\r>")
	if end > j && end < len(doc) && doc[end] == '>' && doc[end-1] == '/' {
		end-- // <a b=c/> is an empty element
	}
	r.problem(Attribute, begin, "The value of the attribute ", name, " has no quotes.")
	r.add(name, doc[j:end], begin)
	return end
}

// quoted returns the offset of the closing quote, -1 if there is none. A quote after the start of
// another tag belongs to that tag.
func (r *Reader) quoted(from int, q byte) int {
	i := strings.IndexByte(r.doc[from:], q)
	if i < 0 {
		return -1
	}
	value := r.doc[from : from+i]
	if lt := strings.IndexByte(value, '<'); lt > 0 && strings.IndexByte(value[:lt], '>') >= 0 {
		return -1
	}
	return from + i
}

// missingQuote returns the end of a value whose closing quote is really the opening quote of the
// next attribute: a="1 b="2". It returns -1 for other values.
func missingQuote(doc string, from, quote int) int {
	if quote+1 >= len(doc) || space(doc[quote+1]) || doc[quote+1] == '/' || doc[quote+1] == '>' || doc[quote+1] == '?' || doc[quote-1] != '=' {
		return -1
	}
	i := quote - 1
	for i > from && nameByte(doc[i-1]) {
		i--
	}
	if i == quote-1 || i == from || !space(doc[i-1]) {
		return -1
	}
	next := quote + 1
	for next < len(doc) && nameByte(doc[next]) {
		next++
	}
	if next < len(doc) && doc[next] == '=' { // a="1 b="c="2": the next attribute begins after the quote
		return -1
	}
	return i - 1
}

func nameByte(c byte) bool {
	return nameStart(c) || '0' <= c && c <= '9' || c == '-' || c == '.'
}

func unquotedEnd(s string, i int, stop string) int {
	for i < len(s) && strings.IndexByte(stop, s[i]) < 0 {
		i++
	}
	return i
}

// add stores an attribute. The first of several duplicates is used.
func (r *Reader) add(name, raw string, at int) {
	if len(r.Attrs) >= r.opt.Attributes {
		if len(r.Attrs) == r.opt.Attributes && r.quiet <= at {
			r.problem(Limit, at, "An element has more attributes than the limit; the rest is ignored.")
			r.quiet = max(r.quiet, at+1)
			r.Attrs = append(r.Attrs, Attr{})
		}
		return
	}
	if r.has(name) {
		r.problem(Attribute, at, "The attribute ", name, " is duplicated; the first counts.")
		return
	}
	r.Attrs = append(r.Attrs, Attr{Name: name, Raw: raw})
}

// has reports whether the current element already has an attribute of this name. It compares a few
// names one by one, and looks up many names in a map.
func (r *Reader) has(name string) bool {
	const few = 64
	if len(r.Attrs) < few {
		for k := range r.Attrs {
			if r.Attrs[k].Name == name {
				return true
			}
		}
		return false
	}
	if r.names == nil {
		r.names = make(map[string]struct{}, 2*few)
		for k := range r.Attrs {
			r.names[r.Attrs[k].Name] = struct{}{}
		}
	}
	n := len(r.names)
	r.names[name] = struct{}{}
	return len(r.names) == n
}

// xmlAttributes processes namespace declarations, xml:lang and xml:base. It returns the language of
// the element.
func (r *Reader) xmlAttributes(lang string) string {
	if n := len(r.Attrs); n > r.opt.Attributes {
		r.Attrs = r.Attrs[:r.opt.Attributes]
	}
	hasLang := false
	for k := range r.Attrs {
		a := &r.Attrs[k]
		if len(a.Name) == 4 { // authors forget the prefix xml:, and the format CDF has no prefix
			switch {
			case strings.EqualFold(a.Name, "lang") && !hasLang:
				lang = r.language(a.Raw, lang)
			case strings.EqualFold(a.Name, "base") && r.Base == "":
				r.Base = strings.TrimSpace(r.Decode(a.Raw))
			}
			continue
		}
		if len(a.Name) < 5 || a.Name[0] != 'x' && a.Name[0] != 'X' {
			continue
		}
		switch {
		case a.Name == "xmlns":
			r.bind("", a.Raw)
		case strings.HasPrefix(a.Name, "xmlns:"):
			r.bind(a.Name[len("xmlns:"):], a.Raw)
		case strings.EqualFold(a.Name, "xml:lang"):
			lang, hasLang = r.language(a.Raw, lang), true
		case strings.EqualFold(a.Name, "xml:base"):
			r.Base = strings.TrimSpace(r.Decode(a.Raw))
		}
	}
	return lang
}

// language returns a language tag as written, or outer if the tag has more than 100 bytes. The
// length is limited because every text inside inherits the tag.
func (r *Reader) language(raw, outer string) string {
	const longest = 100
	if len(raw) > longest {
		return outer
	}
	return strings.TrimSpace(r.Decode(raw))
}

// These limits bound the cost of namespaces: each prefixed name is looked up in all current
// bindings, and each unknown element is stored with its namespace URI of at most maxURI bytes.
const (
	maxBindings = 256
	maxURI      = 2048
)

func (r *Reader) bind(prefix, raw string) {
	if len(r.bindings) >= maxBindings {
		r.problem(Limit, r.tok, "More namespaces are declared than the limit; ", prefix, " is ignored.")
		return
	}
	uri := strings.TrimSpace(r.Decode(raw))
	if len(uri) > maxURI {
		r.problem(Limit, r.tok, "The URI of the namespace ", prefix, " is longer than the limit; it is ignored.")
		uri = ""
	}
	b := binding{prefix: prefix, uri: uri}
	if r.opt.Space != nil {
		b.space = r.opt.Space(prefix, uri, len(r.stack)+1)
	}
	if prefix == "" {
		r.unprefixed = b.space
	}
	r.bindings = append(r.bindings, b)
}

// lookup returns the number, from Options.Space, of the namespace of a prefix.
func (r *Reader) lookup(prefix string) int {
	if prefix == "" {
		return r.unprefixed
	}
	for k := len(r.bindings) - 1; k >= 0; k-- {
		if r.bindings[k].prefix == prefix {
			return r.bindings[k].space
		}
	}
	if r.opt.Space == nil {
		return 0
	}
	for k := range r.undeclared {
		if r.undeclared[k].prefix == prefix {
			return r.undeclared[k].space
		}
	}
	n := r.opt.Space(prefix, "", len(r.stack)+1)
	if len(r.undeclared) < 64 {
		r.undeclared = append(r.undeclared, binding{prefix: prefix, space: n})
	}
	return n
}

// URI returns the namespace of a prefix at the current element; "" if it has none.
func (r *Reader) URI(prefix string) string {
	if prefix == "xml" {
		return "http://www.w3.org/XML/1998/namespace"
	}
	for k := len(r.bindings) - 1; k >= 0; k-- {
		if r.bindings[k].prefix == prefix {
			return r.bindings[k].uri
		}
	}
	return ""
}

// SpaceOf returns the number from Options.Space for a prefix at the current element.
func (r *Reader) SpaceOf(prefix string) int { return r.lookup(prefix) }

// Prefix returns the part of a qualified name before the colon; "" without one.
func Prefix(name string) string {
	if i := strings.IndexByte(name, ':'); i > 0 {
		return name[:i]
	}
	return ""
}

// lowered returns a name in lowercase. It caches names, which repeat often.
func (r *Reader) lowered(name string) string {
	if l, ok := r.lower[name]; ok {
		return l
	}
	l := strings.ToLower(name)
	if r.lower == nil {
		r.lower = make(map[string]string, 16)
	}
	if len(r.lower) < 1000 {
		r.lower[strings.Clone(name)] = l
	}
	return l
}

// Attr returns the decoded value of an attribute. name includes the prefix. Attr ignores the case
// of name.
func (r *Reader) Attr(name string) (string, bool) {
	for k := range r.Attrs {
		if a := &r.Attrs[k]; len(a.Name) == len(name) && (a.Name == name || strings.EqualFold(a.Name, name)) {
			return r.Decode(a.Raw), true
		}
	}
	return "", false
}

// AttrLocal is like Attr for names without their prefix.
func (r *Reader) AttrLocal(local string) (string, bool) {
	for k := range r.Attrs {
		name := r.Attrs[k].Name
		if i := strings.IndexByte(name, ':'); i >= 0 {
			name = name[i+1:]
		}
		if len(name) == len(local) && strings.EqualFold(name, local) && !strings.HasPrefix(r.Attrs[k].Name, "xmlns") {
			return r.Decode(r.Attrs[k].Raw), true
		}
	}
	return "", false
}

// Local returns the part of a qualified name after the colon.
func Local(name string) string { return name[strings.IndexByte(name, ':')+1:] }
