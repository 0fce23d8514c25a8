package client

import "time"

// Source is a feed that a user follows.
type Source struct {
	ID         int64    `json:"id,string"`
	URL        string   `json:"url"`                  // current URL of the feed
	Title      string   `json:"title"`                // displayed title: OwnTitle, otherwise FeedTitle, otherwise URL
	OwnTitle   string   `json:"own_title,omitempty"`  // title chosen by the user
	FeedTitle  string   `json:"feed_title,omitempty"` // title in the feed
	Categories []string `json:"categories"`
	Interval   int64    `json:"interval_s,omitempty"` // seconds between checks that the user chose; 0: not set
	FullText   bool     `json:"full_text,omitempty"`  // the server reads the full text of new items from their pages
	ListID     int64    `json:"list_id,string,omitempty"`
	Login      *Login   `json:"login,omitempty"` // login for the feed's server; nil: no login
	Private    bool     `json:"private"`         // other users never see the feed: it has a login, or its URL contains a secret

	Description string `json:"description,omitempty"`
	Home        string `json:"home,omitempty"` // URL of the feed's home page
	Icon        string `json:"icon,omitempty"`
	Language    string `json:"language,omitempty"`
	Format      string `json:"format,omitempty"`
	Repaired    string `json:"mended,omitempty"` // syntax errors of the last document that the server repaired

	// State is "new" before the first read, "ok", "failing" or "gone". The server no longer reads a
	// feed that is gone.
	State     string     `json:"state"`
	Reading   bool       `json:"reading"`            // the feed is being read now
	Push      bool       `json:"push"`               // a hub reliably notifies the server of changes
	Problem   string     `json:"problem,omitempty"`  // reason for the state failing or gone
	Failures  int        `json:"failures,omitempty"` // number of consecutive failed checks
	Moved     *Move      `json:"moved,omitempty"`    // last change of the feed's URL
	AddedAt   time.Time  `json:"added_at"`           // time when the user added the feed
	CheckedAt *time.Time `json:"checked_at,omitempty"`
	ChangedAt *time.Time `json:"changed_at,omitempty"`
	NewestAt  *time.Time `json:"newest_at,omitempty"` // date of the newest item
	NextAt    *time.Time `json:"next_at,omitempty"`   // time of the next check
	Why       string     `json:"why,omitempty"`       // reason for NextAt
	Items     int64      `json:"items"`               // number of stored items
	Readers   int64      `json:"readers"`             // number of users of this server who follow the feed
	Unread    *int64     `json:"unread,omitempty"`    // number of unread items; nil: not requested
}

// Login has the credentials for the server of a feed.
type Login struct {
	Kind   string `json:"kind"`             // method: basic, token, wsse or header
	Name   string `json:"name,omitempty"`   // name of the user (basic, wsse) or of the header
	Secret string `json:"secret,omitempty"` // password or token; set only in requests
}

// Move is a change of a feed's URL.
type Move struct {
	From string    `json:"from"`
	To   string    `json:"to"`
	At   time.Time `json:"at"`
	Why  string    `json:"why,omitempty"` // cause, such as 301 or redirect
}

// SourceRequest names the feed to follow.
type SourceRequest struct {
	URL        string   `json:"url"` // URL of a feed, or of a page that links to feeds
	Title      string   `json:"title,omitempty"`
	Categories []string `json:"categories,omitempty"`
	Interval   int64    `json:"interval_s,omitempty"`
	Login      *Login   `json:"login,omitempty"`
	First      bool     `json:"first,omitempty"` // follow the first feed if the page has several feeds
}

// AddedSource is the result of a SourceRequest: the source, or the feeds that the user can choose
// from.
type AddedSource struct {
	New     bool     `json:"new"` // the user did not follow the feed before
	Source  *Source  `json:"source,omitempty"`
	Choices []Choice `json:"choices,omitempty"` // set if nothing was added; repeat the request with one of these URLs
}

// Choice is one feed of a page with several feeds.
type Choice struct {
	URL    string `json:"url"`
	Title  string `json:"title,omitempty"`
	Format string `json:"format,omitempty"`
	Kind   string `json:"kind,omitempty"` // kind of the feed, such as feed or comments
}

