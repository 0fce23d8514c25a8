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

	"cloudburst/internal/date"
	"cloudburst/internal/endpoint"
	"cloudburst/internal/fetch"
	"cloudburst/internal/href"
	"cloudburst/protocol/rsscloud"
)

const (
	maxRedirects       = 3              // maximum number of redirects per notification or challenge
	maxRedirectEntries = 10_000         // maximum number of remembered redirects
	redirectTTL        = 25 * time.Hour // the lifetime of a registration, because each renewal calls the registered URL
	refusalTTL         = time.Hour      // time for which a host that did not consent is not challenged again
)

// Redirects follows the redirects of rssCloud callbacks and remembers their targets, so that the
// next notification is sent directly to the target. A redirect to another host is followed only if
// that host answers a challenge, because a callback could redirect to any host. The targets are
// kept in memory only; without them, a notification starts at the registered URL. The zero value is
// usable. A nil Redirects follows redirects but remembers nothing.
//
// spec:cloudburst#callback-redirect
type Redirects struct {
	Callable       func(url string) error // returns an error if a URL must never be called; nil: all URLs are allowed
	AllowChallenge func(url string) bool  // counts a challenge of the URL's host; nil: no limit
	Timeout        time.Duration          // time limit for all requests of one notification together [15 s]
	Now            func() time.Time       // nil: time.Now

	n       atomic.Int64 // number of entries
	mu      sync.RWMutex
	entries map[string]redirectEntry // key: URL of the callback
}

// redirectEntry is the target of a callback's redirect.
type redirectEntry struct {
	to    string // "": the callback redirects to another host, which has not consented
	until time.Time
}

