package bench

import (
	"context"
	"fmt"
	"math/rand/v2"
)

// These are the feeds for the costs of the hub: one feed with many subscribers, one feed for new
// registrations, and many feeds with one subscriber each.
const (
	costLarge = iota
	costAsked
	costSmall
)

const costClients = 16 // number of concurrent clients

// costServer measures the costs of the hub on one server.
type costServer struct {
	*costStage
	ctx          context.Context
	pinger       *pinger
	large, small int // large: subscribers of the large feed; small: number of feeds with one subscriber
	asked        int // number of registrations so far
}

// hub measures the costs of notifications, pings and registrations.
func (m costMeter) hub(ctx context.Context) error {
	large, small := 10*m.Size, m.Size
	return m.on(ctx, Plan{Feeds: costSmall + small}, func(s *costStage) error {
		w := &costServer{costStage: s, ctx: ctx, pinger: newPinger(s.server.listen, costClients), large: large, small: small}
		of := func(i int) registration {
			feed := costLarge
			if i >= large {
				feed = costSmall + i - large
			}
			return registration{feed: s.receiver.feedURL(feed), callback: s.receiver.callback(i, false)}
		}
		if err := s.register(ctx, ByImport, large+small, of); err != nil {
			return err
		}
		return m.pieces(w)
	})
}

