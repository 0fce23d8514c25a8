package conversation

import (
	"context"
	"time"
)

// Action decides what happens to a row.
type Action int

// Actions on a row.
const (
	Leave  Action = iota // unchanged
	Keep                 // store the changed row
	Delete               // delete the row
)

// Query selects mentions of a user, newest report first.
type Query struct {
	User   string
	State  State // "": all states except Unread
	Post   int64 // 0: all posts
	Before int64 // only mentions with a smaller ID; 0: all
	Limit  int   // maximum number of mentions, up to 1,000; 0: 100
}

// Store is the database interface of conversations. Each method is one transaction. When a method
// returns nil, its changes are on disk. Times are stored in milliseconds, UTC.
type Store interface {
	// ReceiveMention stores a reported mention, which is due at DueAt. If a mention with the same
	// User, Post and Source exists, it becomes due again, gets the new Target as its Reported unless it
	// equals its Target, keeps its state and loses its lease.
	// fault.TooMany: the user already has limit undecided mentions.
	ReceiveMention(ctx context.Context, m Mention, limit int) error
	// Mention returns a mention of a user. fault.NotFound: the mention does not exist.
	Mention(ctx context.Context, user string, id int64) (Mention, error)
	// Mentions lists mentions.
	Mentions(ctx context.Context, q Query) ([]Mention, error)
	// CountMentions returns the number of a user's mentions in each state.
	CountMentions(ctx context.Context, user string) (map[State]int, error)
	// ClaimMentions leases up to limit due rows, oldest first: it sets their DueAt to until and their
	// Lease to lease.
	ClaimMentions(ctx context.Context, now, until time.Time, limit int, lease int64) ([]Mention, error)
	// NextMention returns when the next row is due; the zero time means that no row is due.
	NextMention(ctx context.Context) (time.Time, error)
	// ChangeMention changes a mention of a user. It calls change with the row and the rules of the
	// user. It may call change several times; it stores only the result of the last call.
	// fault.NotFound: the mention does not exist.
	ChangeMention(ctx context.Context, user string, id int64, change func(m *Mention, rules []Rule) (Action, error)) error
	// MentionRules lists the rules of a user, newest first.
	MentionRules(ctx context.Context, user string) ([]Rule, error)
	// SetMentionRule stores a rule and replaces a rule with the same Host and Author. It also changes
	// the mentions that the rule matches by Host and Author: Trust approves waiting mentions, and
	// Block rejects all. SetMentionRule sets their Was and DecidedAt for UndoMentions. An empty
	// Verdict deletes the rule and changes no mention. fault.TooMany: the user already has limit
	// rules.
	SetMentionRule(ctx context.Context, user string, r Rule, limit int) error
	// UndoMentions restores the previous state of the mentions that were decided at a time, and
	// deletes the rule that was created at that time. It returns the number of changed rows.
	UndoMentions(ctx context.Context, user string, at time.Time) (undone int, err error)
	// TidyMentions deletes mentions of posts that no longer exist, and rejected mentions that were
	// first reported before a time.
	TidyMentions(ctx context.Context, before time.Time) error
}
