package people

import (
	"context"
	"fmt"
	"net/netip"
	"testing"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/river"
	"cloudburst/internal/river/forward"
)

type fakeRiver struct {
	list []forward.Forwarding
	put  []forward.Forwarding
	ways []string
}

func (f *fakeRiver) Add(_ context.Context, q river.Request) (river.Added, error) {
	a := river.Added{}
	a.SourceID = river.SourceID(q.URL)
	return a, nil
}

func (f *fakeRiver) Ways() []string { return f.ways }

func (f *fakeRiver) Forwardings(context.Context, string) ([]forward.Forwarding, error) {
	return f.list, nil
}

func (f *fakeRiver) PutForwarding(_ context.Context, n forward.Forwarding) (forward.Forwarding, error) {
	f.put = append(f.put, n)
	return n, nil
}

type mailStore struct{ fakeStore }

func (m *mailStore) PreferencesOf(context.Context, ...string) (map[string]string, error) {
	return map[string]string{"alice": `{"mailSubscribers":true}`}, nil
}

func TestMailSubscriptionsOfVisitorsAreUniqueAndLimited(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	r := &fakeRiver{ways: []string{forward.ViaEmail}}
	s := &Subscriptions{River: r, Store: &mailStore{}, ReaderOf: func(string) string { return "" }, Feed: func(u string) string { return "https://a.example/" + u + "/rss.xml" }, Now: func() time.Time { return now }}
	feed := river.SourceID("https://a.example/alice/rss.xml")
	next := 0
	subscribe := func(user, address string) error {
		next++ // each request comes from another network
		return s.Subscribe(t.Context(), user, address, forward.DigestWeekly, netip.AddrFrom4([4]byte{203, byte(next), 113, 1}))
	}
	if err := subscribe("alice", " vera@home.example "); err != nil || len(r.put) != 1 || r.put[0].Target != "vera@home.example" || r.put[0].SourceID != feed || r.put[0].Via != forward.ViaEmail || r.put[0].Reader != "" || r.put[0].Digest != forward.DigestWeekly {
		t.Fatalf("%+v %v", r.put, err)
	}
	if err := subscribe("bob", "vera@home.example"); fault.CodeOf(err) != fault.Refused {
		t.Error(err)
	}
	// No mail is sent to an address that has not confirmed yet, has confirmed or has declined.
	for _, state := range []string{forward.ForwardingWaiting, forward.ForwardingConfirmed, forward.ForwardingEnded} {
		r.list, r.put = []forward.Forwarding{{ID: 7, SourceID: feed, Via: forward.ViaEmail, Target: "Vera@home.example", State: state, CreatedAt: now}}, nil
		if err := subscribe("alice", "vera@home.example"); err != nil || len(r.put) != 0 {
			t.Errorf("%s: %+v %v", state, r.put, err)
		}
	}
	// A row whose confirmation link has expired is used again.
	r.list[0].State, r.list[0].Asked, r.list[0].AskedAt = forward.ForwardingWaiting, 1, now.Add(-30*24*time.Hour)
	if err := subscribe("alice", "nina@home.example"); err != nil || len(r.put) != 1 || r.put[0].ID != 7 {
		t.Errorf("%+v %v", r.put, err)
	}
	r.list, r.put = nil, nil
	for i := range maxUnconfirmed {
		r.list = append(r.list, forward.Forwarding{ID: int64(i + 1), SourceID: feed, Via: forward.ViaEmail, Target: fmt.Sprint("a", i, "@home.example"), State: forward.ForwardingWaiting, CreatedAt: now})
	}
	if err := subscribe("alice", "vera@home.example"); fault.CodeOf(err) != fault.TooMany || len(r.put) != 0 {
		t.Error(err)
	}
	r.list = nil
	var err error
	for range mailBurst + 1 {
		err = s.Subscribe(t.Context(), "alice", "vera@home.example", "", netip.MustParseAddr("198.51.100.1"))
	}
	if fault.CodeOf(err) != fault.TooMany || fault.RetryAfter(err) == 0 {
		t.Error(err)
	}
	r.ways = nil
	if err := subscribe("alice", "vera@home.example"); fault.CodeOf(err) != fault.Refused {
		t.Error(err)
	}
}

func TestSubscribersAreCountedByDigest(t *testing.T) {
	t.Parallel()
	r := &fakeRiver{ways: []string{forward.ViaEmail}}
	s := &Subscriptions{River: r, ReaderOf: func(string) string { return "" }, Feed: func(u string) string { return "https://a.example/" + u + "/rss.xml" }}
	feed := river.SourceID("https://a.example/alice/rss.xml")
	for _, n := range []forward.Forwarding{
		{State: forward.ForwardingConfirmed}, {State: forward.ForwardingConfirmed, Digest: forward.DigestDaily},
		{State: forward.ForwardingConfirmed, Digest: forward.DigestWeekly}, {State: forward.ForwardingConfirmed, Digest: forward.DigestWeekly},
		{State: forward.ForwardingWaiting, Digest: forward.DigestDaily}, {State: forward.ForwardingEnded}, {State: forward.ForwardingConfirmed, Paused: true},
	} {
		n.Via, n.SourceID = forward.ViaEmail, feed
		r.list = append(r.list, n)
	}
	r.list = append(r.list, forward.Forwarding{Via: forward.ViaWebhook, SourceID: feed, State: forward.ForwardingConfirmed}, forward.Forwarding{Via: forward.ViaEmail, SourceID: 9, State: forward.ForwardingConfirmed})
	if got, err := s.Count(t.Context(), "alice"); err != nil || got != (Subscribers{Each: 1, Daily: 1, Weekly: 2, Waiting: 1}) {
		t.Errorf("%+v %v", got, err)
	}
}
