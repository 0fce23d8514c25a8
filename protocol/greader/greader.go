// Package greader implements the API of Google Reader: sign-in, subscriptions, streams of
// items, and read and starred marks. Google ended its service in 2013, but other servers
// and many reading apps still use the API.
//
// There is no standard. The package follows descriptions of Google's own server and the
// documentation of The Old Reader, BazQux and FeedHQ. Where these are silent, the package does what
// FreshRSS does, because apps are tested against FreshRSS. A server is a [Handler] with a
// [Backend]. [Client] calls a server.
//
// # Interoperability
//
// A Handler serves any prefix, because apps append /accounts/ClientLogin and /reader/api/0/
// to the URL that the user typed. Parameters may be in the query or in the body, escaped or
// not, and IDs may have each of their forms. The token T protects against forged requests
// with cookies. This package uses no cookies, so a request without T is accepted; a wrong T
// is refused, as apps expect. Numbers beyond 32 bits are strings. Responses are JSON.
// Streams are also available as Atom feeds, at /reader/atom/ followed by the stream's ID.
package greader

import (
	"errors"
	"fmt"
	"time"
)

// Limits of requests and responses.
const (
	MaxBody      = 1 << 20  // bytes of a body
	MaxImport    = 8 << 20  // bytes of an OPML document
	MaxFields    = 10_100   // fields of the query and the body together
	MaxIDs       = 10_000   // items of stream/items/ids, and of one request to mark or look up items
	MaxItems     = 1_000    // items with content of one stream/contents
	batch        = 100      // items in memory at the same time
	maxRounds    = 40       // batches of one response
	defaultItems = 20       // default number of items in a response
	defaultIDs   = 1_000    // default number of IDs in a response
	maxURL       = 4 << 10  // bytes of a stream's name
	maxTitle     = 1 << 10  // bytes of a title
	maxFeeds     = 1_000    // subscriptions in one request
	tokenSize    = 57       // characters, as in Google's API
	maxAuth      = 16 << 10 // bytes of an Authorization header
)

// Error is a refusal. Status is the HTTP status, Msg is for people, and RetryAfter is the
// time until a retry (0: not specified).
type Error struct {
	Status     int
	Msg        string
	RetryAfter time.Duration
}

func (e *Error) Error() string { return fmt.Sprintf("greader: %d: %s", e.Status, e.Msg) }

// ErrUnauthorized means that a password or an Authorization header is invalid.
var ErrUnauthorized = errors.New("greader: unauthorized")

// User is the signed-in user.
type User struct {
	ID   string `json:"userId"`
	Name string `json:"userName"`
	// ProfileID and Email are shown by apps.
	ProfileID string `json:"userProfileId"`
	Email     string `json:"userEmail"`
}

// Category is a label of a subscription.
type Category struct {
	ID    string `json:"id"`    // user/-/label/Name
	Label string `json:"label"` // name of the label
}

// Subscription is a feed that the user follows.
type Subscription struct {
	ID         string     `json:"id"` // feed/123
	Title      string     `json:"title"`
	Categories []Category `json:"categories"` // its labels
	URL        string     `json:"url"`        // URL of the feed
	HTMLURL    string     `json:"htmlUrl"`    // URL of its web page
	IconURL    string     `json:"iconUrl"`    // URL of its icon; may be empty
}

// Tag is a label, or a state of items.
type Tag struct {
	ID   string `json:"id"`             // stream ID
	Type string `json:"type,omitempty"` // "folder" for labels
}

// Unread is the number of unread items of a stream.
type Unread struct {
	ID     string `json:"id"` // stream ID
	Count  int64  `json:"count"`
	Newest string `json:"newestItemTimestampUsec"` // Unix microseconds, in decimal
}

// Ref is an item in a list of IDs.
type Ref struct {
	ID        ItemID   `json:"id,string"`
	Streams   []string `json:"directStreamIds"`      // stream IDs; the first one is the feed
	Timestamp int64    `json:"timestampUsec,string"` // Unix microseconds
}

// Link is a link to a URL.
type Link struct {
	Href   string `json:"href"`
	Type   string `json:"type,omitempty"`
	Length int64  `json:"length,omitempty"` // bytes
}

// Text is a text in HTML.
type Text struct {
	Content string `json:"content"`
}

// Origin is the feed of an item.
type Origin struct {
	StreamID string `json:"streamId"` // feed/123
	Title    string `json:"title"`
	HTMLURL  string `json:"htmlUrl"` // URL of the web page of the feed
}

// Item is an item with its content.
type Item struct {
	ID         string   `json:"id"`                   // [ItemID.Long]
	Crawled    int64    `json:"crawlTimeMsec,string"` // time of arrival, in Unix milliseconds
	Timestamp  int64    `json:"timestampUsec,string"` // position in the order, in Unix microseconds
	Published  int64    `json:"published"`            // Unix seconds
	Updated    int64    `json:"updated,omitempty"`    // Unix seconds; 0: unknown
	Title      string   `json:"title"`                // never empty, because apps show it in lists
	Author     string   `json:"author,omitempty"`
	Canonical  []Link   `json:"canonical"` // never empty, because apps use the first link
	Alternate  []Link   `json:"alternate"`
	Enclosure  []Link   `json:"enclosure,omitempty"`
	Categories []string `json:"categories"` // states and labels, as stream IDs
	Origin     Origin   `json:"origin"`
	Summary    Text     `json:"summary"` // the whole content, because all apps read it here
}

// Has reports whether the item is in a state, for example "read" or "starred".
func (it *Item) Has(state string) bool {
	for _, c := range it.Categories {
		if s, err := ParseStream(c); err == nil && s.Kind == KindState && s.Name == state {
			return true
		}
	}
	return false
}

// Query selects items. Zero fields do not restrict the selection.
type Query struct {
	Stream           Stream
	Exclude, Include []Stream  // xt and it: items must be in no stream of Exclude, and in all streams of Include
	After, Before    time.Time // ot and nt: range of the time of arrival
	Oldest           bool      // oldest first
	N                int       // maximum number of items
	Continuation     string    // from the previous batch; "": the first batch
}

// QuickAddResult is the result of subscribing by URL.
type QuickAddResult struct {
	Results int    `json:"numResults"`           // 1 if the feed was found, else 0
	Query   string `json:"query"`                // the requested URL
	Stream  string `json:"streamId,omitempty"`   // stream ID of the subscription
	Name    string `json:"streamName,omitempty"` // title of the feed
	Error   string `json:"error,omitempty"`      // reason of a failure, for people
}
