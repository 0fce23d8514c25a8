package hub

import (
	"context"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"cloudburst/internal/event"
	"cloudburst/internal/fault"
)

const (
	urlLongest   = 2048 // bytes of a feed's URL
	strangeEvery = 10 * time.Second
	maxHops      = 3
)

// round is one check and all the pings that it answers.
type round struct {
	done   chan struct{}
	came   time.Time // when its first ping came
	pings  []event.Event
	hops   int
	result PingResult
	err    error
}

// checking is what is known of the checks of one topic while any is near.
type checking struct {
	last    time.Time // when the last check's request left
	sent    bool      // the request of the current round has left
	current *round
	next    *round // asked for after the request of the current one left
}

// Ping checks a feed of which someone says that it changed, and has its
// subscribers told if it did. It returns when the feed was checked and what
// follows is on disk, never waiting for a delivery; after Options.AckWithin it
// returns Pending with the ping itself on disk.
//
// Errors: fault.Invalid (not a URL of a feed), TooMany (with RetryAfter),
// Unreadable (the feed cannot be read), Refused (its address may not be read, or
// the news has gone round), Unavailable.
//
// spec:rsscloud-2009#ping-verifies-change
func (h *Hub) Ping(ctx context.Context, p Ping) (PingResult, error) {
	h.Init()
	came := h.now()
	h.stats.pings.Add(1)
	if err := checkURL(p.URL); err != nil {
		return PingResult{}, err
	}
	if p.Hops > maxHops {
		return PingResult{}, fault.New(fault.Refused, "This ping has passed through %d hubs; after %d it is taken for a loop and goes no further.", p.Hops, maxHops)
	}
	if wait, ok := h.sourceLimit.take(sourceKey(p.Source), came); !ok && p.Source.IsValid() {
		return PingResult{}, tooMany(wait, "Too many pings from your network; please wait %s and ping again.", wait)
	}
	known, err := h.Store.Followed(ctx, TopicID(p.URL), came)
	if err != nil {
		return PingResult{}, err
	}
	if !known {
		return h.pingStranger(ctx, p, came)
	}
	r, err := h.join(p, came)
	if err != nil {
		return PingResult{}, err
	}
	return h.await(ctx, r, p, came)
}

// await waits for a round, and makes the ping durable when that takes long.
//
// spec:cloudburst#answer-two-and-a-half-seconds
func (h *Hub) await(ctx context.Context, r *round, p Ping, came time.Time) (PingResult, error) {
	timer := time.NewTimer(came.Add(h.Options.AckWithin).Sub(h.now()))
	defer timer.Stop()
	select {
	case <-r.done:
		return r.result, r.err
	case <-ctx.Done():
		return PingResult{}, fault.Wrap(fault.Unavailable, ctx.Err(), "The ping was given up by the one who sent it.")
	case <-timer.C:
	}
	// The check goes on here; if this process ends before it does, the row is due
	// elsewhere, or here again.
	if err := h.Store.RecordPing(ctx, p.URL, came, h.now().Add(checkLease), nil); err != nil {
		return PingResult{}, err
	}
	h.wake(h.wakeChecks)
	select { // it may have ended while the row was written
	case <-r.done:
		return r.result, r.err
	default:
		return PingResult{Known: true, Pending: true}, nil
	}
}

// join adds a ping to the round that will answer it: the current one while its
// request has not left, else the one after.
//
// spec:cloudburst#follow-up-check
// spec:rsscloud-2009#ping-is-logged
func (h *Hub) join(p Ping, came time.Time) (*round, error) {
	id := TopicID(p.URL)
	e := event.Event{At: came.Truncate(time.Millisecond), Kind: event.KindPing, TopicID: id, Topic: p.URL, OK: true, Door: p.Door, Peer: peerOf(p)}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closing {
		return nil, fault.New(fault.Unavailable, "This server is stopping; please ping again in a minute.")
	}
	c := h.checks[id]
	if c == nil {
		c = &checking{}
		h.checks[id] = c
	}
	slot := &c.current
	if c.current != nil && c.sent {
		slot = &c.next
	}
	if *slot == nil {
		if wait, ok := h.hostLimit.take(hostOf(p.URL), came); !ok {
			return nil, tooMany(wait, "Too many checks of feeds at %s; please wait %s and ping again.", hostOf(p.URL), wait)
		}
		*slot = &round{done: make(chan struct{}), came: came}
		if slot == &c.current {
			h.running.Go(func() { h.check(id, p.URL) })
		}
	}
	r := *slot
	r.hops = max(r.hops, p.Hops)
	if len(r.pings) < 20 { // a flood of them says nothing new
		r.pings = append(r.pings, e)
	}
	return r, nil
}

