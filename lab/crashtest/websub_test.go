package crashtest

import (
	"testing"
	"time"
)

// A process crashed after a callback had confirmed a second subscription with another secret. A
// later confirmed cancel can remove this request before it takes effect. Until then, the first
// secret is valid.
func TestOldSecretStaysAcceptedWhileTheNewOneIsUncertain(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	at := func(s int) time.Time { return start.Add(time.Duration(s) * time.Second) }
	p := pair{"http://feed.test/", "http://callback.test/"}
	old := &request{pair: p, mode: subscribe, secret: "old", lease: 1, agreed: true}
	renewed := &request{pair: p, mode: subscribe, secret: "new", lease: 2, agreed: true}
	for name, c := range map[string]struct {
		lifetimes []lifetime
		end       []verification // verifications after the second subscription was confirmed at time 30
		want      bool           // whether the old secret is valid at time 80
	}{
		"no crash":                                     {[]lifetime{{started: at(10)}}, nil, false},
		"a crash without later requests":               {[]lifetime{{started: at(10), ended: at(31)}, {started: at(40)}}, nil, false},
		"a crash, then a confirmed cancel":             {[]lifetime{{started: at(10), ended: at(31)}, {started: at(40)}}, []verification{{mode: unsubscribe, at: at(90), yes: true}}, true},
		"a crash, then a declined cancel":              {[]lifetime{{started: at(10), ended: at(31)}, {started: at(40)}}, []verification{{mode: unsubscribe, at: at(90)}}, false},
		"no crash, and a confirmed cancel":             {[]lifetime{{started: at(10)}}, []verification{{mode: unsubscribe, at: at(90), yes: true}}, false},
		"a new question before the cancel":             {[]lifetime{{started: at(10), ended: at(31)}, {started: at(40)}}, []verification{{mode: subscribe, lease: 2, at: at(50), yes: true}, {mode: unsubscribe, at: at(90), yes: true}}, false},
		"a new question and a crash before the cancel": {[]lifetime{{started: at(10), ended: at(31)}, {started: at(40), ended: at(51)}, {started: at(60)}}, []verification{{mode: subscribe, lease: 2, at: at(50), yes: true}, {mode: unsubscribe, at: at(90), yes: true}}, true},
	} {
		h := &history{lifetimes: append([]lifetime{{started: at(0), ended: at(5)}}, c.lifetimes...), requests: map[pair][]*request{p: {old, renewed}}, received: map[pair][]receipt{},
			verifications: map[pair][]verification{p: append([]verification{{mode: subscribe, lease: 1, at: at(1), yes: true}, {mode: subscribe, lease: 2, at: at(30), yes: true}}, c.end...)}}
		begun := h.lifetimes[h.lifetimeAt(at(80))].started
		if got := h.permitted(p, "old", at(80), begun); got != c.want {
			t.Errorf("%s: the old secret is valid: %v, want %v", name, got, c.want)
		}
		if !h.permitted(p, "new", at(80), begun) {
			t.Errorf("%s: the new secret is invalid", name)
		}
	}
}

// A process asked two requests of one subscription at the same time and crashed. The callback read
// the question about the older, replaced request only after the crash.
func TestQuestionOfACrashedProcessDoesNotCountLater(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	at := func(s int) time.Time { return start.Add(time.Duration(s) * time.Second) }
	p := pair{"http://feed.test/", "http://callback.test/"}
	replaced := &request{pair: p, mode: subscribe, secret: "replaced", lease: 1, agreed: true}
	last := &request{pair: p, mode: subscribe, secret: "last", lease: 2, agreed: true}
	for name, c := range map[string]struct {
		conn time.Time
		want bool // whether the last secret is valid
	}{
		"asked before the crash": {at(29), true},
		"asked after the crash":  {at(42), false},
	} {
		h := &history{lifetimes: []lifetime{{started: at(10), ended: at(31)}, {started: at(40), ended: at(60)}, {started: at(70)}},
			requests: map[pair][]*request{p: {replaced, last}}, received: map[pair][]receipt{},
			verifications: map[pair][]verification{p: {{mode: subscribe, lease: 2, conn: at(27), at: at(28), yes: true}, {mode: subscribe, lease: 1, conn: c.conn, at: at(43), yes: true}}}}
		h.dateVerifications()
		if got := h.permitted(p, "last", at(80), at(70)); got != c.want {
			t.Errorf("%s: the last secret is valid: %v, want %v", name, got, c.want)
		}
	}
}
