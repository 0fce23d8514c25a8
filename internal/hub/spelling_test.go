package hub_test

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/hub"
	"cloudburst/internal/nettest"
)

// The tests below use eight spellings of one host against each limit for a host.

func source(i int) netip.Addr { return netip.AddrFrom4([4]byte{192, 0, byte(i), 1}) }

// readings counts the documents that were read.
func (w *world) readings() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.fetches) + w.looked
}

func TestAllSpellingsOfAHostShareTheRateOfItsChecks(t *testing.T) {
	t.Parallel()
	feeds := func(n int) (list []string) {
		for i := range n {
			root := nettest.Spellings("feeds.test")[i%8]
			list = append(list, fmt.Sprintf("%s/%d.xml", root, i))
		}
		return list
	}
	for name, do := range map[string]func(t *testing.T, w *world){
		"pings of unknown feeds": func(t *testing.T, w *world) {
			for i, u := range feeds(16) {
				if _, err := w.hub.Ping(t.Context(), hub.Ping{URL: u, Via: "rest", Source: source(i)}); err != nil && fault.CodeOf(err) != fault.Unreadable {
					t.Error(err)
				}
			}
		},
		"pings of known feeds": func(t *testing.T, w *world) {
			var list []hub.SubscriptionInfo
			for _, u := range feeds(16) {
				list = append(list, hub.SubscriptionInfo{Topic: u, Subscription: hub.Subscription{Protocol: hub.HTTPPost, Callback: "http://a.test/n",
					CreatedAt: time.Now(), RenewedAt: time.Now(), ExpiresAt: time.Now().Add(time.Hour)}})
			}
			if _, err := w.hub.Import(t.Context(), list); err != nil {
				t.Fatal(err)
			}
			for i, u := range feeds(16) {
				_, _ = w.hub.Ping(t.Context(), hub.Ping{URL: u, Via: "rest", Source: source(i)}) // what comes of it is counted
			}
		},
		"registrations": func(t *testing.T, w *world) {
			for i, u := range feeds(16) {
				_, _ = w.hub.Register(t.Context(), hub.Registration{Protocol: hub.HTTPPost, Callback: "http://a.test/n", Feeds: []string{u}, Source: source(i)})
			}
		},
		"sites": func(t *testing.T, w *world) {
			for i, u := range feeds(16) {
				if _, err := w.hub.Announce(t.Context(), hub.Announcement{URL: u, Source: source(i)}); err != nil {
					t.Error(err)
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inWorld(t, hub.Options{HostRate: 0.1}, func(t *testing.T, w *world) {
				for _, u := range feeds(16) {
					w.feeds[u] = "x"
				}
				do(t, w)
				w.settle(100 * time.Millisecond)
				if n := w.readings(); n != 1 {
					t.Errorf("the host was read %d times, want 1", n)
				}
			})
		})
	}
}

func TestAllSpellingsOfAHostShareTheBoundOfWhatIsReadInVain(t *testing.T) {
	t.Parallel()
	inWorld(t, hub.Options{SourceRate: -1, HostRate: 1e6}, func(t *testing.T, w *world) {
		w.consent = func(hub.Subscription, string, bool) error { return fault.New(fault.Refused, "It knows nothing of it.") }
		for i := range 400 {
			u := fmt.Sprintf("%s/%d.xml", nettest.Spellings("feeds.test")[i%8], i)
			w.mu.Lock()
			w.feeds[u] = "x"
			w.mu.Unlock()
			_, err := w.hub.Register(t.Context(), hub.Registration{Protocol: hub.HTTPPost, Callback: fmt.Sprintf("http://c%d.test/n", i), Challenge: true,
				Feeds: []string{u}, Source: source(i % 200)})
			if err != nil && fault.CodeOf(err) != fault.TooMany {
				t.Fatal(err)
			}
		}
		if n := w.readings(); n < 90 || n > 110 {
			t.Errorf("feeds of the host were read %d times, want about 100", n)
		}
	})
}

func TestAllSpellingsOfACallbacksHostShareWhatIsAskedInVain(t *testing.T) {
	t.Parallel()
	no := fault.New(fault.Refused, "It knows nothing of it.")
	callback := func(i int) string { return fmt.Sprintf("%s/%d", nettest.Spellings("victim.test")[i%8], i) }
	inWorld(t, hub.Options{}, func(t *testing.T, w *world) {
		asked := 0
		w.consent = func(hub.Subscription, string, bool) error { asked++; return no }
		w.confirm = func(hub.Intent) error { return no }
		for i := range 60 {
			_, _ = w.hub.Register(t.Context(), hub.Registration{Protocol: hub.HTTPPost, Callback: callback(i), Challenge: true, Feeds: []string{feedURL}, Source: source(1)})
			w.settle(200 * time.Millisecond)
		}
		if asked < 20 || asked > 22 {
			t.Errorf("registrations had the host asked %d times, want about 20", asked)
		}
		for i := range 60 {
			_ = w.hub.Request(t.Context(), hub.Intent{Topic: feedURL, Callback: callback(i), Mode: hub.ModeSubscribe, Via: "websub"}, source(2))
			w.settle(200 * time.Millisecond)
		}
		if n := len(w.asked); n < 20 || n > 22 {
			t.Errorf("requests had the host asked %d times, want about 20", n)
		}
	})
}

func TestAllSpellingsOfACallbacksHostShareTheRateOfQuestions(t *testing.T) {
	t.Parallel()
	inWorld(t, hub.Options{SourceRate: -1, HostRate: -1}, func(t *testing.T, w *world) {
		asked := 0
		w.consent = func(hub.Subscription, string, bool) error { asked++; return nil }
		for i := range 1000 {
			u := fmt.Sprintf("%s/%d", nettest.Spellings("a.test")[i%8], i)
			_, _ = w.hub.Register(t.Context(), hub.Registration{Protocol: hub.HTTPPost, Callback: u, Feeds: []string{feedURL}, Source: source(i % 250)})
		}
		if asked < 400 || asked > 440 {
			t.Errorf("the host was asked %d times at once, want about 400", asked)
		}
	})
}

func TestAllSpellingsOfAHostShareTheRequestsUnderWay(t *testing.T) {
	t.Parallel()
	inWorld(t, hub.Options{}, func(t *testing.T, w *world) {
		now, most := 0, 0
		w.confirm = func(hub.Intent) error {
			w.mu.Lock()
			now++
			most = max(most, now)
			w.mu.Unlock()
			time.Sleep(10 * time.Second)
			w.mu.Lock()
			now--
			w.mu.Unlock()
			return nil
		}
		for i := range 100 {
			u := fmt.Sprintf("%s/%d", nettest.Spellings("a.test")[i%8], i)
			if err := w.hub.Request(t.Context(), hub.Intent{Topic: feedURL, Callback: u, Mode: hub.ModeSubscribe, Via: "websub"}, source(i)); err != nil {
				t.Fatal(err)
			}
		}
		w.settle(time.Minute)
		w.mu.Lock()
		defer w.mu.Unlock()
		if most != 32 {
			t.Errorf("%d questions were under way at the host at once, want 32", most)
		}
	})
}

func TestAllSpellingsOfAnOriginAreOneForDeliveries(t *testing.T) {
	t.Parallel()
	inWorld(t, hub.Options{}, func(t *testing.T, w *world) {
		var list []hub.SubscriptionInfo
		for i := range 200 {
			u := fmt.Sprintf("%s/%d", nettest.Spellings("a.test")[i%8], i)
			w.hold[u] = 10 * time.Second
			list = append(list, hub.SubscriptionInfo{Topic: feedURL, Subscription: hub.Subscription{
				Protocol: hub.HTTPPost, Callback: u, CreatedAt: time.Now(), RenewedAt: time.Now(), ExpiresAt: time.Now().Add(25 * time.Hour)}})
		}
		if _, err := w.hub.Import(t.Context(), list); err != nil {
			t.Fatal(err)
		}
		w.change("two")
		w.settle(time.Second)
		w.mu.Lock()
		begun := len(w.told)
		w.mu.Unlock()
		if live := w.hub.Live(); live.Origins != 1 || begun != 16 {
			t.Errorf("%d origins, %d deliveries under way; want 1 and 16", live.Origins, begun)
		}
	})
}

func TestChallengesOfRedirectsCountForTheirHost(t *testing.T) {
	t.Parallel()
	inWorld(t, hub.Options{}, func(t *testing.T, w *world) {
		asked := 0
		for i := range 1000 {
			if w.hub.MayAsk(fmt.Sprintf("%s/%d", nettest.Spellings("a.test")[i%8], i)) {
				asked++
			}
		}
		if asked != 400 {
			t.Errorf("%d challenges of one host at once, want 400", asked)
		}
		if !w.hub.MayAsk("http://b.test/") {
			t.Error("another host may not be asked")
		}
	})
}
