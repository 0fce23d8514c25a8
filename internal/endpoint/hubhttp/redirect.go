package hubhttp

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"cloudburst/internal/endpoint"
	"cloudburst/internal/fetch"
	"cloudburst/internal/href"
	"cloudburst/protocol/rsscloud"
)

const (
	maxRedirects    = 3              // of one notification or challenge
	redirectsKept   = 10_000         // callbacks whose redirects are remembered
	redirectHolds   = 25 * time.Hour // as long as a registration: each renewal asks the registered address
	redirectRefused = time.Hour      // how long a host that did not agree is not asked again
)

// Redirects follows the redirects of rssCloud callbacks, and remembers where they lead: the
// next notification goes there directly. A redirect is followed on the host of the callback,
// and to another host only when that host answers a challenge, because the callback could
// name anybody. All of the memory can be lost: then the registered address is called.
// The zero value works, and so does nil, without the memory.
//
// spec:cloudburst#callback-redirect
type Redirects struct {
	Callable func(url string) error // why an address can never be called; nil: each one can
	MayAsk   func(url string) bool  // counts a challenge of the host of url; nil: there is no limit
	Timeout  time.Duration          // of all sendings of one notification together [15 s]
	Now      func() time.Time       // nil: time.Now

	n   atomic.Int64 // entries of led
	mu  sync.RWMutex
	led map[string]led // by callback
}

// led is where a callback led.
type led struct {
	to    string // "": to another host, which did not agree
	until time.Time
}

// post sends m, the notification of feed to a callback, and follows redirects; fresh begins
// at the registered address whatever is remembered. last is the message that reply answers.
// why says which redirect was not followed, and why not.
func (r *Redirects) post(ctx context.Context, s endpoint.Sender, m *fetch.Message, feed string, fresh bool) (reply fetch.Reply, last *fetch.Message, why string) {
	if fresh { // who registers again may have changed where it leads
		r.forget(m.URL)
	}
	spent := time.Duration(0)
	if to := r.to(m.URL); to != "" {
		last = at(m, to)
		reply = s.Send(ctx, last)
		if reply.OK() || reply.NotTried || reply.Status == http.StatusTooManyRequests || reply.Status == http.StatusServiceUnavailable {
			return reply, last, ""
		}
		r.forget(m.URL)
		if spent = reply.Took; reply.Timeout {
			return reply, last, "" // there is no time left; the next try begins at the registered address
		}
	}
	if spent > 0 {
		within, cancel := r.within(ctx, spent)
		defer cancel()
		ctx = within
	}
	reply = s.Send(ctx, m)
	reply.Took += spent
	if !keepsPost(reply) {
		return reply, m, ""
	}
	return r.follow(ctx, s, m, reply, feed)
}

// follow follows the redirect that m was answered with.
func (r *Redirects) follow(ctx context.Context, s endpoint.Sender, m *fetch.Message, reply fetch.Reply, feed string) (_ fetch.Reply, last *fetch.Message, why string) {
	ctx, cancel := r.within(ctx, reply.Took)
	defer cancel()
	last = m
	agreed := href.Host(m.URL)
	for hops := 1; keepsPost(reply); hops++ {
		if hops > maxRedirects {
			return reply, last, tooManyRedirects
		}
		next, why := r.target(last.URL, &reply)
		if why != "" {
			return reply, last, why
		}
		if host := href.Host(next); host != href.Host(m.URL) && host != agreed {
			final, refused, why := r.agree(ctx, s, m.URL, next, feed)
			if why != "" {
				if refused.NotTried {
					reply = refused
				}
				return reply, last, why
			}
			next, agreed = final, href.Host(final)
		}
		took := reply.Took
		last = at(m, next)
		reply = s.Send(ctx, last)
		reply.Took += took
	}
	if reply.OK() {
		r.remember(m.URL, last.URL)
	}
	return reply, last, ""
}

// Sentences about redirects that are not followed. They name no address: the log is public.
const (
	tooManyRedirects  = "The callback redirects more than 3 times; register the address where it leads."
	noRedirectTarget  = "The callback redirects to what is no address of a callback."
	insecureRedirect  = "The callback redirects from https to http, which is not followed."
	redirectsHere     = "The callback redirects to this server itself."
	redirectsAway     = "The callback redirects to an address that this server does not call."
	redirectNotAgreed = "The callback redirects to another host, which did not answer the challenge; register the address where it leads."
	redirectLater     = "The callback redirects to another host, which cannot be asked now."
)

// keepsPost reports a redirect after which a POST stays a POST. Clients of the web make a GET
// of it after 301 and 302, but callbacks that moved are answered for with these.
func keepsPost(r fetch.Reply) bool {
	switch r.Status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return r.Err == nil
	}
	return false
}

// target is where a redirect leads, or why it cannot be followed there.
func (r *Redirects) target(from string, reply *fetch.Reply) (to, why string) {
	base, err := url.Parse(from)
	if err != nil {
		return "", noRedirectTarget
	}
	u, err := base.Parse(strings.TrimSpace(reply.Location))
	if err != nil || reply.Location == "" || u.User != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", noRedirectTarget
	}
	if base.Scheme == "https" && u.Scheme == "http" {
		return "", insecureRedirect
	}
	u.Fragment, u.RawFragment = "", ""
	to = u.String()
	if r == nil || r.Callable == nil {
		return to, ""
	}
	switch err := r.Callable(to); {
	case errors.Is(err, fetch.ErrOwn):
		return "", redirectsHere
	case err != nil:
		return "", redirectsAway
	}
	return to, ""
}

