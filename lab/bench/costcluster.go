package bench

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"time"
)

const (
	watchFor   = 4 * time.Second  // duration of a measurement of an idle node
	idleFor    = 15 * time.Second // duration of a measurement of low usage, which the system counts in hundredths of a second
	fillFor    = 4 * time.Second  // fillFor + watchFor is less than the duration of a node's log window
	windowOver = 12 * time.Second
	logOfNodes = 20 // maximum number of rows in the log window, as a multiple of Size
)

// cluster measures the cost of an idle node, which polls for work and reads the log of other
// nodes. SQLite allows only one node.
func (m costMeter) cluster(ctx context.Context) error {
	if m.store == onSQLite {
		return nil
	}
	return m.on(ctx, Plan{Feeds: costSmall + m.Size}, func(s *costStage) (err error) {
		of := func(i int) registration {
			return registration{feed: s.receiver.feedURL(costSmall + i), callback: s.receiver.callback(i, false)}
		}
		if err := s.register(ctx, ByImport, m.Size, of); err != nil {
			return err
		}
		other, err := s.second(ctx)
		if err != nil {
			return err
		}
		defer func() { _ = other.stop(stopWithin) }() // stop kills the node after a timeout; the node has no pending work
		// Wait until the log window contains no more rows from the start of the nodes.
		if err := pauseFor(ctx, windowOver); err != nil {
			return err
		}
		idle, err := m.watching(ctx, s, other, "node.idle", "one second of a node that has nothing to do; the database's part of it")
		if err != nil {
			return err
		}
		w := &costServer{costStage: s, ctx: ctx, pinger: newPinger(s.server.listen, costClients), small: m.Size}
		if err := m.hints(w, other, idle); err != nil {
			return err
		}
		if err := m.tail(w, other, idle); err != nil {
			return err
		}
		conns, err := s.database.Number(ctx, `SELECT count(*)::float8 FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`)
		if err == nil {
			m.book.note(m.store+"/node.connections", "", "connections to the database that a node has after some work", 1, []float64{conns / 2})
		}
		return err
	})
}

// second starts a second node on the same database.
func (s *costStage) second(ctx context.Context) (*server, error) {
	data := filepath.Join(s.dir, "data2")
	if err := os.MkdirAll(data, 0o700); err != nil {
		return nil, err
	}
	key, err := os.ReadFile(filepath.Join(s.server.data, "secret.key"))
	if err == nil {
		err = os.WriteFile(filepath.Join(data, "secret.key"), key, 0o600)
	}
	if err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	return startServer(ctx, s.Exe, s.dir, serverPlan{data: data, database: s.Database})
}

// hints measures the cost of a hint from another node. The pings are spaced so that each ping
// causes one hint and the log stays short.
func (m costMeter) hints(w *costServer, other *server, idle idleUse) error {
	const separate = 60 * time.Millisecond // longer than the minimum time between two hints
	var values []float64
	total := 0
	for range minRepeats {
		cpu, begin, n := other.usage().cpu, time.Now(), 0
		for ; time.Since(begin) < 2*watchFor; n++ {
			if err := w.pinger.ping(w.ctx, w.receiver.feedURL(costSmall+n%w.small)); err != nil {
				return err
			}
			if err := pauseFor(w.ctx, separate); err != nil {
				return err
			}
		}
		spent := float64((other.usage().cpu - cpu).Microseconds()) - idle.cpu*time.Since(begin).Seconds()
		values, total = append(values, max(0, spent)/float64(n)), total+n
	}
	m.book.note(m.store+"/hint.cpu", "µs", "another node says that there is something new: this one looks for work, and reads some rows of the log", total, values)
	for respect, of := range idle.databases(m, w.costStage) {
		part := slices.Clone(values)
		for i := range part {
			part[i] *= of / max(1, idle.cpu)
		}
		m.book.note(m.store+"/hint."+respect, "µs", "the same: the database's part, as its part of an idle second is", total, part)
	}
	return nil
}

