package upstream_test

import (
	"context"
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cloudburst/internal/fault"
	"cloudburst/internal/fulltest"
	"cloudburst/internal/upstream"
)

func (w *harness) push(topic, protocol string, wanted bool) {
	w.t.Helper()
	got, err := w.engine.Receive(w.t.Context(), topic, protocol, peer(), 2)
	if got != wanted || err != nil {
		w.t.Fatalf("pushed %s: %v, %v; want %v", topic, got, err, wanted)
	}
}

func TestReceivedNotificationContainsFeedSourceAndHops(t *testing.T) {
	t.Parallel()
	withHarness(t, upstream.Options{}, func(t *testing.T, w *harness) {
		w.found[feedURL] = upstream.Found{Topic: "http://feeds.test/self.xml", Endpoints: w.found[feedURL].Endpoints}
		w.add(upstream.RSSCloud)
		w.add(upstream.CNWS)
		ws := w.add(upstream.WebSub)
		w.advance(2 * time.Minute)
		w.received()
		w.push(feedURL, upstream.RSSCloud, true)
		w.push(feedURL, upstream.CNWS, true)
		if err := w.engine.Delivered(t.Context(), w.reload(ws).Token, peer(), 2, upstream.Content{}); err != nil {
			t.Fatal(err)
		}
		want := []upstream.Signal{
			{URL: feedURL, Via: upstream.ViaRSSCloud, Source: peer(), Hops: 2, For: []string{"relay"}},
			{URL: feedURL, Via: upstream.ViaCNWS, Source: peer(), Hops: 2, For: []string{"relay"}},
			{URL: feedURL, Via: upstream.ViaWebSub, Source: peer(), Hops: 2, For: []string{"relay"}},
		}
		if d := cmp.Diff(want, w.received(), cmp.Comparer(func(a, b netip.Addr) bool { return a == b })); d != "" {
			t.Errorf("signals (- want, + got):\n%s", d)
		}
		if got := w.reload(ws); got.Topic != "http://feeds.test/self.xml" {
			t.Errorf("the topic is %s", got.Topic)
		}
		w.push("http://feeds.test/self.xml", upstream.RSSCloud, false) // the cloud knows the feed by another URL
		w.push("http://feeds.test/other.xml", upstream.RSSCloud, false)
		if err := w.engine.Delivered(t.Context(), "nobody's", peer(), 0, upstream.Content{}); fault.CodeOf(err) != fault.NotFound {
			t.Errorf("an unknown token: %v", err)
		}
	})
}

// A hub may call the callback before it answers a registration. A test call and a notification look
// the same, so together they cause one check of the feed, whatever the hub answers.
func TestNotificationsDuringFirstRegistrationCauseOneCheck(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		protocol string
		by       string
		fail     error
		state    string
	}{
		"rssCloud, accepted":   {upstream.RSSCloud, upstream.ViaRSSCloud, nil, upstream.Active},
		"rssCloud, refused":    {upstream.RSSCloud, upstream.ViaRSSCloud, fault.New(fault.Refused, "No."), upstream.Refused},
		"rssCloud, unreadable": {upstream.RSSCloud, upstream.ViaRSSCloud, fault.New(fault.Unreadable, "No usable response."), upstream.Pending},
		"CNWS, accepted":       {upstream.CNWS, upstream.ViaCNWS, nil, upstream.Active},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			withHarness(t, upstream.Options{}, func(t *testing.T, w *harness) {
				w.answer = func(f upstream.Follow) (upstream.Answer, error) {
					for range 3 {
						w.push(f.Topic, f.Protocol, true)
						time.Sleep(time.Second)
					}
					if yes, err := w.engine.Wants(context.Background(), f.Topic, f.Protocol); !yes || err != nil {
						t.Errorf("a challenge: %v, %v", yes, err)
					}
					if n := len(w.received()); n != 0 {
						t.Errorf("%d checks before the hub answers", n)
					}
					return upstream.Answer{Confirmed: tt.fail == nil}, tt.fail
				}
				f := w.add(tt.protocol)
				w.advance(10 * time.Second)
				w.state(f, tt.state)
				list := w.received()
				if len(list) != 1 || list[0].URL != feedURL || list[0].Via != tt.by || !list[0].Unsure {
					t.Errorf("after the answer the signals are %+v", list)
				}
				if got := w.reload(f); got.Missed {
					t.Error("the feed would be checked once more")
				}
			})
		})
	}
}

