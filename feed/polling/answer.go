package polling

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"cloudburst/feed"
	"cloudburst/internal/text"
	"cloudburst/internal/validator"
)

// Cause is the reason for a check.
type Cause string

// The causes of a check.
const (
	Poll      Cause = ""          // the check was due
	Pushed    Cause = "push"      // a hub announced a change
	Delivered Cause = "delivered" // a hub delivered the content, so the feed's server was not contacted
	ByHand    Cause = "by-hand"   // a user requested the check
	FollowUp  Cause = "follow-up" // the feed is read once more after an announced change; see State.FollowUpAt
)

// ErrorKind is the reason why a check has no usable response.
type ErrorKind string

// Kinds of errors. The caller sets the kinds up to ErrLocal; this package detects the others.
const (
	ErrDNS         ErrorKind = "dns"         // the name does not exist, or its name servers do not respond
	ErrUnreachable ErrorKind = "unreachable" // no server responds, or the connection was lost
	ErrTimeout     ErrorKind = "timed-out"
	ErrTLS         ErrorKind = "tls"
	ErrMalformed   ErrorKind = "malformed" // the response is not HTTP, or its body cannot be decoded
	ErrTooLarge    ErrorKind = "too-large"
	ErrRedirects   ErrorKind = "too-many-redirects"
	ErrBadURL      ErrorKind = "bad-url"
	ErrRefused     ErrorKind = "refused" // blocked by the caller's own address filter
	ErrLocal       ErrorKind = "ours"    // the request was cancelled, or this machine lacks resources, so it is not the feed's failure

	ErrStatus        ErrorKind = "status"       // an error status
	ErrNotFeed       ErrorKind = "not-feed"     // a web page or another document that is not a feed
	ErrUnexpected304 ErrorKind = "unasked-304"  // 304 to a request without validators
	ErrLimited       ErrorKind = "limited"      // 429, or 503 with Retry-After: the server asks to wait, which is not a failure
	ErrRedirect      ErrorKind = "bad-redirect" // a redirect document without a usable target
)

// Hop is one redirect that was followed.
type Hop struct {
	Status   int // 301, 302, 303, 307 or 308; 301 for a redirect document
	From, To string
	Document bool // the redirect is an XML <redirect> document, not an HTTP redirect
}

// Answer is the result of a check.
type Answer struct {
	Cause  Cause
	Full   bool        // the request contained none of the State's validators
	Status int         // status of the last response; 0: no response
	Header http.Header // headers of the last response
	URL    string      // final URL after all redirects; "": the URL of the feed
	Hops   []Hop       // redirects in the order of the requests

	Error  ErrorKind // reason why there is no response; "": there is a response
	Detail string    // one clause that describes the error, for people

	// Hash is a hash of the decoded body by any stable function; "": unknown. Without a hash, an
	// unchanged document counts as changed.
	Hash string
	// Hints are the hints of the document. Nil means that the body was not parsed as a feed. If the
	// body has the same hash as the last feed, it counts as a feed even without Hints.
	Hints *feed.Hints
	Moved *feed.Moved // set if the document declares a new URL or the end of the feed; nil: it declares neither
	Dates []time.Time // dates of the items, in any order
	Looks string      // the kind of a document that is not a feed
}

// Read sets the fields that come from the body. Its parameters are the results of feed.Parse.
func (a *Answer) Read(f *feed.Feed, err error) {
	if err != nil || f == nil {
		a.Looks = "something else"
		if not, ok := errors.AsType[*feed.NotFeedError](err); ok {
			a.Looks = not.Looks
		}
		return
	}
	if f.Format == feed.Redirect && f.Moved == nil {
		a.Looks = "a redirect without a URL"
		return
	}
	a.Hints, a.Moved = &f.Hints, f.Moved
	for i := range f.Items {
		at := f.Items[i].Published.UTC
		if at.IsZero() {
			at = f.Items[i].Updated.UTC
		}
		if !at.IsZero() {
			a.Dates = append(a.Dates, at)
		}
	}
}

