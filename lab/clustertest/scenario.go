package clustertest

import (
	"fmt"
	"net/http"
	"time"
)

// crew is the number of subscribers of a feed in a fault scenario. They fill one shard, and more
// than two batches are undelivered when the fault starts.
const crew = 3000

// callbackDelay is the response time of each callback. It makes deliveries slow enough for a
// fault to interrupt them.
const callbackDelay = 15 * time.Millisecond

// sharedWithin is the number of changes of which at least one must be delivered by both nodes. On a
// busy machine, one node may deliver a change before the other node gets processor time.
const sharedWithin = 5

// Together changes a feed that has enough subscribers for several nodes, and checks that each
// node sends some of the notifications, whichever node is pinged.
func (w *Cluster) Together(subscribers int) error {
	a, b, err := w.pair()
	if err != nil {
		return err
	}
	const feed = "large"
	if err := w.follow(a, feed, subscribers); err != nil {
		return err
	}
	w.subscribers.takes.Store(int64(callbackDelay))
	defer w.subscribers.takes.Store(0)
	for _, n := range []*node{a, b} {
		if err := w.share(feed, subscribers, n); err != nil {
			return err
		}
	}
	return nil
}

// share pings a feed at a node until both nodes have notified subscribers of one change.
func (w *Cluster) share(feed string, subscribers int, at *node) error {
	for range sharedWithin {
		if err := w.notifyAll(feed, subscribers, at); err != nil {
			return err
		}
		state, since := w.feeds.Now(feed)
		nodes := w.history.by(feed, state, since)
		w.Log("%d callbacks were notified by %v", subscribers, nodes)
		if len(nodes) > 1 {
			return nil
		}
	}
	w.history.wrong("not shared: one node notified all of the %d callbacks of each of %d changes", subscribers, sharedWithin)
	return nil
}

// notifyAll pings a feed at a node and waits until all subscribers are notified.
func (w *Cluster) notifyAll(feed string, subscribers int, at *node) error {
	p := w.ping(feed, []*node{at})
	err := w.wait("all subscribers were notified", func() bool { return w.history.notified(feed, p.state) >= subscribers })
	if err != nil {
		return fmt.Errorf("%w: %d of %d have state %d of %s, with a ping at node %s (%v)", err, w.history.notified(feed, p.state), subscribers, p.state, feed, at.name, p.ok)
	}
	return nil
}

// disturbed pings a feed at one node, and calls disturb after some of the deliveries. It records
// the time until another node continues the deliveries.
func (w *Cluster) disturbed(feed string, at *node, disturb func() error) error {
	w.subscribers.takes.Store(int64(callbackDelay))
	defer w.subscribers.takes.Store(0)
	p := w.ping(feed, []*node{at})
	if err := w.wait("a tenth of the subscribers were notified", func() bool { return w.history.notified(feed, p.state) > crew/10 }); err != nil {
		return err
	}
	if err := disturb(); err != nil {
		return err
	}
	since := time.Now()
	w.subscribers.takes.Store(0)
	before := w.history.notified(feed, p.state)
	if before == crew {
		return fmt.Errorf("all subscribers were notified before the disturbance, so the test proves nothing")
	}
	// Any node can send pending single deliveries of slow callbacks at once. Therefore the
	// takeover only counts when another node has notified half of the remaining subscribers.
	var went time.Time
	if err := w.wait("another node continues", func() (ok bool) {
		went, ok = w.history.others(feed, p.state, since, at.name, max((crew-before)/2, 1))
		return ok
	}); err != nil {
		w.history.wrong("not taken over: %v, deliveries of %s by node %s", err, feed, at.name)
		return nil
	}
	w.took = append(w.took, went.Sub(since).Round(10*time.Millisecond))
	w.again += repeats
	if err := w.wait("all subscribers were notified", func() bool { return w.history.notified(feed, p.state) == crew }); err != nil {
		w.Log("%v", err) // continue, because the checker lists all violations
	}
	w.Log("%d of %d were notified; another node continued after %s", before, crew, w.took[len(w.took)-1])
	return nil
}

// Killed kills the node that is sending deliveries, rounds times. It alternates between the
// nodes.
func (w *Cluster) Killed(rounds int) error {
	a, b, err := w.pair()
	if err != nil {
		return err
	}
	const feed = "killed"
	if err := w.follow(a, feed, crew); err != nil {
		return err
	}
	stop := w.load()
	defer stop()
	for i := range rounds {
		victim := []*node{a, b}[i%2]
		if err := w.disturbed(feed, victim, func() error { w.kill(victim); return nil }); err != nil {
			return err
		}
		if i < rounds-1 {
			if err := w.start(victim, w.Binary); err != nil {
				return err
			}
		}
	}
	return nil
}

// Resumed kills the only node during its deliveries, rounds times. Each time it restarts the node
// with the same folder.
func (w *Cluster) Resumed(rounds int) error {
	n, err := w.node("a", "")
	if err != nil {
		return err
	}
	const feed = "resumed"
	if err := w.follow(n, feed, crew); err != nil {
		return err
	}
	for range rounds {
		w.subscribers.takes.Store(int64(callbackDelay))
		p := w.ping(feed, []*node{n})
		err := w.wait("a tenth of the subscribers were notified", func() bool { return w.history.notified(feed, p.state) > crew/10 })
		if err != nil {
			return err
		}
		w.kill(n)
		w.subscribers.takes.Store(0)
		before := w.history.notified(feed, p.state)
		if before == crew {
			return fmt.Errorf("all subscribers were notified before the kill, so the test proves nothing")
		}
		w.again += repeats
		if err := w.start(n, w.Binary); err != nil {
			return err
		}
		if err := w.wait("all subscribers were notified", func() bool { return w.history.notified(feed, p.state) == crew }); err != nil {
			w.Log("%v", err) // continue, because the checker lists all violations
		}
		w.Log("%d of %d were notified before the kill", before, crew)
	}
	return nil
}

