package river_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"cloudburst/feed/polling"
	"cloudburst/internal/fault"
	"cloudburst/internal/fulltest"
	"cloudburst/internal/river"

	"github.com/google/go-cmp/cmp"
)

const hubbed = `<atom:link xmlns:atom="http://www.w3.org/2005/Atom" rel="hub" href="http://hub.test/"/>` +
	`<atom:link xmlns:atom="http://www.w3.org/2005/Atom" rel="self" href="http://feeds.test/self.xml"/>` +
	`<cloud domain="cloud.test" port="5337" path="/rsscloud/pleaseNotify" registerProcedure="" protocol="http-post"/>`

func feedEndpoints() []river.PushEndpoint {
	return []river.PushEndpoint{
		{Protocol: "websub", Hub: "http://hub.test/"},
		{Protocol: "rsscloud", Hub: "http://cloud.test:5337/rsscloud/pleaseNotify", Wire: "http-post"},
	}
}

// confirmAll makes every hub confirm its subscription at the current time.
func (h *hubs) confirmAll() {
	var list []river.PushState
	for _, d := range feedEndpoints() {
		list = append(list, river.PushState{PushEndpoint: d, State: "active", Since: time.Now()})
	}
	h.set(list...)
}

func TestHubsAreSubscribedOnceAndUnsubscribedWhenRemovedFromTheFeed(t *testing.T) {
	t.Parallel()
	withHarness(t, river.Options{}, func(t *testing.T, w *harness) {
		w.serve(feedURL, tagged(rss(hubbed, "a"), `"v1"`))
		w.follow(feedURL)
		w.advance(time.Minute)
		if d := cmp.Diff(map[string][]river.PushEndpoint{feedURL: feedEndpoints()}, w.push.follows); d != "" {
			t.Fatal(d)
		}
		if topic, known, ok, err := w.river.Known(t.Context(), feedURL); topic != "http://feeds.test/self.xml" || len(known) != 2 || !ok || err != nil {
			t.Errorf("known: %q, %v, %v, %v", topic, known, ok, err)
		}
		w.push.confirmAll()
		w.advance(3 * time.Hour)
		if w.push.asked != 1 {
			t.Errorf("%d requests", w.push.asked)
		}
		w.serve(feedURL, tagged(rss("", "a"), `"v2"`))
		w.advance(26 * time.Hour)
		if len(w.push.follows[feedURL]) != 0 {
			t.Errorf("still subscribed: %v", w.push.follows)
		}
		w.serve(feedURL, tagged(rss(hubbed, "a"), `"v3"`))
		w.push.set()
		w.advance(26 * time.Hour)
		w.serve(feedURL, status(410))
		w.advance(26 * time.Hour)
		if d := cmp.Diff([]string{feedURL}, w.push.left); d != "" {
			t.Errorf("left: %s", d)
		}
	})
}

func TestPushCausesImmediateCheckDespiteTheHostInterval(t *testing.T) {
	t.Parallel()
	withHarness(t, river.Options{HostInterval: time.Minute}, func(t *testing.T, w *harness) {
		w.serve(feedURL, tagged(rss("", "a"), `"v1"`))
		w.serve("http://feeds.test/2", tagged(rss("", "a"), `"v1"`))
		w.follow(feedURL)
		w.advance(time.Second)
		w.follow("http://feeds.test/2") // this feed uses the host's next slot
		w.advance(2 * time.Minute)
		w.serve(feedURL, tagged(rss("", "b", "a"), `"v2"`))
		news := w.river.Listen(1)
		begun := time.Now()
		if known, err := w.river.ReceivePush(t.Context(), feedURL, "ping"); !known || err != nil {
			t.Fatalf("%v, %v", known, err)
		}
		a := <-news.C()
		if took := time.Since(begun); took > 100*time.Millisecond || len(a.Items) != 1 || !a.Items[0].New {
			t.Errorf("after %v: %+v", took, a)
		}
		w.advance(time.Second)
		if c := w.checks(feedURL)[0]; c.Cause != polling.Pushed || c.Via != "ping" || c.New != 1 {
			t.Errorf("%+v", c)
		}
		if known, err := w.river.ReceivePush(t.Context(), "http://feeds.test/unknown", "ping"); known || err != nil {
			t.Errorf("an unknown feed: %v, %v", known, err)
		}
	})
}

