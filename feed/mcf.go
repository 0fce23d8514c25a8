package feed

import (
	"strconv"
	"strings"

	"cloudburst/internal/scan"
)

// The Meta Content Framework describes units of any kind by properties, whose values are texts
// or other units. A unit with a URL and a name becomes an item, and the first WebSite becomes
// the feed. References to other units (authors, subjects) are resolved. All other units are
// stored in the feed's Unknown.

// mcfUnit is one described unit.
type mcfUnit struct {
	id    string
	kind  string // category of the unit: Page, Person and so on
	at    int    // offset in the document
	lang  string
	props []mcfProperty
	used  bool // another unit refers to this unit, as an author or subject

	label  string // cached result of name
	asked  bool
	person *Person // cached person that this unit describes
}

// mcfProperty is one value of a unit.
type mcfProperty struct {
	name  string // name, unchanged
	value string
	unit  bool // the value is the id of another unit
	at    int
}

// get returns the first value of a property that has one of the names. The names must be in
// lowercase.
func (u *mcfUnit) get(names ...string) string {
	for _, name := range names {
		for i := range u.props {
			if strings.EqualFold(u.props[i].name, name) && u.props[i].value != "" {
				return u.props[i].value
			}
		}
	}
	return ""
}

// name returns the name of the unit. The name is cached, because many units may refer to this one.
func (u *mcfUnit) name() string {
	if !u.asked {
		u.label, u.asked = u.get("name", "title"), true
	}
	return u.label
}

// address returns the URL of the unit: its url, or an id that is a URL.
func (u *mcfUnit) address() string {
	if v := u.get("url", "location"); v != "" {
		return v
	}
	if isWeb(u.id) || strings.HasPrefix(u.id, "ftp://") {
		return u.id
	}
	return ""
}

// mcf reads MCF in XML, of June 1997: each child of the root is a unit, and each child of a unit
// is a property.
//
// spec:mcf-1997#syntax
func (p *parser) mcf() {
	p.f.Format = MCF
	p.f.Version = p.attr("version")
	m := mcfReader{parser: p}
	p.each(func() {
		if !p.countUnknown(0) {
			p.r.Skip()
			return
		}
		m.units = append(m.units, m.element())
	})
	m.finish()
}

// mcfReader converts units to a feed.
type mcfReader struct {
	*parser
	units  []mcfUnit
	byID   map[string]int
	header *mcfUnit // the header of the text form; nil in XML
	report func(kind string, offset int, message string)
}

// element reads the current element as a unit.
func (m *mcfReader) element() mcfUnit {
	p := m.parser
	u := mcfUnit{kind: scan.Local(p.r.Name), at: p.r.Offset(), lang: dashed(p.r.Lang())}
	for i := range p.r.Attrs {
		a := &p.r.Attrs[i]
		switch name := scan.Local(a.Name); {
		case strings.HasPrefix(a.Name, "xml"):
		case u.id == "" && (strings.EqualFold(name, "id") || strings.EqualFold(name, "unit") || strings.EqualFold(name, "about")):
			u.id = strings.TrimSpace(p.r.Decode(a.Raw))
		case p.countUnknown(0):
			u.props = append(u.props, mcfProperty{name: name, value: strings.TrimSpace(p.r.Decode(a.Raw)), at: u.at})
		}
	}
	p.each(func() {
		if !p.countUnknown(0) {
			p.r.Skip()
			return
		}
		v := mcfProperty{name: scan.Local(p.r.Name), at: p.r.Offset()}
		ref := p.attr("unit")
		if ref == "" {
			ref = p.attr("value")
		} else {
			v.unit = true
		}
		if v.value = p.leaf(); v.value == "" {
			v.value = strings.TrimSpace(ref)
		} else {
			v.unit = false
		}
		u.props = append(u.props, v)
	})
	return u
}

// finish converts all units to the feed, after the last unit was read.
func (m *mcfReader) finish() {
	if m.report == nil {
		m.report = m.problem
	}
	m.bases = nil // the base URLs of the document's elements are no longer needed
	m.byID = make(map[string]int, len(m.units))
	for i := range m.units {
		if id := m.units[i].id; id != "" {
			if _, twice := m.byID[id]; !twice {
				m.byID[id] = i
			}
		}
	}
	site := -1
	if m.header != nil {
		m.site(m.header)
	}
	for i := range m.units {
		if m.header == nil && strings.EqualFold(m.units[i].kind, "WebSite") {
			site = i
			m.site(&m.units[i])
			break
		}
	}
	for i := range m.units {
		u := &m.units[i]
		if i != site && u.address() != "" && u.get("name", "title") != "" && !m.one(u) {
			return
		}
	}
	for i := range m.units {
		if u := &m.units[i]; i != site && !u.used && (u.address() == "" || u.get("name", "title") == "") {
			m.f.Unknown = append(m.f.Unknown, m.whole(u))
		}
	}
}

// one converts a unit to an item. It returns false if parsing must stop.
func (m *mcfReader) one(u *mcfUnit) bool {
	if len(m.f.Items) >= m.o.Limits.Items {
		m.report(ProblemLimit, u.at, "There are more than "+strconv.Itoa(m.o.Limits.Items)+" units with a URL; the rest is left out.")
		return false
	}
	m.f.Items = append(m.f.Items, Item{ID: u.id, IDFrom: FromID})
	m.item = &m.f.Items[len(m.f.Items)-1]
	s := itemSlots(m.item)
	if u.kind != "" && !strings.EqualFold(u.kind, "unit") && u.get("typeOf") == "" {
		m.item.Unknown = append(m.item.Unknown, Node{Name: "typeOf", Text: u.kind})
	}
	m.fill(s, u)
	it := m.item
	m.item = nil
	m.identify(it)
	return m.o.Item == nil || m.o.Item(it)
}

