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

// Ways of a Notice.
const (
	ViaWebhook = "webhook" // JSON, signed when there is a secret
	ViaEmail   = "email"
	ViaPost    = "post" // a form: url, title, text, feed
)

// States of a Notice.
const (
	NoticeWaiting   = "waiting"   // for the consent of its recipient: nothing is forwarded
	NoticeConfirmed = "confirmed" // the recipient wants it
	NoticeEnded     = "ended"     // the recipient does not want it any more
)

// Notice is that a reader wants to be told elsewhere of what arrives.
type Notice struct {
	ID        int64
	Reader    string
	SourceID  int64  // of this source only; 0: any
	Category  string // of this category only; "": any
	Via       string // one of the ways
	Target    string // URL or e-mail address
	Secret    string // webhooks are signed with it; "": not
	CreatedAt time.Time
	Paused    bool
	Sent      int64 // messages
	LastAt    time.Time
	Failures  int // in a row
	Problem   string
	NextAt    time.Time // when what waits is sent, or the end of a claim; zero: nothing waits
	Claim     int64
	State     string    // one of the states
	Asked     int       // how often the recipient was asked for consent since the target was named
	AskedAt   time.Time // the last time; zero: never
	DecidedAt time.Time // when the recipient confirmed or ended it; zero: neither
	End       string    // token of the link that ends it, for messages; it is not stored
	Sender    string    // name of the reader, for messages; it is not stored
}