// Follow returns the redirect that a redirect document declares. If a is not such a document, ok is
// false. Read hop.To as part of the same check and append hop to the answer's hops, as an HTTP
// client does for status 301.
func (a Answer) Follow(s State) (hop Hop, ok bool) {
	if a.Moved == nil || a.Moved.From != "redirect" || a.Moved.Gone || len(a.Hops) >= MaxRedirects {
		return Hop{}, false
	}
	from := a.from(s)
	to := resolve(from, a.Moved.To)
	if to == "" || sameURL(to, from) {
		return Hop{}, false
	}
	return Hop{Status: http.StatusMovedPermanently, From: from, To: to, Document: true}, true
}

// from returns the URL of the response.
func (a Answer) from(s State) string {
	switch {
	case a.URL != "":
		return a.URL
	case len(a.Hops) > 0:
		return a.Hops[len(a.Hops)-1].To
	}
	return s.URL
}

// Same reports whether the body equals the last body. If so, it need not be parsed, and no item has
// changed.
func (a Answer) Same(s State) bool { return a.Hash != "" && a.Hash == s.Hash }

// verdict is the classification of an answer.
type verdict struct {
	outcome Outcome
	kind    ErrorKind
	text    string
}

func failed(kind ErrorKind, format string, args ...any) verdict {
	return verdict{Failed, kind, fmt.Sprintf(format, args...)}
}

func (a Answer) verdict(s State) verdict {
	switch {
	case a.Error == ErrLocal:
		return verdict{Postponed, ErrLocal, orElse(a.Detail, "the request could not be sent")}
	case a.Error != "":
		return failed(a.Error, "%s", orElse(a.Detail, a.Error.text()))
	case len(a.Hops) > MaxRedirects:
		return failed(ErrRedirects, "more than %d redirects", MaxRedirects)
	case a.Status == http.StatusGone:
		return a.gone("410 Gone")
	case a.Status == http.StatusNotModified:
		return a.notModified(s)
	case a.Status == http.StatusTooManyRequests,
		a.Status == http.StatusServiceUnavailable && retryAfter(a.Header, s.CheckedAt) != nil:
		return verdict{Failed, ErrLimited, statusText(a.Status, a.Detail)}
	case a.Status < 200 || a.Status > 299:
		return failed(ErrStatus, "%s", statusText(a.Status, a.Detail))
	case a.Status == http.StatusNoContent, a.Status == http.StatusResetContent, a.Status == http.StatusPartialContent:
		return failed(ErrStatus, "%s, which is not a complete feed", statusText(a.Status, ""))
	case a.Moved != nil && a.Moved.From == "redirect":
		return a.document(s)
	case a.Same(s):
		return verdict{outcome: Unchanged}
	case a.Hints != nil:
		return verdict{outcome: Changed}
	}
	// An HTML page at the feed's URL may be a maintenance page or belong to a lost domain. In
	// neither case may data be discarded.
	return failed(ErrNotFeed, "%s", notFeedText(a.Looks))
}

// gone returns the verdict for an answer that ends the feed. Behind a temporary redirect, it
// applies only to the current target.
func (a Answer) gone(what string) verdict {
	if _, all := permanent(a.Hops); !all {
		return failed(ErrStatus, "%s at the target of a temporary redirect", what)
	}
	return verdict{outcome: IsGone, text: what}
}

func (a Answer) notModified(s State) verdict {
	switch v := s.Validators; {
	case v.Empty() || a.Full:
		return failed(ErrUnexpected304, "304 Not Modified to a request without validators")
	case !sameURL(a.from(s), v.URL):
		// Different servers can use the same validator for different feeds.
		return verdict{outcome: Doubtful, text: "304 from " + a.from(s) + ", which did not send the validators"}
	case a.Cause.verifies() && !validator.Confirms(v.ETag, a.Header.Get("ETag")):
		return verdict{outcome: Doubtful, text: "304 with another ETag than the one that was sent"}
	}
	return verdict{outcome: Unchanged}
}

