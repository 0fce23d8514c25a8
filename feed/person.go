package feed

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"cloudburst/internal/scan"
)

// person reads a person: child elements in Atom, or one line in RSS.
func (p *parser) person() Person {
	element, attrs := p.r.Name, p.foreignAttrs()
	text, markup := p.r.Leaf()
	if !markup {
		who := splitPerson(p.fixDoubled(text))
		if who != (Person{}) {
			extend(&who.Extension, attrs, nil)
		}
		return who
	}
	var who Person
	var line strings.Builder // text outside of the known elements
	var others []Node
	for depth := p.r.Depth(); ; {
		switch p.next() {
		case scan.Start:
			p.personElement(&who, &line, &others)
			continue
		case scan.Text:
			line.WriteString(p.r.Chars())
			continue
		case scan.End:
			if p.r.Depth() >= depth {
				continue
			}
		}
		break
	}
	if who == (Person{}) { // the name is in elements that are unknown here
		who = splitPerson(strings.TrimSpace(line.String()))
		others = slices.DeleteFunc(others, func(n Node) bool { return n.isWords() })
	}
	if who != (Person{}) {
		extend(&who.Extension, attrs, others)
	} else if attrs != nil || len(others) > 0 {
		p.keepParts(element, &Extension{attrs, others})
	}
	return who
}

// personElement reads a child element of a person into who, or an unknown one into others. The text
// of unknown elements is appended to line, which is used if who stays empty.
func (p *parser) personElement(who *Person, line *strings.Builder, others *[]Node) {
	if p.r.Space == nsMedia && p.r.Local == "thumbnail" && who.Avatar == "" {
		who.Avatar = p.url(p.attr("url"))
		_ = p.leaf()
		return
	}
	to := who.field(p.r.Local)
	if to == nil {
		if n, ok := p.node(); ok {
			n.words(line)
			*others = append(*others, n)
		}
		return
	}
	other := Node{} // an element of another vocabulary, such as foaf:name, is used if the field is still empty
	if p.r.Space != nsCore && p.r.Space != nsITunes && *to != "" {
		other = Node{Name: scan.Local(p.r.Name), Prefix: scan.Prefix(p.r.Name)}
		other.Space = p.r.URI(other.Prefix)
	}
	src, href := p.attr("src"), p.hrefAttr()
	v := p.leaf()
	if v == "" && to == &who.Avatar { // Blogger writes the image in this form
		if v = src; v == "" {
			v = href
		}
	}
	switch to {
	case &who.URL, &who.Avatar:
		v = p.url(v)
	case &who.Email:
		v = strings.TrimPrefix(v, "mailto:")
	}
	if other.Name == "" {
		p.put(to, v)
	} else if other.Text = v; v != "" && p.countUnknown(len(other.Space)) {
		*others = append(*others, other)
	}
}

// field returns the field for an element with this local name, or nil if persons have no such
// element.
func (who *Person) field(local string) *string {
	switch local {
	case "name":
		return &who.Name
	case "email":
		return &who.Email
	case "uri", "url", "homepage":
		return &who.URL
	case "image", "avatar":
		return &who.Avatar
	}
	return nil
}

// personal reports whether a person can have an element with this local name.
func personal(local string) bool { return new(Person).field(local) != nil }

// line returns the person as one line: "name (mail)".
func (who *Person) line() string {
	switch {
	case who.Raw != "":
		return who.Raw
	case who.Email == "":
		return who.Name
	case who.Name == "":
		return who.Email
	}
	return who.Name + " (" + who.Email + ")"
}

func (p *parser) addPerson(to *[]Person, who Person) {
	if to == nil || who == (Person{}) || p.full(len(*to), 1000, "persons") {
		return
	}
	*to = p.people.add(*to, who)
}

// addAuthor adds an author. RSS documents often name an author in author or dc:creator and then
// repeat the author, with a URL or other data, in atom:author: both elements then mean the same
// person.
func (p *parser) addAuthor(to *[]Person, who Person) {
	if to != nil && len(*to) > 0 && p.f.Format == RSS && who.Name != "" {
		last := &(*to)[len(*to)-1]
		more := who.URL != "" || who.Extension != nil && last.Extension == nil
		if more && last.URL == "" && last.Name == who.Name && (last.Email == "" || last.Email == who.Email) {
			who.Raw = last.Raw
			if who.Extension == nil {
				who.Extension = last.Extension
			}
			*last = who
			return
		}
	}
	p.addPerson(to, who)
}

