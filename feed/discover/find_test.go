package discover_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cloudburst/feed/discover"
)

// web is an HTTP client whose responses are in a table. The key is a URL, the value is "type|body",
// or ">URL" for a redirect. It records the requested URLs.
type web struct {
	pages     map[string]string
	requested []string
}

func (w *web) Do(r *http.Request) (*http.Response, error) {
	address := r.URL.String()
	w.requested = append(w.requested, address)
	page, ok := w.pages[address]
	for strings.HasPrefix(page, ">") {
		address = page[1:]
		page = w.pages[address]
		r = r.Clone(r.Context())
		u := *r.URL
		u.Path = strings.TrimPrefix(address, u.Scheme+"://"+u.Host)
		r.URL = &u
	}
	res := &http.Response{StatusCode: 200, Header: http.Header{}, Request: r, Body: http.NoBody}
	if !ok {
		res.StatusCode = 404
		return res, nil
	}
	if page == "!" {
		return nil, errors.New("connection refused")
	}
	typ, body, _ := strings.Cut(page, "|")
	res.Header.Set("Content-Type", typ)
	res.Body = io.NopCloser(strings.NewReader(body))
	return res, nil
}

const rss = `application/rss+xml; charset=utf-8|<rss version="2.0"><channel><title>Found</title></channel></rss>`

func TestFindTriesUsualPathsOnlyIfThePageDeclaresNoFeed(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name      string
		pages     map[string]string
		want      []discover.Link
		requested []string // expected requests after the page itself
	}{
		{"no requests for the guesses of a page that declares a feed", map[string]string{
			"https://a.example/x": `text/html|<link rel=alternate type=application/rss+xml href=/f><a href=/rss>RSS</a>`},
			[]discover.Link{{URL: "https://a.example/f", Kind: discover.Main, Format: discover.RSS, Type: "application/rss+xml", From: discover.FromLink},
				{URL: "https://a.example/rss", Kind: discover.Main, Format: discover.RSS, Title: "RSS", From: discover.FromAnchor, Guess: true}}, nil},
		{"the document is a feed", map[string]string{"https://a.example/x": rss},
			[]discover.Link{{URL: "https://a.example/x", Kind: discover.Main, Format: discover.RSS, Title: "Found", From: discover.FromDocument}}, nil},
		{"guesses are requested", map[string]string{
			"https://a.example/x":   `text/html|<a href=/one>RSS</a><a href=/two.atom>Two</a><a href=/three.rss>Three</a>`,
			"https://a.example/one": "text/html|<p>About RSS", "https://a.example/three.rss": ">https://a.example/real", "https://a.example/real": rss},
			[]discover.Link{{URL: "https://a.example/real", Kind: discover.Main, Format: discover.RSS, Type: "application/rss+xml", Title: "Three", From: discover.FromAnchor}},
			[]string{"https://a.example/one", "https://a.example/two.atom", "https://a.example/three.rss"}},
		{"well-known URLs are requested last", map[string]string{
			"https://a.example/x": "text/html|<p>Nothing", "https://a.example/x/feed": "text/html|<p>All pages are me", "https://a.example/x/rss.xml": "!",
			"https://a.example/x/index.xml": rss, "https://a.example/feed": rss},
			[]discover.Link{{URL: "https://a.example/x/index.xml", Kind: discover.Main, Format: discover.RSS, Type: "application/rss+xml", Title: "Found", From: discover.FromWellKnown}},
			[]string{"https://a.example/x/feed", "https://a.example/x/rss.xml", "https://a.example/x/atom.xml", "https://a.example/x/index.xml"}},
	} {
		w := &web{pages: tt.pages}
		r, err := discover.Find(t.Context(), w, "https://a.example/x")
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		if d := cmp.Diff(tt.want, r.Links); d != "" {
			t.Errorf("%s\n%s", tt.name, d)
		}
		if d := cmp.Diff(append([]string{"https://a.example/x"}, tt.requested...), w.requested); d != "" {
			t.Errorf("%s\n%s", tt.name, d)
		}
	}
}

func TestFindSendsLimitedNumberOfRequests(t *testing.T) {
	t.Parallel()
	var page strings.Builder
	page.WriteString("text/html|")
	for i := range 50 {
		fmt.Fprintf(&page, "<a href=/%d.rss>x</a>", i)
	}
	for most, want := range map[int]int{0: 13, 4: 5, -1: 1, 1000: 71} {
		w := &web{pages: map[string]string{"https://a.example/": page.String()}}
		f := discover.Finder{HTTP: w, MaxProbes: most}
		r, err := f.Find(t.Context(), "https://a.example")
		if err != nil || len(r.Links) != 0 {
			t.Errorf("%v %v", r.Links, err)
		}
		if len(w.requested) != want {
			t.Errorf("MaxProbes %d: %d requests, want %d", most, len(w.requested), want)
		}
		sorted := slices.Clone(w.requested)
		slices.Sort(sorted)
		if len(slices.Compact(sorted)) != len(w.requested) {
			t.Errorf("repeated requests: %q", w.requested)
		}
	}
}

