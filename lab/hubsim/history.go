package hubsim

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// These are the outcomes of an act.
const (
	acked   = "done"
	refused = "refused"
	unknown = "nobody knows"
)

// act is a request of a client to a machine.
type act struct {
	kind       string // one of "register", "cancel" and "ping"
	member     *member
	feed       int
	value      int       // value of the feed when the ping was sent; only for pings
	clock      time.Time // time on the clock of the machine that received the request
	start, end time.Time
	state      string
	secret     string
}

// delivery is one notification, as observed by the subscriber and the sender.
type delivery struct {
	member   *member
	node     *node
	version  int64
	value    int       // value of the feed in this version
	content  int       // value of the WebSub content; -1 if there is no content
	secret   string    // secret of a WebSub subscription
	failures int       // number of failures that the sender's store had
	clock    time.Time // time on the clock of the sender
	start    time.Time
	arrived  time.Time // zero if the notification did not arrive
	end      time.Time
	accepted bool   // the subscriber received the notification
	reply    string // reply that the sender received: "ok", "failed", "timeout" or "gone"; "" if the sender crashed
}

func (d *delivery) bad() bool { return d.reply == "failed" || d.reply == "timeout" }

// removal is the removal of a subscription by a sweep.
type removal struct {
	member  *member
	dropped bool // true if dropped for errors; false if expired
	clock   time.Time
	at      time.Time
}

// asking is one WebSub verification request to a callback.
type asking struct {
	member *member
	mode   string
	secret string
	asked  time.Time // time when the client sent the request (hub.Intent.At)
	lease  time.Duration
	at     time.Time
	clock  time.Time
	ok     bool
}

// logEntry is one line of the history.
type logEntry struct {
	at   time.Duration
	text string
}

// history records all observations for the checks.
type history struct {
	acts       []*act
	deliveries []*delivery
	removals   []removal
	askings    []asking
	set        map[[2]int]time.Time // key: feed and value; value: time of the change
	lines      []logEntry
}

// logLine appends a line to the history. The caller holds w.mu.
func (w *scenario) logLine(format string, args ...any) {
	w.lines = append(w.lines, logEntry{time.Since(w.begun), fmt.Sprintf(format, args...)})
}

// sum returns a hash of the history. Runs with the same seed have the same hash.
func (h *history) sum() uint64 {
	h.sort()
	n := uint64(0)
	for _, l := range h.lines {
		n = hash(n, uint64(l.at), text(l.text))
	}
	return n
}

func (h *history) sort() {
	slices.SortStableFunc(h.lines, func(a, b logEntry) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.text, b.text))
	})
}

// words returns all lines of the history as text.
func (h *history) words() string {
	h.sort()
	var b strings.Builder
	for _, l := range h.lines {
		fmt.Fprintf(&b, "%12.6f  %s\n", l.at.Seconds(), l.text)
	}
	return b.String()
}
