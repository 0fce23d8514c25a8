package upstream_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"cloudburst/internal/event"
	"cloudburst/internal/fault"
	"cloudburst/internal/fulltest"
	"cloudburst/internal/upstream"
)

// setKnownHubs sets the endpoints that the reader knows for the feed, and makes the feed
// unreadable for the engine.
func (w *harness) setKnownHubs(endpoints ...upstream.Endpoint) {
	w.found = nil // the engine cannot fetch the feed
	w.engine.Options.Known = func(_ context.Context, feed string) (upstream.Found, bool, error) {
		w.mu.Lock()
		defer w.mu.Unlock()
		return upstream.Found{Topic: feedURL, Endpoints: endpoints}, feed == feedURL && endpoints != nil, nil
	}
}

func (w *harness) addEndpoint(d upstream.Endpoint, part string) upstream.Follow {
	w.t.Helper()
	f, err := w.engine.Add(w.t.Context(), upstream.Request{Feed: feedURL, For: part, Endpoint: &d, Topic: feedURL})
	if err != nil {
		w.t.Fatal(err)
	}
	return f
}

func theCloudEndpoint() upstream.Endpoint {
	return upstream.Endpoint{Protocol: upstream.RSSCloud, Hub: cloudURL, Wire: "http-post"}
}

func TestHubFoundByTheRiverIsUsedWithoutReadingTheFeedAgain(t *testing.T) {
	t.Parallel()
	withHarness(t, upstream.Options{}, func(t *testing.T, w *harness) {
		w.found = nil
		f := w.addEndpoint(theCloudEndpoint(), upstream.Reader)
		w.advance(time.Second)
		w.state(f, upstream.Active)
		for range 5 {
			w.addEndpoint(theCloudEndpoint(), upstream.Reader)
			w.addEndpoint(upstream.Endpoint{Protocol: upstream.RSSCloud, Hub: cloudURL}, upstream.Reader) // an endpoint with fewer details
		}
		w.advance(time.Minute)
		if n := len(w.requests()); n != 1 {
			t.Errorf("the hub got %d requests", n)
		}
		w.addEndpoint(theCloudEndpoint(), upstream.Relay)
		w.advance(time.Minute)
		if got := w.reload(f); len(got.For) != 2 || len(w.requests()) != 0 {
			t.Errorf("when another part follows it too: %+v", got)
		}
		moved := theCloudEndpoint()
		moved.Hub = "http://next.test/pleaseNotify"
		w.addEndpoint(moved, upstream.Reader)
		w.advance(time.Second)
		if list := w.requests(); len(list) != 1 || list[0].hub != moved.Hub {
			t.Errorf("requests at the new hub: %v", list)
		}
		for name, d := range map[string]upstream.Endpoint{
			"a protocol": {Protocol: "smoke", Hub: hubURL}, "a URL": {Protocol: upstream.WebSub, Hub: "ftp://x"}, "nothing": {},
		} {
			if _, err := w.engine.Add(t.Context(), upstream.Request{Feed: feedURL, For: upstream.Reader, Endpoint: &d}); fault.CodeOf(err) != fault.Invalid {
				t.Errorf("invalid value %s: %v", name, err)
			}
		}
	})
}

func TestAllSubscriptionsOfAFeedAreListed(t *testing.T) {
	t.Parallel()
	withHarness(t, upstream.Options{}, func(t *testing.T, w *harness) {
		w.addEndpoint(upstream.Endpoint{Protocol: upstream.WebSub, Hub: hubURL}, upstream.Reader)
		w.addEndpoint(theCloudEndpoint(), upstream.Reader)
		list, err := w.engine.Of(t.Context(), feedURL)
		if err != nil || len(list) != 2 || list[0].Protocol != upstream.RSSCloud || list[1].Protocol != upstream.WebSub {
			t.Errorf("%+v, %v", list, err)
		}
		if list, err = w.engine.Of(t.Context(), "http://other.test/"); len(list) != 0 || err != nil {
			t.Errorf("%+v, %v", list, err)
		}
	})
}

