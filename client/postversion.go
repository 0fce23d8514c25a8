package client

import (
	"context"
	"time"
)

// PostRules are an author's choices for the texts of their posts.
type PostRules struct {
	// Short selects what happens if a short post exceeds the limit: off (nothing), warn or enforce.
	// "": the server's setting write.limit-mode applies.
	Short string `json:"short"`
	// URLs selects how the characters of URLs in a text count: "" (each character), short (23
	// characters per URL) or free (not at all).
	URLs string `json:"urls"`
	// PlainTags leaves hashtags as text. If it is false, hashtags become categories and links to the
	// pages of the categories.
	PlainTags bool `json:"plain_tags"`
}

// PostCard is a preview of a page that a post links to.
type PostCard struct {
	URL         string `json:"url"` // URL of the page; "" in a PostChange: the post has no card any more
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	Image       string `json:"image,omitempty"` // URL of an image
}

// PostVersion is an earlier version of a post.
type PostVersion struct {
	Number     int64     `json:"number"` // number of this version among the versions of the post, from 1
	SavedAt    time.Time `json:"saved_at"`
	State      string    `json:"state"` // state of the post at that time; draft for unpublished changes
	Title      string    `json:"title,omitempty"`
	Source     string    `json:"source,omitempty"`
	Format     string    `json:"format"`
	Categories []string  `json:"categories"`
}

// Versions manages the earlier versions of a post. All fields are required.
type Versions struct {
	Client *Client
	User   string
	Post   int64
}

// List returns the earlier versions of the post, newest first, at most 50.
func (v Versions) List(ctx context.Context) ([]PostVersion, error) {
	return userMember[[]PostVersion](ctx, v.Client, "versions", v.User, "posts", decimal(v.Post), "versions")
}

// Restore saves an earlier version as the newest version. For a published or scheduled post, the
// restored version becomes an unpublished change. Restore returns the draft that holds the change.
func (v Versions) Restore(ctx context.Context, number int64) (Post, error) {
	return userCall[Post](ctx, v.Client, "POST", nil, v.User, "posts", decimal(v.Post), "versions", decimal(number), "restore")
}
