package hubtest

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"cloudburst/internal/event"
	"cloudburst/internal/fault"
	"cloudburst/internal/hub"
	"cloudburst/internal/store/storetest"
)

func changeTests() map[string]func(*testing.T, *env) {
	return map[string]func(*testing.T, *env){
		"ChangeIsReadAsWritten": func(t *testing.T, e *env) {
			want := hub.Change{Node: 1 << 62, Seq: 3, At: e.Now, Name: "Wetter ☂ '\"", URL: "http://127.0.0.1/", Feed: feed, Page: "http://127.0.0.1/日本",
				Tags: []string{"a b", "ü,;\n"}, Via: "weblogs"}
			e.announce(t, want)
			e.changes(t, hub.ChangeQuery{}, want)
		},
		"InvalidTextIsRepaired": func(t *testing.T, e *env) {
			c := e.listed("nul \x00, broken \xff")
			c.Tags = []string{"", "a\x1fb"}
			e.announce(t, c)
			c.Name, c.URL, c.Tags = "nul \uFFFD, broken \uFFFD", "http://127.0.0.1/nul \uFFFD, broken \uFFFD", []string{"a b"}
			e.changes(t, hub.ChangeQuery{}, c)
		},
		"ChangeIsListedAndCountedOnce": func(t *testing.T, e *env) {
			c := e.listed("once")
			e.announce(t, c)
			e.announce(t, c, e.listed("more"))
			e.counted(t, 2)
			e.announce(t)
			e.counted(t, 2)
		},
		"AnnouncementStoresItsPings":           announcedPings,
		"CheckListsItsChanges":                 listedByCheck,
		"CursorsReadPagesInBothDirections":     changeCursors,
		"FiltersSelectMatchingRows":            changeFilters,
		"TooLongSearchIsRejected":              longChangeSearch,
		"AtMostTenThousandChangesAreListed":    changeLimit,
		"TrimKeepsTheCount":                    trimChanges,
		"ConcurrentChangesAreListedAndCounted": func(t *testing.T, e *env) { Announcements(t, e.Store, e.Store) },
		"AnnouncementIsAtomic":                 cancelledAnnouncement,
	}
}

// listed returns a stamped change.
func (e *env) listed(name string) hub.Change {
	e.Seq++
	return hub.Change{Node: storetest.Node, Seq: e.Seq, At: e.Now, Name: name, URL: "http://127.0.0.1/" + name}
}

func (e *env) announce(t *testing.T, list ...hub.Change) {
	t.Helper()
	storetest.Must(t, e.Announce(e.Ctx, list, nil, e.Now, e.Now, nil))
}

func (e *env) changes(t *testing.T, q hub.ChangeQuery, want ...hub.Change) {
	t.Helper()
	got, err := e.Changes(e.Ctx, q)
	storetest.Must(t, err)
	storetest.Same(t, "changes", got, want)
}

func (e *env) counted(t *testing.T, want int64) {
	t.Helper()
	n, err := e.CountChanges(e.Ctx)
	storetest.Must(t, err)
	storetest.Same(t, "changes ever listed", n, want)
}

func announcedPings(t *testing.T, e *env) {
	c := e.listed("one")
	other := feed + "2"
	storetest.Must(t, e.RecordPing(e.Ctx, other, e.In(time.Second), e.In(time.Second), nil))
	storetest.Must(t, e.Announce(e.Ctx, []hub.Change{c}, []string{feed, other, feed}, e.Now, e.In(time.Minute), []event.Event{e.Event(event.KindPing, "pinged")}))
	e.changes(t, hub.ChangeQuery{}, c)
	storetest.Same(t, "log", e.Log(t), []string{"pinged"})
	topic, err := e.Topic(e.Ctx, hub.TopicID(feed))
	storetest.Must(t, err)
	storetest.Same(t, "topic", topic, hub.Topic{ID: hub.TopicID(feed), URL: feed, PingedAt: e.Now})
	topic, err = e.Topic(e.Ctx, hub.TopicID(other))
	storetest.Must(t, err)
	storetest.Same(t, "time of the later ping", topic.PingedAt, e.In(time.Second))
	due, err := e.ClaimChecks(e.Ctx, e.In(time.Second), e.In(lease), 10)
	storetest.Must(t, err)
	storetest.Same(t, "due with the earlier time", urls(due), []string{other})
	due, err = e.ClaimChecks(e.Ctx, e.In(time.Minute), e.In(2*time.Minute), 10)
	storetest.Must(t, err)
	storetest.Same(t, "due", len(due), 2)
}

func listedByCheck(t *testing.T, e *env) {
	a, b := e.listed("a"), e.listed("b")
	e.check(t, hub.Check{StartedAt: e.Now, Listed: []hub.Change{a}})
	e.check(t, hub.Check{StartedAt: e.Now, Err: "no answer", Changed: true, Listed: []hub.Change{a}})
	e.changes(t, hub.ChangeQuery{})
	e.counted(t, 0)
	e.check(t, hub.Check{StartedAt: e.Now, Changed: true, Listed: []hub.Change{a, b}, Events: []event.Event{e.Event(event.KindCheck, "changed")}})
	e.changes(t, hub.ChangeQuery{Forward: true}, a, b)
	e.counted(t, 2)
	storetest.Same(t, "log", e.Log(t), []string{"changed"})
}

