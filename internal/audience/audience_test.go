package audience_test

import (
	"context"
	"fmt"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"cloudburst/internal/audience"
	"cloudburst/internal/store/sqlite"
	"cloudburst/internal/store/sqlite/sqlitetest"
)

// newAudience makes an Audience with its own store, on the fake clock of synctest.
func newAudience(t *testing.T) *audience.Audience {
	t.Helper()
	st, err := sqlite.Open(t.Context(), sqlite.Options{Dir: sqlitetest.Dir(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	return &audience.Audience{Store: st, Key: []byte("0123456789abcdef0123456789abcdef"), Now: time.Now}
}

func hit(agent, addr string) audience.Hit {
	return audience.Hit{Agent: agent, Addr: netip.MustParseAddr(addr), Status: 200}
}

func report(t *testing.T, a *audience.Audience) audience.Report {
	t.Helper()
	r, err := a.Report(t.Context(), "alice", 30)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestReaderCountIsTheSumOfServicesProgramsAndPushSubscribers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAudience(t)
		a.Push = func(context.Context, string) ([]audience.Subscriber, error) {
			return []audience.Subscriber{
				{Protocol: "http-post", Host: "192.0.2.1"},         // this host also reads the feed
				{Protocol: "http-post", Host: "192.0.2.9"},         // this host does not read the feed
				{Protocol: "xml-rpc", Host: "192.0.2.9"},           // the same host again
				{Protocol: "websub", Host: "push.feedbin.com"},     // the service that reads for 142
				{Protocol: "websub", Host: "hooks.example.org"},    // this host is another subscriber
				{Protocol: "cnws", Host: "[2001:db8::1]"},          // the same network as a counted reader
				{Protocol: "cnws", Host: "[2001:db8:0:0:1::1]"},    // this address is in the same network
				{Protocol: "cnws", Host: "[2001:db8:0:1:0:0:0:1]"}, // this address is in another network
			}, nil
		}
		for range 3 {
			a.Hit("alice/rss", hit("Feedbin feed-id:1373711 - 142 subscribers", "198.51.100.7"))
		}
		a.Hit("alice/rss", hit("Feedbin feed-id:1373711 - 143 subscribers", "198.51.100.8")) // the newest number of the service, from another address
		a.Hit("alice/rss", hit("Feedly/1.0 (16 subscribers)", "198.51.100.9"))
		atom := hit("Feedly/1.0 (2 subscribers)", "198.51.100.9")
		atom.Form = "atom"
		a.Hit("alice/rss", atom)
		a.Hit("alice/rss", hit("Miniflux/2.2.0", "192.0.2.1"))
		a.Hit("alice/rss", hit("Miniflux/2.2.1", "192.0.2.1")) // newer version of the same program
		a.Hit("alice/rss", hit("NetNewsWire (RSS Reader)", "192.0.2.1"))
		a.Hit("alice/rss", hit("Miniflux/2.2.0", "2001:db8::5"))
		a.Hit("alice/rss", hit("Miniflux/2.2.0", "2001:db8::6")) // the address is in the same network
		a.Hit("alice/rss", hit("Mozilla/5.0 (compatible; Googlebot/2.1)", "192.0.2.2"))
		a.Hit("alice/rss", hit("Mozilla/5.0 (X11) Gecko/20100101 Firefox/128.0", "192.0.2.3"))
		wrong := hit("Miniflux/2.2.0", "192.0.2.77")
		wrong.Status = 404
		a.Hit("alice/rss", wrong)
		private := hit("Miniflux/2.2.0", "192.0.2.1")
		private.Selector = "abcdef"
		a.Hit("alice/private", private)
		private.Status = 304
		a.Hit("alice/private", private)

		r := report(t, a)
		if want := int64(143+16+2) + 3 + 3 + 1; r.Readers != want {
			t.Errorf("%d readers, want %d", r.Readers, want)
		}
		for _, c := range []struct {
			what      string
			got, want any
		}{
			{"services", r.Services.Readers, int64(161)},
			{"programs", r.Programs, audience.Programs{Readers: 3, Once: 1, List: []audience.Count{{Name: "Miniflux", N: 2}, {Name: "NetNewsWire", N: 1}}}},
			{"push", r.Push, audience.Push{Subscriptions: 8, Readers: 3, List: []audience.Count{{Name: "cnws", N: 3}, {Name: "http-post", N: 2}, {Name: "websub", N: 2}, {Name: "xml-rpc", N: 1}}}},
			{"private", r.Private.Readers, int64(1)},
			{"not counted", r.NotCounted, audience.NotCounted{Browsers: 1, Robots: 1}},
			{"formats", r.Formats, []audience.Count{{Name: "", N: 162}, {Name: "atom", N: 2}}},
			{"requests today", r.Days[len(r.Days)-1].Requests, int64(15)},
			{"304 today", r.Days[len(r.Days)-1].NotModified, int64(1)},
		} {
			if d := cmp.Diff(c.want, c.got); d != "" {
				t.Errorf("%s: %s", c.what, d)
			}
		}
	})
}

func TestReadersOfAllPrivateFeedsAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAudience(t)
		for feed, selectors := range map[string][]string{"private": {"a"}, "private-family": {"b", "c"}, "private-work": {"d"}} {
			for _, selector := range selectors {
				h := hit("Miniflux/2.2.0", "192.0.2.1")
				h.Selector = selector
				a.Hit("alice/"+feed, h)
				h.Status = 304
				a.Hit("alice/"+feed, h)
			}
		}
		r := report(t, a)
		if r.Readers != 4 || r.Private.Readers != 4 {
			t.Errorf("%d readers, %d of them private, want 4", r.Readers, r.Private.Readers)
		}
		if err := a.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(24 * time.Hour)
		day := report(t, a).Days[0]
		if day.Private != 4 || day.Requests != 8 || day.NotModified != 4 {
			t.Errorf("the day is %+v, want 4 private readers, 8 requests and 4 with status 304", day)
		}
	})
}

