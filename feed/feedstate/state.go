// Package feedstate decides when a feed is read again, whether it has moved and
// whether it is gone.
//
// It is pure: it has no clock, reads nothing and rolls no dice. What is known of a
// feed is a [State], which its owner stores; what a check brought is an [Answer];
// [Next] makes a new State of both and a [Decision], which says when the next check
// is due, why, and what else was considered. [Request] gives the validators for that
// check. The rules are those of "RSS Feed State" (Randy Charles Morin, 2007), of
// HTTP caching (RFC 9111) and of the formats themselves.
//
//	s := feedstate.New("https://example.org/rss.xml", now)
//	v := feedstate.Request(s)                // nothing yet: the one unconditional GET
//	a := feedstate.Answer{Status: 200, …}    // what came, asked by v.Header()
//	a.Read(feed.ParseBytes(body, nil))
//	s, d := feedstate.Next(s, a, now, feedstate.Options{Jitter: rand.Float64()})
//
// Store the State that Next returns in the same transaction as the items of that
// answer. If the items cannot be stored, throw the new State away too: a validator
// that is kept without its items loses them for good.
//
// # The next check
//
// What a feed says of its own rhythm (ttl, sy:, CDF SCHEDULE) takes the place of the
// default, which comes from the distance of its posts. HTTP freshness, skipHours,
// skipDays and Retry-After only ever put a check off. The latest of them is the
// moment, at least [Shortest] and at most [Longest] away, [LongestRetry] for a
// Retry-After, and then a little later by Options.Jitter, never earlier than a hint
// allows. A user's own interval replaces the hints and these bounds, but not skipHours and
// skipDays, and not the wait of a server that is failing or has asked to be left alone.
//
// No planned check falls into what skipHours and skipDays name: where that is longer than
// these bounds, so is the wait. Checks that a user asks for, and those that a hub asks for
// because the feed changed, are not planned and not held back; see [State.Allowed].
//
// # Interoperability
//
// Hints that would silence a feed (all 24 hours or all seven days skipped, a ttl of
// 0) are junk and ignored. An hour 24 is hour 0. Validators are kept and sent byte for
// byte, unquoted ones too, and only to the URL that gave them. No number of
// failures makes a feed gone: only 410 and an empty <redirect> do.
package feedstate

import (
	"encoding/json"
	"net/http"
	"slices"
	"time"
	"unicode/utf8"

	"cloudburst/feed"
	"cloudburst/internal/date"
)

// Bounds of the wait for the next check. A user's own interval has other ones.
const (
	Shortest     = 5 * time.Minute
	Longest      = 24 * time.Hour
	LongestRetry = 48 * time.Hour // when Retry-After asks for it

	ShortestOwn   = time.Minute // of a user's own interval
	LongestOwn    = 30 * 24 * time.Hour
	RefreshEvery  = time.Minute // by hand, at most
	DefaultRhythm = time.Hour   // of a feed that nothing is known of
	MaxRedirects  = 5           // that one check follows
	MoveSightings = 3           // checks that must see a permanent redirect
	MoveSeenFor   = 24 * time.Hour
)

// skippedAtMost is what skipHours and skipDays can add to a wait: all hours of a week but
// one, and what they are spread over.
const skippedAtMost = 8 * 24 * time.Hour

// skippedSpread is over how much time checks are spread that wait for the same hour to end.
const skippedSpread = 10 * time.Minute

const (
	longestValidator = 1 << 10  // bytes of a validator that is worth keeping
	keptMoves        = 5        // old addresses: the first, and the last ones
	keptChanges      = 6        // moments when a feed without dates had changed
	resumedWithin    = Shortest // overdue checks are spread over this after a restart
)