func TestNotificationDuringFirstRegistrationSurvivesARestart(t *testing.T) {
	t.Parallel()
	withHarness(t, upstream.Options{}, func(t *testing.T, w *harness) {
		asked := make(chan struct{})
		w.engine.Ask = silentHub{w, asked}
		f := w.add(upstream.RSSCloud)
		<-asked
		w.stop()
		w.start(upstream.Options{})
		w.advance(time.Minute)
		w.state(f, upstream.Active)
		if list := w.received(); len(list) != 1 {
			t.Errorf("after the start the signals are %+v", list)
		}
	})
}

// silentHub is a hub that sends a notification, but does not answer the request while the program
// runs.
type silentHub struct {
	*harness
	asked chan struct{}
}

func (u silentHub) Ask(ctx context.Context, f upstream.Follow) (upstream.Answer, error) {
	u.push(f.Topic, f.Protocol, true)
	close(u.asked)
	<-ctx.Done()
	return upstream.Answer{}, ctx.Err()
}

func TestNotificationFromAHubWithoutSubscriptionIsIgnored(t *testing.T) {
	t.Parallel()
	fulltest.Long(t)
	withHarness(t, upstream.Options{}, func(t *testing.T, w *harness) {
		w.answer = refuse(fault.Unreadable, "Nobody there.")
		f := w.add(upstream.RSSCloud)
		w.advance(time.Second)
		w.push(feedURL, upstream.RSSCloud, true) // the hub stored the registration, but its answer was lost
		if n := len(w.received()); n != 1 {
			t.Errorf("just after the request a notification causes %d signals", n)
		}
		w.advance(9 * time.Hour) // by now, the hub is asked every six hours
		for time.Since(w.reload(f).RequestedAt) < 11*time.Minute {
			w.advance(time.Minute)
		}
		w.received()
		w.push(feedURL, upstream.RSSCloud, true)
		w.advance(time.Hour)
		if list := w.received(); len(list) != 0 {
			t.Errorf("long after the last request a notification causes %+v", list)
		}
		if yes, err := w.engine.Wants(t.Context(), "http://other.test/", upstream.RSSCloud); yes || err != nil {
			t.Errorf("a challenge for another feed: %v, %v", yes, err)
		}
	})
}

// This server is overloaded while its hub verifies a renewal. The notification gets a positive
// answer, because it may be a test call.
func TestNotificationRejectedDuringARenewalIsCheckedLater(t *testing.T) {
	t.Parallel()
	withHarness(t, upstream.Options{Away: time.Hour}, func(t *testing.T, w *harness) {
		f := w.add(upstream.RSSCloud)
		w.advance(time.Second)
		w.configure(func() {
			w.answer = func(f upstream.Follow) (upstream.Answer, error) {
				w.configure(func() { w.failing = fault.New(fault.TooMany, "Not now.") })
				w.push(f.Topic, f.Protocol, true)
				w.configure(func() { w.failing = nil })
				return upstream.Answer{Confirmed: true}, nil
			}
		})
		w.advance(25 * time.Hour)
		w.state(f, upstream.Active)
		if list := w.received(); len(list) != 1 {
			t.Errorf("after the renewal the signals are %+v", list)
		}
	})
}

// This server is busy when it must check the feed.
func TestFailedFeedCheckAfterNotificationIsRetried(t *testing.T) {
	t.Parallel()
	withHarness(t, upstream.Options{Away: time.Hour}, func(t *testing.T, w *harness) {
		w.answer = func(f upstream.Follow) (upstream.Answer, error) {
			if w.reload(f).ConfirmedAt.IsZero() {
				w.push(f.Topic, f.Protocol, true)
			}
			return upstream.Answer{Confirmed: true}, nil
		}
		w.failing = &fault.Error{Code: fault.TooMany, Msg: "Not now.", RetryAfter: 2 * time.Minute}
		f := w.add(upstream.RSSCloud)
		w.advance(time.Second)
		w.configure(func() { w.failing = nil })
		w.advance(5 * time.Minute)
		w.state(f, upstream.Active)
		if list := w.received(); len(list) != 1 {
			t.Errorf("when there is capacity, the signals are %+v", list)
		}
	})
}

func TestTimeOfLastNotificationIsStoredOncePerMinute(t *testing.T) {
	t.Parallel()
	withHarness(t, upstream.Options{}, func(t *testing.T, w *harness) {
		f := w.add(upstream.RSSCloud)
		w.advance(time.Hour)
		w.push(feedURL, upstream.RSSCloud, true)
		first := w.reload(f).ReceivedAt
		for range 5 {
			w.advance(10 * time.Second)
			w.push(feedURL, upstream.RSSCloud, true)
		}
		if got := w.reload(f).ReceivedAt; !got.Equal(first) {
			t.Errorf("it was stored again after %s", got.Sub(first))
		}
		w.advance(10 * time.Second)
		w.push(feedURL, upstream.RSSCloud, true)
		if got := w.reload(f).ReceivedAt; got.Sub(first) < time.Minute {
			t.Errorf("after a minute it is %s later", got.Sub(first))
		}
	})
}

