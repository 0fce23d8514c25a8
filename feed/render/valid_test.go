package render

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"net/mail"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"cloudburst/feed"
)

// parsed is an element as read by the strict decoder of the standard library.
type parsed struct {
	name     xml.Name
	attrs    []xml.Attr
	text     string
	children []*parsed
}

// decode parses a document strictly: it must be well-formed, have one root, and declare all
// prefixes.
func decode(doc []byte) (*parsed, error) {
	if !utf8.Valid(doc) {
		return nil, errors.New("this is not UTF-8")
	}
	if !bytes.HasPrefix(doc, []byte(`<?xml version="1.0" encoding="UTF-8"?>`)) {
		return nil, errors.New("there is no declaration")
	}
	d := xml.NewDecoder(bytes.NewReader(doc))
	top := &parsed{}
	open := []*parsed{top}
	for {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		last := open[len(open)-1]
		switch token := token.(type) {
		case xml.StartElement:
			t := &parsed{name: token.Name, attrs: token.Copy().Attr}
			last.children = append(last.children, t)
			open = append(open, t)
			seen := map[xml.Name]bool{}
			for _, a := range token.Attr {
				if seen[a.Name] {
					return nil, errors.New("two attributes " + a.Name.Local + " of " + token.Name.Local)
				}
				seen[a.Name] = true
			}
		case xml.EndElement:
			open = open[:len(open)-1]
		case xml.CharData:
			last.text += string(token)
		case xml.Directive, xml.Comment:
			return nil, errors.New("there is a directive or a comment")
		}
	}
	if len(top.children) != 1 || strings.TrimSpace(top.text) != "" {
		return nil, errors.New("there is not one root")
	}
	return top.children[0], nil
}

// undeclared returns a prefix that is not declared, which the decoder does not resolve. scope
// contains the prefixes that enclosing elements declare.
func (t *parsed) undeclared(scope ...string) string {
	scope = append(slices.Clip(scope), "", "xml", "xmlns", "http://www.w3.org/XML/1998/namespace")
	for _, a := range t.attrs {
		if a.Name.Space == "xmlns" || a.Name == (xml.Name{Local: "xmlns"}) {
			scope = append(scope, a.Value)
		}
	}
	if !slices.Contains(scope, t.name.Space) {
		return t.name.Space
	}
	for _, a := range t.attrs {
		if !slices.Contains(scope, a.Name.Space) {
			return a.Name.Space
		}
	}
	for _, c := range t.children {
		if p := c.undeclared(scope...); p != "" {
			return p
		}
	}
	return ""
}

func (t *parsed) attr(name string) (string, bool) {
	for _, a := range t.attrs {
		if a.Name.Local == name && a.Name.Space != "xmlns" {
			return a.Value, true
		}
	}
	return "", false
}

func (t *parsed) all(name string) (list []*parsed) {
	for _, c := range t.children {
		if c.name.Local == name && c.name.Space == t.name.Space {
			list = append(list, c)
		}
	}
	return list
}

// rules are the rules of one version of RSS.
type rules struct {
	*testing.T
	format string
	core   string // namespace of the version's own elements
	guids  map[string]bool
}

// children checks how often each child element occurs: "name" at most once, "name*" any number of
// times, "name!" exactly once.
func (r *rules) children(t *parsed, names string) {
	r.Helper()
	for name := range strings.FieldsSeq(names) {
		bare := strings.TrimRight(name, "*!")
		n := 0
		for _, c := range t.children {
			if c.name == (xml.Name{Space: r.core, Local: bare}) {
				n++
			}
		}
		if n > 1 && !strings.HasSuffix(name, "*") || n != 1 && strings.HasSuffix(name, "!") {
			r.Errorf("%s: <%s> has %d × <%s>", r.format, t.name.Local, n, bare)
		}
	}
	known := " " + strings.NewReplacer("*", "", "!", "").Replace(names) + " "
	for _, c := range t.children {
		switch {
		case c.name.Space == r.core && !strings.Contains(known, " "+c.name.Local+" "):
			r.Errorf("%s: <%s> in <%s> is not an element of this version", r.format, c.name.Local, t.name.Local)
		case c.name.Space != r.core && r.format != "rss20" && r.format != "rdf":
			r.Errorf("%s: %v: this version has no modules", r.format, c.name)
		}
	}
}

func (r *rules) address(what, s string) {
	r.Helper()
	scheme, rest, _ := strings.Cut(s, ":")
	foreign := strings.IndexFunc(s, func(c rune) bool { return c <= ' ' || c == 0x7f || strings.ContainsRune("<>\"\\^`{|}", c) })
	if rest == "" || strings.ContainsAny(scheme, "/?#%") || scheme == "" || foreign >= 0 {
		r.Errorf("%s: the %s is not a valid URL: %q", r.format, what, s)
	}
}

func (r *rules) each(t *parsed, name string, check func(string)) {
	r.Helper()
	for _, c := range t.all(name) {
		check(c.text)
	}
}

