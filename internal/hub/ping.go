package hub

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"cloudburst/internal/event"
	"cloudburst/internal/fault"
	"cloudburst/internal/href"
	"cloudburst/internal/limit"
	"cloudburst/internal/text"
)

const (
	maxURL            = 2048 // maximum length of a feed's URL in bytes
	unknownTopicEvery = 10 * time.Second
	maxHops           = 3
)

// round is one check of a topic, with all pings that the check answers.
type round struct {
	done       chan struct{}
	receivedAt time.Time // when the first ping of the round arrived
	pings      []event.Event
	origins    []any // what Tracer.Origin returned for the pings
	hops       int
	listed     bool     // recent changes already contain the change
	pinged     bool     // the round answers a ping; false: only a follow-up
	related    []string // not nil: the round stores pings of the topics that declare its URL, but not of these, which every sender checks
	topic      *Topic   // the topic as read for the first ping, if the check starts immediately; nil: read the topic again
	result     PingResult
	err        error
}

// checking is the state of one topic's checks.
type checking struct {
	last    time.Time // when the last check sent its request
	sent    bool      // the current round has sent its request
	current *round
	next    *round // for pings that arrive after the current round has sent its request
}

// Ping checks a feed that is reported as changed, and notifies its subscribers if it did change.
// It returns when the check and the resulting work are stored, without waiting for deliveries.
// After Options.AckWithin it stores the ping and returns Pending.
//
// Errors: fault.Invalid (not a feed URL), TooMany (with RetryAfter), Unreadable (the feed cannot
// be read), Refused (forbidden address, or too many hops), Unavailable.
//
// spec:rsscloud-2009#ping-verifies-change
func (h *Hub) Ping(ctx context.Context, p Ping) (PingResult, error) {
	h.Init()
	receivedAt := h.now()
	if !p.Forward {
		h.stats.pings.Add(1)
	}
	p.origin = h.origin(ctx)
	if err := (pinging{h}).admitPing(ctx, p, receivedAt); err != nil {
		return PingResult{}, err
	}
	urls := []string{p.URL}
	if !p.OnlyThisURL {
		urls = h.names(urls)
	}
	pinging{h}.markPinged(urls, receivedAt)
	topics, err := pinging{h}.following(ctx, urls, receivedAt, maxRelated)
	if err != nil {
		return PingResult{}, err
	}
	if p.Forward {
		if len(topics) == 0 {
			return PingResult{}, nil
		}
		h.stats.pings.Add(1)
	}
	read, err := pinging{h}.notifyAggregator(ctx, p, urls, topics)
	switch {
	case err != nil:
		return PingResult{}, err
	case len(topics) == 0 && read && !pinging{h}.isOwnPing(p): // pings of this program's own feeds are listed by pingUnknownTopic, with their title
		return pinging{h}.pingAggregatorOnly(ctx, p)
	case len(topics) == 0:
		return pinging{h}.pingUnknownTopic(ctx, p, receivedAt)
	}
	p.URL = topics[0].URL
	r, err := pinging{h}.join(p, receivedAt, &topics[0], nil)
	if err != nil {
		return PingResult{}, err
	}
	if err := (pinging{h}).alsoPing(ctx, topics[1:], urls, p, receivedAt); err != nil {
		return PingResult{}, err
	}
	res, err := pinging{h}.await(ctx, r, p, receivedAt)
	if res.Topic = p.URL; err == nil && res.Changed && p.Count {
		res.Subscribers = pinging{h}.subscribers(ctx, slices.DeleteFunc(topics, func(t Topic) bool { return t.URL != p.URL && !slices.Contains(urls, t.URL) }))
	}
	return res, err
}

// pinging contains the methods that process pings and pushes.
type pinging struct{ *Hub }

// subscribers counts the live subscriptions of topics. It returns -1 if the count failed.
func (h pinging) subscribers(ctx context.Context, topics []Topic) (sum int64) {
	now := h.now()
	for _, t := range topics {
		counts, err := h.Store.Subscribers(ctx, t.ID, now)
		if err != nil {
			h.Log.Warn("cannot count subscribers", "topic", t.URL, "err", err)
			return -1
		}
		for _, n := range counts {
			sum += n
		}
	}
	return sum
}

