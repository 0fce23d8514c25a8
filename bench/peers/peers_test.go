// Package peers_test compares the packages of this project with other libraries for the same
// task. It is a separate module, so that a build of the program does not download them.
package peers_test

import (
	"bytes"
	"errors"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	kolo "github.com/kolo/xmlrpc"
	"github.com/valyala/fasthttp"

	"cloudburst/internal/fetch"
	"cloudburst/lab/bench"
	"cloudburst/protocol/xmlrpc"
)

// versus runs ours and theirs in turn, so that other load on the machine affects both alike.
func versus(b *testing.B, theirsIs string, ours, theirs func()) {
	b.Helper()
	var a, c time.Duration
	for b.Loop() {
		begin := time.Now()
		ours()
		middle := time.Now()
		theirs()
		a, c = a+middle.Sub(begin), c+time.Since(middle)
	}
	b.ReportMetric(float64(a.Nanoseconds())/float64(b.N), "ns/ours")
	b.ReportMetric(float64(c.Nanoseconds())/float64(b.N), "ns/"+theirsIs)
	b.ReportMetric(float64(c)/float64(a), "x/"+theirsIs)
}

func BenchmarkXMLRPCResponse(b *testing.B) {
	doc, err := xmlrpc.MarshalResponse(map[string]any{"success": true, "msg": "Thanks for the registration.", "count": 3, "tags": []any{"a", "b"}})
	if err != nil {
		b.Fatal(err)
	}
	versus(b, "kolo", func() {
		if _, err := xmlrpc.ParseResponse(bytes.NewReader(doc)); err != nil {
			b.Fatal(err)
		}
	}, func() {
		var v map[string]any
		if err := kolo.Response(doc).Unmarshal(&v); err != nil {
			b.Fatal(err)
		}
	})
}

const (
	hosts      = 200
	concurrent = 64
	burst      = 2000
)

func burstOf(b *testing.B, port uint16, send func(url string) error) {
	var next atomic.Int64
	var group sync.WaitGroup
	for range concurrent {
		group.Go(func() {
			for i := int(next.Add(1)) - 1; i < burst; i = int(next.Add(1)) - 1 {
				if err := send(bench.CallbackURL(false, i%hosts, port, i)); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	group.Wait()
}

func BenchmarkSendNotification(b *testing.B) {
	for name, closing := range map[string]bool{"kept": false, "new": true} {
		b.Run(name, func(b *testing.B) { senderVersusFastHTTP(b, closing) })
	}
}

func senderVersusFastHTTP(b *testing.B, closing bool) {
	receiver, err := bench.OpenReceiver(b.Context(), bench.Plan{Hosts: hosts, Close: closing})
	if err != nil {
		b.Fatal(err)
	}
	defer receiver.Close()
	sender := fetch.NewSender(fetch.SenderOptions{
		Guard: &fetch.Guard{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, Callback: true}, IdleTotal: 1024,
	})
	defer sender.Close()
	fast := &fasthttp.Client{
		MaxConnsPerHost: 64, ReadBufferSize: 4 << 10, WriteBufferSize: 1 << 10, MaxIdleConnDuration: 30 * time.Second,
		NoDefaultUserAgentHeader: true, DisablePathNormalizing: true,
		Dial: func(addr string) (net.Conn, error) { return net.DialTimeout("tcp", addr, 15*time.Second) },
	}
	defer fast.CloseIdleConnections()
	body := []byte("url=http%3A%2F%2F127.0.0.1%2Ffeed.xml")
	ours := func(url string) error {
		r := sender.Send(b.Context(), &fetch.Message{URL: url, ContentType: "application/x-www-form-urlencoded", Body: body})
		return r.Err
	}
	theirs := func(url string) error {
		req, resp := fasthttp.AcquireRequest(), fasthttp.AcquireResponse()
		defer fasthttp.ReleaseRequest(req)
		defer fasthttp.ReleaseResponse(resp)
		req.SetRequestURI(url)
		req.Header.SetMethod("POST")
		req.Header.SetContentType("application/x-www-form-urlencoded")
		req.SetBodyRaw(body)
		if err := fast.DoTimeout(req, resp, 15*time.Second); err != nil {
			return err
		}
		if resp.StatusCode() != 200 {
			return errors.New("not OK")
		}
		return nil
	}
	burstOf(b, receiver.Port, ours)
	burstOf(b, receiver.Port, theirs)
	versus(b, "fasthttp", func() { burstOf(b, receiver.Port, ours) }, func() { burstOf(b, receiver.Port, theirs) })
}
