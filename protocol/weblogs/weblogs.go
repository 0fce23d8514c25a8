// Package weblogs speaks the ping interface of weblogs.com: how a site tells a
// server that it changed, and how that server tells everyone else, in the document
// changes.xml.
//
// It follows the description in RSS Feed State (Randy Charles Morin, about 2007),
// with the customs of the programs that send such pings. Three programs take part,
// and each has its piece here:
//
//   - A publisher pings: [Client.Ping], [Client.ExtendedPing], [Client.PingByGET].
//   - A server takes pings over XML-RPC ([Methods]) and from a form ([FormHandler]),
//     and lists them ([Changes.Append]).
//   - A reader of the list reads one document ([ReadChanges]) or follows a server
//     ([Follower]).
//
// Start with [Ping] and [Client] to send, with [Backend] to receive. The package
// knows bytes and nothing else: what a ping leads to is the business of whoever
// implements [Backend].
//
// # Interoperability
//
//   - A refusal is a struct with flerror set, never a fault: many programs send a
//     ping again when they get a fault.
//   - weblogUpdates.extendedPing comes with three parameters from one widespread
//     weblog program, and then the third is the feed, not the page that changed.
//   - flerror comes as boolean, int or string, and some servers answer a fault.
//     [ParseResult] reads them all.
//   - The number in the when attribute is minutes in the text that this package
//     follows, and seconds on some servers; nothing in the document tells which. The
//     reader and the writer take it as an option and mean minutes by default.
//   - Names of form fields are found in any case, and a name that is not UTF-8 is
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

// Limits of a ping. A name or URL that is longer is refused.
const (
	MaxName = 1024     // characters of a name
	MaxURL  = 255      // characters of a URL
	MaxTags = 32       // tags; further ones are left out
	MaxTag  = 100      // characters of a tag; longer ones are left out
	MaxForm = 64 << 10 // bytes of a form
)

// Ping says that a site changed.
type Ping struct {
	Name       string   // of the site, on one line; may be empty
	URL        string   // of its home page, or of a feed
	ChangesURL string   // the page that changed; "": not told
	FeedURL    string   // the site's feed; "": not told
	Tags       []string // what the site is about
}

// Title is what to call the site: its name, or its host when it has none.
func (p Ping) Title() string {
	if p.Name != "" {
		return p.Name
	}
	if u, err := url.Parse(p.URL); err == nil {
		return u.Host
	}
	return p.URL
}

// Check returns a [*FieldError] unless p can be sent and taken: URLs are http or
// https with a host, without user name, spaces or control characters, and nothing
// is longer than its limit.
//
// spec:cloudburst#weblogs-limits
func (p Ping) Check() error {
	if n := utf8.RuneCountInString(p.Name); n > MaxName {
		return fieldErr("name", "The name has %d characters, and %d is the most.", n, MaxName)
	}
	if !utf8.ValidString(p.Name) || strings.ContainsFunc(p.Name, unicode.IsControl) {
		return fieldErr("name", "The name %s has characters that no text has.", quote(p.Name))
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

// FieldError says that one field of a ping is missing or wrong. Msg is a sentence
// for whoever sent it.
type FieldError struct {
	Field string // name, url, changesURL, rssUrl; "": the ping as a whole
	Msg   string
}

func (e *FieldError) Error() string { return "weblogs: " + e.Msg }

func fieldErr(field, format string, args ...any) *FieldError {
	return &FieldError{Field: field, Msg: fmt.Sprintf(format, args...)}
}

// Error is a refusal with an HTTP status, which the form door answers with. Over
// XML-RPC its Msg is the message of a result with flerror.
type Error struct {
	Status     int           // HTTP status; 0: 400
	Msg        string        // a sentence for whoever asked
	RetryAfter time.Duration // 0: the answer does not say
	Err        error         // the cause, never shown; may be nil
}

func (e *Error) Error() string {
	if e.Err != nil {
		return "weblogs: " + e.Msg + ": " + e.Err.Error()
	}
	return "weblogs: " + e.Msg
}

func (e *Error) Unwrap() error { return e.Err }

var (
	// ErrInvalidResponse means that a server's answer is in none of the known forms.
	ErrInvalidResponse = errors.New("weblogs: the answer is not one that a ping server gives")
	// ErrNotChanges means that a document is no list of changes.
	ErrNotChanges = errors.New("weblogs: the document is not a list of changes")
	// ErrTooLarge means that a document has more bytes than are read.
	ErrTooLarge = errors.New("weblogs: the document is too large")
)

// Door is the way that a ping came.
type Interface string

// The doors.
const (
	InterfacePing     Interface = MethodPing
	InterfaceExtended Interface = MethodExtendedPing
	InterfaceForm     Interface = "pingSiteForm"
)

// Backend is what a ping server does with pings.
type Backend interface {
	// Ping takes p, which has passed [Ping.Check]. nil means that it is taken and
	// safely written down; it should not wait for the site to be read. A
	// [*FieldError] or [*Error] says why not, and any other error is answered with
	// a sentence that tells a stranger nothing. The request, for the caller's
	// address, is [RequestFrom] of ctx.
	Ping(ctx context.Context, door Interface, p Ping) error
}

// RequestFrom is the HTTP request that a [Backend] is called for; nil outside.
func RequestFrom(ctx context.Context) *http.Request { return wirehttp.RequestFrom(ctx) }

// HTTPClient sends requests; *http.Client is one. A program that calls hosts which
// strangers name gives one that refuses private addresses.
type HTTPClient interface {
	Do(*http.Request) (*http.Response, error)
}

// quote shows a stranger's value in a message: quoted, and cut when it is long.
func quote(s string) string {
	const most = 100
	if r := []rune(s); len(r) > most {
		return fmt.Sprintf("%q…", string(r[:most]))
	}
	return fmt.Sprintf("%q", s)
}