// admitPing returns an error if a ping must be rejected before it causes any read.
func (h pinging) admitPing(ctx context.Context, p Ping, receivedAt time.Time) error {
	err := h.checkReadable(p.URL)
	if err != nil {
		h.logRefusedPing(ctx, p, err)
		return err
	}
	if err = checkHops(p.Hops); err == nil && !p.ReaderNotified { // if the aggregator was notified, Admit has already counted this push against its source
		err = h.admitSource(p.Source, receivedAt)
	}
	return err
}

// names adds the other URLs under which this program serves the same feeds: its listener has
// several host names, and subscribers may use any of them. Each topic keeps the URL that its
// subscribers used, because notifications contain this URL.
//
// spec:cloudburst#own-names
func (h *Hub) names(urls []string) []string {
	if h.Options.Names == nil {
		return urls
	}
	all := slices.Clone(urls)
	for _, u := range urls {
		for _, name := range h.Options.Names(u) {
			if !slices.Contains(all, name) {
				all = append(all, name)
			}
		}
	}
	return all
}

// following returns at most n topics that urls mean, which the caller checks. If there may be more on
// the host of a URL, the pings of these further topics are stored before following returns.
//
// spec:cloudburst#ping-related
func (h pinging) following(ctx context.Context, urls []string, receivedAt time.Time, n int) ([]Topic, error) {
	topics, err := h.Store.Following(ctx, urls, 0, receivedAt, n)
	if err != nil || len(topics) < n {
		return topics, err
	}
	for _, u := range urls {
		r, err := h.join(Ping{URL: u}, receivedAt, nil, topicURLs(topics))
		if err != nil {
			return nil, err
		}
		select {
		case <-r.done:
			err = r.err
		case <-ctx.Done():
			err = fault.Wrap(fault.Unavailable, ctx.Err(), "The client cancelled the ping.")
		}
		if err != nil {
			return nil, err
		}
	}
	return topics, nil
}

// alsoPing checks further topics that a ping applies to. The client does not wait for these checks,
// so their pings are stored first. The URLs in same belong to one document, so that its change is
// listed once.
func (h pinging) alsoPing(ctx context.Context, topics []Topic, same []string, p Ping, receivedAt time.Time) error {
	if len(topics) == 0 {
		return nil
	}
	urls, listed := topicURLs(topics), p.listed
	if err := h.Store.Announce(ctx, nil, urls, receivedAt, receivedAt.Add(checkLease), nil); err != nil {
		return err
	}
	for _, u := range urls {
		p.URL, p.listed = u, listed || slices.Contains(same, u)
		h.joinLater(p, receivedAt)
	}
	return nil
}

// AnswerPings answers all waiting and later pings without waiting for their checks: it stores each
// ping and returns Pending, as after Options.AckWithin. A server calls it before it stops, so that
// pings are answered before their connections close.
func (h *Hub) AnswerPings() {
	h.Init()
	h.stoppingOnce.Do(func() { close(h.stopping) })
}

// await waits for a round, and stores the ping if the round takes long.
//
// spec:cloudburst#answer-two-and-a-half-seconds
func (h pinging) await(ctx context.Context, r *round, p Ping, receivedAt time.Time) (PingResult, error) {
	timer := time.NewTimer(receivedAt.Add(h.Options.AckWithin).Sub(h.now()))
	defer timer.Stop()
	select {
	case <-r.done:
		return r.result, r.err
	case <-ctx.Done():
		return PingResult{}, fault.Wrap(fault.Unavailable, ctx.Err(), "The client cancelled the ping.")
	case <-timer.C:
	case <-h.stopping:
	}
	// The check continues. If this process ends before the check does, the row becomes due again on
	// any node.
	if err := h.Store.RecordPing(ctx, p.URL, receivedAt, h.now().Add(checkLease), nil); err != nil {
		return PingResult{}, err
	}
	h.wake(h.wakeChecks)
	select { // the round may have ended while the row was being written
	case <-r.done:
		return r.result, r.err
	default:
		return PingResult{Known: true, Pending: true}, nil
	}
}

