package bench

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"cloudburst/internal/fetch"
)

// These are the kinds of loops. Their speeds are the baselines for the speed of the server.
const (
	LoopSender  = "sender"   // a loop with the server's sender and nothing else
	LoopNetHTTP = "net/http" // a loop with a tuned net/http client
)

// agent is a User-Agent that makes a loop's requests as long as the server's requests.
const agent = "Cloudburst/0.0.0 (+https://cloudburst.example/about)"

// Job describes one run of a loop. The loop sends one notification to each callback.
type Job struct {
	Kind       string `json:"kind"`
	Hosts      int    `json:"hosts"`
	Port       uint16 `json:"port"`
	From, To   int    // callbacks From ≤ i < To, in random order
	Concurrent int    `json:"concurrent"`
	Idle       int    `json:"idle"` // maximum number of idle connections
	Feed       string `json:"feed"`
	Via        string `json:"via"`    // ViaRSSCloud or ViaWebSub
	Hub        string `json:"hub"`    // URL of the hub in the Link header; only for ViaWebSub
	Signed     bool   `json:"signed"` // notifications are signed; only for ViaWebSub
}

// Ran contains the results of one run.
type Ran struct {
	Sent   int     `json:"sent"`
	Failed int     `json:"failed"`
	Error  string  `json:"error,omitempty"` // text of the first error
	T0     int64   `json:"t0"`              // start of the run in Unix nanoseconds
	Took   float64 `json:"took"`            // seconds from T0 to the last response
}

// loop is the state that a loop process keeps between runs: its connections.
type loop struct {
	sender   *fetch.Sender
	web      *http.Client
	endpoint *endpoint
	baseline *baseline
}

// loopback returns the address prefixes that a guard must allow to connect to the receiver.
func loopback() []netip.Prefix {
	return []netip.Prefix{netip.PrefixFrom(netip.AddrFrom4([4]byte{127}), 8)}
}

func newLoop(concurrent, idle int) *loop {
	dialer := &net.Dialer{KeepAlive: -1}
	return &loop{
		sender: fetch.NewSender(fetch.SenderOptions{
			Guard:     &fetch.Guard{Allow: loopback(), Callback: true},
			UserAgent: agent,
			MaxConns:  concurrent + 64,
			IdleTotal: idle,
		}),
		web: &http.Client{
			Timeout:       15 * time.Second,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
			Transport: &http.Transport{
				DialContext:         dialer.DialContext,
				MaxIdleConns:        idle,
				MaxIdleConnsPerHost: 4,
				IdleConnTimeout:     30 * time.Second,
				DisableCompression:  true,
				WriteBufferSize:     1 << 10,
				ReadBufferSize:      1 << 10,
				Protocols:           onlyHTTP1(),
			},
		},
	}
}

// idleKept returns the number of idle connections that a loop keeps, the same as a server with
// this limit of open files. If noFile is 0, the number does not depend on the limit.
func idleKept(noFile int) int {
	if noFile == 0 {
		return 4096
	}
	return min(max(noFile*3/8, 64), 8192) / 2
}

func onlyHTTP1() *http.Protocols {
	p := new(http.Protocols)
	p.SetHTTP1(true)
	return p
}

// run sends the notifications of a job and returns the results.
func (l *loop) run(ctx context.Context, j Job) (Ran, error) {
	if j.From < 0 || j.To < j.From || j.Hosts < 1 || j.Concurrent < 1 {
		return Ran{}, fmt.Errorf("a job %+v makes no sense", j)
	}
	msg, err := l.message(ctx, j)
	if err != nil {
		return Ran{}, err
	}
	type target struct {
		i   int
		url string
	}
	list := make([]target, 0, j.To-j.From)
	for i := j.From; i < j.To; i++ {
		list = append(list, target{i, CallbackURL(false, i%j.Hosts, j.Port, i)})
	}
	rand.Shuffle(len(list), func(a, b int) { list[a], list[b] = list[b], list[a] })
	send := l.sendOwn
	if j.Kind == LoopNetHTTP {
		send = l.sendWeb
	}
	var next, failed atomic.Int64
	var first error
	var once sync.Once
	var group sync.WaitGroup
	begin := time.Now()
	for range min(j.Concurrent, len(list)) {
		group.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(list) && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				m, err := j.addressed(msg, list[i].url, list[i].i)
				if err == nil {
					err = send(ctx, &m)
				}
				if err != nil {
					failed.Add(1)
					once.Do(func() { first = err })
				}
			}
		})
	}
	group.Wait()
	r := Ran{Sent: len(list), Failed: int(failed.Load()), T0: begin.UnixNano(), Took: time.Since(begin).Seconds()}
	if first != nil {
		r.Error = first.Error()
	}
	return r, ctx.Err()
}

func (l *loop) sendOwn(ctx context.Context, m *fetch.Message) error {
	r := l.sender.Send(ctx, m)
	if r.Err == nil && !r.OK() {
		return fmt.Errorf("status %d", r.Status)
	}
	return r.Err
}

func (l *loop) sendWeb(ctx context.Context, m *fetch.Message) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, m.URL, bytes.NewReader(m.Body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", m.ContentType)
	req.Header.Set("User-Agent", agent)
	for i := 0; i+1 < len(m.Header); i += 2 {
		req.Header.Set(m.Header[i], m.Header[i+1])
	}
	resp, err := l.web.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, io.LimitReader(resp.Body, 4<<10)); err != nil {
		return err
	}
	if resp.StatusCode > 299 {
		return fmt.Errorf("status %d", resp.StatusCode)
	}
	return nil
}

// ServeLoop runs a loop process. It answers calls from in until in ends.
func ServeLoop(ctx context.Context, in io.Reader, out io.Writer) error {
	var l *loop
	defer func() {
		if l != nil && l.endpoint != nil {
			l.endpoint.close()
		}
		if l != nil && l.baseline != nil {
			l.baseline.close()
		}
	}()
	return serveCalls(ctx, in, out, func(ctx context.Context, c call) (any, error) {
		switch c.Do {
		case "run":
			j, err := unpack[Job](c)
			if err != nil {
				return nil, err
			}
			if l == nil {
				l = newLoop(j.Concurrent, j.Idle)
			}
			return l.run(ctx, j)
		case "endpoint":
			p, err := unpack[endpointPlan](c)
			if err != nil {
				return nil, err
			}
			l = newLoop(1024, idleKept(0))
			l.endpoint, err = openEndpoint(ctx, p, l.sender)
			if err != nil {
				return nil, err
			}
			return l.endpoint.addr, nil
		}
		if c.Do == "baseline" {
			url, err := unpack[string](c)
			if l != nil && l.baseline != nil {
				l.baseline.close()
			}
			if err == nil {
				l = newLoop(1, 1)
				l.baseline, err = openBaseline(ctx, url)
			}
			if err != nil {
				return nil, err
			}
			return l.baseline.addr, nil
		}
		return nil, fmt.Errorf("a loop cannot %q", c.Do)
	})
}

// loopProcess is a running loop process.
type loopProcess struct {
	*process
	caller
}

func startLoop(exe, dir, name string, noFile int) (*loopProcess, error) {
	proc, err := start(dir, name, noFile, exe, "bench", "loop")
	if err != nil {
		return nil, err
	}
	return &loopProcess{process: proc, caller: caller{proc.stdin, proc.stdout}}, nil
}
