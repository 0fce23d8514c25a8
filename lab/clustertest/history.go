package clustertest

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"cloudburst/lab/outside"
)

// receipt is one notification as received by a callback.
type receipt struct {
	callback, feed string
	state          int    // state of the feed in the content; 0: no content (rssCloud)
	node, version  string // the sender
	begun, ended   time.Time
	broken         bool // the sender crashed before the response
}

// pinged is one change of a feed with the result of its ping.
type pinged struct {
	feed     string
	state    int
	raised   time.Time // time of the publication
	from, to time.Time // of the accepted request, or of the last one
	ok       bool
}

// follower is a subscriber with an acknowledged registration.
type follower struct {
	callback, feed string
	content        bool // WebSub
	since          time.Time
}

// answer is the result of one request of a client to one node.
type answer struct {
	outside.Answer
	node, what string
	ok         bool
}

// fault is one disturbance of a node.
type fault struct {
	what, node string
	at, over   time.Time // over is zero while it lasts
}

// history contains all external observations.
type history struct {
	mu        sync.Mutex
	receipts  []receipt
	counted   map[string]map[int]int // by feed and state: first receipts
	seen      map[string]int         // by callback: newest state
	pings     []pinged
	followers []follower
	answers   []answer
	failed    []string // requests that no node accepted, with the responses of the nodes
	faults    []fault
	broken    []string // broken guarantees that scenarios found
}

func newHistory() *history {
	return &history{counted: map[string]map[int]int{}, seen: map[string]int{}}
}

func (h *history) do(f func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	f()
}

func (h *history) receive(r receipt) {
	h.do(func() {
		h.receipts = append(h.receipts, r)
		if r.broken {
			return
		}
		if h.seen[r.callback] < r.state {
			h.seen[r.callback] = r.state
			of := h.counted[r.feed]
			if of == nil {
				of = map[int]int{}
				h.counted[r.feed] = of
			}
			of[r.state]++
		}
	})
}

// notified returns the number of callbacks with that state of a feed.
func (h *history) notified(feed string, state int) (n int) {
	h.do(func() { n = h.counted[feed][state] })
	return n
}

// by counts the deliveries of a state by each node since that time.
func (h *history) by(feed string, state int, since time.Time) map[string]int {
	nodes := map[string]int{}
	h.do(func() {
		for _, r := range h.receipts {
			if r.feed == feed && r.state == state && !r.begun.Before(since) {
				nodes[r.node]++
			}
		}
	})
	return nodes
}

// others returns the start of the n-th delivery of a state by another node since that time.
func (h *history) others(feed string, state int, since time.Time, not string, n int) (at time.Time, found bool) {
	var begun []time.Time
	h.do(func() {
		for _, r := range slices.Backward(h.receipts) {
			if r.ended.Before(since) {
				break // receipts are sorted by their ends
			}
			if r.feed == feed && r.state == state && r.node != not && r.begun.After(since) {
				begun = append(begun, r.begun)
			}
		}
	})
	if len(begun) < n {
		return at, false
	}
	slices.SortFunc(begun, time.Time.Compare)
	return begun[n-1], true
}

// wrong records a broken guarantee that a scenario found.
func (h *history) wrong(format string, args ...any) {
	h.do(func() { h.broken = append(h.broken, fmt.Sprintf(format, args...)) })
}

// startFault records the start of a fault; over records its end.
func (h *history) startFault(what, node string) (over func()) {
	var n int
	h.do(func() {
		n = len(h.faults)
		h.faults = append(h.faults, fault{what: what, node: node, at: time.Now()})
	})
	return func() { h.do(func() { h.faults[n].over = time.Now() }) }
}
