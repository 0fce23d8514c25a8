package hub

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"cloudburst/internal/event"
	"cloudburst/internal/fault"
	"cloudburst/internal/href"
	"cloudburst/internal/limit"
	"cloudburst/internal/text"
)

const (
	maxFeeds       = 50 // maximum number of feeds in one registration
	consentRate    = 20 // test calls and challenges per second and callback host
	consentBurst   = 400
	maxWorkers     = 4                // concurrent feeds or challenges of one registration
	readsTimeout   = 30 * time.Second // limit for reading all feeds, so that a registration takes less than a minute
	consentTimeout = 25 * time.Second // limit for all challenges
	importBatch    = 1000
)

// reading is one read of a feed. Concurrent registrations of the feed share it.
type reading struct {
	done chan struct{}
	got  topicProbe
	err  error
}

// topicProbe contains what a registration needs to know about a fetched topic.
type topicProbe struct {
	about About
	size  int64
}

// Register adds or renews subscriptions of one callback. Each feed is checked separately: it must
// be readable and the callback must consent. A refused feed changes nothing, not even the expiry
// of an older registration. Accepted subscriptions are stored when Register returns.
//
// An error concerns the whole call: fault.Invalid, Refused (the callback may not be called, or is a
// hub), TooMany, Unavailable. If the error is nil, at least one of Accepted and Refused is not
// empty.
//
// spec:cloudburst#renewal-unverified
func (h *Hub) Register(ctx context.Context, r Registration) (Registered, error) {
	h.Init()
	begun := h.now()
	h.stats.registers.Add(1)
	feeds, err := registering{h}.checkRegistration(&r, begun)
	if err != nil {
		h.logRejected(ctx, event.KindRegister, r, err)
		return Registered{}, err
	}
	r.consentLog = &consentLog{}
	refused := make(map[string]error, len(feeds))
	listed, err := registering{h}.alreadySubscribed(ctx, r, feeds, begun)
	if err != nil {
		return Registered{}, err
	}
	admitted := registering{h}.admitReads(ctx, r, feeds, refused)
	defer admitted()
	abouts := registering{h}.readable(ctx, unrefused(feeds, refused), refused)
	if err := (registering{h}).acceptSubscribed(ctx, listed, abouts, refused); err != nil {
		return Registered{}, err
	}
	exchange := registering{h}.consent(ctx, r, without(feeds, listed), abouts, refused)
	now := h.now()
	out := Registered{Expires: registering{h}.expiry(r, now), Lasts: h.Options.Expiry}
	var subs []Subscription
	events := r.consentLog.events
	for _, feed := range feeds {
		e := event.Event{Kind: event.KindRegister, TopicID: TopicID(feed), Topic: feed, OK: true, Via: r.Via, Peer: text.Host(r.Callback), Took: now.Sub(begun),
			Text:   registeredText(r.Protocol, out.Expires),
			Detail: detail(exchange)}
		if err := refused[feed]; err != nil {
			out.Refused = append(out.Refused, Refusal{Feed: feed, Reason: fault.Message(err)})
			if h.private(feed) || fault.CodeOf(err) == fault.TooMany { // refusals because of a rate limit are not logged, because they could fill the log
				continue
			}
			e.OK, e.Text = false, fmt.Sprintf("Not registered: %s", fault.Message(err))
		} else {
			if len(out.Accepted) == 0 {
				out.About = abouts[feed]
			}
			out.Accepted = append(out.Accepted, feed)
			if slices.Contains(listed, feed) {
				e.Text = "Is on the list already; nothing was changed."
			} else {
				subs = append(subs, r.subscription(feed, now, out.Expires))
			}
		}
		events = append(events, e)
	}
	h.stamp(events)
	if err := (registering{h}).writeRegistered(ctx, out.Accepted, subs, events); err != nil {
		return Registered{}, err
	}
	h.publish(events...)
	for _, s := range subs {
		pinging{h}.updateAbout(ctx, s.TopicID, abouts[feedOf(s, out.Accepted)])
	}
	return out, nil
}

// registering contains the methods that process registrations: they read the feeds and verify the
// callbacks.
type registering struct{ *Hub }

// writeRegistered stores the accepted subscriptions and the events of a registration, if there are
// any.
func (h registering) writeRegistered(ctx context.Context, feeds []string, subs []Subscription, events []event.Event) error {
	switch {
	case len(subs) > 0:
		return h.Store.Subscribe(ctx, feeds, subs, events)
	case len(events) > 0:
		return h.Store.AppendEvents(ctx, events)
	}
	return nil
}

