package river

import (
	"time"

	"cloudburst/feed/feedstate"
	"cloudburst/internal/river/item"
	"cloudburst/internal/text"
)

// Source is one feed that is read here, once for all who follow it.
type Source struct {
	ID    int64           // SourceID of the URL that it began with; with a Login a random one
	URL   string          // where it is read now; State.URL is the same
	Login Login           // what its server wants to see; the zero Login: nothing
	State feedstate.State // everything that the next check needs
	About About           // what the feed says of itself
	Doors []Door          // where it says that its changes can be heard of
	Topic string          // what it calls itself (rel=self); "": nothing
	Last  []Known         // the items of its last document, in their order

	Items     int64     // that are kept
	NewestAt  time.Time // At of the newest of them; zero: none
	Readers   int64     // who follow it; 0: it is not checked
	CreatedAt time.Time

	NextAt  time.Time // when it is due, or the end of the claim of who reads it; zero: never
	Claim   int64     // not 0: it is being read, and this is the fence
	HeardAt time.Time // a push came and what it announced was not read yet; zero: no
	Heard   string    // by which door it came
}

// Private reports a source whose content is for those only who gave its Login.
func (s *Source) Private() bool { return s.Login.Kind != "" }

// Name is what the source is called where its reader gave it no name of his own.
func (s *Source) Name() string {
	if s.About.Title != "" {
		return s.About.Title
	}
	return s.URL
}

// About is what a feed says of itself. Texts are plain and short.
type About struct {
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	Home        string `json:"home,omitempty"` // URL of its page
	Icon        string `json:"icon,omitempty"` // URL
	Language    string `json:"language,omitempty"`
	Format      string `json:"format,omitempty"`  // "RSS 2.0"
	Problem     string `json:"problem,omitempty"` // what was mended in the last document, for people
}

// Door is where and how a hub is asked to tell of changes: see upstream.Door.
type Door struct {
	Protocol  string `json:"protocol"` // rsscloud, websub, cnws
	Hub       string `json:"hub"`
	Wire      string `json:"wire,omitempty"`
	Procedure string `json:"procedure,omitempty"`
}

// Kinds of Login.
const (
	LoginBasic  = "basic"
	LoginToken  = "token" // Authorization: Bearer
	LoginWSSE   = "wsse"
	LoginHeader = "header"
)

// Login is what a feed's server wants to see.
type Login struct {
	Kind   string `json:"kind,omitempty"`   // one of the kinds; "": nothing
	Name   string `json:"name,omitempty"`   // user name (basic, wsse), or of the header
	Secret string `json:"secret,omitempty"` // sealed with River.Key, but in what readers hand in; never shown again
}

// SourceID is the id of the source at a URL that needs no Login: 63 bits of a hash,
// never 0. Who reads with a Login has a source of his own, with a random id.
func SourceID(url string) int64 { return text.ID(url) }

// ItemID is the id of the item of a source.
func ItemID(source int64, guid string) int64 { return item.ID(source, guid) }

// Check is what one check of a source came to: what "explain" shows.
type Check struct {
	At        time.Time         `json:"at"`
	Took      time.Duration     `json:"took_ns"`
	Cause     feedstate.Cause   `json:"cause,omitempty"`     // "": it was due
	Door      string            `json:"door,omitempty"`      // of a push
	Asked     string            `json:"asked,omitempty"`     // AskedConditionally, AskedInFull; "": nothing was asked
	AskedWhy  string            `json:"asked_why,omitempty"` // the feed was read in full, as a clause
	URL       string            `json:"url"`
	Status    int               `json:"status,omitempty"` // 0: no answer
	Outcome   feedstate.Outcome `json:"outcome"`
	Text      string            `json:"text"`          // the outcome in one sentence
	Next      time.Time         `json:"next,omitzero"` // what was decided
	Why       string            `json:"why,omitempty"` // of Next
	New       int               `json:"new,omitempty"` // items
	Edited    int               `json:"edited,omitempty"`
	Withdrawn int               `json:"withdrawn,omitempty"`
	Bytes     int               `json:"bytes,omitempty"` // of the body, decoded
	Sent      string            `json:"sent,omitempty"`  // request line and header; secrets left out
	Received  string            `json:"received,omitempty"`
	Hops      []feedstate.Hop   `json:"hops,omitempty"`
}

// How a check asked for the feed.
const (
	AskedConditionally = "conditional" // with the validators of an earlier answer
	AskedInFull        = "full"
)

// Host is what the feeds of one host were told: the store knows it by this name, for
// it knows no wire.
type Host = feedstate.Host

// Host is the name under which what is known of its host is kept.
func (s *Source) Host() string { return feedstate.HostOf(s.State.URL) }

// KeptChecks is how many checks of a source are kept.
const KeptChecks = 20