func (r *rules) date(s string) {
	r.Helper()
	if t, err := time.Parse("Mon, 02 Jan 2006 15:04:05 GMT", s); err != nil || t.Format("Mon, 02 Jan 2006 15:04:05 GMT") != s {
		r.Errorf("%s: invalid RFC 822 date: %q", r.format, s)
	}
}

func (r *rules) w3cDate(s string) {
	r.Helper()
	if _, err := time.Parse(time.RFC3339, s); err != nil {
		r.Errorf("%s: invalid W3CDTF: %q", r.format, s)
	}
}

func (r *rules) person(s string) {
	r.Helper()
	address, _, _ := strings.Cut(s, " (")
	if _, err := mail.ParseAddress(address); err != nil {
		r.Errorf("%s: no email address in %q", r.format, s)
	}
}

func (r *rules) number(s string, minimum, limit int) {
	r.Helper()
	if n, err := strconv.Atoi(s); err != nil || n < minimum || n > limit {
		r.Errorf("%s: %q is not a number from %d to %d", r.format, s, minimum, limit)
	}
}

// rss checks RSS 0.91 to 2.0.
func (r *rules) rss(root *parsed) {
	version := map[string]string{"rss091": "0.91", "rss092": "0.92", "rss093": "0.93", "rss094": "0.94", "rss20": "2.0"}[r.format]
	if v, _ := root.attr("version"); root.name != (xml.Name{Local: "rss"}) || v != version {
		r.Fatalf("%s: the root is %v of version %q", r.format, root.name, v)
	}
	r.children(root, "channel!")
	ch := root.children[0]
	names := "title! link! description! language rating image textinput textInput copyright pubDate lastBuildDate docs managingEditor webMaster skipHours skipDays item*"
	if r.format != "rss091" {
		names += " cloud"
	}
	if r.format == "rss20" {
		names += " category* generator ttl"
	}
	r.children(ch, names)
	r.each(ch, "pubDate", r.date)
	r.each(ch, "lastBuildDate", r.date)
	r.each(ch, "managingEditor", r.person)
	r.each(ch, "webMaster", r.person)
	r.each(ch, "ttl", func(s string) { r.number(s, 0, 1<<31) })
	r.channelParts(ch)
	for _, it := range ch.all("item") {
		r.item(it)
	}
	if n := len(ch.all("item")); r.format == "rss091" && n > 15 {
		r.Errorf("rss091: %d items", n)
	}
}

func (r *rules) channelParts(ch *parsed) {
	for _, img := range ch.all("image") {
		r.children(img, "title! url! link! width height description")
		r.each(img, "url", func(s string) { r.address("url", s) })
		r.each(img, "link", func(s string) { r.address("link", s) })
		r.each(img, "width", func(s string) { r.number(s, 1, 144) })
		r.each(img, "height", func(s string) { r.number(s, 1, 400) })
	}
	for _, name := range []string{"textInput", "textinput"} {
		for _, in := range ch.all(name) {
			r.children(in, "title! description! name! link!")
		}
	}
	for _, c := range ch.all("cloud") {
		for _, name := range []string{"domain", "port", "path", "registerProcedure", "protocol"} {
			if _, ok := c.attr(name); !ok {
				r.Errorf("%s: the cloud has no %s", r.format, name)
			}
		}
	}
	seen := map[string]bool{}
	for _, list := range ch.all("skipHours") {
		r.children(list, "hour*")
		r.each(list, "hour", func(s string) {
			if r.number(s, 0, 23); seen[s] {
				r.Errorf("%s: hour %s twice", r.format, s)
			}
			seen[s] = true
		})
	}
	for _, list := range ch.all("skipDays") {
		r.children(list, "day*")
		r.each(list, "day", func(s string) {
			if _, err := time.Parse("Monday", s); err != nil || seen[s] {
				r.Errorf("%s: day %q", r.format, s)
			}
			seen[s] = true
		})
	}
}

func (r *rules) item(it *parsed) {
	names := map[string]string{
		"rss091": "title! link! description",
		"rss092": "title link description enclosure source category*",
		"rss093": "title link description enclosure* source category* pubDate expirationDate",
		"rss094": "title link description enclosure* source category* pubDate expirationDate",
		"rss20":  "title link description enclosure* source category* pubDate author comments guid",
	}[r.format]
	own := *it
	own.name.Space = r.core // inside rssCloud:item, the elements belong to RSS
	it = &own
	r.children(it, names)
	if len(it.all("title"))+len(it.all("description")) == 0 && r.format == "rss20" {
		r.Errorf("rss20: an item has neither title nor description")
	}
	r.each(it, "link", func(s string) {
		if s != "" || r.format != "rss091" { // RSS 0.91 requires the element even if there is no URL
			r.address("link", s)
		}
	})
	r.each(it, "comments", func(s string) { r.address("comments", s) })
	r.each(it, "pubDate", r.date)
	r.each(it, "expirationDate", r.date)
	r.each(it, "author", r.person)
	for _, e := range it.all("enclosure") {
		for _, name := range []string{"url", "length", "type"} {
			if v, _ := e.attr(name); v == "" {
				r.Errorf("%s: the enclosure has no %s", r.format, name)
			}
		}
		length, _ := e.attr("length")
		r.number(length, 0, 1<<62)
	}
	for _, s := range it.all("source") {
		v, _ := s.attr("url")
		r.address("source", v)
	}
	for _, g := range it.all("guid") {
		if perma, given := g.attr("isPermaLink"); !given || perma != "false" {
			r.address("guid", g.text)
		}
		if r.guids[g.text] {
			r.Errorf("rss20: guid %q twice", g.text)
		}
		r.guids[g.text] = true
	}
	for _, c := range it.children {
		if c.name == (xml.Name{Space: "http://rsscloud.org/rsscloud", Local: "item"}) {
			r.item(c)
		}
	}
}

