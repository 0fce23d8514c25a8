package client

import (
	"context"
	"time"
)

// PostRules are an author's choices for the texts of their posts.
type PostRules struct {
	// Short is the action for a short post above the limit: off, warn or enforce. "": as the setting
	// write.limit-mode of the server says.
	Short string `json:"short"`
	// URLs is the length with which a URL in a text is counted: "" (each character), short (23 characters) or free
	// (not at all).
	URLs string `json:"urls"`
	// PlainTags leaves hashtags as text. false: they become categories and links to their pages.
	PlainTags bool `json:"plain_tags"`
}

// PostCard is a preview of a page that a post links to.
type PostCard struct {
	URL         string `json:"url"` // "" in a PostChange: the post has no card any more
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	Image       string `json:"image,omitempty"` // URL
}

// PostVersion is an earlier version of a post.
type PostVersion struct {
	Number     int64     `json:"number"` // within the post, from 1
	SavedAt    time.Time `json:"saved_at"`
	State      string    `json:"state"` // of the post at that time; draft for unpublished changes
	Title      string    `json:"title,omitempty"`
	Source     string    `json:"source,omitempty"`
	Format     string    `json:"format"`
	Categories []string  `json:"categories"`
}

// Versions are the earlier versions of a post. All fields are required.
type Versions struct {
	Client *Client
	User   string
	Post   int64
}

// List returns the earlier versions, newest first, at most 50.
func (v Versions) List(ctx context.Context) ([]PostVersion, error) {
	out, err := userCall[struct {
		Versions []PostVersion `json:"versions"`
	}](ctx, v.Client, "GET", nil, v.User, "posts", decimal(v.Post), "versions")
	return out.Versions, err
}

// Restore saves an earlier version again. That of a published or scheduled post becomes a draft with
// its unpublished change, which is the result.
func (v Versions) Restore(ctx context.Context, number int64) (Post, error) {
	return userCall[Post](ctx, v.Client, "POST", nil, v.User, "posts", decimal(v.Post), "versions", decimal(number), "restore")
}