// State is everything that is remembered of one feed between checks. It is plain
// data: store it as JSON, or field by field. All times are UTC. The zero State with
// a URL is a feed that has never been read. A State is never changed in place.
type State struct {
	URL        string     `json:"url"` // what to ask for
	Validators Validators `json:"validators,omitzero"`
	Hash       string     `json:"hash,omitempty"`    // of the last body that was a feed
	Evidence   Evidence   `json:"evidence,omitzero"` // of the validators: whether a 304 counts after an announcement

	Hints   feed.Hints `json:"hints,omitzero"`   // of the last document that was read; a 304 leaves them
	HintsAt time.Time  `json:"hintsAt,omitzero"` // when they were last confirmed, by a 200 or a 304
	Cache   Cache      `json:"cache,omitzero"`   // what HTTP said about freshness

	CheckedAt time.Time `json:"checkedAt,omitzero"` // the last check of any kind and outcome
	PolledAt  time.Time `json:"polledAt,omitzero"`  // the last one that no push asked for
	ReadAt    time.Time `json:"readAt,omitzero"`    // the last that worked
	ChangedAt time.Time `json:"changedAt,omitzero"` // the last that brought another body
	NextAt    time.Time `json:"nextAt,omitzero"`    // zero: never, for the feed is gone
	Reason    string    `json:"reason,omitempty"`   // of NextAt, for people
	// FollowUpAt is when the feed is read in full once more after an announced change; see
	// [State.DueAt]. Zero: no follow-up is needed.
	FollowUpAt time.Time `json:"followUpAt,omitzero"`

	Newest  time.Time     `json:"newest,omitzero"`  // post
	Spacing time.Duration `json:"spacing,omitzero"` // usual distance of posts, in nanoseconds; 0: not known
	Changes []time.Time   `json:"changes,omitempty"`

	Failures int       `json:"failures,omitempty"` // in a row
	Limited  int       `json:"limited,omitempty"`  // answers in a row that only asked for patience
	Failure  *Failure  `json:"failure,omitempty"`  // the last one; nil when the last check worked
	Since    time.Time `json:"since,omitzero"`     // when the failures began
	Wait     *Wait     `json:"wait,omitempty"`     // Retry-After, while it lasts

	Candidate *Candidate `json:"candidate,omitempty"` // a permanent redirect that must be seen more often
	Moves     []Move     `json:"moves,omitempty"`     // the newest last
	Refused   string     `json:"refused,omitempty"`   // an address that a user sent the feed back from

	Push     Push          `json:"push,omitzero"`
	Interval time.Duration `json:"interval,omitzero"` // the user's own, in nanoseconds; 0: none
	Gone     *Gone         `json:"gone,omitempty"`
}

// Validators are what the last answer gave to ask again by, byte for byte.
type Validators struct {
	URL          string `json:"url,omitempty"` // that gave them, and the only one they go to
	ETag         string `json:"etag,omitempty"`
	LastModified string `json:"lastModified,omitempty"`
}

// storedValidators is the JSON of Validators. A header may hold any bytes; what is
// not UTF-8 is written in base64, or it would not come back as it was.
type storedValidators struct {
	URL             string `json:"url,omitempty"`
	ETag            string `json:"etag,omitempty"`
	LastModified    string `json:"lastModified,omitempty"`
	ETagRaw         []byte `json:"etagBase64,omitempty"`
	LastModifiedRaw []byte `json:"lastModifiedBase64,omitempty"`
}

