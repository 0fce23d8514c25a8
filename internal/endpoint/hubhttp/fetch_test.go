package hubhttp

import (
	"context"
	"crypto/sha256"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/fetch"
	"cloudburst/internal/hub"
	"cloudburst/protocol/rsscloud"

	"github.com/google/go-cmp/cmp"
)

func onNotify(notices chan<- rsscloud.Received, agents chan<- string) func(context.Context, rsscloud.Received) {
	return func(ctx context.Context, n rsscloud.Received) {
		notices <- n
		agents <- rsscloud.RequestFrom(ctx).UserAgent()
	}
}

type getter func(fetch.Request) (*fetch.Response, error)

func (g getter) Get(_ context.Context, r fetch.Request) (*fetch.Response, error) { return g(r) }

func TestFetchReturnsValidatorsAndHashOfTheFeed(t *testing.T) {
	t.Parallel()
	sent := time.Unix(1, 0)
	head := http.Header{"Etag": {`W/"a, b"`}, "Last-Modified": {"yesterday  at noon"}, "Content-Type": {"text/xml"}, "Date": {"today"}}
	var asked fetch.Request
	f := &Fetcher{Client: getter(func(r fetch.Request) (*fetch.Response, error) {
		asked = r
		return &fetch.Response{Status: 200, Header: head, Body: []byte("<rss/>"), URL: feed + "?final", SentAt: sent}, nil
	})}
	got, err := f.Fetch(t.Context(), hub.Fetch{URL: feed, ETag: `"x"`, Revalidate: true})
	if got.About == nil || got.About() != (hub.About{}) {
		t.Error("an empty feed has a description")
	}
	got.About = nil
	sum := sha256.Sum256([]byte("<rss/>"))
	want := hub.Fetched{Status: 200, Hash: sum[:], Body: []byte("<rss/>"), ETag: `W/"a, b"`, LastModified: "yesterday  at noon", ContentType: "text/xml", Date: "today", URL: feed + "?final", SentAt: sent}
	if d := cmp.Diff(want, got); err != nil || d != "" {
		t.Errorf("%v\n%s", err, d)
	}
	if asked.URL != feed || asked.ETag != `"x"` || asked.ValidatorsURL != feed || asked.LastModified != "" || !asked.Revalidate || asked.Accept == "" {
		t.Errorf("request %+v", asked)
	}
}

func TestFeedWithoutOwnURLHasTheUsualSpellingOfItsURL(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ url, body, self string }{
		{"http://a.test/rss.xml?A=B", "<rss/>", ""},
		{"http://a.test:8080/rss.xml", "<rss/>", ""},
		{"HTTP://A.test/Rss.xml?A=B", "<rss/>", "http://a.test/Rss.xml?A=B"},
		{"http://a.test:80/", "<rss/>", "http://a.test/"},
		{"https://LOCALHOST:8443?x", "<rss/>", "https://localhost:8443?x"},
		{"http://A.test/rss.xml", `<rss><channel xmlns:a="http://www.w3.org/2005/Atom"><a:link rel="self" href="http://b.test/rss.xml"/></channel></rss>`, "http://b.test/rss.xml"},
	} {
		f := &Fetcher{Client: getter(func(fetch.Request) (*fetch.Response, error) {
			return &fetch.Response{Status: 200, Body: []byte(c.body), URL: "http://other.test/after-a-redirect"}, nil
		})}
		got, err := f.Fetch(t.Context(), hub.Fetch{URL: c.url})
		if err != nil || got.About().Self != c.self {
			t.Errorf("%s: the feed's own URL is %q, want %q, %v", c.url, got.About().Self, c.self, err)
		}
	}
}

func TestTooLongOrInvalidValidatorOfAFeedIsIgnored(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{`"` + strings.Repeat("x", fetch.MaxValidator) + `"`, "*"} {
		f := &Fetcher{Client: getter(func(fetch.Request) (*fetch.Response, error) {
			return &fetch.Response{Status: 200, Header: http.Header{"Etag": {bad}, "Last-Modified": {bad}}, Body: []byte("<rss/>")}, nil
		})}
		got, err := f.Fetch(t.Context(), hub.Fetch{URL: feed})
		if err != nil || got.ETag != "" || got.LastModified != "" {
			t.Errorf("%d and %d bytes are kept, %v", len(got.ETag), len(got.LastModified), err)
		}
	}
}

func TestFetchReturnsNoHashForUnchangedFeed(t *testing.T) {
	t.Parallel()
	f := &Fetcher{Client: getter(func(fetch.Request) (*fetch.Response, error) {
		return &fetch.Response{Status: 304, NotModified: true, Header: http.Header{"Etag": {`"y"`}}}, nil
	})}
	got, err := f.Fetch(t.Context(), hub.Fetch{URL: feed, ETag: `"x"`})
	if err != nil || !got.NotModified || got.Hash != nil || got.ETag != `"y"` {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestUnreadableFeedReturnsError(t *testing.T) {
	t.Parallel()
	inside := errors.New("dial 10.0.0.7: refused")
	for _, c := range []struct {
		name string
		resp *fetch.Response
		err  error
		code fault.Code
		msg  string
	}{
		{"404", &fetch.Response{Status: 404}, nil, fault.Unreadable, "The feed http://feeds.example/rss.xml could not be read: its server answered 404 Not Found."},
		{"304 unasked", &fetch.Response{Status: 304}, nil, fault.Unreadable, "304 Not Modified"},
		{"500", &fetch.Response{Status: 500, Body: []byte("<rss/>")}, nil, fault.Unreadable, "500 Internal Server Error"},
		{"unreachable", nil, &fetch.Error{Kind: fetch.Unreachable, Text: fetch.Neutral, Err: inside}, fault.Unreadable, "The feed http://feeds.example/rss.xml could not be read: no usable response was received."},
		{"forbidden", nil, &fetch.Error{Kind: fetch.Refused, Text: fetch.Neutral, Err: inside}, fault.Refused, "The feed http://feeds.example/rss.xml could not be read: no usable response was received."},
		{"too large", nil, &fetch.Error{Kind: fetch.TooLarge, Text: "is larger than 5 MiB"}, fault.Unreadable, "is larger than 5 MiB."},
		{"ours", nil, &fetch.Error{Kind: fetch.Ours, Text: fetch.Neutral, Err: inside}, fault.Unavailable, "try again"},
		{"other error", nil, inside, fault.Unreadable, "no usable response"},
	} {
		f := &Fetcher{Client: getter(func(fetch.Request) (*fetch.Response, error) {
			if c.resp != nil {
				c.resp.Header = http.Header{}
			}
			return c.resp, c.err
		})}
		got, err := f.Fetch(t.Context(), hub.Fetch{URL: feed})
		if fault.CodeOf(err) != c.code || !strings.Contains(fault.Message(err), c.msg) || strings.Contains(fault.Message(err), "10.0.0.7") || got.Hash != nil {
			t.Errorf("%s: %+v, %v: %s", c.name, got, fault.CodeOf(err), fault.Message(err))
		}
	}
}
