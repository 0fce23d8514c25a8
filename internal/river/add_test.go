package river_test

import (
	"context"
	"crypto/sha1"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/river"
	"cloudburst/internal/river/forward"
	"cloudburst/protocol/wsse"
)

func TestAddStoresItemsOfOneUnconditionalRequest(t *testing.T) {
	t.Parallel()
	withDisk(t, river.Options{}, func(t *testing.T, h *diskHarness) {
		h.serve(feedURL, tagged(rss("", "b", "a"), `"1"`))
		a := h.add(river.Request{URL: "feed:" + feedURL + "#top", Title: " My  feed ", Categories: []string{"News", "A", "News"}, Interval: 2 * time.Hour})
		if !a.New || a.Name() != "My feed" || strings.Join(a.Categories, "|") != "A|News" || a.Source.About.Title != "Feed" || a.Interval != 2*time.Hour || a.Choices != nil {
			t.Errorf("%+v", a)
		}
		if got := titles(h.items(feedURL)); got != "b a" && got != "a b" {
			t.Errorf("items %q", got)
		}
		h.advance(3 * time.Hour)
		list := h.requests()
		if len(list) != 2 || list[0].header.Get("If-None-Match") != "" || list[1].header.Get("If-None-Match") != `"1"` {
			t.Errorf("%+v", list)
		}
		if d := list[1].at.Sub(list[0].at); d < 2*time.Hour || d > 150*time.Minute {
			t.Errorf("checked again after %v", d)
		}
	})
}

func TestAddOfKnownFeedSendsNoRequest(t *testing.T) {
	t.Parallel()
	withDisk(t, river.Options{}, func(t *testing.T, h *diskHarness) {
		h.serve(feedURL, doc(rss("", "a")))
		h.serve("http://feeds.test/", page("Posts=/rss.xml"))
		h.add(river.Request{URL: feedURL})
		h.requests()
		for i, q := range []river.Request{{URL: feedURL, Reader: "bea"}, {URL: "feeds.test/rss.xml", Reader: "cal"}, {URL: "HTTP://FEEDS.test:80/rss.xml", Reader: "dan"}, {URL: feedURL, Categories: []string{"New"}}} {
			a := h.add(q)
			if a.New != (i < 3) || a.SourceID != river.SourceID(feedURL) {
				t.Errorf("%+v: %+v", q, a)
			}
		}
		if got := h.requestURLs(); got != "" {
			t.Errorf("request for %s", got)
		}
		if got := h.list("ann"); got != "Feed "+feedURL+" New" {
			t.Error(got)
		}
		// The page must be fetched again, but the feed that the page links to must not.
		h.add(river.Request{URL: "feeds.test", Reader: "eve"})
		if got := h.requestURLs(); got != "feeds.test/" {
			t.Errorf("request for %s", got)
		}
		if s := h.source(feedURL); s.Readers != 5 {
			t.Errorf("%d followers", s.Readers)
		}
	})
}

