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

// Protocols are all of them, in the order of preference.
func Protocols() []string { return []string{WebSub, RSSCloud, CNWS} }

// States of a follow.
const (
	Pending = "pending" // the hub is to be asked, or has not said yes yet
	Active  = "active"  // it tells us
	Refused = "refused" // it said no
	Lost    = "lost"    // it said yes once, and ended it
	Ending  = "ending"  // nobody here wants it any more; the hub is being told
)

// Follow is this server's subscription for one feed by one protocol.
type Follow struct {
	ID       int64    // FollowID(Protocol, Feed)
	Feed     string   // URL, as it was added: what is signalled
	Protocol string   // RSSCloud, WebSub or CNWS
	Topic    string   // URL, as the hub names the feed
	Hub      string   // URL of its door
	Wire     string   // see [Door]
	Proc     string   // see [Door]
	Notify   string   // RSSCloud: the protocol in which the cloud agreed to tell us; "": not known
	Named    bool     // the hub was named by hand: none is looked for when it fails
	For      []string // who in this program wants it, in order

	Token  string // part of the callback's path, so that nobody guesses it
	Secret string // what deliveries are signed with; "": they are not
	Base   string // PublicURL when the hub was last asked

	State       string
	CreatedAt   time.Time
	RequestedAt time.Time // the hub was last asked; zero: never
	ConfirmedAt time.Time // it last said yes
	SinceAt     time.Time // since when it tells us all that there is, as far as we know; zero: it does not
	ReceivedAt  time.Time // it last told us something, to the minute
	ExpiresAt   time.Time // when its yes runs out; zero: never, or there is none

	NextAt   time.Time // when something is to be done, or the end of the claim of who is at it
	Claim    int64     // not 0: a question is under way, and this is its fence
	Asked    bool      // a question was sent, or is due, and the hub has not answered it or asked back
	Missed   bool      // news may have been missed: the feed is looked at when it holds again
	Failures int       // questions in a row that came to nothing
	Rejected int64     // deliveries that were not signed as they should be

	LastError   string // why it failed, was refused or lost; "" when all is well
	LastErrorAt time.Time
}

// FollowID is the id of the follow of a feed by a protocol: 63 bits of a hash,
// never 0.
func FollowID(protocol, feed string) int64 { return text.ID(protocol + " " + feed) }

// topicID is the number of the feed in the log, as the hub counts topics.
func topicID(feed string) int64 { return text.ID(feed) }

// wanted reports whether its notifications are taken.
func (f *Follow) wanted() bool { return f.State == Pending || f.State == Active }

// underWay reports whether the hub is being asked at this moment.
func (f *Follow) isBeingAsked(now time.Time) bool {
	return f.Asked && f.Claim != 0 && f.NextAt.After(now)
}

// newsWhileAsked reports whether something came from the hub since it was last asked, for
// which the feed has yet to be looked at.
func (f *Follow) receivedWhileAsked() bool { return f.Missed && !f.ReceivedAt.Before(f.RequestedAt) }

// want adds who to those who want it.
func (f *Follow) addFor(part string) {
	if !slices.Contains(f.For, part) {
		f.For = append(slices.Clone(f.For), part)
		slices.Sort(f.For)
	}
}

// unwant takes who from those who want it; all of them when who is "".
func (f *Follow) removeFor(part string) {
	f.For = slices.DeleteFunc(slices.Clone(f.For), func(w string) bool { return part == "" || w == part })
}

// fresh gives f a callback that no hub knows yet. A secret goes only to hubs that
// are asked over TLS; others would learn it with everybody on the way.
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
	// crypto/rand does not fail; it ends the program when the system has no randomness.
	_, _ = rand.Read(b)
	return hex.EncodeToString(b)
}

const maxURL = 2048 // bytes

// checkURL says what is wrong with a URL that somebody gave, if anything.
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
