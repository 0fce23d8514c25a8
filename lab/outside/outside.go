// Package outside contains what the test harnesses need around the program: servers on loopback
// addresses, versions of feeds, requests of clients with their responses, and readers of the
// program's own export and counts. Each harness records its own history and has its own checker.
// Start with [Serve], [Send] and [Versions].
package outside

import (
	"context"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// Random is a source of random numbers that several goroutines can use. Create one with
// [NewRandom].
type Random struct {
	mu  sync.Mutex
	rng *rand.Rand
}

// NewRandom returns the random numbers for a seed and a stream. Streams of one seed are
// independent.
func NewRandom(seed, stream uint64) *Random {
	return &Random{rng: rand.New(rand.NewPCG(seed, stream))}
}

// IntN returns a number in [0, n).
func (r *Random) IntN(n int) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.rng.IntN(n)
}

// Shuffle puts n elements into random order.
func (r *Random) Shuffle(n int, swap func(i, j int)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.rng.Shuffle(n, swap)
}

// Client returns a client that opens a new connection for each request. A persistent connection
// would break at a crash of the server, and so reveal the crash.
func Client(timeout time.Duration) *http.Client {
	return &http.Client{Timeout: timeout, Transport: &http.Transport{DisableKeepAlives: true}}
}

// connected is the context key for the time when a connection was opened.
type connected struct{}

// Connected returns the time at which the connection of a request to [Serve] was opened.
func Connected(r *http.Request) time.Time {
	at, _ := r.Context().Value(connected{}).(time.Time)
	return at
}

// Serve serves h on a free port of a host until the server is closed, and returns the base URL.
func Serve(host string, h http.Handler) (*http.Server, string, error) {
	l, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		return nil, "", err
	}
	srv := &http.Server{Handler: h, ReadHeaderTimeout: time.Minute,
		ConnContext: func(ctx context.Context, _ net.Conn) context.Context {
			return context.WithValue(ctx, connected{}, time.Now())
		}}
	go func() { _ = srv.Serve(l) }() // returns after Close
	return srv, "http://" + l.Addr().String(), nil
}

// Versions contains the current version of each feed, by name. Versions start at 0. Create it
// with [NewVersions].
type Versions struct {
	mu     sync.Mutex
	newest map[string]int
	raised map[string]time.Time
}

// NewVersions returns Versions without any feed.
func NewVersions() *Versions {
	return &Versions{newest: map[string]int{}, raised: map[string]time.Time{}}
}

// Raise publishes the next version of a feed. It returns this version and the time.
func (v *Versions) Raise(feed string) (version int, at time.Time) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.newest[feed]++
	v.raised[feed] = time.Now()
	return v.newest[feed], v.raised[feed]
}

// Now returns the current version of a feed, and the time when it was published.
func (v *Versions) Now(feed string) (version int, at time.Time) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.newest[feed], v.raised[feed]
}

// FirstViolation returns the first violation in broken that starts with one of signs, or "" if
// there is none.
func FirstViolation(broken []string, signs ...string) string {
	for _, b := range broken {
		for _, s := range signs {
			if strings.HasPrefix(b, s) {
				return b
			}
		}
	}
	return ""
}

// timeout is the timeout for expected events. It is long because other tests can slow the machine
// down.
const timeout = 2 * time.Minute

// Until waits until ok returns true, and fails the test after two minutes. what describes the
// expected condition.
func Until(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(timeout); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within %s: %s", timeout, what)
		}
	}
}

// most is the maximum number of violations that Fail reports.
const most = 20

// Fail reports each violated guarantee as an error of the test, at most 20.
func Fail(t testing.TB, broken []string) {
	t.Helper()
	for i, b := range broken {
		if i == most {
			t.Errorf("… and %d more", len(broken)-i)
			break
		}
		t.Error(b)
	}
}