func TestPushesDuringACheckCauseAtMostOneCheckPerSecond(t *testing.T) {
	t.Parallel()
	withHarness(t, river.Options{}, func(t *testing.T, w *harness) {
		post := func(words []string) {
			w.serve(feedURL, func(out http.ResponseWriter, r *http.Request) {
				<-time.After(300 * time.Millisecond)
				doc(rss("", words...))(out, r)
			})
		}
		words := []string{"a"}
		post(words)
		w.follow(feedURL)
		w.advance(time.Minute)
		w.requests()
		for i := range 40 {
			words = append([]string{string(rune('b' + i%20))}, words...)
			post(words)
			if known, err := w.river.ReceivePush(t.Context(), feedURL, "ping"); !known || err != nil {
				t.Fatalf("%v, %v", known, err)
			}
			w.advance(100 * time.Millisecond)
		}
		w.advance(3 * time.Second)
		list := w.requests()
		for i := 3; i < len(list); i++ { // pushBurst checks may start at once, so compare each check with the third one before it
			if gap := list[i].at.Sub(list[i-3].at); gap < time.Second || i > 3 && list[i].at.Sub(list[i-1].at) < time.Second {
				t.Errorf("%v between four checks", gap)
			}
		}
		if len(list) < 6 || len(list) > 8 {
			t.Errorf("%d checks for 40 pushes in 4 s", len(list))
		}
		if n := len(w.items(feedURL)); n != 21 {
			t.Errorf("%d items", n)
		}
	})
}

func TestHostedFeedIsCheckedAfterEveryPush(t *testing.T) {
	t.Parallel()
	own := func(url string) bool { return url == feedURL }
	withHarness(t, river.Options{HostInterval: time.Minute, Own: own}, func(t *testing.T, w *harness) {
		w.serve(feedURL, doc(rss("", "a")))
		w.follow(feedURL)
		w.advance(time.Minute)
		w.requests()
		for i := range 20 {
			w.serve(feedURL, doc(rss("", strings.Repeat("b", i+1), "a")))
			if known, err := w.river.ReceivePush(t.Context(), feedURL, "save"); !known || err != nil {
				t.Fatalf("%v, %v", known, err)
			}
			w.advance(50 * time.Millisecond)
		}
		if n := len(w.requests()); n != 20 {
			t.Errorf("%d checks for 20 pushes", n)
		}
	})
}

func TestPushBeforeARestartIsHandledAfterTheRestart(t *testing.T) {
	t.Parallel()
	withHarness(t, river.Options{}, func(t *testing.T, w *harness) {
		w.serve(feedURL, tagged(rss("<ttl>900</ttl>", "a"), `"v1"`))
		w.follow(feedURL)
		w.advance(time.Minute)
		w.stop()
		w.serve(feedURL, tagged(rss("<ttl>900</ttl>", "b", "a"), `"v2"`))
		if known, err := w.river.ReceivePush(t.Context(), feedURL, "ping"); !known || err != nil {
			t.Fatalf("%v, %v", known, err)
		}
		w.start()
		w.advance(time.Second)
		if s := titles(w.items(feedURL)); s != "b a" {
			t.Errorf("items: %s", s)
		}
	})
}

func TestPushForSeveralURLsOfAFeedCausesOneCheck(t *testing.T) {
	t.Parallel()
	withHarness(t, river.Options{}, func(t *testing.T, w *harness) {
		w.serve(feedURL, tagged(rss(hubbed, "a"), `"v"`))
		w.follow(feedURL)
		w.advance(time.Minute)
		w.requests()
		names := []string{feedURL, "http://feeds.test/self.xml", "http://feeds.test/unknown"}
		if known, err := w.river.ReceivePushAny(t.Context(), names, "save"); !known || err != nil {
			t.Fatalf("%v, %v", known, err)
		}
		w.advance(5 * time.Second)
		if n := len(w.requests()); n != 1 {
			t.Errorf("%d readings", n)
		}
	})
}

