package storetest

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"cloudburst/internal/event"
	"cloudburst/internal/fault"
	"cloudburst/internal/hub"
)

func changeTests() map[string]func(*testing.T, *env) {
	return map[string]func(*testing.T, *env){
		"AChangeComesBackWhole": func(t *testing.T, e *env) {
			want := hub.Change{Node: 1 << 62, Seq: 3, At: e.now, Name: "Wetter ☂ '\"", URL: "http://127.0.0.1/", Feed: feed, Page: "http://127.0.0.1/日本",
				Tags: []string{"a b", "ü,;\n"}, Door: "weblogs"}
			e.announce(t, want)
			e.changes(t, hub.ChangeQuery{}, want)
		},
		"WhatNoDatabaseTakesIsMended": func(t *testing.T, e *env) {
			c := e.listed("nul \x00, broken \xff")
			c.Tags = []string{"", "a\x1fb"}
			e.announce(t, c)
			c.Name, c.URL, c.Tags = "nul \uFFFD, broken \uFFFD", "http://127.0.0.1/nul \uFFFD, broken \uFFFD", []string{"a b"}
			e.changes(t, hub.ChangeQuery{}, c)
		},
		"AChangeIsListedAndCountedOnce": func(t *testing.T, e *env) {
			c := e.listed("once")
			e.announce(t, c)
			e.announce(t, c, e.listed("more"))
			e.counted(t, 2)
			e.announce(t)
			e.counted(t, 2)
		},
		"AnAnnouncementMakesItsPingsDurable":    announcedPings,
		"ACheckListsWhatItWasAskedTo":           listedByCheck,
		"CursorsGoBothWays":                     changeCursors,
		"FiltersSelect":                         changeFilters,
		"ATooLongSearchIsRefused":               longChangeSearch,
		"TheLimitIsTenThousand":                 changeLimit,
		"TheCountSurvivesTheTrim":               trimChanges,
		"ManyAtOnceAreAllListedAndCounted":      func(t *testing.T, e *env) { Announcements(t, e.Store, e.Store) },
		"AnAnnouncementIsWrittenWholeOrNotOnce": cancelledAnnouncement,
	}
}

// listed makes a stamped change.
func (e *env) listed(name string) hub.Change {
	e.seq++
	return hub.Change{Node: node, Seq: e.seq, At: e.now, Name: name, URL: "http://127.0.0.1/" + name}
}

func (e *env) announce(t *testing.T, list ...hub.Change) {
	t.Helper()
	must(t, e.Announce(e.ctx, list, nil, e.now, e.now, nil))
}

func (e *env) changes(t *testing.T, q hub.ChangeQuery, want ...hub.Change) {
	t.Helper()
	got, err := e.Changes(e.ctx, q)
	must(t, err)
	same(t, "changes", got, want)
}

func (e *env) counted(t *testing.T, want int64) {
	t.Helper()
	n, err := e.CountChanges(e.ctx)
	must(t, err)
	same(t, "changes ever listed", n, want)
}

func announcedPings(t *testing.T, e *env) {
	c := e.listed("one")
	other := feed + "2"
	must(t, e.RecordPing(e.ctx, other, e.in(time.Second), e.in(time.Second), nil))
	must(t, e.Announce(e.ctx, []hub.Change{c}, []string{feed, other, feed}, e.now, e.in(time.Minute), []event.Event{e.event(event.KindPing, "pinged")}))
	e.changes(t, hub.ChangeQuery{}, c)
	same(t, "log", e.log(t), []string{"pinged"})
	topic, err := e.Topic(e.ctx, hub.TopicID(feed))
	must(t, err)
	same(t, "topic", topic, hub.Topic{ID: hub.TopicID(feed), URL: feed, PingedAt: e.now})
	topic, err = e.Topic(e.ctx, hub.TopicID(other))
	must(t, err)
	same(t, "a later ping stays", topic.PingedAt, e.in(time.Second))
	due, err := e.ClaimChecks(e.ctx, e.in(time.Second), e.in(lease), 10)
	must(t, err)
	same(t, "the earlier due time stays", urls(due), []string{other})
	due, err = e.ClaimChecks(e.ctx, e.in(time.Minute), e.in(2*time.Minute), 10)
	must(t, err)
	same(t, "due", len(due), 2)
}

