// Package bench_test compares parts of the program with alternative implementations. Each
// benchmark runs both in turn and reports how many times as fast ours is. "cloudburst-lab bench"
// measures the whole program.
package bench_test

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"cloudburst/internal/fetch"
	"cloudburst/internal/hub"
	"cloudburst/internal/store"
	"cloudburst/lab/bench"
	"cloudburst/protocol/xmlrpc"
)

// versus runs ours and theirs in turn, so that other load on the machine affects both alike.
func versus(b *testing.B, theirsIs string, ours, theirs func()) {
	b.Helper()
	var a, c time.Duration
	b.ReportAllocs()
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

func notification(b *testing.B) []byte {
	b.Helper()
	doc, err := xmlrpc.Call{Method: "rssCloud.pleaseNotify", Params: []any{
		"", 5337, "/RPC2", "xml-rpc", []any{"http://feeds.example.org/one.xml", "http://feeds.example.org/two.xml?a=1&b=2"},
	}}.Marshal()
	if err != nil {
		b.Fatal(err)
	}
	return doc
}

// BenchmarkXMLRPCParse compares the parsing of a call with the tokenizer of encoding/xml, which
// does less work because it does not interpret the tokens.
func BenchmarkXMLRPCParse(b *testing.B) {
	doc := notification(b)
	versus(b, "encoding-xml", func() {
		if _, err := xmlrpc.ParseCall(bytes.NewReader(doc)); err != nil {
			b.Fatal(err)
		}
	}, func() {
		d := xml.NewDecoder(bytes.NewReader(doc))
		for {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				return
			} else if err != nil {
				b.Fatal(err)
			}
		}
	})
}

const (
	hosts      = 200
	concurrent = 64
	burst      = 2000 // notifications in one round
)

// burstOf sends a total of burst notifications, each to another callback, with concurrent
// senders.
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
		b.Run(name, func(b *testing.B) { senderVersusNetHTTP(b, closing) })
	}
}

func senderVersusNetHTTP(b *testing.B, closing bool) {
	receiver, err := bench.OpenReceiver(b.Context(), bench.Plan{Hosts: hosts, Close: closing})
	if err != nil {
		b.Fatal(err)
	}
	defer receiver.Close()
	sender := fetch.NewSender(fetch.SenderOptions{
		Guard: &fetch.Guard{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, Callback: true}, IdleTotal: 1024,
	})
	defer sender.Close()
	web := &http.Client{Transport: &http.Transport{
		MaxIdleConns: 1024, MaxIdleConnsPerHost: 4, DisableCompression: true, WriteBufferSize: 1 << 10, ReadBufferSize: 1 << 10,
	}}
	defer web.CloseIdleConnections()
	body := []byte("url=http%3A%2F%2F127.0.0.1%2Ffeed.xml")
	ours := func(url string) error {
		r := sender.Send(b.Context(), &fetch.Message{URL: url, ContentType: "application/x-www-form-urlencoded", Body: body})
		return r.Err
	}
	theirs := func(url string) error {
		resp, err := web.Post(url, "application/x-www-form-urlencoded", bytes.NewReader(body))
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

// BenchmarkStoreSubscriptions compares 256 concurrent clients that register durably with one
// client that registers sequentially. Concurrent registrations share commits.
func BenchmarkStoreSubscriptions(b *testing.B) {
	st, err := store.Open(b.Context(), store.Options{Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	defer st.Close()
	var n atomic.Int64
	one := func(ctx context.Context) error {
		const feed = "http://127.0.0.1/feed"
		now := time.Now()
		callback := fmt.Sprintf("http://127.0.0.1/c/%d", n.Add(1))
		return st.Subscribe(ctx, []string{feed}, []hub.Subscription{{
			TopicID: hub.TopicID(feed), ID: hub.SubscriptionID(hub.HTTPPost, callback), Protocol: hub.HTTPPost, Callback: callback,
			CreatedAt: now, RenewedAt: now, ExpiresAt: now.Add(25 * time.Hour),
		}}, nil)
	}
	const together, alone = 256, 16
	many := func() {
		var group sync.WaitGroup
		for range together {
			group.Go(func() {
				for range alone {
					if err := one(b.Context()); err != nil {
						b.Error(err)
						return
					}
				}
			})
		}
		group.Wait()
	}
	few := func() {
		for range alone {
			if err := one(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
	}
	var a, c time.Duration
	for b.Loop() {
		begin := time.Now()
		many()
		middle := time.Now()
		few()
		a, c = a+middle.Sub(begin), c+time.Since(middle)
	}
	perSecond := func(n int, d time.Duration) float64 { return float64(n) * float64(b.N) / d.Seconds() }
	b.ReportMetric(perSecond(together*alone, a), "upserts/s")
	b.ReportMetric(perSecond(alone, c), "alone/s")
	b.ReportMetric(perSecond(together*alone, a)/perSecond(alone, c), "x/alone")
}
