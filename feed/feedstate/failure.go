package feedstate

import "time"

// firstDelay is how long to wait after the first failure of a kind. Each further one
// doubles it.
func firstDelay(f Failure) time.Duration {
	switch f.Kind {
	case ErrDNS, ErrUnreachable, ErrTimeout, ErrValidity:
		return 10 * time.Minute // passes by itself, as a rule
	case ErrLimited, ErrNotFeed:
		return 30 * time.Minute
	case ErrBadURL, ErrRefused:
		return 6 * time.Hour
	case ErrStatus:
		switch f.Status {
		case 408, 425:
			return 10 * time.Minute
		case 401, 402, 403, 407, 451:
			// Somebody decided this. Asking every hour changes no mind.
			return 6 * time.Hour
		}
		if f.Status >= 500 {
			return 10 * time.Minute
		}
	}
	return time.Hour
}

// backOff is how long to wait after n failures in a row, of which f is the last.
// There is no number after which a feed is given up: it is asked once a day, and the
// first answer that works ends it all.
func backOff(f Failure, n int) time.Duration {
	d := firstDelay(f)
	for range n - 1 {
		if d *= 2; d >= Longest {
			return Longest
		}
	}
	return min(d, Longest)
}

// fail counts a failure.
func (s *State) fail(v verdict, a Answer, now time.Time) {
	if v.kind == ErrLimited {
		s.Limited++ // never a step to anything but patience
	} else {
		s.Failures++
		s.Limited = 0
	}
	if s.Since.IsZero() || s.Since.After(now) {
		s.Since = stamp(now)
	}
	s.Failure = &Failure{Kind: v.kind, Status: a.Status, Text: v.text, At: stamp(now)}
	if a.Error != "" {
		s.Failure.Status = 0
	}
	// The address that a feed was moved to without having been read there is worth
	// one try.
	if s.unproven() {
		s.back()
	}
}

// heal ends a row of failures.
func (s *State) heal(now time.Time) {
	s.Failures, s.Limited, s.Failure, s.Since, s.Gone = 0, 0, nil, time.Time{}, nil
	s.ReadAt = stamp(now)
}
