package hub

import (
	"slices"
	"time"
)

// deciding is an intent that is being decided, and when its topic was last pinged meanwhile.
type pendingDecision struct{ pinged time.Time }

// notePings notes pings of a topic until the function that it returns is called, which returns
// when the last one came; zero: there was none. A callback that has confirmed its subscription
// counts on every change from then on, and the subscription is written only after that.
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

// pinged notes a ping of topics for the intents that are being decided.
func (h pinging) markPinged(urls []string, receivedAt time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.deciding) == 0 {
		return // nearly always: no URL needs to be hashed
	}
	for _, u := range urls {
		for _, d := range h.deciding[TopicID(u)] {
			d.pinged = receivedAt
		}
	}
}
