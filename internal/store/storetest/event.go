package storetest

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"cloudburst/internal/event"
	"cloudburst/internal/fault"
	"cloudburst/internal/hub"
)

func eventTests() map[string]func(*testing.T, *env) {
	return map[string]func(*testing.T, *env){
		"AnEventComesBackWhole": func(t *testing.T, e *env) {
			want := event.Event{Node: 1 << 62, Seq: 3, At: e.now, Kind: event.KindError, TopicID: hub.TopicID(feed), Topic: feed, OK: true,
				Text: "it said »500« 🌧 '\"\\", Door: "rest", Peer: "[::1]:80", Took: 1234567 * time.Nanosecond, Told: 5, Failed: 2, Version: 9,
				Detail: json.RawMessage(`{"callback":"http://127.0.0.1/ü"}`)}
			must(t, e.AppendEvents(e.ctx, []event.Event{want}))
			got, err := e.Events(e.ctx, hub.EventQuery{})
			must(t, err)
			same(t, "events", got, []event.Event{want})
		},
		"TextThatNoDatabaseTakesIsMended": func(t *testing.T, e *env) {
			bad := e.event(event.KindSystem, "nul \x00, broken \xff")
			must(t, e.AppendEvents(e.ctx, []event.Event{bad}))
			same(t, "log", e.log(t), []string{"nul \uFFFD, broken \uFFFD"})
		},
		"AnEventIsWrittenOnce": func(t *testing.T, e *env) {
			ev := e.event(event.KindSystem, "once")
			must(t, e.AppendEvents(e.ctx, []event.Event{ev}))
			must(t, e.AppendEvents(e.ctx, []event.Event{ev, e.event(event.KindSystem, "more")}))
			same(t, "log", e.log(t), []string{"once", "more"})
			must(t, e.AppendEvents(e.ctx, nil))
		},
		"TooManyKindsAreRefused": func(t *testing.T, e *env) {
			var kinds []string
			for i := range 1000 {
				kinds = append(kinds, fmt.Sprint(i))
			}
			_, err := e.Events(e.ctx, hub.EventQuery{Kinds: kinds})
			faulty(t, err, fault.Invalid)
		},
		"CursorsGoBothWays":    eventCursors,
		"FiltersSelect":        eventFilters,
		"TheLimitIsAThousand":  eventLimit,
		"TrimRemovesTheOldest": trimEvents,
	}
}

// eventLog writes events of three nodes at the same few moments.
func eventLog(t *testing.T, e *env) []event.Event {
	var all []event.Event
	for n := range int64(3) {
		for i := range int64(9) {
			all = append(all, event.Event{Node: 3 - n, Seq: i + 1, At: e.in(time.Duration(i/2) * time.Millisecond), Kind: event.KindPing, Text: fmt.Sprint(n, i)})
		}
	}
	must(t, e.AppendEvents(e.ctx, all))
	slices.SortFunc(all, func(a, b event.Event) int {
		if a.Cursor().Less(b.Cursor()) {
			return -1
		}
		return 1
	})
	return all
}

func eventCursors(t *testing.T, e *env) {
	want := eventLog(t, e)
	for _, forward := range []bool{true, false} {
		var got []event.Event
		q := hub.EventQuery{Forward: forward, Limit: 4}
		for {
			page, err := e.Events(e.ctx, q)
			must(t, err)
			if len(page) == 0 {
				break
			}
			got = append(got, page...)
			if last := page[len(page)-1].Cursor(); forward {
				q.After = last
			} else {
				q.Before = last
			}
		}
		if !forward {
			slices.Reverse(got)
		}
		same(t, fmt.Sprint("forward ", forward), got, want)
	}
	between, err := e.Events(e.ctx, hub.EventQuery{After: want[3].Cursor(), Before: want[8].Cursor(), Forward: true})
	must(t, err)
	same(t, "between two cursors", between, want[4:8])
}

func eventFilters(t *testing.T, e *env) {
	a := event.Event{Kind: event.KindPing, TopicID: 1, Topic: "http://127.0.0.1/Alpha", Text: "one 100%", Peer: "first.example"}
	b := event.Event{Kind: event.KindNotify, TopicID: 2, Topic: "http://127.0.0.1/beta", Text: "TWO", Peer: "second.example"}
	c := event.Event{Kind: event.KindError, TopicID: 1, Topic: "http://127.0.0.1/Alpha", Text: "three", Peer: "Third_example"}
	events := []event.Event{a, b, c}
	for i := range events {
		events[i].Node, events[i].Seq, events[i].At = node, int64(i+1), e.in(time.Duration(i)*time.Second)
	}
	must(t, e.AppendEvents(e.ctx, events))
	for name, row := range map[string]struct {
		q    hub.EventQuery
		want string
	}{
		"topic":          {hub.EventQuery{TopicID: 1}, "three,one 100%"},
		"kinds":          {hub.EventQuery{Kinds: []string{event.KindNotify, event.KindError}}, "three,TWO"},
		"unknown kind":   {hub.EventQuery{Kinds: []string{"'"}}, ""},
		"topic's URL":    {hub.EventQuery{Text: "ALPHA"}, "three,one 100%"},
		"text":           {hub.EventQuery{Text: "two"}, "TWO"},
		"peer":           {hub.EventQuery{Text: "d_EX"}, "three"},
		"percent":        {hub.EventQuery{Text: "%"}, "one 100%"},
		"since":          {hub.EventQuery{Since: e.in(time.Second)}, "three,TWO"},
		"until":          {hub.EventQuery{Until: e.in(time.Second)}, "one 100%"},
		"all together":   {hub.EventQuery{TopicID: 1, Kinds: []string{event.KindPing}, Text: "first", Since: e.now, Until: e.in(time.Millisecond)}, "one 100%"},
		"oldest first":   {hub.EventQuery{Forward: true, Limit: 2}, "one 100%,TWO"},
		"newest, a page": {hub.EventQuery{Limit: 1}, "three"},
	} {
		got, err := e.Events(e.ctx, row.q)
		must(t, err)
		text := ""
		for i, ev := range got {
			if i > 0 {
				text += ","
			}
			text += ev.Text
		}
		same(t, name, text, row.want)
	}
}

func eventLimit(t *testing.T, e *env) {
	var all []event.Event
	for range 1100 {
		all = append(all, e.event(event.KindPing, "x"))
	}
	must(t, e.AppendEvents(e.ctx, all))
	for limit, want := range map[int]int{0: 100, -1: 100, 7: 7, 5000: 1000} {
		got, err := e.Events(e.ctx, hub.EventQuery{Limit: limit})
		must(t, err)
		same(t, fmt.Sprint("limit ", limit), len(got), want)
	}
}

func trimEvents(t *testing.T, e *env) {
	all := eventLog(t, e)
	n, err := e.TrimEvents(e.ctx, e.in(2*time.Millisecond), 5)
	must(t, err)
	same(t, "removed", n, 5)
	got, err := e.Events(e.ctx, hub.EventQuery{Forward: true})
	must(t, err)
	same(t, "left", got, all[5:])
	n, err = e.TrimEvents(e.ctx, e.in(2*time.Millisecond), 100)
	must(t, err)
	same(t, "removed", n, 7)
	n, err = e.TrimEvents(e.ctx, e.in(2*time.Millisecond), 100)
	must(t, err)
	same(t, "removed", n, 0)
}
