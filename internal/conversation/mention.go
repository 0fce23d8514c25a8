package conversation

import (
	"strings"
	"time"
)

// Kind is the relation of a page to the post that it links to.
type Kind string

// Kinds of mentions.
const (
	Reply    Kind = "reply"
	Like     Kind = "like"
	Repost   Kind = "repost"
	Bookmark Kind = "bookmark"
	Link     Kind = "mention" // a link without a stated reason
)

// State is the state of a mention.
type State string

// States of a mention.
const (
	Unread   State = "unread"   // reported, but the page was not read yet
	Waiting  State = "waiting"  // read, but the author of the post has not decided yet
	Approved State = "approved" // public
	Rejected State = "rejected" // not public; the row is kept so that a repeated report has no effect
)

// Mention is a page of another site that links to a post.
type Mention struct {
	ID     int64
	User   string // author of the post
	Post   int64  // number of the post
	Source string // URL of the page, as reported
	Target string // URL of the post to which Source links; in the state Unread, as first reported
	// Reported is the Target of the latest report after the first. If Source links to Reported but not
	// to Target, it becomes the Target. "": no later report since the last read.
	Reported string
	State    State
	Host     string // host of Source
	// Author is the URL by which the page names its author; "": none. A page can name any author, so
	// only Host and Author together identify an author.
	Author     string
	ReceivedAt time.Time // time of the first report
	DueAt      time.Time // when the page is read next; for a leased row, the end of the lease; zero: never
	Tries      int       // failed attempts in a row
	Lease      int64     // number of the lease; 0: not leased
	Was        State     // state before the last decision; "": none
	DecidedAt  time.Time // time of the last decision; zero: none
	Content
}

// Content is the content of a page. It is stored as JSON. All texts are plain text.
type Content struct {
	Kind        Kind      `json:"kind,omitempty"`
	Name        string    `json:"name,omitempty"`  // name of the author
	Title       string    `json:"title,omitempty"` // title of the page
	Text        string    `json:"text,omitempty"`
	PublishedAt time.Time `json:"published_at,omitzero"`
	ReadAt      time.Time `json:"read_at,omitzero"` // time of the last successful read
	FinalURL    string    `json:"-"`                // only in the result of [Reader]: URL of the page after redirects; "": the source
}

// same reports whether c and d look the same below the post.
func (c Content) same(d Content) bool {
	c.ReadAt = d.ReadAt
	return c == d
}

// Verdict is the action of a rule for mentions.
type Verdict string

// Verdicts of rules.
const (
	Trust Verdict = "trust" // approve at once
	Block Verdict = "block" // reject
)

// EveryAuthor is the Author of a rule about a whole host.
const EveryAuthor = "*"

// Rule decides about the mentions of one author, or of one host, for a user.
type Rule struct {
	Host    string
	Author  string // see Mention.Author; EveryAuthor: all authors of the host
	Name    string // name to display
	Verdict Verdict
	At      time.Time // when the user created the rule
}

// matches reports whether the rule applies to the author or the host of m. A rule about a host
// applies to its subdomains only if the rule blocks.
func (r Rule) matches(m *Mention) bool {
	if r.Author != EveryAuthor {
		return r.Host == m.Host && r.Author == m.Author
	}
	return r.Host == m.Host || r.Verdict == Block && strings.HasSuffix(m.Host, "."+r.Host)
}
