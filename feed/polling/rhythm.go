package polling

import (
	"slices"
	"time"
)

// The rhythm of a feed without hints follows from the time between its posts.

// burst is the maximum time between posts that count as one. Many feeds are written once a day, ten
// posts at a time.
const burst = 15 * time.Minute

// observe records the dates of the posts.
func (s *State) observe(dates []time.Time, now time.Time) {
	if posts := newest(dates, now, 20); len(posts) > 0 {
		s.Newest = posts[0]
		s.Spacing = spacing(posts)
		return
	}
	// If the posts of the feed have no dates, use the times at which changes were observed.
	s.Newest = time.Time{}
	s.Changes = append(s.Changes, stamp(now))
	if n := len(s.Changes); n > keptChanges {
		s.Changes = s.Changes[n-keptChanges:]
	}
	latest := slices.Clone(s.Changes[1:]) // the first entry is the first read of the feed, which is not a change
	s.Spacing = spacing(newest(latest, now, keptChanges))
}

// spacing returns the median time between posts; or 0 if it is unknown. A median is not affected by
// an old post at the top, or by years without posts.
func spacing(posts []time.Time) time.Duration {
	var gaps []time.Duration
	for i := 1; i < len(posts); {
		gap := posts[0].Sub(posts[i])
		if gap >= burst {
			gaps = append(gaps, gap)
			posts, i = posts[i:], 1
			continue
		}
		i++
	}
	if len(gaps) < 2 {
		return 0
	}
	slices.Sort(gaps)
	return gaps[len(gaps)/2]
}

// shortestRhythm is the minimum interval for a feed without hints.
const shortestRhythm = 15 * time.Minute

// defaultRhythm returns the wait for a feed without hints, and the reason for people. The wait
// allows four checks between two posts, and becomes longer the longer the feed has had no post.
func (s State) defaultRhythm(now time.Time) (d time.Duration, text string) {
	d = DefaultInterval
	if s.Spacing > 0 {
		d, text = s.Spacing/4, "a post about every "+span(s.Spacing)
	}
	last := s.Newest
	if last.IsZero() {
		last = s.ChangedAt
	}
	if quiet := now.Sub(last); !last.IsZero() && quiet/24 > d {
		d, text = quiet/24, "nothing new for "+span(quiet)
	}
	d = min(max(d, shortestRhythm), Longest)
	if text == "" {
		text = "no hints, so every " + span(d)
	}
	return d, text
}
