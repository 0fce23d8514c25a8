package river

import (
	"time"

	"cloudburst/feed/polling"
)

// Subscription records that a user follows a source.
type Subscription struct {
	Reader     string
	SourceID   int64
	Title      string   // title that the user chose; "": pages show the feed's title
	Categories []string // names of categories in alphabetical order
	AddedAt    time.Time
	Interval   time.Duration // time between checks that the user chose; 0: none
	ReadTo     time.Time     // items with At up to this time count as read, whatever their marks are
	ListID     int64         // ID of the reading list that added the feed; 0: the user added the feed
	FullText   bool          // true if the full text of new items is fetched from their pages
}

// Followed is a subscription with its source.
type Followed struct {
	Subscription
	Source Source
	Unread int64     // number of unread items at the time of the query
	Next   NextCheck // next check at the time of the query, if the query requests it
}

// Name returns the title to display: the title that the user chose, else the title of the feed.
func (f *Followed) Name() string {
	if f.Title != "" {
		return f.Title
	}
	return f.Source.Name()
}

// Category is a category of a user.
type Category struct {
	Name    string
	Public  bool // true if all visitors may read the category's river, feed and OPML
	Sources int64
	Unread  int64 // number of unread items at the time of the query
}

// ReadingList is an OPML document at a URL that a user follows as a whole. The user follows the
// feeds that are added to the document, and unfollows the feeds that are removed from it.
type ReadingList struct {
	ID       int64
	Reader   string
	URL      string
	Title    string
	Category string        // category of all feeds in the list, in addition to the list's own folders; "": none
	State    polling.State // state of the checks of the document
	Feeds    int           // number of feeds in the document at the last check
	ReadAt   time.Time
	NextAt   time.Time // when the next check is due, or when the claim ends
	Claim    int64
	Problem  string // why the last check failed; "": it succeeded
	Memory   ListMemory
}

// ListMemory is the state of a reading list that is stored between two checks. It contains only
// plain data and is encoded as JSON.
type ListMemory struct {
	// Parent is the ID of the reading list that includes this one; 0: the user follows this list
	// directly.
	Parent int64 `json:"parent,omitempty"`
	// Last contains the IDs of the sources in the last document. A source that is in both the
	// last and the new document keeps the changes that the user made.
	Last []int64 `json:"last,omitempty"`
	// DoubtAt is when a check first found that the list lost more than half of its feeds; zero:
	// it did not lose so many.
	DoubtAt time.Time `json:"doubtAt,omitzero"`
}
