package river_test

import (
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"cloudburst/feed/polling"
	"cloudburst/internal/fault"
	"cloudburst/internal/fulltest"
	"cloudburst/internal/river"

	"github.com/google/go-cmp/cmp"
)

// sent returns the values of a header field in requests, separated by "|".
func sent(list []request, name string) string {
	var out []string
	for _, r := range list {
		out = append(out, strings.Join(r.header.Values(name), ", "))
	}
	return strings.Join(out, "|")
}

// The test covers rule 1 of internal/readercheck.
func TestOnlyFirstRequestOfAFeedIsUnconditional(t *testing.T) {
	t.Parallel()
	withHarness(t, river.Options{}, func(t *testing.T, w *harness) {
		w.serve(feedURL, tagged(rss("", "b", "a"), `"v1"`))
		w.follow(feedURL)
		w.advance(10 * time.Hour)
		w.restart()
		w.advance(20 * time.Hour)
		bare := 0
		list := w.requests()
		for _, r := range list {
			if r.header.Get("If-None-Match") == "" {
				bare++
			}
		}
		if bare != 1 || len(list) < 3 {
			t.Errorf("%d of %d requests were unconditional", bare, len(list))
		}
		if s := titles(w.items(feedURL)); s != "b a" {
			t.Errorf("items: %s", s)
		}
		if c := w.checks(feedURL); c[0].Outcome != polling.Unchanged || c[0].Status != http.StatusNotModified {
			t.Errorf("the last check: %+v", c[0])
		}
	})
}

// The test covers rules 2, 3 and 4 of internal/readercheck.
func TestReceivedValidatorsAreSentBackUnchanged(t *testing.T) {
	t.Parallel()
	for _, v := range [][2]string{
		{`"strong"`, ""}, {`W/"weak"`, ""}, {"unquoted", ""}, {`w/"odd"`, ""}, {"\"caf\xe9\"", ""}, {`"a,b"`, ""},
		{"", "Tue, 01 Jan 2000 00:00:00 GMT"}, {"", "yesterday"}, {"", "2026-01-02T03:04:05Z"}, {"", "0"},
		{`"both"`, "Tue, 01 Jan 2000 00:00:00 +0000"}, {"", ""},
	} {
		t.Run(fmt.Sprintf("%q", v), func(t *testing.T) {
			t.Parallel()
			withHarness(t, river.Options{}, func(t *testing.T, w *harness) {
				w.serve(feedURL, func(out http.ResponseWriter, _ *http.Request) {
					out.Header()["Date"] = nil
					for i, name := range []string{"ETag", "Last-Modified"} {
						if v[i] != "" {
							out.Header()[name] = []string{v[i]}
						}
					}
					io.WriteString(out, rss("", "a"))
				})
				w.follow(feedURL)
				w.advance(90 * time.Minute)
				list := w.requests()
				if len(list) != 2 {
					t.Fatalf("%d requests", len(list))
				}
				for i, name := range []string{"If-None-Match", "If-Modified-Since"} {
					if got := list[1].header[name]; v[i] == "" && got != nil || v[i] != "" && (len(got) != 1 || got[0] != v[i]) {
						t.Errorf("%s is %q, want %q", name, got, v[i])
					}
					if list[0].header[name] != nil {
						t.Errorf("the first request had %s", name)
					}
				}
			})
		})
	}
}

// The test covers rule 5 of internal/readercheck.
func TestValidatorsOfA304ReplaceThePreviousValidators(t *testing.T) {
	t.Parallel()
	withHarness(t, river.Options{}, func(t *testing.T, w *harness) {
		w.serve(feedURL, tagged(rss("", "a"), `"v1"`))
		w.follow(feedURL)
		w.advance(time.Minute)
		w.serve(feedURL, status(http.StatusNotModified, "ETag", `"v2"`))
		w.advance(3 * time.Hour)
		if s := sent(w.requests(), "If-None-Match"); s != `|"v1"|"v2"|"v2"` {
			t.Errorf("If-None-Match: %s", s)
		}
	})
}

