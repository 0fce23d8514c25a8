package client

import "time"

// Source is a feed that somebody follows.
type Source struct {
	ID         int64    `json:"id,string"`
	URL        string   `json:"url"`                  // where it is read now
	Title      string   `json:"title"`                // what it is called: OwnTitle, else FeedTitle, else URL
	OwnTitle   string   `json:"own_title,omitempty"`  // by who follows it
	FeedTitle  string   `json:"feed_title,omitempty"` // by itself
	Categories []string `json:"categories"`
	Interval   int64    `json:"interval_s,omitempty"` // seconds between checks, by who follows it; 0: none was asked for
	ListID     int64    `json:"list_id,string,omitempty"`
	Login      *Login   `json:"login,omitempty"` // what its server wants to see; nil: nothing
	Private    bool     `json:"private"`         // for those only who gave its login

	Description string `json:"description,omitempty"`
	Home        string `json:"home,omitempty"` // URL of its page
	Icon        string `json:"icon,omitempty"`
	Language    string `json:"language,omitempty"`
	Format      string `json:"format,omitempty"`
	Repaired    string `json:"mended,omitempty"` // what was wrong with its last document

	// State is "new" before it was read for the first time, "ok", "failing", or "gone":
	// then it is not read any more.
	State     string     `json:"state"`
	Reading   bool       `json:"reading"`            // it is being read now
	Push      bool       `json:"push"`               // a hub tells of its changes, and can be trusted
	Problem   string     `json:"problem,omitempty"`  // why it is failing or gone
	Failures  int        `json:"failures,omitempty"` // in a row
	Moved     *Move      `json:"moved,omitempty"`    // the last time that it moved
	AddedAt   time.Time  `json:"added_at"`           // it was followed
	CheckedAt *time.Time `json:"checked_at,omitempty"`
	ChangedAt *time.Time `json:"changed_at,omitempty"`
	NewestAt  *time.Time `json:"newest_at,omitempty"` // item
	NextAt    *time.Time `json:"next_at,omitempty"`   // check
	Why       string     `json:"why,omitempty"`       // of NextAt
	Items     int64      `json:"items"`               // that are kept
	Readers   int64      `json:"readers"`             // who follow it here
	Unread    *int64     `json:"unread,omitempty"`    // when it was asked for
}

// Login is what the server of a feed wants to see.
type Login struct {
	Kind   string `json:"kind"`             // basic, token, wsse, header
	Name   string `json:"name,omitempty"`   // of the user (basic, wsse) or of the header
	Secret string `json:"secret,omitempty"` // in requests only
}

// Move is an address that a feed had before.
type Move struct {
	From string    `json:"from"`
	To   string    `json:"to"`
	At   time.Time `json:"at"`
	Why  string    `json:"why,omitempty"` // 301, redirect …
}

// SourceRequest says what to follow.
type SourceRequest struct {
	URL        string   `json:"url"` // of a feed, or of a page that has feeds
	Title      string   `json:"title,omitempty"`
	Categories []string `json:"categories,omitempty"`
	Interval   int64    `json:"interval_s,omitempty"`
	Login      *Login   `json:"login,omitempty"`
	First      bool     `json:"first,omitempty"` // take the first feed of a page that has several
}

// AddedSource is what came of a SourceRequest: a source, or the feeds to choose from.
type AddedSource struct {
	New     bool     `json:"new"` // it was not followed before
	Source  *Source  `json:"source,omitempty"`
	Choices []Choice `json:"choices,omitempty"` // nothing was added: ask with one of them
}

// Choice is a feed of a page that has several.
type Choice struct {
	URL    string `json:"url"`
	Title  string `json:"title,omitempty"`
	Format string `json:"format,omitempty"`
	Kind   string `json:"kind,omitempty"` // feed, comments …
}

// SourceChange changes how a source is followed. What is nil stays.
type SourceChange struct {
	Title      *string   `json:"title,omitempty"` // "": the feed's own
	Categories *[]string `json:"categories,omitempty"`
	Interval   *int64    `json:"interval_s,omitempty"` // 0: none
	Login      *Login    `json:"login,omitempty"`      // Kind "": none any more
	CNWS       *string   `json:"cnws,omitempty"`       // door of a CNWS hub, for the operator to name; "": none any more
}

