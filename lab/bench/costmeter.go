package bench

import (
	"cloudburst/lab/database"
	"context"
	"math"
	"os"
	"path/filepath"
	"time"
)

// trust makes the server trust the certificate of the receiver if the receiver uses TLS.
func (s *stage) trust() error {
	if !s.receiver.plan.TLS {
		return nil
	}
	var authority string
	if err := s.receiver.call("authority", nil, &authority); err != nil {
		return err
	}
	s.roots = filepath.Join(s.dir, "authority.pem")
	return os.WriteFile(s.roots, []byte(authority), 0o600)
}

// costUse contains the values of all resource counters at one time.
type costUse struct {
	cpu      time.Duration
	flow     Flow
	writes   int64 // database writes as counted by the hub
	database database.Use

	coordinator database.Use // of a Citus cluster
}

// use waits until the server has no pending work, and returns the values of the counters.
func (s *costStage) use(ctx context.Context) (u costUse, err error) {
	st, err := s.server.settle(ctx)
	if err != nil {
		return u, err
	}
	u.cpu, u.writes = s.server.usage().cpu, st.Live.Writes
	if u.flow, err = s.receiver.flow(); err != nil || s.database == nil {
		return u, err
	}
	u.database, u.coordinator, err = s.database.Use(ctx)
	return u, err
}

// costKind is an operation whose cost is measured for several resources.
type costKind struct {
	name, what string
	less       string // name of an operation that this operation includes; its cost is subtracted
	respects   []string
}

// These are the measured resources. unitOf returns their units.
const (
	byCPU      = "cpu"
	byStore    = "db-cpu"
	bySent     = "sent"
	byReceived = "received"
	byConns    = "conns"
	byWrites   = "writes"
	byWAL      = "wal"
	// These are resources of the coordinator of a Citus cluster; the others are sums over its workers.
	byCoordinator       = "coordinator-cpu"
	byCoordinatorWrites = "coordinator-writes"
	byCoordinatorWAL    = "coordinator-wal"
)

func unitOf(respect string) string {
	switch respect {
	case byCPU, byStore, byCoordinator:
		return "µs"
	case bySent, byReceived, byWAL, byCoordinatorWAL:
		return "B"
	}
	return ""
}

// repeat calls do until the time for one operation has passed, and records the cost of one
// operation. do returns the number of operations that it executed.
func (m costMeter) repeat(ctx context.Context, s *costStage, k costKind, do func() (int, error)) error {
	if _, err := do(); err != nil { // the first call opens connections and fills caches
		return err
	}
	before, err := s.use(ctx)
	if err != nil {
		return err
	}
	found := map[string][]float64{}
	total := 0
	for begin, i := time.Now(), 0; i < maxRepeats && (i < minRepeats || time.Since(begin) < m.each); i++ {
		s.progress.Step(m.store+" "+k.name, i, max(minRepeats, i+1))
		n, err := do()
		if err != nil {
			return err
		}
		after, err := s.use(ctx)
		if err != nil {
			return err
		}
		for respect, v := range m.separate(before, after, float64(n)) {
			found[respect] = append(found[respect], v)
		}
		before, total = after, total+n
	}
	for _, respect := range k.respects {
		values := found[respect]
		if len(values) == 0 || respect == byWrites && Median(values) == 0 {
			continue // skip SQLite, which reports no writes; the hub counts only the writes of deliveries
		}
		if k.less != "" {
			also := m.book.value(m.store + "/" + k.less + "." + respect)
			for i := range values {
				values[i] = max(0, values[i]-also)
			}
		}
		m.book.note(m.store+"/"+k.name+"."+respect, unitOf(respect), k.what, total, values)
	}
	return nil
}

// separate returns the cost of one of n operations by resource. a is before and b after them.
func (m costMeter) separate(a, b costUse, n float64) map[string]float64 {
	flow := b.flow.minus(a.flow)
	of := map[string]float64{
		byCPU:      float64((b.cpu - a.cpu).Microseconds()) / n,
		bySent:     float64(flow.In) / n,
		byReceived: float64(flow.Out) / n,
		byConns:    float64(flow.Conns) / n,
		byWrites:   float64(b.writes-a.writes) / n,
	}
	if m.store == onSQLite {
		return of
	}
	of[byWrites] = float64(b.database.Writes-a.database.Writes) / n
	of[byWAL] = float64(b.database.WAL-a.database.WAL) / n
	if b.database.CPU > 0 {
		of[byStore] = float64((b.database.CPU - a.database.CPU).Microseconds()) / n
	}
	if m.store == onCitus {
		of[byCoordinator] = float64((b.coordinator.CPU - a.coordinator.CPU).Microseconds()) / n
		of[byCoordinatorWrites] = float64(b.coordinator.Writes-a.coordinator.Writes) / n
		of[byCoordinatorWAL] = float64(b.coordinator.WAL-a.coordinator.WAL) / n
	}
	return of
}

// digits rounds to four significant digits, the precision of the measurement.
func digits(v float64) float64 {
	if v == 0 || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0
	}
	unit := math.Pow(10, math.Floor(math.Log10(math.Abs(v)))-3)
	if unit >= 1 {
		return math.Round(v/unit) * unit
	}
	return math.Round(v/unit) / math.Round(1/unit)
}
