package storetest

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"cloudburst/internal/audience"
)

func audienceTests() map[string]func(*testing.T, *env) {
	return map[string]func(*testing.T, *env){
		"AReaderIsOneRowHoweverOftenItComes":           addSeen,
		"TwoMayCountTheSameReadersAtOnce":              seenAtOnce,
		"ReadersAreListedByWhomTheyReadFor":            seenOf,
		"ReadersThatCameNoMoreAreTrimmed":              trimSeen,
		"ADayHoldsReadersAndRequestsWrittenSeparately": days,
	}
}

// audience is the store's part for counting.
func (e *env) audience(t *testing.T) audience.Store {
	t.Helper()
	s, ok := e.Store.(audience.Store)
	if !ok {
		t.Fatalf("%T is no audience.Store", e.Store)
	}
	return s
}

func (e *env) seen(key string, hits int64) audience.Seen {
	return audience.Seen{Feed: "alice/rss", Key: key, Kind: audience.Service, Name: "Feed ☂'%", Form: "atom", Address: "x",
		Subscribers: 5, Hits: hits, NotModified: hits / 2, FirstAt: e.now, LastAt: e.in(time.Second)}
}

func addSeen(t *testing.T, e *env) {
	s := e.audience(t)
	must(t, s.AddSeen(e.ctx, nil))
	first := e.seen("k", 4)
	must(t, s.AddSeen(e.ctx, []audience.Seen{first, e.seen("other", 1)}))
	later := e.seen("k", 2)
	later.Subscribers, later.Name, later.FirstAt, later.LastAt = 3, "New", e.in(time.Minute), e.in(2*time.Minute)
	must(t, s.AddSeen(e.ctx, []audience.Seen{later}))
	early := e.seen("k", 1) // of a node whose write came late
	early.Subscribers, early.Name, early.FirstAt, early.LastAt = 99, "Old", e.in(-time.Minute), e.in(-time.Second)
	must(t, s.AddSeen(e.ctx, []audience.Seen{early}))
	got, err := s.SeenOf(e.ctx, "alice/rss", e.now, 10)
	must(t, err)
	want := first
	want.Subscribers, want.Name, want.Hits, want.NotModified, want.FirstAt, want.LastAt = 3, "New", 7, 3, e.in(-time.Minute), e.in(2*time.Minute)
	same(t, "readers", got, []audience.Seen{e.seen("other", 1), want})
}

func seenAtOnce(t *testing.T, e *env) {
	s := e.audience(t)
	const readers, rounds = 300, 5
	var group sync.WaitGroup
	for node := range 2 {
		group.Go(func() {
			for range rounds {
				var list []audience.Seen
				for i := range readers {
					v := e.seen(fmt.Sprintf("k%03d", i), 2)
					v.Feed = fmt.Sprintf("alice%d/rss", i%3)
					list = append(list, v)
				}
				if node == 1 {
					slices.Reverse(list)
				}
				if err := s.AddSeen(e.ctx, list); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	got, err := s.SeenOf(e.ctx, "alice0/rss", e.now, 1000)
	must(t, err)
	same(t, "readers", len(got), readers/3)
	for _, v := range got {
		same(t, "hits of "+v.Key, v.Hits, int64(2*2*rounds))
	}
}

func seenOf(t *testing.T, e *env) {
	s := e.audience(t)
	var list []audience.Seen
	for i, n := range []int64{1, 0, 7, 0} {
		v := e.seen(fmt.Sprint("k", i), 1)
		v.Subscribers, v.LastAt = n, e.in(time.Duration(i)*time.Second)
		list = append(list, v)
	}
	elsewhere := e.seen("k0", 1)
	elsewhere.Feed = "alice/private"
	must(t, s.AddSeen(e.ctx, append(list, elsewhere)))
	got, err := s.SeenOf(e.ctx, "alice/rss", e.in(time.Second), 10)
	must(t, err)
	same(t, "readers", got, []audience.Seen{list[2], list[3], list[1]})
	got, err = s.SeenOf(e.ctx, "alice/rss", e.now, 1)
	must(t, err)
	same(t, "the first", got, []audience.Seen{list[2]})
	feeds, err := s.SeenFeeds(e.ctx, e.now, "", 10)
	must(t, err)
	same(t, "feeds", feeds, []string{"alice/private", "alice/rss"})
	feeds, err = s.SeenFeeds(e.ctx, e.now, "alice/private", 1)
	must(t, err)
	same(t, "feeds after", feeds, []string{"alice/rss"})
	feeds, err = s.SeenFeeds(e.ctx, e.in(time.Minute), "", 10)
	must(t, err)
	same(t, "feeds later", len(feeds), 0)
}

func trimSeen(t *testing.T, e *env) {
	s := e.audience(t)
	var list []audience.Seen
	for i := range 5 {
		v := e.seen(fmt.Sprint("k", i), 1)
		v.LastAt = e.in(time.Duration(i) * time.Hour)
		list = append(list, v)
	}
	must(t, s.AddSeen(e.ctx, list))
	for _, want := range []int{2, 1, 0} {
		n, err := s.TrimSeen(e.ctx, e.in(3*time.Hour), 2)
		must(t, err)
		same(t, "trimmed", n, want)
	}
	got, err := s.SeenOf(e.ctx, "alice/rss", time.Time{}, 10)
	must(t, err)
	same(t, "left", len(got), 2)
}

func days(t *testing.T, e *env) {
	s := e.audience(t)
	today := e.now.Truncate(24 * time.Hour)
	d := audience.Day{Feed: "alice/rss", Day: today, Readers: 10, Services: 4, Programs: 3, Push: 2, Private: 1, Requests: 99}
	must(t, s.SaveDay(e.ctx, d))
	must(t, s.AddSeen(e.ctx, []audience.Seen{e.seen("a", 4), e.seen("b", 2)}))
	d.Readers = 11
	must(t, s.SaveDay(e.ctx, d))
	yesterday := audience.Day{Feed: "alice/rss", Day: today.AddDate(0, 0, -1), Readers: 1}
	must(t, s.SaveDay(e.ctx, yesterday))
	d.Requests, d.NotModified = 6, 3
	got, err := s.Days(e.ctx, "alice/rss", yesterday.Day)
	must(t, err)
	same(t, "days", got, []audience.Day{yesterday, d})
	n, err := s.TrimDays(e.ctx, today, 10)
	must(t, err)
	same(t, "trimmed", n, 1)
	got, err = s.Days(e.ctx, "alice/rss", time.Time{})
	must(t, err)
	same(t, "days left", got, []audience.Day{d})
}
