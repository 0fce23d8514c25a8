package web

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"cloudburst/internal/event"
	"cloudburst/internal/fault"
	"cloudburst/internal/hub"
	"cloudburst/internal/web/shell"
)

// secret is in every Detail and every callback path of the tests; no page and no stream may show
// it.
const secret = "s3cret-callback-path"

// fake is a hub and its store in memory.
type fake struct {
	mu       sync.Mutex
	topics   []hub.TopicInfo
	subs     []hub.SubscriptionInfo
	events   []event.Event // sorted by time, oldest first
	minutes  []hub.Minute
	changes  []hub.Change // sorted by time, oldest first
	now      time.Time
	err      error // if set, every read of the store returns this error
	requests int64 // number of subscription requests that the hub has not decided yet
	reads    int   // number of reads of the recent changes

	ping func(hub.Ping) (hub.PingResult, error)
	reg  func(hub.Registration) (hub.Registered, error)
}

func (f *fake) Topic(_ context.Context, id int64) (hub.Topic, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, t := range f.topics {
		if t.ID == id {
			return t.Topic, f.err
		}
	}
	return hub.Topic{}, cmp.Or(f.err, error(fault.New(fault.NotFound, "Unknown topic.")))
}

func (f *fake) Subscribers(_ context.Context, id int64, now time.Time) (map[string]int64, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	counts := map[string]int64{}
	for _, s := range f.subs {
		if s.TopicID == id && s.ExpiresAt.After(now) {
			counts[s.Protocol]++
		}
	}
	return counts, f.err
}

func (f *fake) Topics(_ context.Context, q hub.TopicQuery) (out []hub.TopicInfo, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	place := func(t hub.TopicInfo) hub.TopicPlace {
		switch {
		case q.Order == hub.TopicsBySubscribers:
			return hub.TopicPlace{Value: t.Subscribers, ID: t.ID}
		case t.ChangedAt.IsZero():
			return hub.TopicPlace{ID: t.ID}
		}
		return hub.TopicPlace{Value: t.ChangedAt.UnixMilli(), ID: t.ID}
	}
	down := func(a, b hub.TopicPlace) int { return cmp.Or(cmp.Compare(b.Value, a.Value), cmp.Compare(b.ID, a.ID)) }
	all := slices.Clone(f.topics)
	if q.Order != hub.TopicsByURL {
		slices.SortFunc(all, func(a, b hub.TopicInfo) int { return down(place(a), place(b)) })
	}
	for _, t := range all {
		behind := q.Order == hub.TopicsByURL || q.Behind == hub.TopicPlace{} || down(q.Behind, place(t)) < 0
		if behind && t.URL > q.After && holds(q.Match, t.URL, t.About.Title) && len(out) < q.Limit {
			out = append(out, t)
		}
	}
	return out, f.err
}

func (f *fake) Subscriptions(_ context.Context, q hub.SubscriptionQuery) (out []hub.SubscriptionInfo, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range f.subs {
		k := s.Key()
		after := k.TopicID > q.After.TopicID || k.TopicID == q.After.TopicID && k.ID > q.After.ID
		if s.TopicID == q.TopicID && after && len(out) < q.Limit {
			out = append(out, s)
		}
	}
	return out, f.err
}

func (f *fake) Events(_ context.Context, q hub.EventQuery) (out []event.Event, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	all := slices.Clone(f.events)
	if !q.Forward {
		slices.Reverse(all)
	}
	zero := event.Cursor{}
	for _, e := range all {
		c := e.Cursor()
		if wantedEvent(q, e) && (q.Before == zero || c.Less(q.Before)) && (q.After == zero || q.After.Less(c)) && len(out) < q.Limit {
			out = append(out, e)
		}
	}
	return out, f.err
}

func (f *fake) Changes(_ context.Context, q hub.ChangeQuery) (out []hub.Change, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.reads++
	all := slices.SortedFunc(slices.Values(f.changes), func(a, b hub.Change) int {
		if a.Cursor().Less(b.Cursor()) {
			return -1
		}
		return 1
	})
	if !q.Forward {
		slices.Reverse(all)
	}
	zero := event.Cursor{}
	for _, c := range all {
		at := c.Cursor()
		if wantedChange(q, c) && !c.At.Before(q.Since) && (q.Before == zero || at.Less(q.Before)) && (q.After == zero || q.After.Less(at)) && len(out) < q.Limit {
			out = append(out, c)
		}
	}
	return out, f.err
}

func (f *fake) CountChanges(context.Context) (int64, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return int64(len(f.changes)), f.err
}

