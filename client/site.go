package client

import (
	"context"
	"time"
)

// Page is a page of a user that is not a post, such as "About".
type Page struct {
	Slug   string     `json:"slug"` // last segment of its path; "" in [Site.SavePage]: derived from Title
	Title  string     `json:"title"`
	Source string     `json:"source"`               // Markdown; "" in a list
	Place  int64      `json:"place"`                // order in the navigation, ascending
	InMenu bool       `json:"in_menu"`              // the navigation has it
	HTML   string     `json:"html,omitempty"`       // generated from Source; ignored in [Site.SavePage]
	Saved  *time.Time `json:"updated_at,omitempty"` // last change; ignored in [Site.SavePage]
}

// Site changes the page of a user: its style sheet, and its pages that are not posts.
type Site struct {
	Client *Client
	User   string
}

// Pages returns the pages of a user in their order, without Source.
func (s Site) Pages(ctx context.Context) ([]Page, error) {
	out, err := userCall[struct {
		Pages []Page `json:"pages"`
	}](ctx, s.Client, "GET", nil, s.User, "pages")
	return out.Pages, err
}

// Page returns a page of a user.
func (s Site) Page(ctx context.Context, slug string) (Page, error) {
	return userCall[Page](ctx, s.Client, "GET", nil, s.User, "pages", slug)
}

// SavePage creates the page with this slug, or replaces it. p.Slug may differ: the page moves.
func (s Site) SavePage(ctx context.Context, slug string, p Page) (Page, error) {
	return userCall[Page](ctx, s.Client, "PUT", p, s.User, "pages", slug)
}

// DeletePage deletes a page of a user and returns it.
func (s Site) DeletePage(ctx context.Context, slug string) (Page, error) {
	return userCall[Page](ctx, s.Client, "DELETE", nil, s.User, "pages", slug)
}

// Style is the style sheet of a user's page.
type Style struct {
	CSS string `json:"css"` // as written; "": none
}

// Style returns the style sheet of a user's page.
func (s Site) Style(ctx context.Context) (Style, error) {
	return userCall[Style](ctx, s.Client, "GET", nil, s.User, "style")
}

// SetStyle replaces the style sheet of a user's page. The error names line and property.
func (s Site) SetStyle(ctx context.Context, style Style) (Style, error) {
	return userCall[Style](ctx, s.Client, "PUT", style, s.User, "style")
}
