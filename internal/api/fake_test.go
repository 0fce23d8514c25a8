package api

import (
	"cmp"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"cloudburst/client"
	"cloudburst/internal/event"
	"cloudburst/internal/fault"
	"cloudburst/internal/hub"
)

// start returns the time that the tests use as the current time.
func start() time.Time { return time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC) }

// fakeHub is a hub and a store in memory. It implements only what the API uses.
type fakeHub struct {
	mu     sync.Mutex
	topics map[int64]hub.Topic
	subs   map[hub.Key]hub.SubscriptionInfo
	events []event.Event
	pings  []hub.Ping
	abort  error // if set, reads of the store return this error
	failAt int   // Import fails if the store contains at least this number of subscriptions; 0: Import never fails
	bus    *event.Bus
}

func newFakeHub() *fakeHub {
	return &fakeHub{topics: map[int64]hub.Topic{}, subs: map[hub.Key]hub.SubscriptionInfo{}, bus: event.NewBus(7)}
}

func (w *fakeHub) add(topic, protocol, callback, procedure string, expires time.Time) {
	id := hub.TopicID(topic)
	w.topics[id] = hub.Topic{ID: id, URL: topic, Version: 3, Hash: []byte{1, 2}, Size: 10, ChangedAt: start()}
	s := hub.Subscription{TopicID: id, ID: hub.SubscriptionID(protocol, callback), Protocol: protocol, Callback: callback,
		Procedure: procedure, CreatedAt: start(), RenewedAt: start(), ExpiresAt: expires}
	w.subs[s.Key()] = hub.SubscriptionInfo{Subscription: s, Topic: topic}
}

func (w *fakeHub) happen(e event.Event) event.Event {
	w.mu.Lock()
	w.bus.Stamp(start().Add(time.Duration(len(w.events))*time.Second), &e)
	w.events = append(w.events, e)
	w.mu.Unlock()
	w.bus.Publish(e)
	return e
}

func (w *fakeHub) Topic(_ context.Context, id int64) (hub.Topic, error) {
	if t, ok := w.topics[id]; ok || w.abort != nil {
		return t, w.abort
	}
	return hub.Topic{}, fault.New(fault.NotFound, "There is no topic %d.", id)
}

func (w *fakeHub) Subscribers(_ context.Context, id int64, _ time.Time) (map[string]int64, error) {
	counts := map[string]int64{}
	for k, s := range w.subs {
		if k.TopicID == id {
			counts[s.Protocol]++
		}
	}
	return counts, w.abort
}

func (w *fakeHub) Topics(_ context.Context, q hub.TopicQuery) ([]hub.TopicInfo, error) {
	var list []hub.TopicInfo
	for _, t := range w.topics {
		if strings.Contains(t.URL, q.Match) && t.URL > q.After {
			n := int64(0)
			for k := range w.subs {
				if k.TopicID == t.ID {
					n++
				}
			}
			list = append(list, hub.TopicInfo{Topic: t, Subscribers: n})
		}
	}
	slices.SortFunc(list, func(a, b hub.TopicInfo) int { return strings.Compare(a.URL, b.URL) })
	return list[:min(len(list), q.Limit)], w.abort
}

func (w *fakeHub) Subscription(_ context.Context, key hub.Key) (hub.Subscription, error) {
	return w.subs[key].Subscription, w.abort
}

func (w *fakeHub) Subscriptions(_ context.Context, q hub.SubscriptionQuery) ([]hub.SubscriptionInfo, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var list []hub.SubscriptionInfo
	for k, s := range w.subs {
		after := k.TopicID > q.After.TopicID || k.TopicID == q.After.TopicID && k.ID > q.After.ID
		if after && (q.TopicID == 0 || k.TopicID == q.TopicID) && (q.Protocol == "" || s.Protocol == q.Protocol) &&
			(strings.Contains(s.Callback, q.Match) || strings.Contains(s.Topic, q.Match)) {
			list = append(list, s)
		}
	}
	slices.SortFunc(list, func(a, b hub.SubscriptionInfo) int {
		return cmp.Or(cmp.Compare(a.TopicID, b.TopicID), cmp.Compare(a.ID, b.ID))
	})
	return list[:min(len(list), q.Limit)], w.abort
}