func listedByCheck(t *testing.T, e *env) {
	a, b := e.listed("a"), e.listed("b")
	e.check(t, hub.Check{StartedAt: e.now, Listed: []hub.Change{a}})
	e.check(t, hub.Check{StartedAt: e.now, Err: "no answer", Changed: true, Listed: []hub.Change{a}})
	e.changes(t, hub.ChangeQuery{})
	e.counted(t, 0)
	e.check(t, hub.Check{StartedAt: e.now, Changed: true, Listed: []hub.Change{a, b}, Events: []event.Event{e.event(event.KindCheck, "changed")}})
	e.changes(t, hub.ChangeQuery{Forward: true}, a, b)
	e.counted(t, 2)
	same(t, "log", e.log(t), []string{"changed"})
}

// changeList lists changes of three nodes at the same few moments.
func changeList(t *testing.T, e *env) []hub.Change {
	var all []hub.Change
	for n := range int64(3) {
		for i := range int64(9) {
			all = append(all, hub.Change{Node: 3 - n, Seq: i + 1, At: e.in(time.Duration(i/2) * time.Millisecond), Name: fmt.Sprint(n, i)})
		}
	}
	e.announce(t, all...)
	slices.SortFunc(all, func(a, b hub.Change) int {
		if a.Cursor().Less(b.Cursor()) {
			return -1
		}
		return 1
	})
	return all
}

