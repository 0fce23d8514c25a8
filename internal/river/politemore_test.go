package river_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"cloudburst/feed/polling"
	"cloudburst/internal/fault"
	"cloudburst/internal/river"
)

// The test covers rule 16 of internal/readercheck.
func TestPermanentRedirectMovesFeedAfterThreeChecksInADay(t *testing.T) {
	t.Parallel()
	const to = "http://new.test/feed"
	for code, believed := range map[int]bool{301: true, 308: true, 302: false, 307: false} {
		t.Run(fmt.Sprint(code), func(t *testing.T) {
			t.Parallel()
			withHarness(t, river.Options{}, func(t *testing.T, w *harness) {
				w.serve(feedURL, status(code, "Location", to))
				w.serve(to, tagged(rss("<ttl>600</ttl>", "a"), `"v"`))
				w.follow(feedURL)
				w.advance(12 * time.Hour)
				if s := w.source(feedURL); s.URL != feedURL {
					t.Errorf("moved after half a day to %s", s.URL)
				}
				w.advance(30 * time.Hour)
				s := w.source(feedURL)
				if moved := s.URL == to; moved != believed || s.State.URL != s.URL {
					t.Fatalf("after a day: %s, %+v", s.URL, s.State.Candidate)
				}
				if !believed {
					return
				}
				w.requests()
				w.advance(11 * time.Hour)
				for _, r := range w.requests() {
					if r.url != "new.test/feed" || r.header.Get("If-None-Match") != `"v"` {
						t.Errorf("request for %s with %q", r.url, r.header.Get("If-None-Match"))
					}
				}
				e, err := w.river.Explain(t.Context(), s.ID)
				if err != nil || !strings.Contains(strings.Join(e.Notes, " "), "undone") {
					t.Errorf("%v, %q", err, e.Notes)
				}
				w.undo(feedURL)
				w.advance(4 * 24 * time.Hour)
				if s := w.source(feedURL); s.URL != feedURL {
					t.Errorf("the feed moved again: %s", s.URL)
				}
			})
		})
	}
}

// The test covers rule 17 of internal/readercheck.
func TestRedirectDocumentCountsAs301AndEmptyRedirectDocumentAs410(t *testing.T) {
	t.Parallel()
	const to = "http://new.test/feed"
	withHarness(t, river.Options{}, func(t *testing.T, w *harness) {
		w.serve(feedURL, doc("<redirect><newLocation>"+to+"</newLocation></redirect>"))
		w.serve(to, tagged(rss("", "a"), `"v"`))
		w.follow(feedURL)
		w.advance(time.Minute)
		if s, c := w.source(feedURL), w.checks(feedURL)[0]; titles(w.items(feedURL)) != "a" || s.URL != feedURL || len(c.Hops) != 1 || !c.Hops[0].Document {
			t.Fatalf("%s, %+v", titles(w.items(feedURL)), c)
		}
		w.advance(30 * time.Hour)
		if s := w.source(feedURL); s.URL != to {
			t.Errorf("after a day: %s", s.URL)
		}
	})
	withHarness(t, river.Options{}, func(t *testing.T, w *harness) {
		w.serve(feedURL, doc(rss("", "a")))
		w.follow(feedURL)
		w.advance(2 * time.Hour)
		w.serve(feedURL, doc("<redirect><newLocation/></redirect>"))
		w.advance(2 * time.Hour)
		if s := w.source(feedURL); s.State.Gone == nil || titles(w.items(feedURL)) != "a" {
			t.Errorf("%+v", s.State)
		}
	})
}

