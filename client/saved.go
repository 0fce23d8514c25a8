package client

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"time"
)

// The two feeds that each user has.
const (
	PublicFeed  = "rss"     // everybody's
	PrivateFeed = "private" // of those who have a secret
)

// MaxFeed is how large a document may be that is saved as a feed, in bytes.
const MaxFeed = 2 << 20

// SavedFeed is a feed that a user keeps on the server.
type SavedFeed struct {
	User    string    `json:"user"`
	Name    string    `json:"name"`            // rss or private
	URL     string    `json:"url"`             // where it is read
	Title   string    `json:"title,omitempty"` // what the document says
	Items   int       `json:"items"`
	Version int64     `json:"version"` // counts the times that it was saved
	SavedAt time.Time `json:"saved_at"`
	Type    string    `json:"type"`               // Content-Type of the document
	Size    int64     `json:"size"`               // bytes of the document
	MovedTo string    `json:"moved_to,omitempty"` // readers are sent there
	// Temporary means that readers are sent to MovedTo for now (302), and keep URL.
	Temporary bool `json:"temporary,omitempty"`
	Gone      bool `json:"gone,omitempty"` // readers are told that it has ended
	// AddCloud means that the document is served with the cloud and the hub of the server,
	// where it names none.
	AddCloud bool   `json:"add_cloud,omitempty"`
	Warning  string `json:"warning,omitempty"` // what its author has to know about the document; "": nothing
}

// Feeds lists the feeds that are kept on the server, in order of user and name; limit
// 0 is all of them.
func (c *Client) Feeds(ctx context.Context, limit int) iter.Seq2[SavedFeed, error] {
	return pages(limit, url.Values{}, func(v url.Values) ([]SavedFeed, string, error) {
		var page struct {
			Feeds []SavedFeed `json:"feeds"`
			Next  string      `json:"next"`
		}
		err := c.call(ctx, "GET", "/v1/feeds", v, nil, &page)
		return page.Feeds, page.Next, err
	})
}

// Feed is what is known of one feed. IsNotFound tells that nothing was saved.
func (c *Client) Feed(ctx context.Context, user, name string) (SavedFeed, error) {
	return feedCall[SavedFeed](ctx, c, "GET", nil, user, name)
}

// SaveFeed keeps a document as a user's feed, byte for byte, as if the user had saved
// it: at most MaxFeed bytes of XML that is a feed, or of JSON when contentType says so.
// That may be empty for XML.
func (c *Client) SaveFeed(ctx context.Context, user, name, contentType string, doc []byte) (SavedFeed, error) {
	var out SavedFeed
	if len(doc) > MaxFeed {
		// The server stops reading there, and its answer might not arrive.
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
	res, err := c.send(ctx, "PUT", path, nil, header, bytes.NewReader(doc))
	if err != nil {
		return out, err
	}
	defer res.Body.Close()
	if err := json.NewDecoder(io.LimitReader(res.Body, maxAnswer)).Decode(&out); err != nil {
		return out, fmt.Errorf("client: the answer of PUT %s cannot be read: %w", path, err)
	}
	return out, nil
}

// MoveFeed sends the readers of a feed to another address from now on.
func (c *Client) MoveFeed(ctx context.Context, user, name, to string) (SavedFeed, error) {
	return feedCall[SavedFeed](ctx, c, "POST", map[string]string{"to": to}, user, name, "move")
}

// MoveFeedTemporarily sends the readers of a feed to another address until RestoreFeed; they
// keep its URL.
func (c *Client) MoveFeedTemporarily(ctx context.Context, user, name, to string) (SavedFeed, error) {
	return feedCall[SavedFeed](ctx, c, "POST", map[string]any{"to": to, "temporary": true}, user, name, "move")
}

// EndFeed tells the readers of a feed that it has ended.
func (c *Client) EndFeed(ctx context.Context, user, name string) (SavedFeed, error) {
	return feedCall[SavedFeed](ctx, c, "POST", nil, user, name, "end")
}

// RestoreFeed takes back MoveFeed and EndFeed: the feed is served as it was saved.
func (c *Client) RestoreFeed(ctx context.Context, user, name string) (SavedFeed, error) {
	return feedCall[SavedFeed](ctx, c, "POST", nil, user, name, "restore")
}

// AddCloud switches on or off that the public feed of a user is served with the cloud and the
// hub of the server, where the document names none.
func (c *Client) AddCloud(ctx context.Context, user string, on bool) (SavedFeed, error) {
	return feedCall[SavedFeed](ctx, c, "POST", map[string]bool{"on": on}, user, PublicFeed, "cloud")
}

// feedCall calls a door below /v1/feeds/.
func feedCall[T any](ctx context.Context, c *Client, method string, in any, names ...string) (out T, err error) {
	path, err := userPath("/v1/feeds/", names...)
	if err != nil {
		return out, err
	}
	err = c.call(ctx, method, path, nil, in, &out)
	return out, err
}