func TestConcurrentAddsReadTheFeedOnce(t *testing.T) {
	t.Parallel()
	withDisk(t, river.Options{}, func(t *testing.T, h *diskHarness) {
		h.serve(feedURL, func(w http.ResponseWriter, r *http.Request) {
			<-time.After(2 * time.Second)
			doc(rss("", "a"))(w, r)
		})
		done := make(chan error)
		for i := range 5 {
			go func() {
				_, err := h.river.Add(t.Context(), river.Request{Reader: fmt.Sprint("r", i), URL: feedURL})
				done <- err
			}()
		}
		for range 5 {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		if got := h.requestURLs(); got != "feeds.test/rss.xml" {
			t.Errorf("request for %s", got)
		}
	})
}

func TestAddFindsTheFeedOfAPage(t *testing.T) {
	t.Parallel()
	withDisk(t, river.Options{HostInterval: -1}, func(t *testing.T, h *diskHarness) {
		h.serve("http://one.test/", page("Posts=rss.xml"))
		h.serve("http://one.test/rss.xml", doc(rss("", "a")))
		h.serve("http://mixed.test/", page("Posts=/posts", "Comments Feed=/comments/feed"))
		h.serve("http://mixed.test/posts", doc(rss("", "a")))
		h.serve("http://several.test/", page("News=/news", "Sport=/sport", "again=/news#x", "bad=ftp://x/"))
		h.serve("http://several.test/news", doc("no feed"))
		h.serve("http://several.test/sport", doc(rss("", "a")))
		h.serve("http://none.test/", page())
		h.serve("http://usual.test/", page())
		h.serve("http://usual.test/feed", doc(rss("", "a")))
		h.serve("http://wrong.test/", page("Posts=/missing"))
		h.serve("http://liar.test/", page("Posts=/page"))
		h.serve("http://liar.test/page", page("Posts=/"))
		for url, want := range map[string]string{"one.test": "http://one.test/rss.xml", "mixed.test": "http://mixed.test/posts", "usual.test": "http://usual.test/feed"} {
			if a := h.add(river.Request{URL: url}); a.Source.URL != want || !a.New {
				t.Errorf("%s: %+v", url, a)
			}
		}
		a := h.add(river.Request{URL: "http://several.test/"})
		if len(a.Choices) != 2 || a.Choices[0] != (river.Choice{URL: "http://several.test/news", Title: "News", Format: "RSS", Kind: "feed"}) || a.New {
			t.Errorf("%+v", a)
		}
		if a := h.add(river.Request{URL: "http://several.test/", First: true}); a.Source.URL != "http://several.test/sport" {
			t.Errorf("%+v", a)
		}
		h.requests()
		for url, code := range map[string]fault.Code{"http://none.test/": fault.NotFound, "http://wrong.test/": fault.NotFound, "http://liar.test/": fault.Unreadable} {
			_, err := h.river.Add(t.Context(), river.Request{Reader: "ann", URL: url})
			if fault.CodeOf(err) != code || err == nil || !strings.Contains(fault.Message(err), strings.TrimPrefix(url, "http://")) {
				t.Errorf("%s: %v", url, err)
			}
		}
		if n := len(h.requests()); n > 12 {
			t.Errorf("%d requests for three pages", n)
		}
	})
}

func TestFeedDiscoveryRespectsTheHostInterval(t *testing.T) {
	t.Parallel()
	withDisk(t, river.Options{}, func(t *testing.T, h *diskHarness) {
		h.serve("http://none.test/", page())
		_, err := h.river.Add(t.Context(), river.Request{Reader: "ann", URL: "http://none.test/"})
		if fault.CodeOf(err) != fault.NotFound {
			t.Error(err)
		}
		list := h.requests()
		if len(list) < 3 || len(list) > 11 {
			t.Errorf("%d requests", len(list))
		}
		for i := 2; i < len(list); i++ {
			if d := list[i].at.Sub(list[i-1].at); d < time.Second {
				t.Errorf("%s came after %v", list[i].url, d)
			}
		}
		if got := h.list("ann"); got != "" {
			t.Error(got)
		}
	})
}

func TestFailedAddReturnsReasonAndStoresNothing(t *testing.T) {
	t.Parallel()
	withDisk(t, river.Options{Max: 1}, func(t *testing.T, h *diskHarness) {
		serve := func(path string, f http.HandlerFunc) { h.serve("http://feeds.test"+path, f) }
		serve("/401", status(401, "WWW-Authenticate", "Basic"))
		serve("/403", status(403))
		serve("/410", status(410))
		serve("/429", status(429, "Retry-After", "120"))
		serve("/500", status(500))
		serve("/304", status(304))
		serve("/loop", status(302, "Location", "/loop"))
		serve("/empty", doc(""))
		leads := func(to string) http.HandlerFunc {
			return doc("<redirect><newLocation>" + to + "</newLocation></redirect>")
		}
		serve("/itself", leads("http://feeds.test/itself"))
		serve("/there", leads("http://feeds.test/back"))
		serve("/back", leads("http://feeds.test/there"))
		serve("/nowhere", leads("x:"))
		serve("/page", doc(`<html><head><title>p</title><link rel="alternate" type="application/rss+xml" href="/itself"></head></html>`))
		serve("/image", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR") })
		serve("/list", doc(`<opml version="2.0"><head/><body><outline text="x" xmlUrl="http://x.test/"/></body></opml>`))
		serve("/big", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, strings.Repeat(" ", 6<<20)) })
		for path, want := range map[string]struct {
			code fault.Code
			word string
		}{
			"/401": {fault.Refused, "requires a login"}, "/403": {fault.Unreadable, "403"}, "/404": {fault.NotFound, "404"}, "/410": {fault.NotFound, "410"},
			"/429": {fault.TooMany, "429"}, "/500": {fault.Unreadable, "500"}, "/304": {fault.Unreadable, "304"}, "/loop": {fault.Unreadable, "redirect"},
			"/image": {fault.Unreadable, "image"}, "/list": {fault.Invalid, "OPML"}, "/big": {fault.Unreadable, "more than"}, "/empty": {fault.Unreadable, "empty"},
			"/itself": {fault.Unreadable, "a redirect to itself"}, "/there": {fault.Unreadable, "redirects"}, "/nowhere": {fault.Unreadable, "nowhere"},
			"/page": {fault.Unreadable, "that is not a feed"},
		} {
			_, err := h.river.Add(t.Context(), river.Request{Reader: "ann", URL: "http://feeds.test" + path})
			if fault.CodeOf(err) != want.code || !strings.Contains(fault.Message(err), want.word) || !strings.Contains(fault.Message(err), "feeds.test"+path) {
				t.Errorf("%s: %v", path, err)
			}
			if errors.Is(err, river.ErrNeedsLogin) != (path == "/401") {
				t.Errorf("%s needs a login: %v", path, errors.Is(err, river.ErrNeedsLogin))
			}
		}
		for _, q := range []river.Request{{URL: "::"}, {URL: feedURL, Title: strings.Repeat("x", 201)}, {URL: feedURL, Categories: []string{"a/b"}}, {URL: feedURL, Interval: time.Second}, {URL: feedURL, Login: river.Login{Kind: "odd"}}} {
			if _, err := h.river.Add(t.Context(), q); fault.CodeOf(err) != fault.Invalid {
				t.Errorf("%+v: %v", q, err)
			}
		}
		if got := h.list("ann"); got != "" {
			t.Error(got)
		}
		h.serve(feedURL, doc(rss("", "a")))
		h.serve("http://feeds.test/other", doc(rss("", "a")))
		h.add(river.Request{URL: feedURL})
		if _, err := h.river.Add(t.Context(), river.Request{Reader: "ann", URL: "http://feeds.test/other"}); fault.CodeOf(err) != fault.TooMany {
			t.Errorf("beyond the limit: %v", err)
		}
	})
}

