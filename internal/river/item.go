package river

import "time"

// Item is one entry of a feed, as it is shown.
type Item struct {
	ID       int64 // ItemID
	SourceID int64
	GUID     string
	Seq      int64     // grows with every item that comes or changes: what a live page has seen
	First    int64     // its Seq when it came, which stays: a number that apps may page by
	At       time.Time // its place in the river: when it came; of a feed's first reading, when it was published
	ReadAt   time.Time // of the check that brought it: items of one check are one group
	EditedAt time.Time // when its author changed what it shows; zero: never
	// WithdrawnAt is when its author took it out of the feed, although older items are
	// still in it; zero: never.
	WithdrawnAt time.Time
	Hash        int64 // of everything that the feed says about it
	Content
}

// Content is what an item says. HTML is safe to show; everything else is plain text or
// an http(s) URL, checked and bounded.
type Content struct {
	Title      string      `json:"title,omitempty"` // "": it has none
	Link       string      `json:"link,omitempty"`
	HTML       string      `json:"html,omitempty"` // the whole text
	Text       string      `json:"text,omitempty"` // the words of HTML, at most TextLongest bytes: for search and summaries
	Language   string      `json:"language,omitempty"`
	Published  time.Time   `json:"published,omitzero"` // as the feed says
	Updated    time.Time   `json:"updated,omitzero"`
	Authors    []string    `json:"authors,omitempty"`
	Categories []string    `json:"categories,omitempty"`
	Enclosures []Enclosure `json:"enclosures,omitempty"`
	Image      string      `json:"image,omitempty"` // URL, of an item that shows none in HTML
	Comments   string      `json:"comments,omitempty"`
	InReplyTo  string      `json:"inReplyTo,omitempty"`
	Via        string      `json:"via,omitempty"` // title of the feed that it was taken from
	Nested     []Content   `json:"nested,omitempty"`
	More       bool        `json:"more,omitempty"` // the feed has only a summary of it
}

// TextLongest bounds Content.Text, in bytes.
const TextLongest = 8 << 10

// Enclosure is a file that belongs to an item.
type Enclosure struct {
	URL      string  `json:"url"`
	Type     string  `json:"type,omitempty"`
	Length   int64   `json:"length,omitempty"`   // bytes; 0: not known
	Duration float64 `json:"duration,omitempty"` // seconds; 0: not known
	Title    string  `json:"title,omitempty"`
}

// Mark is what one reader did with an item.
type Mark struct {
	Read, Starred bool
	StarredAt     time.Time
}

// Entry is an item as one reader has it.
type Entry struct {
	Item
	Mark
	Source EntrySource
}

// EntrySource is what is shown of an item's source.
type EntrySource struct {
	ID         int64
	Title      string // the reader's own, else the feed's, else the URL
	URL        string
	Home       string
	Icon       string
	Categories []string // the reader's
	Private    bool
}

// Place is a position in a river: by At, then by ID. The zero Place is its newest end
// going down, its oldest going up.
type Place struct {
	At int64 // Unix milliseconds
	ID int64
}

// Place is where the item is.
func (it *Item) Place() Place { return Place{it.At.UnixMilli(), it.ID} }

// ItemQuery selects items of one reader's river. Zero fields do not restrict.
type ItemQuery struct {
	Reader     string // whose; an item of a source that the reader does not follow is found only when starred
	SourceID   int64
	Sources    []int64  // several, at most 1,000: an item of any of them
	Category   string   // of the reader's
	Categories []string // several: an item of any of them
	Starred    bool
	Unread     bool
	Read       bool
	Match      string    // words that must all occur, the last may be a beginning; "…" is a phrase, -word must not occur
	From, To   time.Time // At in [From, To)
	ChangedIn  int64     // Seq > this
	IDs        []int64   // these, at most 1,000
	Firsts     []int64   // those with these First, at most 1,000

	// FirstAfter and FirstBefore restrict to First in the open range between them; 0: no end.
	FirstAfter, FirstBefore int64

	Before  Place // older than this; with Oldest: newer than this
	Oldest  bool  // oldest first
	BySeq   bool  // in order of Seq (with Oldest: ascending), Before not considered
	ByFirst bool  // in order of First (with Oldest: ascending), Before not considered
	Bare    bool  // without Content but Title and Link: for lists of ids
	Limit   int   // at most 1,000 (10,000 when Bare); 0 means 50
}

// Arrival says that items came or changed.
type Arrival struct {
	SourceID int64
	Seq      int64 // of the last of them
	Items    []Arrived
}

// Arrived is one item of an Arrival.
type Arrived struct {
	ID  int64
	Seq int64
	New bool // else it was edited or withdrawn
}
