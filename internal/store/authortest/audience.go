package authortest

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"cloudburst/internal/audience"
	"cloudburst/internal/store/storetest"
)

func audienceTests() map[string]func(*testing.T, *env) {
	return map[string]func(*testing.T, *env){
		"EachReaderIsStoredInOneRow":            addSeen,
		"ConcurrentCountsOfReadersAddUp":        seenAtOnce,
		"ReadersAreListedByFeed":                seenOf,
		"InactiveReadersAreTrimmed":             trimSeen,
		"DayStoresReadersAndRequestsSeparately": days,
	}
}

// audience returns the store as an audience.Store.
func (e *env) audience(t *testing.T) audience.Store {
	t.Helper()
	s, ok := e.Store.(audience.Store)
	if !ok {
		t.Fatalf("%T is not an audience.Store", e.Store)
	}
	return s
}

func (e *env) seen(key string, hits int64) audience.Seen {
	return audience.Seen{Feed: "alice/rss", Key: key, Kind: audience.Service, Name: "Feed ☂'%", Form: "atom", Address: "x",
		Subscribers: 5, Hits: hits, NotModified: hits / 2, FirstAt: e.Now, LastAt: e.In(time.Second)}
}

func addSeen(t *testing.T, e *env) {
	s := e.audience(t)
	storetest.Must(t, s.AddSeen(e.Ctx, nil))
	first := e.seen("k", 4)
	storetest.Must(t, s.AddSeen(e.Ctx, []audience.Seen{first, e.seen("other", 1)}))
	later := e.seen("k", 2)
	later.Subscribers, later.Name, later.FirstAt, later.LastAt = 3, "New", e.In(time.Minute), e.In(2*time.Minute)
	storetest.Must(t, s.AddSeen(e.Ctx, []audience.Seen{later}))
	early := e.seen("k", 1) // from a node whose write was delayed
	early.Subscribers, early.Name, early.FirstAt, early.LastAt = 99, "Old", e.In(-time.Minute), e.In(-time.Second)
	storetest.Must(t, s.AddSeen(e.Ctx, []audience.Seen{early}))
	got, err := s.SeenOf(e.Ctx, "alice/rss", e.Now, 10)
	storetest.Must(t, err)
	want := first
	want.Subscribers, want.Name, want.Hits, want.NotModified, want.FirstAt, want.LastAt = 3, "New", 7, 3, e.In(-time.Minute), e.In(2*time.Minute)
	storetest.Same(t, "readers", got, []audience.Seen{e.seen("other", 1), want})
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
				if err := s.AddSeen(e.Ctx, list); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	got, err := s.SeenOf(e.Ctx, "alice0/rss", e.Now, 1000)
	storetest.Must(t, err)
	storetest.Same(t, "readers", len(got), readers/3)
	for _, v := range got {
		storetest.Same(t, "hits of "+v.Key, v.Hits, int64(2*2*rounds))
	}
}

func seenOf(t *testing.T, e *env) {
	s := e.audience(t)
	var list []audience.Seen
	for i, n := range []int64{1, 0, 7, 0} {
		v := e.seen(fmt.Sprint("k", i), 1)
		v.Subscribers, v.LastAt = n, e.In(time.Duration(i)*time.Second)
		list = append(list, v)
	}
	elsewhere := e.seen("k0", 1)
	elsewhere.Feed = "alice/private"
	storetest.Must(t, s.AddSeen(e.Ctx, append(list, elsewhere)))
	got, err := s.SeenOf(e.Ctx, "alice/rss", e.In(time.Second), 10)
	storetest.Must(t, err)
	storetest.Same(t, "readers", got, []audience.Seen{list[2], list[3], list[1]})
	got, err = s.SeenOf(e.Ctx, "alice/rss", e.Now, 1)
	storetest.Must(t, err)
	storetest.Same(t, "the first", got, []audience.Seen{list[2]})
	feeds, err := s.SeenFeeds(e.Ctx, e.Now, "", 10)
	storetest.Must(t, err)
	storetest.Same(t, "feeds", feeds, []string{"alice/private", "alice/rss"})
	feeds, err = s.SeenFeeds(e.Ctx, e.Now, "alice/private", 1)
	storetest.Must(t, err)
	storetest.Same(t, "feeds after", feeds, []string{"alice/rss"})
	feeds, err = s.SeenFeeds(e.Ctx, e.In(time.Minute), "", 10)
	storetest.Must(t, err)
	storetest.Same(t, "feeds later", len(feeds), 0)
}

func trimSeen(t *testing.T, e *env) {
	s := e.audience(t)
	var list []audience.Seen
	for i := range 5 {
		v := e.seen(fmt.Sprint("k", i), 1)
		v.LastAt = e.In(time.Duration(i) * time.Hour)
		list = append(list, v)
	}
	storetest.Must(t, s.AddSeen(e.Ctx, list))
	for _, want := range []int{2, 1, 0} {
		n, err := s.TrimSeen(e.Ctx, e.In(3*time.Hour), 2)
		storetest.Must(t, err)
		storetest.Same(t, "trimmed", n, want)
	}
	got, err := s.SeenOf(e.Ctx, "alice/rss", time.Time{}, 10)
	storetest.Must(t, err)
	storetest.Same(t, "left", len(got), 2)
}

func days(t *testing.T, e *env) {
	s := e.audience(t)
	today := e.Now.Truncate(24 * time.Hour)
	d := audience.Day{Feed: "alice/rss", Day: today, Readers: 10, Services: 4, Programs: 3, Push: 2, Private: 1, Requests: 99}
	storetest.Must(t, s.SaveDay(e.Ctx, d))
	storetest.Must(t, s.AddSeen(e.Ctx, []audience.Seen{e.seen("a", 4), e.seen("b", 2)}))
	d.Readers = 11
	storetest.Must(t, s.SaveDay(e.Ctx, d))
	yesterday := audience.Day{Feed: "alice/rss", Day: today.AddDate(0, 0, -1), Readers: 1}
	storetest.Must(t, s.SaveDay(e.Ctx, yesterday))
	d.Requests, d.NotModified = 6, 3
	got, err := s.Days(e.Ctx, "alice/rss", yesterday.Day)
	storetest.Must(t, err)
	storetest.Same(t, "days", got, []audience.Day{yesterday, d})
	n, err := s.TrimDays(e.Ctx, today, 10)
	storetest.Must(t, err)
	storetest.Same(t, "trimmed", n, 1)
	got, err = s.Days(e.Ctx, "alice/rss", time.Time{})
	storetest.Must(t, err)
	storetest.Same(t, "days left", got, []audience.Day{d})
}
