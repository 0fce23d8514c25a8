package item

import "time"

// Query selects items of one user's river. A zero field does not restrict the result.
type Query struct {
	// Reader is the name of the user. Items of sources that the user does not follow match only
	// if the user starred them.
	Reader     string
	SourceID   int64
	Sources    []int64  // IDs of at most 1,000 sources: items of any of these sources match
	Category   string   // name of a category of the user
	Categories []string // categories of the user: items in any of these categories match
	Starred    bool
	Unread     bool
	Read       bool
	Public     bool  // for people other than the user: leave out items of feeds with a login; Match may not use categories or marks
	Hidden     bool  // include items that a filter hides
	HiddenBy   int64 // only items that this filter hides, newest first; Match, Unread and similar fields are ignored
	// Match contains the words that must all occur; the last word may be a prefix. "…" is a
	// phrase, and -word excludes items with the word.
	Match     string
	From, To  time.Time // only items with At in the half-open range [From, To)
	ChangedIn int64     // only items with a greater Seq
	IDs       []int64   // only items with these IDs, at most 1,000
	Firsts    []int64   // only items with these values of First, at most 1,000

	// FirstAfter and FirstBefore select items whose First lies between both values, without the
	// values themselves; 0: no bound.
	FirstAfter, FirstBefore int64

	Before  Place // only items older than this position; with Oldest, only newer items
	Oldest  bool  // sort the oldest item first
	BySeq   bool  // sort by descending Seq (with Oldest: ascending); Before is ignored
	ByFirst bool  // sort by descending First (with Oldest: ascending); Before is ignored
	Bare    bool  // leave out Content except Title and Link, for lists of IDs
	Limit   int   // maximum number of items, at most 1,000 (10,000 with Bare); 0: 50
}

// Arrival reports either new and changed items of one source, or marks that a user set.
type Arrival struct {
	SourceID int64
	Seq      int64 // highest Seq of the items
	Items    []Arrived
	Marks    *Marks // the marks that a user set; nil: the Arrival reports items
}

// Marks reports which marks a user set on a page, in an app or in an API client.
type Marks struct {
	User          string
	IDs           []int64 // IDs of the items; nil: MarkAllRead or UndoAllRead changed too many to list
	Read, Starred *bool   // new value of each mark; nil: unchanged
}

// Arrived is one item of an Arrival.
type Arrived struct {
	ID  int64
	Seq int64
	New bool // true if the item is new; false if it was edited or withdrawn
}