// expiry returns the end of a registration.
func (h registering) expiry(r Registration, now time.Time) time.Time {
	if r.Protocol == CNWS {
		return Forever()
	}
	return now.Add(h.Options.Expiry)
}

func registeredText(protocol string, expires time.Time) string {
	if !expires.Before(Forever()) {
		return fmt.Sprintf("Registered for %s notifications.", strings.ToUpper(protocol)) // only CNWS registrations do not expire
	}
	return fmt.Sprintf("Registered for %s notifications until %s.", protocol, expires.Format("15:04 on 2 January"))
}

// feedOf returns the feed of s among feeds, or "".
func feedOf(s Subscription, feeds []string) string {
	for _, f := range feeds {
		if TopicID(f) == s.TopicID {
			return f
		}
	}
	return ""
}

func without(list, some []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return slices.Contains(some, s) })
}

// alreadySubscribed returns the feeds that a CNWS subscriber has subscriptions for. They stay
// unchanged, but pending deliveries become due now, because the subscriber may have been
// unreachable before.
//
// spec:cnws-2003#already-subscribed
func (h registering) alreadySubscribed(ctx context.Context, r Registration, feeds []string, now time.Time) ([]string, error) {
	if r.Protocol != CNWS {
		return nil, nil
	}
	var listed []string
	var pending []Result
	for _, f := range feeds {
		s, err := h.Store.Subscription(ctx, Key{TopicID: TopicID(f), ID: SubscriptionID(CNWS, r.Callback)})
		if fault.CodeOf(err) == fault.NotFound && err != nil {
			continue
		}
		if err != nil {
			return nil, err
		}
		listed = append(listed, f)
		if !s.NextAt.IsZero() {
			pending = append(pending, Result{Key: s.Key(), Version: s.PendingVersion, Outcome: Raised, NextAt: now})
		}
	}
	if len(pending) == 0 {
		return listed, nil
	}
	if err := h.Store.Settle(ctx, now, pending, nil); err != nil {
		return nil, err
	}
	h.wake(h.wakeRetry)
	return listed, nil
}

// acceptSubscribed accepts feeds that cannot be read now if the subscriber already has a
// subscription. The response contains the stored description of the feed.
func (h registering) acceptSubscribed(ctx context.Context, listed []string, abouts map[string]About, refused map[string]error) error {
	for _, f := range listed {
		if refused[f] == nil {
			continue
		}
		t, err := h.Store.Topic(ctx, TopicID(f))
		if err != nil && fault.CodeOf(err) != fault.NotFound {
			return err
		}
		abouts[f] = t.About
		delete(refused, f)
	}
	return nil
}

func (r Registration) subscription(feed string, now, expires time.Time) Subscription {
	return Subscription{
		TopicID: TopicID(feed), ID: SubscriptionID(r.Protocol, r.Callback), Protocol: r.Protocol,
		Callback: r.Callback, Procedure: r.Procedure, CreatedAt: now, RenewedAt: now, ExpiresAt: expires,
	}
}

// checkRegistration makes all checks that need no requests. It returns each feed once.
func (h registering) checkRegistration(r *Registration, now time.Time) ([]string, error) {
	if len(r.Feeds) == 0 {
		return nil, fault.New(fault.Invalid, "No feed was named: give at least one url to be notified of.")
	}
	if len(r.Feeds) > maxFeeds {
		return nil, fault.New(fault.Invalid, "%d feeds were named; at most %d are accepted in one registration.", len(r.Feeds), maxFeeds)
	}
	if err := checkCallback(r.Callback); err != nil {
		return nil, err
	}
	if h.Options.IsOwnURL != nil && h.Options.IsOwnURL(r.Callback) {
		return nil, fault.New(fault.Refused, "The callback %s is one of this server's own endpoints; that would be a loop.", clip(r.Callback))
	}
	if h.Options.Callable != nil {
		if err := h.Options.Callable(r.Callback); err != nil {
			return nil, err
		}
	}
	var feeds []string
	for _, f := range r.Feeds {
		if !slices.Contains(feeds, f) {
			feeds = append(feeds, f)
		}
	}
	return feeds, h.admitRegistration(*r, len(feeds), now)
}

func checkCallback(raw string) error {
	u, err := url.Parse(raw)
	if err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" || len(raw) > maxURL {
		return fault.New(fault.Invalid, "The callback %q is not an http or https address of at most %d bytes.", clip(raw), maxURL)
	}
	return nil
}