// document returns the verdict for an XML redirect instead of a feed.
func (a Answer) document(s State) verdict {
	// spec:feedstate-2007#gone-xml
	if a.Moved.Gone {
		return a.gone("an empty <redirect>")
	}
	hop, ok := a.Follow(s)
	switch {
	case ok:
		return verdict{outcome: Redirected, text: hop.To}
	case len(a.Hops) >= MaxRedirects:
		return failed(ErrRedirects, "more than %d redirects", MaxRedirects)
	}
	from := a.from(s)
	if to := resolve(from, a.Moved.To); to != "" && sameURL(to, from) {
		return failed(ErrRedirect, "a redirect to itself")
	}
	return failed(ErrRedirect, "a redirect to the unusable URL %q", short(a.Moved.To))
}

func (k ErrorKind) text() string {
	switch k {
	case ErrDNS:
		return "its host's name cannot be found"
	case ErrUnreachable:
		return "its server cannot be reached"
	case ErrTimeout:
		return "its server took too long"
	case ErrTLS:
		return "its certificate or encryption is wrong"
	case ErrMalformed:
		return "its response is incomplete or invalid"
	case ErrTooLarge:
		return "it is too large"
	case ErrRedirects:
		return "it has too many redirects"
	case ErrBadURL:
		return "its URL is invalid"
	case ErrRefused:
		return "its URL must not be read from this server"
	}
	return "it could not be read"
}

func statusText(status int, detail string) string {
	s := strings.TrimSpace(fmt.Sprintf("%d %s", status, http.StatusText(status)))
	if status == 0 {
		s = "no response"
	}
	if detail = short(detail); detail != "" {
		s += ": " + detail
	}
	return s
}

func notFeedText(looks string) string {
	switch looks {
	case "":
		return "a response that is not a feed"
	case "html":
		return "an HTML page, not a feed"
	case "empty":
		return "an empty response, not a feed"
	}
	return short(looks) + ", not a feed"
}

// short shortens a text from another server for use in a sentence.
func short(s string) string {
	if len(s) > 4<<10 {
		s = s[:4<<10]
	}
	return text.ClipRunes(strings.Join(strings.Fields(strings.ToValidUTF8(s, "\ufffd")), " "), 200)
}

func orElse(s, other string) string {
	if s = short(s); s != "" {
		return s
	}
	return other
}

// resolve returns the URL of the reference to, relative to base. It returns "" if the result is not an HTTP URL.
func resolve(base, to string) string {
	b, err := url.Parse(base)
	if err != nil {
		return ""
	}
	u, err := b.Parse(strings.TrimSpace(to))
	if err != nil || strings.TrimSpace(to) == "" || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return ""
	}
	u.Fragment, u.RawFragment = "", ""
	return u.String()
}

// sameURL reports whether two URLs are equal without user name and fragment, which are not sent.
func sameURL(a, b string) bool { return a == b || bare(a) == bare(b) }

func bare(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return raw
	}
	u.User, u.Fragment, u.RawFragment = nil, "", ""
	if u.Path == "" && u.Host != "" {
		u.Path = "/"
	}
	u.Host = strings.ToLower(u.Host)
	return u.String()
}

// newest returns the dates that count for the posting rhythm: those not in the future, the latest
// first, at most limit of them.
func newest(dates []time.Time, now time.Time, limit int) []time.Time {
	var out []time.Time
	for _, d := range dates {
		if !d.IsZero() && !d.After(now) && d.Year() > 1990 {
			out = append(out, stamp(d))
		}
	}
	slices.SortFunc(out, func(a, b time.Time) int { return b.Compare(a) })
	return out[:min(len(out), limit)]
}
