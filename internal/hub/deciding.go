package hub

import (
	"slices"
	"time"
)

// pendingDecision is an intent that is being decided, with the time of the last ping of its topic
// meanwhile.
type pendingDecision struct{ pinged time.Time }

// notePings records pings of a topic until pinged is called. pinged returns the time of the last
// one; zero: there was none. A subscriber that has confirmed expects every later change, but its
// subscription is stored only afterwards.
func (h pinging) notePings(topicID int64) (pinged func() time.Time) {
	d := &pendingDecision{}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.deciding[topicID] = append(h.deciding[topicID], d)
	return func() time.Time {
		h.mu.Lock()
		defer h.mu.Unlock()
		left := slices.DeleteFunc(h.deciding[topicID], func(other *pendingDecision) bool { return other == d })
		if h.deciding[topicID] = left; len(left) == 0 {
			delete(h.deciding, topicID)
		}
		return d.pinged
	}
}

// markPinged records a ping of topics for the intents that are being decided.
func (h pinging) markPinged(urls []string, receivedAt time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.deciding) == 0 {
		return // the usual case: no URL needs to be hashed
	}
	for _, u := range urls {
		for _, d := range h.deciding[TopicID(u)] {
			d.pinged = receivedAt
		}
	}
}
