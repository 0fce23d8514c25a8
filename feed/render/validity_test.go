package render

import (
	"encoding/xml"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// judge checks documents against the published rules of their formats and modules. It finds what
// validators find.
type judge struct {
	ruleTables
	format string
	errors []string // violations of rules
	doubts []string // violations of recommendations
	seen   map[string]bool
}

// ruleTables are the tables that all validators share.
type ruleTables struct {
	places map[string]map[string]part
	forms  map[string]*regexp.Regexp
}

func newRulebook() ruleTables { return ruleTables{places(), forms()} }

func (r ruleTables) judge(format string, doc []byte) *judge {
	j := &judge{ruleTables: r, format: format, seen: map[string]bool{}}
	j.document(doc)
	return j
}

func (j *judge) err(rule, path, value string) {
	j.errors = append(j.errors, fmt.Sprintf("%s: %s: %.100q", rule, path, value))
}

func (j *judge) doubt(rule, path, value string) {
	j.doubts = append(j.doubts, fmt.Sprintf("%s: %s: %.100q", rule, path, value))
}

// document checks a whole document.
func (j *judge) document(doc []byte) {
	root, err := decode(doc)
	if err != nil {
		j.err("well-formed", "", err.Error())
		return
	}
	if p := root.undeclared(); p != "" {
		j.err("namespace-declared", "", p)
	}
	j.anywhere(root)
	switch j.format {
	case "rss091", "rss092", "rss20":
		j.children(root, "rss", "rss")
		j.rss(root)
	case "rss093", "rss094":
		j.children(root, j.format, "rss")
		j.rss(root)
	case "rdf", "rss090":
		j.children(root, j.format, "rdf:RDF")
		j.rdf(root)
	case "atom":
		j.children(root, "feed", "feed")
		j.atom(root)
	case "cdf", "cdf kept":
		j.children(&parsed{children: []*parsed{root}}, j.format, "")
	case "scriptingnews":
		j.children(root, "news", "scriptingNews")
		j.linked(root)
	case "opml":
		j.children(root, "opml", "opml")
		if body := root.child("body"); body == nil || body.child("outline") == nil || root.child("head") == nil {
			j.err("opml-parts", "opml", "no head, or nothing in the body")
		}
	}
}

// anywhere checks attributes that have the same meaning in every element.
func (j *judge) anywhere(t *parsed) {
	for _, a := range t.attrs {
		path := t.name.Local + "/" + a.Name.Local
		switch {
		case a.Name.Space == "xmlns", a.Name == (xml.Name{Local: "xmlns"}):
			if strings.ContainsAny(a.Value, " \t\n\"<>\\^`{|}") {
				j.err("namespace", path, a.Value)
			}
		case a.Name.Space == "http://www.w3.org/XML/1998/namespace" && a.Name.Local == "lang":
			j.value("language", a.Value, path, t)
		case a.Name.Space == "http://www.w3.org/XML/1998/namespace" && a.Name.Local == "base":
			j.address("iri", a.Value, path)
		}
	}
	for _, c := range t.children {
		j.anywhere(c)
	}
}

// child returns the first child element with this name in the namespace of its parent.
func (t *parsed) child(name string) *parsed {
	for _, c := range t.children {
		if c.name.Local == name && (c.name.Space == t.name.Space || t.name.Space == rdfSpace) {
			return c
		}
	}
	return nil
}

// nameIn returns the name of an element or attribute as the tables spell it. If the tables do not
// contain the vocabulary, known is false.
func (j *judge) nameIn(n xml.Name) (name string, known bool) {
	switch n.Space {
	case "http://purl.org/rss/1.0/", "http://my.netscape.com/rdf/simple/0.9/":
		return n.Local, true
	case atomSpace:
		if j.format == "atom" {
			return n.Local, true
		}
	case "":
		return n.Local, j.format != "atom"
	case "http://www.w3.org/2000/01/rdf-schema#":
		return "rdfs:" + n.Local, true
	}
	for s := range spNone {
		if prefix, uri := s.declaration(); uri == n.Space {
			closed := s != spPodcast && s != spPSC && s != spSource && s != spRSSCloud && s != spXHTML
			return prefix + ":" + n.Local, closed
		}
	}
	return n.Local, false
}

// children checks the child elements of an element. place names the rules for its children.
func (j *judge) children(t *parsed, place, path string) {
	allowed := j.places[place]
	count := map[string]int{}
	for _, c := range t.children {
		name, known := j.nameIn(c.name)
		at := path + "/" + name
		if j.format == "rdf" && c.name.Space == "urn:x-cloudburst:extension" {
			continue
		}
		if !known {
			j.foreign(c, at)
			continue
		}
		p, ok := allowed[name]
		switch count[name]++; {
		case !ok:
			j.err("element-known", at, c.text)
			continue
		case p.newer:
			j.doubt("element-newer", at, c.text)
			continue
		case p.twice && count[name] == 2:
			j.doubt("element-once", at, c.text)
		case !p.many && !p.twice && count[name] > 1:
			j.err("element-once", at, c.text)
		}
		j.attributes(c, p, at)
		if p.check == "any" {
			continue
		}
		if p.in == "" && len(c.children) > 0 {
			j.err("element-text", at, c.children[0].name.Local)
		}
		j.value(p.check, c.text, at, c)
		if p.in != "" {
			j.children(c, p.in, at)
		}
	}
}

// foreign checks an element of an unknown vocabulary. In RSS 2.0 all its descendants should have a
// namespace, except in items of rssCloud, which contain RSS elements.
func (j *judge) foreign(t *parsed, path string) {
	if t.name.Space == "http://rsscloud.org/rsscloud" && strings.HasPrefix(j.format, "rss") {
		j.children(t, "item", path)
		return
	}
	for _, c := range t.children {
		if c.name.Space == "" && strings.HasPrefix(j.format, "rss") && t.name.Space != "" {
			j.doubt("extension-namespace", path, c.name.Local)
		}
		if j.format != "atom" {
			j.foreign(c, path+"/"+c.name.Local)
		}
	}
}

func (j *judge) attributes(t *parsed, p part, path string) {
	has := map[string]bool{}
	for _, a := range t.attrs {
		if a.Name.Space == "xmlns" || a.Name.Local == "xmlns" || a.Name.Space == "http://www.w3.org/XML/1998/namespace" {
			continue
		}
		if j.format == "rdf" && a.Name.Local == "parseType" {
			continue
		}
		name, known := a.Name.Local, true
		if a.Name.Space != "" {
			name, known = j.nameIn(a.Name)
		}
		check, ok := p.attrs[name]
		if _, all := p.attrs["*"]; all {
			continue
		}
		has[name] = true
		switch {
		case !known:
		case !ok:
			j.err("attribute-known", path+"/@"+name, a.Value)
		default:
			j.value(strings.TrimSuffix(check, "!"), a.Value, path+"/@"+name, t)
		}
		if name == "thr:count" || name == "thr:updated" {
			if rel, _ := t.attr("rel"); rel != "replies" {
				j.err("replies-attribute", path+"/@"+name, rel)
			}
		}
	}
	for name, check := range p.attrs {
		if strings.HasSuffix(check, "!") && !has[name] {
			j.err("attribute-missing", path+"/@"+name, "")
		}
	}
}

// rss checks the relations between elements of RSS 0.91 to 2.0.
func (j *judge) rss(root *parsed) {
	ch := root.child("channel")
	if ch == nil {
		j.err("channel", "rss", "")
		return
	}
	for _, name := range []string{"title", "link", "description"} {
		if ch.child(name) == nil {
			j.err("channel-parts", "channel/"+name, "")
		}
	}
	for _, name := range []string{"image", "textInput", "textinput"} {
		j.complete(ch.child(name), map[bool]string{true: "title url link", false: "title description name link"}[name == "image"])
	}
	j.lists(ch)
	j.once(ch, "managingEditor", "dc:creator", "category", "dc:subject", "pubDate", "dc:date", "generator", "admin:generatorAgent", "language", "dc:language")
	if j.format == "rss20" && !j.has(ch, "atom:link", "rel", "self") {
		j.doubt("self-missing", "channel", "")
	}
	j.itunes(ch)
	for _, it := range ch.all("item") {
		if it.child("title") == nil && it.child("description") == nil {
			j.err("item-parts", "item", "")
		}
		if j.format == "rss20" && it.child("guid") == nil {
			j.doubt("guid-missing", "item", "")
		}
		j.once(it, "author", "dc:creator", "category", "dc:subject", "pubDate", "dc:date", "source", "dc:source")
	}
	j.groups(root)
}

// linked checks that the words of links occur in the text of their item.
//
// spec:scriptingnews2-1999#linetext
func (j *judge) linked(root *parsed) {
	if root.child("header") == nil {
		j.err("parts", "scriptingNews/header", "")
	}
	for _, it := range root.all("item") {
		j.complete(it, "text")
		for _, l := range it.all("link") {
			j.complete(l, "url")
			if words := l.child("linetext"); words != nil && !strings.Contains(strings.Join(strings.Fields(it.child("text").text), " "), words.text) {
				j.err("linetext", "item/link", words.text)
			}
		}
	}
}

// has reports whether a child element has an attribute with this value.
func (j *judge) has(t *parsed, name, attr, value string) bool {
	return slices.ContainsFunc(t.children, func(c *parsed) bool {
		n, _ := j.nameIn(c.name)
		v, _ := c.attr(attr)
		return n == name && (attr == "" || v == value)
	})
}

// once checks that at most one element of each pair occurs, because both have the same meaning.
func (j *judge) once(t *parsed, pairs ...string) {
	for i := 0; i < len(pairs); i += 2 {
		if j.has(t, pairs[i], "", "") && j.has(t, pairs[i+1], "", "") {
			j.doubt("meaning-once", t.name.Local+"/"+pairs[i+1], "")
		}
	}
}

// lists checks the hours and days to skip.
func (j *judge) lists(ch *parsed) {
	for list, each := range map[string]string{"skipHours": "hour", "skipDays": "day"} {
		for _, l := range ch.all(list) {
			seen := map[string]bool{}
			for _, v := range l.all(each) {
				if n, err := strconv.Atoi(v.text); err == nil {
					v.text = strconv.Itoa(n)
				}
				if seen[v.text] {
					j.err("skip-once", list, v.text)
				}
				seen[v.text] = true
			}
			if len(seen) == 0 {
				j.err("skip-empty", list, "")
			}
		}
	}
}

// complete checks the required child elements.
func (j *judge) complete(t *parsed, names string) {
	if t == nil {
		return
	}
	for name := range strings.FieldsSeq(names) {
		if _, reference := t.attr("resource"); !reference && t.child(name) == nil {
			j.err("parts", t.name.Local+"/"+name, "")
		}
	}
}

// itunes checks the requirements of podcast directories.
func (j *judge) itunes(t *parsed) {
	podcast := strings.Contains(fmt.Sprint(names(t)), "itunes.com")
	for _, name := range []string{"itunes:category", "itunes:explicit", "itunes:owner"} {
		if podcast && !j.has(t, name, "", "") {
			j.doubt("podcast-parts", t.name.Local+"/"+name, "")
		}
	}
}

// names returns the names of an element and of its descendants.
func names(t *parsed) (list []string) {
	list = append(list, t.name.Space+" "+t.name.Local)
	for _, c := range t.children {
		list = append(list, names(c)...)
	}
	return list
}

// groups checks that the files of a Media RSS group are versions of one file.
//
// spec:datafeeds-2006#media-rss-written
func (j *judge) groups(t *parsed) {
	if t.name == (xml.Name{Space: "http://search.yahoo.com/mrss/", Local: "group"}) && len(t.all("content")) < 2 {
		j.err("media-group", "media:group", strconv.Itoa(len(t.all("content"))))
	}
	for _, c := range t.children {
		j.groups(c)
	}
}

// rdf checks the relations between elements of RSS 0.90 and 1.0.
func (j *judge) rdf(root *parsed) {
	ch := root.child("channel")
	if ch == nil {
		j.err("channel", "rdf:RDF", "")
		return
	}
	j.complete(ch, "title link description")
	if j.format == "rdf" {
		j.complete(ch, "items")
	}
	seen := map[string]bool{}
	for _, c := range root.children {
		switch c.name.Local {
		case "image":
			j.complete(c, "title url link")
		case "textinput":
			j.complete(c, "title description name link")
		case "item":
			j.complete(c, "title link")
		}
		if about, ok := c.attr("about"); ok && c.name.Local != "image" && c.name.Local != "textinput" {
			if seen[about] {
				j.err("about-unique", c.name.Local, about)
			}
			seen[about] = true
		}
	}
	j.groups(root)
}

// atom checks the relations between elements of Atom.
//
// spec:atom-rfc4287#feed-requires
func (j *judge) atom(root *parsed) {
	j.complete(root, "title id updated")
	if !j.has(root, "link", "rel", "self") {
		j.doubt("self-missing", "feed", "")
	}
	ids := map[string]int{}
	for _, e := range root.all("entry") {
		j.complete(e, "title id updated")
		if e.child("author") == nil && root.child("author") == nil && (e.child("source") == nil || e.child("source").child("author") == nil) {
			j.err("entry-author", "entry", "")
		}
		if e.child("content") == nil && !j.has(e, "link", "rel", "alternate") {
			j.err("entry-content", "entry", "")
		}
		if id := e.child("id"); id != nil {
			if ids[id.text]++; ids[id.text] == 2 {
				j.doubt("entry-id-unique", "entry/id", id.text)
			}
		}
	}
	if n := len(root.all("entry")); n > 9 && len(ids) == 1 {
		j.err("entry-ids", "feed", "all entries have one")
	}
	for _, name := range []string{"title", "subtitle", "rights", "summary", "content"} {
		j.markup(root, name)
	}
	j.itunes(root)
	j.groups(root)
}

// markup checks the XHTML in texts: every element belongs to XHTML, or to a vocabulary that is
// not a module.
func (j *judge) markup(t *parsed, name string) {
	for _, c := range t.children {
		if kind, _ := c.attr("type"); c.name == (xml.Name{Space: atomSpace, Local: name}) && kind == "xhtml" {
			j.inMarkup(c, name)
		} else if c.name.Space == atomSpace {
			j.markup(c, name)
		}
	}
}

func (j *judge) inMarkup(t *parsed, path string) {
	for _, c := range t.children {
		if _, known := j.nameIn(c.name); c.name.Space == "" || known {
			j.err("xhtml-namespace", path, c.name.Local)
		}
		j.inMarkup(c, path)
	}
}
