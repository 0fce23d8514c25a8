package crashtest

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// targetedCrash contains the feeds and callbacks of a crash at a chosen time. The feeds do not
// change later, so no later change can hide a loss.
type targetedCrash struct {
	base   string
	s      *subscribers
	name   string
	feeds  []string
	cloud  []string // paths of callbacks, one for each feed
	websub []string
	cnws   []string
	owners []owner // owners of the hosted feeds
	last   sync.WaitGroup
}

// prepareCrash brings the program to a state in which a crash is likely to lose pending work, and
// returns in this state. over makes all feeds and callbacks fast again.
func (r *runner) prepareCrash(ctx context.Context, n int) (over func(), err error) {
	t := &targetedCrash{base: r.where(), s: r.subs[n%len(r.subs)], name: fmt.Sprintf("targeted%d", n)}
	for i := range 3 {
		t.feeds = append(t.feeds, fmt.Sprintf("%s/%s-%d.xml", r.feeds.base, t.name, i))
		t.cloud = append(t.cloud, fmt.Sprintf("/%s-%d", t.name, i))
		t.websub = append(t.websub, fmt.Sprintf("/ws-%s-%d", t.name, i))
		t.cnws = append(t.cnws, fmt.Sprintf("/cn-%s-%d", t.name, i))
	}
	hosted := make(chan error, 1)
	go func() { hosted <- r.host(ctx, t) }()
	var asked []*request
	for i, feed := range t.feeds {
		asked = append(asked, r.ask(t.base, subscribe, feed, t.s, t.websub[i], r.secret(), true))
		r.registerCNWS(t.base, feed, t.s, t.cnws[i])
		for _, path := range t.cloud {
			r.register(t.base, feed, t.s, path)
		}
	}
	r.await(asked...)
	if err := <-hosted; err != nil {
		return nil, fmt.Errorf("hosted feeds: %w", err)
	}
	calm := func() {}
	switch n % 3 {
	case 0:
		calm = r.slowFeeds(t)
	case 1:
		calm = r.slowCallbacks(t)
	case 2:
		r.rightAfter(t)
	}
	return func() { calm(); t.last.Wait() }, nil
}

// await waits until the acknowledged requests are verified, or until a timeout.
func (r *runner) await(list ...*request) {
	for end := time.Now().Add(requestTimeout); time.Now().Before(end); time.Sleep(time.Millisecond) {
		open := false
		r.history.do(func() {
			for _, q := range list {
				open = open || q.ok && len(r.history.verificationsOf(q)) == 0
			}
		})
		if !open {
			return
		}
	}
}

// slowFeeds pings slow feeds at different endpoints and subscribes to them. It returns when the
// pings and subscriptions are acknowledged, but before the feeds respond.
func (r *runner) slowFeeds(t *targetedCrash) (over func()) {
	var group sync.WaitGroup
	for i, feed := range t.feeds {
		r.feeds.setSlow(feed, true)
		group.Go(func() { r.ping(t.base, feed, endpoint(i)) })
		group.Go(func() { r.ask(t.base, subscribe, feed, t.s, "/ws-late-"+t.name, r.secret(), true) })
	}
	group.Wait()
	r.lastSaves(t, time.Duration(r.rng.IntN(int(feedTakes/8))))
	return func() {
		for _, feed := range t.feeds {
			r.feeds.setSlow(feed, false)
		}
	}
}

// slowCallbacks pings feeds, and returns while slow callbacks are being notified. The callbacks
// are slower than a shard waits for them.
func (r *runner) slowCallbacks(t *targetedCrash) (over func()) {
	var called <-chan struct{}
	for i := range t.feeds {
		t.s.setSlow(t.websub[i], true)
		t.s.setSlow(t.cnws[i], true)
		called = t.s.setSlow(t.cloud[i], true)
		r.ping(t.base, t.feeds[i], overCloud)
	}
	select {
	case <-called:
		r.lastSaves(t, callTakes*7/10+time.Duration(r.rng.IntN(int(callTakes/5))))
	case <-time.After(requestTimeout):
	}
	return func() {
		for i := range t.feeds {
			t.s.setSlow(t.websub[i], false)
			t.s.setSlow(t.cnws[i], false)
			t.s.setSlow(t.cloud[i], false)
		}
	}
}

// rightAfter cancels a subscription, sends WebSub requests and a site ping. It returns shortly
// after all requests are acknowledged, sometimes after their verifications.
func (r *runner) rightAfter(t *targetedCrash) {
	// The callback declines this request, so the next content must have the old signature.
	r.await(r.ask(t.base, subscribe, t.feeds[0], t.s, t.websub[0], r.secret(), false))
	r.ping(t.base, t.feeds[0], overWebSub)
	var group sync.WaitGroup
	t.last.Go(func() { r.lastSaves(t, 0) })
	group.Go(func() { r.cancel(t.base, t.feeds[0], t.s, t.cloud[0]) })
	group.Go(func() { r.ping(t.base, t.feeds[1], ofSite) })
	group.Go(func() { r.ask(t.base, unsubscribe, t.feeds[0], t.s, t.websub[0], "", true) })
	group.Go(func() { r.ask(t.base, subscribe, t.feeds[1], t.s, t.websub[1], r.secret(), true) })
	group.Go(func() { r.ask(t.base, unsubscribe, t.feeds[2], t.s, t.websub[2], "", true) })
	group.Go(func() { r.ask(t.base, subscribe, t.feeds[2], t.s, "/ws-late-"+t.name, r.secret(), true) })
	group.Wait()
	time.Sleep(time.Duration(r.rng.IntN(int(25 * time.Millisecond))))
}
