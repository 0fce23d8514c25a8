package clock

import (
	"testing"
	"time"
)

func TestSteadyClockDoesNotJumpWithWallClock(t *testing.T) {
	t.Parallel()
	wall, mono := time.Unix(1_000_000, 0), time.Duration(0)
	s := &Steady{Wall: func() time.Time { return wall }, Mono: func() time.Duration { return mono }}
	pass := func(d time.Duration) { wall, mono = wall.Add(d), mono+d }
	begun := s.Now()
	for _, step := range []time.Duration{time.Hour, -2 * time.Hour, time.Hour} {
		wall = wall.Add(step)
		before := s.Now()
		pass(time.Minute)
		if got := s.Now().Sub(before); got < 59*time.Second || got > 61*time.Second {
			t.Errorf("after a step of %s a minute lasted %s", step, got)
		}
	}
	if off := s.Now().Sub(begun) - 3*time.Minute; off.Abs() > 2*time.Second {
		t.Errorf("three minutes differ by %s", off)
	}
	wall = wall.Add(time.Second)
	if s.Now() != wall.UTC() {
		t.Error("a small correction of the wall clock was not applied at once")
	}
}

func TestSteadyClockReachesTheWallClockAfterAJump(t *testing.T) {
	t.Parallel()
	wall, mono := time.Unix(1_000_000, 0), time.Duration(0)
	s := &Steady{Wall: func() time.Time { return wall }, Mono: func() time.Duration { return mono }}
	s.Now()
	wall = wall.Add(10 * time.Minute)
	for range 100 * 12 {
		wall, mono = wall.Add(time.Minute), mono+time.Minute
		s.Now()
	}
	if off := s.Off(); off != 0 {
		t.Errorf("still off by %s after twenty hours", off)
	}
}
