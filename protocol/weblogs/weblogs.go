// Package weblogs implements the ping interface of weblogs.com. A site pings a server when
// it changes, and the server publishes the changed sites in the document changes.xml.
//
// The package follows the description in RSS Feed State (Randy Charles Morin, about 2007)
// and the conventions of existing ping clients. Three programs take part, and the package
// has an API for each:
//
//   - A publisher pings: [Client.Ping], [Client.ExtendedPing], [Client.PingByGET].
//   - A server accepts pings over XML-RPC ([Methods]) and from a form ([FormHandler]), and
//     lists them ([Changes.Append]).
//   - A reader of the list reads one document ([ReadChanges]) or follows a server
//     ([Follower]).
//
// To ping, start with [Ping] and [Client]. To accept pings, start with [Backend]. The
// package implements the messages only; an implementation of [Backend] decides the effect
// of a ping.
//
// # Interoperability
//
//   - A refusal is a struct with flerror set, never a fault, because many programs repeat a
//     ping after a fault.
//   - A widespread weblog program calls weblogUpdates.extendedPing with three parameters.
//     The third is then the feed, not the changed page.
//   - flerror may be a boolean, int or string, and some servers return a fault.
//     [ParseResult] reads all forms of flerror.
//   - The when attribute counts minutes in the description that this package follows, but
//     seconds on some servers. The document does not state the unit. Reading and writing
//     take it as an option, with minutes as the default.
//   - Names of form fields are matched without case. A site's name that is not UTF-8 is
//     read as windows-1252.
package weblogs

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"cloudburst/internal/wirehttp"
)

// Names of the procedures over XML-RPC.
const (
	MethodPing         = "weblogUpdates.ping"
	MethodExtendedPing = "weblogUpdates.extendedPing"
)

// ThanksForThePing is the message of an accepted ping.
//
// spec:cloudburst#message-thanks
const ThanksForThePing = "Thanks for the ping."

// Limits of a ping. A longer name or URL is refused.
const (
	MaxName = 1024     // characters of a name
	MaxURL  = 255      // characters of a URL
	MaxTags = 32       // number of tags; the rest is left out
	MaxTag  = 100      // characters of a tag; longer ones are left out
	MaxForm = 64 << 10 // bytes of a form
)

// Ping is the announcement that a site changed.
type Ping struct {
	Name       string   // name of the site, on one line; may be empty
	URL        string   // URL of its home page or of a feed
	ChangesURL string   // the changed page; "": not specified
	FeedURL    string   // the site's feed; "": not specified
	Tags       []string // topics of the site
}

// Title returns the site's name, or its host if the name is empty.
func (p Ping) Title() string {
	if p.Name != "" {
		return p.Name
	}
	if u, err := url.Parse(p.URL); err == nil {
		return u.Host
	}
	return p.URL
}

// Check returns a [*FieldError] unless p is valid: URLs are http or https with a host,
// without user name, spaces or control characters, and all values are within their limits.
//
// spec:cloudburst#weblogs-limits
func (p Ping) Check() error {
	if n := utf8.RuneCountInString(p.Name); n > MaxName {
		return fieldErr("name", "The name has %d characters; the limit is %d.", n, MaxName)
	}
	if !utf8.ValidString(p.Name) || strings.ContainsFunc(p.Name, unicode.IsControl) {
		return fieldErr("name", "The name %s has invalid characters.", quote(p.Name))
	}
	if p.URL == "" {
		return fieldErr("url", "The url is missing; send the address of the site that changed.")
	}
	for _, f := range []struct{ field, value string }{{"url", p.URL}, {"changesURL", p.ChangesURL}, {"rssUrl", p.FeedURL}} {
		if f.value == "" {
			continue
		}
		if err := checkURL(f.field, f.value); err != nil {
			return err
		}
	}
	return nil
}

func checkURL(field, s string) error {
	if utf8.RuneCountInString(s) > MaxURL {
		return fieldErr(field, "The %s %s has more than %d characters.", field, quote(s), MaxURL)
	}
	forbidden := func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }
	if wrong := wirehttp.CheckURL(field, s, forbidden); wrong != "" {
		return &FieldError{Field: field, Msg: wrong}
	}
	return nil
}

// FieldError means that one field of a ping is missing or invalid. Msg is a sentence for
// the sender of the ping.
type FieldError struct {
	Field string // name, url, changesURL, rssUrl; "": the ping as a whole
	Msg   string
}

func (e *FieldError) Error() string { return "weblogs: " + e.Msg }

func fieldErr(field, format string, args ...any) *FieldError {
	return &FieldError{Field: field, Msg: fmt.Sprintf(format, args...)}
}

// Error is a refusal with an HTTP status for [FormHandler]. Over XML-RPC, Msg becomes the
// message of a result with flerror.
type Error struct {
	Status     int           // HTTP status; 0: 400
	Msg        string        // a sentence for the client
	RetryAfter time.Duration // 0: not specified
	Err        error         // the cause, never sent to the client; may be nil
}

func (e *Error) Error() string {
	if e.Err != nil {
		return "weblogs: " + e.Msg + ": " + e.Err.Error()
	}
	return "weblogs: " + e.Msg
}

func (e *Error) Unwrap() error { return e.Err }

var (
	// ErrInvalidResponse means that a server's response has none of the known forms.
	ErrInvalidResponse = errors.New("weblogs: the response has none of the known forms")
	// ErrNotChanges means that a document is not a list of changes.
	ErrNotChanges = errors.New("weblogs: the document is not a list of changes")
	// ErrTooLarge means that a document is larger than [MaxChanges].
	ErrTooLarge = errors.New("weblogs: the document is too large")
)

// Interface names the interface over which a ping was received.
type Interface string

// The interfaces.
const (
	InterfacePing     Interface = MethodPing
	InterfaceExtended Interface = MethodExtendedPing
	InterfaceForm     Interface = "pingSiteForm"
)

// Backend processes the pings of a server.
type Backend interface {
	// Ping stores p, which has passed [Ping.Check]. It returns nil when the ping is durably
	// stored, without waiting for a read of the site. A [*FieldError] or [*Error] is sent to
	// the client; any other error is replaced by a generic message. [RequestFrom] returns the
	// HTTP request, for example for the client address.
	Ping(ctx context.Context, via Interface, p Ping) error
}

// RequestFrom returns the HTTP request on whose behalf a [Backend] is called. It is nil
// outside of these calls.
func RequestFrom(ctx context.Context) *http.Request { return wirehttp.RequestFrom(ctx) }

// HTTPClient sends requests; *http.Client implements it. A program that calls hosts named
// by unknown clients should use one that refuses private addresses.
type HTTPClient interface {
	Do(*http.Request) (*http.Response, error)
}

// quote returns a client's value for a message: quoted, and cut if it is long.
func quote(s string) string {
	const maxCount = 100
	if r := []rune(s); len(r) > maxCount {
		return fmt.Sprintf("%q…", string(r[:maxCount]))
	}
	return fmt.Sprintf("%q", s)
}
