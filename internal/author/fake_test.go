package author

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"cloudburst/internal/fault"
)

// memory is a Store in memory that counts reads.
type memory struct {
	mu    sync.Mutex
	rows  map[string]*row
	heads int // number of reads of a feed without its document
	docs  int // number of reads of a document
	fail  error
	// reading is called after a document was read and before it is returned.
	reading func()
}

type row struct {
	Feed
	doc, hash []byte
}

var errNone = fault.New(fault.NotFound, "There is no such feed here.")

func (m *memory) SaveDocument(_ context.Context, s Saving) (Feed, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fail != nil {
		return Feed{}, false, m.fail
	}
	now := row{Feed: Feed{User: s.User, Name: s.Name}}
	if r := m.rows[s.User+"/"+s.Name]; r != nil {
		now = *r
	}
	if s.Allow != nil {
		if err := s.Allow(now.Feed); err != nil {
			return Feed{}, false, err
		}
	}
	changed := now.Version == 0 || now.Type != s.Type || !bytes.Equal(now.hash, s.Hash)
	now.Gone, now.Push = false, s.Push
	if changed {
		now.Version++
		now.SavedAt, now.Type, now.Size, now.Title, now.Items = s.At, s.Type, int64(len(s.Bytes)), s.Title, s.Items
		now.doc, now.hash = bytes.Clone(s.Bytes), s.Hash
		if s.Quiet {
			now.Notified = now.Version
		}
		if s.Events != nil {
			s.Events(now.Feed)
		}
	}
	if m.rows == nil {
		m.rows = map[string]*row{}
	}
	m.rows[s.User+"/"+s.Name] = &now
	return now.Feed, changed, nil
}

func (m *memory) SavedFeed(_ context.Context, user, name string) (Feed, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.heads++
	if r := m.rows[user+"/"+name]; r != nil {
		return r.Feed, m.fail
	}
	return Feed{}, errNone
}

func (m *memory) SavedDocument(_ context.Context, user, name string) (Feed, []byte, error) {
	m.mu.Lock()
	m.docs++
	r := m.rows[user+"/"+name]
	if r == nil {
		m.mu.Unlock()
		return Feed{}, nil, errNone
	}
	f, doc := r.Feed, bytes.Clone(r.doc)
	m.mu.Unlock()
	if m.reading != nil {
		m.reading()
	}
	return f, doc, nil
}

func (m *memory) CloudSaved(_ context.Context, user, name string, on bool, now time.Time) (Feed, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.rows[user+"/"+name]
	if r == nil {
		return Feed{}, errNone
	}
	if r.AddCloud != on {
		r.AddCloud, r.SavedAt = on, now
		r.Version++
	}
	return r.Feed, nil
}

func (m *memory) PlaceSaved(_ context.Context, user, name string, place Place) (Feed, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.rows[user+"/"+name]
	if r == nil {
		return Feed{}, errNone
	}
	r.MovedTo, r.Temporary, r.Gone = place.MovedTo, place.Temporary, place.Gone
	return r.Feed, nil
}

func (m *memory) SavedFeeds(_ context.Context, afterUser, afterName string, limit int) ([]Feed, error) {
	return m.list(afterUser, afterName, limit, func(Feed) bool { return true })
}

func (m *memory) ListUnnotified(_ context.Context, afterUser, afterName string, limit int) ([]Feed, error) {
	return m.list(afterUser, afterName, limit, func(f Feed) bool { return f.Notified < f.Version && f.MovedTo == "" && !f.Gone })
}

func (m *memory) list(afterUser, afterName string, limit int, match func(Feed) bool) ([]Feed, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []Feed
	for _, r := range m.rows {
		if match(r.Feed) && cmp.Or(strings.Compare(r.User, afterUser), strings.Compare(r.Name, afterName)) > 0 {
			all = append(all, r.Feed)
		}
	}
	slices.SortFunc(all, func(a, b Feed) int {
		return cmp.Or(strings.Compare(a.User, b.User), strings.Compare(a.Name, b.Name))
	})
	return all[:min(len(all), limit)], m.fail
}

func (m *memory) MarkNotified(_ context.Context, user, name string, version int64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fail != nil {
		return m.fail
	}
	if r := m.rows[user+"/"+name]; r != nil {
		r.Notified = max(r.Notified, version)
	}
	return nil
}