// pingStranger answers a ping of a feed that nobody here follows. It is logged,
// and read at most once in a while for each source, so that nobody can have this
// server read what he likes.
//
// spec:cloudburst#ping-unknown
func (h *Hub) pingStranger(ctx context.Context, p Ping, came time.Time) (PingResult, error) {
	e := event.Event{Kind: event.KindPing, TopicID: TopicID(p.URL), Topic: p.URL, OK: true, Door: p.Door, Peer: peerOf(p),
		Text: "Nobody here is subscribed to this feed; there is nobody to tell."}
	read, failed := h.readStranger(ctx, p, came)
	if failed != nil {
		e.OK, e.Text = false, fault.Message(failed)
	}
	e.Took = h.now().Sub(came)
	if err := h.record(ctx, e); err != nil {
		return PingResult{}, err
	}
	return PingResult{Checked: read}, failed
}

// readStranger reads a feed that nobody follows, if its turn has come. One that
// takes longer than the ping can wait is neither read nor failed.
func (h *Hub) readStranger(ctx context.Context, p Ping, came time.Time) (read bool, err error) {
	if _, ok := h.strangeLimit.take(sourceKey(p.Source), came); !ok {
		return false, nil
	}
	if _, ok := h.hostLimit.take(hostOf(p.URL), came); !ok {
		return false, nil
	}
	h.stats.checks.Add(1)
	ctx, cancel := context.WithTimeout(ctx, h.Options.AckWithin)
	defer cancel()
	if err = h.fetchSlot(ctx); err == nil {
		_, err = h.Fetch.Fetch(ctx, Fetch{URL: p.URL})
		<-h.fetching
	}
	if ctx.Err() != nil {
		return false, nil
	}
	return err == nil, err
}

func peerOf(p Ping) string {
	if p.Source.IsValid() {
		return p.Source.Unmap().String()
	}
	return ""
}

func tooMany(wait time.Duration, format string, args ...any) error {
	for i, a := range args {
		if d, ok := a.(time.Duration); ok {
			args[i] = d.Round(100 * time.Millisecond)
		}
	}
	f := fault.New(fault.TooMany, format, args...)
	f.RetryAfter = max(wait, time.Second)
	return f
}

// checkURL says what is wrong with the URL of a feed, if anything. Addresses are
// the Fetcher's business.
func checkURL(raw string) error {
	switch {
	case raw == "":
		return fault.New(fault.Invalid, "The url is missing: name the address of the feed that changed.")
	case len(raw) > urlLongest:
		return fault.New(fault.Invalid, "The url is %d bytes long; at most %d are accepted.", len(raw), urlLongest)
	case !utf8.ValidString(raw) || strings.ContainsFunc(raw, func(r rune) bool { return r <= ' ' || r == 0x7f }):
		return fault.New(fault.Invalid, "The url %q has a space or a control character in it; write it percent-encoded.", clip(raw))
	}
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" || u.Hostname() == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return fault.New(fault.Invalid, "The url %q is not the address of a feed; it must begin with http:// or https:// and name a host.", clip(raw))
	}
	if u.Fragment != "" || strings.Contains(raw, "#") {
		return fault.New(fault.Invalid, "The url %q has a fragment (#…), which no server ever sees; leave it out.", clip(raw))
	}
	return nil
}

func clip(s string) string {
	if len(s) <= 200 {
		return s
	}
	return strings.ToValidUTF8(s[:200], "") + "…"
}
