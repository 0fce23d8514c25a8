package feed

// scriptingNews reads the scriptingNews format.
func (p *parser) scriptingNews() { p.f.Format = ScriptingNews; p.r.Skip() }
