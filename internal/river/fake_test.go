package river_test

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"sync"
	"time"

	"cloudburst/feed/polling"
	"cloudburst/internal/fault"
	"cloudburst/internal/river"
)

// memory is an in-memory store that supports checks. Tests can inspect its calls, make them fail,
// and store more sources than they have time to write to disk.
type memory struct {
	river.Store
	mu        sync.Mutex
	sources   map[int64][]byte // each source encoded as JSON, as a database row stores it
	due       map[int64]time.Time
	claims    map[int64]int64
	pushedAt  map[int64]time.Time
	pushedVia map[int64]string
	items     map[int64]river.Item
	checks    map[int64][]river.Check
	hosts     map[string]polling.Host
	away      error // error that every method returns; nil: none
	claimed   int   // number of claimed sources
	saves     int
	followers map[int64]map[string]bool
}

func newMemory() *memory {
	return &memory{
		sources: map[int64][]byte{}, due: map[int64]time.Time{}, claims: map[int64]int64{}, pushedAt: map[int64]time.Time{}, pushedVia: map[int64]string{},
		items: map[int64]river.Item{}, checks: map[int64][]river.Check{}, hosts: map[string]polling.Host{}, followers: map[int64]map[string]bool{},
	}
}

// lock starts a transaction. Its error simulates a database that is down.
func (m *memory) lock() (func(), error) {
	m.mu.Lock()
	return m.mu.Unlock, m.away
}

func (m *memory) row(id int64) river.Source {
	var s river.Source
	if err := json.Unmarshal(m.sources[id], &s); err != nil {
		panic(err)
	}
	s.NextAt, s.Claim, s.PushedAt, s.Readers = m.due[id], m.claims[id], m.pushedAt[id], int64(len(m.followers[id]))
	if s.PushedVia = ""; !s.PushedAt.IsZero() {
		s.PushedVia = m.pushedVia[id]
	}
	return s
}

func (m *memory) put(s river.Source) {
	raw, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	m.sources[s.ID], m.due[s.ID], m.claims[s.ID] = raw, s.NextAt, s.Claim
}

func (m *memory) RiverSubscribe(ctx context.Context, list []river.Addition, now time.Time, limit int) ([]bool, error) {
	unlock, err := m.lock()
	defer unlock()
	for _, a := range list {
		if _, ok := m.sources[a.Source.ID]; !ok && err == nil {
			m.put(a.Source)
			m.followers[a.Source.ID] = map[string]bool{}
		}
		m.followers[a.Source.ID][a.Reader] = true
	}
	return make([]bool, len(list)), err
}

