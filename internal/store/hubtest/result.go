package hubtest

import (
	"testing"
	"time"

	"cloudburst/internal/event"
	"cloudburst/internal/fault"
	"cloudburst/internal/hub"
	"cloudburst/internal/store/storetest"
)

// outcome is a test case for the effect of a result on a subscription.
type outcome struct {
	before func(s *hub.Subscription)
	result hub.Result
	after  func(s *hub.Subscription) // expected changes to the subscription
}

func resultTests() map[string]func(*testing.T, *env) {
	tests := map[string]func(*testing.T, *env){
		"ResultsOfOneSubscriptionKeepOrder": resultOrder,
		"SettleWritesEvents": func(t *testing.T, e *env) {
			storetest.Must(t, e.Settle(e.Ctx, e.Now, nil, []event.Event{e.Event(event.KindError, "one")}))
			storetest.Same(t, "log", e.Log(t), []string{"one"})
		},
		"GoneResultRemovesSubscription": func(t *testing.T, e *env) {
			s := e.followers(t, feed, 2)
			storetest.Must(t, e.Settle(e.Ctx, e.Now, []hub.Result{{Key: s[0].Key(), Version: 1, Outcome: hub.Gone}}, nil))
			_, err := e.Subscription(e.Ctx, s[0].Key())
			storetest.WantFault(t, err, fault.NotFound)
			storetest.Same(t, "the other", e.get(t, s[1].Key()), s[1])
		},
		"MissingRowIsIgnored": func(t *testing.T, e *env) {
			for o := hub.Delivered; o <= hub.Raised; o++ {
				storetest.Must(t, e.Settle(e.Ctx, e.Now, []hub.Result{{Key: hub.Key{TopicID: 1, ID: 2}, Version: 1, Outcome: o, NextAt: e.Now}}, nil))
			}
		},
		"ResultOfAnotherClaimIsIgnored":     otherClaim,
		"ThousandResultsAreStoredInOneCall": manyResults,
	}
	e := newEnv(&testing.T{}, nil) // only for its clock
	for name, o := range outcomes(e) {
		tests[name] = func(t *testing.T, e *env) {
			s := e.sub(feed, "http://127.0.0.1/1")
			o.before(&s)
			e.follow(t, feed, s)
			o.result.Key = s.Key()
			storetest.Must(t, e.Settle(e.Ctx, e.Now, []hub.Result{o.result}, nil))
			o.after(&s)
			storetest.Same(t, "after it", e.get(t, s.Key()), s)
		}
	}
	return tests
}

func pendingState(version int64, next time.Time, claim int64) func(*hub.Subscription) {
	return func(s *hub.Subscription) {
		s.Failures, s.Tries, s.Counted, s.PendingVersion, s.NextAt, s.Claim = 1, 2, version, version, next, claim
	}
}