// The test covers rules 6 and 30 of internal/readercheck.
func TestUnchangedBodyUpdatesValidatorsButNoItems(t *testing.T) {
	t.Parallel()
	withHarness(t, river.Options{}, func(t *testing.T, w *harness) {
		var n atomic.Int64
		w.serve(feedURL, func(out http.ResponseWriter, _ *http.Request) {
			out.Header().Set("ETag", fmt.Sprintf(`"v%d"`, n.Add(1)))
			io.WriteString(out, rss("", "b", "a"))
		})
		w.follow(feedURL)
		w.advance(time.Minute)
		before := w.items(feedURL)
		news := w.river.Listen(10)
		defer news.Close()
		w.advance(3 * time.Hour)
		if s := sent(w.requests(), "If-None-Match"); s != `|"v1"|"v2"|"v3"` {
			t.Errorf("If-None-Match: %s", s)
		}
		if d := cmp.Diff(before, w.items(feedURL)); d != "" || len(news.C()) > 0 {
			t.Errorf("items were touched, %d announced: %s", len(news.C()), d)
		}
		if c := w.checks(feedURL)[0]; c.Outcome != polling.Unchanged || !strings.Contains(c.Text, "same as last time") {
			t.Errorf("%+v", c)
		}
	})
}

// failingSaves is a store that fails to save some checks.
type failingSaves struct {
	river.Store
	fail atomic.Int64 // number of further saves that fail
}

func (s *failingSaves) SaveCheck(ctx ctx, saved river.Saved) (bool, error) {
	if s.fail.Add(-1) >= 0 {
		return false, fault.New(fault.Unavailable, "The disk is full.")
	}
	return s.Store.SaveCheck(ctx, saved)
}

// The test covers rule 7 of internal/readercheck.
func TestValidatorsOfAResponseThatCouldNotBeStoredAreNotSent(t *testing.T) {
	t.Parallel()
	withHarness(t, river.Options{}, func(t *testing.T, w *harness) {
		st := &failingSaves{Store: w.store}
		w.stop()
		w.setup = func(r *river.River) { r.Store = st }
		w.start()
		w.serve(feedURL, tagged(rss("", "a"), `"v1"`))
		w.follow(feedURL)
		w.advance(time.Minute)
		w.serve(feedURL, tagged(rss("", "b", "a"), `"v2"`))
		st.fail.Store(1000)
		w.advance(2 * time.Hour)
		if s := titles(w.items(feedURL)); s != "a" || st.fail.Load() > 990 {
			t.Fatalf("items: %s", s)
		}
		st.fail.Store(0)
		w.requests()
		w.advance(15 * time.Minute)
		if s := sent(w.requests(), "If-None-Match"); s != `"v1"` {
			t.Errorf("If-None-Match: %s", s)
		}
		if s := titles(w.items(feedURL)); s != "b a" {
			t.Errorf("items: %s", s)
		}
	})
}

// The test covers rule 8 of internal/readercheck.
func TestValidatorsOfAURLAreNotSentToOtherURLs(t *testing.T) {
	t.Parallel()
	withHarness(t, river.Options{}, func(t *testing.T, w *harness) {
		w.serve(feedURL, status(http.StatusFound, "Location", "http://one.test/feed"))
		w.serve("http://one.test/feed", tagged(rss("", "a"), `"one"`))
		w.serve("http://two.test/feed", tagged(rss("", "a"), `"two"`))
		w.follow(feedURL)
		w.advance(90 * time.Minute)
		w.serve(feedURL, status(http.StatusFound, "Location", "http://two.test/feed"))
		w.advance(2 * time.Hour)
		var got []string
		for _, r := range w.requests() {
			got = append(got, r.url+" "+r.header.Get("If-None-Match"))
		}
		want := []string{
			"feeds.test/rss.xml ", "one.test/feed ", "feeds.test/rss.xml ", `one.test/feed "one"`,
			"feeds.test/rss.xml ", "two.test/feed ", "feeds.test/rss.xml ", `two.test/feed "two"`,
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Error(d)
		}
	})
}