func (f *fake) Minutes(_ context.Context, since time.Time) (out []hub.Minute, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, m := range f.minutes {
		if !m.At.Before(since) {
			out = append(out, m)
		}
	}
	return out, f.err
}

func (f *fake) Ping(_ context.Context, p hub.Ping) (hub.PingResult, error) {
	if f.ping == nil {
		return hub.PingResult{Known: true, Checked: true, Changed: true, Version: 7}, nil
	}
	return f.ping(p)
}

func (f *fake) Register(_ context.Context, r hub.Registration) (hub.Registered, error) {
	if f.reg == nil {
		return hub.Registered{Accepted: r.Feeds, Expires: f.now.Add(25 * time.Hour)}, nil
	}
	return f.reg(r)
}

func (f *fake) Counts(context.Context) (hub.Counts, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	failing := int64(0)
	for _, s := range f.subs {
		if s.Failures > 0 {
			failing++
		}
	}
	return hub.Counts{Topics: int64(len(f.topics)), Subscriptions: int64(len(f.subs)), Failing: failing, Pending: failing, Requests: f.requests, Events: int64(len(f.events))}, f.err
}

func (f *fake) Live() hub.Live {
	return hub.Live{Node: 17, Started: f.now.Add(-50 * time.Hour), InFlight: 12, Queue: 40, Origins: 318, Slow: 3, Open: 1, Checks: 1, Writes: 4120,
		Totals: hub.Minute{Pings: 48211, Notified: 1204330}}
}

// add stores events and publishes them on the bus, as the hub does.
func (f *fake) add(bus *event.Bus, events ...event.Event) {
	for i := range events {
		events[i].Detail = detail()
		bus.Stamp(f.now, &events[i])
	}
	f.mu.Lock()
	f.events = append(f.events, events...)
	f.mu.Unlock()
	bus.Publish(events...)
}

func detail() json.RawMessage {
	b, _ := json.Marshal(event.Exchange{Callback: "http://reader.example/" + secret, Request: "POST /" + secret, Error: secret})
	return b
}

// newFake returns a hub without topics, subscriptions and events.
func newFake() *fake { return &fake{now: time.Date(2026, 11, 20, 14, 2, 7, 0, time.UTC)} }

// newWeb returns the pages of the hub f, and the bus from which the pages receive events.
func newWeb(t *testing.T, f *fake) (*Web, *event.Bus) {
	t.Helper()
	bus := event.NewBus(17)
	return &Web{Hub: f, Store: f, Bus: bus, PublicURL: "http://hub.example:5337", Version: "1.0.0",
		Now: func() time.Time { return f.now }, Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
		Warnings: func() []string { return nil }}, bus
}

// addBusyDay adds the data of a busy day to f.
func addBusyDay(f *fake, bus *event.Bus) {
	r := rand.New(rand.NewPCG(1, 2))
	hosts := []string{"scripting.com/rss.xml", "daringfireball.net/feeds/main", "feeds.bbci.co.uk/news/rss.xml", "xkcd.com/atom.xml",
		"blog.example.org/2026/a-rather-long-path/that-goes-on/and-on/feed.xml", "jvns.ca/atom.xml", "planet.debian.org/rss20.xml", "例え.jp/フィード.xml"}
	for i, h := range hosts {
		f.topics = append(f.topics, topicOf("https://"+h, f.now, i, int64(1+r.IntN(1300))))
	}
	for i := range 47 {
		f.topics = append(f.topics, topicOf(fmt.Sprintf("https://people.example.net/~user%02d/rss.xml", i), f.now, i+20, int64(r.IntN(40))))
	}
	slices.SortFunc(f.topics, func(a, b hub.TopicInfo) int { return strings.Compare(a.URL, b.URL) })
	main := hub.TopicID("https://scripting.com/rss.xml")
	for i := range 1204 {
		f.subs = append(f.subs, subOf(main, i, f.now))
	}
	slices.SortFunc(f.subs, func(a, b hub.SubscriptionInfo) int { return cmp.Compare(a.ID, b.ID) })
	for i := range 1440 {
		f.minutes = append(f.minutes, minuteOf(f.now.Add(-time.Duration(1440-i)*time.Minute), i, r))
	}
	addLogEvents(f, bus, hosts, r)
	addChanges(f)
}

