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

// reads lets the program know the feed's hubs from its readers, and fails the test when
// it is read for them.
func (w *world) reads(doors ...upstream.Endpoint) {
	w.found = nil // the feed cannot be read from here
	w.engine.Options.Known = func(_ context.Context, feed string) (upstream.Found, bool, error) {
		w.mu.Lock()
		defer w.mu.Unlock()
		return upstream.Found{Topic: feedURL, Endpoints: doors}, feed == feedURL && doors != nil, nil
	}
}

func (w *world) addDoor(d upstream.Endpoint, who string) upstream.Follow {
	w.t.Helper()
	f, err := w.engine.Add(w.t.Context(), upstream.Request{Feed: feedURL, For: who, Endpoint: &d, Topic: feedURL})
	if err != nil {
		w.t.Fatal(err)
	}
	return f
}

func theCloud() upstream.Endpoint {
	return upstream.Endpoint{Protocol: upstream.RSSCloud, Hub: cloudURL, Wire: "http-post"}
}

func TestADoorThatAReaderFoundIsAskedOnceAndNothingIsRead(t *testing.T) {
	t.Parallel()
	inWorld(t, upstream.Options{}, func(t *testing.T, w *world) {
		w.found = nil
		f := w.addDoor(theCloud(), upstream.Reader)
		w.pass(time.Second)
		w.state(f, upstream.Active)
		for range 5 {
			w.addDoor(theCloud(), upstream.Reader)
			w.addDoor(upstream.Endpoint{Protocol: upstream.RSSCloud, Hub: cloudURL}, upstream.Reader) // told less
		}
		w.pass(time.Minute)
		if n := len(w.asks()); n != 1 {
			t.Errorf("the hub was asked %d times", n)
		}
		w.addDoor(theCloud(), upstream.Relay)
		w.pass(time.Minute)
		if got := w.now(f); len(got.For) != 2 || len(w.asks()) != 0 {
			t.Errorf("when another part wants it too, it is %+v", got)
		}
		moved := theCloud()
		moved.Hub = "http://next.test/pleaseNotify"
		w.addDoor(moved, upstream.Reader)
		w.pass(time.Second)
		if list := w.asks(); len(list) != 1 || list[0].hub != moved.Hub {
			t.Errorf("at its new hub it was asked for: %v", list)
		}
		for name, d := range map[string]upstream.Endpoint{
			"a protocol": {Protocol: "smoke", Hub: hubURL}, "a URL": {Protocol: upstream.WebSub, Hub: "ftp://x"}, "nothing": {},
		} {
			if _, err := w.engine.Add(t.Context(), upstream.Request{Feed: feedURL, For: upstream.Reader, Endpoint: &d}); fault.CodeOf(err) != fault.Invalid {
				t.Errorf("%s that is none: %v", name, err)
			}
		}
	})
}

func TestOfOneFeedAllFollowsAreListed(t *testing.T) {
	t.Parallel()
	inWorld(t, upstream.Options{}, func(t *testing.T, w *world) {
		w.addDoor(upstream.Endpoint{Protocol: upstream.WebSub, Hub: hubURL}, upstream.Reader)
		w.addDoor(theCloud(), upstream.Reader)
		list, err := w.engine.Of(t.Context(), feedURL)
		if err != nil || len(list) != 2 || list[0].Protocol != upstream.RSSCloud || list[1].Protocol != upstream.WebSub {
			t.Errorf("%+v, %v", list, err)
		}
		if list, err = w.engine.Of(t.Context(), "http://other.test/"); len(list) != 0 || err != nil {
			t.Errorf("%+v, %v", list, err)
		}
	})
}

func TestAnotherHubOfAFeedIsFoundByWhatItsReadersKnow(t *testing.T) {
	t.Parallel()
	inWorld(t, upstream.Options{Away: 24 * time.Hour}, func(t *testing.T, w *world) {
		web := func(hub string) upstream.Endpoint { return upstream.Endpoint{Protocol: upstream.WebSub, Hub: hub} }
		w.reads(web(hubURL))
		f := w.addDoor(web(hubURL), upstream.Reader)
		w.pass(time.Second)
		w.plays(func() {
			w.answer = func(f upstream.Follow) (upstream.Answer, error) {
				if f.Hub == hubURL {
					return upstream.Answer{}, fault.New(fault.Unreadable, "Nobody there.")
				}
				_, err := w.engine.Confirm(context.Background(), f.Token, f.Topic, true, time.Hour)
				return upstream.Answer{}, err
			}
		})
		w.reads(web(hubURL), web("https://next.test/"))
		w.pass(10 * 24 * time.Hour)
		if got := w.state(f, upstream.Active); got.Hub != "https://next.test/" {
			t.Errorf("it is %+v", got)
		}
	})
}