func TestOnlyFeedsWithAReliableHubArePolledDaily(t *testing.T) {
	t.Parallel()
	for name, announces := range map[string]bool{"announces": true, "misses changes": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			withHarness(t, river.Options{}, func(t *testing.T, w *harness) {
				post := func(n int) {
					var words []string
					for i := n; i >= 0; i-- {
						words = append(words, string(rune('a'+i%26))+strings.Repeat("x", i/26))
					}
					w.serve(feedURL, tagged(rss(hubbed, words...), `"`+words[0]+`"`))
				}
				post(0)
				w.follow(feedURL)
				w.advance(time.Minute)
				w.push.confirmAll()
				for i := range 30 {
					w.advance(2 * time.Hour)
					post(i + 1)
					if announces || i == 0 {
						if _, err := w.river.ReceivePush(t.Context(), feedURL, "notify-websub"); err != nil {
							t.Fatal(err)
						}
					}
				}
				w.requests()
				w.advance(48 * time.Hour)
				n := len(w.requests())
				e, err := w.river.Explain(t.Context(), river.SourceID(feedURL))
				if err != nil {
					t.Fatal(err)
				}
				if announces && (n < 1 || n > 3 || !strings.Contains(e.Trust, "100 %") || !strings.Contains(e.Trust, "once a day")) {
					t.Errorf("%d polls in two days: %s", n, e.Trust)
				}
				if decides := e.Decision.Considered[0].Rule; (decides == polling.RulePush) != announces {
					t.Errorf("%s decides: %s", decides, e.Sentence)
				}
				if !announces && (n < 20 || !strings.Contains(e.Trust, "below 90 %")) {
					t.Errorf("%d polls in two days: %s", n, e.Trust)
				}
			})
		})
	}
}

func TestExplanationNamesALostSubscription(t *testing.T) {
	t.Parallel()
	withHarness(t, river.Options{}, func(t *testing.T, w *harness) {
		w.serve(feedURL, tagged(rss(hubbed, "a"), `"a"`))
		w.follow(feedURL)
		w.advance(time.Minute)
		for state, want := range map[string]string{"pending": "have not confirmed a subscription yet", "lost": "no longer notify this server"} {
			w.push.set(river.PushState{PushEndpoint: feedEndpoints()[0], State: state})
			if e, err := w.river.Explain(t.Context(), river.SourceID(feedURL)); err != nil || !strings.Contains(e.Trust, want) {
				t.Errorf("%s: %s: %v", state, e.Trust, err)
			}
		}
	})
}

func TestFirstPushReplacesFrequentChecksByADailyCheck(t *testing.T) {
	t.Parallel()
	withHarness(t, river.Options{}, func(t *testing.T, w *harness) {
		w.serve(feedURL, tagged(rss(hubbed, "a"), `"a"`))
		w.follow(feedURL)
		w.advance(time.Minute)
		w.push.confirmAll()
		w.serve(feedURL, tagged(rss(hubbed, "b", "a"), `"b"`))
		if _, err := w.river.ReceivePush(t.Context(), feedURL, "notify-websub"); err != nil {
			t.Fatal(err)
		}
		w.advance(10 * time.Second)
		e, err := w.river.Explain(t.Context(), river.SourceID(feedURL))
		if err != nil || e.Decision.Considered[0].Rule != polling.RulePush || !strings.Contains(e.Sentence, "daily check") || !strings.Contains(e.Trust, "once a day") {
			t.Errorf("%s; %+v; %s: %v", e.Sentence, e.Decision.Considered, e.Trust, err)
		}
		if s := w.source(feedURL); !e.Decision.At.Equal(s.NextAt) || s.NextAt.Before(s.State.PolledAt.Add(21*time.Hour)) {
			t.Errorf("polled at %v after %v; the explanation has %v", s.NextAt, s.State.PolledAt, e.Decision.At)
		}
	})
}

func TestFrequentPushesDoNotPreventTheDailyCheck(t *testing.T) {
	t.Parallel()
	fulltest.Long(t)
	fulltest.SkipUnderRace(t) // the test simulates many days; shorter tests run the same goroutines under the race detector
	withHarness(t, river.Options{}, func(t *testing.T, w *harness) {
		w.serve(feedURL, tagged(rss(hubbed, "a"), `"v"`))
		w.follow(feedURL)
		w.push.confirmAll()
		for range 3 * 24 * 12 {
			w.advance(5 * time.Minute)
			if _, err := w.river.ReceivePush(t.Context(), feedURL, "ping"); err != nil {
				t.Fatal(err)
			}
		}
		if s := w.source(feedURL).State; time.Since(s.PolledAt) > 25*time.Hour {
			t.Errorf("polled %v ago", time.Since(s.PolledAt))
		}
	})
}

