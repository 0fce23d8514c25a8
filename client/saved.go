package client

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"time"
)

// Names of the two feeds of each user.
const (
	PublicFeed  = "rss"     // public feed
	PrivateFeed = "private" // private feed, for readers with a secret
)

// MaxFeed is the maximum size of a hosted feed in bytes.
const MaxFeed = 2 << 20

// SavedFeed is a feed hosted on the server.
type SavedFeed struct {
	User    string    `json:"user"`
	Name    string    `json:"name"`            // name of the feed: PublicFeed or PrivateFeed
	URL     string    `json:"url"`             // URL at which readers read the feed
	Title   string    `json:"title,omitempty"` // title of the feed in the document
	Items   int       `json:"items"`
	Version int64     `json:"version"` // number of times the feed was saved
	SavedAt time.Time `json:"saved_at"`
	Type    string    `json:"type"`               // Content-Type of the document
	Size    int64     `json:"size"`               // size of the document in bytes
	MovedTo string    `json:"moved_to,omitempty"` // URL that readers are redirected to
	// Temporary means that the redirect to MovedTo is temporary (302).
	Temporary bool `json:"temporary,omitempty"`
	Gone      bool `json:"gone,omitempty"` // readers get 410 Gone
	// AddCloud means that the server adds its cloud and hub to a document that names none.
	AddCloud bool   `json:"add_cloud,omitempty"`
	Warning  string `json:"warning,omitempty"` // problem in the document that its author should know about; "": no problem
}

// Feeds lists the feeds hosted on the server, sorted by user and name. limit is the maximum number
// of feeds; 0: all.
func (c *Client) Feeds(ctx context.Context, limit int) iter.Seq2[SavedFeed, error] {
	return pages[SavedFeed](ctx, c, "/v1/feeds", url.Values{}, "feeds", limit)
}

// Feed returns one hosted feed. If the feed was never saved, [IsNotFound] reports true for the
// error.
func (c *Client) Feed(ctx context.Context, user, name string) (SavedFeed, error) {
	return feedCall[SavedFeed](ctx, c, "GET", nil, user, name)
}

// SaveFeed saves a document, byte for byte, as a user's feed. The document is an XML feed, or a
// JSON feed with a JSON contentType, of at most MaxFeed bytes. contentType may be empty for XML.
func (c *Client) SaveFeed(ctx context.Context, user, name, contentType string, doc []byte) (SavedFeed, error) {
	var out SavedFeed
	if len(doc) > MaxFeed {
		// The server stops reading a larger document, and then its response might be lost.
		return out, &Error{Status: http.StatusBadRequest, Code: "invalid", Message: fmt.Sprintf("The document has %d bytes; at most %d are saved.", len(doc), MaxFeed)}
	}
	path, err := userPath("/v1/feeds/", user, name)
	if err != nil {
		return out, err
	}
	header := http.Header{}
	if contentType != "" {
		header.Set("Content-Type", contentType)
	}
	err = c.callBody(ctx, "PUT", path, nil, header, bytes.NewReader(doc), &out)
	return out, err
}

// MoveFeed permanently redirects the readers of a feed to another URL.
func (c *Client) MoveFeed(ctx context.Context, user, name, to string) (SavedFeed, error) {
	return feedCall[SavedFeed](ctx, c, "POST", map[string]string{"to": to}, user, name, "move")
}

// MoveFeedTemporarily redirects the readers of a feed to another URL until [Client.RestoreFeed].
// Readers continue to use the original URL.
func (c *Client) MoveFeedTemporarily(ctx context.Context, user, name, to string) (SavedFeed, error) {
	return feedCall[SavedFeed](ctx, c, "POST", map[string]any{"to": to, "temporary": true}, user, name, "move")
}

// EndFeed ends a feed: its readers get 410 Gone.
func (c *Client) EndFeed(ctx context.Context, user, name string) (SavedFeed, error) {
	return feedCall[SavedFeed](ctx, c, "POST", nil, user, name, "end")
}

// RestoreFeed undoes MoveFeed, MoveFeedTemporarily and EndFeed: the server serves the saved
// document again.
func (c *Client) RestoreFeed(ctx context.Context, user, name string) (SavedFeed, error) {
	return feedCall[SavedFeed](ctx, c, "POST", nil, user, name, "restore")
}

// AddCloud sets whether the server adds its cloud and hub to a user's public feed. The server adds
// them only to a document that names none.
func (c *Client) AddCloud(ctx context.Context, user string, on bool) (SavedFeed, error) {
	return feedCall[SavedFeed](ctx, c, "POST", map[string]bool{"on": on}, user, PublicFeed, "cloud")
}

// feedCall calls an endpoint below /v1/feeds/.
func feedCall[T any](ctx context.Context, c *Client, method string, in any, names ...string) (T, error) {
	return pathCall[T](ctx, c, method, in, "/v1/feeds/", names...)
}