// SourceQuery selects sources. Zero fields do not restrict.
type SourceQuery struct {
	Match    string // part of the URL or of the title, case-insensitive
	Category string
	Broken   bool // only those that are failing, gone or moved
	Unread   bool // count what is unread, which takes longer
	Limit    int  // most sources in all; 0: every one
}

// Item is one entry of a feed, as its reader has it. Texts are plain, and HTML is safe
// to show.
type Item struct {
	ID          int64      `json:"id,string"`
	Seq         int64      `json:"seq,string"` // grows with every item that comes or changes
	At          time.Time  `json:"at"`         // its place in the river
	ReadAt      time.Time  `json:"fetched_at"` // when the feed was read that brought it
	EditedAt    *time.Time `json:"edited_at,omitempty"`
	WithdrawnAt *time.Time `json:"withdrawn_at,omitempty"` // its author took it out of the feed
	GUID        string     `json:"guid,omitempty"`
	Content
	Read      bool       `json:"read"`
	Starred   bool       `json:"starred"`
	StarredAt *time.Time `json:"starred_at,omitempty"`
	Source    ItemSource `json:"source"`
}

// Content is what an item says.
type Content struct {
	Title      string      `json:"title,omitempty"` // "": it has none
	Link       string      `json:"link,omitempty"`
	HTML       string      `json:"html,omitempty"`
	Text       string      `json:"text,omitempty"` // the words of HTML, cut after some thousands
	Language   string      `json:"language,omitempty"`
	Published  *time.Time  `json:"published,omitempty"` // as the feed says
	Updated    *time.Time  `json:"updated,omitempty"`
	Authors    []string    `json:"authors,omitempty"`
	Categories []string    `json:"categories,omitempty"` // the feed's
	Enclosures []Enclosure `json:"enclosures,omitempty"`
	Image      string      `json:"image,omitempty"`
	Comments   string      `json:"comments,omitempty"`
	InReplyTo  string      `json:"in_reply_to,omitempty"`
	Via        string      `json:"via,omitempty"` // title of the feed that it was taken from
	Nested     []Content   `json:"nested,omitempty"`
	More       bool        `json:"more,omitempty"` // the feed has only a summary of it
}

// Enclosure is a file that belongs to an item.
type Enclosure struct {
	URL      string  `json:"url"`
	Type     string  `json:"type,omitempty"`
	Length   int64   `json:"length,omitempty"`     // bytes
	Duration float64 `json:"duration_s,omitempty"` // seconds
	Title    string  `json:"title,omitempty"`
}

// ItemSource is what an item says of its source.
type ItemSource struct {
	ID         int64    `json:"id,string"`
	Title      string   `json:"title"`
	URL        string   `json:"url"`
	Home       string   `json:"home,omitempty"`
	Icon       string   `json:"icon,omitempty"`
	Categories []string `json:"categories"` // the reader's
	Private    bool     `json:"private"`
}

// ItemQuery selects items. Zero fields do not restrict.
type ItemQuery struct {
	Source   string // ID or URL
	Category string
	Starred  bool
	Unread   bool
	Match    string // words that must all occur; "a phrase", -word, feed:…, category:…
	From, To time.Time
	Since    int64 // only what came or changed after this Seq, in that order
	Oldest   bool  // oldest first
	Limit    int   // most items in all; 0: every one
}

// ItemEvent is an item that came or changed.
type ItemEvent struct {
	Kind string // new, edited, withdrawn
	Item Item
}

// MarkRequest marks items. What is nil stays.
type MarkRequest struct {
	IDs     []ID  `json:"ids"` // at most 1,000
	Read    *bool `json:"read,omitempty"`
	Starred *bool `json:"starred,omitempty"`
}

// ReadRequest marks everything up to a moment as read: of a source, of a category, or
// all there is.
type ReadRequest struct {
	Source   string     `json:"source,omitempty"` // ID or URL
	Category string     `json:"category,omitempty"`
	To       *time.Time `json:"to,omitempty"` // nil: now
}

// Category is one of a reader's.
type Category struct {
	Name    string `json:"name"`
	Public  bool   `json:"public"` // everybody may read its river, its feed and its list
	Sources int64  `json:"sources"`
	Unread  *int64 `json:"unread,omitempty"` // when it was asked for
}

// CategoryChange makes a category, or changes it. What is nil stays.
type CategoryChange struct {
	Public *bool   `json:"public,omitempty"`
	Name   *string `json:"name,omitempty"` // another name; that of an existing one merges them
}