func TestHubsKnownToTheRiverReplaceAnUnreachableHub(t *testing.T) {
	t.Parallel()
	fulltest.SkipUnderRace(t) // the test simulates many days; shorter tests run the same goroutines
	withHarness(t, upstream.Options{Away: 24 * time.Hour}, func(t *testing.T, w *harness) {
		web := func(hub string) upstream.Endpoint { return upstream.Endpoint{Protocol: upstream.WebSub, Hub: hub} }
		w.setKnownHubs(web(hubURL))
		f := w.addEndpoint(web(hubURL), upstream.Reader)
		w.advance(time.Second)
		w.configure(func() {
			w.answer = func(f upstream.Follow) (upstream.Answer, error) {
				if f.Hub == hubURL {
					return upstream.Answer{}, fault.New(fault.Unreadable, "Nobody there.")
				}
				_, err := w.engine.Confirm(context.Background(), f.Token, f.Topic, true, time.Hour)
				return upstream.Answer{}, err
			}
		})
		w.setKnownHubs(web(hubURL), web("https://next.test/"))
		w.advance(10 * 24 * time.Hour)
		if got := w.state(f, upstream.Active); got.Hub != "https://next.test/" {
			t.Errorf("the follow is %+v", got)
		}
	})
}

func TestFeedIsCheckedAfterAnActiveSubscriptionMovesToAnotherHub(t *testing.T) {
	t.Parallel()
	withHarness(t, upstream.Options{Away: 1000 * time.Hour}, func(t *testing.T, w *harness) {
		web := func(hub string) upstream.Endpoint { return upstream.Endpoint{Protocol: upstream.WebSub, Hub: hub} }
		f := w.addEndpoint(web(hubURL), upstream.Reader)
		w.advance(time.Second)
		w.setKnownHubs(web("https://next.test/"))
		w.configure(func() { w.answer = refuse(fault.Unreadable, "Nobody there.") })
		got := w.reload(f)
		for range 240 { // the lease in hours
			if got.Hub != hubURL {
				break
			}
			w.advance(time.Hour)
			got = w.reload(f)
		}
		if got.Hub != "https://next.test/" || got.State != upstream.Pending || !got.Missed || !got.ExpiresAt.After(time.Now()) {
			t.Fatalf("the follow is %+v", got)
		}
		w.received()
		w.configure(func() { w.answer = nil })
		w.advance(12 * time.Hour)
		if got := w.state(f, upstream.Active); got.Missed {
			t.Errorf("the follow is %+v", got)
		}
		if list := w.received(); len(list) != 1 || list[0].Via != upstream.ViaAway {
			t.Errorf("checks for missed news: %+v", list)
		}
	})
}

func TestFeedFollowedInTheRiverIsNotReadAgainToFindHubs(t *testing.T) {
	t.Parallel()
	withHarness(t, upstream.Options{Away: 24 * time.Hour}, func(t *testing.T, w *harness) {
		discovered := 0
		w.found = nil
		w.engine.Ask = &countingHarness{harness: w, n: &discovered}
		w.setKnownHubs() // now the reader does not know the feed
		f := w.addEndpoint(theCloudEndpoint(), upstream.Reader)
		w.configure(func() { w.answer = refuse(fault.Unreadable, "Nobody there.") })
		w.advance(3 * 24 * time.Hour)
		if got := w.state(f, upstream.Pending); got.Failures < 5 || got.LastError != "Nobody there." {
			t.Errorf("the follow is %+v", got)
		}
		if _, err := w.engine.Add(t.Context(), upstream.Request{Feed: "http://feeds.test/other", For: upstream.Reader}); fault.CodeOf(err) != fault.NotFound {
			t.Errorf("without an endpoint: %v", err)
		}
		if discovered != 0 {
			t.Errorf("feeds were fetched %d times", discovered)
		}
		if _, err := w.engine.Add(t.Context(), upstream.Request{Feed: "http://feeds.test/other", For: upstream.Relay}); err == nil || discovered != 1 {
			t.Errorf("for the relay the feed was fetched %d times: %v", discovered, err)
		}
	})
}

type countingHarness struct {
	*harness
	n *int
}

func (c *countingHarness) Discover(ctx context.Context, feed string) (upstream.Found, error) {
	*c.n++
	return c.harness.Discover(ctx, feed)
}

func TestContentCountsAsSignedOnlyWithASecret(t *testing.T) {
	t.Parallel()
	withHarness(t, upstream.Options{}, func(t *testing.T, w *harness) {
		content := upstream.Content{Body: []byte("<rss/>"), Signed: true}
		for hub, signed := range map[string]bool{hubURL: true, "http://hub.test/": false} { // only hubs with TLS receive secrets
			f := w.addEndpoint(upstream.Endpoint{Protocol: upstream.WebSub, Hub: hub}, upstream.Reader)
			w.advance(time.Second)
			w.received()
			if err := w.engine.Delivered(t.Context(), w.reload(f).Token, peer(), 1, content); err != nil {
				t.Fatal(err)
			}
			list := w.received()
			if len(list) != 1 || string(list[0].Body) != "<rss/>" || list[0].Signed != signed || len(list[0].For) != 1 || list[0].For[0] != upstream.Reader {
				t.Errorf("%s: %+v", hub, list)
			}
		}
	})
}

