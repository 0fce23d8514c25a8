// Package item converts the documents of a feed to the items that the river stores. It accesses
// neither the network nor the clock. A [Converter] makes the content of an item safe to display.
// A [Merge] compares a document with the last document of its feed and finds new, edited and
// withdrawn items.
package item

import (
	"encoding/binary"
	"time"

	"cloudburst/internal/text"
)

// Item is one entry of a feed in the form that pages display.
type Item struct {
	ID       int64 // result of the function ID
	SourceID int64
	GUID     string
	Seq      int64     // sequence number, higher for each new or changed item; live pages use it as their position
	First    int64     // Seq of the item's arrival, which never changes; clients may use it for paging
	At       time.Time // position in the river: time of arrival, or time of publication for the first check of a feed
	ReadAt   time.Time // time of the check that found the item; items of one check form a group
	EditedAt time.Time // when the author last changed the displayed content; zero: never
	// WithdrawnAt is the time when the author removed the item from the feed while older items
	// stayed; zero: never.
	WithdrawnAt time.Time
	Hash        int64 // hash of all displayed parts of the item; see hashOf
	Content
}

// Content is the content of an item. HTML is sanitized. All other fields are plain text or
// http(s) URLs, validated and limited in size.
type Content struct {
	Title      string      `json:"title,omitempty"` // title of the item; "": the item has no title
	Link       string      `json:"link,omitempty"`
	HTML       string      `json:"html,omitempty"` // whole text as sanitized HTML
	Text       string      `json:"text,omitempty"` // plain text of HTML, at most TextLongest bytes, for search and summaries
	Language   string      `json:"language,omitempty"`
	Published  time.Time   `json:"published,omitzero"` // time of publication, as the feed declares it
	Updated    time.Time   `json:"updated,omitzero"`
	Authors    []string    `json:"authors,omitempty"`
	Categories []string    `json:"categories,omitempty"`
	Enclosures []Enclosure `json:"enclosures,omitempty"`
	Image      string      `json:"image,omitempty"` // URL of an image; empty if HTML contains an image
	Comments   string      `json:"comments,omitempty"`
	InReplyTo  string      `json:"inReplyTo,omitempty"`
	// CommentsFeed is the URL of the feed of the item's comments.
	CommentsFeed string `json:"commentsFeed,omitempty"`

	Via    string    `json:"via,omitempty"` // title of the feed from which the item was copied
	Nested []Content `json:"nested,omitempty"`
	More   bool      `json:"more,omitempty"` // true if the feed contains only a summary of the item
}

// TextLongest is the maximum size of Content.Text in bytes.
const TextLongest = 8 << 10

// Enclosure is a file that belongs to an item.
type Enclosure struct {
	URL      string  `json:"url"`
	Type     string  `json:"type,omitempty"`
	Length   int64   `json:"length,omitempty"`   // size in bytes; 0: unknown
	Duration float64 `json:"duration,omitempty"` // duration in seconds; 0: unknown
	Title    string  `json:"title,omitempty"`
}

// Place is a position in a river, which is sorted by At and then by ID. The zero Place is the
// start of the river in the direction of reading.
type Place struct {
	At int64 // time in Unix milliseconds
	ID int64
}

// Place returns the position of the item.
func (it *Item) Place() Place { return Place{it.At.UnixMilli(), it.ID} }

// Known identifies an item of the last document and records the hash of its content.
type Known struct {
	ID   int64 // result of the function ID
	Hash int64 // hash of the content; see hashOf
}

// ID returns the ID of an item of a source.
func ID(source int64, guid string) int64 {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], uint64(source))
	return text.ID(string(b[:]) + guid)
}
