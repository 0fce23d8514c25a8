package hub

import (
	"slices"
	"time"
)

// pendingVerification is an intent that is being verified. pinged is the time of the last ping of
// its topic since the verification began.
type pendingVerification struct{ pinged time.Time }

// notePings records pings of a topic until pinged is called. pinged returns the time of the last
// ping, or the zero time. A subscriber that has confirmed expects every later change, but its
// subscription is stored only after the confirmation.
func (h pinging) notePings(topicID int64) (pinged func() time.Time) {
	d := &pendingVerification{}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.verifyingTopics[topicID] = append(h.verifyingTopics[topicID], d)
	return func() time.Time {
		h.mu.Lock()
		defer h.mu.Unlock()
		left := slices.DeleteFunc(h.verifyingTopics[topicID], func(other *pendingVerification) bool { return other == d })
		if h.verifyingTopics[topicID] = left; len(left) == 0 {
			delete(h.verifyingTopics, topicID)
		}
		return d.pinged
	}
}

// markPinged records a ping of topics for the intents that are being verified.
func (h pinging) markPinged(urls []string, receivedAt time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.verifyingTopics) == 0 {
		return // this is the usual case, and avoids hashing the URLs
	}
	for _, u := range urls {
		for _, d := range h.verifyingTopics[TopicID(u)] {
			d.pinged = receivedAt
		}
	}
}
