package polling

import (
	"time"

	"cloudburst/internal/validator"
)

// Evidence is the observed behavior of a feed's validators: see [RequestFor]. The zero Evidence
// proves nothing.
type Evidence = validator.Evidence

// CheckRequest describes the request of a check.
type CheckRequest struct {
	Validators Validators // validators to send; empty: the feed is read in full
	Revalidate bool       // caches along the way must revalidate with the feed's server
	Why        string     // reason for reading the feed in full, as a clause for people; "": validators are sent
}

// Full reports whether the request contains no validators.
func (a CheckRequest) Full() bool { return a.Validators.Empty() }

// DueFor returns the cause of a check that is due at now.
func DueFor(s State, now time.Time) Cause {
	switch {
	case s.Push.Pending:
		return Pushed
	case !s.FollowUpAt.IsZero() && !now.Before(s.FollowUpAt):
		return FollowUp
	}
	return Poll
}

// RequestFor returns the request of a check. A planned check sends the validators unchanged. A
// check that must find an announced change sends the ETag only if it is strong and was observed to
// change together with the content. Otherwise it reads the feed in full, and the content decides
// whether the feed has changed. announced is the time of the announcement.
//
// spec:cloudburst#river-push-decides-by-content
func RequestFor(s State, cause Cause, announced, now time.Time) CheckRequest {
	if !cause.verifies() {
		out := CheckRequest{Validators: s.Validators}
		if out.Full() {
			out.Why = "its server has sent no validators"
		}
		if s.ReadAt.IsZero() {
			out.Why = "it has never been read"
		}
		return out
	}
	out := CheckRequest{Revalidate: true}
	doubt := s.Evidence.Doubt(s.tag(), announced, now)
	switch {
	case s.ReadAt.IsZero():
		out.Why = "it has never been read"
	case s.Push.Pending:
		out.Why = "the last check after an announced change failed"
	case s.tag() == "" && s.Validators.ETag != "":
		out.Why = "its address redirects"
	case doubt == validator.NoDoubt:
		out.Validators = Validators{URL: s.Validators.URL, ETag: s.Validators.ETag}
	default:
		out.Why = doubt.Reason()
	}
	return out
}

// verifies reports whether a check with this cause must find a change that was announced or that
// the user expects.
func (c Cause) verifies() bool { return c == Pushed || c == ByHand || c == FollowUp }

// polled reports whether a check takes the place of the planned check.
func (a Answer) polled(before State, now time.Time) bool {
	switch a.Cause {
	case Pushed:
		return before.Failure != nil
	case FollowUp:
		return before.Failure != nil || !now.Before(before.NextAt)
	}
	return true
}

// tag returns the ETag to which the evidence refers. It returns "" behind a redirect, because the
// redirect can lead to another document next time.
func (s State) tag() string {
	if !sameURL(s.Validators.URL, s.URL) {
		return ""
	}
	return s.Validators.ETag
}

// forgetValidators removes the validators and their evidence, because another URL now answers.
func (s *State) forgetValidators() { s.Validators, s.Evidence = Validators{}, Evidence{} }

// fullRead updates the evidence after an answer with a body.
func (s *State) fullRead(a Answer, before State, now time.Time) {
	s.Evidence = s.Evidence.Read(validator.FullRead{
		Was: validator.Version{ETag: before.tag(), Hash: before.Hash}, Is: validator.Version{ETag: s.tag(), Hash: a.Hash},
		Conditional: !a.Full && !before.Validators.Empty(), LastModified: a.Header.Get("Last-Modified"), Date: a.Header.Get("Date"), At: stamp(now),
	})
}

// notModified updates the evidence after a 304. A 304 to a planned check proves nothing. After a
// 304 with a different ETag the ETag is no longer proven, because the new ETag belongs to content
// that was not read.
func (s *State) notModified(c Cause, was string) {
	switch {
	case s.tag() != was && s.Evidence.Proof == validator.Proven:
		s.Evidence.Proof = validator.Unproven
	case c.verifies():
		s.Evidence = s.Evidence.Believe()
	}
}

// leaveOpen records whether an announced change is still unread, and when to verify it. A 304
// to a planned check does not change this record.
//
// spec:cloudburst#river-push-second-read
func (s *State) leaveOpen(v verdict, a Answer, now time.Time, o Options) {
	read := v.outcome == Changed || v.outcome == Unchanged
	switch {
	case s.Gone != nil:
		s.Push.Pending, s.FollowUpAt = false, time.Time{}
		return
	case a.Cause == Delivered, read && a.Cause == Poll && a.Status == 304:
		return
	case !read:
		s.Push.Pending = s.Push.Pending || a.Cause == Pushed
		s.putOffFollowUp()
		return
	}
	s.Push.Pending = false
	switch {
	case a.Cause.verifies():
		s.FollowUpAt = s.Evidence.NextFullRead(stamp(now), a.Cause != Pushed)
		if s.Evidence.Believed { // in an hour instead, because the check counts as planned and respects skipHours
			s.FollowUpAt = s.Allowed(s.FollowUpAt, o.Jitter)
		}
	case !s.Evidence.Recent:
		s.FollowUpAt = time.Time{}
	}
}

// putOffFollowUp delays an earlier follow-up until the next planned check.
func (s *State) putOffFollowUp() {
	if !s.FollowUpAt.IsZero() && s.FollowUpAt.Before(s.NextAt) {
		s.FollowUpAt = s.NextAt
	}
}
