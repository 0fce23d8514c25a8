// Package polling decides when to read a feed again, and detects whether it has moved or is
// gone.
//
// The package has no clock, no input or output and no source of randomness. A [State] holds
// what is known about a feed; the caller stores it. An [Answer] is the result of a check.
// [Next] combines both into a new State and a [Decision]: the time of the next check, the
// reason, and the other rules that were considered. [Request] returns the validators for that
// check. The rules follow "RSS Feed State" (Randy Charles Morin, 2007), HTTP caching
// (RFC 9111) and the feed formats themselves.
//
//	s := polling.New("https://example.org/rss.xml", now)
//	v := polling.Request(s)                // empty: the first GET is unconditional
//	a := polling.Answer{Status: 200, …}    // the response to a request with v.Header()
//	a.Read(feed.ParseBytes(body, nil))
//	s, d := polling.Next(s, a, now, polling.Options{Jitter: rand.Float64()})
//
// Store the State that Next returns in the same transaction as the items of that answer. If
// the items cannot be stored, discard the new State as well: a validator that is stored
// without its items causes the loss of these items.
//
// # The next check
//
// The hints of a feed about its own rhythm (ttl, sy:, CDF SCHEDULE) replace the default, which
// derives from the time between its posts. HTTP freshness, skipHours, skipDays and Retry-After
// can only delay a check. The latest of these times decides. It is at least [Shortest] and at
// most [Longest] away, or [LongestRetry] for a Retry-After. Options.Jitter then adds a short
// delay, and never makes a check earlier than a hint allows. A user's own interval replaces the
// hints and these bounds. It does not replace skipHours, skipDays, or the wait for a server
// that fails or sent Retry-After.
//
// No planned check happens in the hours and days that skipHours and skipDays name, even if the
// wait then exceeds these bounds. Checks that a user requests, and checks that a hub causes
// by announcing a change, are not planned and not delayed; see [State.Allowed].
//
// # Interoperability
//
// Hints that would stop a feed (all 24 hours or all seven days skipped, a ttl of 0) are
// ignored. Hour 24 means hour 0. Validators are stored and sent byte for byte, even without
// quotation marks, and only to the URL that sent them. No number of failures makes a feed gone:
// only 410 and an empty <redirect> do.
package polling

import (
	"encoding/json"
	"net/http"
	"slices"
	"time"
	"unicode/utf8"

	"cloudburst/feed"
	"cloudburst/internal/date"
)

// Bounds of the wait for the next check. A user's own interval has separate bounds.
const (
	Shortest     = 5 * time.Minute // minimum wait for the next check
	Longest      = 24 * time.Hour  // maximum wait for the next check
	LongestRetry = 48 * time.Hour  // maximum wait if a Retry-After requests it

	ShortestUserInterval = time.Minute         // minimum of a user's own interval
	LongestUserInterval  = 30 * 24 * time.Hour // maximum of a user's own interval
	RefreshInterval      = time.Minute         // minimum time between two checks that a user requests
	DefaultInterval      = time.Hour           // interval for a feed without hints whose posting rhythm is unknown
	MaxRedirects         = 5                   // maximum number of redirects per check
	MoveSightings        = 3                   // number of checks that must observe a permanent redirect before the feed moves
	MoveSeenFor          = 24 * time.Hour      // minimum time between the first and the last of these checks
)

// skippedAtMost is the maximum time that skipHours and skipDays add to a wait: all hours of a
// week except one, plus the spread.
const skippedAtMost = 8 * 24 * time.Hour

// skippedSpread is the period over which checks are spread that wait for the same hour to end.
const skippedSpread = 10 * time.Minute

const (
	longestValidator = 1 << 10  // maximum bytes of a stored validator
	keptMoves        = 5        // number of stored earlier URLs: the first one and the latest ones
	keptChanges      = 6        // number of stored times of changes, for a feed whose posts have no dates
	resumedWithin    = Shortest // overdue checks are spread over this period after a restart
)

// State is the stored state of one feed between checks. It is plain data: store it as JSON, or
// field by field. All times are UTC. The zero State with a URL is a feed that has never been read.
// Functions return a changed copy of a State.
type State struct {
	URL        string     `json:"url"` // the URL to request
	Validators Validators `json:"validators,omitzero"`
	Hash       string     `json:"hash,omitempty"`    // hash of the last body that was a feed
	Evidence   Evidence   `json:"evidence,omitzero"` // evidence about the validators: whether a 304 counts after an announcement

	Hints   feed.Hints `json:"hints,omitzero"`   // hints of the last parsed document; a 304 does not change them
	HintsAt time.Time  `json:"hintsAt,omitzero"` // last time at which a 200 or 304 confirmed the hints
	Cache   Cache      `json:"cache,omitzero"`   // freshness that the HTTP headers declared

	CheckedAt time.Time `json:"checkedAt,omitzero"` // time of the last check of any kind and outcome
	PolledAt  time.Time `json:"polledAt,omitzero"`  // time of the last check that no push caused
	ReadAt    time.Time `json:"readAt,omitzero"`    // time of the last successful check
	ChangedAt time.Time `json:"changedAt,omitzero"` // time of the last check that found a different body
	NextAt    time.Time `json:"nextAt,omitzero"`    // time of the next check; zero: none, because the feed is gone
	Reason    string    `json:"reason,omitempty"`   // reason for NextAt, for people
	// FollowUpAt is when the feed is read in full once more after an announced change; see
	// [State.DueAt]. Zero: no follow-up is needed.
	FollowUpAt time.Time `json:"followUpAt,omitzero"`

	Newest  time.Time     `json:"newest,omitzero"`   // date of the newest post
	Spacing time.Duration `json:"spacing,omitzero"`  // usual time between posts, in nanoseconds; 0: unknown
	Changes []time.Time   `json:"changes,omitempty"` // times of the latest changes, for a feed whose posts have no dates

	Failures int       `json:"failures,omitempty"` // number of consecutive failures
	Limited  int       `json:"limited,omitempty"`  // number of consecutive responses that request a wait
	Failure  *Failure  `json:"failure,omitempty"`  // last failure; nil: the last check succeeded
	Since    time.Time `json:"since,omitzero"`     // start of the current series of failures
	Wait     *Wait     `json:"wait,omitempty"`     // Retry-After that still applies; nil: none

	Candidate *Candidate `json:"candidate,omitempty"` // permanent redirect that was not observed often enough; nil: none
	Moves     []Move     `json:"moves,omitempty"`     // earlier URLs, the newest last
	Refused   string     `json:"refused,omitempty"`   // URL that a user rejected with Undo; "": none

	Push     Push          `json:"push,omitzero"`
	Interval time.Duration `json:"interval,omitzero"` // the user's own interval, in nanoseconds; 0: none
	Gone     *Gone         `json:"gone,omitempty"`
}

