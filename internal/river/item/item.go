// Package item converts the documents of a feed to the items that the river stores. It has no
// access to the network or the clock. A [Converter] makes the content of an item safe to display.
// A [Merge] compares a document with the last one and finds new, edited and withdrawn items.
package item

import (
	"encoding/binary"
	"time"

	"cloudburst/internal/text"
)

// Item is one entry of a feed, as it is displayed.
type Item struct {
	ID       int64 // see the function ID
	SourceID int64
	GUID     string
	Seq      int64     // increases with every new or changed item: the position of a live page
	First    int64     // Seq of its arrival, which never changes; clients may page by it
	At       time.Time // position in the river: time of arrival, or of publication for the first check of a feed
	ReadAt   time.Time // time of the check that found it; items of one check form a group
	EditedAt time.Time // when its author changed the displayed content; zero: never
	// WithdrawnAt is the time when the author removed the item from the feed while older items
	// stayed; zero: never.
	WithdrawnAt time.Time
	Hash        int64 // hash of everything that the feed has about the item
	Content
}

// Content is the content of an item. HTML is sanitized; other fields are plain text or an http(s)
// URL, checked and limited in size.
type Content struct {
	Title      string      `json:"title,omitempty"` // "": the item has none
	Link       string      `json:"link,omitempty"`
	HTML       string      `json:"html,omitempty"` // the whole text
	Text       string      `json:"text,omitempty"` // the words of HTML, at most TextLongest bytes: for search and summaries
	Language   string      `json:"language,omitempty"`
	Published  time.Time   `json:"published,omitzero"` // according to the feed
	Updated    time.Time   `json:"updated,omitzero"`
	Authors    []string    `json:"authors,omitempty"`
	Categories []string    `json:"categories,omitempty"`
	Enclosures []Enclosure `json:"enclosures,omitempty"`
	Image      string      `json:"image,omitempty"` // URL, for an item without an image in HTML
	Comments   string      `json:"comments,omitempty"`
	InReplyTo  string      `json:"inReplyTo,omitempty"`
	// CommentsFeed is the URL of the feed of its comments.
	CommentsFeed string `json:"commentsFeed,omitempty"`

	Via    string    `json:"via,omitempty"` // title of the feed that it was copied from
	Nested []Content `json:"nested,omitempty"`
	More   bool      `json:"more,omitempty"` // the feed has only a summary of it
}

// TextLongest is the maximum size of Content.Text in bytes.
const TextLongest = 8 << 10

// Enclosure is a file that belongs to an item.
type Enclosure struct {
	URL      string  `json:"url"`
	Type     string  `json:"type,omitempty"`
	Length   int64   `json:"length,omitempty"`   // bytes; 0: unknown
	Duration float64 `json:"duration,omitempty"` // seconds; 0: unknown
	Title    string  `json:"title,omitempty"`
}

// Place is a position in a river: by At, then by ID. The zero Place is the newest end when reading
// backwards, and the oldest end when reading forwards.
type Place struct {
	At int64 // Unix milliseconds
	ID int64
}

// Place returns the position of the item.
func (it *Item) Place() Place { return Place{it.At.UnixMilli(), it.ID} }

// Known identifies an item of the last document and its content.
type Known struct {
	ID   int64 // see the function ID
	Hash int64 // hash of its content
}

// ID returns the ID of an item of a source.
func ID(source int64, guid string) int64 {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], uint64(source))
	return text.ID(string(b[:]) + guid)
}
