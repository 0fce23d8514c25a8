package hub

import (
	"context"
	"net/netip"
	"sync"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/href"
	"cloudburst/internal/text"
)

// A registration can make this server read feeds of third parties. Reads for registrations that no
// callback confirmed are limited per feed host; all sources share this limit. Feeds with
// subscribers are exempt.
const (
	unverifiedBurst   = 100             // maximum reads per host in a burst, and maximum pending reads per host
	unverifiedEvery   = 2 * time.Second // time after which one more read is allowed
	pendingReadsWait  = 3 * time.Second // maximum time to wait for other registrations that are in progress
	maxRequestSources = 50_000          // maximum number of pending WebSub requests whose source is kept
)

// admitReads adds to refused the feeds that may not be read now. The caller must call admitted
// after it has accepted or refused the other feeds.
func (h registering) admitReads(ctx context.Context, r Registration, feeds []string, refused map[string]error) (admitted func()) {
	if !r.Source.IsValid() || h.unverifiedReads.Off() {
		return func() {}
	}
	var ends []func()
	var read []string
	of := map[string][]string{}
	for _, f := range feeds {
		of[href.Host(f)] = append(of[href.Host(f)], f)
	}
	for host, list := range of {
		wait := h.unverifiedReads.Wait(host, h.now())
		ok := false
		if wait == 0 {
			var end func()
			if end, ok = h.awaitReads(ctx, host, len(list)); ok {
				ends = append(ends, end)
			}
			wait = h.unverifiedReads.Wait(host, h.now()) // the registrations that this one waited for may have failed meanwhile
		}
		for _, f := range list {
			switch {
			case wait == 0 && ok || h.knows(ctx, f):
				read = append(read, f)
			case wait == 0:
				refused[f] = tooMany(pendingReadsWait, "Too many registrations for feeds at %s are under way; please wait %s and register again.", text.Host(f), pendingReadsWait)
			default:
				refused[f] = tooMany(wait, "Too many feeds at %s were registered without consent; please wait %s and register again.", text.Host(f), wait)
			}
		}
	}
	return func() {
		for _, f := range read {
			if code := fault.CodeOf(refused[f]); refused[f] != nil && (code == fault.Refused || code == fault.Unreadable) {
				h.unverifiedReads.Charge(href.Host(f), h.now()) // Charge may exceed the limit, because a registration is admitted as long as any tokens are left
			}
		}
		for _, end := range ends {
			end()
		}
	}
}

// awaitReads waits until n more feeds of a host may be read, at most pendingReadsWait.
func (h registering) awaitReads(ctx context.Context, host string, n int) (end func(), ok bool) {
	for till := h.now().Add(pendingReadsWait); ; {
		if end, ok = h.pendingReads.AcquireN(host, n); ok || !h.now().Before(till) || !h.pause(ctx, pendingReadsWait/100) {
			return end, ok
		}
	}
}

// knows reports whether a feed has subscribers or this program serves it.
func (h *Hub) knows(ctx context.Context, feed string) bool {
	if h.Options.IsOwnTopic != nil && h.Options.IsOwnTopic(feed) {
		return true
	}
	followed, err := h.Store.Followed(ctx, TopicID(feed), h.now())
	return err == nil && followed
}

// unrefused returns the feeds that are not in refused.
func unrefused(feeds []string, refused map[string]error) (list []string) {
	for _, f := range feeds {
		if refused[f] == nil {
			list = append(list, f)
		}
	}
	return list
}

// requestSources contains the sources of pending WebSub requests that this node received. It is
// only in memory; after a restart the sources are unknown.
type requestSources struct {
	mu sync.Mutex
	of map[Key]netip.Addr
}

// add records the source of a request.
func (a *requestSources) add(in Intent, source netip.Addr) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !source.IsValid() {
		return
	}
	if len(a.of) >= maxRequestSources { // forget all sources: other nodes have finished some of these requests
		clear(a.of)
	}
	a.of[Key{TopicID: in.TopicID, ID: in.ID}] = source
}

// take returns and removes the source of a request.
func (a *requestSources) take(in Intent) netip.Addr {
	a.mu.Lock()
	defer a.mu.Unlock()
	key := Key{TopicID: in.TopicID, ID: in.ID}
	source := a.of[key]
	delete(a.of, key)
	return source
}

// admitSource rejects WebSub requests of a source if the callback's host has refused too many
// earlier requests of this source. Renewals are exempt.
//
// spec:cloudburst#unconfirmed-callbacks-limited
func (h requesting) admitSource(ctx context.Context, in Intent, source netip.Addr, now time.Time) error {
	if !source.IsValid() || h.sourceLimit.Off() {
		return nil
	}
	wait := h.refusedCallbacks.Wait(callbackKey(source, in.Callback), now)
	if wait == 0 {
		return nil
	}
	s, err := h.Store.Subscription(ctx, Key{TopicID: TopicID(in.Topic), ID: SubscriptionID(WebSub, in.Callback)})
	if err == nil && s.ExpiresAt.After(now) {
		return nil
	}
	return tooMany(wait, "%s has not confirmed what was asked for from your network; please wait %s and ask again.", text.Host(in.Callback), wait)
}

// countUnconfirmed counts a request that the callback did not confirm.
func (h requesting) countUnconfirmed(in Intent) {
	if source := h.requestSources.take(in); source.IsValid() {
		h.refusedCallbacks.Take(callbackKey(source, in.Callback), h.now())
	}
}
