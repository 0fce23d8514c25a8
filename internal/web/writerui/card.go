package writerui

import (
	"context"
	"html/template"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"cloudburst/internal/author"
	"cloudburst/internal/fault"
	"cloudburst/internal/web/content"
)

// textURL matches a URL in a text, without the punctuation after the URL.
var textURL = regexp.MustCompile(`https?://[^\s<>"'` + "`" + `]+[^\s<>"'` + "`" + `.,;:!?)\]}*_]`)

// cardURL returns the URL of the page for a link preview: the first URL in the text, else the first
// URL in the outline, else the link of the post. "": the form has no URL.
func (f *postForm) cardURL() string {
	if at := textURL.FindString(f.Source); at != "" {
		return at
	}
	if n := textURL.FindString(f.Outline); n != "" {
		return n
	}
	return f.Link
}

// cardRow is the link preview in the form.
type cardRow struct {
	Card author.Card
	View *content.CardView
}

// cardRowOf returns the link preview of a form; nil: the form has no preview.
func (s *Pages) cardRowOf(ctx context.Context, card author.Card) *cardRow {
	if card.URL == "" {
		return nil
	}
	return &cardRow{card, s.NewPostRenderer(ctx, false, true).Card(&card)}
}

// readCard reads the preview of the page that the form links to. fault.Unsupported: this server
// reads no previews; fault.Invalid: the form has no URL.
func (s *Pages) readCard(ctx context.Context, user string, f *postForm) (author.Card, error) {
	address := f.cardURL()
	switch {
	case s.Options.Card == nil:
		return author.Card{}, fault.New(fault.Unsupported, "This server reads no link previews.")
	case address == "":
		return author.Card{}, fault.New(fault.Invalid, "The text has no URL yet. Write one, such as https://example.com/page, to add its preview.")
	}
	if u, err := url.Parse(address); err == nil {
		address = u.String()
	}
	return s.Options.Card(ctx, user, address)
}

// doCard reads the link preview for the script.
func (s *Pages) doCard(rw http.ResponseWriter, r *http.Request, user string) (editorResponse, error) {
	got, err := s.readSent(rw, r, user)
	if err != nil {
		return editorResponse{}, err
	}
	f := readPostForm(got.fields, user)
	card, err := s.readCard(r.Context(), user, &f)
	if err != nil {
		return editorResponse{}, err
	}
	var out strings.Builder
	err = s.ExecutePart(&out, "write", "cardrow", s.cardRowOf(r.Context(), card))
	return editorResponse{HTML: template.HTML(out.String())}, err
}
