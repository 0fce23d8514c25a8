package conversation

import (
	"context"
	"time"
)

// MaxTargets is the number of pages that the webmentions of one post go to; further links of the
// post get none.
const MaxTargets = 100

// Page is the public page of a post, from which webmentions are sent.
type Page struct {
	URL string // "": the post was never public
	Off bool   // the author sends no webmentions
	// Targets are the pages to which it links, each once. A page that is not public has none.
	Targets []string
	ReplyTo string // the page that the post replies to; "": none
	Hash    string // changes with everything that a receiver may show
}

// Result is the state of a sent webmention.
type Result string

// Results.
const (
	Pending    Result = "pending"     // an attempt follows
	Accepted   Result = "accepted"    // the endpoint of the target accepted the webmention
	NoEndpoint Result = "no-endpoint" // the target receives no webmentions
	Failed     Result = "failed"      // the target refused, or no attempt succeeded
)

// Sent is the webmention of a post to one page. Without a Target it is the reminder that the links of
// the post are due to be compared with its rows, which the transaction that changes a post stores.
type Sent struct {
	User   string
	Post   int64
	Target string
	DueAt  time.Time // next attempt; while leased, when the lease expires; zero: never
	Tries  int       // failures in a row
	Lease  int64     // number of the lease; 0: not leased
	Sending
}

// Sending is the rest of a row. It is stored as JSON.
type Sending struct {
	Source   string    `json:"source,omitempty"`   // URL of the post
	Reply    bool      `json:"reply,omitempty"`    // the post replies to the target
	Removed  bool      `json:"removed,omitempty"`  // the post does not link to the target any more
	Hash     string    `json:"hash,omitempty"`     // of the page to report; see Page
	Accepted string    `json:"accepted,omitempty"` // Hash that the target accepted last; "": none
	Ready    string    `json:"ready,omitempty"`    // endpoint that was found while its host was busy
	Result   Result    `json:"result,omitempty"`   //
	Status   int       `json:"status,omitempty"`   // HTTP status of the last answer; 0: none
	Answer   string    `json:"answer,omitempty"`   // result of the last attempt, one sentence
	Endpoint string    `json:"endpoint,omitempty"` // where the last attempt was sent
	LastAt   time.Time `json:"last_at,omitzero"`   // last attempt
}

// SentQuery selects webmentions of a user, those of the newest post first, then by target.
type SentQuery struct {
	User        string
	Post        int64 // 0: of all posts
	BeforePost  int64 // with AfterTarget: the last row of the previous page; 0: from the beginning
	AfterTarget string
	Limit       int // at most 1,000; 0 means 100
}

// SendStore is the database interface of sent webmentions. Each method is one transaction, which is on
// disk when it returns nil. Times are stored in milliseconds, UTC.
type SendStore interface {
	// ChangeSent passes all rows of a post to change, by target, and stores the rows that it
	// returns in their place. change may be called several times; only the result of the last call
	// is stored.
	ChangeSent(ctx context.Context, user string, post int64, change func(rows []Sent) []Sent) error
	// ClaimSent claims up to limit due rows, oldest first: it sets their DueAt to until and their
	// Lease to lease.
	ClaimSent(ctx context.Context, now, until time.Time, limit int, lease int64) ([]Sent, error)
	// NextSent returns when the next row is due, or the zero time.
	NextSent(ctx context.Context) (time.Time, error)
	// SentMentions lists rows with a target.
	SentMentions(ctx context.Context, q SentQuery) ([]Sent, error)
	// TidySent deletes the rows of posts that no longer exist and that are not due.
	TidySent(ctx context.Context) error
}