// join adds a ping to the round that will answer it: the current round until it sends its request,
// and then the next round. found is the topic if the caller has read it, or nil. If related is not nil,
// the ping joins the round that stores pings of related topics, without those that the caller checks.
//
// spec:cloudburst#follow-up-check
// spec:rsscloud-2009#ping-is-logged
func (h pinging) join(p Ping, receivedAt time.Time, found *Topic, related []string) (*round, error) {
	id := TopicID(p.URL)
	if related != nil {
		id = TopicID("related " + p.URL)
	}
	e := event.Event{At: receivedAt.Truncate(time.Millisecond), Kind: event.KindPing, TopicID: id, Topic: p.URL, OK: true, Via: p.Via, Peer: peerOf(p)}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closing {
		return nil, fault.New(fault.Unavailable, "This server is stopping; please ping again in a minute.")
	}
	c := h.checks[id]
	if c == nil {
		c = &checking{}
	}
	slot := &c.current
	if c.current != nil && c.sent {
		slot = &c.next
	}
	if *slot == nil {
		// Use the current time, because a postponed ping has its original time.
		if wait, ok := h.hostLimit.Take(href.Host(p.URL), h.now()); !ok {
			return nil, tooMany(wait, "Too many checks of feeds at %s; please wait %s and ping again.", text.Host(p.URL), wait)
		}
		*slot = &round{done: make(chan struct{}), receivedAt: receivedAt, related: related}
		if h.checks[id] == nil { // found is current: no check of this process has changed the topic since
			(*slot).topic = found
		}
		h.checks[id] = c
		if slot == &c.current {
			h.running.Go(func() { checker(h).check(id, p.URL) })
		}
	} else {
		(*slot).related = slices.DeleteFunc((*slot).related, func(u string) bool { return !slices.Contains(related, u) })
	}
	r := *slot
	r.hops = max(r.hops, p.Hops)
	r.listed = r.listed || p.listed
	if p.followUp {
		return r, nil
	}
	r.pinged = true
	if len(r.pings) < 20 { // traces contain at most 20 pings
		r.pings, r.origins = append(r.pings, e), append(r.origins, p.origin)
	}
	return r, nil
}

// pingUnknownTopic answers a ping of a feed without subscribers. It logs the ping and reads the
// feed at a limited rate per source, so that clients cannot make this server read arbitrary URLs.
//
// spec:cloudburst#ping-unknown
func (h pinging) pingUnknownTopic(ctx context.Context, p Ping, receivedAt time.Time) (PingResult, error) {
	e := unsubscribedEvent(p)
	read, about, failed := h.readUnknownTopic(ctx, p, receivedAt)
	if failed != nil {
		e.OK, e.Text = false, fault.Message(failed)
	}
	e.Took = h.now().Sub(receivedAt)
	if failed != nil {
		if err := h.record(ctx, e); err != nil {
			return PingResult{}, err
		}
		return PingResult{}, failed
	}
	list := []Change{{Name: about.Title, URL: cmp.Or(about.Home, p.URL), Feed: p.URL, Via: p.Via}}
	h.numberChanges(list, receivedAt)
	events := []event.Event{e}
	h.stamp(events)
	if err := h.Store.Announce(ctx, list, nil, receivedAt, receivedAt, events); err != nil {
		return PingResult{}, err
	}
	h.publish(events...)
	if about.Self != "" && about.Self != p.URL {
		p.listed = true
		if _, err := h.receive(ctx, []string{about.Self}, p); err != nil {
			return PingResult{}, err
		}
	}
	return PingResult{Checked: read}, nil
}

