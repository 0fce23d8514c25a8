package item

import "time"

// Query selects items of one user's river. Zero fields do not restrict.
type Query struct {
	// Reader is the user. Items of sources that they do not follow match only when starred.
	Reader     string
	SourceID   int64
	Sources    []int64  // several, at most 1,000: items of any of them
	Category   string   // a category of the user
	Categories []string // several: items in any of them
	Starred    bool
	Unread     bool
	Read       bool
	Hidden     bool  // also items that a filter hides
	HiddenBy   int64 // only items that this filter hides, newest first; Match, Unread and the like are ignored
	// Match has words that must all occur; the last may be a prefix. "…" is a phrase, -word must
	// not occur.
	Match     string
	From, To  time.Time // At in [From, To)
	ChangedIn int64     // Seq greater than this
	IDs       []int64   // only these IDs, at most 1,000
	Firsts    []int64   // only these First values, at most 1,000

	// FirstAfter and FirstBefore restrict First to the open range between them; 0: no bound.
	FirstAfter, FirstBefore int64

	Before  Place // older than this; with Oldest: newer than this
	Oldest  bool  // oldest first
	BySeq   bool  // in order of Seq (with Oldest: ascending); Before is ignored
	ByFirst bool  // in order of First (with Oldest: ascending); Before is ignored
	Bare    bool  // without Content except Title and Link: for lists of IDs
	Limit   int   // at most 1,000 (10,000 when Bare); 0 means 50
}

// Arrival reports new or changed items of one source, or marks that a user set.
type Arrival struct {
	SourceID int64
	Seq      int64 // Seq of the last item
	Items    []Arrived
	Marks    *Marks // nil: items arrived
}

// Marks reports marks that a user set, by any page, app or program.
type Marks struct {
	User          string
	IDs           []int64 // nil: too many to list, by MarkAllRead or UndoAllRead
	Read, Starred *bool   // nil: unchanged
}

// Arrived is one item of an Arrival.
type Arrived struct {
	ID  int64
	Seq int64
	New bool // false: the item was edited or withdrawn
}
