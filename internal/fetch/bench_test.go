package fetch

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// cpu returns the processor time that this process has used.
func cpu() time.Duration {
	var r syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &r)
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// loop makes n calls from 64 goroutines. It returns the wall time and the processor time per call.
func loop(b *testing.B, n int, do func(i int) error) (wall, work float64) {
	b.Helper()
	var next atomic.Int64
	var wg sync.WaitGroup
	start, used := time.Now(), cpu()
	for range 64 {
		wg.Go(func() {
			for i := int(next.Add(1)); i <= n; i = int(next.Add(1)) {
				if err := do(i); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	return float64(time.Since(start)) / float64(n), float64(cpu()-used) / float64(n)
}

// BenchmarkSendNotification compares the sender with a tuned net/http client on the same
// receiver and 1,000 hosts, in alternating rounds. A reported ratio is the figure of net/http
// divided by the figure of Sender: 1.4 means that Sender makes 1.4 times as many sends in the same
// time.
func BenchmarkSendNotification(b *testing.B) {
	urls := hostURLs(startReceiver(b))
	for _, fresh := range []bool{false, true} {
		name := map[bool]string{false: "kept", true: "new"}[fresh]
		b.Run(name, func(b *testing.B) {
			s := NewSender(SenderOptions{Guard: loopback(), UserAgent: "Bench/1", IdleTotal: idleFor(fresh), MaxConns: 256})
			defer s.Close()
			ctx, cancel := context.WithCancel(b.Context())
			defer cancel()
			tr := tunedTransport(fresh)
			defer tr.CloseIdleConnections()
			theirs := func(i int) error { return postWith(ctx, tr, urls[i%1000], []byte("url=x")) }
			compare(b, sendingTo(ctx, s, urls), theirs)
		})
	}
}

// hostURLs returns URLs of 1,000 hosts, all of them the receiver on port.
func hostURLs(port string) []string {
	urls := make([]string, 1000)
	for i := range urls {
		urls[i] = fmt.Sprintf("http://127.%d.%d.%d:%s/notify/%d?x=y", 1+i%3, i/250, 1+i%250, port, i)
	}
	return urls
}

// sendingTo returns a function that sends notification i to one of urls.
func sendingTo(ctx context.Context, s *Sender, urls []string) func(i int) error {
	body, header := []byte("url=x"), []string{"X-Hub-Hops", "1"}
	return func(i int) error {
		r := s.Send(ctx, &Message{URL: urls[i%len(urls)], ContentType: "application/x-www-form-urlencoded", Header: header, Body: body})
		if !r.OK() {
			return fmt.Errorf("%d %w", r.Status, r.Err)
		}
		return nil
	}
}

func idleFor(fresh bool) int {
	if fresh {
		return -1
	}
	return 2000
}

// BenchmarkSendSecure compares the sender over https with bare crypto/tls connections, which send the
// same bytes and read one response without parsing it. A reported ratio is the figure of crypto/tls
// divided by the figure of Sender.
func BenchmarkSendSecure(b *testing.B) {
	port, roots := startSecureReceiver(b)
	for _, way := range []string{"kept", "resumed", "new"} {
		b.Run(way, func(b *testing.B) {
			config := &tls.Config{RootCAs: roots}
			if way == "new" {
				config.ClientSessionCache = noSessions{}
			}
			s := NewSender(SenderOptions{Guard: loopback(), UserAgent: "Bench/1", IdleTotal: idleFor(way != "kept"), IdlePerOrigin: 64, MaxConns: 256, TLSConfig: config})
			defer s.Close()
			ctx, cancel := context.WithCancel(b.Context())
			defer cancel()
			bare := bareSecure{address: "127.0.0.1:" + port, config: s.tls.Clone(), idle: make(chan *tls.Conn, 64), keep: way == "kept"}
			bare.config.ServerName = "127.0.0.1"
			defer bare.close()
			compare(b, sendingTo(ctx, s, []string{"https://127.0.0.1:" + port + "/notify?x=y"}), func(int) error { return bare.send(ctx) })
		})
	}
}

// noSessions is a cache that stores no TLS session.
type noSessions struct{}

func (noSessions) Get(string) (*tls.ClientSessionState, bool) { return nil, false }
func (noSessions) Put(string, *tls.ClientSessionState)        {}

// bareSecure sends requests over TLS connections with nothing else.
type bareSecure struct {
	address string
	config  *tls.Config
	idle    chan *tls.Conn
	keep    bool
}

func (s *bareSecure) send(ctx context.Context) error {
	var c *tls.Conn
	select {
	case c = <-s.idle:
	default:
		d := net.Dialer{KeepAlive: -1}
		plain, err := d.DialContext(ctx, "tcp", s.address)
		if err != nil {
			return err
		}
		c = tls.Client(plain, s.config)
	}
	const request = "POST /notify?x=y HTTP/1.1\r\nHost: 127.0.0.1\r\nUser-Agent: Bench/1\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 5\r\nX-Hub-Hops: 1\r\n\r\nurl=x"
	if _, err := io.WriteString(c, request); err != nil {
		return err
	}
	var buf [2048]byte
	if _, err := c.Read(buf[:]); err != nil {
		return err
	}
	if s.keep {
		s.idle <- c
		return nil
	}
	return c.Close()
}

func (s *bareSecure) close() {
	for len(s.idle) > 0 {
		(<-s.idle).Close()
	}
}

// compare alternates between both in rounds of some thousand calls, so that other load
// affects both equally.
func compare(b *testing.B, ours, theirs func(int) error) {
	compareLoops(b, func(n int) (wall, work float64) { return loop(b, n, ours) }, func(n int) (wall, work float64) { return loop(b, n, theirs) })
}

// compareLoops is like compare for two functions that make n calls.
func compareLoops(b *testing.B, ours, theirs func(n int) (wall, work float64)) {
	ours(2000)
	theirs(2000)
	var w, c, hw, hc float64
	slots := 0
	for b.Loop() {
		x, y := ours(4000)
		w, c = w+x, c+y
		x, y = theirs(4000)
		hw, hc = hw+x, hc+y
		slots++
	}
	n := float64(slots)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(w/n, "ns/send")
	b.ReportMetric(c/n, "cpu-ns/send")
	b.ReportMetric(hw/n, "other-ns/send")
	b.ReportMetric(hc/n, "other-cpu-ns/send")
	b.ReportMetric(hw/w, "ratio")
	b.ReportMetric(hc/c, "cpu-ratio")
}

// tunedTransport returns net/http's fastest configuration for this work.
func tunedTransport(fresh bool) *http.Transport {
	d := net.Dialer{KeepAlive: -1, Control: loopback().Control}
	return &http.Transport{
		DialContext: d.DialContext, DisableCompression: true, DisableKeepAlives: fresh, MaxIdleConns: 4000, MaxIdleConnsPerHost: 64,
		ReadBufferSize: 2048, WriteBufferSize: 2048,
	}
}

func postWith(ctx context.Context, tr *http.Transport, url string, body []byte) error {
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, "POST", url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header["User-Agent"] = []string{"Bench/1"}
	req.Header["Content-Type"] = []string{"application/x-www-form-urlencoded"}
	req.Header["X-Hub-Hops"] = []string{"1"}
	res, err := tr.RoundTrip(req)
	if err != nil {
		return err
	}
	io.Copy(io.Discard, io.LimitReader(res.Body, 4096))
	return res.Body.Close()
}

// BenchmarkSenderAlone measures the sender alone, for profiles and allocations.
func BenchmarkSenderAlone(b *testing.B) {
	port := startReceiver(b)
	for _, fresh := range []bool{false, true} {
		b.Run(map[bool]string{false: "kept", true: "new"}[fresh], func(b *testing.B) {
			s := NewSender(SenderOptions{Guard: loopback(), UserAgent: "Bench/1", IdleTotal: idleFor(fresh)})
			defer s.Close()
			ctx, cancel := context.WithCancel(b.Context())
			defer cancel()
			m := &Message{URL: "http://127.0.0.1:" + port + "/x", Body: []byte("url=x")}
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if r := s.Send(ctx, m); !r.OK() {
						b.Error(r.Err)
						return
					}
				}
			})
		})
	}
}

// BenchmarkMemoryOfWaitingDelivery measures the memory of a send that waits for its response.
// Buffers of the kernel are not included.
func BenchmarkMemoryOfWaitingDelivery(b *testing.B) {
	port := startReceiver(b)
	const open = 4000
	for b.Loop() {
		ctx, cancel := context.WithCancel(b.Context())
		s := NewSender(SenderOptions{Guard: loopback(), MaxConns: open, Timeout: time.Minute})
		before := inUse()
		var wg sync.WaitGroup
		for i := range open {
			wg.Go(func() {
				s.Send(ctx, &Message{URL: fmt.Sprintf("http://127.0.%d.%d:%s/never", i/200, 1+i%200, port), Body: []byte("url=x")})
			})
		}
		for len(s.slots) < open {
			runtime.Gosched()
		}
		t := time.NewTimer(500 * time.Millisecond)
		<-t.C
		b.ReportMetric(float64(inUse()-before)/open, "B/open")
		cancel()
		wg.Wait()
		s.Close()
	}
}

// inUse returns the memory of heap and stacks after a garbage collection.
func inUse() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}
