package clustertest

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"cloudburst/lab/outside"
)

// receipt is a notification that a callback received.
type receipt struct {
	callback, feed string
	state          int    // version of the feed in the content; 0 for rssCloud, which sends no content
	node, version  string // name of the sending node and version of its program
	begun, ended   time.Time
	broken         bool // the sender crashed before the callback responded
}

// pinged is a change of a feed with the result of its ping.
type pinged struct {
	feed     string
	state    int
	raised   time.Time // time when the new version was published
	from, to time.Time // start and end of the accepted request, or of the last request if none was accepted
	ok       bool
}

// follower is a subscriber with an acknowledged registration.
type follower struct {
	callback, feed string
	content        bool // the subscription uses WebSub, so notifications contain content
	since          time.Time
}

// answer is the response of one node to a request of a client.
type answer struct {
	outside.Answer
	node, what string
	ok         bool
}

// fault is an intended failure of a node.
type fault struct {
	what, node string
	at, over   time.Time // over is zero while the fault lasts
}

// history contains everything that clients and callbacks observed.
type history struct {
	mu        sync.Mutex
	receipts  []receipt
	counted   map[string]map[int]int // by feed and state: number of callbacks that received the state
	seen      map[string]int         // key: callback; value: newest received state
	pings     []pinged
	followers []follower
	answers   []answer
	failed    []string // requests that no node accepted, with the responses of all nodes
	faults    []fault
	broken    []string // violated guarantees that scenarios found
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

// notified returns the number of callbacks that received this state of a feed.
func (h *history) notified(feed string, state int) (n int) {
	h.do(func() { n = h.counted[feed][state] })
	return n
}

// by returns how many deliveries of a state each node has sent since a time.
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

// others finds the n-th delivery of a state since a time by any node except the node called not.
// It returns the start of this delivery.
func (h *history) others(feed string, state int, since time.Time, not string, n int) (at time.Time, found bool) {
	var begun []time.Time
	h.do(func() {
		for _, r := range slices.Backward(h.receipts) {
			if r.ended.Before(since) {
				break // receipts are sorted by their ends, so all earlier receipts also end before since
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

// wrong records a violated guarantee that a scenario found.
func (h *history) wrong(format string, args ...any) {
	h.do(func() { h.broken = append(h.broken, fmt.Sprintf(format, args...)) })
}

// startFault records the start of a fault. The caller calls over at its end.
func (h *history) startFault(what, node string) (over func()) {
	var n int
	h.do(func() {
		n = len(h.faults)
		h.faults = append(h.faults, fault{what: what, node: node, at: time.Now()})
	})
	return func() { h.do(func() { h.faults[n].over = time.Now() }) }
}