func TestTemporarilyRejectedNotificationIsRequestedAgain(t *testing.T) {
	t.Parallel()
	withHarness(t, upstream.Options{}, func(t *testing.T, w *harness) {
		cloud, cnws := w.add(upstream.RSSCloud), w.add(upstream.CNWS)
		w.advance(2 * time.Minute)
		w.requests()
		for code, again := range map[fault.Code]bool{
			fault.TooMany: true, fault.Unreadable: true, fault.Unavailable: true, fault.Internal: true, fault.Refused: false, fault.Invalid: false,
		} {
			w.configure(func() { w.failing = fault.New(code, "Not now.") })
			if wanted, err := w.engine.Receive(t.Context(), feedURL, upstream.RSSCloud, peer(), 0); !wanted || again != (err != nil) {
				t.Errorf("rsscloud, %s: %v, %v", code, wanted, err)
			}
			w.advance(time.Minute)
		}
		// CNWS publishers treat an error as permanent, so the feed is checked later instead.
		w.configure(func() { w.failing = fault.New(fault.TooMany, "Not now.") })
		if wanted, err := w.engine.Receive(t.Context(), feedURL, upstream.CNWS, peer(), 0); !wanted || err != nil {
			t.Errorf("cnws: %v, %v", wanted, err)
		}
		w.configure(func() { w.failing = nil })
		w.received()
		w.advance(3 * time.Minute)
		if list := w.received(); len(list) != 1 || list[0].Via != upstream.ViaAway {
			t.Errorf("checks of the feed: %v", list)
		}
		w.state(cloud, upstream.Active)
		w.state(cnws, upstream.Active)
	})
}

func TestUnsignedContentIsCounted(t *testing.T) {
	t.Parallel()
	withHarness(t, upstream.Options{}, func(t *testing.T, w *harness) {
		f := w.add(upstream.WebSub)
		w.advance(time.Hour)
		f = w.reload(f)
		if len(f.Secret) != 64 {
			t.Errorf("the secret is %q", f.Secret)
		}
		for range 10 {
			if err := w.engine.Rejected(t.Context(), f.Token); err != nil {
				t.Fatal(err)
			}
		}
		if got := w.reload(f).Rejected; got != 1 {
			t.Errorf("%d rejections are stored at once", got)
		}
		w.advance(time.Minute)
		if err := w.engine.Rejected(t.Context(), f.Token); err != nil {
			t.Fatal(err)
		}
		if got := w.reload(f).Rejected; got != 11 || w.engine.Live().Rejected != 11 {
			t.Errorf("%d rejections are stored, %d are counted", got, w.engine.Live().Rejected)
		}
		if n := len(w.logged("error")); n != 2 {
			t.Errorf("the log has %d entries", n)
		}
	})
}

func TestSecretIsUsedForTLSHubsOnly(t *testing.T) {
	t.Parallel()
	withHarness(t, upstream.Options{}, func(t *testing.T, w *harness) {
		w.found[feedURL] = upstream.Found{Endpoints: []upstream.Endpoint{{Protocol: upstream.WebSub, Hub: "http://hub.test/"}}}
		if f := w.add(upstream.WebSub); f.Secret != "" || len(f.Token) != 32 {
			t.Errorf("secret %q, token %q", f.Secret, f.Token)
		}
	})
}

// spec:cloudburst#follow-lost
func TestLostSubscriptionCausesACheckOfTheFeed(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(w *harness, f upstream.Follow) error{
		"denied": func(w *harness, f upstream.Follow) error {
			return w.engine.Denied(w.t.Context(), f.Token, f.Topic, "Ended.")
		},
		"renewal refused": func(w *harness, f upstream.Follow) error {
			w.configure(func() { w.answer = refuse(fault.Refused, "No.") })
			w.advance(time.Until(f.NextAt) + time.Minute)
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			withHarness(t, upstream.Options{Away: 1000 * time.Hour}, func(t *testing.T, w *harness) {
				f := w.add(upstream.WebSub)
				w.advance(time.Second)
				f = w.state(f, upstream.Active)
				if list := w.received(); len(list) != 0 {
					t.Fatalf("before the loss: %+v", list)
				}
				if err := lose(w, f); err != nil {
					t.Fatal(err)
				}
				w.advance(time.Second)
				if got := w.state(f, upstream.Lost); got.Missed {
					t.Error("the feed would be checked once more")
				}
				if list := w.received(); len(list) != 1 || list[0].URL != feedURL || !list[0].Unsure {
					t.Errorf("after the loss the signals are %+v", list)
				}
			})
		})
	}
}