func TestDeliveredContentIsStoredWithoutARequest(t *testing.T) {
	t.Parallel()
	withHarness(t, river.Options{}, func(t *testing.T, w *harness) {
		w.serve(feedURL, tagged(rss(hubbed, "b", "a"), `"v1"`))
		w.follow(feedURL)
		w.advance(time.Minute)
		w.requests()
		header := http.Header{"Content-Type": {"application/rss+xml"}, "Etag": {`"hub's"`}, "Cache-Control": {"max-age=1"}}
		next := w.source(feedURL).NextAt
		known, err := w.river.Deliver(t.Context(), feedURL, "notify-websub", []byte(rss("", "c", "b=better")), header)
		if !known || err != nil {
			t.Fatalf("%v, %v", known, err)
		}
		if s := titles(w.items(feedURL)); s != "c better* a" {
			t.Errorf("items: %s", s)
		}
		if n := len(w.requests()); n != 0 {
			t.Errorf("%d requests", n)
		}
		s := w.source(feedURL)
		if !s.NextAt.Equal(next) || s.State.Validators.ETag != `"v1"` || len(s.PushEndpoints) != 2 || len(s.Last) != 3 {
			t.Errorf("the state is %+v", s)
		}
		if c := w.checks(feedURL)[0]; c.Cause != polling.Delivered || c.Via != "notify-websub" || c.New != 1 || c.Edited != 1 {
			t.Errorf("%+v", c)
		}
		// A pushed part of a feed withdraws no items, and a later poll finds no new items.
		w.serve(feedURL, tagged(rss(hubbed, "c", "b=better", "a"), `"v2"`))
		w.advance(90 * time.Minute)
		if s := titles(w.items(feedURL)); s != "c better* a" {
			t.Errorf("items after a poll: %s", s)
		}
	})
}

func TestUnusableDeliveredContentCausesACheck(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"a page":       "<!doctype html><p>Hello",
		"nothing":      "",
		"another feed": rss(`<atom:link xmlns:atom="http://www.w3.org/2005/Atom" rel="self" href="http://other.test/feed"/>`, "x"),
		"no items":     rss(""),
		"a redirect":   "<redirect><newLocation>http://evil.test/</newLocation></redirect>",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			withHarness(t, river.Options{}, func(t *testing.T, w *harness) {
				w.serve(feedURL, tagged(rss("", "a"), `"v1"`))
				w.follow(feedURL)
				w.advance(time.Minute)
				w.serve(feedURL, tagged(rss("", "b", "a"), `"v2"`))
				known, err := w.river.Deliver(t.Context(), feedURL, "notify-websub", []byte(body), nil)
				if !known || err != nil {
					t.Fatalf("%v, %v", known, err)
				}
				w.advance(time.Second)
				if s, c := titles(w.items(feedURL)), w.checks(feedURL)[0]; s != "b a" || c.Cause != polling.Pushed {
					t.Errorf("%s, %+v", s, c)
				}
			})
		})
	}
}

func TestDeliveredContentThatCannotBeStoredIsNotAcknowledged(t *testing.T) {
	t.Parallel()
	withHarness(t, river.Options{}, func(t *testing.T, w *harness) {
		m := w.useMemoryStore()
		w.start()
		w.serve(feedURL, tagged(rss("", "a"), `"v1"`))
		w.follow(feedURL)
		w.advance(time.Minute)
		m.fail(fault.New(fault.Unavailable, "The disk is full."))
		if _, err := w.river.Deliver(t.Context(), feedURL, "notify-websub", []byte(rss("", "b")), nil); err == nil {
			t.Error("a delivery was acknowledged")
		}
		if _, err := w.river.ReceivePush(t.Context(), feedURL, "ping"); err == nil {
			t.Error("a push was acknowledged")
		}
	})
}