func (m costMeter) pieces(w *costServer) error {
	notified := []string{byCPU, byStore, bySent, byReceived, byConns, byWrites, byWAL, byCoordinator, byCoordinatorWrites, byCoordinatorWAL}
	for _, p := range []struct {
		costKind
		do func() (int, error)
	}{
		{costKind{"notify.rsscloud.kept", "one rssCloud notification (REST) on a kept connection, with its share of the page", "", notified}, w.notifyLarge},
		{costKind{"ping.unchanged", "one ping of a feed that did not change: asked for, compared, on disk, answered", "", notified}, w.pingSame},
		{costKind{"ping.changed", "one ping of a feed that changed: read, hashed, committed, its part claimed and ended; without the notification", "notify.rsscloud.kept", notified}, w.pingChanged},
		{costKind{"register", "one registration over HTTP, with its challenge", "", notified}, w.registerNew},
		{costKind{"renew", "one registration that is there already, asked for again", "", notified}, w.registerAgain},
	} {
		if err := m.repeat(w.ctx, w.costStage, p.costKind, p.do); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	return w.events(m)
}

// notifyLarge changes the large feed and waits until all its subscribers are notified.
func (w *costServer) notifyLarge() (int, error) {
	return w.large, w.change(w.ctx, w.pinger, costLarge, w.large, w.large+w.small)
}

// change changes a feed, pings it, and waits for n notifications. all is the total number of
// callbacks.
func (s *stage) change(ctx context.Context, p *pinger, feed, n, all int) error {
	if err := s.receiver.reset(all); err != nil {
		return err
	}
	if err := s.receiver.call("change", []span{{From: feed, To: feed + 1}}, nil); err != nil {
		return err
	}
	if err := p.ping(ctx, s.receiver.feedURL(feed)); err != nil {
		return err
	}
	return s.receiver.wait(ctx, n, notifyTimeout, func(int) {})
}

func (w *costServer) pingSame() (int, error) { return w.small, w.pingSmall() }

func (w *costServer) pingChanged() (int, error) {
	if err := w.receiver.reset(w.large + w.small); err != nil {
		return 0, err
	}
	if err := w.receiver.call("change", []span{{From: costSmall, To: costSmall + w.small}}, nil); err != nil {
		return 0, err
	}
	if err := w.pingSmall(); err != nil {
		return 0, err
	}
	return w.small, w.receiver.wait(w.ctx, w.small, notifyTimeout, func(int) {})
}

// pingSmall pings each small feed once, in random order.
func (w *costServer) pingSmall() error {
	b := Ping{Clients: costClients}
	return b.pingAll(w.ctx, w.stage, w.pinger, rand.Perm(w.small), costSmall, make([]float64, w.small))
}

func (w *costServer) registerNew() (int, error) {
	n := w.small / 2
	from := w.large + w.small + w.asked
	w.asked += n
	return n, w.server.registerAll(w.ctx, n, costClients, w.asker(from), func(int, int) {})
}

func (w *costServer) registerAgain() (int, error) {
	n := w.small / 2
	return n, w.server.registerAll(w.ctx, n, costClients, w.asker(w.large+w.small), func(int, int) {})
}

func (w *costServer) asker(from int) func(int) registration {
	return func(i int) registration {
		return registration{feed: w.receiver.feedURL(costAsked), callback: w.receiver.callback(from+i, false)}
	}
}

// events measures the number of log rows per ping.
func (w *costServer) events(m costMeter) error {
	count := func() (n float64, err error) {
		st, err := w.server.settle(w.ctx)
		if err != nil {
			return 0, err
		}
		if w.database != nil {
			return w.database.Number(w.ctx, `SELECT count(*)::float8 FROM event`)
		}
		return float64(st.Counts.Events), nil
	}
	for _, p := range []struct {
		name, what string
		do         func() (int, error)
	}{
		{"event.ping", "rows of the log that a ping of an unchanged feed leaves", w.pingSame},
		{"event.change", "rows of the log that a ping of a changed feed leaves, its end included", w.pingChanged},
		{"event.register", "rows of the log that a registration leaves", w.registerAgain},
	} {
		before, err := count()
		if err != nil {
			return err
		}
		n, err := p.do()
		if err != nil {
			return err
		}
		after, err := count()
		if err != nil {
			return err
		}
		if w.database == nil {
			continue // skip SQLite, which updates this count with a delay and has no other node that reads its log
		}
		m.book.note(m.store+"/"+p.name, "", p.what, n, []float64{(after - before) / float64(n)})
	}
	return w.rows(m)
}

// rows records the size on disk of one row of the log and of the recent changes.
func (w *costServer) rows(m costMeter) error {
	if w.database == nil {
		return nil
	}
	for _, t := range []struct{ name, table, what string }{
		{"disk.event", "event", "one row of the log on disk, with its indexes"},
		{"disk.change", "change", "one line of the list of changes on disk, with its indexes"},
	} {
		n, err := w.database.Number(w.ctx, `SELECT count(*)::float8 FROM `+t.table)
		if err != nil || n == 0 {
			return err
		}
		size, err := w.database.Size(w.ctx, t.table)
		if err != nil {
			return err
		}
		m.book.note(m.store+"/"+t.name, "B", t.what, int(n), []float64{size / n})
	}
	return nil
}

// notify measures the cost of a notification for the other protocols and kinds of connections.
func (m costMeter) notify(ctx context.Context) error {
	notified := []string{byCPU, bySent, byReceived, byConns}
	for _, p := range []struct {
		costKind
		plan Plan
		via  string
	}{
		{costKind{"notify.rsscloud.new", "one rssCloud notification on a connection of its own", "", notified}, Plan{Close: true}, ViaRSSCloud},
		{costKind{"notify.websub.kept", "one WebSub content of 10,000 bytes on a kept connection", "", notified}, Plan{FeedSize: 10_000, Contents: true}, ViaWebSub},
		{costKind{"notify.https.kept", "one rssCloud notification over TLS on a kept connection", "", notified}, Plan{TLS: true}, ViaRSSCloud},
		{costKind{"notify.https.new", "one rssCloud notification with a whole TLS handshake (ECDSA, a chain of two)", "", notified}, Plan{TLS: true, Close: true}, ViaRSSCloud},
	} {
		n := 5 * m.Size
		if p.plan.Close {
			n = m.Size
		}
		p.plan.Feeds = 1
		err := m.on(ctx, p.plan, func(s *costStage) error {
			of := func(i int) registration {
				return registration{feed: s.receiver.feedURL(0), callback: s.receiver.callback(i, false), via: p.via}
			}
			if err := s.register(ctx, ByImport, n, of); err != nil {
				return err
			}
			ping := newPinger(s.server.listen, 1)
			return m.repeat(ctx, s, p.costKind, func() (int, error) { return n, s.change(ctx, ping, 0, n, n) })
		})
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	return nil
}
