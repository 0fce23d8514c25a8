package bench_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"cloudburst/internal/endpoint/hubhttp"
	"cloudburst/internal/fetch"
	"cloudburst/internal/hub"
	"cloudburst/internal/store"
	"cloudburst/lab/bench"
	"cloudburst/protocol/websub"
)

// BenchmarkSendNotificationWithContent sends content of 2,000 and of 200,000 bytes to many
// callbacks.
func BenchmarkSendNotificationWithContent(b *testing.B) {
	for _, size := range []int{2_000, 200_000} {
		b.Run(fmt.Sprint(size), func(b *testing.B) { contentVersusNetHTTP(b, size) })
	}
}

func contentVersusNetHTTP(b *testing.B, size int) {
	receiver, err := bench.OpenReceiver(b.Context(), bench.Plan{Hosts: hosts})
	if err != nil {
		b.Fatal(err)
	}
	defer receiver.Close()
	sender := fetch.NewSender(fetch.SenderOptions{
		Guard: &fetch.Guard{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, Callback: true}, IdleTotal: 1024,
	})
	defer sender.Close()
	web := &http.Client{Transport: &http.Transport{MaxIdleConns: 1024, MaxIdleConnsPerHost: 4, DisableCompression: true}}
	defer web.CloseIdleConnections()
	body := bytes.Repeat([]byte("x"), size)
	link := websub.LinkHeader("https://hub.example/websub", "https://feeds.example/rss.xml")
	header := []string{"Link", link}
	ours := func(url string) error {
		return sender.Send(b.Context(), &fetch.Message{URL: url, ContentType: "application/rss+xml", Header: header, Body: body}).Err
	}
	theirs := func(url string) error {
		req, err := http.NewRequestWithContext(b.Context(), http.MethodPost, url, bytes.NewReader(body))
		if err != nil {
			return err
		}
		req.Header.Set("Content-Type", "application/rss+xml")
		req.Header.Set("Link", link)
		resp, err := web.Do(req)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		_, err = io.Copy(io.Discard, resp.Body)
		return err
	}
	burstOf(b, receiver.Port, ours) // the first bursts open the connections before the measurement
	burstOf(b, receiver.Port, theirs)
	versus(b, "net-http", func() { burstOf(b, receiver.Port, ours) }, func() { burstOf(b, receiver.Port, theirs) })
}

// listOf is a list of recent changes; its value is the number of changes.
type listOf int

// noon returns the fixed time of the benchmark, because the list of recent changes depends on the
// current minute.
func noon() time.Time { return time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC) }

func (n listOf) Changes(_ context.Context, q hub.ChangeQuery) ([]hub.Change, error) {
	first := int64(n)
	if q.Before.Seq > 0 {
		first = q.Before.Seq - 1
	}
	var list []hub.Change
	for seq := first; seq > 0 && len(list) < q.Limit; seq-- {
		list = append(list, hub.Change{Node: 1, Seq: seq, At: noon(), Name: fmt.Sprintf("Notes of somebody, number %d", seq), URL: fmt.Sprintf("http://example.org/notes/%d", seq)})
	}
	return list, nil
}

func (n listOf) CountChanges(context.Context) (int64, error) { return int64(n), nil }

// nowhere is a ResponseWriter that counts the bytes of the body and discards them.
type nowhere struct {
	header http.Header
	status int
	bytes  int
}

func (w *nowhere) Header() http.Header { return w.header }

func (w *nowhere) WriteHeader(status int) { w.status = status }

func (w *nowhere) Write(p []byte) (int, error) {
	w.bytes += len(p)
	return len(p), nil
}

// BenchmarkServeRecentChanges serves 5,000 recent changes uncompressed, with gzip, and as status
// 304. The peer is http.ServeContent with the same bytes. Neither uses the network.
func BenchmarkServeRecentChanges(b *testing.B) {
	list := http.NewServeMux()
	for _, r := range (&hubhttp.Endpoints{Changes: listOf(5000), Now: noon}).Routes() {
		if r.Path == "/changes.xml" {
			list.Handle(r.Path, r.Handler)
		}
	}
	for _, tt := range []struct{ name, field, value string }{
		{"plain", "Accept-Encoding", "identity"}, {"gzip", "Accept-Encoding", "gzip"}, {"304", "If-None-Match", "*"},
	} {
		b.Run(tt.name, func(b *testing.B) {
			req := httptest.NewRequestWithContext(b.Context(), http.MethodGet, "/changes.xml", nil)
			req.Header.Set(tt.field, tt.value)
			rec := httptest.NewRecorder()
			list.ServeHTTP(rec, req)
			if rec.Code != http.StatusOK && rec.Code != http.StatusNotModified {
				b.Fatal(rec.Code, rec.Body)
			}
			body, modified := rec.Body.Bytes(), time.Now()
			serve := func(h http.Handler) func() {
				w := &nowhere{header: http.Header{}}
				return func() {
					for range 100 {
						clear(w.header)
						w.bytes = 0
						h.ServeHTTP(w, req)
					}
					if w.bytes != len(body) {
						b.Errorf("%d bytes, want %d", w.bytes, len(body))
					}
				}
			}
			floor := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				for _, name := range []string{"Content-Type", "Cache-Control", "Vary", "Etag"} {
					w.Header().Set(name, rec.Header().Get(name))
				}
				http.ServeContent(w, r, "", modified, bytes.NewReader(body))
			})
			versus(b, "ServeContent", serve(list), serve(floor))
		})
	}
}

// BenchmarkStorePings compares 256 concurrent clients that store site pings durably with one
// client that stores pings sequentially. Concurrent pings share commits.
func BenchmarkStorePings(b *testing.B) {
	st, err := store.Open(b.Context(), store.Options{Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	defer st.Close()
	var seq atomic.Int64
	one := func(n int) {
		for range n {
			i, now := seq.Add(1), time.Now().UTC()
			c := hub.Change{Node: 1, Seq: i, At: now, Name: "Notes", URL: fmt.Sprintf("http://127.0.0.1/n/%d", i), Via: "weblogs"}
			if err := st.Announce(b.Context(), []hub.Change{c}, nil, now, now, nil); err != nil {
				b.Error(err)
				return
			}
		}
	}
	const together, alone = 256, 16
	var a, c time.Duration
	for b.Loop() {
		begin := time.Now()
		var group sync.WaitGroup
		for range together {
			group.Go(func() { one(alone) })
		}
		group.Wait()
		middle := time.Now()
		one(alone)
		a, c = a+middle.Sub(begin), c+time.Since(middle)
	}
	perSecond := func(n int, d time.Duration) float64 { return float64(n) * float64(b.N) / d.Seconds() }
	b.ReportMetric(perSecond(together*alone, a), "pings/s")
	b.ReportMetric(perSecond(alone, c), "alone/s")
	b.ReportMetric(perSecond(together*alone, a)/perSecond(alone, c), "x/alone")
}