// List is an OPML document at a URL that is followed as a whole.
type List struct {
	ID       int64      `json:"id,string"`
	URL      string     `json:"url"`
	Title    string     `json:"title,omitempty"`
	Category string     `json:"category,omitempty"` // what its feeds are put into
	Feeds    int        `json:"feeds"`
	ReadAt   *time.Time `json:"read_at,omitempty"`
	NextAt   *time.Time `json:"next_at,omitempty"`
	Problem  string     `json:"problem,omitempty"` // why it could not be read
}

// OPMLOptions of an import. Without URL, the document travels with the request.
type OPMLOptions struct {
	URL      string
	Category string // everything is put into it besides
	Follow   bool   // follow the URL as a list, instead of taking it over once
	Progress func(done, total int)
}

// ImportedOPML is what came of an import.
type ImportedOPML struct {
	Title     string   `json:"title,omitempty"`
	Found     int      `json:"found"`      // feeds in the document
	Added     int      `json:"added"`      // that were not followed
	Existing  int      `json:"had"`        // that were
	OverLimit int      `json:"over_limit"` // that were not added, because Limit feeds are followed
	Limit     int      `json:"limit"`      // feeds that the user may follow
	Lists     int      `json:"lists"`      // that are followed now
	Skipped   int      `json:"skipped"`    // without a usable address
	Problems  []string `json:"problems,omitempty"`
}

// Notice is that somebody is told elsewhere of what arrives.
type Forwarding struct {
	ID        int64      `json:"id,string"`
	SourceID  int64      `json:"source_id,string,omitempty"`
	Category  string     `json:"category,omitempty"`
	Via       string     `json:"via"`    // webhook, email, post
	Target    string     `json:"target"` // URL or e-mail address
	Signed    bool       `json:"signed"` // there is a secret
	Paused    bool       `json:"paused"`
	CreatedAt time.Time  `json:"created_at"`
	Sent      int64      `json:"sent"` // messages
	LastAt    *time.Time `json:"last_at,omitempty"`
	Failures  int        `json:"failures,omitempty"` // in a row
	Problem   string     `json:"problem,omitempty"`
	State     string     `json:"state"`                // waiting (for consent), confirmed, ended (by the recipient)
	AskedAt   *time.Time `json:"asked_at,omitempty"`   // when the recipient was last asked for consent
	DecidedAt *time.Time `json:"decided_at,omitempty"` // when the recipient confirmed or ended it
}

// NoticeRequest makes a notice, or changes the one with its ID.
type ForwardingRequest struct {
	ID       int64   `json:"id,string,omitempty"`
	Source   string  `json:"source,omitempty"` // ID or URL; "": any
	Category string  `json:"category,omitempty"`
	Via      string  `json:"via"`
	Target   string  `json:"target"`
	Secret   *string `json:"secret,omitempty"` // nil: as it was
	Paused   bool    `json:"paused,omitempty"`
}

// RiverStatus is how a river is.
type RiverStatus struct {
	Sources int64        `json:"sources"`          // that are followed
	Unread  int64        `json:"unread"`           // items
	Seq     int64        `json:"seq,string"`       // of the newest item or change; 0: there is none
	Live    *RiverLive   `json:"live,omitempty"`   // of the whole server, for its operator
	Counts  *RiverCounts `json:"counts,omitempty"` // the same
}

// RiverLive is what the server reads, for all readers.
type RiverLive struct {
	Reading   int   `json:"reading"` // documents
	Waiting   int   `json:"waiting"`
	Listening int   `json:"listening"` // live pages and streams
	Checks    int64 `json:"checks"`    // since the start
	Unchanged int64 `json:"unchanged"`
	Failed    int64 `json:"failed"`
	Delivered int64 `json:"delivered"` // documents that hubs brought
	New       int64 `json:"new"`       // items
	Edited    int64 `json:"edited"`
	Withdrawn int64 `json:"withdrawn"`
}

// RiverCounts is the size of things, for all readers.
type RiverCounts struct {
	Sources       int64 `json:"sources"`
	Followed      int64 `json:"followed"`
	Due           int64 `json:"due"`
	Failing       int64 `json:"failing"`
	Gone          int64 `json:"gone"`
	Pushed        int64 `json:"pushed"`
	Items         int64 `json:"items"`
	Subscriptions int64 `json:"subscriptions"`
	Readers       int64 `json:"readers"`
}