func TestURLWithoutSchemeIsTriedWithHTTPSAndHTTP(t *testing.T) {
	t.Parallel()
	withDisk(t, river.Options{}, func(t *testing.T, h *diskHarness) {
		h.serve("http://old.test/rss.xml", doc(rss("", "a")))
		if a := h.add(river.Request{URL: "old.test/rss.xml"}); a.Source.URL != "http://old.test/rss.xml" {
			t.Errorf("%+v", a.Source)
		}
		if _, err := h.river.Add(t.Context(), river.Request{URL: "nobody.test"}); fault.CodeOf(err) != fault.Unreadable || strings.Contains(fault.Message(err), "lookup") {
			t.Error(err)
		}
	})
}

func TestAddOfURLThatRedirectsToKnownFeedFollowsThatFeed(t *testing.T) {
	t.Parallel()
	withDisk(t, river.Options{}, func(t *testing.T, h *diskHarness) {
		h.serve(feedURL, doc(rss("", "a")))
		h.serve("http://feeds.test/rss", status(301, "Location", "/rss.xml"))
		h.serve("http://new.test/rss", status(301, "Location", "http://new.test/feed"))
		h.serve("http://new.test/feed", doc(rss("", "a")))
		h.add(river.Request{URL: feedURL})
		if a := h.add(river.Request{URL: "http://feeds.test/rss"}); a.New || a.SourceID != river.SourceID(feedURL) {
			t.Errorf("%+v", a)
		}
		if a := h.add(river.Request{URL: "http://new.test/rss"}); a.Source.URL != "http://new.test/feed" || a.Source.State.Candidate != nil {
			t.Errorf("%+v", a.Source.State)
		}
	})
}