// The test covers rules 9, 10 and 11 of internal/readercheck.
func TestFeedCheckSendsNoExtraRequestsCookiesOrReferrer(t *testing.T) {
	t.Parallel()
	withHarness(t, river.Options{}, func(t *testing.T, w *harness) {
		w.serve(feedURL, func(out http.ResponseWriter, r *http.Request) {
			http.SetCookie(out, &http.Cookie{Name: "id", Value: "1"})
			http.Redirect(out, r, "http://feeds.test/other.xml?a=b", http.StatusFound)
		})
		w.serve("http://feeds.test/other.xml", func(out http.ResponseWriter, r *http.Request) {
			http.SetCookie(out, &http.Cookie{Name: "id", Value: "1"})
			io.WriteString(out, rss("", "a"))
		})
		w.serve("http://feeds.test/", doc("<html>"))
		w.follow(feedURL)
		w.advance(5 * time.Hour)
		list := w.requests()
		if len(list) < 6 {
			t.Fatalf("%d requests", len(list))
		}
		for i, r := range list {
			want := "feeds.test/rss.xml"
			if i%2 == 1 {
				want = "feeds.test/other.xml?a=b"
			}
			if r.url != want {
				t.Errorf("request for %s", r.url)
			}
			for _, name := range []string{"Referer", "Cookie", "Cache-Control", "Pragma", "From"} {
				if v := r.header.Values(name); len(v) > 0 {
					t.Errorf("sent %s: %s", name, v)
				}
			}
		}
	})
}

// The test covers rule 12 of internal/readercheck.
func TestSizeLimitAppliesToDecompressedResponses(t *testing.T) {
	t.Parallel()
	fulltest.Long(t)
	withHarness(t, river.Options{}, func(t *testing.T, w *harness) {
		pack := func(body string) http.HandlerFunc {
			return func(out http.ResponseWriter, _ *http.Request) {
				out.Header().Set("Content-Encoding", "gzip")
				z := gzip.NewWriter(out)
				io.WriteString(z, body)
				z.Close()
			}
		}
		w.serve(feedURL, pack(rss("", "a")))
		w.serve("http://bomb.test/rss.xml", pack(rss(strings.Repeat(" ", 64<<20), "a")))
		w.follow(feedURL, "http://bomb.test/rss.xml")
		w.advance(time.Minute)
		for _, v := range w.requests() {
			if s := v.header.Get("Accept-Encoding"); !strings.Contains(s, "gzip") || !strings.Contains(s, "br") {
				t.Errorf("Accept-Encoding: %s", s)
			}
		}
		if s := titles(w.items(feedURL)); s != "a" {
			t.Errorf("items: %s", s)
		}
		if f := w.source("http://bomb.test/rss.xml").State.Failure; f == nil || f.Kind != polling.ErrTooLarge {
			t.Errorf("the bomb: %+v", f)
		}
	})
}

// The test covers rule 13 of internal/readercheck.
func TestRetryAfterOfSeveralFeedsPausesTheirHost(t *testing.T) {
	t.Parallel()
	fulltest.Long(t)
	fulltest.SkipUnderRace(t) // many simulated days; shorter tests use the same goroutines
	for value, c := range map[string]struct {
		minGap, maxGap time.Duration
	}{
		"7200":                          {2 * time.Hour, 3 * time.Hour},
		"Sat, 01 Jan 2000 05:00:00 GMT": {5 * time.Hour, 6 * time.Hour}, // the clock of a synctest bubble starts at midnight of that day
		"999999999":                     {24 * time.Hour, 49 * time.Hour},
		"soon":                          {time.Minute, 2 * time.Hour},
		"-5":                            {time.Minute, 2 * time.Hour},
	} {
		t.Run(value, func(t *testing.T) {
			t.Parallel()
			withHarness(t, river.Options{}, func(t *testing.T, w *harness) {
				w.serve(feedURL, status(429, "Retry-After", value))
				w.follow(feedURL)
				w.advance(time.Second)
				s := w.source(feedURL)
				if wait := s.NextAt.Sub(s.State.CheckedAt); wait < c.minGap || wait > c.maxGap || s.State.Gone != nil {
					t.Errorf("waits %v: %s", wait, s.State.Reason)
				}
				w.advance(90 * 24 * time.Hour)
				if s := w.source(feedURL); s.State.Gone != nil || s.NextAt.IsZero() {
					t.Errorf("the feed is gone after waits: %+v", s.State)
				}
			})
		})
	}
	withHarness(t, river.Options{}, func(t *testing.T, w *harness) {
		var urls []string
		for i := range 5 {
			urls = append(urls, fmt.Sprintf("http://feeds.test/%d", i))
			w.serve(urls[i], tagged(rss("", "a"), `"v"`))
		}
		other := "http://other.test/rss.xml"
		w.serve(other, doc(rss("", "a")))
		w.follow(append(urls, other)...)
		w.advance(10 * time.Minute)
		for _, u := range urls[:3] {
			w.serve(u, status(503, "Retry-After", "36000"))
		}
		w.advance(50*time.Minute + 30*time.Second) // all feeds are due, and the servers of the first three request a pause of ten hours
		w.requests()
		w.advance(9 * time.Hour)
		for _, r := range w.requests() {
			if strings.HasPrefix(r.url, "feeds.test") {
				t.Errorf("request for %s at %v, although three feeds have to wait", r.url, r.at)
			}
		}
		e, err := w.river.Explain(t.Context(), river.SourceID(urls[4]))
		if err != nil || !strings.Contains(fmt.Sprint(e.Decision.Considered), "its host asked several feeds to wait") {
			t.Errorf("%v, %+v", err, e.Decision)
		}
		w.advance(4 * time.Hour)
		if len(w.requests()) < 5 {
			t.Error("no further request to the host")
		}
	})
}

