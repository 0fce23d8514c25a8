package client

import (
	"context"
	"time"
)

// Page is a page of a user that is not a post, such as "About".
type Page struct {
	Slug   string     `json:"slug"` // last segment of the page's path; "" in [Site.SavePage]: the server derives it from Title
	Title  string     `json:"title"`
	Source string     `json:"source"`               // text in Markdown; "" in a list
	Place  int64      `json:"place"`                // position in the navigation, ascending
	InMenu bool       `json:"in_menu"`              // the navigation contains the page
	HTML   string     `json:"html,omitempty"`       // generated from Source; ignored in [Site.SavePage]
	Saved  *time.Time `json:"updated_at,omitempty"` // time of the last change; ignored in [Site.SavePage]
}

// Site manages the page of a user: the style sheet, the pages that are not posts, and the domain.
type Site struct {
	Client *Client
	User   string
}

// Pages returns the pages of a user in the order of the navigation, without Source.
func (s Site) Pages(ctx context.Context) ([]Page, error) {
	return userMember[[]Page](ctx, s.Client, "pages", s.User, "pages")
}

// Page returns a page of a user.
func (s Site) Page(ctx context.Context, slug string) (Page, error) {
	return userCall[Page](ctx, s.Client, "GET", nil, s.User, "pages", slug)
}

// SavePage creates the page with this slug, or replaces it. If p.Slug is a different slug, the page
// moves to that slug.
func (s Site) SavePage(ctx context.Context, slug string, p Page) (Page, error) {
	return userCall[Page](ctx, s.Client, "PUT", p, s.User, "pages", slug)
}

// DeletePage deletes a page of a user and returns it.
func (s Site) DeletePage(ctx context.Context, slug string) (Page, error) {
	return userCall[Page](ctx, s.Client, "DELETE", nil, s.User, "pages", slug)
}

// Style is the style sheet of a user's page.
type Style struct {
	CSS string `json:"css"` // style sheet as the user wrote it; "": no style sheet
}

// Style returns the style sheet of a user's page.
func (s Site) Style(ctx context.Context) (Style, error) {
	return userCall[Style](ctx, s.Client, "GET", nil, s.User, "style")
}

// SetStyle replaces the style sheet of a user's page. The error for an invalid style sheet names
// the line and the property.
func (s Site) SetStyle(ctx context.Context, style Style) (Style, error) {
	return userCall[Style](ctx, s.Client, "PUT", style, s.User, "style")
}
