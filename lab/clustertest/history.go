package clustertest

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"cloudburst/lab/outside"
)

// receipt is one notification that came to a callback.
type receipt struct {
	callback, feed string
	state          int    // of the feed, as its content says; 0: it has none (rssCloud)
	node, version  string // who sent it
	begun, ended   time.Time
	broken         bool // its sender died before it was answered
}

// pinged is one change of a feed with the result of its ping.
type pinged struct {
	feed     string
	state    int
	raised   time.Time // it was published
	from, to time.Time // the request that was answered well, or the last one
	ok       bool
}

// follower is a subscriber with an acknowledged registration.
type follower struct {
	callback, feed string
	content        bool // WebSub
	since          time.Time
}

// answer is what one request of a client at one node came to.
type answer struct {
	outside.Answer
	node, what string
	ok         bool
}

// trouble is what befell a node, until it was over.
type trouble struct {
	what, node string
	at, over   time.Time // over is zero while it lasts
}

// history is what was seen from outside.
type history struct {
	mu        sync.Mutex
	receipts  []receipt
	counted   map[string]map[int]int // by feed and state: first receipts
	seen      map[string]int         // by callback: newest state
	pings     []pinged
	followers []follower
	answers   []answer
	failed    []string // requests that no node accepted, and what the nodes said
	troubles  []trouble
	broken    []string // promises, as scenarios see them themselves
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

// notified is the number of callbacks with that state of a feed.
func (h *history) notified(feed string, state int) (n int) {
	h.do(func() { n = h.counted[feed][state] })
	return n
}

// by is how often each node sent a state of a feed, since then.
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

// others is when the n-th delivery of a state by other nodes than one began, since then.
func (h *history) others(feed string, state int, since time.Time, not string, n int) (at time.Time, found bool) {
	var begun []time.Time
	h.do(func() {
		for _, r := range slices.Backward(h.receipts) {
			if r.ended.Before(since) {
				break // they are in the order of their ends
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

// wrong notes a promise that a scenario saw broken.
func (h *history) wrong(format string, args ...any) {
	h.do(func() { h.broken = append(h.broken, fmt.Sprintf(format, args...)) })
}

// befalls records the start of a disturbance of a node; over records its end.
func (h *history) befalls(what, node string) (over func()) {
	var n int
	h.do(func() {
		n = len(h.troubles)
		h.troubles = append(h.troubles, trouble{what: what, node: node, at: time.Now()})
	})
	return func() { h.do(func() { h.troubles[n].over = time.Now() }) }
}