// splitPerson splits a line of the form "mail (name)", "name <mail>", "mail", "name (URL)" or
// "name". If the line has more than one part, Raw contains the original line.
func splitPerson(s string) Person {
	begin, end := findEmail(s)
	if begin < 0 {
		if name, page, ok := splitPage(s); ok {
			return Person{Name: name, URL: page, Raw: s}
		}
		return Person{Name: s}
	}
	who := Person{Email: s[begin:end]}
	if begin == 0 && end == len(s) {
		return who
	}
	who.Raw = s
	name := strings.TrimSuffix(s[:begin], "mailto:") + s[end:]
	for _, empty := range [...]string{"()", "<>", "&lt;&gt;", "[]"} {
		name = strings.ReplaceAll(name, empty, "")
	}
	name = strings.TrimSpace(name)
	name = strings.TrimPrefix(name, "(")
	name = strings.TrimSuffix(name, ")")
	who.Name = strings.TrimSpace(name)
	return who
}

// splitPage splits "name (http://…)", the form in which RSS 1.0 names an author with a page.
//
// spec:datafeeds-2006#author-page
func splitPage(s string) (name, page string, ok bool) {
	name, page, ok = strings.Cut(s, " (")
	page, closed := strings.CutSuffix(page, ")")
	if !ok || !closed || !strings.HasPrefix(page, "http://") && !strings.HasPrefix(page, "https://") || strings.ContainsAny(page, " ()<>\"") {
		return "", "", false
	}
	return strings.TrimSpace(name), page, true
}

// findEmail returns the position of an e-mail address in s, or −1, −1 if there is none.
func findEmail(s string) (begin, end int) {
	for at := strings.IndexByte(s, '@'); at >= 0; {
		begin, end = at, at+1
		for begin > 0 && mailByte(s[begin-1]) {
			begin--
		}
		if begin > 0 && s[begin-1] >= utf8.RuneSelf {
			begin = latinStart(s[:begin], begin)
		}
		for begin < at && s[begin] == '\'' { // a quotation mark before the address
			begin++
		}
		for end < len(s) && hostByte(s[end]) {
			end++
		}
		for end > at+1 && (s[end-1] == '.' || s[end-1] == '-') {
			end--
		}
		host := s[at+1 : end]
		literal := addressLiteral(s[at+1:])
		end += literal
		if begin < at && (literal > 0 || strings.IndexByte(host, '.') > 0 && host[len(host)-1] != '.') {
			if rest := s[end:]; strings.HasPrefix(rest, "?subject=") {
				n := strings.IndexAny(rest, " \t\n")
				if n < 0 {
					n = len(rest)
				}
				end += n
			}
			return begin, end
		}
		next := strings.IndexByte(s[at+1:], '@')
		if next < 0 {
			break
		}
		at += 1 + next
	}
	return -1, -1
}

// addressLiteral returns the length of an IPv4 address in brackets at the start of s, or 0.
func addressLiteral(s string) int {
	const longest = len("[255.255.255.255]")
	if s == "" || s[0] != '[' {
		return 0
	}
	n := strings.IndexByte(s[:min(len(s), longest)], ']')
	if n < 0 || strings.Count(s[:n], ".") != 3 || strings.Trim(s[1:n], ".0123456789") != "" {
		return 0
	}
	return n + 1
}

// latinStart moves begin back over Latin letters beyond ASCII, as in müller@…. It stops at letters
// of other scripts, because in these scripts a text may precede the address without a space.
func latinStart(s string, begin int) int {
	for begin > 0 {
		c, n := utf8.DecodeLastRuneInString(s[:begin])
		if c < utf8.RuneSelf && !mailByte(byte(c)) || c >= utf8.RuneSelf && !unicode.Is(unicode.Latin, c) {
			break
		}
		begin -= n
	}
	return begin
}

func mailByte(c byte) bool {
	return hostByte(c) || c == '_' || c == '+' || c == '\''
}

func hostByte(c byte) bool {
	return 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' || c == '-' || c == '.'
}
