// Package webmention implements Webmention. A site notifies a page that another page links to
// it: the sender posts the URLs of both pages to an endpoint that the linked page names, and
// the receiver reads the source to verify the link.
//
// The package follows the W3C recommendation of 12 January 2017. Two programs take part, and
// the package has an API for each:
//
//   - A sender lists the links of its page ([Links]), finds the endpoint of each linked page
//     ([Client.Discover]) and notifies it ([Client.Send]). It sends again after an update and
//     after the deletion of its page.
//   - A receiver names its endpoint with [LinkHeader], serves it with a [Handler], and verifies
//     each request later with [Client.Verify].
//
// To send, start with [Client]. To receive, start with [Handler]. The package implements the
// messages only. An implementation of [Backend] stores the requests, bounds their rate, and
// decides what a page shows.
//
// # Interoperability
//
//   - Forms are accepted without a Content-Type and as text/plain. Unknown fields, such as
//     vouch, are ignored.
//   - A source counts as the same page as its target if both differ only in the fragment.
//   - Two spellings of a URL are equal if browsers would request the same resource: the case
//     of scheme and host, a default port, and an empty path do not matter. A fragment does.
//   - An endpoint in a document is relative to the base element of the document, as every
//     other reference in it.
package webmention

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"cloudburst/internal/wirehttp"
)

// Size limits.
const (
	MaxForm      = 16 << 10 // bytes of a form body; a larger one is rejected
	MaxFields    = 20       // fields of a form
	MaxURL       = 2048     // bytes of the URL of a source, a target or an endpoint
	MaxDocument  = 1 << 20  // bytes of a document that are read; the rest is ignored
	MaxLinks     = 500      // links that Links returns
	MaxRedirects = 10       // redirects of a document that are followed
	maxMoves     = 3        // redirects of an endpoint that are followed
	maxAnswer    = 4 << 10  // bytes of a response that a client reads
)

var (
	// ErrNoEndpoint means that a page names no endpoint, so it receives no webmentions.
	ErrNoEndpoint = errors.New("webmention: the page names no endpoint")
	// ErrRedirects means that a page redirects more than MaxRedirects times.
	ErrRedirects = errors.New("webmention: too many redirects")
)

// Error is a refusal with an HTTP status. A [Backend] returns it for a request that it does
// not accept, for a limit (429), and when it is temporarily unavailable (503). A [Client]
// returns it for a response without success.
type Error struct {
	Status     int           // HTTP status; 0: 400
	Msg        string        // a sentence for the client
	RetryAfter time.Duration // 0: not specified
	Err        error         // the cause, never sent to the client; may be nil
}

func (e *Error) Error() string {
	if e.Err != nil {
		return "webmention: " + e.Msg + ": " + e.Err.Error()
	}
	return "webmention: " + e.Msg
}

func (e *Error) Unwrap() error { return e.Err }

// bad returns an Error with status 400.
func bad(format string, args ...any) *Error {
	return &Error{Status: 400, Msg: fmt.Sprintf(format, args...)}
}

// CheckURL checks the URL of a source, a target or an endpoint. The URL must be absolute, with
// scheme http or https and a host, at most [MaxURL] bytes long, without a user name, spaces and
// control characters. It may have a fragment. name is the URL's name in the message. The error
// is an [*Error] with status 400.
//
// spec:webmention-2017#url-schemes
func CheckURL(name, raw string) error {
	if len(raw) > MaxURL {
		return bad("The %s is %d bytes long; at most %d are accepted.", name, len(raw), MaxURL)
	}
	if wrong := wirehttp.CheckURL(name, raw, func(r rune) bool { return r <= ' ' || r == 0x7f || r == '\\' }); wrong != "" {
		return bad("%s", wrong)
	}
	return nil
}

// SameURL reports whether two absolute URLs are different spellings of the same URL, or equal.
func SameURL(a, b string) bool { return a == b || normal(a) == normal(b) }

// normal returns the normal spelling of a URL, or the URL itself if it is invalid.
func normal(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" {
		return raw
	}
	u.Scheme, u.Host = strings.ToLower(u.Scheme), strings.ToLower(u.Host)
	switch {
	case u.Scheme == "http":
		u.Host = strings.TrimSuffix(u.Host, ":80")
	case u.Scheme == "https":
		u.Host = strings.TrimSuffix(u.Host, ":443")
	}
	u.Path = cmp.Or(u.Path, "/")
	return u.String()
}

// withoutFragment returns the URL up to its fragment.
func withoutFragment(raw string) string {
	raw, _, _ = strings.Cut(raw, "#")
	return raw
}

// LinkHeader returns the value of the Link header by which a page names its endpoint. Bytes that
// would end the link are percent-encoded.
//
// spec:webmention-2017#endpoint-advertised
func LinkHeader(endpoint string) string {
	var b strings.Builder
	b.WriteByte('<')
	for i := range len(endpoint) {
		switch c := endpoint[i]; {
		case c <= ' ', c >= 0x7f, c == '<', c == '>', c == '"':
			fmt.Fprintf(&b, "%%%02X", c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteString(`>; rel="webmention"`)
	return b.String()
}
