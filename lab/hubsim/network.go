package hubsim

import (
	"context"
	"crypto/sha256"
	"fmt"
	"time"

	"cloudburst/internal/event"
	"cloudburst/internal/fault"
	"cloudburst/internal/hub"
)

// feed is a feed whose content contains a value. The value increases with each change.
type feed struct {
	url   string
	value int
	body  []byte
	hash  []byte
	etag  string
}

// turn changes feed n to its next value. The caller holds w.mu.
func (w *scenario) turn(n int) {
	f := w.feeds[n]
	f.value++
	f.body = fmt.Appendf(nil, "<rss>feed %d, value %d</rss>", n, f.value)
	sum := sha256.Sum256(f.body)
	f.hash, f.etag = sum[:], fmt.Sprintf(`"%d"`, f.value)
	w.values[string(f.hash)], w.bodies[string(f.body)] = f.value, f.value
	w.set[[2]int{n, f.value}] = time.Now()
	w.logLine("feed %d is at %d", n, f.value)
}

// draw returns the random number for a network operation of machine n.
func (n *node) draw(what string, parts ...uint64) uint64 {
	return hash(n.scenario.seed, n.runID, text(what), uint64(time.Now().UnixNano()), hash(parts...))
}

// takes returns a network latency of 1 to 31 ms.
func takes(draw uint64) time.Duration {
	return time.Millisecond + time.Duration(hash(draw, 7)%uint64(30*time.Millisecond))
}

// Fetch implements hub.Fetcher.
func (n *node) Fetch(ctx context.Context, f hub.Fetch) (hub.Fetched, error) {
	unread := fault.New(fault.Unreadable, "The feed could not be read.")
	if !n.gate() {
		return hub.Fetched{}, unread
	}
	w, sent := n.scenario, time.Now()
	draw := n.draw("fetch", text(f.URL), text(f.ETag))
	half := takes(draw)
	w.mu.Lock()
	bad := w.faulty && share(hash(draw, 1)) < w.plan.badFeed
	if w.faulty && share(hash(draw, 2)) < w.plan.slowFeed {
		half += time.Second + time.Duration(hash(draw, 3)%uint64(2*time.Second))
	}
	w.mu.Unlock()
	if !n.sleep(ctx, half) {
		return hub.Fetched{}, unread
	}
	w.mu.Lock()
	var now feed
	for _, feed := range w.feeds {
		if feed.url == f.URL {
			now = *feed
		}
	}
	w.logLine("machine %d reads %s: %d%s", n.machine, f.URL, now.value, map[bool]string{true: ", failed"}[bad])
	w.mu.Unlock()
	if !n.sleep(ctx, half+time.Duration(draw%9973)) || !n.gate() || bad {
		return hub.Fetched{}, unread
	}
	if f.ETag == now.etag {
		return hub.Fetched{NotModified: true, ETag: now.etag, URL: f.URL, SentAt: sent}, nil
	}
	return hub.Fetched{Hash: now.hash, Body: now.body, ETag: now.etag, ContentType: "application/rss+xml", URL: f.URL, SentAt: sent}, nil
}

// Notify implements hub.Notifier.
func (n *node) Notify(ctx context.Context, sub *hub.Subscription, topic *hub.Topic, content *hub.Content, _ int) hub.Reply {
	if !n.gate() || ctx.Err() != nil {
		return hub.Reply{NotTried: true}
	}
	w := n.scenario
	clock := n.clock.Now()
	w.mu.Lock()
	d := w.notified(n, *sub, *topic, content, clock)
	if d == nil {
		w.mu.Unlock()
		return hub.Reply{NotTried: true}
	}
	there, back, reply := w.answer(d)
	w.mu.Unlock()
	if !n.sleep(ctx, there) {
		w.finish(d, "")
		return hub.Reply{NotTried: true}
	}
	w.mu.Lock()
	d.arrived = time.Now()
	d.accepted = reply == "ok" || reply == "timeout" && d.member.behavior == lossy
	w.mu.Unlock()
	if !n.sleep(ctx, back) {
		w.finish(d, "")
		return hub.Reply{NotTried: true}
	}
	w.finish(d, reply)
	if !n.gate() {
		return hub.Reply{NotTried: true}
	}
	r := hub.Reply{OK: reply == "ok", Gone: reply == "gone", Timeout: reply == "timeout", Took: there + back}
	if !r.OK {
		r.Text = "It did not work: " + reply
	}
	return r
}

