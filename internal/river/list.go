package river

import (
	"time"

	"cloudburst/feed/polling"
)

// Subscription records that a user follows a source.
type Subscription struct {
	Reader     string
	SourceID   int64
	Title      string   // the user's own title; "": the feed's title
	Categories []string // names in alphabetical order
	AddedAt    time.Time
	Interval   time.Duration // the user's own time between checks; 0: none
	ReadTo     time.Time     // items up to this At count as read, whatever their marks
	ListID     int64         // the reading list that added the feed; 0: the user added it
	FullText   bool          // the full text of new items is fetched from their pages
}

// Followed is a subscription with its source.
type Followed struct {
	Subscription
	Source Source
	Unread int64     // at the time of the query
	Next   NextCheck // next check at the time of the query, if requested
}

// Name returns the title to display: the user's own, else the feed's.
func (f *Followed) Name() string {
	if f.Title != "" {
		return f.Title
	}
	return f.Source.Name()
}

// Category is a category of a user.
type Category struct {
	Name    string
	Public  bool // all visitors may read its river, its feed and its OPML
	Sources int64
	Unread  int64 // at the time of the query
}

// ReadingList is an OPML document at a URL that a user follows as a whole. Feeds that are added to
// the document are followed, and feeds that are removed are unfollowed.
type ReadingList struct {
	ID       int64
	Reader   string
	URL      string
	Title    string
	Category string        // category of all its feeds, in addition to the list's own folders; "": none
	State    polling.State // state of the document's checks
	Feeds    int           // feeds in the document at the last check
	ReadAt   time.Time
	NextAt   time.Time // when it is due, or the end of a claim
	Claim    int64
	Problem  string // why the last check failed; "": it did not
	Memory   ListMemory
}

// ListMemory is the stored state of a reading list between two checks: plain data, encoded as JSON.
type ListMemory struct {
	// Parent is the reading list that includes this one; 0: the user follows it directly.
	Parent int64 `json:"parent,omitempty"`
	// Last has the IDs of the sources in the last document. A source that is in the last and the
	// new document stays as the user changed it.
	Last []int64 `json:"last,omitempty"`
	// DoubtAt is when the list was first seen to have lost more than half of its feeds; zero: it
	// has not.
	DoubtAt time.Time `json:"doubtAt,omitzero"`
}