// The test covers rule 18 of internal/readercheck.
func TestAtMostFiveRedirectsOfAFeedAreFollowed(t *testing.T) {
	t.Parallel()
	withHarness(t, river.Options{}, func(t *testing.T, w *harness) {
		for i := range 10 {
			w.serve(fmt.Sprintf("http://feeds.test/%d", i), status(302, "Location", fmt.Sprintf("/%d", i+1)))
		}
		w.serve("http://feeds.test/10", doc(rss("", "a")))
		w.serve("http://feeds.test/loop", status(301, "Location", "/loop"))
		w.serve("http://docs.test/loop", doc("<redirect><newLocation>http://docs.test/pool</newLocation></redirect>"))
		w.serve("http://docs.test/pool", doc("<redirect><newLocation>http://docs.test/loop</newLocation></redirect>"))
		w.follow("http://feeds.test/5", "http://feeds.test/0", "http://feeds.test/loop", "http://docs.test/loop")
		w.advance(time.Minute)
		if s := titles(w.items("http://feeds.test/5")); s != "a" {
			t.Errorf("five redirects: %q", s)
		}
		for _, u := range []string{"http://feeds.test/0", "http://feeds.test/loop", "http://docs.test/loop"} {
			if f := w.source(u).State.Failure; f == nil || f.Kind != polling.ErrRedirects {
				t.Errorf("%s: %+v", u, f)
			}
		}
		for _, r := range w.requests() {
			if r.url == "feeds.test/6" && r.at.IsZero() {
				t.Error("a request after the fifth redirect")
			}
		}
	})
	withHarness(t, river.Options{}, func(t *testing.T, w *harness) {
		w.stop()
		w.setup = func(r *river.River) { r.Fetch = downgrading{} }
		w.start()
		w.follow("https://feeds.test/rss.xml")
		w.advance(time.Minute)
		e, err := w.river.Explain(t.Context(), river.SourceID("https://feeds.test/rss.xml"))
		if err != nil || !strings.Contains(strings.Join(e.Notes, " "), "from https to http") || !strings.Contains(e.Checks[0].Text, "https to http") {
			t.Errorf("%v, %q, %+v", err, e.Notes, e.Checks)
		}
	})
}

// The test covers rule 19 of internal/readercheck.
func TestHostReceivesOneRequestPerSecondOnTwoConnections(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		options river.Options
		gap     time.Duration
		atOnce  int
	}{
		"usual":      {river.Options{}, time.Second, 2},
		"slower":     {river.Options{HostInterval: 5 * time.Second, PerHost: 1}, 5 * time.Second, 1},
		"own host":   {river.Options{OwnHosts: []string{"feeds.test"}}, 0, 30},
		"all hosts":  {river.Options{OwnHosts: []string{"*"}}, 0, 30},
		"unspaced":   {river.Options{HostInterval: -1}, 0, 2},
		"other port": {river.Options{OwnHosts: []string{"feeds.test:8080"}}, time.Second, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			withHarness(t, c.options, func(t *testing.T, w *harness) {
				var now, peak atomic.Int64
				var urls []string
				for i := range 30 {
					urls = append(urls, fmt.Sprintf("http://feeds.test/%d", i))
					w.serve(urls[i], func(out http.ResponseWriter, r *http.Request) {
						n := now.Add(1)
						for m := peak.Load(); n > m && !peak.CompareAndSwap(m, n); m = peak.Load() {
						}
						defer now.Add(-1)
						<-time.After(3 * time.Second)
						io.WriteString(out, rss("<ttl>1440</ttl>", "a"))
					})
				}
				w.follow(urls...)
				w.advance(20 * time.Minute)
				list := w.requests()
				if len(list) != 30 {
					t.Errorf("%d requests", len(list))
				}
				for i := 1; i < len(list); i++ {
					if gap := list[i].at.Sub(list[i-1].at); gap < c.gap {
						t.Errorf("%v between two starts", gap)
					}
				}
				if m := int(peak.Load()); m > c.atOnce || c.atOnce == 30 && m < 20 {
					t.Errorf("%d at once", m)
				}
			})
		})
	}
}

// The test covers rules 20 and 21 of internal/readercheck.
func TestMissedChecksAreSpreadOverTimeAfterADowntime(t *testing.T) {
	t.Parallel()
	withHarness(t, river.Options{}, func(t *testing.T, w *harness) {
		var urls []string
		for i := range 200 {
			urls = append(urls, fmt.Sprintf("http://host%d.test/rss", i))
			ttl := 60
			if i%2 == 1 {
				ttl = 1200
			}
			w.serve(urls[i], tagged(rss(fmt.Sprintf("<ttl>%d</ttl>", ttl), "a"), `"v"`))
		}
		w.follow(urls...)
		w.advance(10 * time.Minute)
		if n := len(w.requests()); n != 200 {
			t.Fatalf("%d first requests", n)
		}
		w.restart()
		w.advance(10 * time.Minute)
		if n := len(w.requests()); n != 0 {
			t.Errorf("a start caused %d requests", n)
		}
		w.stop()
		w.advance(5 * time.Hour)
		w.start()
		begun := time.Now()
		w.advance(30 * time.Minute)
		list := w.requests()
		if len(list) != 100 {
			t.Errorf("%d of 100 due checks", len(list))
		}
		minutes := map[int]int{}
		for _, r := range list {
			minutes[int(r.at.Sub(begun).Minutes())]++
		}
		for m, n := range minutes {
			if n > 45 {
				t.Errorf("%d requests in minute %d after the start", n, m)
			}
		}
		if len(minutes) < 4 {
			t.Errorf("spread over %d minutes", len(minutes))
		}
	})
}