func locked(user, password, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if u, p, ok := r.BasicAuth(); !ok || u != user || p != password {
			w.Header().Set("WWW-Authenticate", `Basic realm="x"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		doc(body)(w, r)
	}
}

func TestFeedWithLoginIsPrivateToItsUser(t *testing.T) {
	t.Parallel()
	withDisk(t, river.Options{}, func(t *testing.T, h *diskHarness) {
		h.serve(feedURL, locked("ann", "geheim", rss("", "a")))
		_, err := h.river.Add(t.Context(), river.Request{Reader: "ann", URL: "http://ann:falsch@feeds.test/rss.xml"})
		if !errors.Is(err, river.ErrNeedsLogin) || err.Error() != "The server of "+feedURL+" did not accept the login and answered 401 Unauthorized: check the name and the secret" {
			t.Error(err)
		}
		a := h.add(river.Request{URL: "http://ann:geheim@feeds.test/rss.xml"})
		b := h.add(river.Request{Reader: "bea", URL: feedURL, Login: river.Login{Kind: river.LoginBasic, Name: "ann", Secret: "geheim"}})
		if !a.Source.Private() || a.SourceID == b.SourceID || a.SourceID == river.SourceID(feedURL) || a.Source.URL != feedURL || strings.Contains(fmt.Sprintf("%+v", a), "geheim") {
			t.Errorf("%+v\n%+v", a, b)
		}
		if a.Source.Items != 1 || a.Source.Login.Secret == "" {
			t.Errorf("%+v", a.Source)
		}
		// A third user needs the password too. The first user may add the feed again.
		if _, err := h.river.Add(t.Context(), river.Request{Reader: "cal", URL: feedURL}); !errors.Is(err, river.ErrNeedsLogin) {
			t.Error(err)
		}
		if again := h.add(river.Request{URL: feedURL, Categories: []string{"Mine"}}); again.New || again.SourceID != a.SourceID {
			t.Errorf("%+v", again)
		}
	})
}

// oasis returns a handler whose clock is ahead. It accepts WSSE headers; with decodes, only those whose
// digest contains the decoded nonce.
func oasis(ahead time.Duration, decodes bool, body string) http.HandlerFunc {
	used := map[string]bool{}
	return func(w http.ResponseWriter, r *http.Request) {
		now := time.Now().Add(ahead)
		w.Header().Set("Date", now.UTC().Format(http.TimeFormat))
		token, _, err := wsse.FromHeader(r.Header)
		nonce := []byte(token.Nonce)
		if decodes {
			nonce, _ = base64.StdEncoding.DecodeString(token.Nonce)
		}
		sum := sha1.Sum(append(nonce, token.Created+"geheim"...))
		if err != nil || !token.Fresh(now) || used[token.Nonce] || token.Digest != base64.StdEncoding.EncodeToString(sum[:]) {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		used[token.Nonce] = true
		doc(body)(w, r)
	}
}

// spec:datafeeds-2006#wsse-client-forms
func TestWSSEFollowsClockAndNonceOfTheServer(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		ahead    time.Duration
		decodes  bool
		secret   string
		requests int
		fails    bool
	}{
		"same clock":                {0, false, "geheim", 1, false},
		"clock ahead":               {time.Hour, false, "geheim", 2, false},
		"clock behind":              {-time.Hour, false, "geheim", 2, false},
		"decoded nonce":             {0, true, "geheim", 2, false},
		"clock and decoded nonce":   {time.Hour, true, "geheim", 3, false},
		"wrong secret":              {0, false, "falsch", 2, true},
		"wrong secret, clock ahead": {time.Hour, true, "falsch", 3, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			withDisk(t, river.Options{HostInterval: -1}, func(t *testing.T, h *diskHarness) {
				h.serve(feedURL, oasis(tt.ahead, tt.decodes, rss("", "a")))
				_, err := h.river.Add(t.Context(), river.Request{Reader: "ann", URL: feedURL, Login: river.Login{Kind: river.LoginWSSE, Name: "ann", Secret: tt.secret}})
				if (err != nil) != tt.fails || err != nil && !errors.Is(err, river.ErrNeedsLogin) {
					t.Error(err)
				}
				if n := len(h.requests()); n != tt.requests {
					t.Errorf("%d requests, want %d", n, tt.requests)
				}
			})
		})
	}
}

func TestLoginIsSentToItsOriginOnly(t *testing.T) {
	t.Parallel()
	withDisk(t, river.Options{HostInterval: -1}, func(t *testing.T, h *diskHarness) {
		h.serve("http://mine.test/", page("Posts=http://other.test/rss.xml"))
		h.serve("http://other.test/rss.xml", doc(rss("", "a")))
		h.serve("http://mine.test/moved", status(302, "Location", "http://other.test/second.xml"))
		h.serve("http://other.test/second.xml", doc(rss("", "a")))
		login := river.Login{Kind: river.LoginHeader, Name: "X-Key", Secret: "geheim"}
		for _, user := range []string{"ann", "bea"} { // bea's request finds the feed in the store
			if a := h.add(river.Request{Reader: user, URL: "http://mine.test/", Login: login}); a.Source.Private() || !a.New {
				t.Errorf("%+v", a.Source)
			}
		}
		h.add(river.Request{URL: "http://mine.test/moved", Login: login})
		list := h.requests()
		if len(list) != 5 {
			t.Errorf("%d requests", len(list))
		}
		// After a failed https request, no http request is sent.
		_, err := h.river.Add(t.Context(), river.Request{URL: "mine.test/", Login: login})
		if more := h.requests(); fault.CodeOf(err) != fault.Unreadable || len(more) != 0 {
			t.Errorf("%v %+v", err, more)
		}
		for _, r := range list {
			if sent := r.header.Get("X-Key") != ""; sent != strings.HasPrefix(r.url, "mine.test") {
				t.Errorf("%s: the login is sent: %v", r.url, sent)
			}
		}
	})
}

func TestAddThatCannotBeStoredLeavesNoSubscription(t *testing.T) {
	t.Parallel()
	withDisk(t, river.Options{}, func(t *testing.T, h *diskHarness) {
		h.serve(feedURL, doc(rss("", "a")))
		full := &failing{Store: h.store}
		h.stop()
		h.store = full
		h.start()
		full.checks.Store(true)
		if _, err := h.river.Add(t.Context(), river.Request{Reader: "ann", URL: feedURL}); fault.CodeOf(err) != fault.Unavailable {
			t.Error(err)
		}
		full.checks.Store(false)
		if got := h.list("ann"); got != "" {
			t.Error(got)
		}
	})
}

// failing is a store whose disk is full for checks while checks is set, and for forwardings while
// forwardings is set.
type failing struct {
	river.Store
	checks, forwardings atomic.Bool
}

func (f *failing) SaveCheck(ctx context.Context, s river.Saved) (bool, error) {
	if f.checks.Load() {
		return false, fault.New(fault.Unavailable, "The disk is full.")
	}
	return f.Store.SaveCheck(ctx, s)
}

func (f *failing) SaveForwarding(ctx context.Context, n forward.Forwarding, forwarded []int64) (bool, error) {
	if f.forwardings.Load() {
		return false, fault.New(fault.Unavailable, "The disk is full.")
	}
	return f.Store.SaveForwarding(ctx, n, forwarded)
}

func TestAddFollowsPermanentRedirectsToTheFinalURL(t *testing.T) {
	t.Parallel()
	const middle, to = "http://middle.test/feed", "http://new.test/feed"
	for codes, want := range map[[2]int]string{{301, 308}: to, {308, 301}: to, {301, 302}: feedURL, {307, 301}: feedURL} {
		withDisk(t, river.Options{}, func(t *testing.T, h *diskHarness) {
			h.serve(feedURL, status(codes[0], "Location", middle))
			h.serve(middle, status(codes[1], "Location", to))
			h.serve(to, doc(rss("", "a")))
			a := h.add(river.Request{URL: feedURL})
			if s := a.Source; !a.New || s.URL != want || s.State.URL != want || s.ID != river.SourceID(want) || want == to && s.State.Candidate != nil {
				t.Errorf("%v: stored %s, %s, %+v", codes, s.URL, s.State.URL, s.State.Candidate)
			}
			if again := h.add(river.Request{URL: feedURL}); again.New || again.SourceID != a.SourceID {
				t.Errorf("%v: added twice, %+v", codes, again)
			}
		})
	}
	withDisk(t, river.Options{}, func(t *testing.T, h *diskHarness) { // the server of another origin never receives the login
		h.serve(feedURL, status(301, "Location", to))
		h.serve(to, doc(rss("", "a")))
		a := h.add(river.Request{URL: feedURL, Login: river.Login{Kind: river.LoginBasic, Name: "ann", Secret: "s"}})
		if a.Source.URL != feedURL {
			t.Errorf("with a login: stored %s", a.Source.URL)
		}
	})
}
