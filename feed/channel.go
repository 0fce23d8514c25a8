package feed

import (
	"strconv"
	"strings"
)

// image reads RSS's <image>, or RDF's reference to one.
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

func (p *parser) imageInto(img *Image) {
	if v := p.hrefAttr(); v != "" && img.URL == "" {
		img.URL = p.url(v)
	}
	text, markup := p.r.Leaf()
	if !markup {
		if text != "" && img.URL == "" {
			img.URL = p.url(text)
		}
		return
	}
	p.each(func() {
		at := p.r.Offset()
		switch p.r.Local {
		case "url", "href":
			img.URL = p.imageURL(img.URL)
		case "title":
			img.Title = p.leaf()
		case "link":
			if v := p.hrefAttr(); v != "" {
				img.Link = p.url(v)
				p.r.Skip()
			} else {
				img.Link = p.url(p.leaf())
			}
		case "description":
			img.Description = p.leaf()
		case "width":
			img.Width = int(p.count(p.leaf(), at, "width"))
		case "height":
			img.Height = int(p.count(p.leaf(), at, "height"))
		default:
			p.r.Skip()
		}
	})
}

// imageURL is the address in an element of an image, or the one known already.
func (p *parser) imageURL(known string) string {
	v := p.hrefAttr()
	if text := p.leaf(); text != "" {
		v = text
	}
	if v == "" {
		return known
	}
	return p.url(v)
}

func (p *parser) textInput(to **TextInput) {
	var in TextInput
	p.each(func() {
		switch p.r.Local {
		case "title":
			in.Title = p.leaf()
		case "description":
			in.Description = p.leaf()
		case "name":
			in.Name = p.leaf()
		case "link":
			if v := p.hrefAttr(); v != "" {
				in.Link = p.url(v)
				p.r.Skip()
			} else {
				in.Link = p.url(p.leaf())
			}
		default:
			p.r.Skip()
		}
	})
	if in != (TextInput{}) {
		*to = &in
	}
}

// cloud reads where to ask for notifications.
//
// spec:rsscloud-2003#cloud-attributes
func (p *parser) cloud() {
	c := Cloud{
		Domain: p.attr("domain"), Port: p.attr("port"), Path: p.attr("path"),
		RegisterProcedure: p.attr("registerprocedure"), Protocol: p.attr("protocol"),
	}
	p.r.Skip()
	if c == (Cloud{}) || len(p.f.Clouds) >= 10 {
		return
	}
	p.f.Clouds = append(p.f.Clouds, c)
	p.f.Cloud = &p.f.Clouds[0]
}

func (p *parser) generator(s *slots) {
	g := Generator{URL: p.url(p.hrefAttr()), Version: p.attr("version")}
	if g.Name = p.leaf(); s.generator != nil && g != (Generator{}) {
		*s.generator = &g
	}
}

// source reads where an item is from: a line with an address in RSS, a feed without
// items in Atom.
func (p *parser) source() {
	src := orNew(&p.item.Source)
	if v := p.hrefAttr(); v != "" {
		src.URL = p.url(v)
	}
	text, markup := p.r.Leaf()
	if !markup {
		if text != "" {
			src.Title = Text{Value: text, Type: plainText, Language: dashed(p.r.Lang()), Base: p.base().String()}
		}
		return
	}
	s := sourceSlots(src)
	s.unknown = &p.item.Unknown
	p.each(func() { p.element(s) })
	if src.Updated.Raw == "" {
		src.Updated = *s.published
	}
}

func atoi(s string) (int, bool) {
	n, err := strconv.Atoi(strings.TrimSpace(s))
	return n, err == nil
}