func TestFindReturnsErrorIfThePageCannotBeRead(t *testing.T) {
	t.Parallel()
	w := &web{pages: map[string]string{"https://a.example/refused": "!"}}
	for _, address := range []string{"", "a.example", "ftp://a.example/", "https://", "/feed", "file:///etc/passwd"} {
		if _, err := discover.Find(t.Context(), w, address); !errors.Is(err, discover.ErrURL) {
			t.Errorf("%q: %v", address, err)
		}
	}
	if len(w.requested) != 0 {
		t.Errorf("requested %q", w.requested)
	}
	_, err := discover.Find(t.Context(), w, "https://a.example/missing")
	if e, ok := errors.AsType[*discover.StatusError](err); !ok || e.Status != 404 || err.Error() != "discover: https://a.example/missing answers 404 Not Found" {
		t.Errorf("%v", err)
	}
	if _, err := discover.Find(t.Context(), w, "https://a.example/refused"); err == nil || err.Error() != "discover: https://a.example/refused cannot be read: connection refused" {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	w.pages["https://a.example/"] = "text/html|<a href=/a.rss>x</a>"
	stopping := clientFunc(func(r *http.Request) (*http.Response, error) { defer cancel(); return w.Do(r) })
	if _, err := discover.Find(ctx, stopping, "https://a.example/"); !errors.Is(err, context.Canceled) {
		t.Errorf("context cancelled while probing: %v", err)
	}
}

type clientFunc func(*http.Request) (*http.Response, error)

func (f clientFunc) Do(r *http.Request) (*http.Response, error) { return f(r) }

func TestWellKnownPathsNextToThePageAreTriedFirst(t *testing.T) {
	t.Parallel()
	for address, want := range map[string][]string{
		"https://a.example":                   {"https://a.example/feed", "https://a.example/rss.xml"},
		"https://A.example/page.html?x=1#y":   {"https://a.example/feed", "https://a.example/rss.xml"},
		"http://a.example:8080/~me":           {"http://a.example:8080/~me/feed", "http://a.example:8080/~me/rss.xml"},
		"https://a.example/blog/post.html":    {"https://a.example/blog/feed", "https://a.example/blog/rss.xml"},
		"https://user:secret@a.example/blog/": {"https://a.example/blog/feed", "https://a.example/blog/rss.xml"},
		"ftp://a.example/":                    nil,
		"blog":                                nil,
		"":                                    nil,
	} {
		got := discover.WellKnown(address)
		if d := cmp.Diff(want, got[:min(len(got), 2)]); d != "" {
			t.Errorf("%q\n%s", address, d)
		}
		sorted := slices.Clone(got)
		slices.Sort(sorted)
		if len(slices.Compact(sorted)) != len(got) {
			t.Errorf("%q: duplicate URL", address)
		}
	}
	got := discover.WellKnown("https://a.example/")
	for _, path := range []string{"/feed", "/feed/", "/rss.xml", "/atom.xml", "/index.xml", "/feed.json", "/rss", "/index.rdf", "/?feed=rss2"} {
		if !slices.Contains(got, "https://a.example"+path) {
			t.Errorf("%s is missing in %q", path, got)
		}
	}
}

func TestNumberOfDiscoveredLinksIsLimited(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&b, `<a href="/x.rss?%d">x</a>`, i)
		fmt.Fprintf(&b, `<link rel="alternate" type="application/rss+xml" href="/%d">`, i)
		fmt.Fprintf(&b, `<link rel="hub" href="/%d">`, i)
	}
	r := discover.HTML([]byte("<head>"+b.String()), "https://a.example/", nil)
	if !r.Cut || len(r.Links) != 256+64 {
		t.Errorf("%d links, cut %t", len(r.Links), r.Cut)
	}
	few := discover.HTML([]byte(`<a href="/x.rss">x</a>`), "https://a.example/", nil)
	if few.Cut || few.Sure() {
		t.Errorf("%+v", few)
	}
	if l, ok := few.Best(); !ok || l.URL != "https://a.example/x.rss" {
		t.Errorf("%+v %t", l, ok)
	}
	if _, ok := (&discover.Result{}).Best(); ok {
		t.Error("Best of an empty result returned true")
	}
}