// The test covers rule 20 of internal/readercheck.
func TestChecksPlannedForTheFullHourAreSpreadOverTime(t *testing.T) {
	t.Parallel()
	withHarness(t, river.Options{}, func(t *testing.T, w *harness) {
		var n atomic.Int64
		w.stop()
		w.setup = func(r *river.River) { r.Random = func() float64 { return float64(n.Add(1)%100) / 100 } }
		w.start()
		var urls []string
		skip := "<skipHours>"
		for h := range 24 {
			if h != 9 {
				skip += fmt.Sprintf("<hour>%d</hour>", h)
			}
		}
		skip += "</skipHours>"
		for i := range 100 {
			urls = append(urls, fmt.Sprintf("http://host%d.test/rss", i))
			w.serve(urls[i], tagged(rss(skip, "a"), `"v"`))
		}
		w.follow(urls...)
		w.advance(time.Hour)
		w.requests()
		w.advance(24 * time.Hour)
		seconds := map[int64]int{}
		list := w.requests()
		for _, r := range list {
			if r.at.UTC().Hour() != 9 {
				t.Errorf("request at %v", r.at)
			}
			seconds[r.at.Unix()]++
		}
		for s, n := range seconds {
			if n > 10 {
				t.Errorf("%d requests in second %d", n, s)
			}
		}
		if len(list) < 100 {
			t.Errorf("%d requests", len(list))
		}
	})
}

// The test covers rules 22 and 23 of internal/readercheck.
func TestOneRequestServesAllUsersAndStatesTheirNumber(t *testing.T) {
	t.Parallel()
	withHarness(t, river.Options{}, func(t *testing.T, w *harness) {
		w.serve(feedURL, tagged(rss("", "a"), `"v"`))
		for _, user := range []string{"ann", "ben", "cem"} {
			w.followAs(user, feedURL)
		}
		w.advance(90 * time.Minute)
		list := w.requests()
		if len(list) != 2 {
			t.Errorf("%d requests for three users", len(list))
		}
		// The first request may be sent before all three users follow the feed.
		if s := sent(list, "User-Agent"); !strings.HasSuffix(s, "|Cloudburst/test (+http://me.test/about; 3 subscribers)") || strings.Count(s, " subscriber") != 2 {
			t.Errorf("User-Agent: %s", s)
		}
	})
}

