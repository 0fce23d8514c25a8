package publishhttp

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"cloudburst/feed/render"
	"cloudburst/internal/fault"
	"cloudburst/internal/syndicate"
)

// countingLibrary is a Library that counts its reads.
type countingLibrary struct {
	mu    sync.Mutex
	known map[string]string // key: URL, value: document
	state string
	read  int
	slow  time.Duration
	fail  error
}

func (b *countingLibrary) Known(_ context.Context, url string) (string, bool, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	_, ok := b.known[url]
	return b.state, ok, nil
}

func (b *countingLibrary) Read(ctx context.Context, url string) ([]byte, string, int64, time.Time, error) {
	b.mu.Lock()
	b.read++
	doc, fail := b.known[url], b.fail
	b.mu.Unlock()
	if b.slow > 0 {
		time.Sleep(b.slow) // advances the clock of the synctest bubble
	}
	return []byte(doc), "application/rss+xml", 0, time.Time{}, fail
}

func (b *countingLibrary) set(url, doc string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.known[url] = doc
}

func newConvert() (*Convert, *countingLibrary) {
	b := &countingLibrary{known: map[string]string{"https://a.example/rss": hostedRSS(2)}}
	return &Convert{Library: b, Layer: &syndicate.Layer{}}, b
}

func (c *Convert) get(t *testing.T, address, to string, headers ...string) answer {
	t.Helper()
	r := httptest.NewRequest("GET", "/convert?"+url.Values{"url": {address}, "to": {to}}.Encode(), nil)
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	c.ServeHTTP(w, r)
	return answer{w.Result(), w.Body.String()}
}

func TestKnownFeedIsConvertedToEveryFormat(t *testing.T) {
	t.Parallel()
	c, b := newConvert()
	for _, f := range render.Formats() {
		a := c.get(t, "https://a.example/rss", f.Name)
		a.is(t, f.Name, http.StatusOK)
		a.has(t, f.Name, "Content-Type", f.Type, "Content-Security-Policy", "sandbox; default-src 'none'", "X-Content-Type-Options", "nosniff")
		if a.Header.Get("X-Cloudburst-Warnings") == "" {
			t.Errorf("%s: the warnings are not counted", f.Name)
		}
		c.get(t, "https://a.example/rss", f.Name, "If-None-Match", a.Header.Get("ETag")).is(t, f.Name+" again", http.StatusNotModified)
	}
	if b.read != 1 {
		t.Errorf("the feed was read %d times", b.read)
	}
	if html := c.get(t, "https://a.example/rss", "html"); strings.Contains(html.body, "<script") || strings.Contains(html.body, "onclick") {
		t.Errorf("the page runs scripts: %s", html.body)
	}
	if a := c.get(t, "https://a.example/rss", "rss090"); a.Header.Get("X-Cloudburst-Warnings") == "0" {
		t.Error("RSS 0.90 expresses everything")
	}
}

func TestChangedFeedIsReadAgainImmediately(t *testing.T) {
	t.Parallel()
	c, b := newConvert()
	c.get(t, "https://a.example/rss", "csv").is(t, "before", http.StatusOK, "http")
	b.set("https://a.example/rss", hostedRSS(7))
	b.state = "2"
	want := c.get(t, "https://a.example/rss", "csv")
	want.is(t, "afterwards", http.StatusOK)
	if b.read != 2 {
		t.Errorf("read %d times", b.read)
	}
	if again := c.get(t, "https://a.example/rss", "csv"); again.body != want.body || b.read != 2 {
		t.Errorf("then read %d times: %s", b.read, again.body)
	}
}

func TestErrorOfConversionStatesTheReason(t *testing.T) {
	t.Parallel()
	c, b := newConvert()
	c.get(t, "https://a.example/rss", "word").is(t, "a format", http.StatusNotAcceptable, "word", "rss090", "jsonp")
	c.get(t, "https://a.example/rss", "").is(t, "no format", http.StatusNotAcceptable, "is missing", "rss090")
	c.get(t, "https://b.example/rss", "atom").is(t, "an unknown feed", http.StatusNotFound, "https://b.example/rss", "becomes known")
	for _, bad := range []string{"", "x", "file:///etc/passwd", "ftp://a.example/", "https://", "http://me:pw@a.example/", "https://a.example/" + strings.Repeat("x", 3000)} {
		a := c.get(t, bad, "atom")
		a.is(t, bad, http.StatusBadRequest)
		if strings.Contains(a.body, "pw") {
			t.Error("the password is repeated")
		}
	}
	if b.read != 0 {
		t.Errorf("something was read %d times", b.read)
	}
	b.set("https://a.example/page", "<html><head><title>x</title></head><body>x</body></html>")
	c.get(t, "https://a.example/page", "atom").is(t, "a page", http.StatusBadGateway, "cannot be read as a feed")
	b.fail = fault.New(fault.Unreadable, "Its server answered 500.")
	b.set("https://a.example/dead", "")
	c.get(t, "https://a.example/dead", "atom").is(t, "a dead feed", http.StatusBadGateway, "Its server answered 500.")
	w := httptest.NewRecorder()
	c.ServeHTTP(w, httptest.NewRequest("POST", "/convert", nil))
	if w.Code != http.StatusMethodNotAllowed {
		t.Errorf("a POST is answered %d", w.Code)
	}
}

