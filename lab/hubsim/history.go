package hubsim

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// What an act or a delivery came to.
const (
	acked   = "done"
	refused = "refused"
	unknown = "nobody knows"
)

// act is something that somebody outside asked for.
type act struct {
	kind       string // "register", "cancel", "ping"
	member     *member
	feed       int
	value      int       // ping: of the feed when it was sent
	clock      time.Time // of the machine that was asked
	start, end time.Time
	state      string
	secret     string
}

// delivery is one notification, from the subscriber's side and from the sender's.
type delivery struct {
	member   *member
	node     *node
	version  int64
	value    int       // of the feed, that this version is
	content  int       // WebSub: value of the bytes; -1: none
	secret   string    // WebSub
	failures int       // as the sender had them on record
	clock    time.Time // of the sender
	start    time.Time
	arrived  time.Time // zero: it did not
	end      time.Time
	accepted bool   // the subscriber has it
	reply    string // what the sender heard: "ok", "failed", "timeout", "gone", "" (nothing: it died)
}

func (d *delivery) bad() bool { return d.reply == "failed" || d.reply == "timeout" }

// removal is a subscription that a sweep took.
type removal struct {
	member  *member
	dropped bool // for its errors; else expired
	clock   time.Time
	at      time.Time
}

// asking is one request to a callback whether it wants what was asked for.
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

// happened is one line of the history.
type happened struct {
	at   time.Duration
	text string
}

// history is all that happened, as it is checked.
type history struct {
	acts       []*act
	deliveries []*delivery
	removals   []removal
	askings    []asking
	set        map[[2]int]time.Time // when a feed got a value
	lines      []happened
}

// say writes a line of the history; w.mu is held.
func (w *scenario) say(format string, args ...any) {
	w.lines = append(w.lines, happened{time.Since(w.begun), fmt.Sprintf(format, args...)})
}

// sum is one number for all that happened: the same for the same seed.
func (h *history) sum() uint64 {
	h.sort()
	n := uint64(0)
	for _, l := range h.lines {
		n = hash(n, uint64(l.at), text(l.text))
	}
	return n
}

func (h *history) sort() {
	slices.SortStableFunc(h.lines, func(a, b happened) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.text, b.text))
	})
}

// words are the lines, for people.
func (h *history) words() string {
	h.sort()
	var b strings.Builder
	for _, l := range h.lines {
		fmt.Fprintf(&b, "%12.6f  %s\n", l.at.Seconds(), l.text)
	}
	return b.String()
}
