package river_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"cloudburst/feed/polling"
	"cloudburst/internal/fault"
	"cloudburst/internal/fetch"
	"cloudburst/internal/fulltest"
	"cloudburst/internal/river"
)

func TestHostWithThousandsOfFeedsDoesNotDelayOthers(t *testing.T) {
	t.Parallel()
	fulltest.Long(t)
	withHarness(t, river.Options{}, func(t *testing.T, w *harness) {
		m := w.useMemoryStore()
		w.start()
		w.serve("http://big.test/", doc(rss("<ttl>1440</ttl>", "a")))
		var urls []string
		for i := range 3000 {
			urls = append(urls, fmt.Sprintf("http://big.test/?%d", i))
		}
		for i := range 20 {
			u := fmt.Sprintf("http://small%d.test/rss", i)
			w.serve(u, doc(rss("<ttl>1440</ttl>", "a")))
			urls = append(urls, u)
		}
		w.follow(urls[:3000]...)
		w.advance(time.Second)
		w.follow(urls[3000:]...)
		w.advance(10 * time.Second)
		small, big := 0, 0
		for _, r := range w.requests() {
			if strings.HasPrefix(r.url, "small") {
				small++
			} else {
				big++
			}
		}
		if small != 20 || big > 13 {
			t.Errorf("after ten seconds: %d of the small hosts, %d of the big one", small, big)
		}
		w.advance(time.Hour)
		if n := len(w.requests()); n < 3000-20 || n > 3010 {
			t.Errorf("%d requests within the hour", n)
		}
		// Each feed was claimed at most a few times.
		if m.claimed > 5*3000 {
			t.Errorf("%d claims for 3020 feeds", m.claimed)
		}
	})
}

// instantFetcher answers every request with the same feed, and conditional requests with 304.
type instantFetcher struct {
	body []byte
}

func (f instantFetcher) Get(_ ctx, r fetch.Request) (*fetch.Response, error) {
	res := &fetch.Response{Status: 200, Header: http.Header{"Etag": {`"v"`}, "Cache-Control": {"max-age=80000"}}, URL: r.URL, Body: f.body}
	if r.ETag != "" {
		res.Status, res.NotModified, res.Body = 304, true, nil
	}
	return res, nil
}

// hugeStore is a store with a very large number of sources, each on its own host. It stores only
// when each source is due.
type hugeStore struct {
	*memory
	due  []int64 // when each source is due, in seconds since the start
	from time.Time
	next int // index in due where the search for due sources continues
}

func (e *hugeStore) ClaimSources(_ ctx, now, until time.Time, limit int, claim int64) (out []river.Source, _ error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	at := int64(now.Sub(e.from) / time.Second)
	for range e.due {
		if len(out) == limit {
			break
		}
		if e.next = (e.next + 1) % len(e.due); e.due[e.next] <= at {
			e.due[e.next] = int64(until.Sub(e.from) / time.Second)
			s := river.Source{ID: int64(e.next + 1), URL: fmt.Sprintf("http://host%d.test/rss", e.next), Claim: claim}
			s.State = polling.New(s.URL, now)
			out = append(out, s)
		}
	}
	return out, nil
}

func (e *hugeStore) set(id int64, at time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.due[id-1] = int64(at.Sub(e.from)/time.Second) + 1
}

func (e *hugeStore) NextSource(ctx) (time.Time, error) { return e.from, nil }

func (e *hugeStore) PutOff(_ ctx, list []river.PutOff) error {
	for _, p := range list {
		e.set(p.ID, p.NextAt)
	}
	return nil
}

func (e *hugeStore) SaveCheck(_ ctx, s river.Saved) (bool, error) {
	e.set(s.Source.ID, s.Source.NextAt)
	return true, nil
}