const rdfSpace = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"

// rdf checks RSS 0.90 and 1.0.
func (r *rules) rdf(root *parsed) {
	if root.name != (xml.Name{Space: rdfSpace, Local: "RDF"}) {
		r.Fatalf("%s: the root is %v", r.format, root.name)
	}
	r.children(root, "channel! image textinput item*")
	var ch *parsed
	abouts := map[string]bool{}
	for _, c := range root.children {
		about, ok := c.attr("about")
		if r.format == "rdf" && (!ok || abouts[about]) {
			r.Errorf("rdf: <%s> is about %q", c.name.Local, about)
		}
		if c.name.Local == "item" {
			abouts[about] = true
		}
		switch c.name.Local {
		case "channel":
			ch = c
		case "image":
			r.children(c, "title! url! link!")
		case "textinput":
			r.children(c, "title! description! name! link!")
		case "item":
			if r.format == "rss090" {
				r.children(c, "title! link!")
			} else {
				r.children(c, "title! link! description")
			}
		}
	}
	if r.format == "rss090" {
		r.children(ch, "title! link! description!")
		return
	}
	r.children(ch, "title! link! description! image items! textinput")
	r.contents(root, ch)
}

// contents checks that the parts to which the channel refers exist, in this order.
func (r *rules) contents(root, ch *parsed) {
	var listed, there []string
	for _, items := range ch.all("items") {
		for _, seq := range items.children {
			for _, li := range seq.children {
				v, _ := li.attr("resource")
				listed = append(listed, v)
			}
		}
	}
	for _, c := range root.children {
		about, _ := c.attr("about")
		switch c.name.Local {
		case "item":
			there = append(there, about)
			for _, d := range c.children {
				if d.name == (xml.Name{Space: "http://purl.org/dc/elements/1.1/", Local: "date"}) {
					r.w3cDate(d.text)
				}
			}
		case "image", "textinput":
			for _, ref := range ch.children {
				if v, _ := ref.attr("resource"); ref.name == c.name && v != about {
					r.Errorf("rdf: %s %q is called %q", c.name.Local, about, v)
				}
			}
		}
	}
	if strings.Join(listed, " ") != strings.Join(there, " ") {
		r.Errorf("rdf: listed are %q, there are %q", listed, there)
	}
	for _, name := range []string{"image", "textinput"} {
		n := 0
		for _, c := range root.children {
			if c.name.Local == name && c.name.Space == r.core {
				n++
			}
		}
		refs := 0
		for _, c := range ch.children {
			if c.name.Local == name && c.name.Space == r.core {
				refs++
			}
		}
		if n != refs {
			r.Errorf("rdf: %d × %s, %d references", n, name, refs)
		}
	}
}

// checkRSS checks a document against the rules of its version.
func checkRSS(t *testing.T, doc []byte, format string) {
	t.Helper()
	root, err := decode(doc)
	if err != nil {
		t.Fatalf("%s: %v\n%s", format, err, doc)
	}
	if p := root.undeclared(); p != "" {
		t.Errorf("%s: nothing declares %s", format, p)
	}
	r := &rules{T: t, format: format, guids: map[string]bool{}}
	switch format {
	case "rss090":
		r.core = "http://my.netscape.com/rdf/simple/0.9/"
	case "rdf":
		r.core = "http://purl.org/rss/1.0/"
	default:
		r.rss(root)
		return
	}
	r.rdf(root)
}

func rssFormats() []string {
	return []string{"rss090", "rss091", "rss092", "rss093", "rss094", "rss20", "rdf"}
}

func TestEveryRSSVersionIsValid(t *testing.T) {
	t.Parallel()
	for name, f := range corpus(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, format := range rssFormats() {
				checkRSS(t, written(t, f, format), format)
			}
		})
	}
	for seed := range uint64(100) {
		f := randomFeed(seed)
		for _, format := range rssFormats() {
			checkRSS(t, written(t, f, format), format)
		}
	}
}

func TestEmptyFeedIsAValidDocument(t *testing.T) {
	t.Parallel()
	for _, format := range rssFormats() {
		for _, f := range []*feed.Feed{{}, {Link: "https://a.example/", Items: []feed.Item{{}, {}}}} {
			checkRSS(t, written(t, f, format), format)
		}
	}
}