// The test covers rule 25 of internal/readercheck.
func TestManualRefreshIsLimitedToOncePerMinute(t *testing.T) {
	t.Parallel()
	withHarness(t, river.Options{}, func(t *testing.T, w *harness) {
		w.serve(feedURL, tagged(rss("<ttl>600</ttl>", "a"), `"v"`))
		w.follow(feedURL)
		w.advance(time.Minute)
		id := river.SourceID(feedURL)
		for i := range 2 {
			c, err := w.river.Refresh(t.Context(), id)
			if err != nil || c.Cause != polling.ByHand || c.Outcome != polling.Unchanged {
				t.Fatalf("%d: %+v, %v", i, c, err)
			}
			w.advance(20 * time.Second)
			_, err = w.river.Refresh(t.Context(), id)
			if fault.CodeOf(err) != fault.TooMany || fault.RetryAfter(err) != 40*time.Second || !strings.Contains(err.Error(), "less than a minute ago") {
				t.Errorf("again: %v, %v", err, fault.RetryAfter(err))
			}
			w.advance(41 * time.Second)
		}
		w.serve(feedURL, status(503, "Retry-After", "3600"))
		if _, err := w.river.Refresh(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		w.advance(5 * time.Minute)
		if _, err := w.river.Refresh(t.Context(), id); fault.CodeOf(err) != fault.TooMany || !strings.Contains(err.Error(), "sent Retry-After") {
			t.Errorf("during a Retry-After: %v", err)
		}
		if _, err := w.river.Refresh(t.Context(), 12345); fault.CodeOf(err) != fault.NotFound {
			t.Errorf("an unknown source: %v", err)
		}
	})
}

// The test covers rule 26 of internal/readercheck.
func TestFeedChecksReuseConnections(t *testing.T) {
	t.Parallel()
	withHarness(t, river.Options{}, func(t *testing.T, w *harness) {
		var urls []string
		for i := range 10 {
			urls = append(urls, fmt.Sprintf("http://feeds.test/%d", i))
			w.serve(urls[i], doc(rss("", "a")))
		}
		w.follow(urls...)
		w.advance(time.Minute)
		if n, dials := len(w.requests()), w.net.Dials(); n != 10 || dials != 1 {
			t.Errorf("%d requests over %d connections", n, dials)
		}
	})
}

// The test covers rule 27 of internal/readercheck.
func TestRequestsToSlowServersTimeOut(t *testing.T) {
	t.Parallel()
	withHarness(t, river.Options{}, func(t *testing.T, w *harness) {
		slow := map[string]http.HandlerFunc{
			"head": func(out http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
			"body": func(out http.ResponseWriter, r *http.Request) {
				for i := 0; r.Context().Err() == nil; i++ {
					io.WriteString(out, "<!-- slow -->")
					out.(http.Flusher).Flush()
					<-time.After(time.Second)
				}
			},
		}
		for name, want := range map[string]time.Duration{"head": 10 * time.Second, "body": 20 * time.Second} {
			u := "http://" + name + ".test/rss"
			w.serve(u, slow[name])
			w.follow(u)
			w.advance(time.Minute)
			c := w.checks(u)
			if len(c) != 1 || c[0].Outcome != polling.Failed || c[0].Took.Round(time.Second) != want || !strings.Contains(c[0].Text, "took too long") {
				t.Errorf("%s: %+v", name, c)
			}
		}
	})
}

// The test covers rule 28 of internal/readercheck.
func TestFeedLargerThanFiveMebibytesIsRejectedWithAReason(t *testing.T) {
	t.Parallel()
	withHarness(t, river.Options{}, func(t *testing.T, w *harness) {
		w.serve(feedURL, func(out http.ResponseWriter, _ *http.Request) {
			io.WriteString(out, rss("", "a"))
			out.Write(bytes.Repeat([]byte(" "), 6<<20))
		})
		w.follow(feedURL)
		w.advance(time.Minute)
		e, err := w.river.Explain(t.Context(), river.SourceID(feedURL))
		if err != nil || e.Source.State.Failure.Kind != polling.ErrTooLarge || !strings.Contains(strings.Join(e.Notes, " "), "5242880 bytes, which is more than is read") {
			t.Errorf("%v, %q", err, e.Notes)
		}
	})
}

// The test covers rule 29 of internal/readercheck.
func TestFeedWithStatus403ShowsReasonAndIsRarelyChecked(t *testing.T) {
	t.Parallel()
	withHarness(t, river.Options{}, func(t *testing.T, w *harness) {
		w.serve(feedURL, func(out http.ResponseWriter, _ *http.Request) {
			out.Header().Set("Content-Type", "text/html; charset=utf-8")
			out.WriteHeader(403)
			io.WriteString(out, "<html><head><title>x</title><script>alert(1)</script><body><nav>Home</nav><main><p>Robots  may not\n read <b>this</b>.</p></main></body></html>")
		})
		w.follow(feedURL)
		w.advance(24 * time.Hour)
		if n := len(w.requests()); n > 4 {
			t.Errorf("%d requests in a day", n)
		}
		e, err := w.river.Explain(t.Context(), river.SourceID(feedURL))
		if err != nil || !strings.Contains(e.Checks[0].Text, "403 Forbidden: Robots may not read this.") || strings.Contains(e.Checks[0].Text, "alert") {
			t.Errorf("%v, %+v", err, e.Checks)
		}
	})
}
