package storetest

import (
	"testing"
	"time"

	"cloudburst/internal/event"
	"cloudburst/internal/fault"
	"cloudburst/internal/hub"
)

// outcome is one row of what a result does to a subscription.
type outcome struct {
	before func(s *hub.Subscription)
	result hub.Result
	after  func(s *hub.Subscription) // of what stood there before
}

func resultTests() map[string]func(*testing.T, *env) {
	tests := map[string]func(*testing.T, *env){
		"ResultsOfOneSubscriptionKeepTheirOrder": resultOrder,
		"SettleWritesItsEventsToo": func(t *testing.T, e *env) {
			must(t, e.Settle(e.ctx, e.now, nil, []event.Event{e.event(event.KindError, "one")}))
			same(t, "log", e.log(t), []string{"one"})
		},
		"GoneRemovesIt": func(t *testing.T, e *env) {
			s := e.followers(t, feed, 2)
			must(t, e.Settle(e.ctx, e.now, []hub.Result{{Key: s[0].Key(), Version: 1, Outcome: hub.Gone}}, nil))
			_, err := e.Subscription(e.ctx, s[0].Key())
			faulty(t, err, fault.NotFound)
			same(t, "the other", e.get(t, s[1].Key()), s[1])
		},
		"ARowThatIsGoneIsNoTrouble": func(t *testing.T, e *env) {
			for o := hub.Delivered; o <= hub.Raised; o++ {
				must(t, e.Settle(e.ctx, e.now, []hub.Result{{Key: hub.Key{TopicID: 1, ID: 2}, Version: 1, Outcome: o, NextAt: e.now}}, nil))
			}
		},
		"AnotherClaimIsLeftAlone": otherClaim,
		"AThousandResultsAtOnce":  manyResults,
	}
	e := newEnv(&testing.T{}, nil) // for its clock only
	for name, o := range outcomes(e) {
		tests[name] = func(t *testing.T, e *env) {
			s := e.sub(feed, "http://127.0.0.1/1")
			o.before(&s)
			e.follow(t, feed, s)
			o.result.Key = s.Key()
			must(t, e.Settle(e.ctx, e.now, []hub.Result{o.result}, nil))
			o.after(&s)
			same(t, "after it", e.get(t, s.Key()), s)
		}
	}
	return tests
}

func owed(version int64, next time.Time, claim int64) func(*hub.Subscription) {
	return func(s *hub.Subscription) {
		s.Failures, s.Tries, s.Counted, s.Owed, s.NextAt, s.Claim = 1, 2, version, version, next, claim
	}
}

