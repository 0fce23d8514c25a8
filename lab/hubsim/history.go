package hubsim

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Outcomes of an act or a delivery.
const (
	acked   = "done"
	refused = "refused"
	unknown = "nobody knows"
)

// act is a request of an outside client.
type act struct {
	kind       string // "register", "cancel", "ping"
	member     *member
	feed       int
	value      int       // ping: the value of the feed when it was sent
	clock      time.Time // of the machine that received it
	start, end time.Time
	state      string
	secret     string
}

// delivery is one notification, as observed by the subscriber and the sender.
type delivery struct {
	member   *member
	node     *node
	version  int64
	value    int       // of the feed at this version
	content  int       // WebSub: value of the content; -1: none
	secret   string    // WebSub
	failures int       // as stored by the sender
	clock    time.Time // time on the clock of the sender
	start    time.Time
	arrived  time.Time // zero: not arrived
	end      time.Time
	accepted bool   // the subscriber received it
	reply    string // the reply that the sender received: "ok", "failed", "timeout", "gone", "" (none: it crashed)
}

func (d *delivery) bad() bool { return d.reply == "failed" || d.reply == "timeout" }

// removal is the removal of a subscription by a sweep.
type removal struct {
	member  *member
	dropped bool // for errors; otherwise expired
	clock   time.Time
	at      time.Time
}

// asking is one verification request to a callback.
type asking struct {
	member *member
	mode   string
	secret string
	asked  time.Time // In.At
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
	set        map[[2]int]time.Time // when a feed changed to a value
	lines      []logEntry
}

// logLine appends a line to the history; w.mu is held.
func (w *scenario) logLine(format string, args ...any) {
	w.lines = append(w.lines, logEntry{time.Since(w.begun), fmt.Sprintf(format, args...)})
}

// sum returns a hash of the history: equal for equal seeds.
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

// words returns the lines as text.
func (h *history) words() string {
	h.sort()
	var b strings.Builder
	for _, l := range h.lines {
		fmt.Fprintf(&b, "%12.6f  %s\n", l.at.Seconds(), l.text)
	}
	return b.String()
}
