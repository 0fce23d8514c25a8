// Package storetest contains helpers of the store contract tests, and the PostgreSQL server that
// tests use. Start with [RunGroups] and [Postgres].
package storetest

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cloudburst/internal/event"
	"cloudburst/internal/fault"
	"cloudburst/internal/fulltest"
	"cloudburst/internal/hub"
)

// RunGroups runs groups of tests, each test on a store of its own. open returns an empty store that
// is closed when the test ends. with converts it to the argument of the tests.
func RunGroups[E any](t *testing.T, open func(t *testing.T) hub.Store, with func(*testing.T, hub.Store) E, groups map[string]map[string]func(*testing.T, E)) {
	for group, tests := range groups {
		t.Run(group, func(t *testing.T) {
			t.Parallel()
			if oneCaller(group) {
				fulltest.SkipUnderRace(t)
			}
			for name, test := range tests {
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					test(t, with(t, open(t)))
				})
			}
		})
	}
}

// oneCaller reports whether the tests of a group make sequential calls only. Under the race
// detector such groups are skipped, because they find nothing that the other groups do not find.
func oneCaller(group string) bool {
	switch group {
	case "River queries", "River items", "River searches", "River sweep", "Post lists":
		return true
	}
	return false
}

// Case is a store with a clock and helper functions.
type Case struct {
	hub.Store
	Ctx context.Context
	Now time.Time
	Seq int64 // sequence number of the last event
}

// Distributed reports whether the store's tables are distributed over a cluster.
func (c *Case) Distributed() bool {
	d, ok := c.Store.(interface{ Key(table string) string })
	return ok && d.Key("topic") != ""
}

// Node is the node of the events.
const Node = 7

// NewCase returns a Case with a fixed time.
func NewCase(t *testing.T, s hub.Store) *Case {
	return &Case{Store: s, Ctx: t.Context(), Now: time.UnixMilli(1_790_000_000_123).UTC()}
}

// In returns the time d after now.
func (e *Case) In(d time.Duration) time.Time { return e.Now.Add(d) }

// Event returns a stamped event.
func (e *Case) Event(kind, text string) event.Event {
	e.Seq++
	return event.Event{Node: Node, Seq: e.Seq, At: e.Now, Kind: kind, Text: text}
}

// Log returns the texts of all events, oldest first.
func (e *Case) Log(t *testing.T) []string {
	t.Helper()
	events, err := e.Events(e.Ctx, hub.EventQuery{Forward: true, Limit: 1000})
	Must(t, err)
	var texts []string
	for _, ev := range events {
		texts = append(texts, ev.Text)
	}
	return texts
}

// Must ends the test at an error.
func Must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Same ends the test if got and want differ.
func Same(t *testing.T, what string, got, want any) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Fatalf("%s (- want, + got):\n%s", what, d)
	}
}

// WantFault ends the test unless err has the given code.
func WantFault(t *testing.T, err error, code fault.Code) {
	t.Helper()
	if err == nil || fault.CodeOf(err) != code {
		t.Fatalf("got error %v, want a fault of the kind %s", err, code)
	}
}
