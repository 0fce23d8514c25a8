package feed

// redirect reads a document that says where the feed went.
func (p *parser) redirect() { p.f.Format = Redirect; p.r.Skip() }
