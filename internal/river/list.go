package river

import (
	"time"

	"cloudburst/feed/feedstate"
)

// Subscription is that a reader follows a source.
type Subscription struct {
	Reader     string
	SourceID   int64
	Title      string   // the reader's own; "": the feed's
	Categories []string // in alphabetical order
	AddedAt    time.Time
	Interval   time.Duration // between checks, the reader's own wish; 0: none
	ReadTo     time.Time     // items up to this At count as read, whatever their marks
	ListID     int64         // the reading list that brought it; 0: the reader himself
}

// Followed is a subscription with its source.
type Followed struct {
	Subscription
	Source Source
	Unread int64 // when it was asked for
}

// Name is what it is called: the reader's title before the feed's.
func (f *Followed) Name() string {
	if f.Title != "" {
		return f.Title
	}
	return f.Source.Name()
}

// Category is one of a reader's.
type Category struct {
	Name    string
	Public  bool // everybody may read its river, its feed and its OPML
	Sources int64
	Unread  int64 // when it was asked for
}

// ReadingList is an OPML document at a URL that a reader follows as a whole: what it
// gains is followed, what it loses no more.
type ReadingList struct {
	ID       int64
	Reader   string
	URL      string
	Title    string
	Category string          // what its feeds are put into, besides its own folders; "": nothing
	State    feedstate.State // of the document
	Feeds    int             // when it was last read
	ReadAt   time.Time
	NextAt   time.Time // when it is due, or the end of a claim
	Claim    int64
	Problem  string // why it could not be read; "": it could
	Memory   ListMemory
}

// ListMemory is what is remembered of a reading list between two readings: plain data,
// to be stored as JSON.
type ListMemory struct {
	// Parent is the reading list that includes this one; 0: the reader follows it himself.
	Parent int64 `json:"parent,omitempty"`
	// Last are the ids of the sources of its last document: what is in it and was in it
	// is left as the reader made it.
	Last []int64 `json:"last,omitempty"`
	// DoubtAt is when it was first seen to have lost more than half of its feeds; zero:
	// it has not.
	DoubtAt time.Time `json:"doubtAt,omitzero"`
}