func TestCNWSHubSetByAUserIsKept(t *testing.T) {
	t.Parallel()
	withHarness(t, river.Options{}, func(t *testing.T, w *harness) {
		w.serve(feedURL, doc(rss("<ttl>60</ttl>", "a")))
		w.followAs("ann", feedURL)
		w.advance(time.Minute)
		id := river.SourceID(feedURL)
		named := river.PushEndpoint{Protocol: "cnws", Hub: "http://news.test/cnws"}
		if _, err := w.river.SetCNWS(t.Context(), "ann", id, named.Hub); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff([]river.PushEndpoint{named}, w.push.follows[feedURL]); d != "" {
			t.Error(d)
		}
		w.push.set(river.PushState{PushEndpoint: named, State: "active", Since: time.Now()})
		w.serve(feedURL, doc(rss(hubbed, "b", "a")))
		w.advance(3 * time.Hour)
		if d := cmp.Diff(append(feedEndpoints(), named), w.push.follows[feedURL]); d != "" {
			t.Error(d)
		}
		for hub, code := range map[string]fault.Code{"ftp://news.test/": fault.Invalid, "news": fault.Invalid} {
			if _, err := w.river.SetCNWS(t.Context(), "ann", id, hub); fault.CodeOf(err) != code {
				t.Errorf("%s: %v", hub, err)
			}
		}
		if _, err := w.river.SetCNWS(t.Context(), "bob", id, named.Hub); fault.CodeOf(err) != fault.NotFound {
			t.Error(err)
		}
		if _, err := w.river.SetCNWS(t.Context(), "ann", id, ""); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(feedEndpoints(), w.push.follows[feedURL]); d != "" {
			t.Error(d)
		}
		if s := w.source(feedURL); !s.State.Push.Since.IsZero() || s.NextAt.After(time.Now().Add(2*time.Hour)) {
			t.Errorf("without the hub, the feed is read at %v: %+v", s.NextAt, s.State.Push)
		}
	})
}

// ourHub returns the state of a hub that is this server itself.
func ourHub() river.PushState {
	return river.PushState{PushEndpoint: river.PushEndpoint{Protocol: "websub", Hub: "http://own.test/websub"}, Own: true, State: "active", Since: time.Now()}
}

func TestOwnFeedIsPolledDailyFromItsFirstCheck(t *testing.T) {
	t.Parallel()
	for name, served := range map[string]bool{"served here": true, "elsewhere, with this hub": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			own := func(url string) bool { return served && url == feedURL }
			withHarness(t, river.Options{Own: own}, func(t *testing.T, w *harness) {
				w.push.set(ourHub())
				w.serve(feedURL, tagged(rss(`<atom:link xmlns:atom="http://www.w3.org/2005/Atom" rel="hub" href="http://own.test/websub"/>`, "a"), `"a"`))
				w.follow(feedURL)
				w.advance(time.Minute)
				agrees := func(daily bool) {
					t.Helper()
					e, s := w.explain(feedURL), w.source(feedURL)
					decides := e.Decision.Considered[0]
					if (decides.Rule == polling.RulePush) != daily || daily != strings.Contains(e.Trust, "once a day") {
						t.Errorf("%s decides: %s; %s", decides.Rule, e.Sentence, e.Trust)
					}
					if !e.Decision.At.Equal(s.NextAt) || e.Decision.Reason != s.State.Reason || !strings.HasPrefix(s.State.Reason, decides.Text) || !strings.HasSuffix(e.Sentence, s.State.Reason) {
						t.Errorf("%s, decided by %s; stored is %s at %v", e.Sentence, decides.Text, s.State.Reason, s.NextAt)
					}
				}
				agrees(served)
				w.serve(feedURL, tagged(rss(`<atom:link xmlns:atom="http://www.w3.org/2005/Atom" rel="hub" href="http://own.test/websub"/>`, "b", "a"), `"b"`))
				w.advance(5 * time.Minute)
				if _, err := w.river.ReceivePush(t.Context(), feedURL, "ping"); err != nil {
					t.Fatal(err)
				}
				w.advance(10 * time.Second)
				agrees(true)
				if p := w.explain(feedURL).Push; len(p) != 1 || time.Since(p[0].PushedAt) > time.Minute || p[0].Since.Before(w.source(feedURL).CreatedAt) {
					t.Errorf("its hub is %+v", p)
				}
			})
		})
	}
}

// explain returns the explanation of a feed.
func (w *harness) explain(url string) river.Explanation {
	w.t.Helper()
	e, err := w.river.Explain(w.t.Context(), river.SourceID(url))
	if err != nil {
		w.t.Fatal(err)
	}
	return e
}