// readable reads each feed once, records those that cannot be read, and returns the descriptions
// of the others.
//
// spec:cloudburst#register-reads-once
func (h registering) readable(ctx context.Context, feeds []string, refused map[string]error) map[string]About {
	ctx, cancel := context.WithTimeout(ctx, readsTimeout)
	defer cancel()
	var mu sync.Mutex
	abouts := make(map[string]About, len(feeds))
	each(feeds, func(feed string) {
		var got topicProbe
		err := h.checkReadable(feed)
		if err == nil {
			got, err = h.readOnce(ctx, feed)
		}
		mu.Lock()
		defer mu.Unlock()
		if err != nil {
			refused[feed] = err
		}
		abouts[feed] = got.about
	})
	return abouts
}

// readOnce reads a feed, sharing the read with concurrent callers.
func (h registering) readOnce(ctx context.Context, feed string) (topicProbe, error) {
	if ctx.Err() != nil {
		return topicProbe{}, readTimedOut(ctx, feed)
	}
	h.mu.Lock()
	rd := h.reads[feed]
	if rd == nil {
		if h.closing {
			h.mu.Unlock()
			return topicProbe{}, fault.New(fault.Unavailable, "This server is stopping; please try again in a minute.")
		}
		if wait, ok := h.hostLimit.Take(href.Host(feed), h.now()); !ok {
			h.mu.Unlock()
			return topicProbe{}, tooMany(wait, "Too many checks of feeds at %s; please wait %s and register again.", text.Host(feed), wait)
		}
		rd = &reading{done: make(chan struct{})}
		h.reads[feed] = rd
		h.running.Go(func() {
			if rd.err = checker(h).fetchSlot(h.work); rd.err == nil {
				var got Fetched
				got, rd.err = h.Fetch.Fetch(h.work, Fetch{URL: feed})
				<-h.fetching
				if rd.err == nil {
					rd.got = topicProbe{about: got.about(), size: int64(len(got.Body))}
				}
			}
			h.mu.Lock()
			delete(h.reads, feed)
			h.mu.Unlock()
			close(rd.done)
		})
	}
	h.mu.Unlock()
	select {
	case <-rd.done:
		return rd.got, rd.err
	case <-ctx.Done():
		return topicProbe{}, readTimedOut(ctx, feed)
	}
}

func readTimedOut(ctx context.Context, feed string) error {
	return fault.Wrap(fault.Unavailable, ctx.Err(), "There was no time left to read the feed %s; register for it by itself, or for fewer at once.", clip(feed))
}

// each calls do for every element of list, at most maxWorkers calls at once.
func each(list []string, do func(string)) {
	var wg sync.WaitGroup
	slots := make(chan struct{}, maxWorkers)
	for _, s := range list {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			do(s)
		})
	}
	wg.Wait()
}

// Cancel ends registrations. If the request names no domain, the callback has the address of the
// client, which is sufficient proof. With a domain, the callback must answer a challenge. Accepted
// lists the feeds whose registration ended.
func (h *Hub) Cancel(ctx context.Context, r Registration) (Registered, error) {
	h.Init()
	feeds, err := registering{h}.checkRegistration(&r, h.now())
	if err != nil {
		h.logRejected(ctx, event.KindCancel, r, err)
		return Registered{}, err
	}
	r.consentLog = &consentLog{}
	refused := map[string]error{}
	keys := make([]Key, 0, len(feeds))
	for _, f := range feeds {
		key := Key{TopicID: TopicID(f), ID: SubscriptionID(r.Protocol, r.Callback)}
		if _, err := h.Store.Subscription(ctx, key); fault.CodeOf(err) == fault.NotFound {
			refused[f] = fault.New(fault.NotFound, "There is no such registration for %s; nothing was changed.", clip(f))
		} else if err != nil {
			return Registered{}, err
		}
	}
	if r.Challenge {
		registering{h}.consent(ctx, r, feeds, nil, refused)
		if len(r.consentLog.events) > 0 {
			if err := h.record(ctx, r.consentLog.events...); err != nil {
				return Registered{}, err
			}
		}
	}
	var out Registered
	for _, f := range feeds {
		if err := refused[f]; err != nil {
			out.Refused = append(out.Refused, Refusal{f, fault.Message(err)})
			h.LogRejected(ctx, Rejection{Kind: event.KindCancel, Topic: f, Text: fmt.Sprintf("Not cancelled: %s", fault.Message(err)), Via: r.Via, Source: r.Source})
			continue
		}
		out.Accepted = append(out.Accepted, f)
		keys = append(keys, Key{TopicID: TopicID(f), ID: SubscriptionID(r.Protocol, r.Callback)})
	}
	if len(keys) == 0 {
		return out, nil
	}
	_, err = registering{h}.remove(ctx, keys, out.Accepted, r.Via, "Ended by its owner.")
	return out, err
}