// readHuge checks n sources once and returns by how many bytes the heap grew.
func readHuge(tb testing.TB, n int) (grew int64) {
	tb.Helper()
	e := &hugeStore{memory: newMemory(), due: make([]int64, n), from: time.Now().UTC()}
	r := &river.River{Store: e, Fetch: instantFetcher{[]byte(rss("", "a"))}, Options: river.Options{AtOnce: 64}}
	run, cancel := ctxWithCancel(tb)
	ended := make(chan struct{})
	before := heap()
	go func() { defer close(ended); r.Run(run) }()
	for r.Live().Checks < int64(n) {
		<-time.After(10 * time.Millisecond)
	}
	grew = heap() - before
	cancel()
	<-ended
	return grew
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func TestManySourcesAreCheckedInBoundedMemory(t *testing.T) {
	fulltest.Long(t)
	const n = 20_000
	if grew := readHuge(t, n); grew > 16<<20 {
		t.Errorf("the heap grew by %d KiB for %d feeds", grew>>10, n)
	}
}

// BenchmarkMillionFeeds measures one check of each of a million sources.
func BenchmarkMillionFeeds(b *testing.B) {
	for b.Loop() {
		b.ReportMetric(float64(readHuge(b, 1_000_000))/1e6, "bytes/feed")
	}
}

func TestRiverRecoversFromDatabaseOutage(t *testing.T) {
	t.Parallel()
	withHarness(t, river.Options{}, func(t *testing.T, w *harness) {
		m := w.useMemoryStore()
		m.fail(fault.New(fault.Unavailable, "The database is away."))
		w.start()
		w.serve(feedURL, tagged(rss("<ttl>30</ttl>", "a"), `"v1"`))
		w.advance(time.Minute)
		m.fail(nil)
		w.follow(feedURL)
		w.advance(time.Minute)
		if s := titles(w.items(feedURL)); s != "a" {
			t.Fatalf("after a start without a database: %q", s)
		}
		w.serve(feedURL, tagged(rss("<ttl>30</ttl>", "b", "a"), `"v2"`))
		m.fail(fault.New(fault.Unavailable, "The database is away."))
		w.advance(2 * time.Hour)
		m.fail(nil)
		w.requests()
		w.advance(5 * time.Minute)
		if s := titles(w.items(feedURL)); s != "b a" || len(w.requests()) != 1 {
			t.Errorf("items: %q", s)
		}
	})
}

func TestUnfinishedChecksAreReleasedAtShutdown(t *testing.T) {
	t.Parallel()
	withHarness(t, river.Options{AtOnce: 2}, func(t *testing.T, w *harness) {
		var urls []string
		for i := range 20 {
			urls = append(urls, fmt.Sprintf("http://host%d.test/rss", i))
			w.serve(urls[i], func(out http.ResponseWriter, r *http.Request) {
				select {
				case <-r.Context().Done():
				case <-time.After(8 * time.Second):
					io.WriteString(out, rss("", "a"))
				}
			})
		}
		w.follow(urls...)
		w.advance(time.Second)
		begun := time.Now()
		w.stop()
		if took := time.Since(begun); took > 2*time.Second {
			t.Errorf("stopping took %v", took)
		}
		for _, u := range urls {
			if s := w.source(u); s.Claim != 0 || s.NextAt.After(time.Now()) || s.State.Failures != 0 {
				t.Errorf("%s: claim %d until %v, %d failures", u, s.Claim, s.NextAt, s.State.Failures)
			}
		}
		w.start()
		w.advance(2 * time.Minute)
		for _, u := range urls {
			if s := titles(w.items(u)); s != "a" {
				t.Errorf("%s: %q", u, s)
			}
		}
	})
}

// killedStore is a store whose process is killed before it saves a check.
type killedStore struct {
	river.Store
	dead chan struct{}
}

func (d *killedStore) SaveCheck(c ctx, saved river.Saved) (bool, error) {
	select {
	case <-d.dead:
		<-c.Done() // a killed process writes nothing, so block until the context ends
		return false, errors.New("dead")
	default:
		return d.Store.SaveCheck(c, saved)
	}
}

func (d *killedStore) PutOff(c ctx, list []river.PutOff) error {
	select {
	case <-d.dead:
		return errors.New("dead")
	default:
		return d.Store.PutOff(c, list)
	}
}

func TestCrashBetweenReadAndStoreLosesNoItems(t *testing.T) {
	t.Parallel()
	withHarness(t, river.Options{Shared: true}, func(t *testing.T, w *harness) {
		st := &killedStore{w.store, make(chan struct{})}
		w.stop()
		w.setup = func(r *river.River) { r.Store = st }
		w.start()
		w.serve(feedURL, tagged(rss("", "a"), `"v1"`))
		w.follow(feedURL)
		w.advance(time.Minute)
		w.serve(feedURL, tagged(rss("", "b", "a"), `"v2"`))
		close(st.dead)
		w.advance(62 * time.Minute)
		w.stop()
		if s := titles(w.items(feedURL)); s != "a" {
			t.Fatalf("items: %s", s)
		}
		w.setup = nil
		w.requests()
		w.start() // start another process on the same database, and wait for the claim to expire
		w.advance(10 * time.Minute)
		if list := w.requests(); titles(w.items(feedURL)) != "b a" || len(list) != 1 || list[0].header.Get("If-None-Match") != `"v1"` {
			t.Errorf("%d requests, items: %s", len(list), titles(w.items(feedURL)))
		}
	})
}

func TestSlowStoreDelaysNoRequests(t *testing.T) {
	t.Parallel()
	withHarness(t, river.Options{AtOnce: 2}, func(t *testing.T, w *harness) {
		st := &killedStore{w.store, make(chan struct{})}
		w.stop()
		w.setup = func(r *river.River) { r.Store = st }
		w.start()
		var urls []string
		for i := range 20 {
			urls = append(urls, fmt.Sprintf("http://host%d.test/rss", i))
			w.serve(urls[i], tagged(rss("", "a"), `"v"`))
		}
		close(st.dead)
		w.follow(urls...)
		w.advance(time.Second)
		if n := len(w.requests()); n != 4 {
			t.Errorf("%d requests while no result can be stored, want 4: twice AtOnce", n)
		}
	})
}

func TestTwoProcessesCheckEachFeedOnceAndPublishAllItems(t *testing.T) {
	t.Parallel()
	withHarness(t, river.Options{Shared: true}, func(t *testing.T, w *harness) {
		other := &river.River{Store: w.store, Fetch: w.fetch, Options: river.Options{Shared: true}}
		run, cancel := ctxWithCancel(t)
		ended := make(chan struct{})
		go func() { defer close(ended); other.Run(run) }()
		defer func() { cancel(); <-ended }()
		var urls []string
		for i := range 40 {
			urls = append(urls, fmt.Sprintf("http://host%d.test/rss", i))
			w.serve(urls[i], tagged(rss("", "a", "b"), `"v"`))
		}
		w.advance(time.Second)
		one, two := w.river.Listen(1000), other.Listen(1000)
		w.follow(urls...)
		other.Wake()
		w.advance(30 * time.Second)
		if n := len(w.requests()); n != 40 {
			t.Errorf("%d requests for 40 feeds", n)
		}
		if a, b := w.river.Live().Checks, other.Live().Checks; a+b != 40 {
			t.Errorf("%d and %d checks", a, b)
		}
		for _, l := range []*river.Listener{one, two} {
			seen := map[int64]int{}
			for len(l.C()) > 0 {
				for _, it := range (<-l.C()).Items {
					if seen[it.ID]++; !it.New {
						t.Errorf("%+v is not new", it)
					}
				}
			}
			if len(seen) != 80 {
				t.Errorf("%d items arrived", len(seen))
			}
			for id, n := range seen {
				if n != 1 {
					t.Errorf("item %d arrived %d times", id, n)
				}
			}
		}
	})
}

func TestSlowListenerIsDropped(t *testing.T) {
	t.Parallel()
	withHarness(t, river.Options{OwnHosts: []string{"*"}}, func(t *testing.T, w *harness) {
		slow := w.river.Listen(1)
		if n := w.river.Live().Listening; n != 1 {
			t.Errorf("%d listen", n)
		}
		for i := range 3 {
			u := fmt.Sprintf("http://host%d.test/rss", i)
			w.serve(u, doc(rss("", "a")))
			w.follow(u)
		}
		w.advance(time.Second)
		<-slow.C()
		if _, ok := <-slow.C(); ok {
			t.Error("a slow listener was not dropped")
		}
		slow.Close()
		if n := w.river.Live().Listening; n != 0 {
			t.Errorf("%d listen", n)
		}
	})
}

func TestClockJumpCausesNoBurstOfChecks(t *testing.T) {
	t.Parallel()
	fulltest.Long(t)
	fulltest.SkipUnderRace(t) // many simulated days; shorter tests use the same goroutines
	for _, step := range []time.Duration{time.Hour, -time.Hour, 20 * 365 * 24 * time.Hour} {
		t.Run(step.String(), func(t *testing.T) {
			t.Parallel()
			withHarness(t, river.Options{}, func(t *testing.T, w *harness) {
				var off atomic.Int64
				w.stop()
				w.setup = func(r *river.River) {
					r.Now = func() time.Time { return time.Now().Add(time.Duration(off.Load())) }
				}
				w.start()
				for i := range 300 {
					u := fmt.Sprintf("http://host%d.test/rss", i)
					w.serve(u, tagged(rss("<ttl>120</ttl>", "a"), `"v"`))
					w.follow(u)
				}
				w.advance(100 * time.Minute)
				w.requests()
				off.Store(int64(step))
				begun := time.Now()
				w.advance(10 * time.Minute)
				minutes := map[int]int{}
				for _, r := range w.requests() {
					minutes[int(r.at.Sub(begun).Minutes())]++
				}
				for m, n := range minutes {
					if n > 110 {
						t.Errorf("%d requests in minute %d", n, m)
					}
				}
				w.advance(4 * time.Hour)
				if n := len(w.requests()); n < 300 {
					t.Errorf("%d requests in four hours", n)
				}
			})
		})
	}
}

func TestFeedsOfExemptHostsAreCheckedWithoutHostInterval(t *testing.T) {
	t.Parallel()
	fulltest.Long(t)
	withHarness(t, river.Options{OwnHosts: []string{"feeds.test"}}, func(t *testing.T, w *harness) {
		var urls []string
		for i := range fulltest.Size(500, 50) {
			urls = append(urls, fmt.Sprintf("http://feeds.test/%d", i))
			w.serve(urls[i], doc(rss("", strings.Fields("t s r q p o n m l k j i h g f e d c b a")...)))
		}
		w.follow(urls...)
		w.advance(5 * time.Second)
		for _, u := range urls {
			if n := len(w.items(u)); n != 20 {
				t.Errorf("%s has %d items", u, n)
			}
		}
	})
}

func TestInvalidFeedsReportProblemsAndDelayNoOtherFeeds(t *testing.T) {
	t.Parallel()
	many := make([]string, 10_000)
	for i := range many {
		many[i] = fmt.Sprint("item", i)
	}
	var flip atomic.Int64
	for name, c := range map[string]struct {
		serve http.HandlerFunc
		note  string // expected note about the feed; "": the feed works
	}{
		"a page":           {doc(`<!doctype html><html><title>Hi</title><link rel="alternate" type="application/rss+xml" href="/feed">`), "looks like a page"},
		"an empty 200":     {doc(""), "an empty response, not a feed"},
		"binary":           {doc("\x00\x01\x02\x03\xff\xfe"), "not a feed"},
		"10,000 items":     {doc(rss("", many...)), "the newest 1000 are read"},
		"one id for all":   {doc(rss("", "a", "a=b", "a=c", "a=d")), "Another item has the same id"},
		"a truncated feed": {doc(rss("", "a")[:150]), "ends"},
		"alternating": {func(o http.ResponseWriter, r *http.Request) {
			doc(rss("", strings.Fields("c b a")[flip.Add(1)%2:]...))(o, r)
		}, ""},
		"nested deeply":   {doc(rss(strings.Repeat("<a>", 5000), "a")), "nested deeper"},
		"a billion laugh": {doc(`<!DOCTYPE r [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]><rss><channel><title>&b;</title><item><title>x</title></item></channel></rss>`), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			withHarness(t, river.Options{}, func(t *testing.T, w *harness) {
				w.serve("http://bad.test/rss", c.serve)
				w.serve(feedURL, doc(rss("", "a")))
				w.follow("http://bad.test/rss", feedURL)
				w.advance(3 * time.Hour)
				e, err := w.river.Explain(t.Context(), river.SourceID("http://bad.test/rss"))
				if err != nil {
					t.Fatal(err)
				}
				if notes := strings.Join(e.Notes, " ") + e.Checks[0].Text; !strings.Contains(strings.ToLower(notes), strings.ToLower(c.note)) {
					t.Errorf("notes: %q", e.Notes)
				}
				if n := len(w.items("http://bad.test/rss")); n > 1000 {
					t.Errorf("%d items", n)
				}
				if s := titles(w.items(feedURL)); s != "a" {
					t.Errorf("the other feed: %s", s)
				}
			})
		})
	}
}
