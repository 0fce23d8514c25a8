package bench_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"cloudburst/feed"
	"cloudburst/feed/feedtest"
	"cloudburst/feed/render"
	"cloudburst/internal/serve"
	"cloudburst/internal/syndicate"
)

const (
	readers  = 32   // number of persistent connections
	readings = 3200 // requests in one round
)

// BenchmarkServeFeed serves a feed of 40 kB on persistent connections, as status 304 and with
// gzip. It compares three handlers in turn: a syndicate.Layer, a prepared serve.Document, and a
// handler that only writes the same bytes with the same headers.
func BenchmarkServeFeed(b *testing.B) {
	for _, kind := range []struct {
		name   string
		status int
	}{{"conditional", 304}, {"gzip", 200}} {
		b.Run(kind.name, func(b *testing.B) { serveVersusConstant(b, kind.status) })
	}
}

// fromLayer returns a handler that serves a feed with a syndicate.Layer, as
// internal/endpoint/publishhttp does.
func fromLayer() http.HandlerFunc {
	layer := &syndicate.Layer{}
	options := render.Options{
		Self: "https://feeds.example/alice/rss.xml", Hubs: []string{"https://feeds.example/websub"},
		Cloud: &feed.Cloud{Domain: "feeds.example", Port: "443", Path: "/pleaseNotify", Protocol: "http-post"},
	}
	links := []string{`<https://feeds.example/websub>; rel="hub"`, `<https://feeds.example/alice/rss.xml>; rel="self"`}
	s := syndicate.Source{
		Key: "alice/rss", Version: 3, Modified: time.Date(2026, 3, 29, 12, 0, 0, 0, time.UTC),
		Raw: feedtest.Make(feedtest.RSSContent, 40_000, 1).Body, URL: "https://feeds.example/alice/rss.xml",
		Render: func(string) render.Options { return options },
		Link:   func(string) []string { return links },
	}
	return func(w http.ResponseWriter, r *http.Request) {
		if _, err := layer.Serve(w, r, s, "rss20"); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
	}
}

// asDocument returns a handler that serves the same responses from a prepared document, without a
// syndicate.Layer.
func asDocument(full *httptest.ResponseRecorder, plain []byte) http.Handler {
	h := full.Header()
	modified, _ := http.ParseTime(h.Get("Last-Modified"))
	return serve.New(plain, serve.Options{
		Type: h.Get("Content-Type"), Modified: modified, Cache: h.Get("Cache-Control"), Link: h["Link"], Feed: true, Brotli: true,
	})
}

// constant returns a handler that repeats a recorded response. No handler can answer faster, so
// its time is the lower bound.
func constant(was *httptest.ResponseRecorder) http.HandlerFunc {
	header, status, body := was.Header().Clone(), was.Code, was.Body.Bytes()
	return func(w http.ResponseWriter, _ *http.Request) {
		maps.Copy(w.Header(), header)
		w.WriteHeader(status)
		if len(body) > 0 {
			_, _ = w.Write(body) // the client detects a short response
		}
	}
}

func answered(h http.Handler, header ...string) *httptest.ResponseRecorder {
	r, w := httptest.NewRequest(http.MethodGet, "/alice/rss.xml", nil), httptest.NewRecorder()
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	h.ServeHTTP(w, r)
	return w
}

func serveVersusConstant(b *testing.B, status int) {
	layer := fromLayer()
	plain := answered(layer).Body.Bytes()
	full := answered(layer, "Accept-Encoding", "gzip")
	header := []string{"Accept-Encoding", "gzip"}
	if status == http.StatusNotModified {
		header = append(header, "If-None-Match", full.Header().Get("ETag"))
	}
	want := answered(layer, header...)
	if want.Code != status {
		b.Fatalf("%d, want %d", want.Code, status)
	}
	request := "GET /alice/rss.xml HTTP/1.1\r\nHost: feeds.example\r\nUser-Agent: reader/1.0\r\nAccept: */*\r\n"
	for i := 0; i < len(header); i += 2 {
		request += header[i] + ": " + header[i+1] + "\r\n"
	}
	endpoints := []*endpoint{{name: "layer", handler: layer}, {name: "document", handler: asDocument(full, plain)}, {name: "constant", handler: constant(want)}}
	for _, d := range endpoints {
		d.open(b, []byte(request+"\r\n"), want)
	}
	for round := 0; b.Loop(); round++ {
		for i := range endpoints {
			endpoints[(i+round)%len(endpoints)].burst(b)
		}
	}
	floor := endpoints[len(endpoints)-1]
	for _, d := range endpoints {
		b.ReportMetric(median(d.rates), d.name+"/s")
		b.ReportMetric(median(d.cpu), "µs-"+d.name)
		if d != floor {
			b.ReportMetric(medianRatio(d.rates, floor.rates), d.name+"-x/constant")
			b.ReportMetric(medianRatio(floor.cpu, d.cpu), d.name+"-cpu-x/constant")
		}
	}
}

