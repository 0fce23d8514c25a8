package feed

// mcf reads the Meta Content Framework in XML.
func (p *parser) mcf() { p.f.Format = MCF; p.r.Skip() }
