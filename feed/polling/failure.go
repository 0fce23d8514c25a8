package polling

import "time"

// firstDelay returns the wait after the first failure of a kind. Each further failure doubles
// it.
func firstDelay(f Failure) time.Duration {
	switch f.Kind {
	case ErrDNS, ErrUnreachable, ErrTimeout, ErrUnexpected304:
		return 10 * time.Minute // usually temporary
	case ErrLimited, ErrNotFeed:
		return 30 * time.Minute
	case ErrBadURL, ErrRefused:
		return 6 * time.Hour
	case ErrStatus:
		switch f.Status {
		case 408, 425:
			return 10 * time.Minute
		case 401, 402, 403, 407, 451:
			// A person has decided this, so hourly requests would not help.
			return 6 * time.Hour
		}
		if f.Status >= 500 {
			return 10 * time.Minute
		}
	}
	return time.Hour
}

// backOff returns the wait after n consecutive failures, of which f is the last. No number of
// failures ends a feed: checks continue once a day, and the first success resets the count.
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
		s.Limited++ // has no effect except in patience
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
	// If the feed has moved to a URL where it was never read, try the old URL once more.
	if s.unproven() {
		s.back()
	}
}

// heal ends a series of failures.
func (s *State) heal(now time.Time) {
	s.Failures, s.Limited, s.Failure, s.Since, s.Gone = 0, 0, nil, time.Time{}, nil
	s.ReadAt = stamp(now)
}