// SourceChange changes the settings of a source. A nil field is not changed.
type SourceChange struct {
	Title      *string   `json:"title,omitempty"` // title to display; "": the title in the feed
	Categories *[]string `json:"categories,omitempty"`
	Interval   *int64    `json:"interval_s,omitempty"` // seconds between checks; 0: no interval
	FullText   *bool     `json:"full_text,omitempty"`  // whether the server reads the full text of new items from their pages
	Login      *Login    `json:"login,omitempty"`      // new login; Kind "" removes the login
	CNWS       *string   `json:"cnws,omitempty"`       // endpoint of a CNWS hub; "": no hub; only the operator can change it
}

// SourceQuery selects sources. A zero field does not restrict the result.
type SourceQuery struct {
	Match    string // text that the URL or the title contains, case-insensitive
	Category string
	Broken   bool // selects only sources that are failing, gone or moved
	Unread   bool // also counts unread items, which takes longer
	Limit    int  // maximum number of sources; 0 means all
}

// RefreshedSources is the result of a request to read all sources.
type RefreshedSources struct {
	Due     int `json:"due"`     // number of sources that the server reads now
	Sources int `json:"sources"` // number of all followed sources
}

// Item is one entry of a feed as seen by a user. Texts are plain text, and HTML is sanitized.
type Item struct {
	ID          int64      `json:"id,string"`
	Seq         int64      `json:"seq,string"` // increases with every new or changed item of the server, in microseconds
	At          time.Time  `json:"at"`         // time that determines the position in the river
	ReadAt      time.Time  `json:"fetched_at"` // time when the server read the item from the feed
	EditedAt    *time.Time `json:"edited_at,omitempty"`
	WithdrawnAt *time.Time `json:"withdrawn_at,omitempty"` // time when the item disappeared from the feed; nil: it is still in the feed
	GUID        string     `json:"guid,omitempty"`
	Content
	FullText  bool       `json:"full_text,omitempty"` // HTML is the full text from the item's page, not the text in the feed
	Read      bool       `json:"read"`
	Starred   bool       `json:"starred"`
	StarredAt *time.Time `json:"starred_at,omitempty"`
	Source    ItemSource `json:"source"`
}

// Content is the content of an item.
type Content struct {
	Title      string      `json:"title,omitempty"` // title of the item; "": the item has no title
	Link       string      `json:"link,omitempty"`
	HTML       string      `json:"html,omitempty"`
	Text       string      `json:"text,omitempty"` // text of the item without markup, truncated after some thousand characters
	Language   string      `json:"language,omitempty"`
	Published  *time.Time  `json:"published,omitempty"` // date of the item in the feed
	Updated    *time.Time  `json:"updated,omitempty"`
	Authors    []string    `json:"authors,omitempty"`
	Categories []string    `json:"categories,omitempty"` // categories of the item in the feed
	Enclosures []Enclosure `json:"enclosures,omitempty"`
	Image      string      `json:"image,omitempty"`
	Comments   string      `json:"comments,omitempty"`
	InReplyTo  string      `json:"in_reply_to,omitempty"`
	Via        string      `json:"via,omitempty"` // title of the feed that the item was copied from
	Nested     []Content   `json:"nested,omitempty"`
	More       bool        `json:"more,omitempty"` // the feed contains only a summary of the item
}

// Enclosure is a file attached to an item.
type Enclosure struct {
	URL      string  `json:"url"`
	Type     string  `json:"type,omitempty"`
	Length   int64   `json:"length,omitempty"`     // size in bytes
	Duration float64 `json:"duration_s,omitempty"` // length of a recording in seconds
	Title    string  `json:"title,omitempty"`
}

// ItemSource describes the source of an item.
type ItemSource struct {
	ID         int64    `json:"id,string"`
	Title      string   `json:"title"`
	URL        string   `json:"url"`
	Home       string   `json:"home,omitempty"`
	Icon       string   `json:"icon,omitempty"`
	Categories []string `json:"categories"` // categories that the user assigned to the source
	Private    bool     `json:"private"`
}

// ItemQuery selects items. A zero field does not restrict the result.
type ItemQuery struct {
	Source   string // ID or URL of a source
	Category string
	Starred  bool
	Unread   bool
	Match    string // words that an item must contain; also "a phrase", -word, feed:…, category:…
	From, To time.Time
	Since    int64 // selects items that are new or changed after this Seq, sorted by Seq
	Oldest   bool  // sorts the items oldest first
	Limit    int   // maximum number of items; 0 means all
}

