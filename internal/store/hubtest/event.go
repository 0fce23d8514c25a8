package hubtest

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"cloudburst/internal/event"
	"cloudburst/internal/fault"
	"cloudburst/internal/hub"
	"cloudburst/internal/store/storetest"
)

func eventTests() map[string]func(*testing.T, *env) {
	return map[string]func(*testing.T, *env){
		"EventIsReadAsWritten": func(t *testing.T, e *env) {
			want := event.Event{Node: 1 << 62, Seq: 3, At: e.Now, Kind: event.KindError, TopicID: hub.TopicID(feed), Topic: feed, OK: true,
				Text: "status »500« 🌧 '\"\\", Via: "rest", Peer: "[::1]:80", Took: 1234567 * time.Nanosecond, Notified: 5, Failed: 2, Version: 9,
				Detail: json.RawMessage(`{"callback":"http://127.0.0.1/ü"}`)}
			storetest.Must(t, e.AppendEvents(e.Ctx, []event.Event{want}))
			got, err := e.Events(e.Ctx, hub.EventQuery{})
			storetest.Must(t, err)
			storetest.Same(t, "events", got, []event.Event{want})
		},
		"InvalidTextIsRepaired": func(t *testing.T, e *env) {
			bad := e.Event(event.KindSystem, "nul \x00, broken \xff")
			storetest.Must(t, e.AppendEvents(e.Ctx, []event.Event{bad}))
			storetest.Same(t, "log", e.Log(t), []string{"nul \uFFFD, broken \uFFFD"})
		},
		"EventIsWrittenOnce": func(t *testing.T, e *env) {
			ev := e.Event(event.KindSystem, "once")
			storetest.Must(t, e.AppendEvents(e.Ctx, []event.Event{ev}))
			storetest.Must(t, e.AppendEvents(e.Ctx, []event.Event{ev, e.Event(event.KindSystem, "more")}))
			storetest.Same(t, "log", e.Log(t), []string{"once", "more"})
			storetest.Must(t, e.AppendEvents(e.Ctx, nil))
		},
		"TooManyKindsAreRejected": func(t *testing.T, e *env) {
			var kinds []string
			for i := range 1000 {
				kinds = append(kinds, fmt.Sprint(i))
			}
			_, err := e.Events(e.Ctx, hub.EventQuery{Kinds: kinds})
			storetest.WantFault(t, err, fault.Invalid)
		},
		"CursorsReadPagesInBothDirections": eventCursors,
		"FiltersSelectMatchingRows":        eventFilters,
		"AtMostAThousandEventsAreListed":   eventLimit,
		"TrimDeletesOldestEvents":          trimEvents,
	}
}

// eventLog writes events of three nodes with equal times.
func eventLog(t *testing.T, e *env) []event.Event {
	var all []event.Event
	for n := range int64(3) {
		for i := range int64(9) {
			all = append(all, event.Event{Node: 3 - n, Seq: i + 1, At: e.In(time.Duration(i/2) * time.Millisecond), Kind: event.KindPing, Text: fmt.Sprint(n, i)})
		}
	}
	storetest.Must(t, e.AppendEvents(e.Ctx, all))
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
			page, err := e.Events(e.Ctx, q)
			storetest.Must(t, err)
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
		storetest.Same(t, fmt.Sprint("forward ", forward), got, want)
	}
	between, err := e.Events(e.Ctx, hub.EventQuery{After: want[3].Cursor(), Before: want[8].Cursor(), Forward: true})
	storetest.Must(t, err)
	storetest.Same(t, "between two cursors", between, want[4:8])
}

func eventFilters(t *testing.T, e *env) {
	a := event.Event{Kind: event.KindPing, TopicID: 1, Topic: "http://127.0.0.1/Alpha", Text: "one 100%", Peer: "first.example"}
	b := event.Event{Kind: event.KindNotify, TopicID: 2, Topic: "http://127.0.0.1/beta", Text: "TWO", Peer: "second.example"}
	c := event.Event{Kind: event.KindError, TopicID: 1, Topic: "http://127.0.0.1/Alpha", Text: "three", Peer: "Third_example"}
	events := []event.Event{a, b, c}
	for i := range events {
		events[i].Node, events[i].Seq, events[i].At = storetest.Node, int64(i+1), e.In(time.Duration(i)*time.Second)
	}
	storetest.Must(t, e.AppendEvents(e.Ctx, events))
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
		"since":          {hub.EventQuery{Since: e.In(time.Second)}, "three,TWO"},
		"until":          {hub.EventQuery{Until: e.In(time.Second)}, "one 100%"},
		"all together":   {hub.EventQuery{TopicID: 1, Kinds: []string{event.KindPing}, Text: "first", Since: e.Now, Until: e.In(time.Millisecond)}, "one 100%"},
		"oldest first":   {hub.EventQuery{Forward: true, Limit: 2}, "one 100%,TWO"},
		"newest, a page": {hub.EventQuery{Limit: 1}, "three"},
	} {
		got, err := e.Events(e.Ctx, row.q)
		storetest.Must(t, err)
		text := ""
		for i, ev := range got {
			if i > 0 {
				text += ","
			}
			text += ev.Text
		}
		storetest.Same(t, name, text, row.want)
	}
}

func eventLimit(t *testing.T, e *env) {
	var all []event.Event
	for range 1100 {
		all = append(all, e.Event(event.KindPing, "x"))
	}
	storetest.Must(t, e.AppendEvents(e.Ctx, all))
	for limit, want := range map[int]int{0: 100, -1: 100, 7: 7, 5000: 1000} {
		got, err := e.Events(e.Ctx, hub.EventQuery{Limit: limit})
		storetest.Must(t, err)
		storetest.Same(t, fmt.Sprint("limit ", limit), len(got), want)
	}
}

func trimEvents(t *testing.T, e *env) {
	all := eventLog(t, e)
	n, err := e.TrimEvents(e.Ctx, e.In(2*time.Millisecond), 5)
	storetest.Must(t, err)
	storetest.Same(t, "removed", n, 5)
	got, err := e.Events(e.Ctx, hub.EventQuery{Forward: true})
	storetest.Must(t, err)
	storetest.Same(t, "left", got, all[5:])
	n, err = e.TrimEvents(e.Ctx, e.In(2*time.Millisecond), 100)
	storetest.Must(t, err)
	storetest.Same(t, "removed", n, 7)
	n, err = e.TrimEvents(e.Ctx, e.In(2*time.Millisecond), 100)
	storetest.Must(t, err)
	storetest.Same(t, "removed", n, 0)
}