func topicOf(url string, now time.Time, i int, subs int64) hub.TopicInfo {
	t := hub.TopicInfo{Topic: hub.Topic{ID: hub.TopicID(url), URL: url, Version: int64(30 - i%7), Size: 48213, ContentType: "application/rss+xml",
		CheckedAt: now.Add(-time.Duration(i*i) * time.Minute), ChangedAt: now.Add(-time.Duration(i*i*3) * time.Minute)}, Subscribers: subs}
	switch i {
	case 0:
		t.KeepContent = true
		t.About = hub.About{Title: "Scripting News", Home: "http://scripting.com/", Self: "http://scripting.com/rss.xml"}
		t.CheckedAt, t.ChangedAt, t.Subscribers = now.Add(-42*time.Second), now.Add(-42*time.Second), 1204
	case 2:
		t.Failures, t.Error = 2, "The server answered 503 Service Unavailable."
	case 5:
		t.PingedAt = now.Add(-3 * time.Second)
	}
	return t
}

func subOf(topic int64, i int, now time.Time) hub.SubscriptionInfo {
	protocol := []string{hub.HTTPPost, hub.HTTPPost, hub.HTTPPost, hub.XMLRPC, hub.HTTPSPost, hub.HTTPPost, hub.SOAP}[i%7]
	cb := fmt.Sprintf("http://reader%d.example.net:5337/%s/%d", i, secret, i)
	switch {
	case i%50 == 9:
		protocol = hub.WebSub
	case i%300 == 11:
		protocol = hub.CNWS
	}
	s := hub.Subscription{TopicID: topic, ID: hub.SubscriptionID(protocol, cb), Protocol: protocol, Callback: cb, CreatedAt: now.Add(-time.Duration(i) * time.Hour),
		RenewedAt: now.Add(-time.Duration(i%24) * time.Hour), ExpiresAt: now.Add(time.Duration(25-i%24) * time.Hour)}
	if protocol == hub.CNWS {
		s.ExpiresAt = hub.Forever()
	}
	if i == 77 || i == 500 || i == 901 {
		s.Failures, s.Tries, s.PendingVersion, s.Sent, s.LastError = 1+i%2, 2, 30, 28, "No answer within 15 s."
		s.NextAt, s.LastErrorAt = now.Add(95*time.Second), now.Add(-30*time.Second)
	}
	return hub.SubscriptionInfo{Subscription: s, Topic: "https://scripting.com/rss.xml"}
}

func minuteOf(at time.Time, i int, r *rand.Rand) hub.Minute {
	if i > 700 && i < 745 {
		return hub.Minute{At: at.Add(-48 * time.Hour)} // the server was off: the record is two days older, so the chart of the last day has a gap
	}
	n := int64(400 + 300*((i/97)%3) + r.IntN(500))
	if i%31 == 0 {
		n = 0
	}
	m := hub.Minute{At: at, Node: 17, Pings: int64(20 + r.IntN(30)), Checks: int64(18 + r.IntN(20)), Changes: int64(4 + r.IntN(9)), Notified: n, Failed: int64(r.IntN(6)),
		Queue: int64(r.IntN(900)), Writes: 12}
	if n > 0 {
		m.P50, m.P99 = 1.1+r.Float64(), 6+30*r.Float64()
		if i == 1400 {
			m.P99 = 210
		}
	}
	return m
}

// addChanges adds recent changes to f.
func addChanges(f *fake) {
	for i := range 150 {
		c := hub.Change{Node: 17, Seq: int64(i + 1), At: f.now.Add(-time.Duration(150-i)*19*time.Second + 12*time.Second), Via: "rest",
			Name: fmt.Sprintf("Weblog number %d", i), URL: fmt.Sprintf("https://people.example.net/~user%02d/", i%47)}
		switch i % 6 {
		case 1:
			c.Name, c.URL, c.Via = "Scripting News", "http://scripting.com/", "weblogs"
		case 2:
			c.Name, c.URL, c.Feed, c.Via = "", "https://people.example.net/~user02/rss.xml", "https://people.example.net/~user02/rss.xml", "websub"
		case 3:
			c.Name, c.URL, c.Feed, c.Via = "RSS の話", "https://rssweblog.com/", "http://feeds.example.com/a-rather-long-name/TheRssBlog", "weblogs-extended"
			c.Page, c.Tags = "https://rssweblog.com/2026/11/20/why-a-hub-is-quicker-than-a-poll", []string{"rss", "opml", "weblogs"}
		case 4:
			c.Name, c.Via = "A site with a name that goes on for rather long, as some names do", "pingsite"
		case 5:
			c.Name, c.Feed, c.Via = "Planet", "https://planet.example.org/atom.xml", "notify-websub"
		}
		f.changes = append(f.changes, c)
	}
}