// readUnknownTopic reads a feed without subscribers, if the rates allow it. If the read takes
// longer than the ping can wait, readUnknownTopic reports neither success nor failure.
func (h pinging) readUnknownTopic(ctx context.Context, p Ping, receivedAt time.Time) (read bool, about About, err error) {
	if !h.isOwnPing(p) {
		if _, ok := h.unknownTopicLimit.Take(limit.Network(p.Source), receivedAt); !ok {
			return false, about, nil
		}
	}
	if _, ok := h.hostLimit.Take(href.Host(p.URL), receivedAt); !ok {
		return false, about, nil
	}
	h.stats.checks.Add(1)
	ctx, cancel := context.WithTimeout(ctx, h.Options.AckWithin)
	defer cancel()
	if err = checker(h).fetchSlot(ctx); err == nil {
		var got Fetched
		got, err = h.Fetch.Fetch(ctx, Fetch{URL: p.URL})
		<-h.fetching
		if err == nil {
			about = got.about()
		}
	}
	if ctx.Err() != nil {
		return false, about, nil
	}
	return err == nil, about, err
}

// isOwnPing reports whether this program sent the ping for a feed that it serves. Reading such a
// feed needs no request, and its title is shown in the recent changes.
func (h pinging) isOwnPing(p Ping) bool {
	return !p.Source.IsValid() && h.Options.IsOwnTopic != nil && h.Options.IsOwnTopic(p.URL)
}

// about returns the description of the feed in a response, or an empty one if it is unknown.
func (f Fetched) about() About {
	if f.About == nil {
		return About{}
	}
	return f.About()
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
			args[i] = max(d.Round(100*time.Millisecond), time.Second) // rounded in the same way as RetryAfter
		}
	}
	f := fault.New(fault.TooMany, format, args...)
	f.RetryAfter = max(wait, time.Second)
	return f
}

// checkTopic returns an error if a URL cannot be a topic. The error does not repeat a private URL.
//
// spec:cloudburst#hosted-private
func (h *Hub) checkTopic(raw string) error {
	if h.private(raw) {
		return fault.New(fault.Refused, "This is the address of a private feed, which is never announced here; subscribe to the URL that the feed names as its own (rel=\"self\").")
	}
	return checkURL(raw)
}

// checkReadable is like checkTopic, and also rejects URLs that can never be read, so that the
// client gets the error immediately.
//
// spec:cloudburst#topic-unreadable
func (h *Hub) checkReadable(raw string) error {
	err := h.checkTopic(raw)
	if err == nil && h.Options.Readable != nil && (h.Options.IsOwnTopic == nil || !h.Options.IsOwnTopic(raw)) {
		err = h.Options.Readable(raw)
	}
	return err
}

func (h *Hub) private(url string) bool { return h.Options.IsPrivate != nil && h.Options.IsPrivate(url) }

// checkURL returns an error if a URL cannot be the URL of a feed. The Fetcher checks addresses.
func checkURL(raw string) error {
	switch {
	case raw == "":
		return fault.New(fault.Invalid, "The url is missing: name the address of the feed that changed.")
	case len(raw) > maxURL:
		return fault.New(fault.Invalid, "The url is %d bytes long; at most %d are accepted.", len(raw), maxURL)
	case !utf8.ValidString(raw) || strings.ContainsFunc(raw, func(r rune) bool { return r <= ' ' || r == 0x7f }):
		return fault.New(fault.Invalid, "The url %q has a space or a control character in it; write it percent-encoded.", clip(raw))
	}
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" || u.Hostname() == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return fault.New(fault.Invalid, "The url %q is not the address of a feed; it must begin with http:// or https:// and name a host.", clip(raw))
	}
	if p := u.Port(); p != "" {
		if n, err := strconv.ParseUint(p, 10, 16); err != nil || n == 0 {
			return fault.New(fault.Invalid, "The port of the url %q is not a number from 1 to 65535.", clip(raw))
		}
	}
	if u.Fragment != "" || strings.Contains(raw, "#") {
		return fault.New(fault.Invalid, "The url %q has a fragment (#…), which no server ever sees; leave it out.", clip(raw))
	}
	return nil
}

func clip(s string) string { return text.Clip(s, 200) }
