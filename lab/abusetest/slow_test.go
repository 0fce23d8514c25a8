package abusetest

import (
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// hold is a slow connection of an attacker. It sends first at once and then repeats drip slowly.
type hold struct {
	name   string
	first  string
	drip   string // bytes to repeat; "" sends nothing more
	silent bool   // the attacker does not read the responses
}

func holds() []hold {
	big := strings.Repeat("x", 60<<10)
	call := `<?xml version="1.0"?><methodCall><methodName>rssCloud.ping</methodName><params><param><value>` + strings.Repeat("y", 255<<10)
	return []hold{
		{name: "an idle connection"},
		{name: "a header, byte by byte", first: "GET / HTTP/1.1\r\nHost: a\r\nX: ", drip: "z"},
		{name: "an endless large header", first: "GET / HTTP/1.1\r\nHost: a\r\nX: " + big, drip: "z"},
		{name: "a form, byte by byte", first: "POST /ping HTTP/1.1\r\nHost: a\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 60000\r\n\r\nurl=", drip: "z"},
		{name: "an endless large form", first: "POST /ping HTTP/1.1\r\nHost: a\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 65000\r\n\r\nurl=" + big, drip: "z"},
		{name: "an endless large call", first: fmt.Sprintf("POST /RPC2 HTTP/1.1\r\nHost: a\r\nContent-Type: text/xml\r\nContent-Length: %d\r\n\r\n%s", 256<<10, call), drip: "z"},
		{name: "a large call in pieces", first: fmt.Sprintf("POST /soap HTTP/1.1\r\nHost: a\r\nContent-Type: text/xml\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n", len(call), call), drip: ""},
		{name: "idle after an answer", first: "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n"},
		{name: "unread answers", first: strings.Repeat("GET / HTTP/1.1\r\nHost: a\r\nAccept-Encoding: identity\r\n\r\n", 200), silent: true},
	}
}

// keep opens a connection from one address to another, and holds it until the server closes it or
// ctx ends.
func (h hold) keep(ctx context.Context, from, to string, open *atomic.Int64) {
	d := &net.Dialer{Timeout: time.Second, LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}, Control: reuse}
	conn, err := d.DialContext(ctx, "tcp", to)
	if err != nil {
		select {
		case <-ctx.Done():
		case <-time.After(50 * time.Millisecond):
		}
		return
	}
	defer conn.Close()
	open.Add(1)
	defer open.Add(-1)
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	if h.silent {
		if tcp, ok := conn.(*net.TCPConn); ok {
			_ = tcp.SetReadBuffer(4096) // a small buffer fills sooner; an error only delays the test
		}
	}
	if _, err := io.WriteString(conn, h.first); err != nil {
		return
	}
	ended := make(chan struct{})
	if !h.silent {
		go func() { defer close(ended); _, _ = io.Copy(io.Discard, conn) }()
	}
	tick := time.NewTicker(300 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ended:
			return
		case <-tick.C:
			if _, err := io.WriteString(conn, h.drip); err != nil {
				return
			}
		}
	}
}

func TestSlowAndIdleConnectionsBlockNoOtherClient(t *testing.T) {
	t.Parallel()
	p := start(t, descrs)
	v := visit(t, p)
	v.during(t, "before", func() { time.Sleep(300 * time.Millisecond) })
	to := strings.TrimPrefix(p.Base, "http://")
	var open atomic.Int64
	most := int64(0)
	for _, many := range []struct {
		name      string
		addresses int
		conns     int
	}{{"from 40 addresses", 40, 1800}, {"from one address", 1, 1200}} {
		v.during(t, many.name, func() {
			ctx, cancel := context.WithTimeout(context.Background(), lasts(4*time.Second))
			defer cancel()
			var group sync.WaitGroup
			kinds := holds()
			for i := range many.conns {
				group.Go(func() {
					for ctx.Err() == nil {
						kinds[i%len(kinds)].keep(ctx, source(i%many.addresses), to, &open)
					}
				})
			}
			for ctx.Err() == nil {
				most = max(most, open.Load())
				time.Sleep(10 * time.Millisecond)
			}
			group.Wait()
		})
		t.Logf("up to %d connections at once", most)
		v.served(t)
	}
	v.well(t)
	p.peaks.within(t, descrs, bounds{rss: 400e6, goroutines: 12_000})
}

func TestConnectionFloodBlocksNoOtherClient(t *testing.T) {
	t.Parallel()
	p := start(t, descrs)
	v := visit(t, p)
	var made atomic.Int64
	v.during(t, "a flood of connections", func() {
		each(64, lasts(3*time.Second), func(ctx context.Context, i int) {
			d := &net.Dialer{Timeout: time.Second, LocalAddr: &net.TCPAddr{IP: net.ParseIP(source(i))}, Control: reuse}
			conn, err := d.DialContext(ctx, "tcp", strings.TrimPrefix(p.Base, "http://"))
			if err != nil {
				time.Sleep(time.Millisecond)
				return
			}
			made.Add(1)
			if tcp, ok := conn.(*net.TCPConn); ok {
				_ = tcp.SetLinger(0) // close with a reset, which frees the port immediately
			}
			_ = conn.Close()
		})
	})
	t.Logf("%d connections", made.Load())
	v.served(t)
	v.well(t)
	p.peaks.within(t, descrs, bounds{rss: 400e6, goroutines: 12_000})
}
