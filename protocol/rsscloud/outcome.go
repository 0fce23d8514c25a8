package rsscloud

import (
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// OutcomeHeader says, in the answer to a ping, what the ping led to: see [Outcome]. No
// guide names it. A hub sends it to those who ask for it with [OutcomePreference], so
// that the answer of the protocol stays as it is.
const OutcomeHeader = "X-Hub-Outcome"

// OutcomePreference is the value of the request header Prefer (RFC 7240) that asks for
// [OutcomeHeader].
const OutcomePreference = "hub-outcome"

// States of an [Outcome].
const (
	OutcomeChanged       = "changed"   // the feed was read and had changed: its subscribers are notified
	OutcomeUnchanged     = "unchanged" // the feed was read and is the same: nobody is notified
	OutcomePending       = "pending"   // reading takes long: the ping is stored and the check goes on
	OutcomeNoSubscribers = "nobody"    // nobody is subscribed to the feed at this hub
	OutcomeChecking      = "checking"  // a site was pinged: its followed feeds are checked
	OutcomeListed        = "listed"    // a site was pinged that has no followed feed: the change is listed
)

// Outcome is what a ping led to.
type Outcome struct {
	State       string // one of the states; another one comes from a newer hub
	Subscribers int64  // that are notified; -1: not said
	Page        string // URL of a page for people about the feed; "": none
}

// String is the value of [OutcomeHeader]: changed; page="http://…"; subscribers=2.
func (o Outcome) String() string {
	params := map[string]string{}
	if o.Subscribers >= 0 {
		params["subscribers"] = strconv.FormatInt(o.Subscribers, 10)
	}
	if o.Page != "" {
		params["page"] = o.Page
	}
	return mime.FormatMediaType(o.State, params)
}

// OutcomeOf reads the header of an answer; false: it has no outcome that can be read.
func OutcomeOf(h http.Header) (Outcome, bool) {
	state, params, err := mime.ParseMediaType(h.Get(OutcomeHeader))
	if err != nil || strings.Contains(state, "/") {
		return Outcome{}, false
	}
	o := Outcome{State: state, Subscribers: -1}
	if n, err := strconv.ParseInt(params["subscribers"], 10, 64); err == nil && n >= 0 {
		o.Subscribers = n
	}
	if u, err := url.Parse(params["page"]); err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https") {
		o.Page = u.String()
	}
	return o, true
}

// WantsOutcome reports a request that asks for [OutcomeHeader].
func WantsOutcome(h http.Header) bool {
	return slices.ContainsFunc(strings.Split(strings.Join(h.Values("Prefer"), ","), ","), func(p string) bool {
		return strings.EqualFold(strings.TrimSpace(p), OutcomePreference)
	})
}
