// Package validator decides whether a 304 counts as an answer after somebody announced
// that a document changed.
//
// A 304 is a claim of the origin, and it is only as good as the validator that it is
// about. A Last-Modified counts whole seconds, a weak ETag may stay the same over a small
// change, and some origins send one ETag for every content. So a 304 counts only for a
// strong ETag that was seen to change together with the content. Otherwise the document is
// read in full, and a hash of its bytes decides.
//
// [Evidence] is what is known of the validators of one document; its owner stores it with
// the validators. [Evidence.Doubt] decides whether they can be trusted, [Evidence.Read]
// records a full read, and [Evidence.NextFullRead] schedules the next full read.
package validator

import (
	"net/http"
	"strings"
	"time"
)

const (
	// Margin is how old a Last-Modified must be at the time of the read. A document that is
	// younger may change again and keep the same Last-Modified.
	Margin = 2 * time.Second
	// Settled is how long after such a read the document is read once more.
	Settled = Margin + 200*time.Millisecond
	// BelievedFor is how long after a full read a 304 may count. A document for which one
	// counted is read in full when that time is over.
	BelievedFor = time.Hour
)

const longestETag = 2 << 10 // bytes

// Proof is what was seen of a document's ETags.
type Proof string

// The values of a Proof.
const (
	Unproven Proof = ""
	Proven   Proof = "proven"  // one strong ETag gave way to another when the content changed
	Refuted  Proof = "refuted" // the content changed, and an ETag or a 304 claimed that it had not
)

// Evidence is what is known of the validators of one document. The zero Evidence belongs
// to a document that was never read.
type Evidence struct {
	Proof    Proof     `json:"proof,omitempty"`
	Recent   bool      `json:"recent,omitempty"`   // at the last full read, Last-Modified was less than Margin ago
	Believed bool      `json:"believed,omitempty"` // a 304 counted since the last full read
	FullAt   time.Time `json:"fullAt,omitzero"`    // when the last full read ended; zero: there was none
}

// Version is one state of a document. Hash is any hash of its bytes; "" means that it is
// not known.
type Version struct{ ETag, Hash string }

// FullRead is an answer that had a body.
type FullRead struct {
	Was, Is      Version
	Conditional  bool      // the request had validators
	LastModified string    // of the answer, as the origin sent it
	Date         string    // of the answer, as the origin sent it
	At           time.Time // when the read ended
}

// Read returns the evidence after a full read. An answer without a strong ETag ends a
// proof: what answers now is not what was observed.
func (e Evidence) Read(r FullRead) Evidence {
	changed := r.Was.Hash != "" && r.Is.Hash != "" && r.Was.Hash != r.Is.Hash
	same := Strong(r.Was.ETag) && r.Was.ETag == r.Is.ETag
	switch {
	case e.Proof == Refuted:
	case changed && (same || e.Believed && !r.Conditional):
		e.Proof = Refuted
	case !Strong(r.Is.ETag):
		e.Proof = Unproven
	case changed && Strong(r.Was.ETag):
		e.Proof = Proven
	}
	e.Recent, e.Believed, e.FullAt = recent(r), false, r.At.UTC()
	return e
}

// Believe returns the evidence after a 304 that counted.
func (e Evidence) Believe() Evidence {
	e.Believed = true
	return e
}

// recent compares Last-Modified with the origin's own clock, or with ours when the origin
// does not send its Date.
func recent(r FullRead) bool {
	modified, err := http.ParseTime(r.LastModified)
	if err != nil {
		return false
	}
	date, err := http.ParseTime(r.Date)
	if err != nil {
		date = r.At
	}
	return date.Sub(modified).Abs() < Margin
}

// NextFullRead returns when the document must be read in full once more although nobody
// announced a change; the zero time when it need not be. now is the time of the check that
// e resulted from. A follow-up is a check that was itself due to NextFullRead: it never leads
// to a second one because of Last-Modified, or a document that is made for each request
// would be read for ever.
//
// spec:cloudburst#ping-look-again
func (e Evidence) NextFullRead(now time.Time, followUp bool) time.Time {
	switch {
	case e.Believed:
		return e.FullAt.Add(BelievedFor)
	case e.Recent && !followUp:
		return now.Add(Settled)
	}
	return time.Time{}
}

// Doubt is a reason to read a document in full. NoDoubt means that its ETag may be sent,
// and that a 304 counts.
type Doubt string

// The reasons, in the order in which they are looked for.
const (
	NoDoubt    Doubt = ""
	NoETag     Doubt = "no-etag"
	WeakETag   Doubt = "weak-etag"
	WrongOnce  Doubt = "refuted"
	NotProven  Doubt = "unproven"
	TooRecent  Doubt = "recent"
	DuringRead Doubt = "during-read"
	LongAgo    Doubt = "long-ago"
)

// Doubt says why the ETag of a document cannot be believed about a change that was
// announced at a time.
func (e Evidence) Doubt(etag string, announced, now time.Time) Doubt {
	since := now.Sub(e.FullAt)
	switch {
	case etag == "":
		return NoETag
	case !Strong(etag):
		return WeakETag
	case e.Proof == Refuted:
		return WrongOnce
	case e.Proof != Proven:
		return NotProven
	case e.Recent:
		return TooRecent
	case !announced.After(e.FullAt):
		return DuringRead
	case since < 0 || since >= BelievedFor:
		return LongAgo
	}
	return NoDoubt
}

// Reason is the doubt as a clause for people; "" for NoDoubt.
func (d Doubt) Reason() string {
	switch d {
	case NoETag:
		return "its server sends no ETag with it"
	case WeakETag:
		return "its ETag is weak or malformed"
	case WrongOnce:
		return "its server once claimed that the feed was unchanged when it had changed"
	case NotProven:
		return "its ETag has not yet been seen to change together with the content"
	case TooRecent:
		return "it had changed less than two seconds before it was last read"
	case DuringRead:
		return "the change was announced before the last read ended"
	case LongAgo:
		return "it was not read in full within the last hour"
	}
	return string(d)
}

// Strong reports whether an ETag is strong and well formed. An empty one identifies
// nothing.
func Strong(etag string) bool {
	n := len(etag)
	if n < 3 || n > longestETag || etag[0] != '"' || etag[n-1] != '"' {
		return false
	}
	return !strings.ContainsFunc(etag[1:n-1], func(r rune) bool { return r <= ' ' || r == '"' || r == 0x7f })
}

// Confirms reports whether a 304 is about the ETag that was sent. A 304 that names another
// one is about another state of the document.
func Confirms(sent, named string) bool { return named == "" || named == sent }