func TestWhatOnlyReadersWantIsNeverReadToFindAHub(t *testing.T) {
	t.Parallel()
	inWorld(t, upstream.Options{Away: 24 * time.Hour}, func(t *testing.T, w *world) {
		discovered := 0
		w.found = nil
		w.engine.Ask = &counted{world: w, n: &discovered}
		w.reads() // they have forgotten it
		f := w.addDoor(theCloud(), upstream.Reader)
		w.plays(func() { w.answer = refuse(fault.Unreadable, "Nobody there.") })
		w.pass(3 * 24 * time.Hour)
		if got := w.state(f, upstream.Pending); got.Failures < 5 || got.LastError != "Nobody there." {
			t.Errorf("it is %+v", got)
		}
		if _, err := w.engine.Add(t.Context(), upstream.Request{Feed: "http://feeds.test/other", For: upstream.Reader}); fault.CodeOf(err) != fault.NotFound {
			t.Errorf("without a door: %v", err)
		}
		if discovered != 0 {
			t.Errorf("feeds were read %d times", discovered)
		}
		if _, err := w.engine.Add(t.Context(), upstream.Request{Feed: "http://feeds.test/other", For: upstream.Relay}); err == nil || discovered != 1 {
			t.Errorf("for the relay it was read %d times: %v", discovered, err)
		}
	})
}

type counted struct {
	*world
	n *int
}

func (c *counted) Discover(ctx context.Context, feed string) (upstream.Found, error) {
	*c.n++
	return c.world.Discover(ctx, feed)
}

func TestSignedContentComesWithTheSignalAndOtherContentUnsigned(t *testing.T) {
	t.Parallel()
	inWorld(t, upstream.Options{}, func(t *testing.T, w *world) {
		content := upstream.Content{Body: []byte("<rss/>"), Signed: true}
		for hub, signed := range map[string]bool{hubURL: true, "http://hub.test/": false} { // secrets are for hubs over TLS
			f := w.addDoor(upstream.Endpoint{Protocol: upstream.WebSub, Hub: hub}, upstream.Reader)
			w.pass(time.Second)
			w.received()
			if err := w.engine.Delivered(t.Context(), w.now(f).Token, peer(), 1, content); err != nil {
				t.Fatal(err)
			}
			list := w.received()
			if len(list) != 1 || string(list[0].Body) != "<rss/>" || list[0].Signed != signed || len(list[0].For) != 1 || list[0].For[0] != upstream.Reader {
				t.Errorf("%s: %+v", hub, list)
			}
		}
	})
}

func TestItIsKnownSinceWhenAHubTellsEverything(t *testing.T) {
	t.Parallel()
	fulltest.Long(t)
	inWorld(t, upstream.Options{Away: time.Hour}, func(t *testing.T, w *world) {
		f := w.addDoor(theCloud(), upstream.Reader)
		w.pass(time.Second)
		since := w.now(f).SinceAt
		if since.IsZero() {
			t.Fatal("it does not")
		}
		w.pass(60 * time.Hour) // renewed twice
		if got := w.now(f); !got.SinceAt.Equal(since) || !got.ConfirmedAt.After(since) {
			t.Errorf("after two renewals it is %s, not %s", got.SinceAt, since)
		}
		w.plays(func() { w.answer = refuse(fault.Unreadable, "Nobody there.") })
		w.pass(30 * time.Hour)
		if got := w.state(f, upstream.Pending); !got.SinceAt.IsZero() {
			t.Errorf("when it has run out it is %s", got.SinceAt)
		}
		w.plays(func() { w.answer = nil })
		w.pass(8 * time.Hour)
		if got := w.state(f, upstream.Active); !got.SinceAt.After(since) {
			t.Errorf("afterwards it is %s", got.SinceAt)
		}
		since = w.now(f).SinceAt
		w.stop()
		w.pass(3 * time.Hour)
		w.start(upstream.Options{Away: time.Hour})
		w.pass(time.Minute)
		if got := w.state(f, upstream.Active); !got.SinceAt.After(since) {
			t.Errorf("after an absence of ours it is %s", got.SinceAt)
		}
		if list := w.received(); len(list) != 2 || list[1].Via != upstream.ViaAway || list[1].For[0] != upstream.Reader {
			t.Errorf("what was missed is looked for: %+v", list)
		}
	})
}

func TestWhatIsBeingEndedIsConfirmedToTheCloudThatAsks(t *testing.T) {
	t.Parallel()
	inWorld(t, upstream.Options{}, func(t *testing.T, w *world) {
		w.addDoor(theCloud(), upstream.Reader)
		w.pass(time.Second)
		asked := false
		w.engine.Ask = ending{w, func() {
			yes, err := w.engine.Wants(t.Context(), feedURL, upstream.RSSCloud)
			asked = yes && err == nil
		}}
		if _, err := w.engine.Remove(t.Context(), feedURL, "", upstream.Reader); err != nil {
			t.Fatal(err)
		}
		w.pass(time.Second)
		if yes, err := w.engine.Wants(t.Context(), feedURL, upstream.RSSCloud); !asked || yes || err != nil {
			t.Errorf("while it ends: %v; afterwards: %v, %v", asked, yes, err)
		}
		if texts := w.logged(event.KindCancel); len(texts) != 1 || !strings.Contains(texts[0], "any more") {
			t.Errorf("the log says %q", texts)
		}
	})
}

type ending struct {
	*world
	do func()
}

func (e ending) End(ctx context.Context, f upstream.Follow) error {
	e.do()
	return e.world.End(ctx, f)
}
