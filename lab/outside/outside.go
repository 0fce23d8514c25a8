// Package outside is what stands around the program in the harnesses: servers on loopback
// addresses, feeds whose version rises, requests of clients with what came back, and what the
// program itself says that it has. Each harness has its own history of that, and its own
// checker. Start with [Serve], [Send] and [Versions].
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

// Random is a source of random numbers for several goroutines. Use [NewRandom].
type Random struct {
	mu  sync.Mutex
	rng *rand.Rand
}

// NewRandom makes the source of a seed. Streams of one seed are different.
func NewRandom(seed, stream uint64) *Random {
	return &Random{rng: rand.New(rand.NewPCG(seed, stream))}
}

// IntN is a number in [0, n).
func (r *Random) IntN(n int) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.rng.IntN(n)
}

// Shuffle puts n elements in a random order.
func (r *Random) Shuffle(n int, swap func(i, j int)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.rng.Shuffle(n, swap)
}

// Client makes a client without persistent connections, which would reveal the crash of a
// server.
func Client(timeout time.Duration) *http.Client {
	return &http.Client{Timeout: timeout, Transport: &http.Transport{DisableKeepAlives: true}}
}

// connected is under which a request knows when its connection was made.
type connected struct{}

// Connected is when the connection of a request to [Serve] was made.
func Connected(r *http.Request) time.Time {
	at, _ := r.Context().Value(connected{}).(time.Time)
	return at
}

// Serve answers at a free port of a host, and returns its URL, until the server is closed.
func Serve(host string, h http.Handler) (*http.Server, string, error) {
	l, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		return nil, "", err
	}
	srv := &http.Server{Handler: h, ReadHeaderTimeout: time.Minute,
		ConnContext: func(ctx context.Context, _ net.Conn) context.Context {
			return context.WithValue(ctx, connected{}, time.Now())
		}}
	go func() { _ = srv.Serve(l) }() // ends with Close
	return srv, "http://" + l.Addr().String(), nil
}

// Versions are those of feeds, by name, from 0 on. Use [NewVersions].
type Versions struct {
	mu     sync.Mutex
	newest map[string]int
	raised map[string]time.Time
}

// NewVersions makes the versions of feeds that have none yet.
func NewVersions() *Versions {
	return &Versions{newest: map[string]int{}, raised: map[string]time.Time{}}
}

// Raise publishes the next version of a feed and says which it is, and when.
func (v *Versions) Raise(feed string) (version int, at time.Time) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.newest[feed]++
	v.raised[feed] = time.Now()
	return v.newest[feed], v.raised[feed]
}

// Now is the newest version of a feed, and since when.
func (v *Versions) Now(feed string) (version int, at time.Time) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.newest[feed], v.raised[feed]
}

// Sign is the first of the broken promises that begins with one of the signs; "": none does.
func Sign(broken []string, signs ...string) string {
	for _, b := range broken {
		for _, s := range signs {
			if strings.HasPrefix(b, s) {
				return b
			}
		}
	}
	return ""
}

// soon is how long anything may take that has to happen: it is no limit of speed, for the
// machine may be busy with other tests.
const soon = 2 * time.Minute

// Until waits for something to become true, and fails the test when it does not.
func Until(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(soon); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("after %s it is not so: %s", soon, what)
		}
	}
}

// most is the maximum number of reported violations.
const most = 20

// Fail fails a test for each broken promise.
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
