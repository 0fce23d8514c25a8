package conversation

import (
	"context"
	"time"
)

// Action decides what happens to a row.
type Action int

// Actions.
const (
	Leave  Action = iota // unchanged
	Keep                 // store the changed row
	Delete               // delete the row
)

// Query selects mentions of a user, newest report first.
type Query struct {
	User   string
	State  State // "": all but Unread
	Post   int64 // 0: of all posts
	Before int64 // only IDs below; 0: all
	Limit  int   // at most 1,000; 0 means 100
}

// Store is the database interface of conversations. Each method is one transaction, which is on
// disk when it returns nil. Times are stored in milliseconds, UTC.
type Store interface {
	// ReceiveMention stores a reported mention, which is due at DueAt. A mention with the same
	// User, Post and Source becomes due again and keeps its state; a lease on it ends.
	// fault.TooMany: the user has undecided mentions up to limit already.
	ReceiveMention(ctx context.Context, m Mention, limit int) error
	// Mention returns a mention of a user; fault.NotFound.
	Mention(ctx context.Context, user string, id int64) (Mention, error)
	// Mentions lists mentions.
	Mentions(ctx context.Context, q Query) ([]Mention, error)
	// CountMentions returns the numbers of mentions of a user by state.
	CountMentions(ctx context.Context, user string) (map[State]int, error)
	// ClaimMentions claims up to limit due rows, oldest first: it sets their DueAt to until and
	// their Lease to lease.
	ClaimMentions(ctx context.Context, now, until time.Time, limit int, lease int64) ([]Mention, error)
	// NextMention returns when the next row is due, or the zero time.
	NextMention(ctx context.Context) (time.Time, error)
	// ChangeMention changes a mention of a user. change gets the row and the rules of the user, and
	// may be called several times; only the result of the last call is stored. fault.NotFound.
	ChangeMention(ctx context.Context, user string, id int64, change func(m *Mention, rules []Rule) (Action, error)) error
	// MentionRules lists the rules of a user, newest first.
	MentionRules(ctx context.Context, user string) ([]Rule, error)
	// SetMentionRule stores a rule in place of one with the same Host and Author, and changes the
	// state of the mentions that it matches by Host and Author: Trust approves waiting ones, Block
	// rejects all. It sets their Was and DecidedAt for UndoMentions. An empty Verdict deletes the rule and changes no mention. fault.TooMany: the user
	// has limit rules.
	SetMentionRule(ctx context.Context, user string, r Rule, limit int) error
	// UndoMentions returns the mentions that were decided at a time to the state before, and deletes
	// the rule that was made then. It returns the number of changed rows.
	UndoMentions(ctx context.Context, user string, at time.Time) (undone int, err error)
	// TidyMentions deletes mentions of posts that no longer exist, and rejected ones that were
	// reported before a time.
	TidyMentions(ctx context.Context, before time.Time) error
}
