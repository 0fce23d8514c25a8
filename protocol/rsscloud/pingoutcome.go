package rsscloud

import (
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// OutcomeHeader is a header of the response to a ping that carries an [Outcome]. It is not
// part of the guide. A hub sends it only to clients that request it with
// [OutcomePreference], so the standard response stays unchanged.
const OutcomeHeader = "X-Hub-Outcome"

// OutcomePreference is the value of the request header Prefer (RFC 7240) that requests
// [OutcomeHeader].
const OutcomePreference = "hub-outcome"

// States of an [Outcome].
const (
	OutcomeChanged       = "changed"   // the feed was read and had changed: its subscribers are notified
	OutcomeUnchanged     = "unchanged" // the feed was read and is the same: no notification is sent
	OutcomePending       = "pending"   // reading the feed takes long: the ping is stored and the check continues
	OutcomeNoSubscribers = "nobody"    // the feed has no subscribers at this hub
	OutcomeChecking      = "checking"  // a site was pinged: its followed feeds are checked
	OutcomeListed        = "listed"    // a site without a followed feed was pinged: the change is listed
)

// Outcome is the effect of a ping.
type Outcome struct {
	State       string // one of the constants; a newer hub may send others
	Subscribers int64  // notified subscribers; -1: unknown
	Page        string // URL of a web page about the feed; "": none
}

// String returns the value of [OutcomeHeader]: changed; page="http://…"; subscribers=2.
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

// OutcomeOf parses the outcome in the header of a response. It returns false if there is no
// valid outcome.
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

// WantsOutcome reports whether a request with this header requests [OutcomeHeader].
func WantsOutcome(h http.Header) bool {
	return slices.ContainsFunc(strings.Split(strings.Join(h.Values("Prefer"), ","), ","), func(p string) bool {
		return strings.EqualFold(strings.TrimSpace(p), OutcomePreference)
	})
}