func medianRatio(a, b []float64) float64 {
	var all []float64
	for i := range a {
		all = append(all, a[i]/b[i])
	}
	return median(all)
}

func median(list []float64) float64 {
	list = slices.Sorted(slices.Values(list))
	return list[len(list)/2]
}

// endpoint is one of the compared servers, with its open client connections.
type endpoint struct {
	name    string
	handler http.Handler
	request []byte
	conns   []net.Conn
	size    int       // bytes of a response; the size is constant, only the date changes
	rates   []float64 // responses per second in each round
	cpu     []float64 // CPU time in microseconds per response in each round, including the clients' part
}

// open starts the server and opens the connections. The first response on each connection must
// equal want.
func (d *endpoint) open(b *testing.B, request []byte, want *httptest.ResponseRecorder) {
	var lc net.ListenConfig
	l, err := lc.Listen(b.Context(), "tcp4", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	server := &http.Server{Handler: d.handler, ReadHeaderTimeout: 5 * time.Second}
	go func() { _ = server.Serve(l) }() // returns when the server is closed
	b.Cleanup(func() { _ = server.Close() })
	d.request = request
	for range readers {
		var dialer net.Dialer
		c, err := dialer.DialContext(b.Context(), "tcp4", l.Addr().String())
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = c.Close() })
		d.conns = append(d.conns, c)
		if d.size, err = first(c, request, want); err != nil {
			b.Fatalf("%s: %v", d.name, err)
		}
	}
}

// first reads a complete response, compares it with want and returns its size in bytes.
func first(c net.Conn, request []byte, want *httptest.ResponseRecorder) (size int, err error) {
	if _, err := c.Write(request); err != nil {
		return 0, err
	}
	var all bytes.Buffer
	in := bufio.NewReader(io.TeeReader(c, &all))
	resp, err := http.ReadResponse(in, nil)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, err
	}
	resp.Header.Del("Date")
	same := maps.EqualFunc(resp.Header, want.Header(), slices.Equal[[]string])
	if resp.StatusCode != want.Code || !same || !bytes.Equal(body, want.Body.Bytes()) || in.Buffered() > 0 {
		return 0, fmt.Errorf("%s, %v, %d bytes; want %d, %v", resp.Status, resp.Header, len(body), want.Code, want.Header())
	}
	return all.Len(), nil
}

// burst runs one round. The clients share the processors with the server, so they do as little as
// possible: they write a fixed request and count the bytes of the responses.
func (d *endpoint) burst(b *testing.B) {
	var group sync.WaitGroup
	begin, used := time.Now(), cpuTime(b)
	for _, c := range d.conns {
		group.Go(func() {
			answer := make([]byte, d.size)
			for range readings / readers {
				if _, err := c.Write(d.request); err != nil {
					b.Error(err)
					return
				}
				if _, err := io.ReadFull(c, answer); err != nil || !bytes.HasPrefix(answer, []byte("HTTP/1.1 ")) {
					b.Errorf("%s: %.20q, %v", d.name, answer, err)
					return
				}
			}
		})
	}
	group.Wait()
	d.rates = append(d.rates, readings/time.Since(begin).Seconds())
	d.cpu = append(d.cpu, float64((cpuTime(b)-used).Microseconds())/readings)
}

func cpuTime(b *testing.B) time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		b.Fatal(err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}
