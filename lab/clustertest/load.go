package clustertest

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"sync"
	"time"

	"cloudburst/lab/outside"
)

const (
	loaders = 3
	restful = 30 * time.Millisecond // pause of a client between two requests
	most    = 40                    // maximum number of subscribers that a client registers for its feed
)

// load runs clients that register and ping at all nodes until the caller calls stop. Each client
// has its own feed, so that the time of each version is certain.
func (w *Cluster) load() (stop func()) {
	ctx, cancel := context.WithCancel(w.ctx)
	var group sync.WaitGroup
	for i := range loaders {
		group.Go(func() { w.loader(ctx, fmt.Sprintf("load%d", i)) })
	}
	return func() { cancel(); group.Wait() }
}

func (w *Cluster) loader(ctx context.Context, feed string) {
	for n := 0; ctx.Err() == nil; {
		if n < 3 || n < most && w.rng.IntN(4) == 0 {
			w.register(feed, n)
			n++
		} else {
			w.ping(feed, nil)
		}
		select {
		case <-ctx.Done():
		case <-time.After(restful):
		}
	}
}

// ping publishes a new state of a feed and pings it at the first of nodes that accepts the
// request. If nodes is nil, it uses all running nodes.
func (w *Cluster) ping(feed string, nodes []*node) pinged {
	p := pinged{feed: feed}
	p.state, p.raised = w.feeds.Raise(feed)
	p.from, p.to, p.ok = w.ask(nodes, "ping of "+feed, "/rsscloud/ping", url.Values{"url": {w.feeds.url(feed)}})
	w.history.do(func() { w.history.pings = append(w.history.pings, p) })
	return p
}

// register subscribes another callback to a feed over rssCloud. The subscription exists as soon
// as the request is acknowledged.
func (w *Cluster) register(feed string, n int) {
	callback := w.subscribers.callback(feed, n)
	_, to, ok := w.ask(nil, "registration of "+callback, "/rsscloud/pleaseNotify", outside.Registration(callback, w.feeds.url(feed)))
	if ok {
		w.history.do(func() {
			w.history.followers = append(w.history.followers, follower{callback, feed, false, to})
		})
	}
}

// ask sends a request to nodes in sequence until one accepts it. If nodes is nil, it uses all
// running nodes. from and to are the start and end of the accepted request.
func (w *Cluster) ask(nodes []*node, what, path string, form url.Values) (from, to time.Time, ok bool) {
	anyNode := nodes == nil
	var responses []string
	asked := map[*node]bool{}
	for {
		switch {
		case w.front != nil:
			nodes = []*node{w.front}
		case anyNode: // another node may have started since the first attempt
			nodes = w.runningNodes()
		}
		i := slices.IndexFunc(nodes, func(n *node) bool { return !asked[n] })
		if i < 0 {
			break
		}
		n := nodes[i]
		asked[n] = true
		p := n.current()
		if p == nil {
			continue
		}
		a := w.one(n.name, p.Base+path, what, form)
		responses = append(responses, fmt.Sprintf("node %s, after %s: %s", n.name, a.To.Sub(a.From).Round(time.Millisecond), a))
		w.history.do(func() { w.history.answers = append(w.history.answers, a) })
		if from, to = a.From, a.To; a.ok {
			return from, to, true
		}
	}
	if w.away.Load() {
		return from, to, false
	}
	w.history.do(func() {
		w.history.failed = append(w.history.failed, fmt.Sprintf("%s at %s: %q", what, to.Format(clock), responses))
	})
	return from, to, false
}

func (w *Cluster) one(node, to, what string, form url.Values) answer {
	a := outside.Post(w.ctx, w.client, to, form)
	return answer{Answer: a, node: node, what: what, ok: a.OK()}
}
