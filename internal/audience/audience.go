package audience

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"log/slog"
	"net/netip"
	"strings"
	"sync"
	"time"
)

// Window is how long a reader that does not come again is still counted.
const Window = 7 * 24 * time.Hour

// Public and private feeds of a user, as author names them.
const (
	publicFeed  = "rss"
	privateFeed = "private"
)

// Audience counts. Set Store and Key before the first use.
type Audience struct {
	Store Store
	Key   []byte // what addresses are hashed with; the same on all nodes
	Now   func() time.Time
	Log   *slog.Logger // nil is silent

	// Push are the live subscriptions to a user's public feed, in all its forms; nil: none.
	Push func(ctx context.Context, user string) ([]Subscriber, error)
	// Keep is how long the counts of days are kept [90 days].
	Keep time.Duration

	mu        sync.Mutex
	waiting   map[readerKey]*Seen
	agents    map[string]Agent
	from      map[string]int // of waiting, by the address that it came from first
	flush     sync.Mutex
	uncounted int64
}

type readerKey struct{ feed, key string }

// Subscriber is who is told of changes.
type Subscriber struct {
	Protocol string
	Host     string // of the callback: a name or an address
}

// Hit is one request that was answered.
type Hit struct {
	Agent    string // User-Agent
	Addr     netip.Addr
	Form     string // the format; "" as saved
	Selector string // of the secret that opened a private feed
	Status   int    // of the answer
}

const (
	maxWaiting = 20_000 // readers that are not written yet
	maxFrom    = 100    // of them, from one address: whoever invents names does not fill the store
	maxAgents  = 4_096  // User-Agents whose meaning is remembered
	flushEvery = 10 * time.Second
	maxSeen    = 100_000 // readers of a feed that are counted
	keepDays   = 90 * 24 * time.Hour
)

func (a *Audience) now() time.Time {
	if a.Now != nil {
		return a.Now()
	}
	return time.Now()
}

// Hit counts a request for a feed ("alice/rss"). It never waits for the store; what
// cannot be remembered any more is left out.
func (a *Audience) Hit(feed string, h Hit) {
	if h.Status >= 400 {
		return
	}
	now := a.now().UTC()
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.waiting == nil {
		a.waiting, a.agents, a.from = map[readerKey]*Seen{}, map[string]Agent{}, map[string]int{}
	}
	ua := h.Agent[:min(len(h.Agent), maxAgentBytes)]
	agent, known := a.agents[ua]
	if !known {
		if len(a.agents) >= maxAgents {
			clear(a.agents)
		}
		ua = strings.Clone(ua) // what is a piece of a request keeps all of it in memory
		agent = ParseAgent(ua)
		a.agents[ua] = agent
	}
	s := a.identify(feed, h, agent)
	at := readerKey{feed, s.Key}
	old := a.waiting[at]
	if old == nil {
		from := a.address(h.Addr)
		if len(a.waiting) >= maxWaiting || a.from[from] >= maxFrom && h.Selector == "" {
			a.uncounted++
			return
		}
		a.from[from]++
		s.FirstAt = now
		old = &s
		a.waiting[at] = old
	}
	old.LastAt, old.Subscribers = now, s.Subscribers
	old.Hits++
	if h.Status == 304 {
		old.NotModified++
	}
}

// seen says who the reader is.
func (a *Audience) identify(feed string, h Hit, agent Agent) Seen {
	s := Seen{Feed: feed, Kind: agent.Kind, Name: agent.Name, Form: h.Form, Subscribers: agent.Subscribers}
	switch {
	case h.Selector != "":
		s.Kind, s.Subscribers = Secret, 0
		s.Key = "secret " + h.Selector
	case agent.Kind == Service:
		s.Key = "service " + strings.ToLower(agent.Name) + " " + agent.FeedID + " " + h.Form
	default:
		s.Address = a.address(h.Addr)
		s.Key = string(agent.Kind) + " " + s.Address + " " + strings.ToLower(agent.Name)
	}
	return s
}

// address is a keyed hash of where a reader is: of IPv6 the network, which is what
// one subscriber of a provider has.
func (a *Audience) address(addr netip.Addr) string {
	addr = addr.Unmap().WithZone("")
	if addr.Is6() {
		if p, err := addr.Prefix(64); err == nil {
			addr = p.Addr()
		}
	}
	mac := hmac.New(sha256.New, a.Key)
	mac.Write([]byte("audience "))
	mac.Write(addr.AsSlice())
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil)[:12])
}

// Flush writes what was counted.
func (a *Audience) Flush(ctx context.Context) error {
	a.flush.Lock()
	defer a.flush.Unlock()
	a.mu.Lock()
	list := make([]Seen, 0, len(a.waiting))
	for _, s := range a.waiting {
		list = append(list, *s)
	}
	clear(a.waiting)
	clear(a.from)
	lost := a.uncounted
	a.uncounted = 0
	a.mu.Unlock()
	if lost > 0 && a.Log != nil {
		a.Log.Warn("readers were not counted: too many at once", "requests", lost)
	}
	if len(list) == 0 {
		return nil
	}
	err := a.Store.AddSeen(ctx, list)
	if err != nil {
		a.putBack(list)
	}
	return err
}

// putBack keeps what could not be written for the next time.
func (a *Audience) putBack(list []Seen) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, s := range list {
		at := readerKey{s.Feed, s.Key}
		newer := a.waiting[at]
		switch {
		case newer != nil:
			newer.Hits, newer.NotModified, newer.FirstAt = newer.Hits+s.Hits, newer.NotModified+s.NotModified, s.FirstAt
		case len(a.waiting) < maxWaiting:
			a.waiting[at] = &s
		default:
			a.uncounted += s.Hits
		}
	}
}

// Run writes what is counted every few seconds until ctx ends, and once more then.
func (a *Audience) Run(ctx context.Context) {
	tick := time.NewTicker(flushEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
			defer cancel()
			a.logError("count readers", a.Flush(last))
			return
		case <-tick.C:
			a.logError("count readers", a.Flush(ctx))
		}
	}
}

func (a *Audience) logError(what string, err error) {
	if err != nil && a.Log != nil {
		a.Log.Warn(what, "err", err)
	}
}
