package fetch

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"cloudburst/internal/fulltest"
	"cloudburst/internal/nettest"

	"github.com/andybalholm/brotli"
	"github.com/google/go-cmp/cmp"
)

func compressed(t *testing.T, coding string, data []byte) []byte {
	var b bytes.Buffer
	var w io.WriteCloser
	switch coding {
	case "gzip":
		w = gzip.NewWriter(&b)
	case "zlib":
		w = zlib.NewWriter(&b)
	case "flate":
		w, _ = flate.NewWriter(&b, 6)
	case "br":
		w = brotli.NewWriter(&b)
	}
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	w.Close()
	return b.Bytes()
}

func TestCompressedResponseBodiesAreDecoded(t *testing.T) {
	t.Parallel()
	const feed = "<rss>feed</rss>"
	for name, c := range map[string]struct{ coding, body, want string }{
		"plain":              {"", feed, feed},
		"identity":           {"identity", feed, feed},
		"gzip":               {"gzip", string(compressed(t, "gzip", []byte(feed))), feed},
		"x-gzip in capitals": {"X-GZIP", string(compressed(t, "gzip", []byte(feed))), feed},
		"two gzip members":   {"gzip", string(compressed(t, "gzip", []byte(feed))) + string(compressed(t, "gzip", []byte(feed))), feed + feed},
		"gzip and padding":   {"gzip", string(compressed(t, "gzip", []byte(feed))) + strings.Repeat("\x00", 20), feed},
		"deflate":            {"deflate", string(compressed(t, "zlib", []byte(feed))), feed},
		"bare deflate":       {"deflate", string(compressed(t, "flate", []byte(feed))), feed},
		"brotli":             {"br", string(compressed(t, "br", []byte(feed))), feed},
		"brotli of nothing":  {"BR", "", ""},
		"gzip and a line":    {"gzip", string(compressed(t, "gzip", []byte(feed))) + "\r\n", feed},
		"gzip and <!-- -->":  {"gzip", string(compressed(t, "gzip", []byte(feed))) + "<!-- -->", feed},
		"gzip of nothing":    {"gzip", "", ""},
		"deflate of nothing": {"deflate", "", ""},
	} {
		srv := rawServer(t, "127.0.0.1:0", once(fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Encoding: %s\r\nContent-Length: %d\r\n\r\n%s", c.coding, len(c.body), c.body)))
		res, err := newTestClient(t, Options{}).Get(t.Context(), Request{URL: "http://" + srv + "/"})
		if err != nil || string(res.Body) != c.want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestResponsesBeyondTheLimitsAreRejected(t *testing.T) {
	t.Parallel()
	endless := func(head string, piece []byte) func(net.Conn, int) {
		return func(c net.Conn, _ int) {
			readRequest(bufio.NewReader(c))
			if _, err := io.WriteString(c, head); err != nil {
				return
			}
			for {
				if _, err := c.Write(piece); err != nil {
					return
				}
			}
		}
	}
	zeros := make([]byte, fulltest.Size(64, 8)<<20)
	bomb := compressed(t, "gzip", zeros)
	brotliBomb := compressed(t, "br", zeros)
	double := compressed(t, "gzip", bomb)
	for name, c := range map[string]struct {
		handle func(net.Conn, int)
		kind   Kind
	}{
		"endless body":       {endless("HTTP/1.1 200 OK\r\n\r\n", make([]byte, 64<<10)), TooLarge},
		"endless chunks":     {endless("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", []byte("10000\r\n"+strings.Repeat("x", 65536)+"\r\n")), TooLarge},
		"length over limit":  {once("HTTP/1.1 200 OK\r\nContent-Length: 5242881\r\n\r\n"), TooLarge},
		"gzip bomb":          {once(fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n%s", len(bomb), bomb)), TooLarge},
		"brotli bomb":        {once(fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Encoding: br\r\nContent-Length: %d\r\n\r\n%s", len(brotliBomb), brotliBomb)), TooLarge},
		"truncated brotli":   {once("HTTP/1.1 200 OK\r\nContent-Encoding: br\r\n\r\n" + string(compressed(t, "br", []byte("<rss>a feed of some words</rss>"))[:20])), Malformed},
		"bomb in a bomb":     {once(fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Encoding: gzip, gzip\r\nContent-Length: %d\r\n\r\n%s", len(double), double)), Malformed},
		"giant header":       {endless("HTTP/1.1 200 OK\r\nX: ", bytes.Repeat([]byte("x"), 64<<10)), TooLarge},
		"endless headers":    {endless("HTTP/1.1 200 OK\r\n", []byte(strings.Repeat("X: y\r\n", 1000))), TooLarge},
		"truncated body":     {once("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf"), Malformed},
		"truncated chunks":   {once("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel"), Malformed},
		"truncated gzip":     {once("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + string(bomb[:5000])), Malformed},
		"not gzip":           {once("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n<rss>"), Malformed},
		"unrequested coding": {once("HTTP/1.1 200 OK\r\nContent-Encoding: br\r\n\r\nxx"), Malformed},
		"not HTTP":           {once("SSH-2.0-OpenSSH\r\n"), Malformed},
		"no answer":          {once(""), Unreachable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := rawServer(t, "127.0.0.1:0", c.handle)
			_, err := newTestClient(t, Options{}).Get(t.Context(), Request{URL: "http://" + srv + "/"})
			if err == nil || KindOf(err) != c.kind {
				t.Errorf("%v, want kind %v", err, c.kind)
			}
			if c.kind != TooLarge && Text(err) != Neutral {
				t.Errorf("unknown clients read %q", Text(err))
			}
		})
	}
}

func TestBodyOfTheMaximumSizeIsRead(t *testing.T) {
	t.Parallel()
	body := strings.Repeat("x", 5<<20)
	srv := rawServer(t, "127.0.0.1:0", once("HTTP/1.1 200 OK\r\nContent-Length: 5242880\r\n\r\n"+body))
	res, err := newTestClient(t, Options{}).Get(t.Context(), Request{URL: "http://" + srv})
	if err != nil || len(res.Body) != 5<<20 {
		t.Errorf("%v", err)
	}
}

func TestBytesThatNoRequestMayContainAreSentPercentEncoded(t *testing.T) {
	t.Parallel()
	srv := rawServer(t, "127.0.0.1:0", func(c net.Conn, _ int) {
		req, _ := readRequest(bufio.NewReader(c))
		path := strings.Fields(req)[1]
		fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s", len(path), path)
	})
	for path, want := range map[string]string{
		"/f\u00e9.xml?x=\u00e9": "/f%C3%A9.xml?x=%C3%A9", "//\u00e9?\u00e9": "//%C3%A9?%C3%A9", "/caf\xe9": "/caf%E9", "/%c3%a9%zz": "/%c3%a9%zz", "?\u00e9": "/?%C3%A9",
	} {
		res, err := newTestClient(t, Options{}).Get(t.Context(), Request{URL: "http://" + srv + path})
		if err != nil || string(res.Body) != want || res.URL != "http://"+srv+path {
			t.Errorf("%q: %v, %q at %q", path, err, res.Body, res.URL)
		}
	}
}

func TestValidatorsAreSentByteForByte(t *testing.T) {
	t.Parallel()
	for _, v := range [][2]string{
		{`"abc"`, "Fri, 02 Jan 2026 03:04:05 GMT"}, {`W/"abc"`, ""}, {`unquoted`, "yesterday"}, {`w/"odd"`, " x "}, {`"a\"b"`, "2026-01-02T03:04:05Z"}, {"\"caf\xe9\"", ""}, {"", "0"},
	} {
		got := make(chan string, 1)
		srv := rawServer(t, "127.0.0.1:0", func(c net.Conn, _ int) {
			req, _ := readRequest(bufio.NewReader(c))
			got <- req
			io.WriteString(c, "HTTP/1.1 304 Not Modified\r\nETag: "+v[0]+"\r\nConnection: close\r\n\r\n")
		})
		res, err := newTestClient(t, Options{}).Get(t.Context(), Request{URL: "http://" + srv, ETag: v[0], LastModified: v[1]})
		if err != nil || !res.NotModified || res.Status != 304 || res.Body != nil {
			t.Fatalf("%q: %+v, %v", v, res, err)
		}
		req := <-got
		for name, value := range map[string]string{"If-None-Match": v[0], "If-Modified-Since": strings.TrimSpace(v[1])} {
			if has := strings.Contains(req, "\r\n"+name+": "+value+"\r\n"); has != (value != "") {
				t.Errorf("%s %q in %q", name, value, req)
			}
		}
		if res.Header.Get("ETag") != v[0] {
			t.Errorf("ETag %q read as %q", v[0], res.Header.Get("ETag"))
		}
		if strings.Contains(req, "Referer") || strings.Contains(req, "Cookie") {
			t.Errorf("%q", req)
		}
	}
}

func TestRevalidatingRequestSendsCacheControlNoCache(t *testing.T) {
	t.Parallel()
	for _, want := range []bool{true, false} {
		got := make(chan string, 1)
		srv := rawServer(t, "127.0.0.1:0", func(c net.Conn, _ int) {
			req, _ := readRequest(bufio.NewReader(c))
			got <- req
			io.WriteString(c, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
		})
		if _, err := newTestClient(t, Options{}).Get(t.Context(), Request{URL: "http://" + srv, Revalidate: want}); err != nil {
			t.Fatal(err)
		}
		req := <-got
		for _, line := range []string{"\r\nCache-Control: no-cache\r\n", "\r\nPragma: no-cache\r\n"} {
			if strings.Contains(req, line) != want {
				t.Errorf("revalidate %v: %q", want, req)
			}
		}
	}
}

func TestEveryHTTPStatusIsReturnedWithoutError(t *testing.T) {
	t.Parallel()
	for _, status := range []int{200, 204, 300, 304, 404, 410, 429, 500, 503} {
		srv := rawServer(t, "127.0.0.1:0", once(fmt.Sprintf("HTTP/1.1 %d X\r\nRetry-After: 5\r\nContent-Length: 0\r\n\r\n", status)))
		res, err := newTestClient(t, Options{}).Get(t.Context(), Request{URL: "http://" + srv})
		if err != nil || res.Status != status || res.Header.Get("Retry-After") != "5" || res.NotModified {
			t.Errorf("%d: %+v, %v", status, res, err)
		}
	}
}

// hops redirects /n to /n-1, and so on down to /0.
func hops() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var n int
		if fmt.Sscanf(r.URL.Path, "/%d", &n); n == 0 {
			io.WriteString(w, "end")
			return
		}
		http.Redirect(w, r, fmt.Sprintf("/%d", n-1), []int{301, 302, 303, 307, 308}[n%5])
	})
}

func TestAtMostFiveRedirectsAreFollowed(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(hops())
	defer srv.Close()
	c := newTestClient(t, Options{})
	res, err := c.Get(t.Context(), Request{URL: srv.URL + "/5"})
	if err != nil || string(res.Body) != "end" || res.URL != srv.URL+"/0" || len(res.Redirects) != 5 {
		t.Fatalf("%+v, %v", res, err)
	}
	if d := cmp.Diff(Redirect{Status: 301, From: srv.URL + "/5", To: srv.URL + "/4"}, res.Redirects[0]); d != "" {
		t.Error(d)
	}
	if _, err := c.Get(t.Context(), Request{URL: srv.URL + "/6"}); KindOf(err) != TooManyRedirects {
		t.Errorf("six: %v", err)
	}
	loop := httptest.NewServer(http.RedirectHandler("/", http.StatusFound))
	defer loop.Close()
	if _, err := c.Get(t.Context(), Request{URL: loop.URL}); KindOf(err) != TooManyRedirects {
		t.Errorf("loop: %v", err)
	}
}

func TestMalformedLocationsAreRepairedAsInBrowsers(t *testing.T) {
	t.Parallel()
	for location, want := range map[string]string{
		"b": "/a/b", "/b c": "/b%20c", "?q=a b": "/a/x?q=a%20b", "/é": "/%C3%A9", "//HOST/z": "/z", "http://HOST/a/../b": "/b", "/x#frag": "/x", "http://u:p@HOST/y": "/y", "/%zz?": "",
	} {
		srv := rawServer(t, "127.0.0.1:0", func(c net.Conn, n int) {
			req, err := readRequest(bufio.NewReader(c))
			if err != nil {
				return
			}
			path := strings.Fields(req)[1]
			if path == "/a/x" && n == 0 {
				fmt.Fprintf(c, "HTTP/1.1 302 X\r\nConnection: close\r\nLocation: %s\r\n\r\n", strings.ReplaceAll(location, "HOST", c.LocalAddr().String()))
				return
			}
			if strings.Contains(req, "Authorization") {
				path = "authorised " + path
			}
			fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n%s", path)
		})
		res, err := newTestClient(t, Options{}).Get(t.Context(), Request{URL: "http://" + srv + "/a/x"})
		if want == "" {
			if KindOf(err) != Malformed {
				t.Errorf("%q: %v", location, err)
			}
			continue
		}
		if err != nil || string(res.Body) != want {
			t.Errorf("%q: %v, %+v", location, err, res)
		}
	}
}

func TestCredentialsAreSentOnlyToTheirHost(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	seen := map[string]string{}
	note := func(r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		u, p, _ := r.BasicAuth()
		seen[r.URL.Path] = u + ":" + p + r.Header.Get("Cookie")
	}
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { note(r); w.WriteHeader(404) }))
	defer other.Close()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		note(r)
		http.Redirect(w, r, other.URL+"/other", http.StatusFound)
	}))
	defer srv.Close()
	c := newTestClient(t, Options{})
	raw := strings.Replace(srv.URL, "http://", "http://me:s%65cret@", 1) + "/own"
	res, err := c.Get(t.Context(), Request{URL: raw, Header: http.Header{"cookie": {"+c"}}})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(map[string]string{"/own": "me:secret+c", "/other": ":"}, seen); d != "" {
		t.Error(d)
	}
	if strings.Contains(fmt.Sprintf("%+v", res), "cret") {
		t.Errorf("the password is in %+v", res)
	}
	other.Close()
	srv.Close()
	if _, err := c.Get(t.Context(), Request{URL: raw}); err == nil || strings.Contains(fmt.Sprintf("%v %+v", err, err), "cret") {
		t.Errorf("the password is in %v", err)
	}
}

func TestRedirectFromHTTPSToHTTPIsReported(t *testing.T) {
	t.Parallel()
	plain := httptest.NewServer(hops())
	defer plain.Close()
	secure := httptest.NewTLSServer(http.RedirectHandler(plain.URL+"/0", http.StatusFound))
	defer secure.Close()
	res, err := newTestClient(t, Options{TLSConfig: trustServer(secure)}).Get(t.Context(), Request{URL: secure.URL + "/"})
	if err != nil || len(res.Redirects) != 1 || !res.Redirects[0].Downgrade {
		t.Errorf("%+v, %v", res, err)
	}
}

func TestGetTimesOutInEveryPhase(t *testing.T) {
	t.Parallel()
	drip := func(head string) func(net.Conn) {
		return func(c net.Conn) {
			readRequest(bufio.NewReader(c))
			io.WriteString(c, head)
			for {
				waitSecond()
				if _, err := c.Write([]byte("x")); err != nil {
					return
				}
			}
		}
	}
	for name, c := range map[string]struct {
		url    string
		handle func(net.Conn)
		want   time.Duration
	}{
		"silent":         {"http://peer.example/", func(c net.Conn) { io.Copy(io.Discard, c) }, 10 * time.Second},
		"slow head":      {"http://peer.example/", drip("HTTP/1.1 200 OK\r\nX: "), 10 * time.Second},
		"slow body":      {"http://peer.example/", drip("HTTP/1.1 200 OK\r\n\r\n"), 20 * time.Second},
		"slow handshake": {"https://peer.example:80/", func(c net.Conn) { io.Copy(io.Discard, c) }, 5 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			client, done := bubbleClient(t, c.handle, 0)
			defer done()
			start := time.Now()
			_, err := client.Get(t.Context(), Request{URL: c.url})
			if k := KindOf(err); k != TimedOut || time.Since(start) != c.want || Text(err) != Neutral {
				t.Errorf("%s: %v after %v, want %v", name, err, time.Since(start), c.want)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		client, done := bubbleClient(t, func(net.Conn) {}, time.Hour)
		defer done()
		start := time.Now()
		if _, err := client.Get(t.Context(), Request{URL: "http://peer.example/"}); KindOf(err) != TimedOut || time.Since(start) != 5*time.Second {
			t.Errorf("connecting: %v after %v", err, time.Since(start))
		}
	})
}

// bubbleClient returns a client for use in a synctest bubble. The bubble's network has one host,
// which handle serves.
func bubbleClient(t *testing.T, handle func(net.Conn), latency time.Duration) (*Client, func()) {
	n := &nettest.Internet{Latency: latency}
	l, err := n.Listen("peer.example:80")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() { defer c.Close(); handle(c) })
		}
	})
	client := New(Options{Dial: n.Dial})
	return client, func() { client.CloseIdle(); l.Close(); wg.Wait() }
}

func TestConnectionFailuresAreIndistinguishable(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		client, done := bubbleClient(t, func(c net.Conn) {}, 0)
		defer done()
		for _, u := range []string{"http://127.0.0.1/", "http://[::1]:8080/", "http://nowhere.example/", "http://peer.example:8080/", "http://peer.example/"} {
			start := time.Now()
			_, err := client.Get(t.Context(), Request{URL: u})
			if time.Since(start) != 250*time.Millisecond || Text(err) != Neutral {
				t.Errorf("%s: %q after %v (%v)", u, Text(err), time.Since(start), err)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		start := time.Now()
		if _, err := client.Get(ctx, Request{URL: "http://peer.example/"}); KindOf(err) != Ours || time.Since(start) != 0 {
			t.Errorf("cancelled: %v after %v", err, time.Since(start))
		}
	})
}
