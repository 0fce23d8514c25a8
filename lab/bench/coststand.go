package bench

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"
)

// disk measures the size of a row on disk, and its memory in an idle server.
func (m costMeter) disk(ctx context.Context) error {
	subs, topics := 20*m.Size, 5*m.Size
	return m.on(ctx, Plan{Feeds: 1 + topics}, func(s *costStage) error {
		if err := s.again(ctx); err != nil {
			return err
		}
		empty := s.server.usage().rss
		bytes := make([][2]float64, 3)
		for i, add := range []struct {
			n  int
			of func(int) registration
		}{
			{1, func(int) registration {
				return registration{feed: s.receiver.feedURL(0), callback: s.receiver.callback(0, false)}
			}},
			{subs, func(i int) registration {
				return registration{feed: s.receiver.feedURL(0), callback: s.receiver.callback(1+i, false)}
			}},
			{topics, func(i int) registration {
				return registration{feed: s.receiver.feedURL(1 + i), callback: s.receiver.callback(1+subs+i, false)}
			}},
		} {
			err := s.register(ctx, ByImport, add.n, add.of)
			if err == nil {
				bytes[i], err = s.stored(ctx)
			}
			if err != nil {
				return err
			}
		}
		if err := s.again(ctx); err != nil {
			return err
		}
		rest := s.server.usage().rss
		m.noteStored(bytes, subs, topics)
		m.book.note(m.store+"/memory.subscription", "B", "memory of the server at rest for one subscription, after a start on all of them", subs+topics,
			[]float64{max(0, float64(rest-empty)) / float64(subs+topics)})
		return nil
	})
}

// again restarts the server, so that its memory contains no state of earlier measurements.
func (s *costStage) again(ctx context.Context) error {
	if err := s.server.stop(stopWithin); err != nil {
		return err
	}
	if err := s.serve(ctx); err != nil {
		return err
	}
	_, err := s.server.settle(ctx)
	return err
}

// noteStored records the sizes of rows. They come from the table sizes of PostgreSQL, or from the
// growth of a compact copy of the SQLite database.
func (m costMeter) noteStored(bytes [][2]float64, subs, topics int) {
	sub := (bytes[1][0] - bytes[0][0]) / float64(subs)
	topic := max(0, (bytes[2][0]-bytes[1][0])/float64(topics)-sub)
	if m.store != onSQLite {
		sub = bytes[2][0] / float64(subs+topics+1)
		topic = (bytes[2][1] - bytes[1][1]) / float64(topics)
	}
	m.book.note(m.store+"/disk.subscription", "B", "one subscription on disk, with its indexes", subs+topics, []float64{sub})
	m.book.note(m.store+"/disk.topic", "B", "one feed on disk, with its part and indexes", topics, []float64{topic})
}

// stored returns the size of the store: with SQLite the size of a backup; with PostgreSQL the
// sizes of the subscriptions, and of the topics with their related tables.
func (s *costStage) stored(ctx context.Context) (of [2]float64, err error) {
	if s.database == nil {
		file := filepath.Join(s.dir, "copy.db")
		if _, err := s.server.api.Backup(ctx, file); err != nil {
			return of, err
		}
		info, err := os.Stat(file)
		if err != nil {
			return of, err
		}
		of[0] = float64(info.Size())
		return of, os.Remove(file)
	}
	for _, t := range []struct {
		table string
		into  *float64
	}{{"subscription", &of[0]}, {"topic", &of[1]}, {"part", &of[1]}, {"alias", &of[1]}} {
		size, err := s.database.Size(ctx, t.table)
		if err != nil {
			return of, err
		}
		*t.into += size
	}
	return of, nil
}

const slowTakes = 3 * time.Second

// memory measures the memory for a delivery in progress and for an idle connection.
func (m costMeter) memory(ctx context.Context) error {
	n := 4 * m.Size
	return m.on(ctx, Plan{Feeds: 1, SlowHosts: costHosts, Slow: slowTakes}, func(s *costStage) error {
		if err := m.idle(ctx, s, 2*m.Size); err != nil {
			return err
		}
		of := func(i int) registration {
			return registration{feed: s.receiver.feedURL(0), callback: s.receiver.callback(i, true)}
		}
		if err := s.register(ctx, ByImport, n, of); err != nil {
			return err
		}
		if err := s.again(ctx); err != nil {
			return err
		}
		rest := s.server.usage().rss
		watching, stop := context.WithCancel(ctx)
		defer stop()
		peak := s.server.watch(watching)
		if err := s.change(ctx, newPinger(s.server.listen, 1), 0, n, n); err != nil {
			return err
		}
		stop()
		grew := float64(peak().rss - rest)
		a, err := s.receiver.arrivals(0, n, time.Now())
		if err == nil && a.Peak == 0 {
			err = errors.New("no delivery was under way")
		}
		if err != nil {
			return err
		}
		m.book.note(m.store+"/memory.delivery", "B", "memory of one delivery that is under way", int(a.Peak), []float64{grew / float64(a.Peak)})
		m.book.note(m.store+"/memory.server", "B", "memory of the server itself, nothing under way", 1, []float64{float64(rest)})
		return nil
	})
}

// idle opens n connections to the public listener, sends one request on each, and leaves them
// open. The connections come from many addresses, because the server limits the connections per
// client address.
func (m costMeter) idle(ctx context.Context, s *costStage, n int) error {
	before := s.server.usage()
	var open []net.Conn
	defer func() {
		for _, c := range open {
			_ = c.Close() // no request is in progress, so an error has no consequence
		}
	}()
	for i := range n {
		d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 40, byte(i/200), byte(1+i%200))}}
		c, err := d.DialContext(ctx, "tcp4", s.server.listen)
		if err != nil {
			return fmt.Errorf("idle connection %d of %d: %w", i+1, n, err)
		}
		open = append(open, c)
		if err := c.SetDeadline(time.Now().Add(replyWithin)); err != nil {
			return err
		}
		if _, err := c.Write([]byte("GET /healthz HTTP/1.1\r\nHost: " + s.server.listen + "\r\n\r\n")); err != nil {
			return err
		}
		if _, err := bufio.NewReader(c).ReadString('\n'); err != nil {
			return fmt.Errorf("idle connection %d of %d: %w", i+1, n, err)
		}
	}
	after := s.server.usage()
	m.book.note(m.store+"/memory.connection", "B", "memory of one connection from outside that is idle", n, []float64{max(0, float64(after.rss-before.rss)) / float64(n)})
	return nil
}

// reading measures the aggregator in this process, which does no other work at that time.
func (m costMeter) reading(ctx context.Context) (err error) {
	c := m.Common
	c.Rounds, c.Hosts = minRepeats, 1
	if c.Database = ""; m.store != onSQLite {
		return nil // every round needs an empty store, so only SQLite is measured
	}
	b := Poll{Common: c, Feeds: max(20, m.Size/5), Only: PollReading}
	r, err := b.Run(ctx)
	if err != nil {
		return err
	}
	for _, f := range r.Figures {
		switch f.Name {
		case "process CPU, unchanged":
			m.book.note(m.store+"/poll.unchanged.cpu", "µs", "one feed read for readers here, answered 304", b.Feeds*5*len(f.Rounds), f.Rounds)
		case "process CPU, one new item":
			m.book.note(m.store+"/poll.new.cpu", "µs", "one feed of 45 kB read for readers here, with one new item stored", b.Feeds*len(f.Rounds), f.Rounds)
		}
	}
	return nil
}
