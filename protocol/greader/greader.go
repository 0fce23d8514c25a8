// Package greader is the API of Google Reader: sign-in, subscriptions, streams of items,
// and marks. Google ended its service in 2013; other servers and many reading apps kept
// the API.
//
// There is no standard. The package follows descriptions of Google's own server and the
// documentation of The Old Reader, BazQux and FeedHQ. Where these are silent it does what
// FreshRSS does, because apps are tested against FreshRSS. A server is a [Handler] with a
// [Backend]; [Client] is the other side.
//
// # Interoperability
//
// A Handler serves any prefix: apps append /accounts/ClientLogin and /reader/api/0/ to
// the URL that the user typed. Parameters may be in the query or in the body, escaped or
// not, and IDs may have each of their forms. The token T protects cookies; there are none
// here, so a request without T is accepted. A wrong T is refused, as apps expect. Numbers
// beyond 32 bits are strings. Responses are JSON; streams are Atom feeds as well, at
// /reader/atom/ and the stream's ID.
package greader

import (
	"errors"
	"fmt"
	"time"
)

// Limits of requests and answers.
const (
	MaxBody   = 1 << 20  // bytes of a body
	MaxImport = 8 << 20  // bytes of an OPML document
	MaxFields = 10_100   // of a query and a body together
	MaxIDs    = 10_000   // items of stream/items/ids, and of one request to mark or to get
	MaxItems  = 1_000    // items with their content of one stream/contents
	batch     = 100      // items that are in memory at once
	maxRounds = 40       // batches of one answer
	fewest    = 20       // items of an answer when the request does not say
	someIDs   = 1_000    // ids of an answer when the request does not say
	longURL   = 4 << 10  // bytes of a stream's name
	longTitle = 1 << 10  // bytes of a title that is given
	maxFeeds  = 1_000    // subscriptions in one request
	tokenSize = 57       // characters, as Google's had
	longest   = 16 << 10 // bytes of an Authorization
)

// Error is a refusal. Status is one of HTTP; Msg is for people; RetryAfter, when it is not
// 0, says when to try again.
type Error struct {
	Status     int
	Msg        string
	RetryAfter time.Duration
}

func (e *Error) Error() string { return fmt.Sprintf("greader: %d: %s", e.Status, e.Msg) }

// ErrUnauthorized is that a log-in or an Authorization is not good.
var ErrUnauthorized = errors.New("greader: unauthorized")

// User is who asks.
type User struct {
	ID   string `json:"userId"`
	Name string `json:"userName"`
	// ProfileID and Email are what apps show of it.
	ProfileID string `json:"userProfileId"`
	Email     string `json:"userEmail"`
}

// Category is a label that a subscription has.
type Category struct {
	ID    string `json:"id"` // user/-/label/Name
	Label string `json:"label"`
}

// Subscription is a feed that the user follows.
type Subscription struct {
	ID         string     `json:"id"` // feed/123
	Title      string     `json:"title"`
	Categories []Category `json:"categories"`
	URL        string     `json:"url"`
	HTMLURL    string     `json:"htmlUrl"`
	IconURL    string     `json:"iconUrl"`
}

// Tag is a label, or a state that items may have.
type Tag struct {
	ID   string `json:"id"`
	Type string `json:"type,omitempty"` // "folder" for labels
}

// Unread is how many items of a stream are unread.
type Unread struct {
	ID     string `json:"id"`
	Count  int64  `json:"count"`
	Newest string `json:"newestItemTimestampUsec"` // Unix microseconds, in decimal
}

// Ref is an item as lists of IDs have it.
type Ref struct {
	ID        ItemID   `json:"id,string"`
	Streams   []string `json:"directStreamIds"`
	Timestamp int64    `json:"timestampUsec,string"` // Unix microseconds
}

// Link is an address.
type Link struct {
	Href   string `json:"href"`
	Type   string `json:"type,omitempty"`
	Length int64  `json:"length,omitempty"` // bytes
}

// Text is HTML.
type Text struct {
	Content string `json:"content"`
}

// Origin is the feed that an item is of.
type Origin struct {
	StreamID string `json:"streamId"`
	Title    string `json:"title"`
	HTMLURL  string `json:"htmlUrl"`
}

// Item is an item with its content.
type Item struct {
	ID         string   `json:"id"`                   // [ItemID.Long]
	Crawled    int64    `json:"crawlTimeMsec,string"` // when it came, in Unix milliseconds
	Timestamp  int64    `json:"timestampUsec,string"` // its place in the order, in Unix microseconds
	Published  int64    `json:"published"`            // Unix seconds
	Updated    int64    `json:"updated,omitempty"`
	Title      string   `json:"title"` // never empty: apps show it in lists
	Author     string   `json:"author,omitempty"`
	Canonical  []Link   `json:"canonical"` // never empty: apps take the first
	Alternate  []Link   `json:"alternate"`
	Enclosure  []Link   `json:"enclosure,omitempty"`
	Categories []string `json:"categories"` // states and labels, as streams
	Origin     Origin   `json:"origin"`
	Summary    Text     `json:"summary"` // the whole text: all apps look here
}

// Has reports whether the item is in a state, such as "read" or "starred".
func (it *Item) Has(state string) bool {
	for _, c := range it.Categories {
		if s, err := ParseStream(c); err == nil && s.Kind == KindState && s.Name == state {
			return true
		}
	}
	return false
}

// Query selects items. Zero fields do not restrict.
type Query struct {
	Stream           Stream
	Exclude, Include []Stream  // xt and it: in none of these; in each of these
	After, Before    time.Time // ot and nt: that came since; that came before
	Oldest           bool      // the oldest first
	N                int       // at most
	Continuation     string    // from the page before; "": the first page
}

// QuickAddResult is what came of adding a feed by an address.
type QuickAddResult struct {
	Results int    `json:"numResults"`
	Query   string `json:"query"`
	Stream  string `json:"streamId,omitempty"`
	Name    string `json:"streamName,omitempty"`
	Error   string `json:"error,omitempty"`
}