// ItemEvent is a new or changed item.
type ItemEvent struct {
	Kind string // kind of the event: new, edited or withdrawn
	Item Item
}

// MarkRequest marks items. A nil field is not changed.
type MarkRequest struct {
	IDs     []ID  `json:"ids"` // IDs of the items, at most 1,000
	Read    *bool `json:"read,omitempty"`
	Starred *bool `json:"starred,omitempty"`
}

// ReadRequest marks all items up to a time as read: in one source, in one category, or in the whole
// river.
type ReadRequest struct {
	Source   string     `json:"source,omitempty"` // ID or URL of a source
	Category string     `json:"category,omitempty"`
	To       *time.Time `json:"to,omitempty"` // time up to which items are marked; nil: now
}

// Category is a user's category of sources.
type Category struct {
	Name    string `json:"name"`
	Public  bool   `json:"public"` // whether the river, the feed and the list of the category are public
	Sources int64  `json:"sources"`
	Unread  *int64 `json:"unread,omitempty"` // number of unread items; nil: not requested
}

// CategoryChange creates or changes a category. A nil field is not changed.
type CategoryChange struct {
	Public *bool   `json:"public,omitempty"`
	Name   *string `json:"name,omitempty"` // new name; if another category has the name, the categories are merged
}

// List is a reading list: a followed OPML document whose feeds the user follows too.
type List struct {
	ID       int64      `json:"id,string"`
	URL      string     `json:"url"`
	Title    string     `json:"title,omitempty"`
	Category string     `json:"category,omitempty"` // category assigned to the feeds of the list
	Feeds    int        `json:"feeds"`
	ReadAt   *time.Time `json:"read_at,omitempty"`
	NextAt   *time.Time `json:"next_at,omitempty"`
	Problem  string     `json:"problem,omitempty"` // reason why the list could not be read
}

// OPMLOptions are the options of an OPML import. If URL is "", the request contains the document.
type OPMLOptions struct {
	URL      string
	Category string // additional category for each imported feed
	Follow   bool   // follow the URL as a list instead of importing it once
	Progress func(done, total int)
}

// ImportedOPML is the result of an OPML import.
type ImportedOPML struct {
	Title     string   `json:"title,omitempty"`
	Found     int      `json:"found"`      // number of feeds in the document
	Added     int      `json:"added"`      // number of added feeds
	Existing  int      `json:"had"`        // number of feeds that the user already followed
	OverLimit int      `json:"over_limit"` // number of feeds that were not added, because the user follows Limit feeds
	Limit     int      `json:"limit"`      // maximum number of feeds per user
	Lists     int      `json:"lists"`      // number of reading lists that the user follows now
	Skipped   int      `json:"skipped"`    // number of feeds without a valid URL
	Problems  []string `json:"problems,omitempty"`
}

// Forwarding sends new items of a user's feeds to another program, mailbox or blog.
type Forwarding struct {
	ID        int64      `json:"id,string"`
	SourceID  int64      `json:"source_id,string,omitempty"`
	Category  string     `json:"category,omitempty"`
	Via       string     `json:"via"`    // kind of recipient: webhook, email, post or mastodon
	Target    string     `json:"target"` // URL or e-mail address of the recipient
	Signed    bool       `json:"signed"` // messages are signed with a secret
	Paused    bool       `json:"paused"`
	CreatedAt time.Time  `json:"created_at"`
	Sent      int64      `json:"sent"` // number of sent messages
	LastAt    *time.Time `json:"last_at,omitempty"`
	Failures  int        `json:"failures,omitempty"` // number of consecutive failed messages
	Problem   string     `json:"problem,omitempty"`
	State     string     `json:"state"`                // state: waiting (for the recipient's consent), confirmed, or ended (by the recipient)
	AskedAt   *time.Time `json:"asked_at,omitempty"`   // time of the last request for the recipient's consent
	DecidedAt *time.Time `json:"decided_at,omitempty"` // time when the recipient confirmed or ended the forwarding
	Digest    string     `json:"digest,omitempty"`     // daily or weekly: the items of the period are sent in one e-mail; "": each item is sent at once
}

