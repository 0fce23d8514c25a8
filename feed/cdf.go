package feed

// cdf reads the Channel Definition Format.
func (p *parser) cdf() {
	p.f.Format = CDF
	p.channel(feedSlots(p.f))
}

// looksLikeCDF tells CDF's <CHANNEL> from RSS's without <rss>.
func (p *parser) looksLikeCDF() bool {
	return p.r.Name == "CHANNEL" || p.attr("href") != "" || p.attr("base") != ""
}

// cdfAttributes reads HREF and LASTMOD, which CDF has as attributes.
func (p *parser) cdfAttributes(s *slots) {
	if len(p.r.Attrs) == 0 {
		return
	}
	if v := p.attr("lastmod"); v != "" {
		p.setDate(s.updated, v, p.r.Offset())
	}
	if v := p.attr("href"); v != "" {
		p.addLink(s, Link{Rel: "alternate", Href: p.url(v)})
	}
}