func TestConvertedFeedIsReadOncePerMinute(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, b := newConvert()
		b.slow = 5 * time.Second
		var group sync.WaitGroup
		for i := range 100 {
			group.Go(func() {
				c.get(t, "https://a.example/rss", []string{"atom", "jsonfeed", "csv"}[i%3]).is(t, "one of many", http.StatusOK)
			})
		}
		group.Wait()
		tag := c.get(t, "https://a.example/rss", "csv").Header.Get("ETag")
		if b.read != 1 {
			t.Errorf("read %d times", b.read)
		}
		time.Sleep(time.Minute) // advances the clock of the synctest bubble
		same := c.get(t, "https://a.example/rss", "csv")
		if same.Header.Get("ETag") != tag || b.read != 2 {
			t.Errorf("after a minute it was read %d times, and the tag is %s, not %s", b.read, same.Header.Get("ETag"), tag)
		}
		b.set("https://a.example/rss", hostedRSS(3))
		c.get(t, "https://a.example/rss", "csv").has(t, "too soon", "ETag", tag)
		time.Sleep(time.Minute)
		c.get(t, "https://a.example/rss", "csv").is(t, "changed", http.StatusOK, "Item 3")
		b.set("https://a.example/rss", hostedRSS(2))
		time.Sleep(time.Minute)
		c.get(t, "https://a.example/rss", "csv").has(t, "changed back", "ETag", tag)
	})
}

func TestChangedFeedIsReadAgainAfterClockIsSetBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, b := newConvert()
		var back time.Duration
		c.Now = func() time.Time { return time.Now().Add(-back) }
		c.get(t, "https://a.example/rss", "csv").is(t, "before", http.StatusOK, "Item 2")
		back = time.Hour
		b.mu.Lock()
		b.fail = fault.New(fault.Unreadable, "It is away.")
		b.mu.Unlock()
		c.get(t, "https://a.example/rss", "csv").is(t, "away", http.StatusBadGateway)
		b.mu.Lock()
		b.fail = nil
		b.mu.Unlock()
		b.set("https://a.example/rss", hostedRSS(3))
		time.Sleep(time.Minute) // advances the clock of the synctest bubble
		c.get(t, "https://a.example/rss", "csv").is(t, "changed", http.StatusOK, "Item 3")
	})
}

func TestSlowFeedRequestDoesNotReplaceNewerResult(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, b := newConvert()
		b.slow = 5 * time.Second
		var group sync.WaitGroup
		group.Go(func() { c.get(t, "https://a.example/rss", "csv").is(t, "early", http.StatusOK) })
		synctest.Wait()
		b.set("https://a.example/rss", hostedRSS(7))
		b.mu.Lock()
		b.state, b.slow = "2", time.Second
		b.mu.Unlock()
		for range 3 {
			c.get(t, "https://a.example/rss", "csv").is(t, "after the change", http.StatusOK, "Item 7")
			group.Wait()
			time.Sleep(time.Minute) // advances the clock of the synctest bubble
		}
	})
}

func TestConcurrentFeedConversionsAndMemoryAreLimited(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, b := newConvert()
		b.slow = time.Second
		for i := range 50 {
			b.set(fmt.Sprintf("https://a.example/%d", i), strings.Replace(hostedRSS(1), "What she does", strings.Repeat("x", 1<<20), 1))
		}
		var group sync.WaitGroup
		var mu sync.Mutex
		loginFault := 0
		for i := range convertReading + 5 {
			group.Go(func() {
				a := c.get(t, fmt.Sprintf("https://a.example/%d", i), "csv")
				mu.Lock()
				defer mu.Unlock()
				if a.StatusCode == http.StatusTooManyRequests && a.Header.Get("Retry-After") != "" {
					loginFault++
				}
			})
		}
		group.Wait()
		if loginFault != 5 {
			t.Errorf("%d were refused", loginFault)
		}
		for i := range 50 {
			c.get(t, fmt.Sprintf("https://a.example/%d", i), "csv").is(t, "one of many", http.StatusOK)
		}
		if c.copies.Size() > convertMemory || c.reading != 0 {
			t.Errorf("%d bytes are kept, %d are being read, %d copies", c.copies.Size(), c.reading, c.copies.Len())
		}
	})
}
