// Package clock provides a clock that follows elapsed time.
package clock

import (
	"sync"
	"time"
)

// Steady is a clock for expiry. It follows elapsed time, so that a wall clock set one hour
// forward does not expire every registration. It approaches the wall clock by at most 1 % of the
// elapsed time, and adopts it if they differ by less than two seconds.
type Steady struct {
	// Wall is the wall clock; nil: time.Now. Mono is the time since some fixed
	// moment; nil: the runtime's monotonic clock.
	Wall func() time.Time
	Mono func() time.Duration

	mu     sync.Mutex
	begun  time.Time
	at     time.Time     // our time at mono
	mono   time.Duration // when at was computed
	inited bool
}

const (
	steadySnap = 2 * time.Second
	steadySlew = 100 // one part in 100
)

// Now returns the steady time in UTC, without a monotonic reading. It never decreases.
func (s *Steady) Now() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	wall, mono := s.read()
	if !s.inited {
		s.inited, s.at, s.mono = true, wall, mono
		return wall
	}
	passed := mono - s.mono
	next := s.at.Add(passed)
	switch off := wall.Sub(next); {
	case off.Abs() < steadySnap:
		next = wall
	case off > 0:
		next = next.Add(passed / steadySlew)
	default:
		next = next.Add(-passed / steadySlew)
	}
	if next.Before(s.at) {
		next = s.at
	}
	s.at, s.mono = next, mono
	return next
}

// Off returns how far the wall clock is ahead of the steady one.
func (s *Steady) Off() time.Duration {
	now := s.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	wall, _ := s.read()
	return wall.Sub(now)
}

func (s *Steady) read() (time.Time, time.Duration) {
	now := time.Now()
	if s.begun.IsZero() {
		s.begun = now
	}
	wall, mono := now, now.Sub(s.begun)
	if s.Wall != nil {
		wall = s.Wall()
	}
	if s.Mono != nil {
		mono = s.Mono()
	}
	return wall.Round(0).UTC(), mono
}