func (w *fakeHub) Events(_ context.Context, q hub.EventQuery) ([]event.Event, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var list []event.Event
	for _, e := range w.events {
		if matches(q, e) && q.After.Less(e.Cursor()) && (q.Before == event.Cursor{} || e.Cursor().Less(q.Before)) {
			list = append(list, e)
		}
	}
	if !q.Forward {
		slices.Reverse(list)
	}
	return list[:min(len(list), q.Limit)], w.abort
}

func (w *fakeHub) Minutes(context.Context, time.Time) ([]hub.Minute, error) {
	return []hub.Minute{{At: start(), Node: 1 << 60, Pings: 2, P99: 1.5}}, w.abort
}

func (w *fakeHub) Backup(_ context.Context, file string) error {
	return os.WriteFile(file, []byte("copy"), 0o600)
}

func (w *fakeHub) storePing() error { return w.abort }

// store makes a fakeHub a Store. It is a separate type, because the interfaces of the hub and of the
// store have different methods with the name Ping.
type store struct{ *fakeHub }

func (s store) Ping(context.Context) error { return s.storePing() }

func (w *fakeHub) Ping(_ context.Context, p hub.Ping) (hub.PingResult, error) {
	w.pings = append(w.pings, p)
	if strings.Contains(p.URL, "busy") {
		return hub.PingResult{}, &fault.Error{Code: fault.TooMany, Msg: "Too many pings.", RetryAfter: 1500 * time.Millisecond}
	}
	return hub.PingResult{Known: true, Checked: true, Changed: true, Version: 4}, nil
}

func (w *fakeHub) Remove(_ context.Context, keys []hub.Key, to string) ([]hub.Subscription, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var gone []hub.Subscription
	for _, k := range keys {
		if s, ok := w.subs[k]; ok {
			gone = append(gone, s.Subscription)
			delete(w.subs, k)
		}
	}
	return gone, nil
}

func (w *fakeHub) Import(_ context.Context, subs []hub.SubscriptionInfo) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.failAt > 0 && len(w.subs) >= w.failAt {
		return 0, fault.New(fault.Unavailable, "The disk is full.")
	}
	added := 0
	for _, s := range subs {
		if _, ok := w.subs[s.Key()]; !ok {
			added++
		}
		w.subs[s.Key()] = s
		w.topics[s.TopicID] = hub.Topic{ID: s.TopicID, URL: s.Topic}
	}
	return added, nil
}

func (w *fakeHub) SweepNow(context.Context) (int, int, error) { return 1, 2, nil }

func (w *fakeHub) Counts(context.Context) (hub.Counts, error) {
	return hub.Counts{Topics: int64(len(w.topics)), Subscriptions: int64(len(w.subs))}, w.abort
}

func (w *fakeHub) Live() hub.Live {
	return hub.Live{Node: 1 << 60, Started: start(), InFlight: 5, Totals: hub.Minute{Notified: 9, P50: 2, P99: 8}}
}

// serve starts the API on a loopback address.
func serve(t *testing.T, w *fakeHub) (*client.Client, *httptest.Server) {
	t.Helper()
	return serveWith(t, Options{Hub: w, Store: store{w}, Bus: w.bus, Version: "9.9", Hosts: []string{"admin.example"},
		Warnings: func() []string { return []string{"Mind the gap."} }})
}

func serveWith(t *testing.T, o Options) (*client.Client, *httptest.Server) {
	t.Helper()
	o.Now, o.Temp, o.Log = start, t.TempDir(), slog.New(slog.NewTextHandler(t.Output(), nil))
	api := New(o)
	api.batchSize = 500
	srv := httptest.NewServer(api.Handler())
	t.Cleanup(srv.Close)
	return &client.Client{Base: srv.URL, HTTP: srv.Client()}, srv
}

func do(t *testing.T, srv *httptest.Server, method, path, contentType, body string, edit ...func(*http.Request)) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, srv.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	for _, e := range edit {
		e(req)
	}
	res, err := srv.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, string(b)
}
