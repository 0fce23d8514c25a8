package fulltext

import (
	"context"
	"sync"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/lease"
)

// memory is a Store in memory. Every user wants the full text of source 1.
type memory struct {
	mu      sync.Mutex
	rows    map[int64]*row
	results []Result
	changed chan struct{} // receives a value after each result
}

type row struct {
	page Page
	text Text
}

func newMemory(pages ...Page) *memory {
	m := &memory{rows: map[int64]*row{}, changed: make(chan struct{}, 1000)}
	for _, p := range pages {
		m.rows[p.Item] = &row{page: p}
	}
	return m
}

func (m *memory) FullText(_ context.Context, item int64) (Text, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if r := m.rows[item]; r != nil {
		return r.text, nil
	}
	return Text{}, fault.New(fault.NotFound, "There is no such item.")
}

func (m *memory) WantFullText(_ context.Context, item int64, now time.Time, _ int) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.rows[item]
	if r.page.Link == "" {
		return fault.New(fault.Invalid, "This item has no link.")
	}
	if r.text.HTML == "" && !r.text.Pending() {
		r.page.Tries, r.text = 0, Text{NextAt: now}
	}
	return nil
}

func (m *memory) ClaimFullTexts(_ context.Context, now, until time.Time, limit int, claim int64) (list []Page, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range m.rows {
		if len(list) < limit && !r.text.NextAt.IsZero() && !r.text.NextAt.After(now) {
			r.text.NextAt, r.page.Claim = until, claim
			list = append(list, r.page)
		}
	}
	return list, nil
}

func (m *memory) NextFullText(context.Context) (next time.Time, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range m.rows {
		if at := r.text.NextAt; !at.IsZero() && (next.IsZero() || at.Before(next)) {
			next = at
		}
	}
	return next, nil
}

func (m *memory) PutOffFullTexts(_ context.Context, list []lease.Back[Page]) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, b := range list {
		if r := m.rows[b.Row.Item]; r.page.Claim == b.Row.Claim {
			r.text.NextAt, r.page.Claim = b.At, 0
		}
	}
	return nil
}

func (m *memory) SaveFullText(_ context.Context, r Result) (saved, followed bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	at := m.rows[r.Item]
	if at == nil || at.page.Claim != r.Claim {
		return false, false, nil
	}
	at.page.Claim, at.page.Tries = 0, r.Tries
	at.text = Text{Problem: r.Problem, NextAt: r.NextAt}
	at.text.HTML, at.text.At = r.HTML, r.At
	m.results = append(m.results, r)
	m.changed <- struct{}{}
	return true, r.Source == 1, nil
}

// news records what a service announces.
type news struct {
	mu   sync.Mutex
	seq  int64
	came []int64
}

func (n *news) NextSeq() int64 {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.seq++
	return n.seq
}

func (n *news) Announce(_, id, _ int64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.came = append(n.came, id)
}