// addLogEvents adds a realistic log to f.
func addLogEvents(f *fake, bus *event.Bus, hosts []string, r *rand.Rand) {
	end := f.now
	for i := range 160 {
		f.now = end.Add(-time.Duration((160-i)*(160-i)/20+41) * time.Second)
		u := "https://" + hosts[r.IntN(len(hosts))]
		if i%4 == 0 || i > 155 {
			u = "https://scripting.com/rss.xml"
		}
		id := hub.TopicID(u)
		notified := 900 + i*2
		v := int64(i%30 + 1)
		if u == "https://scripting.com/rss.xml" {
			notified, v = 1100+i/2, int64(i*29/160+1)
		}
		if i > 155 {
			notified, v = 1201, 30
		}
		switch i % 8 {
		case 0, 4:
			f.add(bus, event.Event{Kind: event.KindPing, TopicID: id, Topic: u, OK: true, Via: "rest", Peer: "203.0.113.9", Text: "Thanks for the ping.", Took: 84 * time.Millisecond},
				event.Event{Kind: event.KindCheck, TopicID: id, Topic: u, OK: true, Version: v, Took: 79 * time.Millisecond, Text: fmt.Sprintf("Changed: version %d, 48,213 bytes.", v)},
				event.Event{Kind: event.KindNotify, TopicID: id, Topic: u, OK: true, Version: v, Notified: notified, Failed: 3, Took: time.Duration(200+r.IntN(300)) * time.Millisecond, Text: fmt.Sprintf("Notified %s subscribers in 0.3 s; 3 could not be notified and will be retried.", shell.FormatCount(notified))},
				event.Event{Kind: event.KindError, TopicID: id, Topic: u, Via: "http-post", Peer: "reader77.example.net:5337", Failed: 1, Took: 15 * time.Second, Text: "No answer within 15 s."})
		case 1, 5:
			f.add(bus, event.Event{Kind: event.KindPing, TopicID: id, Topic: u, OK: true, Via: "xml-rpc", Peer: "198.51.100.77", Text: "Thanks for the ping.", Took: 31 * time.Millisecond},
				event.Event{Kind: event.KindCheck, TopicID: id, Topic: u, OK: true, Version: v, Took: 28 * time.Millisecond, Text: "Not changed since 13:40:02 on 20 November (version 29)."})
		case 2:
			f.add(bus, event.Event{Kind: event.KindVerify, TopicID: id, Topic: u, OK: true, Via: "http-post", Peer: "river.example.com:1337", Took: 120 * time.Millisecond, Text: "The challenge was answered."},
				event.Event{Kind: event.KindRegister, TopicID: id, Topic: u, OK: true, Via: "rest", Peer: "river.example.com:1337", Took: 310 * time.Millisecond, Text: "Registered for http-post notifications until 15:02 on 21 November."})
		case 3:
			f.add(bus, event.Event{Kind: event.KindRegister, TopicID: id, Topic: u, Via: "soap", Peer: "192.0.2.14", Took: 20 * time.Second, Text: "Not registered: the callback did not answer the test call within 15 s, so it could not receive notifications either."})
		case 6:
			f.add(bus, event.Event{Kind: event.KindDrop, TopicID: id, Topic: u, Via: "http-post", Peer: "gone.example.net", Text: "Dropped after 3 changes in a row that could not be delivered; the last time: No answer within 15 s."},
				event.Event{Kind: event.KindExpire, TopicID: id, Topic: u, OK: true, Via: "xml-rpc", Peer: "old.example.net:80", Text: "The subscription was not renewed since 13:02 on 19 November and has expired."})
		case 7:
			f.add(bus, event.Event{Kind: event.KindCancel, TopicID: id, Topic: u, OK: true, Via: "rest", Peer: "river.example.com:1337", Text: "Cancelled by its owner."},
				event.Event{Kind: event.KindSystem, OK: true, Text: "The hourly sweep removed 2 subscriptions."})
		}
	}
	f.now = end
}

func addr(s string) netip.Addr { return netip.MustParseAddr(s) }

// wantedEvent reports whether an event matches a query, as in a real store.
func wantedEvent(q hub.EventQuery, e event.Event) bool {
	if q.TopicID != 0 && e.TopicID != q.TopicID || len(q.Kinds) > 0 && !slices.Contains(q.Kinds, e.Kind) {
		return false
	}
	return holds(q.Text, e.Topic, e.Text, e.Peer)
}

// wantedChange reports whether a change matches a query, as in a real store.
func wantedChange(q hub.ChangeQuery, c hub.Change) bool {
	return holds(q.Text, append([]string{c.Name, c.URL, c.Feed}, c.Tags...)...)
}

// holds reports whether one of the texts contains the words. It ignores case.
func holds(words string, texts ...string) bool {
	return slices.ContainsFunc(texts, func(s string) bool { return strings.Contains(strings.ToLower(s), strings.ToLower(words)) })
}
