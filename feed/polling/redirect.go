package polling

import (
	"net/http"
	"net/url"
	"time"
	"unicode/utf8"
)

// Candidate is a permanent redirect that has not been observed often enough to be trusted:
// broken servers, captive portals and typing errors cause them too.
type Candidate struct {
	To    string    `json:"to"`    // the new URL
	From  string    `json:"from"`  // where it was declared: "301", "redirect" or "itunes:new-feed-url"
	First time.Time `json:"first"` // time of the first check that observed it
	Last  time.Time `json:"last"`  // time of the last check that observed it
	Seen  int       `json:"seen"`  // number of checks that observed it
}

// Move is an earlier URL of the feed.
type Move struct {
	From   string    `json:"from"`
	To     string    `json:"to"`
	At     time.Time `json:"at"`
	Why    string    `json:"why"`              // the same values as Candidate.From
	Proven bool      `json:"proven,omitempty"` // a feed was read at the new URL
}

// permanent returns the last hop of the permanent redirects at the start of the chain, and whether
// all hops are permanent. Hops after a temporary redirect do not count as permanent.
func permanent(hops []Hop) (last Hop, all bool) {
	for _, h := range hops {
		// spec:feedstate-2007#redirect-302
		if h.Status != http.StatusMovedPermanently && h.Status != http.StatusPermanentRedirect {
			return last, false
		}
		last = h
	}
	return last, true
}

// Permanent reports whether a chain consists only of permanent HTTP redirects (301 or 308), none of
// them from https to http. It returns false for an empty chain.
//
// spec:feedstate-2007#redirect-301
func Permanent(hops []Hop) bool {
	_, all := permanent(hops)
	for _, h := range hops {
		all = all && !h.Document
	}
	return all && len(hops) > 0 && !Downgraded(hops)
}

// Downgraded reports whether a redirect led from https to http.
func Downgraded(hops []Hop) bool {
	for _, h := range hops {
		if scheme(h.From) == "https" && scheme(h.To) == "http" {
			return true
		}
	}
	return false
}

func scheme(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return ""
	}
	return u.Scheme
}

// sighting is what one check shows about the URL of the feed.
type sighting struct {
	to, from string // the permanent URL and its source
	proven   bool   // the feed was read at this URL
}

// sighting evaluates an answer that contains a feed, a 304, or a redirect document.
func (a Answer) sighting(s State) sighting {
	last, _ := permanent(a.Hops)
	out := sighting{to: last.To, from: "301", proven: true}
	switch {
	case last.Document:
		out.from = "redirect"
	case last.Status == http.StatusPermanentRedirect:
		out.from = "308"
	case last.To != "":
	case a.Moved != nil:
		out = sighting{to: resolve(a.from(s), a.Moved.To), from: a.Moved.From}
	case a.Hints == nil && s.Candidate != nil && s.Candidate.From == newFeedURL:
		// The unchanged document was not parsed again, so its earlier declaration still applies.
		out = sighting{to: s.Candidate.To, from: newFeedURL}
	}
	if last.To != "" && a.Moved != nil && a.Moved.From == "redirect" {
		out.proven = false // only another redirect was read at this URL
	}
	if resolve(s.URL, out.to) == "" || !utf8.ValidString(out.to) || sameURL(out.to, s.URL) {
		return sighting{}
	}
	return out
}

// newFeedURL is the value of feed.Moved.From for a podcast's <itunes:new-feed-url>.
const newFeedURL = "itunes:new-feed-url"

// follow counts a sighting. When there are enough sightings, it changes the URL of the feed.
func (s *State) follow(a Answer, now time.Time, d *Decision) {
	if a.Cause == Delivered {
		return // a delivery of a hub contains no information about the feed's URL
	}
	seen := a.sighting(*s)
	switch {
	case seen.to == "", seen.to == s.Refused:
		s.Candidate = nil
		return
	case scheme(s.URL) == "https" && scheme(seen.to) == "http":
		// Redirects from https to http are followed for each request, but never change the stored
		// URL.
		s.Candidate = nil
		d.warn("it is permanently redirected to " + seen.to + ", which is http: the https URL is kept")
		return
	}
	if c := s.Candidate; c == nil || !sameURL(c.To, seen.to) || c.First.After(now) {
		s.Candidate = &Candidate{To: seen.to, From: seen.from, First: stamp(now)}
	}
	c := s.Candidate
	c.Seen++
	c.Last = stamp(now)
	// spec:feedstate-2007#redirect-301
	// spec:feedstate-2007#redirect-xml
	if c.Seen >= MoveSightings && c.Last.Sub(c.First) >= MoveSeenFor {
		s.move(c.To, c.From, now, seen.proven)
		d.MovedTo = s.URL
	}
}

// move sets a new URL for the feed. The validators stay only if that URL sent them.
func (s *State) move(to, why string, now time.Time, proven bool) {
	to = withUser(to, s.URL)
	s.Moves = append(s.Moves, Move{From: s.URL, To: to, At: stamp(now), Why: why, Proven: proven})
	if n := len(s.Moves); n > keptMoves { // keep the first entry, the feed's original URL
		s.Moves = append(s.Moves[:1:1], s.Moves[n-keptMoves+1:]...)
	}
	s.URL, s.Candidate = to, nil
	if !sameURL(s.Validators.URL, to) {
		s.forgetValidators()
	}
}

// withUser copies the user name and password of old to a new URL on the same host, unless the
// new URL would send them unencrypted.
func withUser(to, old string) string {
	o, err := url.Parse(old)
	if err != nil || o.User == nil {
		return to
	}
	u, err := url.Parse(to)
	if err != nil || u.User != nil || u.Host != o.Host && u.Hostname() != o.Hostname() || u.Scheme != o.Scheme && u.Scheme != "https" {
		return to
	}
	u.User = o.User
	return u.String()
}

// unproven reports whether the feed was moved to a URL where it has not been read yet.
func (s State) unproven() bool {
	n := len(s.Moves)
	return n > 0 && !s.Moves[n-1].Proven && s.Moves[n-1].To == s.URL
}

func (s *State) prove() {
	if s.unproven() {
		s.Moves[len(s.Moves)-1].Proven = true
	}
}

// Undo reverts the last move at a user's request. The feed is due immediately at its old URL, and
// does not move to the rejected URL automatically again. If there is no move, ok is false.
func Undo(s State, now time.Time) (_ State, ok bool) {
	s = s.own()
	refused := s.URL
	if !s.back() {
		return s, false
	}
	s.Refused = refused
	s.NextAt, s.Reason = stamp(now), "it was moved back by hand"
	return s, true
}

// back restores the previous URL.
func (s *State) back() bool {
	n := len(s.Moves)
	if n == 0 {
		return false
	}
	s.URL, s.Moves, s.Candidate = s.Moves[n-1].From, s.Moves[:n-1], nil
	if !sameURL(s.Validators.URL, s.URL) {
		s.forgetValidators()
	}
	return true
}
