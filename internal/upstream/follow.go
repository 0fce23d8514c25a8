package upstream

import (
	"crypto/rand"
	"encoding/hex"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"cloudburst/internal/fault"
	"cloudburst/internal/text"
)

// Protocols by which a feed can be followed.
const (
	RSSCloud = "rsscloud"
	WebSub   = "websub"
	CNWS     = "cnws"
)

// Protocols returns all protocols in the order of preference.
func Protocols() []string { return []string{WebSub, RSSCloud, CNWS} }

// States of a follow.
const (
	Pending = "pending" // a request to the hub is due, or the hub has not confirmed it yet
	Active  = "active"  // the hub confirmed and pushes changes
	Refused = "refused" // the hub refused
	Lost    = "lost"    // the hub ended a confirmed subscription
	Ending  = "ending"  // no part of the program follows the feed any more; the hub is being notified
)

// Follow is this server's subscription to one feed by one protocol.
type Follow struct {
	ID       int64    // FollowID(Protocol, Feed)
	Feed     string   // URL of the feed as it was added, which signals contain
	Protocol string   // RSSCloud, WebSub or CNWS
	Topic    string   // URL by which the hub knows the feed
	Hub      string   // URL of the hub's endpoint
	Wire     string   // see [Endpoint]
	Proc     string   // see [Endpoint]
	Notify   string   // for RSSCloud: the protocol in which the cloud will notify this server; "": unknown
	Named    bool     // a user has set the hub: after failures no other hub is searched for
	For      []string // parts of the program that follow the feed, sorted

	Token  string // hard-to-guess part of the callback's path
	Secret string // secret with which the hub signs deliveries; "": deliveries are unsigned
	Base   string // PublicURL at the time of the last request to the hub

	State       string
	CreatedAt   time.Time
	RequestedAt time.Time // time of the last request to the hub; zero: never
	ConfirmedAt time.Time // time of the last confirmation by the hub
	SinceAt     time.Time // start of the period for which the hub has pushed all changes, as far as known; zero: there is no such period
	ReceivedAt  time.Time // time of the last push, to the minute
	ExpiresAt   time.Time // end of the subscription; zero: it has no end, or is not confirmed

	NextAt   time.Time // time when work is due, or end of a claim
	Claim    int64     // fencing token of the request in progress; 0: none
	Asked    bool      // a request was sent or is due, and the hub has not answered or verified it
	Missed   bool      // changes may have been missed: the feed is checked once the subscription is active
	Failures int       // number of consecutive failed requests
	Rejected int64     // number of deliveries with a missing or wrong signature

	LastError   string // reason of the last failure, refusal or loss; "": no problem
	LastErrorAt time.Time
}

// FollowID returns the ID of the follow of a feed by a protocol: 63 bits of a hash, never 0.
func FollowID(protocol, feed string) int64 { return text.ID(protocol + " " + feed) }

// topicID returns the id under which the log lists the feed. It is the same as the hub's topic id.
func topicID(feed string) int64 { return text.ID(feed) }

// wanted reports whether this server accepts notifications for f.
func (f *Follow) wanted() bool { return f.State == Pending || f.State == Active }

// requestInProgress reports whether a request to the hub is in progress.
func (f *Follow) requestInProgress(now time.Time) bool {
	return f.Asked && f.Claim != 0 && f.NextAt.After(now)
}

// receivedDuringRequest reports whether the hub pushed a change after the last request, and the
// feed has not been checked since.
func (f *Follow) receivedDuringRequest() bool { return f.Missed && !f.ReceivedAt.Before(f.RequestedAt) }

// isPublic reports whether a part of the program other than the reader follows the feed.
func (f *Follow) isPublic() bool {
	return slices.ContainsFunc(f.For, func(part string) bool { return part != Reader })
}

// addFor adds a part of the program that follows the feed.
func (f *Follow) addFor(part string) {
	if !slices.Contains(f.For, part) {
		f.For = append(slices.Clone(f.For), part)
		slices.Sort(f.For)
	}
}

// removeFor removes a part of the program, or all parts if part is "".
func (f *Follow) removeFor(part string) {
	f.For = slices.DeleteFunc(slices.Clone(f.For), func(w string) bool { return part == "" || w == part })
}

// newCallback gives f a callback that no hub knows yet. Only hubs with TLS get a secret, because
// without TLS others could read the secret in transit.
//
// spec:websub-2018#secret-over-https
// spec:websub-2018#subscriber-secret
// spec:websub-2018#unguessable-callback
func (f *Follow) newCallback() {
	f.Token, f.Secret, f.Notify, f.SinceAt = random(16), "", "", time.Time{}
	if f.Protocol == WebSub && strings.HasPrefix(f.Hub, "https://") {
		f.Secret = random(32)
	}
}

func random(n int) string {
	b := make([]byte, n)
	// crypto/rand never fails; it crashes the program when the system has no randomness.
	_, _ = rand.Read(b)
	return hex.EncodeToString(b)
}

const maxURL = 2048 // bytes

// checkURL returns an error if a URL is not usable.
func checkURL(what, raw string) error {
	switch {
	case raw == "":
		return fault.New(fault.Invalid, "The URL of the %s is missing.", what)
	case len(raw) > maxURL:
		return fault.New(fault.Invalid, "The URL of the %s has %d bytes; at most %d are accepted.", what, len(raw), maxURL)
	case !utf8.ValidString(raw) || strings.ContainsFunc(raw, func(r rune) bool { return r <= ' ' || r == 0x7f }):
		return fault.New(fault.Invalid, "The URL of the %s has a space or a control character in it; write it percent-encoded.", what)
	}
	u, err := url.Parse(raw)
	if err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" || strings.Contains(raw, "#") || u.User != nil {
		return fault.New(fault.Invalid, "%q is not the URL of a %s; it must begin with http:// or https://, name a host, and have no log-in and no fragment.", clip(raw), what)
	}
	return nil
}

func clip(s string) string { return text.Clip(s, 200) }
