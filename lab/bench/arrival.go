package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"
)

// Arrivals summarizes the notifications of one round to the callbacks From ≤ i < To. Times are
// in seconds after T0. Again, Unknown and Wrong count all callbacks of the round.
type Arrivals struct {
	Distinct int     `json:"distinct"`
	Missing  int     `json:"missing"`
	Again    int64   `json:"again"`   // notifications after the first one to the same callback
	Unknown  int64   `json:"unknown"` // notifications to callbacks that do not exist
	Wrong    int64   `json:"wrong"`   // notifications whose content differs from the feed
	First    float64 `json:"first"`
	P50      float64 `json:"p50"`
	P99      float64 `json:"p99"`
	Last     float64 `json:"last"`
	Peak     int64   `json:"peak"` // maximum number of concurrent slow requests
}

// span selects callbacks or feeds From ≤ i < To. T0 is the start in Unix nanoseconds.
type span struct {
	From, To int
	T0       int64
}

// Count returns the number of callbacks that were notified in this round.
func (s *Receiver) Count() int { return int(s.round.Load().distinct.Load()) }

// Arrivals summarizes the notifications of this round to the callbacks from ≤ i < to.
func (s *Receiver) Arrivals(from, to int, t0 time.Time) Arrivals {
	r := s.round.Load()
	a := Arrivals{Again: r.again.Load(), Unknown: r.unknown.Load(), Wrong: r.wrong.Load(), Peak: r.peak.Load()}
	to = min(to, len(r.at))
	after := make([]float64, 0, max(0, to-from))
	for i := max(0, from); i < to; i++ {
		if at := r.at[i].Load(); at != 0 {
			after = append(after, float64(at-t0.UnixNano())/1e9)
		}
	}
	a.Distinct, a.Missing = len(after), to-max(0, from)-len(after)
	if len(after) == 0 {
		return a
	}
	slices.Sort(after)
	rank := func(q float64) float64 { return after[max(0, int(math.Ceil(q*float64(len(after))))-1)] }
	a.First, a.P50, a.P99, a.Last = after[0], rank(0.50), rank(0.99), after[len(after)-1]
	return a
}

// FeedCount counts the requests for a range of feeds.
type FeedCount struct {
	Full   int64 `json:"full"` // responses with a body
	Same   int64 `json:"same"` // responses with status 304
	Served int64 `json:"served"`
}

// Feeds counts the requests for the feeds from ≤ i < to since the start. Served is the time of
// the last response with a body, in Unix nanoseconds.
func (s *Receiver) Feeds(from, to int) FeedCount {
	var c FeedCount
	for i := max(0, from); i < min(to, len(s.feeds)); i++ {
		f := &s.feeds[i]
		c.Full += f.full.Load()
		c.Same += f.same.Load()
		c.Served = max(c.Served, f.served.Load())
	}
	return c
}

// ServeReceiver runs the receiver process. The first line of in is its [Plan] as JSON. The
// process then answers calls until in ends.
func ServeReceiver(ctx context.Context, in io.Reader, out io.Writer) error {
	var s *Receiver
	defer func() {
		if s != nil {
			s.Close()
		}
	}()
	return serveCalls(ctx, in, out, func(ctx context.Context, c call) (any, error) {
		if c.Do == "open" {
			p, err := unpack[Plan](c)
			if err != nil || s != nil {
				return nil, fmt.Errorf("open: %w", err)
			}
			if s, err = OpenReceiver(ctx, p); err != nil {
				return nil, err
			}
			return s.Port, nil
		}
		if s == nil {
			return nil, fmt.Errorf("%s before open", c.Do)
		}
		return s.take(c)
	})
}

func (s *Receiver) take(c call) (any, error) {
	switch c.Do {
	case "reset":
		n, err := unpack[int](c)
		s.Reset(n)
		return nil, err
	case "change":
		list, err := unpack[[]span](c)
		for _, w := range list {
			s.Change(w.From, w.To)
		}
		return nil, err
	case "count":
		return s.Count(), nil
	case "asked":
		return s.round.Load().asked.Load(), nil
	case "traffic":
		return s.traffic.now(), nil
	case "authority":
		if s.secure == nil {
			return nil, errors.New("a receiver without TLS has no certificate authority")
		}
		return string(s.secure.authority), nil
	case "arrivals":
		w, err := unpack[span](c)
		return s.Arrivals(w.From, w.To, time.Unix(0, w.T0)), err
	case "feeds":
		w, err := unpack[span](c)
		return s.Feeds(w.From, w.To), err
	}
	return nil, fmt.Errorf("a receiver has no call %q", c.Do)
}

// receiverProcess is a receiver that runs in its own process.
type receiverProcess struct {
	*process
	caller
	plan Plan
	port uint16
}

func startReceiver(exe, dir string, p Plan) (*receiverProcess, error) {
	proc, err := start(dir, "receiver", 0, exe, "bench", "receiver")
	if err != nil {
		return nil, err
	}
	s := &receiverProcess{process: proc, caller: caller{proc.stdin, proc.stdout}, plan: p}
	if err := s.call("open", p, &s.port); err != nil {
		_ = proc.stop(time.Second)
		return nil, fmt.Errorf("%w\n%s", err, proc.stderrTail())
	}
	return s, nil
}

func (s *receiverProcess) reset(n int) error { return s.call("reset", n, nil) }

func (s *receiverProcess) arrivals(from, to int, t0 time.Time) (a Arrivals, err error) {
	err = s.call("arrivals", span{from, to, t0.UnixNano()}, &a)
	return a, err
}

func (s *receiverProcess) feeds(from, to int) (c FeedCount, err error) {
	err = s.call("feeds", span{From: from, To: to}, &c)
	return c, err
}

// callback returns the URL of callback i, on a slow host if slow is true. Consecutive callbacks
// are on different hosts.
func (s *receiverProcess) callback(i int, slow bool) string {
	if slow {
		return CallbackURL(true, i%s.plan.SlowHosts, s.port, i)
	}
	return s.spoken(CallbackURL(false, i%s.plan.Hosts, s.port, i))
}

func (s *receiverProcess) feedURL(i int) string {
	return s.spoken(fmt.Sprintf("http://%s:%d/f/%d", Host(false, i%s.plan.Hosts), s.port, i))
}

// spoken converts a URL to the scheme of the receiver: https if the plan sets TLS.
func (s *receiverProcess) spoken(url string) string {
	if s.plan.TLS {
		return "https" + strings.TrimPrefix(url, "http")
	}
	return url
}

func (s *receiverProcess) flow() (f Flow, err error) {
	err = s.call("traffic", nil, &f)
	return f, err
}

// wait returns when n callbacks are notified. It fails if no notification arrives within timeout.
// It calls notify with the number of notified callbacks.
func (s *receiverProcess) wait(ctx context.Context, n int, timeout time.Duration, notify func(done int)) error {
	return s.waitUntil(ctx, n, timeout, func() (have int, err error) {
		if err = s.call("count", nil, &have); err == nil {
			notify(have)
		}
		return have, err
	})
}

// waitUntil returns when count returns at least n. It fails if the count stays the same for timeout.
func (s *receiverProcess) waitUntil(ctx context.Context, n int, timeout time.Duration, count func() (int, error)) error {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	last, since := -1, time.Now()
	for {
		have, err := count()
		if err != nil || have >= n {
			return err
		}
		if have != last {
			last, since = have, time.Now()
		}
		if time.Since(since) > timeout {
			return fmt.Errorf("only %d of %d notifications came; none for %s", have, n, timeout)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}