// changeList lists changes of three nodes with equal times.
func changeList(t *testing.T, e *env) []hub.Change {
	var all []hub.Change
	for n := range int64(3) {
		for i := range int64(9) {
			all = append(all, hub.Change{Node: 3 - n, Seq: i + 1, At: e.In(time.Duration(i/2) * time.Millisecond), Name: fmt.Sprint(n, i)})
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
			page, err := e.Changes(e.Ctx, q)
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
	e.changes(t, hub.ChangeQuery{After: want[3].Cursor(), Before: want[8].Cursor(), Forward: true}, want[4:8]...)
}

func changeFilters(t *testing.T, e *env) {
	a, b, c := e.listed("Alpha"), e.listed("beta 100%"), e.listed("ÄPFEL")
	a.Feed, a.Tags = "http://127.0.0.1/One.xml", []string{"Politics", "a_b"}
	b.At, b.Page = e.In(time.Second), "http://127.0.0.1/notsearched"
	c.At, c.Tags = e.In(2*time.Second), []string{"axb"}
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
		"since":             {hub.ChangeQuery{Since: e.In(time.Second)}, []hub.Change{c, b}},
		"until":             {hub.ChangeQuery{Until: e.In(time.Second)}, []hub.Change{a}},
		"oldest first":      {hub.ChangeQuery{Forward: true, Limit: 2}, []hub.Change{a, b}},
		"together":          {hub.ChangeQuery{Text: "a", Since: e.In(time.Second), Until: e.In(2 * time.Second), Before: c.Cursor(), After: a.Cursor()}, []hub.Change{b}},
	} {
		t.Log(name)
		e.changes(t, row.q, row.want...)
	}
}

func longChangeSearch(t *testing.T, e *env) {
	_, err := e.Changes(e.Ctx, hub.ChangeQuery{Text: string(make([]byte, 100_000))})
	storetest.WantFault(t, err, fault.Invalid)
}

func changeLimit(t *testing.T, e *env) {
	var all []hub.Change
	for range 10_100 {
		all = append(all, e.listed("x"))
	}
	e.announce(t, all...)
	for limit, want := range map[int]int{0: 100, -1: 100, 7: 7, 5000: 5000, 50_000: 10_000} {
		got, err := e.Changes(e.Ctx, hub.ChangeQuery{Limit: limit})
		storetest.Must(t, err)
		storetest.Same(t, fmt.Sprint("limit ", limit), len(got), want)
	}
}

func trimChanges(t *testing.T, e *env) {
	all := changeList(t, e)
	for _, row := range []struct{ limit, want int }{{5, 5}, {100, 7}, {100, 0}, {0, 0}, {-1, 0}} {
		n, err := e.TrimChanges(e.Ctx, e.In(2*time.Millisecond), row.limit)
		storetest.Must(t, err)
		storetest.Same(t, "removed", n, row.want)
	}
	e.changes(t, hub.ChangeQuery{Forward: true}, all[12:]...)
	e.counted(t, 27)
	e.announce(t, e.listed("one more"))
	e.counted(t, 28)
}

// cancelledAnnouncement checks that a rejected change is neither listed, pinged nor counted.
func cancelledAnnouncement(t *testing.T, e *env) {
	ctx, cancel := contextOf(e)
	cancel()
	if err := e.Announce(ctx, []hub.Change{e.listed("x")}, []string{feed}, e.Now, e.Now, nil); err == nil {
		t.Error("a cancelled announcement was accepted")
	}
	e.changes(t, hub.ChangeQuery{})
	e.counted(t, 0)
	_, err := e.Topic(e.Ctx, hub.TopicID(feed))
	storetest.WantFault(t, err, fault.NotFound)
}

// Announcements checks that two handles on one database list and count all changes that many
// callers announce concurrently, while checks list changes of the same topics.
func Announcements(t *testing.T, a, b hub.Store) {
	e := newEnv(t, a)
	const callers, each = 16, 20
	var group sync.WaitGroup
	for c := range callers {
		s := []hub.Store{a, b}[c%2]
		group.Go(func() {
			for i := range each {
				change := hub.Change{Node: int64(c + 1), Seq: int64(i + 1), At: e.Now, Name: fmt.Sprint(c, i)}
				pings := []string{fmt.Sprint(feed, i%3), fmt.Sprint(feed, (i+c)%5), fmt.Sprint(feed, c)}
				if err := s.Announce(e.Ctx, []hub.Change{change}, pings, e.Now, e.Now, nil); err != nil {
					t.Error(err)
					return
				}
				f := fmt.Sprint(feed, c)
				change.Node += callers
				done, err := s.CommitCheck(e.Ctx, hub.Check{TopicID: hub.TopicID(f), Base: int64(i), StartedAt: e.Now, Now: e.Now,
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
	list, err := b.Changes(e.Ctx, hub.ChangeQuery{Limit: 10_000})
	storetest.Must(t, err)
	storetest.Same(t, "listed", len(list), 2*callers*each)
}