// ForwardingRequest creates a forwarding. If ID is set, it changes the forwarding with this ID.
type ForwardingRequest struct {
	ID       int64   `json:"id,string,omitempty"`
	Source   string  `json:"source,omitempty"` // ID or URL of a source; "": every source
	Category string  `json:"category,omitempty"`
	Via      string  `json:"via"`
	Target   string  `json:"target"`
	Secret   *string `json:"secret,omitempty"` // secret that signs messages; nil: not changed
	Paused   bool    `json:"paused,omitempty"`
	Digest   *string `json:"digest,omitempty"` // for e-mail: daily, weekly or "" (each item at once); nil: not changed
}

// FilterCondition compares a field of an item with some values. An item matches if the comparison
// succeeds with one of the values.
type FilterCondition struct {
	Field  string   `json:"field"` // field of the item: any (title or text), title, text, author, category or link
	Op     string   `json:"op"`    // comparison: contains, word or regexp
	Not    bool     `json:"not,omitempty"`
	Values []string `json:"values"`
}

// FilterActions are the actions of a filter on new items that match.
type FilterActions struct {
	Hide    bool  `json:"hide,omitempty"`
	Read    bool  `json:"read,omitempty"`
	Star    bool  `json:"star,omitempty"`
	Forward int64 `json:"forward,string,omitempty"` // ID of a forwarding that sends the item
}

// Filter is a rule for new items of a user's feeds. It applies to the items that match all
// conditions.
type Filter struct {
	ID         int64             `json:"id,string"`
	Name       string            `json:"name,omitempty"`
	SourceID   int64             `json:"source_id,string,omitempty"`
	Category   string            `json:"category,omitempty"`
	Conditions []FilterCondition `json:"conditions"`
	FilterActions
	Off       bool       `json:"off,omitempty"`
	Matched   int64      `json:"matched"` // number of items that the filter has matched
	LastAt    *time.Time `json:"last_at,omitempty"`
	Applying  bool       `json:"applying,omitempty"` // the server is applying the filter to existing items
	Applied   int64      `json:"applied,omitempty"`  // number of existing items that were compared
	CreatedAt time.Time  `json:"created_at"`
}

// FilterRequest creates a filter. If ID is set, it changes the filter with this ID.
type FilterRequest struct {
	ID         int64             `json:"id,string,omitempty"`
	Name       string            `json:"name,omitempty"`
	Source     string            `json:"source,omitempty"` // ID or URL of a source; "": every source
	Category   string            `json:"category,omitempty"`
	Conditions []FilterCondition `json:"conditions"`
	FilterActions
	Off   bool `json:"off,omitempty"`
	Apply bool `json:"apply,omitempty"` // apply the filter to existing items too
}

// FilterPreview contains the existing items that a filter matches.
type FilterPreview struct {
	Compared int           `json:"compared"` // number of items that were compared
	Matched  []FilterMatch `json:"matched"`
}

// FilterMatch is an item that a filter matches.
type FilterMatch struct {
	ID       int64  `json:"id,string"`
	SourceID int64  `json:"source_id,string"`
	Title    string `json:"title,omitempty"`
	Link     string `json:"link,omitempty"`
}

// RiverStatus describes the state of a river.
type RiverStatus struct {
	Sources int64        `json:"sources"`          // number of followed feeds
	Unread  int64        `json:"unread"`           // number of unread items
	Seq     int64        `json:"seq,string"`       // Seq of the newest item or change; 0: the river has no items
	Live    *RiverLive   `json:"live,omitempty"`   // activity of the whole server; only for the operator
	Counts  *RiverCounts `json:"counts,omitempty"` // numbers of the whole server; only for the operator
}

// RiverLive describes the current activity of the aggregator for all users together.
type RiverLive struct {
	Reading   int   `json:"reading"` // number of documents that are being read
	Waiting   int   `json:"waiting"`
	Listening int   `json:"listening"` // number of open live pages and streams
	Checks    int64 `json:"checks"`    // number of checks since the start of the process
	Unchanged int64 `json:"unchanged"`
	Failed    int64 `json:"failed"`
	Delivered int64 `json:"delivered"` // number of documents that hubs pushed
	New       int64 `json:"new"`       // number of new items
	Edited    int64 `json:"edited"`
	Withdrawn int64 `json:"withdrawn"`
}

// RiverCounts has the numbers of feeds in the aggregator for all users together.
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
