// Package fever implements the API of Fever, a feed reader of 2009. Fever is no longer
// maintained, but several reading apps still use its API. All of it is at one URL,
// http://example.com/fever/?api.
//
// The package follows the documentation by Fever's author (version 3). Where the documentation is
// silent, the package does what Miniflux and FreshRSS do, because apps are tested against them. A
// server is a [Handler] with a [Backend]. [Client] calls a server.
//
// # Interoperability
//
// One request may combine several queries and changes, in the query or in the body, as a
// form or as multipart. The numbers of items must increase in the order of arrival and must
// be less than 2^53, because some apps are written in JavaScript. The numbers of feeds and
// groups must be greater than 0 and fit into 31 bits. Empty lists are present in a
// response, with one exception: a group without feeds has no relationship, because an empty
// list of numbers breaks some apps. Hot links, Kindling and Sparks are not supported.
package fever

import (
	"crypto/md5"
	"encoding/hex"
	"encoding/xml"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Version is the version of the API.
const Version = 3

// Limits of requests and responses.
const (
	MaxBody  = 1 << 20 // bytes of a body
	MaxItems = 50      // items in a response
)

// Error is a refusal. Status is the HTTP status, Msg is for people, and RetryAfter is the
// time until a retry (0: not specified).
type Error struct {
	Status     int
	Msg        string
	RetryAfter time.Duration
}

func (e *Error) Error() string { return fmt.Sprintf("fever: %d: %s", e.Status, e.Msg) }

// ErrKey means that a key belongs to no user.
var ErrKey = errors.New("fever: unknown key")

// Key returns the key with which apps sign in: the MD5 of name, colon and password, in
// hexadecimal.
//
// spec:fever-2011#api-key
func Key(name, password string) string {
	sum := md5.Sum([]byte(name + ":" + password))
	return hex.EncodeToString(sum[:])
}

// Group is a folder of feeds.
type Group struct {
	ID    int32  `json:"id" xml:"id"`
	Title string `json:"title" xml:"title"`
}

// FeedsGroup lists the feeds of a group.
type FeedsGroup struct {
	GroupID int32 `json:"group_id" xml:"group_id"`
	FeedIDs IDs   `json:"feed_ids" xml:"feed_ids"`
}

// Feed is a feed that the user follows.
type Feed struct {
	ID          int32  `json:"id" xml:"id"`
	FaviconID   int32  `json:"favicon_id" xml:"favicon_id"` // ID of its Favicon; 0: none
	Title       string `json:"title" xml:"title"`
	URL         string `json:"url" xml:"url"`                                   // URL of the feed
	SiteURL     string `json:"site_url" xml:"site_url"`                         // URL of its web page
	IsSpark     int    `json:"is_spark" xml:"is_spark"`                         // always 0: Sparks are not supported
	LastUpdated int64  `json:"last_updated_on_time" xml:"last_updated_on_time"` // Unix seconds
}

// Favicon is the icon of a feed.
type Favicon struct {
	ID   int32  `json:"id" xml:"id"`
	Data string `json:"data" xml:"data"` // image/png;base64,…
}

// Item is one item of a feed.
type Item struct {
	ID      int64  `json:"id" xml:"id"`
	FeedID  int32  `json:"feed_id" xml:"feed_id"`
	Title   string `json:"title" xml:"title"`
	Author  string `json:"author" xml:"author"`
	HTML    string `json:"html" xml:"html"`                       // the content
	URL     string `json:"url" xml:"url"`                         // URL of its web page
	IsSaved int    `json:"is_saved" xml:"is_saved"`               // 1 or 0
	IsRead  int    `json:"is_read" xml:"is_read"`                 // 1 or 0
	Created int64  `json:"created_on_time" xml:"created_on_time"` // Unix seconds
}

// IDs is a list of numbers, encoded with commas.
type IDs []int64

// String returns the numbers separated by commas.
func (l IDs) String() string {
	var b []byte
	for i, id := range l {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, id, 10)
	}
	return string(b)
}

// ParseIDs parses a list of numbers separated by commas. Values that are not numbers
// greater than 0 are ignored. The result has at most limit numbers.
func ParseIDs(s string, limit int) IDs {
	list := IDs{}
	for part := range strings.SplitSeq(s, ",") {
		if len(list) == limit {
			break
		}
		if id, err := strconv.ParseInt(strings.TrimSpace(part), 10, 64); err == nil && id > 0 {
			list = append(list, id)
		}
	}
	return list
}

// MarshalText returns the numbers separated by commas.
func (l IDs) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText parses a list of numbers.
func (l *IDs) UnmarshalText(b []byte) error {
	*l = ParseIDs(string(b), maxIDs)
	return nil
}

// maxIDs is the maximum length of a list that is read.
const maxIDs = 1 << 20

// Response is the response to a request. Data that was not requested is nil.
type Response struct {
	XMLName      xml.Name     `json:"-" xml:"response"`
	Version      int          `json:"api_version" xml:"api_version"`
	Auth         int          `json:"auth" xml:"auth"`                                                         // 1 or 0
	Refreshed    int64        `json:"last_refreshed_on_time,omitempty" xml:"last_refreshed_on_time,omitempty"` // last check of a feed, in Unix seconds
	Groups       []Group      `json:"groups,omitzero" xml:"groups>group"`
	Feeds        []Feed       `json:"feeds,omitzero" xml:"feeds>feed"`
	FeedsGroups  []FeedsGroup `json:"feeds_groups,omitzero" xml:"feeds_groups>feeds_group"`
	Favicons     []Favicon    `json:"favicons,omitzero" xml:"favicons>favicon"`
	Items        []Item       `json:"items,omitzero" xml:"items>item"`
	Total        *int64       `json:"total_items,omitempty" xml:"total_items,omitempty"` // number of all items
	Links        []struct{}   `json:"links,omitzero" xml:"links>link"`                   // always empty: hot links are not supported
	UnreadItems  *IDs         `json:"unread_item_ids,omitempty" xml:"unread_item_ids,omitempty"`
	SavedItems   *IDs         `json:"saved_item_ids,omitempty" xml:"saved_item_ids,omitempty"`
	ErrorMessage string       `json:"error_message,omitempty" xml:"error_message,omitempty"`
}

// Query selects items, at most [MaxItems]. Only one of Since, Max and IDs is used.
type Query struct {
	Since  int64   // items after this one, oldest first
	Max    int64   // items before this one, newest first; 0 together with Newest: from the newest item on
	Newest bool    // use Max even if it is 0
	IDs    []int64 // the items with these IDs
	Feeds  []int32 // only items of these feeds
	Groups []int32 // only items of the feeds in these groups
}