// site converts the unit of a website to the feed.
func (m *mcfReader) site(u *mcfUnit) {
	if u.id != "" {
		m.f.ID = u.id
	}
	m.fill(feedSlots(m.f), u)
}

// fill assigns the properties of a unit to fields.
//
// spec:mcf-1997#vocabulary
func (m *mcfReader) fill(s *slots, u *mcfUnit) {
	for i := range u.props { // texts take these values from the properties
		if v := &u.props[i]; strings.EqualFold(v.name, "language") || strings.EqualFold(v.name, "naturalLanguage") {
			u.lang = dashed(m.nameOf(v))
		}
	}
	for i := range u.props {
		if v := &u.props[i]; v.value != "" && !m.property(s, u, v) {
			*s.unknown = append(*s.unknown, valueNode(v))
		}
	}
	if href := u.address(); href != "" && *s.link == "" {
		m.addLink(s, Link{Rel: "alternate", Href: m.url(href)})
	}
}

func (m *mcfReader) property(s *slots, u *mcfUnit, v *mcfProperty) bool {
	switch strings.ToLower(v.name) {
	case "name", "title":
		if s.title.Value != "" {
			return false
		}
		*s.title = m.words(u, v)
	case "description":
		if s.summary.Value != "" {
			return false
		}
		*s.summary = m.words(u, v)
	case "copyright":
		if s.level == ofFeed {
			m.f.Rights = m.words(u, v)
		} else {
			m.more().Rights = m.words(u, v)
		}
	case "url", "location", "tocof":
		m.addLink(s, Link{Rel: "alternate", Href: m.url(v.value)})
	case "author", "authorindividual", "authororganization", "authororganisation", "editor":
		m.addPerson(s.authors, m.agent(v))
	case "publisher", "contactagent":
		m.cdfPublisher(s, m.agent(v))
	case "subject", "keyword", "keywords", "category":
		m.tag(s, Category{Term: m.nameOf(v)})
	case "language", "naturallanguage":
		if s.level == ofFeed {
			m.f.Language = u.lang
		} else {
			m.more().Language = u.lang
		}
	case "publicationdate", "publishdate":
		m.when(s.published, v)
	case "lastrevisiondate", "lastmodifieddate", "lastmodified", "lastmod":
		m.when(s.updated, v)
	default:
		return false
	}
	return true
}

func (m *mcfReader) words(u *mcfUnit, v *mcfProperty) Text {
	lang := u.lang
	if lang == "" {
		lang = m.f.Language
	}
	t := Text{Value: v.value, Type: plainText, Language: lang, Base: m.root.String()}
	m.guess(&t)
	if t.Type != plainText {
		m.markup(&t, m.base())
	}
	return t
}

func (m *mcfReader) when(to *Date, v *mcfProperty) {
	t, ok := ParseDate(v.value)
	if !ok {
		m.report(ProblemDate, v.at, "This date cannot be read: "+quote(v.value)+".")
	}
	*to = Date{Raw: v.value, UTC: t}
}

// unit returns the unit that a value refers to, or nil if there is none.
func (m *mcfReader) unit(v *mcfProperty) *mcfUnit {
	if i, ok := m.byID[v.value]; ok && v.unit {
		return &m.units[i]
	}
	if i, ok := m.byID[strings.TrimPrefix(v.value, "#")]; ok && v.unit {
		return &m.units[i]
	}
	return nil
}

func (m *mcfReader) nameOf(v *mcfProperty) string {
	if u := m.unit(v); u != nil {
		if name := u.name(); name != "" {
			u.used = true
			return name
		}
	}
	return v.value
}

func (m *mcfReader) agent(v *mcfProperty) Person {
	u := m.unit(v)
	switch {
	case u == nil && v.unit:
		return Person{Name: v.value}
	case u == nil:
		return splitPerson(v.value)
	}
	u.used = true
	if u.person != nil {
		return *u.person
	}
	who := Person{Name: u.name(), Email: strings.TrimPrefix(u.get("mailbox", "email", "emailAddress"), "mailto:")}
	if home := u.get("homePage", "url"); home != "" {
		who.URL = m.url(home)
	}
	if who == (Person{}) {
		who.Name = v.value
	}
	u.person = &who
	return who
}

// whole converts a unit that is not an item to a node.
func (m *mcfReader) whole(u *mcfUnit) Node {
	n := Node{Name: u.kind, Language: u.lang}
	if n.Name == "" {
		n.Name = "unit"
	}
	if u.id != "" {
		n.Attrs = []Attr{{Name: "id", Value: u.id}}
	}
	for i := range u.props {
		n.Children = append(n.Children, valueNode(&u.props[i]))
	}
	return n
}

func valueNode(v *mcfProperty) Node {
	if v.unit {
		return Node{Name: v.name, Attrs: []Attr{{Name: "unit", Value: v.value}}}
	}
	return Node{Name: v.name, Text: v.value}
}
