package river

import (
	"net/http"
	"time"

	"cloudburst/feed"
	"cloudburst/feed/polling"
	"cloudburst/internal/fetch"
	"cloudburst/internal/river/item"
	"cloudburst/internal/river/location"
	"cloudburst/internal/text"
)

// Source is one feed, checked once for all its followers.
type Source struct {
	ID            int64          // SourceID of the first URL; with a Login a random number
	URL           string         // current URL, equal to State.URL
	Login         Login          // login at the feed's server; the zero Login: none
	State         polling.State  // everything that the next check needs
	About         About          // metadata that the feed declares
	PushEndpoints []PushEndpoint // where the feed offers push notifications
	Topic         string         // URL that the feed declares as its own (rel=self); "": none
	Last          []Known        // items of the last document, in their order

	Items     int64     // stored items
	NewestAt  time.Time // At of the newest stored item; zero: none
	Readers   int64     // number of followers; 0: it is not checked
	CreatedAt time.Time

	NextAt    time.Time // when it is due, or the end of the claim; zero: never
	Claim     int64     // not 0: a check is running, and this is its fencing token
	PushedAt  time.Time // time of a push that no check has handled yet; zero: none
	PushedVia string    // how the push arrived
}

// Private reports whether only the user who gave the Login may see the content.
func (s *Source) Private() bool { return s.Login.Kind != "" }

// Name returns the name of the source for users without a title of their own.
func (s *Source) Name() string {
	if s.About.Title != "" {
		return s.About.Title
	}
	return s.URL
}

// Facts about a feed; see package item.
type (
	About        = item.About
	PushEndpoint = item.PushEndpoint
)

// Login is a login at the server of a feed; see package location.
type Login = location.Login

// Kinds of Login.
const (
	LoginBasic  = location.Basic
	LoginToken  = location.Token // Authorization: Bearer
	LoginWSSE   = location.WSSE
	LoginHeader = location.Header
)

// SourceID returns the ID of the source at a URL without a Login: 63 bits of a hash, never 0. A
// source with a Login belongs to one user and has a random ID.
func SourceID(url string) int64 { return text.ID(url) }

// ItemID returns the ID of an item of a source.
func ItemID(source int64, guid string) int64 { return item.ID(source, guid) }

// Check is the result of one check of a source, as "explain" shows it.
type Check struct {
	At        time.Time       `json:"at"`
	Took      time.Duration   `json:"took_ns"`
	Cause     polling.Cause   `json:"cause,omitempty"`     // "": a planned check
	Via       string          `json:"door,omitempty"`      // the endpoint or protocol by which a push arrived; "": no push
	Asked     string          `json:"asked,omitempty"`     // AskedConditionally, AskedInFull; "": no request was sent
	AskedWhy  string          `json:"asked_why,omitempty"` // why the feed was read in full, as a clause
	URL       string          `json:"url"`
	Status    int             `json:"status,omitempty"` // 0: no response
	Outcome   polling.Outcome `json:"outcome"`
	Text      string          `json:"text"`          // the outcome in one sentence
	Next      time.Time       `json:"next,omitzero"` // when the next check is planned
	Why       string          `json:"why,omitempty"` // the reason for Next
	New       int             `json:"new,omitempty"` // items
	Edited    int             `json:"edited,omitempty"`
	Withdrawn int             `json:"withdrawn,omitempty"`
	Bytes     int             `json:"bytes,omitempty"` // of the body, decoded
	Sent      string          `json:"sent,omitempty"`  // request line and header, without secrets
	Received  string          `json:"received,omitempty"`
	Hops      []polling.Hop   `json:"hops,omitempty"`
}

// How a check requested the feed.
const (
	AskedConditionally = "conditional" // with the validators of an earlier response
	AskedInFull        = "full"
)

// Host contains the waits that the servers of one host requested. The alias keeps the store
// independent of the protocol packages.
type Host = polling.Host

// Host returns the key under which the state of the source's host is stored.
func (s *Source) Host() string { return polling.HostOf(s.State.URL) }

// KeptChecks is the number of checks that are stored per source.
const KeptChecks = 20

// describe copies the metadata of a document to its source.
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
		s.PushEndpoints = nil // no hub may learn about a private feed
	}
}
