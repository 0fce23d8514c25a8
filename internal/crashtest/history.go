package crashtest

import (
	"fmt"
	"slices"
	"sync"
	"time"
)

// pair is one callback that follows, or followed, one feed.
type pair struct{ feed, callback string }

// call is one request of a client with what is known of its outcome.
type call struct {
	from, to time.Time
	ok       bool // acknowledged; false: refused, or the answer never came
	unsure   bool // the answer never came
}

// published is one version of a feed and the ping that told of it.
type published struct {
	at   time.Time // when readers could see it first
	ping call
}

// history is all that was seen from outside.
type history struct {
	mu        sync.Mutex
	registers map[pair][]call
	cancels   map[pair][]call
	versions  map[string][]published
	received  map[pair][]receipt
	deaths    []time.Time
}

// receipt is one notification as the callback saw it.
type receipt struct {
	at      time.Time
	refused bool // the callback answered 500
}

func newHistory() *history {
	return &history{registers: map[pair][]call{}, cancels: map[pair][]call{}, versions: map[string][]published{}, received: map[pair][]receipt{}}
}

func (h *history) do(f func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	f()
}

// lastRegister is when the latest acknowledged registration of p was answered, if
// nothing that came later puts it in doubt.
func (h *history) liveSince(p pair) (time.Time, bool) {
	var since time.Time
	for _, c := range h.registers[p] {
		if c.ok && c.to.After(since) {
			since = c.to
		}
	}
	if since.IsZero() {
		return since, false
	}
	// The registration from which on it was live without a break: the first
	// acknowledged one after the last cancel of any outcome.
	var cut time.Time
	for _, c := range h.cancels[p] {
		if c.to.After(cut) {
			cut = c.to
		}
	}
	first, found := time.Time{}, false
	for _, c := range h.registers[p] {
		if c.ok && c.from.After(cut) && (!found || c.to.Before(first)) {
			first, found = c.to, true
		}
	}
	return first, found
}

// endedFor reports that the last word on p was an acknowledged cancel.
func (h *history) endedFor(p pair) bool {
	var last time.Time
	ended := false
	for _, c := range h.cancels[p] {
		if c.ok && c.to.After(last) {
			last, ended = c.from, true
		}
	}
	for _, c := range h.registers[p] {
		if c.to.After(last) || c.unsure && c.from.Add(patience).After(last) {
			return false
		}
	}
	return ended
}

// check compares what was promised with what happened. stored is what the program
// itself lists at the end.
func (h *history) check(stored map[pair]bool) (broken []string, r Report) {
	h.mu.Lock()
	defer h.mu.Unlock()
	pairs := make([]pair, 0, len(h.registers))
	for p := range h.registers {
		pairs = append(pairs, p)
	}
	slices.SortFunc(pairs, func(a, b pair) int { return slices.Compare([]string{a.feed, a.callback}, []string{b.feed, b.callback}) })
	for _, p := range pairs {
		if h.endedFor(p) && stored[p] {
			broken = append(broken, fmt.Sprintf("cancel undone: %s is still subscribed to %s", p.callback, p.feed))
		}
		since, live := h.liveSince(p)
		if !live {
			continue
		}
		r.Live++
		if !stored[p] {
			broken = append(broken, fmt.Sprintf("registration lost: %s to %s, acknowledged at %s", p.callback, p.feed, since.Format(clock)))
			continue
		}
		broken = append(broken, h.checkNews(p, since, &r)...)
	}
	for _, list := range h.versions {
		for _, v := range list {
			if v.ping.ok {
				r.Pings++
			}
		}
	}
	r.Deaths = len(h.deaths)
	return broken, r
}

const clock = "15:04:05.000"

// checkNews looks for acknowledged changes that p was never told of, and for more
// notifications than there can be reasons for.
func (h *history) checkNews(p pair, since time.Time, r *Report) (broken []string) {
	got := h.received[p]
	good := 0
	for _, g := range got {
		if !g.refused {
			good++
		}
	}
	r.Notifications += len(got)
	for _, v := range h.versions[p.feed] {
		if !v.ping.ok || !v.ping.from.After(since) {
			continue
		}
		told := slices.ContainsFunc(got, func(g receipt) bool { return !g.refused && g.at.After(v.at) })
		if !told {
			broken = append(broken, fmt.Sprintf("ping lost: %s was never told of the change of %s at %s, acknowledged at %s",
				p.callback, p.feed, v.at.Format(clock), v.ping.to.Format(clock)))
		}
	}
	// One for each change, one more for each death (what was sent just before is
	// not known to have arrived), and the attempts that were refused.
	if most := len(h.versions[p.feed]) + len(h.deaths); good > most {
		broken = append(broken, fmt.Sprintf("told too often: %s got %d notifications of %d changes of %s with %d deaths",
			p.callback, good, len(h.versions[p.feed]), p.feed, len(h.deaths)))
	}
	r.Duplicates += max(0, good-len(h.versions[p.feed]))
	return broken
}
