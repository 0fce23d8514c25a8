package hub

import (
	"context"
	"net/netip"
	"sync"
	"time"

	"cloudburst/internal/event"
	"cloudburst/internal/fault"
	"cloudburst/internal/href"
	"cloudburst/internal/limit"
	"cloudburst/internal/text"
)

// A registration can name a callback of a third party. The number of challenges that such
// callbacks refuse is limited per source and host.
//
// spec:cloudburst#unconfirmed-callbacks-limited
const (
	maxRefusedPerRegistration = 3           // maximum number of refused challenges of one registration; then the remaining feeds are rejected
	refusedBurst              = 20          // refusals in a burst, per source and callback host
	refusedEvery              = time.Minute // time after which one more refusal is allowed
)

// consent verifies the callback. If a domain was named, it sends a challenge for each feed;
// otherwise it makes one test call with the first readable feed. It returns the refusals by feed.
//
// spec:rsscloud-2009#test-call
// spec:rsscloud-2009#challenge
func (h registering) consent(ctx context.Context, r Registration, feeds []string, abouts map[string]About, refused map[string]error) event.Exchange {
	var ask []string
	for _, f := range feeds {
		if refused[f] == nil {
			ask = append(ask, f)
		}
	}
	if len(ask) == 0 {
		return event.Exchange{Callback: r.Callback}
	}
	ctx, cancel := context.WithTimeout(ctx, consentTimeout)
	defer cancel()
	if !r.Challenge {
		x, err := h.verify(ctx, r, ask[0], abouts[ask[0]])
		for _, f := range ask {
			if err != nil {
				refused[f] = err
			}
		}
		return x
	}
	var mu sync.Mutex
	var last event.Exchange
	met, unmet := false, 0
	each(ask, func(feed string) {
		mu.Lock()
		enough := !met && unmet >= maxRefusedPerRegistration
		if enough {
			refused[feed] = fault.New(fault.Refused, "The callback agreed to none of the first feeds of this registration, so it was not asked for this one.")
		}
		mu.Unlock()
		if enough {
			return
		}
		x, err := h.verify(ctx, r, feed, abouts[feed])
		mu.Lock()
		defer mu.Unlock()
		met = met || err == nil
		if err != nil {
			unmet++
			refused[feed] = err
		}
		if err != nil || last == (event.Exchange{}) {
			last = x
		}
	})
	return last
}

func (h registering) verify(ctx context.Context, r Registration, feed string, about About) (event.Exchange, error) {
	wait, ok := h.consentLimit.Take(href.Host(r.Callback), h.now())
	if ok && r.Challenge && r.Source.IsValid() && h.Options.SourceRate > 0 { // also limit per source: otherwise a client could use a new host name for each challenge
		wait, ok = h.consentLimit.Take("for "+limit.Network(r.Source), h.now())
	}
	if !ok {
		return event.Exchange{Callback: r.Callback}, tooMany(wait, "Too many registrations for callbacks at %s; please wait %s and register again.", text.Host(r.Callback), wait)
	}
	begun := h.now()
	x, err := h.Verify.Verify(ctx, r.subscription(feed, begun, begun), Topic{ID: TopicID(feed), URL: feed, About: about}, r.Challenge)
	x.Callback = r.Callback
	r.consentLog.add(r, feed, x, err, h.now().Sub(begun))
	if r.Challenge && (fault.CodeOf(err) == fault.Refused || fault.CodeOf(err) == fault.Unreadable) {
		h.refusedCallbacks.Take(callbackKey(r.Source, r.Callback), h.now()) // count the refusal even if the limit is exceeded
	}
	return x, err
}

// AllowChallenge counts a challenge that a callback redirects to the host of url. It returns false
// if the host has received too many challenges.
func (h *Hub) AllowChallenge(url string) bool {
	h.Init()
	_, ok := h.consentLimit.Take(href.Host(url), h.now())
	return ok
}

// callbackKey identifies a source and the host of a callback.
func callbackKey(source netip.Addr, callback string) string {
	return limit.Network(source) + " " + href.Host(callback)
}

// consentLog collects the test calls and challenges of one registration. A nil pointer collects
// nothing.
type consentLog struct {
	mu     sync.Mutex
	events []event.Event
}

// add records one test call or challenge. It does nothing if the request was not sent.
//
// spec:rsscloud-2009#log
func (a *consentLog) add(r Registration, feed string, x event.Exchange, err error, took time.Duration) {
	if a == nil || x.Request == "" {
		return
	}
	e := event.Event{Kind: event.KindVerify, TopicID: TopicID(feed), Topic: feed, OK: err == nil, Via: r.Protocol, Peer: text.Host(r.Callback), Took: took,
		Text: "The test call was answered.", Detail: detail(x)}
	switch {
	case err != nil:
		e.Text = fault.Message(err)
	case r.Challenge:
		e.Text = "The challenge was met."
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.events = append(a.events, e)
}
