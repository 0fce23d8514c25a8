package feed

import (
	"strings"

	"cloudburst/internal/scan"
)

// redirect reads a document that states the new URL of a feed in <newLocation>. An empty
// <newLocation> means that the feed no longer exists.
//
// spec:feedstate-2007#redirect-xml
func (p *parser) redirect() {
	p.f.Format = Redirect
	at := p.r.Offset()
	m := &Moved{From: "redirect"}
	said, end := false, 0
	if p.r.Local == "newlocation" {
		said, end = true, p.newLocation(m)
	} else {
		if v := p.attr("newlocation"); v != "" {
			said, m.To = true, v
		}
		p.each(func() {
			if p.r.Local != "newlocation" || m.To != "" {
				p.keep(&p.f.Unknown)
				return
			}
			said, end = true, p.newLocation(m)
		})
	}
	for p.next() != scan.EOF { // read to the end, so that the offset is the end of the document
	}
	switch {
	case !said:
		p.problem(ProblemMissing, at, "The redirect has no newLocation; it is ignored.")
	case end == p.r.Offset():
		p.problem(ProblemMissing, at, "The document ends before the end of the new URL; the redirect is ignored.")
	default:
		p.moved(m, at)
	}
}

// newLocation reads the current element into m, and returns the offset after the URL. If this is
// the end of the document, the URL may be truncated, and a missing URL does not mean that the feed
// is gone. Some authors write a second <newLocation> instead of the end tag; in this case
// newLocation skips the rest of the enclosing element.
//
// spec:feedstate-2007#redirect-xml
func (p *parser) newLocation(m *Moved) (end int) {
	m.To = p.hrefAttr()
	depth := p.r.Depth()
	for {
		kind := p.next()
		if m.To != "" && kind != scan.Text {
			end = p.r.Offset()
			p.r.SkipTo(depth - 1)
			return end
		}
		switch kind {
		case scan.Text:
			if m.To == "" {
				m.To = strings.TrimSpace(p.r.Chars())
			}
		case scan.End:
			if p.r.Depth() < depth {
				return p.r.Offset()
			}
		case scan.EOF:
			return p.r.Offset()
		}
	}
}

// moved stores the new URL. If the URL is empty, the feed is gone.
func (p *parser) moved(m *Moved, at int) {
	m.To = unampersand(unfolded(m.To))
	switch {
	case m.To == "":
		m.Gone = true // spec:feedstate-2007#gone-xml
	default:
		m.To = p.url(m.To)
		if i := strings.IndexAny(m.To, ":/?#"); i > 0 && m.To[i] == ':' && !isWeb(strings.ToLower(m.To[:min(i+3, len(m.To))])) {
			p.problem(ProblemURL, at, "A feed cannot move to "+quote(m.To)+"; it keeps its URL.")
			return
		}
	}
	p.f.Moved = m
}
