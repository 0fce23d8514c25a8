// Package validator decides whether a 304 counts as a response after a document was announced as
// changed.
//
// A 304 is a claim of the origin, and only as reliable as its validator. Last-Modified has whole
// seconds, a weak ETag may survive a small change, and some origins send one constant ETag. So a
// 304 counts only for a strong ETag that was seen to change together with the content. Otherwise
// the document is read in full, and a hash of its bytes decides.
//
// [Evidence] holds the observations about the validators of one document; the caller stores it with
// the validators. [Evidence.Doubt] decides whether to trust the validators, [Evidence.Read] records
// a full read, and [Evidence.NextFullRead] schedules the next full read.
package validator

import (
	"net/http"
	"strings"
	"time"
)

const (
	// Margin is the minimum age of a Last-Modified at the time of the read. A younger document may
	// change again within the same second and keep its Last-Modified.
	Margin = 2 * time.Second
	// Settled is the delay of the follow-up read for a document younger than Margin.
	Settled = Margin + 200*time.Millisecond
	// BelievedFor is the time after a full read during which a 304 counts. After this time, a
	// document for which a 304 counted is read in full.
	BelievedFor = time.Hour
)

const longestETag = 2 << 10 // maximum bytes of an ETag

// Proof contains the observations about a document's ETags.
type Proof string

// These are the values of a Proof.
const (
	Unproven Proof = ""
	Proven   Proof = "proven"  // the strong ETag changed together with the content
	Refuted  Proof = "refuted" // an ETag or a 304 claimed that changed content was unchanged
)

// Evidence holds the observations about the validators of one document. The zero Evidence means
// that the document was never read.
type Evidence struct {
	Proof    Proof     `json:"proof,omitempty"`
	Recent   bool      `json:"recent,omitempty"`   // at the last full read, Last-Modified was younger than Margin
	Believed bool      `json:"believed,omitempty"` // a 304 counted since the last full read
	FullAt   time.Time `json:"fullAt,omitzero"`    // end of the last full read; zero: none
}

// Version is one state of a document. Hash is any hash of its bytes; "" means unknown.
type Version struct{ ETag, Hash string }

// FullRead is a response with a body.
type FullRead struct {
	Was, Is      Version
	Conditional  bool      // the request had validators
	LastModified string    // header as the origin sent it
	Date         string    // header as the origin sent it
	At           time.Time // time when the read ended
}

// Read returns the evidence after a full read. A response without a strong ETag ends a proof,
// because the origin behaves differently now.
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

// recent reports whether Last-Modified differs by less than Margin from the origin's Date, or from
// r.At if there is no Date.
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

// NextFullRead returns the time of the next full read that needs no announcement; zero: none is
// due. now is the time of the check that led to e. followUp means that an earlier call of
// NextFullRead scheduled this check. After such a check, NextFullRead schedules no further read
// because of Last-Modified; otherwise a document generated per request would be read forever.
//
// spec:cloudburst#ping-second-read
func (e Evidence) NextFullRead(now time.Time, followUp bool) time.Time {
	switch {
	case e.Believed:
		return e.FullAt.Add(BelievedFor)
	case e.Recent && !followUp:
		return now.Add(Settled)
	}
	return time.Time{}
}

// Doubt is a reason to read a document in full. NoDoubt means that the ETag of the document may be
// sent and that a 304 counts.
type Doubt string

// These are the reasons, in the order of the checks.
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

// Doubt returns why the ETag of a document cannot be trusted about a change announced at a given
// time.
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

// Reason returns the doubt as a clause for people; "" for NoDoubt.
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

// Strong reports whether an ETag is strong and well-formed. An empty ETag is not strong.
func Strong(etag string) bool {
	n := len(etag)
	if n < 3 || n > longestETag || etag[0] != '"' || etag[n-1] != '"' {
		return false
	}
	return !strings.ContainsFunc(etag[1:n-1], func(r rune) bool { return r <= ' ' || r == '"' || r == 0x7f })
}

// Confirms reports whether a 304 is about the ETag that was sent. A 304 that names another ETag is
// about another version of the document.
func Confirms(sent, named string) bool { return named == "" || named == sent }
