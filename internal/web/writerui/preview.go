package writerui

import (
	"context"
	"html/template"
	"strings"

	"cloudburst/internal/author"
)

// previewOf renders a post as on its own page. A post without a date shows the current time.
func (s *Pages) previewOf(ctx context.Context, p author.Post) (template.HTML, error) {
	if p.PublishedAt.IsZero() {
		p.PublishedAt = s.CurrentTime()
	}
	p.CreatedAt, p.UpdatedAt = p.PublishedAt, p.PublishedAt
	e, err := s.NewPostRenderer(ctx, false, true).RenderPost(p)
	if err != nil {
		return "", err
	}
	e.Path = "" // there is no page before the post is published
	var out strings.Builder
	err = s.ExecutePart(&out, "write", "look", e)
	return template.HTML(out.String()), err
}

// measureAndPreview measures the text of a form and, if preview is set, renders it as readers see it.
// Fields with errors are left out.
func (s *Pages) measureAndPreview(ctx context.Context, f *postForm, user string, preview bool) (m author.Measure, html template.HTML, err error) {
	var c author.Content
	if err = f.apply(&c); err != nil {
		return m, "", err
	}
	// The link is part of the measure: its URL does not count if the text repeats it.
	words := author.Content{Title: c.Title, Source: c.Source, Format: c.Format, Outline: c.Outline, Link: c.Link}
	made, m, err := s.Posts.Preview(words)
	if err != nil && topField(err) == "link" {
		words.Link = ""
		made, m, err = s.Posts.Preview(words)
	}
	if err != nil || !preview {
		return m, "", err
	}
	c.Title, c.HTML, c.Outline = made.Title, made.HTML, made.Outline
	p := author.Post{User: user, Content: c}
	if p.PublishedAt, err = f.date(); err != nil {
		p.PublishedAt = s.CurrentTime()
	}
	html, err = s.previewOf(ctx, p)
	return m, html, err
}
