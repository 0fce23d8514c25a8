package river

import (
	"time"

	"cloudburst/internal/river/item"
)

// Items as documents have them; see package item.
type (
	Item        = item.Item
	Content     = item.Content
	Enclosure   = item.Enclosure
	Place       = item.Place
	Known       = item.Known
	Mark        = item.Mark
	Entry       = item.Entry
	EntrySource = item.EntrySource
)

// TextLongest bounds Content.Text, in bytes.
const TextLongest = item.TextLongest

// TextOf gives the words of HTML as Content.Text has them.
func TextOf(html string) string { return item.TextOf(html) }

// ItemQuery selects items of one reader's river. Zero fields do not restrict.
type ItemQuery struct {
	Reader     string // whose; an item of a source that the reader does not follow is found only when starred
	SourceID   int64
	Sources    []int64  // several, at most 1,000: an item of any of them
	Category   string   // of the reader's
	Categories []string // several: an item of any of them
	Starred    bool
	Unread     bool
	Read       bool
	Match      string    // words that must all occur, the last may be a beginning; "…" is a phrase, -word must not occur
	From, To   time.Time // At in [From, To)
	ChangedIn  int64     // Seq > this
	IDs        []int64   // these, at most 1,000
	Firsts     []int64   // those with these First, at most 1,000

	// FirstAfter and FirstBefore restrict to First in the open range between them; 0: no end.
	FirstAfter, FirstBefore int64

	Before  Place // older than this; with Oldest: newer than this
	Oldest  bool  // oldest first
	BySeq   bool  // in order of Seq (with Oldest: ascending), Before not considered
	ByFirst bool  // in order of First (with Oldest: ascending), Before not considered
	Bare    bool  // without Content but Title and Link: for lists of ids
	Limit   int   // at most 1,000 (10,000 when Bare); 0 means 50
}

// Arrival says that items came or changed.
type Arrival struct {
	SourceID int64
	Seq      int64 // of the last of them
	Items    []Arrived
}

// Arrived is one item of an Arrival.
type Arrived struct {
	ID  int64
	Seq int64
	New bool // else it was edited or withdrawn
}