// Frozen pauses the node that is sending deliveries. In every second round, the feed changes
// again before the node continues, so that the state in its memory is outdated.
func (w *Cluster) Frozen(rounds int, pause time.Duration) error {
	a, b, err := w.pair()
	if err != nil {
		return err
	}
	const feed = "frozen"
	if err := w.follow(a, feed, crew); err != nil {
		return err
	}
	for i := range rounds {
		victim, other := []*node{a, b}[i%2], []*node{b, a}[i%2]
		var thaw func() error
		began := time.Now()
		err := w.disturbed(feed, victim, func() (err error) { thaw, err = w.freeze(victim); return err })
		if err == nil && i%2 == 1 {
			err = w.notifyAll(feed, crew, other)
		}
		if err == nil {
			err = w.sleep(pause - time.Since(began))
		}
		if thaw != nil {
			if e := thaw(); err == nil {
				err = e
			}
		}
		if err != nil {
			return err
		}
		// The node works again: it discards its outdated state and sends notifications.
		if err := w.notifyAll(feed, crew, victim); err != nil {
			return err
		}
	}
	return nil
}

// sleep waits for d, for a change that cannot be observed. It returns an error if the context
// ends first.
func (w *Cluster) sleep(d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-w.ctx.Done():
		return w.ctx.Err()
	}
}

// Restarted restarts the database while clients send requests and a change is delivered. end
// stops the database, and begin starts it.
func (w *Cluster) Restarted(rounds int, end, begin func() error) error {
	a, b, err := w.pair()
	if err != nil {
		return err
	}
	const feed = "restarted"
	if err := w.follow(a, feed, crew); err != nil {
		return err
	}
	stop := w.load()
	defer stop()
	for i := range rounds {
		w.subscribers.takes.Store(int64(callbackDelay))
		p := w.ping(feed, []*node{[]*node{a, b}[i%2]})
		if err := w.wait("a tenth of the subscribers were notified", func() bool { return w.history.notified(feed, p.state) > crew/10 }); err != nil {
			return err
		}
		w.away.Store(true) // from now on, all nodes may reject requests
		overA, overB := w.history.startFault("no database", "a"), w.history.startFault("no database", "b")
		if err := end(); err != nil {
			return err
		}
		if err := w.refuses(a); err != nil {
			return err
		}
		if err := begin(); err != nil {
			return err
		}
		began := time.Now()
		w.again += repeats // unacknowledged work may be repeated
		for _, n := range []*node{a, b} {
			if err := w.serves(n); err != nil {
				return err
			}
		}
		overA()
		overB()
		w.Log("both nodes served again after %s", time.Since(began).Round(time.Millisecond))
		w.subscribers.takes.Store(0)
		if err := w.wait("all subscribers were notified", func() bool { return w.history.notified(feed, p.state) == crew }); err != nil {
			return err
		}
		w.away.Store(false)
	}
	return nil
}

// Cut disconnects the node that is sending deliveries from the database. It checks that the other
// node continues, and that the disconnected node acknowledges no request. After the reconnection,
// the node must work again.
func (w *Cluster) Cut(how wire) error {
	p, through, err := newProxy(w.Database)
	if err != nil {
		return err
	}
	w.ways = append(w.ways, p)
	a, err := w.node("a", through)
	if err != nil {
		return err
	}
	b, err := w.node("b", "")
	if err != nil {
		return err
	}
	const feed = "cut"
	if err := w.follow(b, feed, crew); err != nil {
		return err
	}
	stop := w.load()
	defer stop()
	var over func()
	if err := w.disturbed(feed, a, func() error { p.set(how); over = w.history.startFault("cut off", "a"); return nil }); err != nil {
		return err
	}
	if err := w.refuses(a); err != nil {
		return err
	}
	if err := w.notifyAll(feed, crew, b); err != nil { // node b must continue the deliveries
		return err
	}
	p.set(open)
	began := time.Now()
	err = w.serves(a)
	over()
	if err != nil {
		return err
	}
	w.Log("the node served again after %s", time.Since(began).Round(time.Millisecond))
	return w.notifyAll(feed, crew, a)
}

// refuses waits until a node reports that it is not ready. It checks that the node answers
// requests with status 503 and Retry-After, before the client's timeout.
func (w *Cluster) refuses(n *node) error {
	if err := w.wait("the node is not ready", func() bool { return !w.ready(n) }); err != nil {
		return err
	}
	p := w.one(n.name, n.current().Base+"/rsscloud/ping", "ping without the database", map[string][]string{"url": {w.feeds.url("cut")}})
	w.Log("a ping had the status %d after %s", p.Status, p.To.Sub(p.From).Round(time.Millisecond))
	switch {
	case p.ok:
		w.history.wrong("acknowledged: node %s accepted a ping at %s without its database", n.name, p.From.Format(clock))
	case p.Status != http.StatusServiceUnavailable || p.RetryAfter == "":
		w.history.wrong("no 503: node %s without its database answered a ping with %d, Retry-After: %q", n.name, p.Status, p.RetryAfter)
	}
	return nil
}

// serves waits until a node reports that it is ready.
func (w *Cluster) serves(n *node) error {
	return w.wait("node "+n.name+" is ready again", func() bool { return w.ready(n) })
}

func (w *Cluster) ready(n *node) bool {
	res, err := w.client.Get(n.current().Base + "/readyz")
	if err != nil {
		return false
	}
	res.Body.Close()
	return res.StatusCode == http.StatusOK
}