// The test covers rule 14 of internal/readercheck.
func TestFailingFeedIsRetriedAtGrowingIntervalsAndRecovers(t *testing.T) {
	t.Parallel()
	for name, failing := range map[string]http.HandlerFunc{
		"404": status(404), "500": status(500), "502": status(502), "a page": doc("<!doctype html><title>Sorry</title>"), "nothing": doc(""),
		"no name": nil,
		"cut off": func(out http.ResponseWriter, _ *http.Request) {
			out.Header().Set("Content-Length", "100000")
			io.WriteString(out, rss("", "a"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			withHarness(t, river.Options{}, func(t *testing.T, w *harness) {
				if failing != nil {
					w.serve(feedURL, failing)
				}
				w.follow(feedURL)
				w.advance(20 * 24 * time.Hour)
				s := w.source(feedURL)
				if s.State.Failure == nil || s.State.Gone != nil || s.State.Failures < 10 || s.State.Failures > 40 {
					t.Fatalf("after 20 days: %d failures, %+v", s.State.Failures, s.State.Failure)
				}
				checks := w.checks(feedURL)
				if gap := checks[0].At.Sub(checks[1].At); gap < 20*time.Hour || gap > 28*time.Hour {
					t.Errorf("the last interval is %v", gap)
				}
				w.serve(feedURL, doc(rss("", "a")))
				w.advance(27 * time.Hour)
				if s := w.source(feedURL); s.State.Failure != nil || titles(w.items(feedURL)) != "a" {
					t.Errorf("the feed did not recover: %+v", s.State.Failure)
				}
			})
		})
	}
}

// The test covers rule 15 of internal/readercheck.
func TestStatus410EndsChecksAndKeepsItemsUntilRevived(t *testing.T) {
	t.Parallel()
	withHarness(t, river.Options{}, func(t *testing.T, w *harness) {
		w.serve(feedURL, doc(rss("", "a")))
		w.follow(feedURL)
		w.advance(30 * time.Hour)
		w.serve(feedURL, status(410))
		w.advance(3 * time.Hour)
		w.requests()
		w.advance(60 * 24 * time.Hour)
		if n := len(w.requests()); n != 0 {
			t.Errorf("%d requests after a 410", n)
		}
		s := w.source(feedURL)
		if s.State.Gone == nil || !s.NextAt.IsZero() || titles(w.items(feedURL)) != "a" {
			t.Errorf("%+v", s.State)
		}
		e, err := w.river.Explain(t.Context(), s.ID)
		if err != nil || len(e.Notes) == 0 || !strings.Contains(e.Notes[0], "gone") || !strings.Contains(e.Notes[0], "410") || !strings.Contains(e.Sentence, "no further check") {
			t.Errorf("%v, %q, %q", err, e.Sentence, e.Notes)
		}
		if _, err := w.river.Refresh(t.Context(), s.ID); fault.CodeOf(err) != fault.Conflict {
			t.Errorf("refresh: %v", err)
		}
		if known, err := w.river.ReceivePush(t.Context(), feedURL, "ping"); known || err != nil {
			t.Errorf("a push for a gone feed: %v, %v", known, err)
		}
		w.serve(feedURL, doc(rss("", "b", "a")))
		w.revive(feedURL)
		w.advance(time.Minute)
		if got := titles(w.items(feedURL)); got != "b a" {
			t.Errorf("revived: %s", got)
		}
	})
}
