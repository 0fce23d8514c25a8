package river

import (
	"net/http"
	"time"

	"cloudburst/feed"
	"cloudburst/feed/polling"
	"cloudburst/internal/event"
	"cloudburst/internal/fetch"
	"cloudburst/internal/river/item"
	"cloudburst/internal/river/location"
	"cloudburst/internal/text"
)

// Source is one feed, which is checked once for all users who follow it.
type Source struct {
	ID            int64          // SourceID of the first URL; a random number for a source with a Login
	URL           string         // current URL of the feed, equal to State.URL
	Login         Login          // login at the feed's server; zero: none
	State         polling.State  // data that the next check needs
	About         About          // metadata that the feed declares
	PushEndpoints []PushEndpoint // endpoints where the feed offers push notifications
	Topic         string         // URL that the feed declares as its own (rel=self); "": none
	Last          []Known        // items of the last document, in the order of the document

	Items     int64     // number of stored items
	NewestAt  time.Time // Item.At of the newest stored item; zero: there are no items
	Readers   int64     // number of users who follow the source; 0: the source is not checked
	CreatedAt time.Time

	NextAt    time.Time // when the next check is due, or when the claim ends; zero: never
	Claim     int64     // fencing token of the running check; 0: no check is running
	PushedAt  time.Time // time of a push that no check has handled yet; zero: there is no such push
	PushedVia string    // protocol or endpoint by which the push arrived
}

// Private reports whether only the user who entered the Login may see the content.
func (s *Source) Private() bool { return s.Login.Kind != "" }

// Hidden reports whether other users must not see the feed: it is private, or its URL gives access to
// a private feed.
//
// spec:cloudburst#public-river-private
func (s *Source) Hidden() bool { return s.Private() || event.IsPrivate(s.URL) }

// Name returns the title of the feed, or its URL. It is displayed to users who gave the feed no
// title of their own.
func (s *Source) Name() string {
	if s.About.Title != "" {
		return s.About.Title
	}
	return s.URL
}

// Types of package item that describe a feed.
type (
	About        = item.About
	PushEndpoint = item.PushEndpoint
)

// Login contains the data for signing in at the server of a feed; see package location.
type Login = location.Login

// Values of Login.Kind.
const (
	LoginBasic  = location.Basic
	LoginToken  = location.Token // sent as "Authorization: Bearer"
	LoginWSSE   = location.WSSE
	LoginHeader = location.Header
)

// SourceID returns the ID of the source at a URL without a Login: 63 bits of a hash, never 0. A
// source with a Login belongs to one user and has a random ID instead.
func SourceID(url string) int64 { return text.ID(url) }

// ItemID returns the ID of an item of a source.
func ItemID(source int64, guid string) int64 { return item.ID(source, guid) }

// Check is the result of one check of a source, as the command "explain" shows it.
type Check struct {
	At        time.Time       `json:"at"`
	Took      time.Duration   `json:"took_ns"`
	Cause     polling.Cause   `json:"cause,omitempty"`     // why the source was checked; "": the check was planned
	Via       string          `json:"door,omitempty"`      // endpoint or protocol by which a push arrived; "": no push caused the check
	Asked     string          `json:"asked,omitempty"`     // AskedConditionally or AskedInFull; "": no request was sent
	AskedWhy  string          `json:"asked_why,omitempty"` // why the feed was requested in full, as a clause
	URL       string          `json:"url"`
	Status    int             `json:"status,omitempty"` // HTTP status of the response; 0: no response
	Outcome   polling.Outcome `json:"outcome"`
	Text      string          `json:"text"`          // result of the check in one sentence
	Next      time.Time       `json:"next,omitzero"` // time of the next planned check
	Why       string          `json:"why,omitempty"` // why the next check is planned for the time Next
	New       int             `json:"new,omitempty"` // number of new items
	Edited    int             `json:"edited,omitempty"`
	Withdrawn int             `json:"withdrawn,omitempty"`
	Bytes     int             `json:"bytes,omitempty"` // size of the decoded body in bytes
	Sent      string          `json:"sent,omitempty"`  // request line and header fields, without secrets
	Received  string          `json:"received,omitempty"`
	Hops      []polling.Hop   `json:"hops,omitempty"`
}

// Values of Check.Asked: how a check requested the feed.
const (
	AskedConditionally = "conditional" // the request had the validators of an earlier response
	AskedInFull        = "full"
)

// Host contains the pauses that the servers of one host requested. The alias keeps the store
// independent of the protocol packages.
type Host = polling.Host

// Host returns the key of the source's host, under which the store keeps the state of the host.
func (s *Source) Host() string { return polling.HostOf(s.State.URL) }

// KeptChecks is the number of checks that are stored per source.
const KeptChecks = 20

// describe copies the metadata that a document declares to its source.
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
		s.PushEndpoints = nil // no hub may learn about a feed with a login
	}
}