// Remove ends subscriptions on behalf of the operator and returns them as they were.
//
// spec:websub-2018#hub-denies-later
func (h *Hub) Remove(ctx context.Context, keys []Key, via string) ([]Subscription, error) {
	h.Init()
	gone, err := registering{h}.remove(ctx, keys, nil, via, "Ended by the operator.")
	if err != nil {
		return nil, err
	}
	denials, err := requesting{h}.denials(ctx, gone, "The operator of this hub has ended the subscription.")
	if err == nil && len(denials) > 0 {
		err = h.Store.Request(ctx, denials, nil)
		h.wake(h.wakeIntents)
	}
	return gone, err
}

func (h registering) remove(ctx context.Context, keys []Key, feeds []string, via, reason string) ([]Subscription, error) {
	events := make([]event.Event, 0, len(keys))
	for i, k := range keys {
		e := event.Event{Kind: event.KindCancel, TopicID: k.TopicID, OK: true, Via: via, Text: reason}
		if i < len(feeds) {
			e.Topic = feeds[i]
		} else if t, err := h.Store.Topic(ctx, k.TopicID); err == nil {
			e.Topic = t.URL
		}
		if s, err := h.Store.Subscription(ctx, k); err == nil {
			e.Peer, e.Detail = text.Host(s.Callback), detail(event.Exchange{Callback: s.Callback})
		}
		events = append(events, e)
	}
	h.stamp(events)
	gone, err := h.Store.Unsubscribe(ctx, keys, events)
	if err != nil {
		return nil, err
	}
	h.publish(events...)
	sweeping(h).forgetCounts()
	return gone, nil
}

// Import adds subscriptions without verification, from an export of this program or another hub. It
// skips expired subscriptions and returns the number of added or renewed ones.
func (h *Hub) Import(ctx context.Context, list []SubscriptionInfo) (added int, err error) {
	h.Init()
	now := h.now()
	perTopic := map[string]int{}
	for chunk := range slices.Chunk(list, importBatch) {
		var topics []string
		named := map[string]bool{}
		var subs []Subscription
		for _, s := range chunk {
			if !s.ExpiresAt.After(now) {
				continue
			}
			if err := checkURL(s.Topic); err != nil {
				return added, err
			}
			if err := checkCallback(s.Callback); err != nil {
				return added, err
			}
			s.TopicID, s.ID = TopicID(s.Topic), SubscriptionID(s.Protocol, s.Callback)
			perTopic[s.Topic]++
			if !named[s.Topic] {
				named[s.Topic] = true
				topics = append(topics, s.Topic)
			}
			subs = append(subs, s.Subscription)
		}
		if len(subs) == 0 {
			continue
		}
		if err := h.Store.Subscribe(ctx, topics, subs, nil); err != nil {
			return added, err
		}
		added += len(subs)
	}
	for topic, n := range perTopic {
		if n >= splitAbove {
			if err := h.Store.Split(ctx, TopicID(topic), n/splitTarget+1); err != nil {
				return added, err
			}
		}
	}
	sweeping{h}.forgetCounts()
	return added, h.record(ctx, event.Event{Kind: event.KindSystem, OK: true, Text: fmt.Sprintf("Imported %s.", text.Plural(added, "subscription"))})
}

// admitRegistration counts a registration of n feeds as n requests, because each feed causes a read
// and a verification.
func (h registering) admitRegistration(r Registration, feeds int, now time.Time) error {
	if !r.Source.IsValid() {
		return nil
	}
	for range feeds {
		if wait, ok := h.sourceLimit.Take(limit.Network(r.Source), now); !ok {
			return tooMany(wait, "Too many requests from your network; please wait %s and register again.", wait)
		}
	}
	if wait := h.refusedCallbacks.Wait(callbackKey(r.Source, r.Callback), now); r.Challenge && wait > 0 {
		return tooMany(wait, "%s has not agreed to the registrations that came from your network; please wait %s and register again.", text.Host(r.Callback), wait)
	}
	return nil
}
