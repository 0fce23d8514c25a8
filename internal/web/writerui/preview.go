package writerui

import (
	"context"
	"html/template"
	"net/http"
	"strings"

	"cloudburst/internal/account"
	"cloudburst/internal/author"
	"cloudburst/internal/author/rules"
)

// previewOf renders a post as on its own page.
func (s *Pages) previewOf(ctx context.Context, p author.Post) (template.HTML, error) {
	e, err := s.NewPostRenderer(ctx, false, true).RenderPost(s.unsaved(p))
	if err != nil {
		return "", err
	}
	var out strings.Builder
	err = s.ExecutePart(&out, "write", "look", e)
	return template.HTML(out.String()), err
}

// unsaved returns a post as its page would show it now. It has no path, because there is no page before
// the post is published.
func (s *Pages) unsaved(p author.Post) author.Post {
	if p.PublishedAt.IsZero() {
		p.PublishedAt = s.CurrentTime()
	}
	p.CreatedAt, p.UpdatedAt, p.Slug = p.PublishedAt, p.PublishedAt, ""
	return p
}

// doLook shows the form as the page of the post.
func (s *Pages) doLook(rw http.ResponseWriter, r *http.Request, session account.Session) error {
	got, err := s.readSent(rw, r, session.User)
	if err != nil {
		return err
	}
	f := readPostForm(got.fields, session.User)
	f.add(s, got.files)
	_, post, err := s.compose(r.Context(), &f, session.User)
	if err != nil {
		return err
	}
	s.Look(rw, r, s.unsaved(post))
	return nil
}

// measureAndPreview measures the text of a form and, if preview is set, renders it as readers see it.
// A field with an error is left out.
func (s *Pages) measureAndPreview(ctx context.Context, f *postForm, user string, preview bool) (m rules.Measure, html template.HTML, err error) {
	m, post, err := s.compose(ctx, f, user)
	if err != nil || !preview {
		return m, "", err
	}
	html, err = s.previewOf(ctx, post)
	return m, html, err
}

// compose makes a post of a form, without saving it. A field with an error is left out.
func (s *Pages) compose(ctx context.Context, f *postForm, user string) (m rules.Measure, p author.Post, err error) {
	var c author.Content
	if err = f.apply(&c); err != nil {
		return m, p, err
	}
	composer, err := s.Posts.Composer(ctx, user)
	if err != nil {
		return m, p, err
	}
	made, m, err := composer.Preview(c)
	for range 8 {
		if err == nil || !leaveOut(&c, topField(err)) {
			break
		}
		made, m, err = composer.Preview(c)
	}
	if err != nil {
		return m, p, err
	}
	p = author.Post{User: user, Content: made}
	p.PublishedAt, _ = f.date() // an invalid date means now
	return m, p, nil
}

// leaveOut empties a field of a content. It returns false for a field that it cannot empty, such as
// the text.
func leaveOut(c *author.Content, field string) bool {
	switch field {
	case "title":
		c.Title = ""
	case "link":
		c.Link = ""
	case "language":
		c.Language = ""
	case "categories":
		c.Categories = nil
	case "enclosures":
		c.Enclosures = nil
	case "reply":
		c.Reply = nil
	case "card":
		c.Card = nil
	default:
		return false
	}
	return true
}