func (m *memory) ClaimSources(ctx context.Context, now, until time.Time, limit int, claim int64) ([]river.Source, error) {
	unlock, err := m.lock()
	defer unlock()
	if err != nil {
		return nil, err
	}
	var ids []int64
	for id, at := range m.due {
		if !at.IsZero() && !at.After(now) {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, func(a, b int64) int {
		return cmp.Or(m.pushedAt[b].Compare(m.pushedAt[a]), m.due[a].Compare(m.due[b]), cmp.Compare(a, b))
	})
	var out []river.Source
	for _, id := range ids[:min(len(ids), limit)] {
		m.due[id], m.claims[id] = until, claim
		m.claimed++
		out = append(out, m.row(id))
	}
	return out, nil
}

func (m *memory) ClaimSource(ctx context.Context, id int64, now, until time.Time, claim int64) (river.Source, error) {
	unlock, err := m.lock()
	defer unlock()
	switch {
	case err != nil:
		return river.Source{}, err
	case m.sources[id] == nil:
		return river.Source{}, fault.New(fault.NotFound, "none")
	case m.claims[id] != 0 && m.due[id].After(now):
		return river.Source{}, fault.New(fault.Conflict, "busy")
	}
	m.due[id], m.claims[id] = until, claim
	m.claimed++
	return m.row(id), nil
}

func (m *memory) NextSource(ctx context.Context) (next time.Time, err error) {
	unlock, err := m.lock()
	defer unlock()
	for _, at := range m.due {
		if !at.IsZero() && (next.IsZero() || at.Before(next)) {
			next = at
		}
	}
	return next, err
}

func (m *memory) PutOff(ctx context.Context, list []river.PutOff) error {
	unlock, err := m.lock()
	defer unlock()
	for _, p := range list {
		if m.claims[p.ID] == p.Claim && err == nil {
			m.due[p.ID], m.claims[p.ID] = p.NextAt, 0
		}
	}
	return err
}

func (m *memory) ReleaseClaims(ctx context.Context, now time.Time) error {
	unlock, err := m.lock()
	defer unlock()
	for id, c := range m.claims {
		if c != 0 && err == nil {
			m.due[id], m.claims[id] = now, 0
		}
	}
	return err
}

func (m *memory) SaveCheck(ctx context.Context, saved river.Saved) (bool, error) {
	unlock, err := m.lock()
	defer unlock()
	id := saved.Source.ID
	if err != nil || m.claims[id] != saved.Source.Claim {
		return false, err
	}
	m.saves++
	saved.Source.Claim = 0
	if pushedAt := m.pushedAt[id]; pushedAt.After(saved.Check.At) {
		saved.Source.NextAt = saved.Now
	} else {
		delete(m.pushedAt, id)
	}
	for _, it := range saved.Put {
		if was, ok := m.items[it.ID]; ok {
			it.First = was.First
		} else {
			saved.Source.Items++
		}
		m.items[it.ID] = it
	}
	for _, w := range saved.Withdrawn {
		if it, ok := m.items[w.ID]; ok {
			it.Seq, it.WithdrawnAt = w.Seq, w.WithdrawnAt
			m.items[w.ID] = it
		}
	}
	m.checks[id] = append([]river.Check{saved.Check}, m.checks[id]...)[:min(len(m.checks[id])+1, river.KeptChecks)]
	if saved.Host != nil {
		m.hosts[polling.HostOf(saved.Check.URL)] = *saved.Host
	}
	m.put(saved.Source)
	return true, nil
}

func (m *memory) KnownItems(ctx context.Context, source int64, ids []int64) (map[int64]river.Item, error) {
	unlock, err := m.lock()
	defer unlock()
	out := map[int64]river.Item{}
	for _, id := range ids {
		if it, ok := m.items[id]; ok {
			out[id] = river.Item{Hash: it.Hash, At: it.At, ReadAt: it.ReadAt, EditedAt: it.EditedAt, WithdrawnAt: it.WithdrawnAt}
		}
	}
	return out, err
}

func (m *memory) MarkPushed(ctx context.Context, url, via string, now time.Time) ([]int64, error) {
	unlock, err := m.lock()
	defer unlock()
	var out []int64
	for id := range m.sources {
		if s := m.row(id); err == nil && s.State.Gone == nil && !s.Private() && (s.URL == url || s.Topic == url || id == river.SourceID(url)) {
			m.pushedAt[id], m.pushedVia[id] = now, via
			if m.claims[id] == 0 {
				m.due[id] = now
			}
			out = append(out, id)
		}
	}
	return out, err
}

func (m *memory) Source(ctx context.Context, id int64) (river.Source, error) {
	unlock, err := m.lock()
	defer unlock()
	if m.sources[id] == nil {
		return river.Source{}, fault.New(fault.NotFound, "none")
	}
	return m.row(id), err
}

func (m *memory) SourcesAt(ctx context.Context, url string) ([]river.Source, error) {
	unlock, err := m.lock()
	defer unlock()
	var out []river.Source
	for id := range m.sources {
		if s := m.row(id); s.URL == url || id == river.SourceID(url) {
			out = append(out, s)
		}
	}
	return out, err
}

func (m *memory) ChangeSource(ctx context.Context, id int64, change func(*river.Source) error) (river.Source, error) {
	unlock, err := m.lock()
	defer unlock()
	if err != nil || m.sources[id] == nil {
		return river.Source{}, err
	}
	s := m.row(id)
	if err = change(&s); err == nil {
		s.URL, s.Claim = s.State.URL, 0
		m.put(s)
	}
	return s, err
}

func (m *memory) PlanChecks(ctx context.Context, ids []int64, plan func(*river.Source) bool) (n int, err error) {
	unlock, err := m.lock()
	defer unlock()
	if err != nil {
		return 0, err
	}
	for _, id := range ids {
		if m.sources[id] == nil {
			continue
		}
		if s := m.row(id); plan(&s) {
			s.Claim = 0
			m.put(s)
			n++
		}
	}
	return n, nil
}

func (m *memory) Checks(ctx context.Context, source int64) ([]river.Check, error) {
	unlock, err := m.lock()
	defer unlock()
	return slices.Clone(m.checks[source]), err
}

func (m *memory) Hosts(ctx context.Context, hosts []string) (map[string]polling.Host, error) {
	unlock, err := m.lock()
	defer unlock()
	return maps.Clone(m.hosts), err
}

func (m *memory) NewestSeq(ctx context.Context) (seq int64, err error) {
	unlock, err := m.lock()
	defer unlock()
	for _, it := range m.items {
		seq = max(seq, it.Seq)
	}
	return seq, err
}

func (m *memory) Changed(ctx context.Context, seq int64, limit int) ([]river.Item, error) {
	unlock, err := m.lock()
	defer unlock()
	list := slices.SortedFunc(maps.Values(m.items), func(a, b river.Item) int { return cmp.Compare(a.Seq, b.Seq) })
	list = slices.DeleteFunc(list, func(it river.Item) bool { return it.Seq <= seq })
	return list[:min(len(list), limit)], err
}

func (m *memory) Items(ctx context.Context, q river.ItemQuery) ([]river.Entry, error) {
	unlock, err := m.lock()
	defer unlock()
	var out []river.Entry
	for _, it := range m.items {
		if q.SourceID == 0 || q.SourceID == it.SourceID {
			out = append(out, river.Entry{Item: it})
		}
	}
	slices.SortFunc(out, func(a, b river.Entry) int { return cmp.Or(b.At.Compare(a.At), cmp.Compare(b.ID, a.ID)) })
	return out, err
}

func (m *memory) IndexItems(context.Context, int) (int, error) { return 0, nil }

func (m *memory) SweepRiver(context.Context, int, time.Time, int) (int, error) { return 0, nil }

func (m *memory) NextReadingList(context.Context) (time.Time, error) { return time.Time{}, nil }

func (m *memory) ClaimReadingLists(context.Context, time.Time, time.Time, int, int64) ([]river.ReadingList, error) {
	return nil, nil
}

func (m *memory) fail(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.away = err
}

// ApplyFilters reports that no work is pending.
func (m *memory) ApplyFilters(context.Context, time.Time, time.Time, int) (bool, error) {
	return false, nil
}