// post sends m, a notification of feed to a callback, and follows redirects. If fresh is set, post
// ignores the remembered target. last is the message that reply answers. If a redirect was not
// followed, reason explains why.
func (r *Redirects) post(ctx context.Context, s endpoint.Sender, m *fetch.Message, feed string, fresh bool) (reply fetch.Reply, last *fetch.Message, reason string) {
	if fresh { // a new registration may have another target
		r.forget(m.URL)
	}
	spent := time.Duration(0)
	if to := r.cachedTarget(m.URL); to != "" {
		last = withURL(m, to)
		reply = s.Send(ctx, last)
		if reply.OK() || reply.NotTried || reply.Status == http.StatusTooManyRequests || reply.Status == http.StatusServiceUnavailable {
			return reply, last, ""
		}
		r.forget(m.URL)
		if spent = reply.Took; reply.Timeout {
			return reply, last, "" // there is no time left, and the next attempt starts at the registered URL
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

// follow follows the redirect in reply, which is the response to m.
func (r *Redirects) follow(ctx context.Context, s endpoint.Sender, m *fetch.Message, reply fetch.Reply, feed string) (_ fetch.Reply, last *fetch.Message, reason string) {
	ctx, cancel := r.within(ctx, reply.Took)
	defer cancel()
	last = m
	agreed := href.Host(m.URL)
	for hops := 1; keepsPost(reply); hops++ {
		if hops > maxRedirects {
			return reply, last, tooManyRedirects
		}
		next, reason := r.target(last.URL, &reply)
		if reason != "" {
			return reply, last, reason
		}
		if host := href.Host(next); host != href.Host(m.URL) && host != agreed {
			final, refused, reason := r.agree(ctx, s, m.URL, next, feed)
			if reason != "" {
				if refused.NotTried {
					reply = refused
				}
				return reply, last, reason
			}
			next, agreed = final, href.Host(final)
		}
		took := reply.Took
		last = withURL(m, next)
		reply = s.Send(ctx, last)
		reply.Took += took
	}
	if reply.OK() {
		r.remember(m.URL, last.URL)
	}
	return reply, last, ""
}

// Reasons for not following a redirect. They are logged publicly, so they contain no URL.
const (
	tooManyRedirects  = "The callback redirects more than 3 times; register the URL of the redirect."
	noRedirectTarget  = "The callback redirects to an invalid callback URL."
	insecureRedirect  = "The callback redirects from https to http, which is not followed."
	redirectsHere     = "The callback redirects to this server itself."
	redirectsAway     = "The callback redirects to a URL that this server must not call."
	redirectNotAgreed = "The callback redirects to another host, which did not answer the challenge; register the URL of the redirect."
	redirectLater     = "The callback redirects to another host, which cannot be challenged now."
)

// keepsPost reports whether a response redirects a POST without changing its method. Browsers turn
// 301 and 302 into a GET, but moved callbacks commonly use these codes.
func keepsPost(r fetch.Reply) bool {
	switch r.Status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return r.Err == nil
	}
	return false
}

// target returns the URL of a redirect, or the reason not to follow it.
func (r *Redirects) target(from string, reply *fetch.Reply) (to, reason string) {
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

// agree requests the consent of another host to which a callback redirects. It returns the URL that
// gave its consent. If reply.NotTried is set, this server could not send the request, so the host
// has not refused.
func (r *Redirects) agree(ctx context.Context, s endpoint.Sender, callback, next, feed string) (final string, reply fetch.Reply, reason string) {
	if l, known := r.known(callback); known && l.to == "" {
		return "", reply, redirectNotAgreed
	}
	if !r.allowChallenge(next) {
		return "", fetch.Reply{NotTried: true, Err: errors.New("too many challenges of one host")}, redirectLater
	}
	secret := rsscloud.NewChallenge()
	final, reply, _, reason = r.ask(ctx, s, next, feed, secret)
	switch {
	case reply.NotTried:
		return "", reply, redirectLater
	case reason != "" || reply.Err != nil || rsscloud.CheckConsent(reply.Status, reply.ContentType, reply.Body, secret, feed) != nil:
		r.put(callback, "", refusalTTL)
		return "", reply, redirectNotAgreed
	}
	return final, reply, ""
}

// ask sends the challenge to a callback and follows redirects to any host: whichever host answers
// the challenge has thereby consented. final is the callback that answered.
func (r *Redirects) ask(ctx context.Context, s endpoint.Sender, callback, feed, secret string) (final string, reply fetch.Reply, last *fetch.Message, reason string) {
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
		next, reason := r.target(last.URL, &reply)
		if reason != "" {
			return final, reply, last, reason
		}
		next = withoutChallenge(next, feed, secret)
		if href.Host(next) != href.Host(final) && !r.allowChallenge(next) {
			return final, fetch.Reply{NotTried: true, Err: errors.New("too many challenges of one host")}, last, redirectLater
		}
		if hops == 0 { // limit the time here, because the sender only limits each request
			within, cancel := r.within(ctx, reply.Took)
			defer cancel()
			ctx = within
		}
		final = next
	}
}

// withoutChallenge returns a URL without the parameters of a challenge, which redirects often copy.
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

// withURL returns a copy of m for another URL. Notifications contain no credentials.
func withURL(m *fetch.Message, to string) *fetch.Message {
	again := *m
	again.URL = to
	return &again
}

// within returns a context that is limited to the remaining time. spent is the time that was
// already used.
func (r *Redirects) within(ctx context.Context, spent time.Duration) (context.Context, context.CancelFunc) {
	whole := 15 * time.Second
	if r != nil && r.Timeout > 0 {
		whole = r.Timeout
	}
	// Allow at least a second: this process itself may be slow, for which the callback is not
	// responsible.
	return context.WithTimeout(ctx, max(whole-spent, time.Second))
}

func (r *Redirects) allowChallenge(url string) bool {
	return r == nil || r.AllowChallenge == nil || r.AllowChallenge(url)
}

func (r *Redirects) now() time.Time {
	return date.Now(r.Now)
}

// cachedTarget returns the remembered target of a callback, or "" if there is none.
func (r *Redirects) cachedTarget(callback string) string {
	if l, ok := r.known(callback); ok {
		return l.to
	}
	return ""
}

func (r *Redirects) known(callback string) (redirectEntry, bool) {
	if r == nil || r.n.Load() == 0 {
		return redirectEntry{}, false
	}
	r.mu.RLock()
	l, ok := r.entries[callback]
	r.mu.RUnlock()
	return l, ok && r.now().Before(l.until)
}

// remember stores the target of a callback, unless it is the callback itself.
func (r *Redirects) remember(callback, to string) {
	if callback != to {
		r.put(callback, to, redirectTTL)
	}
}

func (r *Redirects) put(callback, to string, holds time.Duration) {
	if r == nil {
		return
	}
	now := r.now()
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.entries) >= maxRedirectEntries {
		for c, old := range r.entries {
			if !now.Before(old.until) {
				delete(r.entries, c)
			}
		}
	}
	if r.entries == nil || len(r.entries) >= maxRedirectEntries {
		r.entries = map[string]redirectEntry{}
	}
	r.entries[callback] = redirectEntry{to, now.Add(holds)}
	r.n.Store(int64(len(r.entries)))
}

func (r *Redirects) forget(callback string) {
	if r == nil || r.n.Load() == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.entries, callback)
	r.n.Store(int64(len(r.entries)))
}