func outcomes(e *env) map[string]outcome {
	healthy := func(*hub.Subscription) {}
	soon, later := e.in(time.Second), e.in(time.Minute)
	failed := hub.Result{Version: 5, Outcome: hub.Failed, NextAt: later, Tries: 3, Error: "it said 500"}
	errorNoted := func(s *hub.Subscription) {
		s.Tries, s.NextAt, s.Claim, s.LastError, s.LastErrorAt = 3, later, 0, "it said 500", e.now
		if s.FailingSince.IsZero() {
			s.FailingSince = e.now
		}
	}
	claimed := func(r hub.Result) hub.Result { r.Claim = 9; return r }
	return map[string]outcome{
		"DeliveredOwesNothingMore": {owed(5, soon, 9), hub.Result{Version: 5, Outcome: hub.Delivered, Claim: 9}, func(s *hub.Subscription) {
			s.Failures, s.Tries, s.Sent, s.NextAt, s.Claim = 0, 0, 5, time.Time{}, 0
		}},
		"DeliveredEndsTheFailures": {func(s *hub.Subscription) { owed(5, soon, 9)(s); s.FailingSince = e.in(-time.Hour) },
			hub.Result{Version: 5, Outcome: hub.Delivered, Claim: 9}, func(s *hub.Subscription) {
				s.Failures, s.Tries, s.Sent, s.NextAt, s.Claim, s.FailingSince = 0, 0, 5, time.Time{}, 0, time.Time{}
			}},
		"DeliveredFromAPageOwesNothingMore": {owed(4, soon, 0), hub.Result{Version: 5, Outcome: hub.Delivered}, func(s *hub.Subscription) {
			s.Failures, s.Tries, s.Sent, s.NextAt = 0, 0, 5, time.Time{}
		}},
		"DeliveredIsDueAtOnceWhenMoreIsOwedMeanwhile": {owed(6, soon, 9), hub.Result{Version: 5, Outcome: hub.Delivered, Claim: 9}, func(s *hub.Subscription) {
			s.Failures, s.Tries, s.Sent, s.NextAt, s.Claim = 0, 0, 5, e.now, 0
		}},
		"FailedCountsOneChange": {healthy, failed, func(s *hub.Subscription) {
			errorNoted(s)
			s.Failures, s.Counted, s.Owed = 1, 5, 5
		}},
		"FailedCountsANewerChangeToo": {owed(4, soon, 9), claimed(failed), func(s *hub.Subscription) {
			errorNoted(s)
			s.Failures, s.Counted, s.Owed = 2, 5, 5
		}},
		"FailedAgainKeepsTheFirstMoment": {func(s *hub.Subscription) { owed(5, soon, 9)(s); s.FailingSince = e.in(-time.Hour) }, claimed(failed), errorNoted},
		"FailedAgainIsTheSameFailure":    {owed(5, soon, 9), claimed(failed), errorNoted},
		"FailedLateLowersNothing":        {owed(7, soon, 9), claimed(failed), errorNoted},
		"FailedForGoodOwesNothing": {owed(5, soon, 9), hub.Result{Version: 5, Outcome: hub.Failed, Claim: 9, Tries: 3, Error: "it said 500"}, func(s *hub.Subscription) {
			errorNoted(s)
			s.NextAt = time.Time{}
		}},
		"ParkedHoldsIt": {healthy, hub.Result{Version: 5, Outcome: hub.Parked, NextAt: later, NewClaim: 77}, func(s *hub.Subscription) {
			s.Owed, s.NextAt, s.Claim = 5, later, 77
		}},
		"PostponedCountsNoError": {owed(4, soon, 9), hub.Result{Version: 5, Outcome: hub.Postponed, NextAt: later, Claim: 9}, func(s *hub.Subscription) {
			s.Owed, s.NextAt, s.Claim = 5, later, 0
		}},
		"PostponedLowersNothing": {owed(6, soon, 9), hub.Result{Version: 5, Outcome: hub.Postponed, NextAt: later, Claim: 9}, func(s *hub.Subscription) {
			s.NextAt, s.Claim = later, 0
		}},
		"RaisedIsDueAtOnce": {owed(4, later, 0), hub.Result{Version: 5, Outcome: hub.Raised}, func(s *hub.Subscription) {
			s.Owed, s.Tries, s.NextAt = 5, 0, e.now
		}},
		"RaisedWaitsForTheAttemptUnderWay": {owed(4, later, 9), hub.Result{Version: 5, Outcome: hub.Raised}, func(s *hub.Subscription) {
			s.Owed, s.Tries = 5, 0
		}},
		"RaisedDoesNotWaitForAnAttemptThatIsOver": {owed(4, e.now, 9), hub.Result{Version: 5, Outcome: hub.Raised}, func(s *hub.Subscription) {
			s.Owed, s.Tries, s.NextAt = 5, 0, e.now
		}},
		"RaisedLowersNothing": {owed(6, later, 0), hub.Result{Version: 5, Outcome: hub.Raised}, func(s *hub.Subscription) {
			s.Tries, s.NextAt = 0, e.now
		}},
		// A retry that began after the change told of it while the page was being read.
		"RaisedToWhatHasArrivedMeanwhileOwesNothing": {func(s *hub.Subscription) { s.Owed, s.Sent = 4, 5 },
			hub.Result{Version: 5, Outcome: hub.Raised}, func(*hub.Subscription) {}},
	}
}

func otherClaim(t *testing.T, e *env) {
	s := e.sub(feed, "http://127.0.0.1/1")
	owed(4, e.in(time.Second), 9)(&s)
	e.follow(t, feed, s)
	for o := hub.Delivered; o < hub.Raised; o++ {
		for _, claim := range []int64{0, 8} {
			must(t, e.Settle(e.ctx, e.now, []hub.Result{{Key: s.Key(), Version: 5, Outcome: o, Claim: claim, NextAt: e.in(time.Hour), NewClaim: 3, Error: "x"}}, nil))
			same(t, "left alone", e.get(t, s.Key()), s)
		}
	}
}

// resultOrder: what comes later in the list sees what came before.
func resultOrder(t *testing.T, e *env) {
	s := e.followers(t, feed, 1)[0]
	must(t, e.Settle(e.ctx, e.now, []hub.Result{
		{Key: s.Key(), Version: 5, Outcome: hub.Parked, NextAt: e.in(lease), NewClaim: 77},
		{Key: s.Key(), Version: 6, Outcome: hub.Raised},
		{Key: s.Key(), Version: 5, Outcome: hub.Delivered, Claim: 77},
	}, nil))
	s.Owed, s.Sent, s.NextAt = 6, 5, e.now
	same(t, "after all three", e.get(t, s.Key()), s)
}

func manyResults(t *testing.T, e *env) {
	subs := e.followers(t, feed, 1000)
	var results []hub.Result
	for i, s := range subs {
		results = append(results, hub.Result{Key: s.Key(), Version: 1, Outcome: hub.Failed, NextAt: e.in(time.Duration(i) * time.Millisecond), Tries: i, Error: s.Callback})
	}
	must(t, e.Settle(e.ctx, e.now, results, nil))
	for i := range subs {
		s := subs[i]
		s.Failures, s.Tries, s.Counted, s.Owed, s.NextAt, s.LastError, s.LastErrorAt = 1, i, 1, 1, e.in(time.Duration(i)*time.Millisecond), s.Callback, e.now
		s.FailingSince = e.now
		if i%97 == 0 {
			same(t, "row", e.get(t, s.Key()), s)
		}
	}
	counts, err := e.Counts(e.ctx, e.now)
	must(t, err)
	same(t, "failing, owed", []int64{counts.Failing, counts.Owed}, []int64{1000, 1000})
}