func TestStartTimeOfUninterruptedPushIsStored(t *testing.T) {
	t.Parallel()
	fulltest.Long(t)
	withHarness(t, upstream.Options{Away: time.Hour}, func(t *testing.T, w *harness) {
		f := w.addEndpoint(theCloudEndpoint(), upstream.Reader)
		w.advance(time.Second)
		since := w.reload(f).SinceAt
		if since.IsZero() {
			t.Fatal("SinceAt is zero")
		}
		w.advance(60 * time.Hour) // the subscription is renewed twice
		if got := w.reload(f); !got.SinceAt.Equal(since) || !got.ConfirmedAt.After(since) {
			t.Errorf("after two renewals: since %s, want %s", got.SinceAt, since)
		}
		w.configure(func() { w.answer = refuse(fault.Unreadable, "Nobody there.") })
		w.advance(30 * time.Hour)
		if got := w.state(f, upstream.Pending); !got.SinceAt.IsZero() {
			t.Errorf("after its expiry: since %s", got.SinceAt)
		}
		w.configure(func() { w.answer = nil })
		w.advance(8 * time.Hour)
		if got := w.state(f, upstream.Active); !got.SinceAt.After(since) {
			t.Errorf("afterwards: since %s", got.SinceAt)
		}
		since = w.reload(f).SinceAt
		w.stop()
		w.advance(3 * time.Hour)
		w.start(upstream.Options{Away: time.Hour})
		w.advance(time.Minute)
		if got := w.state(f, upstream.Active); !got.SinceAt.After(since) {
			t.Errorf("after a downtime: since %s", got.SinceAt)
		}
		if list := w.received(); len(list) != 2 || list[1].Via != upstream.ViaAway || list[1].For[0] != upstream.Reader {
			t.Errorf("checks for missed news: %+v", list)
		}
	})
}

func TestChallengeIsAnsweredDuringUnsubscription(t *testing.T) {
	t.Parallel()
	withHarness(t, upstream.Options{}, func(t *testing.T, w *harness) {
		w.addEndpoint(theCloudEndpoint(), upstream.Relay)
		w.advance(time.Second)
		asked := false
		w.engine.Ask = endingHub{w, func() {
			yes, err := w.engine.Wants(t.Context(), feedURL, upstream.RSSCloud)
			asked = yes && err == nil
		}}
		if _, err := w.engine.Remove(t.Context(), feedURL, "", upstream.Relay); err != nil {
			t.Fatal(err)
		}
		w.advance(time.Second)
		if yes, err := w.engine.Wants(t.Context(), feedURL, upstream.RSSCloud); !asked || yes || err != nil {
			t.Errorf("while it ends: %v; afterwards: %v, %v", asked, yes, err)
		}
		if texts := w.logged(event.KindCancel); len(texts) != 1 || !strings.Contains(texts[0], "no longer follows") {
			t.Errorf("the log has %q", texts)
		}
	})
}

type endingHub struct {
	*harness
	do func()
}

func (e endingHub) End(ctx context.Context, f upstream.Follow) error {
	e.do()
	return e.harness.End(ctx, f)
}

// The log is public, and the feeds that users read are not.
//
// spec:cloudburst#river-feeds-private
func TestLogHasNoEventsOfFeedsThatOnlyTheReaderFollows(t *testing.T) {
	t.Parallel()
	withHarness(t, upstream.Options{}, func(t *testing.T, w *harness) {
		lose := func(f upstream.Follow) {
			t.Helper()
			w.advance(time.Second)
			f = w.state(f, upstream.Active)
			if err := w.engine.Denied(t.Context(), f.Token, f.Topic, "No."); err != nil {
				t.Fatal(err)
			}
		}
		websub := upstream.Endpoint{Protocol: upstream.WebSub, Hub: hubURL}
		lose(w.addEndpoint(websub, upstream.Reader))
		w.configure(func() { w.answer = refuse(fault.Refused, "No.") })
		w.addEndpoint(theCloudEndpoint(), upstream.Reader)
		w.advance(time.Second)
		if _, err := w.engine.Remove(t.Context(), feedURL, "", upstream.Reader); err != nil {
			t.Fatal(err)
		}
		w.advance(time.Hour)
		for len(w.news.C()) > 0 {
			t.Errorf("the log has %+v", <-w.news.C())
		}
		w.configure(func() { w.answer = nil })
		w.addEndpoint(websub, upstream.Reader)
		lose(w.add(upstream.WebSub)) // the hub follows the feed too
		if texts := w.logged(event.KindDrop); len(texts) != 1 {
			t.Errorf("of a feed that the hub follows too, the log has %q", texts)
		}
	})
}