func TestFeedReaderIsNoLongerCountedAfterOneWeek(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAudience(t)
		a.Hit("alice/rss", hit("Miniflux/2.2.0", "192.0.2.1"))
		if err := a.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(audience.Window - time.Hour) // on the fake clock of synctest
		a.Hit("alice/rss", hit("Miniflux/2.2.0", "192.0.2.2"))
		if n := report(t, a).Readers; n != 2 {
			t.Errorf("%d readers within the week, want 2", n)
		}
		time.Sleep(2 * time.Hour)
		if err := a.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		r := report(t, a)
		if r.Readers != 1 {
			t.Errorf("%d readers after the window, want 1", r.Readers)
		}
		if len(r.Days) < 2 || r.Days[0].Readers != 1 || r.Days[0].Requests != 1 {
			t.Errorf("the days are %+v: the first one changed", r.Days)
		}
	})
}

func TestFeedReadersBeyondTheMemoryLimitAreNotCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAudience(t)
		for i := range 30_000 {
			a.Hit("alice/rss", hit("x", fmt.Sprintf("10.%d.%d.%d", i>>16, i>>8&255, i&255)))
		}
		if n := report(t, a).Readers; n != 20_000 {
			t.Errorf("%d readers, want 20,000", n)
		}
		a.Hit("alice/rss", hit("x", "10.255.255.255"))
		if n := report(t, a).Readers; n != 20_001 {
			t.Errorf("%d readers after they were written, want 20,001", n)
		}
	})
}

func TestUserAgentsFromOneAddressAreLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAudience(t)
		for i := range 30_000 {
			a.Hit("alice/rss", hit(fmt.Sprint("x", i), "192.0.2.1"))
			a.Hit("alice/rss", hit(fmt.Sprint("x", i, "; 5 subscribers"), "192.0.2.1"))
		}
		a.Hit("alice/rss", hit("x", "192.0.2.2"))
		r := report(t, a)
		if r.Programs.Readers != 51 || len(r.Services.List) != 50 {
			t.Errorf("%d programs, %d services", r.Programs.Readers, len(r.Services.List))
		}
		a.Hit("alice/rss", hit("another", "192.0.2.1"))
		if n := report(t, a).Programs.Readers; n != 52 {
			t.Errorf("%d programs after they were written", n)
		}
	})
}

// failingStore is a store whose first writes fail.
type failingStore struct {
	audience.Store
	fails int
}

func (b *failingStore) AddSeen(ctx context.Context, list []audience.Seen) error {
	if b.fails--; b.fails >= 0 {
		return fmt.Errorf("away")
	}
	return b.Store.AddSeen(ctx, list)
}

func TestFailedWriteOfReaderCountsIsRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAudience(t)
		a.Store = &failingStore{Store: a.Store, fails: 2}
		for range 3 {
			a.Hit("alice/rss", hit("Miniflux/2.2.0", "192.0.2.1"))
			_ = a.Flush(t.Context()) // the first two calls fail
		}
		r := report(t, a)
		if r.Readers != 1 || r.Days[0].Requests != 3 {
			t.Errorf("%d readers and %d requests, want 1 and 3", r.Readers, r.Days[0].Requests)
		}
	})
}

func TestUserAgentsFromOneAddressAreLimitedWhileWritesFail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAudience(t)
		a.Store = &failingStore{Store: a.Store, fails: 3}
		for i := range 600 {
			agent := fmt.Sprint("x", i)
			if i%2 > 0 {
				agent += "; 5 subscribers" // a service, which has no address in the store
			}
			a.Hit("alice/rss", hit(agent, "192.0.2.1"))
			if i%150 == 149 {
				_ = a.Flush(t.Context()) // the first three calls fail
			}
		}
		r := report(t, a)
		if r.Programs.Readers != 50 || len(r.Services.List) != 50 {
			t.Errorf("%d programs and %d services, want 50 and 50", r.Programs.Readers, len(r.Services.List))
		}
	})
}

func TestReaderCountsAreWrittenPeriodicallyAndAtShutdown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAudience(t)
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); a.Run(ctx) }()
		a.Hit("alice/rss", hit("a", "192.0.2.1"))
		time.Sleep(11 * time.Second)
		synctest.Wait()
		list, err := a.Store.SeenOf(t.Context(), "alice/rss", time.Time{}, 10)
		if err != nil || len(list) != 1 {
			t.Errorf("%d rows written after 11 s, %v", len(list), err)
		}
		a.Hit("alice/rss", hit("b", "192.0.2.1"))
		stop()
		<-done
		if list, err = a.Store.SeenOf(t.Context(), "alice/rss", time.Time{}, 10); err != nil || len(list) != 2 {
			t.Errorf("%d rows written at the end, %v", len(list), err)
		}
	})
}
