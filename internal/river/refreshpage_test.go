package river_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"cloudburst/feed/polling"
	"cloudburst/internal/fault"
	"cloudburst/internal/river"
)

// refreshPage returns a page that redirects to another URL by <meta http-equiv="refresh">. more
// is added to the head.
func refreshPage(to, more string) http.HandlerFunc {
	return doc(`<!doctype html><html><head><meta http-equiv="refresh" content="0; url=` + to + `">` + more + `</head><body>Moved.</body></html>`)
}

func TestAddFollowsMetaRefresh(t *testing.T) {
	t.Parallel()
	withDisk(t, river.Options{HostInterval: -1}, func(t *testing.T, h *diskHarness) {
		h.serve("http://one.test/", refreshPage("/rss.xml", ""))
		h.serve("http://one.test/rss.xml", doc(rss("", "a")))
		h.serve("http://two.test/", refreshPage("/home", ""))
		h.serve("http://two.test/home", page("Posts=/posts"))
		h.serve("http://two.test/posts", doc(rss("", "a")))
		h.serve("http://own.test/", refreshPage("/nowhere", `<link rel="alternate" type="application/rss+xml" href="/mine">`))
		h.serve("http://own.test/mine", doc(rss("", "a")))
		for url, want := range map[string]string{"http://one.test/": "http://one.test/", "http://two.test/": "http://two.test/posts", "http://own.test/": "http://own.test/mine"} {
			if a := h.add(river.Request{URL: url}); a.Source.URL != want || !a.New {
				t.Errorf("%s: %+v", url, a.Source)
			}
		}
		h.serve("http://round.test/", refreshPage("/again", ""))
		h.serve("http://round.test/again", refreshPage("/", ""))
		h.requests()
		_, err := h.river.Add(t.Context(), river.Request{Reader: "ann", URL: "http://round.test/"})
		if n := len(h.requests()); fault.CodeOf(err) != fault.NotFound || n > 2*(polling.MaxRedirects+8) {
			t.Errorf("%d requests: %v", n, err)
		}
	})
}

func TestMetaRefreshDoesNotMoveAFollowedFeed(t *testing.T) {
	t.Parallel()
	withHarness(t, river.Options{}, func(t *testing.T, w *harness) {
		w.serve(feedURL, doc(rss("<ttl>60</ttl>", "a")))
		w.follow(feedURL)
		w.advance(time.Minute)
		w.serve("http://new.test/rss.xml", doc(rss("<ttl>60</ttl>", "b", "a")))
		w.serve(feedURL, refreshPage("http://new.test/rss.xml", ""))
		w.advance(4 * 24 * time.Hour)
		s := w.source(feedURL)
		if got := titles(w.items(feedURL)); s.State.Failure != nil || s.State.Candidate != nil || len(s.State.Moves) > 0 || !strings.Contains(got, "b") {
			t.Errorf("%s: %+v", got, s.State)
		}
		if c := w.checks(feedURL)[0]; len(c.Hops) != 1 || c.Hops[0].Status != http.StatusFound || c.Hops[0].To != "http://new.test/rss.xml" {
			t.Errorf("%+v", c)
		}
	})
}

func TestErrorOfAddStatesTheURLOnce(t *testing.T) {
	t.Parallel()
	withDisk(t, river.Options{}, func(t *testing.T, h *diskHarness) {
		for path, f := range map[string]http.HandlerFunc{
			"/loop": status(302, "Location", "/loop"), "/empty": doc(""), "/429": status(429, "Retry-After", "7200"), "/gone": doc(`<?xml version="1.0"?><redirect><newLocation/></redirect>`),
			"/big": func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 6<<20)) },
		} {
			h.serve("http://feeds.test"+path, f)
			_, err := h.river.Add(t.Context(), river.Request{Reader: "ann", URL: "http://feeds.test" + path})
			if err == nil || strings.Count(err.Error(), "feeds.test"+path) != 1 || strings.Contains(err.Error(), "fetch:") || strings.Contains(err.Error(), "feed: ") {
				t.Errorf("%s: %v", path, err)
			}
			switch path {
			case "/429":
				if text := fault.Message(err); !strings.Contains(text, "asked again at ") || fault.RetryAfter(err) != 2*time.Hour {
					t.Error(text)
				}
			case "/gone":
				if fault.CodeOf(err) != fault.NotFound || !strings.Contains(fault.Message(err), "permanently gone") {
					t.Error(err)
				}
			}
		}
		if got := h.list("ann"); got != "" {
			t.Error(got)
		}
	})
}