// MarshalJSON gives url, etag and lastModified; the latter two are etagBase64 and
// lastModifiedBase64 when they are not UTF-8.
func (v Validators) MarshalJSON() ([]byte, error) {
	out := storedValidators{URL: v.URL, ETag: v.ETag, LastModified: v.LastModified}
	if !utf8.ValidString(v.ETag) {
		out.ETag, out.ETagRaw = "", []byte(v.ETag)
	}
	if !utf8.ValidString(v.LastModified) {
		out.LastModified, out.LastModifiedRaw = "", []byte(v.LastModified)
	}
	return json.Marshal(out)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (v *Validators) UnmarshalJSON(b []byte) error {
	var in storedValidators
	if err := json.Unmarshal(b, &in); err != nil {
		return err
	}
	*v = Validators{URL: in.URL, ETag: in.ETag + string(in.ETagRaw), LastModified: in.LastModified + string(in.LastModifiedRaw)}
	return nil
}

// Empty says that there is nothing to ask by.
func (v Validators) Empty() bool { return v.ETag == "" && v.LastModified == "" }

// Header gives the fields of a conditional request, none when v is empty.
func (v Validators) Header() http.Header {
	h := http.Header{}
	// spec:feedstate-2007#etag-request
	if v.ETag != "" {
		h["If-None-Match"] = []string{v.ETag}
	}
	// spec:feedstate-2007#last-modified-request
	if v.LastModified != "" {
		h["If-Modified-Since"] = []string{v.LastModified}
	}
	return h
}

// Failure is why the last check did not work.
type Failure struct {
	Kind   ErrorKind `json:"kind"`
	Status int       `json:"status,omitempty"`
	Text   string    `json:"text"` // for people
	At     time.Time `json:"at"`
}

// Gone says that a feed is over. Its items stay; see [Revive].
type Gone struct {
	At     time.Time `json:"at"`
	Reason string    `json:"reason"` // for people
}

// New is a feed that has never been read. It is due at once.
func New(url string, now time.Time) State {
	return State{URL: url, NextAt: stamp(now), Reason: "it has never been read"}
}

// Request gives the validators of the next planned check. They may go to Validators.URL
// only: when the check is redirected elsewhere, they must not be sent there. [Ask] is for
// checks of every cause.
func Request(s State) Validators { return s.Validators }

// Due says whether it is time for a check. A next check that lies further ahead than
// any can is a sign that the clock was wrong when it was set, and is due too.
func Due(s State, now time.Time) bool {
	if s.Gone != nil {
		return false
	}
	at := s.DueAt()
	return !now.Before(at) || at.Sub(now) > s.furthest()
}

// DueAt is when the next check is due: NextAt, or FollowUpAt where that comes first.
func (s State) DueAt() time.Time {
	if s.FollowUpAt.IsZero() {
		return s.NextAt
	}
	return date.Earlier(s.FollowUpAt, s.NextAt)
}

// furthest is the longest wait that this feed can have been given.
func (s State) furthest() time.Duration {
	longest := max(LongestRetry, ownInterval(s.Interval))
	if len(s.Hints.SkipHours)+len(s.Hints.SkipDays) > 0 {
		longest += skippedAtMost
	}
	return longest
}

// Resume is for the start of a program: a check that is still ahead stays where it
// is, and those that were missed are spread over the next minutes by jitter, a
// fraction from 0 to 1. Nothing is read just because of the start.
func Resume(s State, now time.Time, jitter float64) State {
	if !Due(s, now) {
		return s
	}
	s.NextAt = s.Allowed(stamp(now.Add(scale(resumedWithin, jitter))), jitter)
	s.putOffFollowUp()
	return s
}

// Allowed is the first moment from t on at which skipHours and skipDays leave a check free:
// t, or some minutes after the end of what is skipped, spread by jitter, a fraction from 0
// to 1. It is for checks that could not be made when they were due.
func (s State) Allowed(t time.Time, jitter float64) time.Time {
	if len(s.Hints.SkipHours)+len(s.Hints.SkipDays) == 0 {
		return t
	}
	skip, _ := ParseSkip(s.Hints.SkipHours, s.Hints.SkipDays) // what is wrong in it is left out
	return skip.leave(t, jitter)
}

// Refresh says whether a user may have the feed read now, and if not, from when and
// why not.
func Refresh(s State, now time.Time) (ok bool, from time.Time, why string) {
	if s.Wait != nil && s.Wait.Until.After(now) && s.Wait.Until.Sub(now) <= LongestRetry {
		return false, s.Wait.Until, "its server asked to be left alone until then"
	}
	if from = s.CheckedAt.Add(RefreshEvery); from.After(now) && !s.CheckedAt.After(now) {
		return false, from, "it was read less than a minute ago"
	}
	return true, now, ""
}

// Revive brings a feed back that was gone, or that has been failing: it is due at
// once. Nothing else is forgotten.
func Revive(s State, now time.Time) State {
	s.Gone, s.Failure, s.Since = nil, nil, time.Time{}
	s.Failures, s.Limited = 0, 0
	s.NextAt, s.Reason = stamp(now), "it was brought back by hand"
	return s
}

// stamp is a time as it is stored.
func stamp(t time.Time) time.Time { return t.Round(0).UTC() }

func scale(d time.Duration, fraction float64) time.Duration {
	return time.Duration(float64(d) * min(max(fraction, 0), 1))
}

// own makes the slices and pointers of s its own, so that a caller's State does not
// change with the new one.
func (s State) own() State {
	s.Changes, s.Moves = slices.Clone(s.Changes), slices.Clone(s.Moves)
	if s.Candidate != nil {
		c := *s.Candidate
		s.Candidate = &c
	}
	return s
}
