// Package item turns the documents of a feed into the items that the river stores. It reads
// nothing and asks no clock: a [Converter] makes the content of an item safe to show, and a
// [Merge] compares a document with the last one and finds new, edited and withdrawn items.
package item

import (
	"encoding/binary"
	"time"

	"cloudburst/internal/text"
)

// Item is one entry of a feed, as it is shown.
type Item struct {
	ID       int64 // see the function ID
	SourceID int64
	GUID     string
	Seq      int64     // grows with every item that comes or changes: what a live page has seen
	First    int64     // its Seq when it came, which stays: a number that apps may page by
	At       time.Time // its place in the river: when it came; of a feed's first reading, when it was published
	ReadAt   time.Time // of the check that brought it: items of one check are one group
	EditedAt time.Time // when its author changed what it shows; zero: never
	// WithdrawnAt is when its author took it out of the feed, although older items are
	// still in it; zero: never.
	WithdrawnAt time.Time
	Hash        int64 // of everything that the feed says about it
	Content
}

// Content is what an item says. HTML is safe to show; everything else is plain text or
// an http(s) URL, checked and bounded.
type Content struct {
	Title      string      `json:"title,omitempty"` // "": it has none
	Link       string      `json:"link,omitempty"`
	HTML       string      `json:"html,omitempty"` // the whole text
	Text       string      `json:"text,omitempty"` // the words of HTML, at most TextLongest bytes: for search and summaries
	Language   string      `json:"language,omitempty"`
	Published  time.Time   `json:"published,omitzero"` // as the feed says
	Updated    time.Time   `json:"updated,omitzero"`
	Authors    []string    `json:"authors,omitempty"`
	Categories []string    `json:"categories,omitempty"`
	Enclosures []Enclosure `json:"enclosures,omitempty"`
	Image      string      `json:"image,omitempty"` // URL, of an item that shows none in HTML
	Comments   string      `json:"comments,omitempty"`
	InReplyTo  string      `json:"inReplyTo,omitempty"`
	Via        string      `json:"via,omitempty"` // title of the feed that it was taken from
	Nested     []Content   `json:"nested,omitempty"`
	More       bool        `json:"more,omitempty"` // the feed has only a summary of it
}

// TextLongest bounds Content.Text, in bytes.
const TextLongest = 8 << 10

// Enclosure is a file that belongs to an item.
type Enclosure struct {
	URL      string  `json:"url"`
	Type     string  `json:"type,omitempty"`
	Length   int64   `json:"length,omitempty"`   // bytes; 0: not known
	Duration float64 `json:"duration,omitempty"` // seconds; 0: not known
	Title    string  `json:"title,omitempty"`
}

// Place is a position in a river: by At, then by ID. The zero Place is its newest end
// going down, its oldest going up.
type Place struct {
	At int64 // Unix milliseconds
	ID int64
}

// Place is where the item is.
func (it *Item) Place() Place { return Place{it.At.UnixMilli(), it.ID} }

// Known is an item of a document that was read: which, and what it said.
type Known struct {
	ID   int64 // see the function ID
	Hash int64 // of everything that it said
}

// ID is the id of the item of a source.
func ID(source int64, guid string) int64 {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], uint64(source))
	return text.ID(string(b[:]) + guid)
}
