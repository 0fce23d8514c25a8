package feed

// json reads JSON Feed.
func (p *parser) json(text string) error {
	return &NotFeedError{Looks: "json", Text: text, Encoding: p.f.Encoding}
}
