package river

import (
	"net/http"
	"time"

	"cloudburst/feed"
	"cloudburst/feed/feedstate"
	"cloudburst/internal/fetch"
	"cloudburst/internal/river/item"
	"cloudburst/internal/river/location"
	"cloudburst/internal/text"
)

// Source is one feed that is read here, once for all who follow it.
type Source struct {
	ID            int64           // SourceID of the URL that it began with; with a Login a random one
	URL           string          // where it is read now; State.URL is the same
	Login         Login           // what its server wants to see; the zero Login: nothing
	State         feedstate.State // everything that the next check needs
	About         About           // what the feed says of itself
	PushEndpoints []PushEndpoint  // where it says that its changes can be heard of
	Topic         string          // what it calls itself (rel=self); "": nothing
	Last          []Known         // the items of its last document, in their order

	Items     int64     // that are kept
	NewestAt  time.Time // At of the newest of them; zero: none
	Readers   int64     // who follow it; 0: it is not checked
	CreatedAt time.Time

	NextAt    time.Time // when it is due, or the end of the claim of who reads it; zero: never
	Claim     int64     // not 0: it is being read, and this is the fence
	PushedAt  time.Time // a push came and what it announced was not read yet; zero: no
	PushedVia string    // by which door it came
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

// Facts of a feed; see package item.
type (
	About        = item.About
	PushEndpoint = item.PushEndpoint
)

// Login is what the server of a feed wants to see; see package location.
type Login = location.Login

// Kinds of Login.
const (
	LoginBasic  = location.Basic
	LoginToken  = location.Token // Authorization: Bearer
	LoginWSSE   = location.WSSE
	LoginHeader = location.Header
)

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
	Via       string            `json:"door,omitempty"`      // of a push
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

// describe takes over what a document says of its feed.
func describe(s *Source, f *feed.Feed, res *fetch.Response) {
	s.About = item.AboutOf(f)
	var header http.Header
	address := s.State.URL
	if res != nil {
		header, address = res.Header, res.URL
	}
	named := cnwsEndpoints(s.PushEndpoints)
	s.PushEndpoints, s.Topic = item.PushEndpointsOf(f, header, address)
	s.PushEndpoints = append(s.PushEndpoints, named...)
	if s.Private() {
		s.PushEndpoints = nil // no hub may know of a private feed
	}
}