// tail measures the cost of one log row that another node wrote. Pings fill the log. Then both
// nodes are idle, and each poll reads all rows of the window again.
func (m costMeter) tail(w *costServer, other *server, idle idleUse) error {
	var cpu []float64
	db := map[string][]float64{}
	total := 0.0
	for range minRepeats {
		w.progress.Step(m.store+" tail.row", len(cpu), minRepeats)
		if err := pauseFor(w.ctx, windowOver); err != nil {
			return err
		}
		rows, err := w.fill()
		if err != nil {
			return err
		}
		if err := pauseFor(w.ctx, time.Second); err != nil {
			return err
		}
		busy, err := m.watch(w.ctx, w.costStage, other, watchFor)
		if err != nil {
			return err
		}
		// A node polls once per second, so one second costs one read of all rows.
		cpu = append(cpu, max(0, busy.cpu-idle.cpu)/rows)
		before := idle.databases(m, w.costStage)
		for respect, of := range busy.databases(m, w.costStage) {
			db[respect] = append(db[respect], max(0, of-before[respect])/rows)
		}
		total += rows * watchFor.Seconds()
	}
	m.book.note(m.store+"/tail.row.cpu", "µs", "one row of the other nodes' log, read once", int(total), cpu)
	for respect, of := range db {
		m.book.note(m.store+"/tail.row."+respect, "µs", "the same: the database's part", int(total), of)
	}
	return nil
}

// fill pings until the log has enough rows or fillFor is over, and returns the number of new
// rows.
func (w *costServer) fill() (float64, error) {
	const count = `SELECT count(*)::float8 FROM event`
	before, err := w.database.Number(w.ctx, count)
	if err != nil {
		return 0, err
	}
	b := Ping{Clients: 4 * costClients}
	for begin, i := time.Now(), 0; i < logOfNodes && time.Since(begin) < fillFor; i++ {
		if err := b.pingAll(w.ctx, w.stage, w.pinger, rand.Perm(w.small), costSmall, make([]float64, w.small)); err != nil {
			return 0, err
		}
	}
	after, err := w.database.Number(w.ctx, count)
	return after - before, err
}

// idleUse is the CPU time of one node, and of the database for this node, in µs per second. With
// Citus, db is the time of the workers.
type idleUse struct{ cpu, db, coordinator float64 }

// databases returns the CPU times of the databases that are on this machine, by resource.
func (u idleUse) databases(m costMeter, s *costStage) map[string]float64 {
	switch {
	case !s.database.Local():
		return nil
	case m.store == onCitus:
		return map[string]float64{byStore: u.db, byCoordinator: u.coordinator}
	}
	return map[string]float64{byStore: u.db}
}

// watch measures the other node while both nodes are idle. The CPU time of the database is
// divided by two, for the two nodes.
func (m costMeter) watch(ctx context.Context, s *costStage, other *server, within time.Duration) (u idleUse, err error) {
	cpu := other.usage().cpu
	before, coordinatorBefore, err := s.database.Use(ctx)
	if err == nil {
		err = pauseFor(ctx, within)
	}
	if err != nil {
		return u, err
	}
	after, coordinator, err := s.database.Use(ctx)
	u.cpu = float64((other.usage().cpu - cpu).Microseconds()) / within.Seconds()
	u.db = float64((after.CPU - before.CPU).Microseconds()) / within.Seconds() / 2
	u.coordinator = float64((coordinator.CPU - coordinatorBefore.CPU).Microseconds()) / within.Seconds() / 2
	return u, err
}

func (m costMeter) watching(ctx context.Context, s *costStage, other *server, name, what string) (u idleUse, err error) {
	var cpu, db, coordinator []float64
	for range minRepeats {
		s.progress.Step(m.store+" "+name, len(cpu), minRepeats)
		if u, err = m.watch(ctx, s, other, idleFor); err != nil {
			return u, err
		}
		cpu, db, coordinator = append(cpu, u.cpu), append(db, u.db), append(coordinator, u.coordinator)
	}
	seconds := int(idleFor.Seconds()) * minRepeats
	m.book.note(m.store+"/"+name+".cpu", "µs", what, seconds, cpu)
	u = idleUse{Median(cpu), Median(db), Median(coordinator)}
	for respect := range u.databases(m, s) {
		of := db
		if respect == byCoordinator {
			of = coordinator
		}
		m.book.note(m.store+"/"+name+"."+respect, "µs", what, seconds, of)
	}
	return u, nil
}

func pauseFor(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