func outcomes(e *env) map[string]outcome {
	healthy := func(*hub.Subscription) {}
	soon, later := e.In(time.Second), e.In(time.Minute)
	failed := hub.Result{Version: 5, Outcome: hub.Failed, NextAt: later, Tries: 3, Error: "status 500"}
	errorRecorded := func(s *hub.Subscription) {
		s.Tries, s.NextAt, s.Claim, s.LastError, s.LastErrorAt = 3, later, 0, "status 500", e.Now
		if s.FailingSince.IsZero() {
			s.FailingSince = e.Now
		}
	}
	claimed := func(r hub.Result) hub.Result { r.Claim = 9; return r }
	return map[string]outcome{
		"DeliveredResultClearsPendingVersion": {pendingState(5, soon, 9), hub.Result{Version: 5, Outcome: hub.Delivered, Claim: 9}, func(s *hub.Subscription) {
			s.Failures, s.Tries, s.Sent, s.NextAt, s.Claim = 0, 0, 5, time.Time{}, 0
		}},
		"DeliveredResultClearsFailures": {func(s *hub.Subscription) { pendingState(5, soon, 9)(s); s.FailingSince = e.In(-time.Hour) },
			hub.Result{Version: 5, Outcome: hub.Delivered, Claim: 9}, func(s *hub.Subscription) {
				s.Failures, s.Tries, s.Sent, s.NextAt, s.Claim, s.FailingSince = 0, 0, 5, time.Time{}, 0, time.Time{}
			}},
		"DeliveredResultOfBatchClearsPendingVersion": {pendingState(4, soon, 0), hub.Result{Version: 5, Outcome: hub.Delivered}, func(s *hub.Subscription) {
			s.Failures, s.Tries, s.Sent, s.NextAt = 0, 0, 5, time.Time{}
		}},
		"DeliveredIsDueAtOnceForNewerPendingVersion": {pendingState(6, soon, 9), hub.Result{Version: 5, Outcome: hub.Delivered, Claim: 9}, func(s *hub.Subscription) {
			s.Failures, s.Tries, s.Sent, s.NextAt, s.Claim = 0, 0, 5, e.Now, 0
		}},
		"FailedResultCountsOneChange": {healthy, failed, func(s *hub.Subscription) {
			errorRecorded(s)
			s.Failures, s.Counted, s.PendingVersion = 1, 5, 5
		}},
		"FailedResultCountsNewerChange": {pendingState(4, soon, 9), claimed(failed), func(s *hub.Subscription) {
			errorRecorded(s)
			s.Failures, s.Counted, s.PendingVersion = 2, 5, 5
		}},
		"RepeatedFailureKeepsFailingSince":    {func(s *hub.Subscription) { pendingState(5, soon, 9)(s); s.FailingSince = e.In(-time.Hour) }, claimed(failed), errorRecorded},
		"RepeatedFailureCountsOnce":           {pendingState(5, soon, 9), claimed(failed), errorRecorded},
		"LateFailureKeepsNewerPendingVersion": {pendingState(7, soon, 9), claimed(failed), errorRecorded},
		"PermanentFailureClearsPending": {pendingState(5, soon, 9), hub.Result{Version: 5, Outcome: hub.Failed, Claim: 9, Tries: 3, Error: "status 500"}, func(s *hub.Subscription) {
			errorRecorded(s)
			s.NextAt = time.Time{}
		}},
		"ParkedResultSetsClaim": {healthy, hub.Result{Version: 5, Outcome: hub.Parked, NextAt: later, NewClaim: 77}, func(s *hub.Subscription) {
			s.PendingVersion, s.NextAt, s.Claim = 5, later, 77
		}},
		"PostponedResultCountsNoError": {pendingState(4, soon, 9), hub.Result{Version: 5, Outcome: hub.Postponed, NextAt: later, Claim: 9}, func(s *hub.Subscription) {
			s.PendingVersion, s.NextAt, s.Claim = 5, later, 0
		}},
		"PostponedResultKeepsNewerPendingVersion": {pendingState(6, soon, 9), hub.Result{Version: 5, Outcome: hub.Postponed, NextAt: later, Claim: 9}, func(s *hub.Subscription) {
			s.NextAt, s.Claim = later, 0
		}},
		"RaisedDeliveryIsDueAtOnce": {pendingState(4, later, 0), hub.Result{Version: 5, Outcome: hub.Raised}, func(s *hub.Subscription) {
			s.PendingVersion, s.Tries, s.NextAt = 5, 0, e.Now
		}},
		"RaisedDeliveryWaitsForCurrentAttempt": {pendingState(4, later, 9), hub.Result{Version: 5, Outcome: hub.Raised}, func(s *hub.Subscription) {
			s.PendingVersion, s.Tries = 5, 0
		}},
		"RaisedDeliveryIgnoresExpiredAttempt": {pendingState(4, e.Now, 9), hub.Result{Version: 5, Outcome: hub.Raised}, func(s *hub.Subscription) {
			s.PendingVersion, s.Tries, s.NextAt = 5, 0, e.Now
		}},
		"RaisedDeliveryKeepsNewerPendingVersion": {pendingState(6, later, 0), hub.Result{Version: 5, Outcome: hub.Raised}, func(s *hub.Subscription) {
			s.Tries, s.NextAt = 0, e.Now
		}},
		// A retry may deliver the change while the batch is still being read.
		"RaiseToDeliveredVersionChangesNothing": {func(s *hub.Subscription) { s.PendingVersion, s.Sent = 4, 5 },
			hub.Result{Version: 5, Outcome: hub.Raised}, func(*hub.Subscription) {}},
	}
}

func otherClaim(t *testing.T, e *env) {
	s := e.sub(feed, "http://127.0.0.1/1")
	pendingState(4, e.In(time.Second), 9)(&s)
	e.follow(t, feed, s)
	for o := hub.Delivered; o < hub.Raised; o++ {
		for _, claim := range []int64{0, 8} {
			storetest.Must(t, e.Settle(e.Ctx, e.Now, []hub.Result{{Key: s.Key(), Version: 5, Outcome: o, Claim: claim, NextAt: e.In(time.Hour), NewClaim: 3, Error: "x"}}, nil))
			storetest.Same(t, "unchanged subscription", e.get(t, s.Key()), s)
		}
	}
}

// resultOrder checks that later results in the list see the effects of earlier ones.
func resultOrder(t *testing.T, e *env) {
	s := e.followers(t, feed, 1)[0]
	storetest.Must(t, e.Settle(e.Ctx, e.Now, []hub.Result{
		{Key: s.Key(), Version: 5, Outcome: hub.Parked, NextAt: e.In(lease), NewClaim: 77},
		{Key: s.Key(), Version: 6, Outcome: hub.Raised},
		{Key: s.Key(), Version: 5, Outcome: hub.Delivered, Claim: 77},
	}, nil))
	s.PendingVersion, s.Sent, s.NextAt = 6, 5, e.Now
	storetest.Same(t, "after all three", e.get(t, s.Key()), s)
}

func manyResults(t *testing.T, e *env) {
	subs := e.followers(t, feed, 1000)
	var results []hub.Result
	for i, s := range subs {
		results = append(results, hub.Result{Key: s.Key(), Version: 1, Outcome: hub.Failed, NextAt: e.In(time.Duration(i) * time.Millisecond), Tries: i, Error: s.Callback})
	}
	storetest.Must(t, e.Settle(e.Ctx, e.Now, results, nil))
	for i := range subs {
		s := subs[i]
		s.Failures, s.Tries, s.Counted, s.PendingVersion, s.NextAt, s.LastError, s.LastErrorAt = 1, i, 1, 1, e.In(time.Duration(i)*time.Millisecond), s.Callback, e.Now
		s.FailingSince = e.Now
		if i%97 == 0 {
			storetest.Same(t, "row", e.get(t, s.Key()), s)
		}
	}
	counts, err := e.Counts(e.Ctx, e.Now)
	storetest.Must(t, err)
	storetest.Same(t, "failing, pending", []int64{counts.Failing, counts.Pending}, []int64{1000, 1000})
}
