package conversation

import (
	"context"
	"time"
)

// MaxTargets is the maximum number of pages that receive webmentions of one post. Further links of
// the post are ignored.
const MaxTargets = 100

// Page is the public page of a post, from which webmentions are sent.
type Page struct {
	URL string // "": the post was never public
	Off bool   // the author sends no webmentions
	// Targets are the pages to which the post links, each once. A post that is not public has no
	// targets.
	Targets []string
	ReplyTo string // the page that the post replies to; "": none
	Hash    string // changes when anything changes that a receiver may show
}

// Result is the state of a sent webmention.
type Result string

// Results of sending.
const (
	Pending    Result = "pending"     // another attempt is scheduled
	Accepted   Result = "accepted"    // the endpoint of the target accepted the webmention
	NoEndpoint Result = "no-endpoint" // the target receives no webmentions
	Failed     Result = "failed"      // the target refused, or no attempt succeeded
)

// Sent is the webmention of a post to one page. A row without a Target is a reminder to compare the
// links of the post with its rows. The transaction that changes a post stores the reminder.
type Sent struct {
	User   string
	Post   int64
	Target string
	DueAt  time.Time // next attempt; for a leased row, the end of the lease; zero: never
	Tries  int       // failures in a row
	Lease  int64     // number of the lease; 0: not leased
	Sending
}

// Sending contains the other fields of a row. It is stored as JSON.
type Sending struct {
	Source   string    `json:"source,omitempty"`   // URL of the post
	Reply    bool      `json:"reply,omitempty"`    // the post replies to the target
	Removed  bool      `json:"removed,omitempty"`  // the post does not link to the target any more
	Hash     string    `json:"hash,omitempty"`     // Page.Hash of the version to send
	Accepted string    `json:"accepted,omitempty"` // Page.Hash of the last version that the target accepted; "": none
	Ready    string    `json:"ready,omitempty"`    // endpoint that was discovered while its host was busy
	Result   Result    `json:"result,omitempty"`   //
	Status   int       `json:"status,omitempty"`   // HTTP status of the last response; 0: none
	Answer   string    `json:"answer,omitempty"`   // result of the last attempt, one sentence
	Endpoint string    `json:"endpoint,omitempty"` // endpoint of the last attempt
	LastAt   time.Time `json:"last_at,omitzero"`   // time of the last attempt
}

// SentQuery selects webmentions of a user. The newest post comes first; within a post, the rows are
// sorted by target.
type SentQuery struct {
	User        string
	Post        int64 // 0: of all posts
	BeforePost  int64 // post of the previous batch's last row, with AfterTarget as its target; 0: first batch
	AfterTarget string
	Limit       int // maximum number of rows, up to 1,000; 0: 100
}

// SendStore is the database interface of sent webmentions. Each method is one transaction. When a
// method returns nil, its changes are on disk. Times are stored in milliseconds, UTC.
type SendStore interface {
	// ChangeSent calls change with all rows of a post, sorted by target, and replaces them by the
	// returned rows. It may call change several times; it stores only the result of the last call.
	ChangeSent(ctx context.Context, user string, post int64, change func(rows []Sent) []Sent) error
	// ClaimSent leases up to limit due rows, oldest first: it sets their DueAt to until and their
	// Lease to lease.
	ClaimSent(ctx context.Context, now, until time.Time, limit int, lease int64) ([]Sent, error)
	// NextSent returns when the next row is due; the zero time means that no row is due.
	NextSent(ctx context.Context) (time.Time, error)
	// SentMentions lists rows with a target.
	SentMentions(ctx context.Context, q SentQuery) ([]Sent, error)
	// TidySent deletes rows that are not due and whose post no longer exists.
	TidySent(ctx context.Context) error
}
