package feed

import (
	"slices"
	"strings"

	"cloudburst/internal/scan"
	"cloudburst/internal/text"
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

// addAuthor adds an author, who may be the person that itunes:author already named.
func (p *parser) addAuthor(s *slots, who Person) {
	if n := s.podcaster; n > 0 && n <= len(*s.authors) && who.same((*s.authors)[n-1]) {
		(*s.authors)[n-1], s.podcaster = who, 0
		return
	}
	p.addPerson(s.authors, who)
}

// mergeAuthor is like addAuthor for the elements of the format. RSS documents often name an author in
// author or dc:creator and then repeat the author, perhaps with a URL or other data, in atom:author:
// both elements then mean the same person.
func mergeAuthor(p *parser, s *slots, who Person) {
	if n := len(*s.authors); n > 0 && p.f.Format == RSS && who.same((*s.authors)[n-1]) {
		last := &(*s.authors)[n-1]
		switch {
		case who == Person{Name: who.Name}:
			return
		case last.URL == "" && (last.Email == "" || last.Email == who.Email) && (who.URL != "" || who.Extension != nil && last.Extension == nil):
			who.Raw = last.Raw
			if who.Extension == nil {
				who.Extension = last.Extension
			}
			*last = who
			return
		}
	}
	p.addAuthor(s, who)
}

// same reports whether two persons have the same name, and not different e-mail addresses.
func (who *Person) same(other Person) bool {
	return who.Name != "" && who.Name == other.Name && (who.Email == other.Email || who.Email == "" || other.Email == "")
}

// splitPerson splits a line of the form "mail (name)", "name <mail>", "mail", "name (URL)" or
// "name". If the line has more than one part, Raw contains the original line.
func splitPerson(s string) Person {
	begin, end := text.FindEmail(s)
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
