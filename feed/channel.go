package feed

import (
	"strconv"
	"strings"
)

// image reads <image> of RSS, or the reference to an image in RDF.
func (p *parser) image() {
	img := new(Image)
	if p.f.Image != nil {
		*img = *p.f.Image
	}
	p.imageInto(img)
	if *img != (Image{}) {
		p.f.Image = img
	}
}

// imageInto reads the current element into img. If the element contains no part of an image, it is
// stored as an unknown element.
func (p *parser) imageInto(img *Image) {
	name := p.r.Name
	extend(&img.Extension, p.foreignAttrs(), nil)
	if v := p.hrefAttr(); v != "" && img.URL == "" {
		img.URL = p.url(v)
	}
	text, markup := p.r.Leaf()
	if !markup {
		p.put(&img.URL, p.url(text))
		return
	}
	p.each(func() {
		switch p.r.Local {
		case "url", "href":
			p.put(&img.URL, p.address())
		case "title":
			p.put(&img.Title, p.leaf())
		case "link":
			p.put(&img.Link, p.address())
		case "description":
			p.put(&img.Description, p.leaf())
		case "width":
			p.pixels(&img.Width, "width")
		case "height":
			p.pixels(&img.Height, "height")
		default:
			p.keep(&orNew(&img.Extension).Unknown)
		}
	})
	switch e := img.Extension; {
	case e == nil:
	case e.Attrs == nil && e.Unknown == nil:
		img.Extension = nil
	case *img == Image{Extension: e}:
		p.keepParts(name, e)
		img.Extension = nil
	}
}

// address returns the URL in the text of an element or in an attribute.
func (p *parser) address() string {
	v := p.hrefAttr()
	if text := p.leaf(); text != "" {
		v = text
	}
	return p.url(v)
}

func (p *parser) pixels(to *int, what string) {
	at := p.r.Offset()
	text := p.leaf()
	n := int(p.count(text, at, what))
	if n == 0 {
		p.keepText(p.r.Name, strings.TrimLeft(text, "0"))
		return
	}
	if *to != 0 && *to != n { // the old value belongs to another image, whose URL was replaced too
		p.keepText(p.r.Name, strconv.Itoa(*to))
	}
	*to = n
}

func (p *parser) textInput(to **TextInput) {
	var in TextInput
	if *to != nil {
		in = **to
	}
	p.inside(func() bool {
		switch p.r.Local {
		case "title":
			p.put(&in.Title, p.leaf())
		case "description":
			p.put(&in.Description, p.leaf())
		case "name":
			p.put(&in.Name, p.leaf())
		case "link":
			p.put(&in.Link, p.address())
		default:
			return false
		}
		return true
	})
	if in != (TextInput{}) {
		*to = &in
	}
}

// cloud reads the endpoint where aggregators subscribe to notifications.
//
// spec:rsscloud-2003#cloud-attributes
func (p *parser) cloud() {
	c := Cloud{
		Domain: p.attr("domain"), Port: p.attr("port"), Path: p.attr("path"),
		RegisterProcedure: p.attr("registerprocedure"), Protocol: p.attr("protocol"),
	}
	p.empty()
	if c == (Cloud{}) || len(p.f.Clouds) >= 10 {
		return
	}
	p.f.Clouds = append(p.f.Clouds, c)
	p.f.Cloud = &p.f.Clouds[0]
}

// in reports whether g, an element of Atom, contains all information of old, a line of RSS.
func (old *Generator) in(g *Generator) bool {
	return *old == Generator{Name: strings.TrimSpace(g.Name + " " + g.Version)} || *old == Generator{Name: g.Name}
}

func (p *parser) generator(s *slots) {
	g := Generator{URL: p.url(p.hrefAttr()), Version: p.attr("version")}
	g.Name = p.leaf()
	switch {
	case s.generator == nil:
		p.keepText(p.r.Name, g.Name)
	case g != (Generator{}):
		if old := *s.generator; old != nil && *old != g && !old.in(&g) {
			p.keepElement(old.Name, "uri", old.URL, "version", old.Version)
		}
		*s.generator = &g
	}
}

// source reads the origin of an item: a line with a URL in RSS, or a feed without items in Atom.
func (p *parser) source() bool {
	src := orNew(&p.item.Source)
	switch {
	case src.ID != "" || src.Links != nil || src.Authors != nil:
		return false // an Atom source takes precedence over a line of RSS
	case src.Title.Value != "" && src.URL != "": // the last line takes precedence
		p.keepElement(src.Title.Value, "url", src.URL)
		*src = Source{}
	}
	attrs := p.foreignAttrs()
	p.put(&src.URL, p.url(p.hrefAttr()))
	text, markup := p.r.Leaf()
	if !markup {
		extend(&src.Extension, attrs, nil)
		if text != "" {
			p.set(&src.Title, Text{Value: text, Type: plainText, Language: dashed(p.r.Lang()), Base: p.base().String()})
		}
		return true
	}
	s := sourceSlots(src)
	p.each(func() { p.element(s) })
	extend(&src.Extension, attrs, *s.unknown)
	if src.Updated.Raw == "" {
		src.Updated = *s.published
	} else {
		p.keepText(s.names.published, s.published.Raw)
	}
	return true
}

func atoi(s string) (int, bool) {
	n, err := strconv.Atoi(strings.TrimSpace(s))
	return n, err == nil
}
