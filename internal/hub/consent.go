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

// Whoever names a callback that is not his own has us ask somebody who may know nothing
// of it. Those who ask in vain may do so only now and then.
//
// spec:cloudburst#unmet-consent
const (
	maxRefusedPerRegistration = 3           // challenges in vain in one registration before the rest is refused
	refusedBurst              = 20          // from one source about one host
	refusedEvery              = time.Minute // one more
)

// admitRegistration counts one for each feed, since each has us read it and ask somebody.
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

// consent asks the callback: once with the first feed that can be read, or by a
// challenge for each when a domain was named. It notes refusals by feed.
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
	if ok && r.Challenge && r.Source.IsValid() { // else names without end would be places without end
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
		h.refusedCallbacks.Take(callbackKey(r.Source, r.Callback), h.now()) // counted, whether there was room or not
	}
	return x, err
}

// MayAsk counts a challenge of the host of a URL that no registration named: a callback
// redirects there. False: the host was asked too often.
func (h *Hub) MayAsk(url string) bool {
	h.Init()
	_, ok := h.consentLimit.Take(href.Host(url), h.now())
	return ok
}

// unmetKey is a source with the host that it had us ask in vain.
func callbackKey(source netip.Addr, callback string) string {
	return limit.Network(source) + " " + href.Host(callback)
}
