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

	"cloudburst/internal/date"
)

// Window is the period for which a client is counted after its last request.
const Window = 7 * 24 * time.Hour

// Names of a user's public and private feed, as in package author.
const (
	publicFeed  = "rss"
	privateFeed = "private"
)

// Audience counts the clients of feeds. Set Store and Key before the first use.
type Audience struct {
	Store Store
	Key   []byte // HMAC key for client addresses; the same on all nodes
	Now   func() time.Time
	Log   *slog.Logger // nil: no log

	// Push returns the active subscriptions to a user's public feed in all formats; nil: there are
	// none.
	Push func(ctx context.Context, user string) ([]Subscriber, error)
	// Here returns the people of this server who follow a user; nil: unknown.
	Here func(ctx context.Context, user string) (Here, error)
	// Mail counts the subscribers of a user by e-mail; nil: unknown.
	Mail func(ctx context.Context, user string) (Mail, error)
	// Keep is the time after which daily counts are deleted [90 days].
	Keep time.Duration

	mu        sync.Mutex
	waiting   map[readerKey]*waitingClient
	agents    map[string]Agent
	from      map[string]int // key: first client address; value: number of entries in waiting
	flush     sync.Mutex
	uncounted int64
}

type readerKey struct{ feed, key string }

// waitingClient is a client that is not yet in the store.
type waitingClient struct {
	Seen
	from string // key of the client in Audience.from
}

// Subscriber is a callback that is notified of changes.
type Subscriber struct {
	Protocol string
	Host     string // host name or IP address of the callback
}

// Hit is one answered request.
type Hit struct {
	Agent    string // User-Agent
	Addr     netip.Addr
	Form     string // requested format; "": the format in which the feed was saved
	Selector string // selector of the secret that opened a private feed
	Status   int    // HTTP status of the response
}

const (
	maxWaiting = 20_000 // maximum number of clients in memory that are not yet in the store
	maxFrom    = 100    // maximum of waiting clients from one address, because a client can invent names
	maxAgents  = 4_096  // maximum number of cached parsed User-Agents
	flushEvery = 10 * time.Second
	maxSeen    = 100_000 // maximum number of counted clients of a feed
	keepDays   = 90 * 24 * time.Hour
)

func (a *Audience) now() time.Time {
	return date.Now(a.Now)
}

// Hit counts a request for a feed. feed has the form "alice/rss". The private feeds of all groups,
// such as "alice/private-family", count as the feed "alice/private". Hit never waits for the store.
// It ignores requests beyond the memory limits.
func (a *Audience) Hit(feed string, h Hit) {
	if h.Status >= 400 {
		return
	}
	if user, _, found := strings.Cut(feed, "/"+privateFeed+"-"); found {
		feed = user + "/" + privateFeed
	}
	now := a.now().UTC()
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.waiting == nil {
		a.waiting, a.agents, a.from = map[readerKey]*waitingClient{}, map[string]Agent{}, map[string]int{}
	}
	ua := h.Agent[:min(len(h.Agent), maxAgentBytes)]
	agent, known := a.agents[ua]
	if !known {
		if len(a.agents) >= maxAgents {
			clear(a.agents)
		}
		ua = strings.Clone(ua) // a substring would keep the whole request in memory
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
		old = &waitingClient{s, from}
		a.waiting[at] = old
	}
	old.LastAt, old.Subscribers = now, s.Subscribers
	old.Hits++
	if h.Status == 304 {
		old.NotModified++
	}
}

// identify returns the identity of the client that sent a request.
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

// address returns a keyed hash of the client's network. The network of an IPv4 client is its
// address. The network of an IPv6 client is its /64 prefix, which usually belongs to one customer.
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

// Flush writes the counted requests to the store.
func (a *Audience) Flush(ctx context.Context) error {
	a.flush.Lock()
	defer a.flush.Unlock()
	a.mu.Lock()
	list, clients := make([]Seen, 0, len(a.waiting)), make([]*waitingClient, 0, len(a.waiting))
	for _, c := range a.waiting {
		list, clients = append(list, c.Seen), append(clients, c)
	}
	clear(a.waiting)
	clear(a.from)
	lost := a.uncounted
	a.uncounted = 0
	a.mu.Unlock()
	if lost > 0 && a.Log != nil {
		a.Log.Warn("requests were not counted: too many clients at once", "requests", lost)
	}
	if len(list) == 0 {
		return nil
	}
	err := a.Store.AddSeen(ctx, list)
	if err != nil {
		a.putBack(clients)
	}
	return err
}

// putBack returns clients to the waiting list after the store could not write them.
func (a *Audience) putBack(clients []*waitingClient) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, c := range clients {
		at := readerKey{c.Feed, c.Key}
		newer := a.waiting[at]
		switch {
		case newer != nil:
			newer.Hits, newer.NotModified, newer.FirstAt = newer.Hits+c.Hits, newer.NotModified+c.NotModified, c.FirstAt
		case len(a.waiting) < maxWaiting:
			a.waiting[at] = c
			a.from[c.from]++
		default:
			a.uncounted += c.Hits
		}
	}
}

// Run calls Flush every few seconds until ctx ends, and once more at the end.
func (a *Audience) Run(ctx context.Context) {
	tick := time.NewTicker(flushEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
			defer cancel()
			a.logError("could not write the counted requests", a.Flush(last))
			return
		case <-tick.C:
			a.logError("could not write the counted requests", a.Flush(ctx))
		}
	}
}

func (a *Audience) logError(what string, err error) {
	if err != nil && a.Log != nil {
		a.Log.Warn(what, "err", err)
	}
}