// Validators are the unchanged validators of the last answer, for conditional requests.
type Validators struct {
	URL          string `json:"url,omitempty"` // URL that sent the validators; only this URL receives them
	ETag         string `json:"etag,omitempty"`
	LastModified string `json:"lastModified,omitempty"`
}

// storedValidators is the JSON of Validators. A header may contain any bytes; base64 preserves
// values that are not UTF-8.
type storedValidators struct {
	URL             string `json:"url,omitempty"`
	ETag            string `json:"etag,omitempty"`
	LastModified    string `json:"lastModified,omitempty"`
	ETagRaw         []byte `json:"etagBase64,omitempty"`
	LastModifiedRaw []byte `json:"lastModifiedBase64,omitempty"`
}

// MarshalJSON writes url, etag and lastModified. Values that are not UTF-8 are written as
// etagBase64 and lastModifiedBase64 instead.
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
	*v = Validators{URL: in.URL, ETag: usable(in.ETag + string(in.ETagRaw)), LastModified: in.LastModified + string(in.LastModifiedRaw)}
	return nil
}

// Empty reports whether v contains neither an ETag nor a Last-Modified date.
func (v Validators) Empty() bool { return v.ETag == "" && v.LastModified == "" }

// Header returns the header fields of a conditional request. If v is empty, there are none.
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

// Failure describes why the last check failed.
type Failure struct {
	Kind   ErrorKind `json:"kind"`
	Status int       `json:"status,omitempty"`
	Text   string    `json:"text"` // for people
	At     time.Time `json:"at"`
}

// Gone records that a feed has ended. The items of the feed stay; see [Revive].
type Gone struct {
	At     time.Time `json:"at"`
	Reason string    `json:"reason"` // for people
}

// New returns the state of a feed that has never been read. The feed is due immediately.
func New(url string, now time.Time) State {
	return State{URL: url, NextAt: stamp(now), Reason: "it has never been read"}
}

// Request returns the validators of the next planned check. Send them only to Validators.URL,
// never to another URL after a redirect. [RequestFor] handles checks of every cause.
func Request(s State) Validators { return s.Validators }

// Due reports whether a check is due. If NextAt is further ahead than the longest wait, the clock
// was wrong when NextAt was set, so the check is due too.
func Due(s State, now time.Time) bool {
	if s.Gone != nil {
		return false
	}
	at := s.DueAt()
	return !now.Before(at) || at.Sub(now) > s.furthest()
}

// DueAt returns when the next check is due: NextAt or FollowUpAt, whichever is earlier.
func (s State) DueAt() time.Time {
	if s.FollowUpAt.IsZero() {
		return s.NextAt
	}
	return date.Earlier(s.FollowUpAt, s.NextAt)
}

// furthest returns the longest possible wait of this feed.
func (s State) furthest() time.Duration {
	longest := max(LongestRetry, ownInterval(s.Interval))
	if len(s.Hints.SkipHours)+len(s.Hints.SkipDays) > 0 {
		longest += skippedAtMost
	}
	return longest
}

// Resume prepares a state for the start of a program. A check in the future stays as it is. Missed
// checks are spread over the next minutes by jitter, a fraction from 0 to 1.
func Resume(s State, now time.Time, jitter float64) State {
	if !Due(s, now) {
		return s
	}
	s.NextAt = s.Allowed(stamp(now.Add(scale(resumedWithin, jitter))), jitter)
	s.putOffFollowUp()
	return s
}

// Allowed returns the first time at or after t that skipHours and skipDays permit: t, or some
// minutes after the skipped time, spread by jitter, a fraction from 0 to 1. Use it for checks
// that could not be made when they were due.
func (s State) Allowed(t time.Time, jitter float64) time.Time {
	if len(s.Hints.SkipHours)+len(s.Hints.SkipDays) == 0 {
		return t
	}
	skip, _ := ParseSkip(s.Hints.SkipHours, s.Hints.SkipDays) // invalid entries are ignored
	return skip.leave(t, jitter)
}

// stamp returns t in the form in which it is stored.
func stamp(t time.Time) time.Time { return t.Round(0).UTC() }

func scale(d time.Duration, fraction float64) time.Duration {
	return time.Duration(float64(d) * min(max(fraction, 0), 1))
}

// own clones the slices and pointers of s, so that changes of the new State do not affect the
// caller's State.
func (s State) own() State {
	s.Changes, s.Moves = slices.Clone(s.Changes), slices.Clone(s.Moves)
	if s.Candidate != nil {
		c := *s.Candidate
		s.Candidate = &c
	}
	return s
}
