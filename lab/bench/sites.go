package bench

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"cloudburst/protocol/weblogs"
	"cloudburst/protocol/xmlrpc"
)

// sites pings websites without subscribers, over persistent connections. Each ping names a
// different website.
type sites struct {
	addr  string // address of the server
	host  string // address that serves the websites; each website is an empty page
	wires []*wire
	next  atomic.Int64
}

func newSites(addr, host string, conns int) *sites {
	s := &sites{addr: addr, host: host}
	for range conns {
		s.wires = append(s.wires, newWire(addr))
	}
	return s
}

// moved sets a new address of the server, after a restart.
func (s *sites) moved(addr string) {
	s.close()
	s.addr = addr
	for _, w := range s.wires {
		w.addr = addr
	}
}

func (s *sites) close() {
	for _, w := range s.wires {
		w.close()
	}
}

// one sends the next ping over w, and returns when the server acknowledges the ping.
func (s *sites) one(ctx context.Context, w *wire, buf []byte) ([]byte, error) {
	n := s.next.Add(1)
	p := weblogs.Ping{Name: fmt.Sprintf("Notes of somebody, number %d", n), URL: fmt.Sprintf("http://%s/n/%d", s.host, n)}
	body, err := xmlrpc.Call{Method: weblogs.MethodPing, Params: p.Params()}.Marshal()
	if err != nil {
		return buf, err
	}
	buf = post(buf[:0], s.addr, "/RPC2", body)
	status, _, err := w.do(ctx, buf, 8<<10)
	if err == nil && (status != 200 || !bytes.Contains(w.body.Bytes(), []byte("<boolean>0</boolean>"))) {
		err = fmt.Errorf("the ping was answered with %d: %s", status, w.body.Bytes())
	}
	return buf, err
}

// pace contains the results of pings at a fixed rate. Times are in seconds from the scheduled
// time of a ping, so they include the wait for a free connection.
type pace struct {
	sent           int
	p50, p99, most float64
	took           float64 // seconds from the start to the last response
}

// at sends n pings at a rate in pings per second, regardless of the responses. With rate 0, each
// connection sends its next ping after the response to the previous ping.
func (s *sites) at(ctx context.Context, rate float64, n int) (p pace, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	waited := make([]float64, n)
	var next atomic.Int64
	var group sync.WaitGroup
	begin := time.Now()
	for _, w := range s.wires {
		group.Go(func() {
			var buf []byte
			for {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				due := time.Now()
				if rate > 0 {
					due = begin.Add(time.Duration(float64(i) / rate * float64(time.Second)))
				}
				if !until(ctx, due) {
					return
				}
				var err error
				if buf, err = s.one(ctx, w, buf); err != nil {
					cancel(err)
					return
				}
				waited[i] = time.Since(due).Seconds()
			}
		})
	}
	group.Wait()
	p = pace{sent: n, took: time.Since(begin).Seconds()}
	p.p50, p.p99, p.most = quantile(waited, 0.5), quantile(waited, 0.99), slices.Max(waited)
	return p, context.Cause(ctx)
}

// until waits until the given time. It returns false if ctx ends first.
func until(ctx context.Context, at time.Time) bool {
	d := time.Until(at)
	if d <= 0 {
		return ctx.Err() == nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