// agree asks another host, to which a callback redirects, for its consent, and returns the
// address that gave it. A refusal whose reply was not tried says nothing about the host.
func (r *Redirects) agree(ctx context.Context, s endpoint.Sender, callback, next, feed string) (final string, reply fetch.Reply, why string) {
	if l, known := r.known(callback); known && l.to == "" {
		return "", reply, redirectNotAgreed
	}
	if !r.mayAsk(next) {
		return "", fetch.Reply{NotTried: true, Err: errors.New("too many challenges of one host")}, redirectLater
	}
	secret := rsscloud.NewChallenge()
	final, reply, _, why = r.ask(ctx, s, next, feed, secret)
	switch {
	case reply.NotTried:
		return "", reply, redirectLater
	case why != "" || reply.Err != nil || rsscloud.CheckConsent(reply.Status, reply.ContentType, reply.Body, secret, feed) != nil:
		r.put(callback, "", redirectRefused)
		return "", reply, redirectNotAgreed
	}
	return final, reply, ""
}

// ask sends the challenge to a callback and follows redirects; whoever answers it agrees for
// itself, so that it may be on any host. final is the callback that answered.
func (r *Redirects) ask(ctx context.Context, s endpoint.Sender, callback, feed, secret string) (final string, reply fetch.Reply, last *fetch.Message, why string) {
	final = callback
	for hops := 0; ; hops++ {
		last = &fetch.Message{Method: http.MethodGet, URL: rsscloud.ChallengeURL(final, feed, secret), WantBody: true, MaxBody: rsscloud.MaxConsent, Padded: true}
		took := reply.Took
		reply = s.Send(ctx, last)
		if reply.Took += took; !keepsPost(reply) && (reply.Err != nil || reply.Status != http.StatusSeeOther) {
			return final, reply, last, ""
		}
		if hops == maxRedirects {
			return final, reply, last, tooManyRedirects
		}
		next, why := r.target(last.URL, &reply)
		if why != "" {
			return final, reply, last, why
		}
		next = withoutChallenge(next, feed, secret)
		if href.Host(next) != href.Host(final) && !r.mayAsk(next) {
			return final, fetch.Reply{NotTried: true, Err: errors.New("too many challenges of one host")}, last, redirectLater
		}
		if hops == 0 { // the sender has no limit for several of them together
			within, cancel := r.within(ctx, reply.Took)
			defer cancel()
			ctx = within
		}
		final = next
	}
}

// withoutChallenge is a URL without the parameters of a challenge, which redirects often
// carry along.
func withoutChallenge(to, feed, secret string) string {
	path, query, found := strings.Cut(to, "?")
	if !found {
		return to
	}
	var kept []string
	for pair := range strings.SplitSeq(query, "&") {
		name, value, _ := strings.Cut(pair, "=")
		plain, err := url.QueryUnescape(value)
		if err == nil && (name == "url" && plain == feed || name == "challenge" && plain == secret) {
			continue
		}
		kept = append(kept, pair)
	}
	if len(kept) == 0 {
		return path
	}
	return path + "?" + strings.Join(kept, "&")
}

// at is m, sent to another address. Nothing in a notification is a credential.
func at(m *fetch.Message, to string) *fetch.Message {
	again := *m
	again.URL = to
	return &again
}

// within bounds what is left to send after so much time was spent.
func (r *Redirects) within(ctx context.Context, spent time.Duration) (context.Context, context.CancelFunc) {
	whole := 15 * time.Second
	if r != nil && r.Timeout > 0 {
		whole = r.Timeout
	}
	// Less than a second could pass in this process, and would not be the callback's error.
	return context.WithTimeout(ctx, max(whole-spent, time.Second))
}

func (r *Redirects) mayAsk(url string) bool { return r == nil || r.MayAsk == nil || r.MayAsk(url) }

func (r *Redirects) now() time.Time {
	if r.Now != nil {
		return r.Now()
	}
	return time.Now()
}

// to is where a callback led, "" when nothing is known.
func (r *Redirects) to(callback string) string {
	if l, ok := r.known(callback); ok {
		return l.to
	}
	return ""
}

func (r *Redirects) known(callback string) (led, bool) {
	if r == nil || r.n.Load() == 0 {
		return led{}, false
	}
	r.mu.RLock()
	l, ok := r.led[callback]
	r.mu.RUnlock()
	return l, ok && r.now().Before(l.until)
}

// remember keeps where a callback leads; to itself is nothing to remember.
func (r *Redirects) remember(callback, to string) {
	if callback != to {
		r.put(callback, to, redirectHolds)
	}
}

func (r *Redirects) put(callback, to string, holds time.Duration) {
	if r == nil {
		return
	}
	now := r.now()
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.led) >= redirectsKept {
		for c, old := range r.led {
			if !now.Before(old.until) {
				delete(r.led, c)
			}
		}
	}
	if r.led == nil || len(r.led) >= redirectsKept {
		r.led = map[string]led{}
	}
	r.led[callback] = led{to, now.Add(holds)}
	r.n.Store(int64(len(r.led)))
}

func (r *Redirects) forget(callback string) {
	if r == nil || r.n.Load() == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.led, callback)
	r.n.Store(int64(len(r.led)))
}