// notified records the start of a delivery. It returns nil if the subscription is unknown. The
// caller holds w.mu.
func (w *scenario) notified(n *node, sub hub.Subscription, topic hub.Topic, content *hub.Content, clock time.Time) *delivery {
	m := w.byKey[hub.Key{TopicID: topic.ID, ID: sub.ID}]
	if m == nil {
		w.violation("notification to an unknown callback: %s", sub.Callback)
		return nil
	}
	d := &delivery{member: m, node: n, version: topic.Version, value: w.values[string(topic.Hash)], content: -1, secret: sub.Secret,
		failures: sub.Failures, clock: clock, start: time.Now()}
	if content != nil {
		d.content = w.bodies[string(content.Body)]
		d.value = d.content // the delivery has the newest content, even if the content is newer than the delivery's version
		if content.Version != topic.Version {
			w.violation("%s is notified of version %d with the content of %d", m, topic.Version, content.Version)
		}
	}
	m.tries[d.version]++
	w.deliveries = append(w.deliveries, d)
	w.logLine("machine %d notifies %s of state %d (version %d)", n.machine, m, d.value, d.version)
	return d
}

// answer decides the outcome of a delivery: the time until it arrives, the time until its reply,
// and the reply. The caller holds w.mu.
func (w *scenario) answer(d *delivery) (there, back time.Duration, reply string) {
	draw := hash(w.seed, uint64(d.member.key.ID), uint64(d.version), uint64(d.member.tries[d.version]), d.node.runID)
	there, back, reply = takes(draw), takes(hash(draw, 1))+time.Duration(draw%9973), "ok"
	x := share(hash(draw, 2))
	if d.member.behavior == dead {
		return there, back, "failed"
	}
	if !w.faulty {
		return there, back, reply
	}
	switch d.member.behavior {
	case slow:
		there += time.Duration(hash(draw, 3) % uint64(2*time.Second))
	case flaky:
		if x < 0.6 {
			reply = "failed"
		}
	case mute, lossy:
		if x < 0.6 {
			return there, callbackTimeout - there, "timeout"
		}
	case leaving:
		if x < 0.3 {
			reply = "gone"
		}
	}
	return there, back, reply
}

// finish records the end of a delivery.
func (w *scenario) finish(d *delivery, reply string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	d.end, d.reply = time.Now(), reply
	w.logLine("%s answers machine %d on version %d: %q", d.member, d.node.machine, d.version, reply)
}

// Verify implements hub.Verifier. Every reachable callback confirms.
func (n *node) Verify(ctx context.Context, sub hub.Subscription, topic hub.Topic, _ bool) (event.Exchange, error) {
	draw := n.draw("verify", uint64(sub.ID), uint64(topic.ID))
	if !n.gate() || !n.sleep(ctx, takes(draw)) || !n.gate() {
		return event.Exchange{}, fault.New(fault.Unavailable, "The machine crashed.")
	}
	return event.Exchange{}, nil
}

// Confirm implements hub.Asker.
func (n *node) Confirm(ctx context.Context, in hub.Intent) (event.Exchange, error) {
	draw := n.draw("confirm", uint64(in.TopicID), uint64(in.ID))
	if !n.gate() || !n.sleep(ctx, takes(draw)) {
		return event.Exchange{}, fault.New(fault.Unavailable, "The machine crashed.")
	}
	w, clock := n.scenario, n.clock.Now()
	w.mu.Lock()
	m := w.byKey[in.Key()]
	x := share(hash(draw, 1))
	a := asking{member: m, mode: in.Mode, secret: in.Secret, asked: in.At, lease: in.Lease, at: time.Now(), clock: clock, ok: true}
	var err error
	switch {
	case w.faulty && !w.plan.quiet && x < 0.1:
		a.ok, err = false, fault.New(fault.Unreadable, "It gave no answer.")
	case w.faulty && !w.plan.quiet && x < 0.15:
		a.ok, err = false, fault.New(fault.Refused, "It said no.")
	}
	w.askings = append(w.askings, a)
	w.logLine("machine %d verifies with %s: %s %v", n.machine, m, in.Mode, a.ok)
	w.mu.Unlock()
	if !n.sleep(ctx, takes(hash(draw, 2))) || !n.gate() {
		return event.Exchange{}, fault.New(fault.Unavailable, "The machine crashed.")
	}
	return event.Exchange{}, err
}

// Deny implements hub.Asker.
func (n *node) Deny(ctx context.Context, in hub.Intent) (event.Exchange, error) {
	if !n.gate() || !n.sleep(ctx, takes(n.draw("deny", uint64(in.ID)))) {
		return event.Exchange{}, fault.New(fault.Unavailable, "The machine crashed.")
	}
	w := n.scenario
	w.mu.Lock()
	defer w.mu.Unlock()
	a := asking{member: w.byKey[in.Key()], mode: in.Mode, at: time.Now()}
	w.askings = append(w.askings, a)
	w.logLine("machine %d sends a denial to %s", n.machine, a.member)
	return event.Exchange{}, nil
}