func changeCursors(t *testing.T, e *env) {
	want := changeList(t, e)
	for _, forward := range []bool{true, false} {
		var got []hub.Change
		q := hub.ChangeQuery{Forward: forward, Limit: 4}
		for {
			page, err := e.Changes(e.ctx, q)
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
	e.changes(t, hub.ChangeQuery{After: want[3].Cursor(), Before: want[8].Cursor(), Forward: true}, want[4:8]...)
}

func changeFilters(t *testing.T, e *env) {
	a, b, c := e.listed("Alpha"), e.listed("beta 100%"), e.listed("ÄPFEL")
	a.Feed, a.Tags = "http://127.0.0.1/One.xml", []string{"Politics", "a_b"}
	b.At, b.Page = e.in(time.Second), "http://127.0.0.1/notsearched"
	c.At, c.Tags = e.in(2*time.Second), []string{"axb"}
	e.announce(t, a, b, c)
	for name, row := range map[string]struct {
		q    hub.ChangeQuery
		want []hub.Change
	}{
		"all, newest first": {hub.ChangeQuery{}, []hub.Change{c, b, a}},
		"name":              {hub.ChangeQuery{Text: "alPHA"}, []hub.Change{a}},
		"not ASCII":         {hub.ChangeQuery{Text: "äpfel"}, []hub.Change{c}},
		"URL":               {hub.ChangeQuery{Text: "127.0.0.1/BETA"}, []hub.Change{b}},
		"feed":              {hub.ChangeQuery{Text: "one.XML"}, []hub.Change{a}},
		"tag":               {hub.ChangeQuery{Text: "politics"}, []hub.Change{a}},
		"underscore":        {hub.ChangeQuery{Text: "A_B"}, []hub.Change{a}},
		"percent":           {hub.ChangeQuery{Text: "%"}, []hub.Change{b}},
		"page":              {hub.ChangeQuery{Text: "notsearched"}, nil},
		"since":             {hub.ChangeQuery{Since: e.in(time.Second)}, []hub.Change{c, b}},
		"until":             {hub.ChangeQuery{Until: e.in(time.Second)}, []hub.Change{a}},
		"oldest first":      {hub.ChangeQuery{Forward: true, Limit: 2}, []hub.Change{a, b}},
		"together":          {hub.ChangeQuery{Text: "a", Since: e.in(time.Second), Until: e.in(2 * time.Second), Before: c.Cursor(), After: a.Cursor()}, []hub.Change{b}},
	} {
		t.Log(name)
		e.changes(t, row.q, row.want...)
	}
}

func longChangeSearch(t *testing.T, e *env) {
	_, err := e.Changes(e.ctx, hub.ChangeQuery{Text: string(make([]byte, 100_000))})
	faulty(t, err, fault.Invalid)
}

func changeLimit(t *testing.T, e *env) {
	var all []hub.Change
	for range 10_100 {
		all = append(all, e.listed("x"))
	}
	e.announce(t, all...)
	for limit, want := range map[int]int{0: 100, -1: 100, 7: 7, 5000: 5000, 50_000: 10_000} {
		got, err := e.Changes(e.ctx, hub.ChangeQuery{Limit: limit})
		must(t, err)
		same(t, fmt.Sprint("limit ", limit), len(got), want)
	}
}

func trimChanges(t *testing.T, e *env) {
	all := changeList(t, e)
	for _, row := range []struct{ limit, want int }{{5, 5}, {100, 7}, {100, 0}, {0, 0}, {-1, 0}} {
		n, err := e.TrimChanges(e.ctx, e.in(2*time.Millisecond), row.limit)
		must(t, err)
		same(t, "removed", n, row.want)
	}
	e.changes(t, hub.ChangeQuery{Forward: true}, all[12:]...)
	e.counted(t, 27)
	e.announce(t, e.listed("one more"))
	e.counted(t, 28)
}

// cancelledAnnouncement: what was refused is neither listed nor pinged nor counted.
func cancelledAnnouncement(t *testing.T, e *env) {
	ctx, cancel := contextOf(e)
	cancel()
	if err := e.Announce(ctx, []hub.Change{e.listed("x")}, []string{feed}, e.now, e.now, nil); err == nil {
		t.Error("a cancelled announcement was accepted")
	}
	e.changes(t, hub.ChangeQuery{})
	e.counted(t, 0)
	_, err := e.Topic(e.ctx, hub.TopicID(feed))
	faulty(t, err, fault.NotFound)
}

// Announcements checks that two handles on one database list and count everything
// that many callers announce at once, also while checks list changes of the same topics.
func Announcements(t *testing.T, a, b hub.Store) {
	e := newEnv(t, a)
	const callers, each = 16, 20
	var group sync.WaitGroup
	for c := range callers {
		s := []hub.Store{a, b}[c%2]
		group.Go(func() {
			for i := range each {
				change := hub.Change{Node: int64(c + 1), Seq: int64(i + 1), At: e.now, Name: fmt.Sprint(c, i)}
				pings := []string{fmt.Sprint(feed, i%3), fmt.Sprint(feed, (i+c)%5), fmt.Sprint(feed, c)}
				if err := s.Announce(e.ctx, []hub.Change{change}, pings, e.now, e.now, nil); err != nil {
					t.Error(err)
					return
				}
				f := fmt.Sprint(feed, c)
				change.Node += callers
				done, err := s.CommitCheck(e.ctx, hub.Check{TopicID: hub.TopicID(f), Base: int64(i), StartedAt: e.now, Now: e.now,
					Changed: true, Listed: []hub.Change{change}})
				if err != nil || done.Raced {
					t.Error(done.Raced, err)
					return
				}
			}
		})
	}
	group.Wait()
	e.counted(t, 2*callers*each)
	list, err := b.Changes(e.ctx, hub.ChangeQuery{Limit: 10_000})
	must(t, err)
	same(t, "listed", len(list), 2*callers*each)
}
