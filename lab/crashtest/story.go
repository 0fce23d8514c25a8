package crashtest

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// story returns the events of a pair in the order of time, one on each line, to explain a violated
// guarantee.
func (h *history) story(p pair) string {
	type event struct {
		at   time.Time
		text string
	}
	var all []event
	add := func(at time.Time, format string, args ...any) {
		all = append(all, event{at, fmt.Sprintf(format, args...)})
	}
	for i, l := range h.lifetimes {
		add(l.started, "process %d started", i+1)
		if !l.ended.IsZero() {
			add(l.ended, "process %d ended", i+1)
		}
	}
	calls := func(name string, list []call) {
		for _, c := range list {
			add(c.from, "%s until %s: acknowledged %t, no response %t", name, c.to.Format(clock), c.ok, c.unsure)
		}
	}
	calls("registration", h.registers[p])
	calls("cancel", h.cancels[p])
	calls("proof of a subscription", h.proofs[p])
	for _, q := range h.requests[p] {
		calls(fmt.Sprintf("request to %s, lease %d, confirms %t,", q.mode, q.lease, q.agreed), []call{q.call})
	}
	for _, v := range h.verifications[p] {
		add(v.at, "verification to %s, lease %d: confirmed %t; connection of %s", v.mode, v.lease, v.yes, v.conn.Format(clock))
	}
	for _, g := range h.received[p] {
		add(g.at, "notification until %s: refused %t, slow %t; connection of %s", g.end.Format(clock), g.refused, g.slow, g.conn.Format(clock))
	}
	slices.SortStableFunc(all, func(a, b event) int { return a.at.Compare(b.at) })
	var b strings.Builder
	for _, e := range all {
		fmt.Fprintf(&b, "\n  %s %s", e.at.Format(clock), e.text)
	}
	return b.String()
}
