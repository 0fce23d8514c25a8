package hubtest

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"cloudburst/internal/event"
	"cloudburst/internal/fault"
	"cloudburst/internal/store/storetest"
	"cloudburst/internal/upstream"
)

func upstreamTests() map[string]func(*testing.T, *env) {
	return map[string]func(*testing.T, *env){
		"FollowIsReadAsWritten":               wholeFollow,
		"ChangeOfFollowIsAtomic":              changeFollow,
		"ChangesOfOneFollowAreSerialized":     manyChanges,
		"FollowsAreFoundByTokenFeedAndTopic":  followsFound,
		"FollowsAreListedByPages":             followsByPage,
		"FollowIsClaimedOncePerLease":         claimFollows,
		"FollowsAreReleasedOnlyByOwner":       putOffFollows,
		"FollowsAreCountedByDueTime":          countFollows,
		"DowntimeHastensAffectedFollows":      hastenFollows,
		"RenewalsAfterStartAreSpreadOverTime": renewFollows,
		"LastAliveTimeIsReturned": func(t *testing.T, e *env) {
			for _, step := range []struct{ at, before time.Time }{
				{e.Now, time.Time{}}, {e.In(time.Minute), e.Now}, {e.Now, e.In(time.Minute)}, {e.In(2 * time.Minute), e.In(time.Minute)},
			} {
				before, err := e.upstream(t).FollowsAlive(e.Ctx, step.at)
				storetest.Must(t, err)
				storetest.Same(t, "before", before, step.before)
			}
		},
	}
}

// upstream returns the store as an upstream.Store.
func (e *env) upstream(t *testing.T) upstream.Store {
	t.Helper()
	s, ok := e.Store.(upstream.Store)
	if !ok {
		t.Fatalf("%T is not an upstream.Store", e.Store)
	}
	return s
}

// newFollow returns a follow with every field set.
func (e *env) newFollow(protocol, feed string) upstream.Follow {
	return upstream.Follow{
		ID: upstream.FollowID(protocol, feed), Feed: feed, Protocol: protocol, Topic: feed + "#self", Hub: "https://hub.example/☂'%",
		Wire: "xml-rpc", Proc: "rssCloud.pleaseNotify", Named: true, For: []string{"reader", "relay"},
		Token: fmt.Sprint("token-", upstream.FollowID(protocol, feed)), Secret: "s", Base: "https://me.example", State: upstream.Active,
		CreatedAt: e.Now, RequestedAt: e.In(time.Second), ConfirmedAt: e.In(2 * time.Second), ReceivedAt: e.In(3 * time.Second),
		ExpiresAt: e.In(time.Hour), NextAt: e.In(time.Minute), Claim: 1 << 60, Asked: true, Missed: true,
		Failures: 3, Rejected: 4, LastError: "rejected ☂'", LastErrorAt: e.In(4 * time.Second),
		SinceAt: e.In(5 * time.Second), Notify: "soap",
	}
}

// save stores follows unchanged.
func (e *env) save(t *testing.T, list ...upstream.Follow) {
	t.Helper()
	for _, f := range list {
		got, err := e.upstream(t).ChangeFollow(e.Ctx, f.ID, func(to *upstream.Follow, _ bool) (upstream.Verdict, []event.Event) {
			*to = f
			return upstream.Keep, nil
		})
		storetest.Must(t, err)
		storetest.Same(t, "saved", got, f)
	}
}

func (e *env) storedFollow(t *testing.T, id int64) upstream.Follow {
	t.Helper()
	f, err := e.upstream(t).Follow(e.Ctx, id)
	storetest.Must(t, err)
	return f
}

func wholeFollow(t *testing.T, e *env) {
	f := e.newFollow(upstream.WebSub, "http://127.0.0.1/日本'\"?a=%00&b=\\")
	e.save(t, f)
	storetest.Same(t, "stored", e.storedFollow(t, f.ID), f)
	empty := upstream.Follow{ID: 5, Feed: feed, Protocol: upstream.CNWS, State: upstream.Pending, Token: "t"}
	e.save(t, empty)
	storetest.Same(t, "an empty value", e.storedFollow(t, 5), empty)
	_, err := e.upstream(t).Follow(e.Ctx, 6)
	storetest.WantFault(t, err, fault.NotFound)
}

func changeFollow(t *testing.T, e *env) {
	s := e.upstream(t)
	f := e.newFollow(upstream.RSSCloud, feed)
	events := func(text string) []event.Event { return []event.Event{e.Event(event.KindRegister, text)} }
	_, err := s.ChangeFollow(e.Ctx, f.ID, func(now *upstream.Follow, found bool) (upstream.Verdict, []event.Event) {
		storetest.Same(t, "found", found, false)
		storetest.Same(t, "zero value", *now, upstream.Follow{ID: f.ID})
		*now = f
		return upstream.Keep, events("added")
	})
	storetest.Must(t, err)
	got, err := s.ChangeFollow(e.Ctx, f.ID, func(now *upstream.Follow, found bool) (upstream.Verdict, []event.Event) {
		storetest.Same(t, "found", found, true)
		storetest.Same(t, "current value", *now, f)
		now.State = upstream.Lost
		return upstream.Leave, nil
	})
	storetest.Must(t, err)
	storetest.Same(t, "left", got, f)
	storetest.Same(t, "stored", e.storedFollow(t, f.ID), f)
	_, err = s.ChangeFollow(e.Ctx, f.ID, func(*upstream.Follow, bool) (upstream.Verdict, []event.Event) {
		return upstream.Delete, events("gone")
	})
	storetest.Must(t, err)
	_, err = s.Follow(e.Ctx, f.ID)
	storetest.WantFault(t, err, fault.NotFound)
	_, err = s.ChangeFollow(e.Ctx, f.ID, func(*upstream.Follow, bool) (upstream.Verdict, []event.Event) { return upstream.Delete, nil })
	storetest.Must(t, err)
	other := e.newFollow(upstream.RSSCloud, feed+"2")
	e.save(t, other)
	_, err = s.ChangeFollow(e.Ctx, f.ID, func(now *upstream.Follow, _ bool) (upstream.Verdict, []event.Event) {
		*now = f
		now.Token = other.Token // the token of another follow
		return upstream.Keep, events("no")
	})
	if err == nil {
		t.Error("two follows have the same token")
	}
	storetest.Same(t, "log", e.Log(t), []string{"added", "gone"})
}

func manyChanges(t *testing.T, e *env) {
	const all = 20
	f := e.newFollow(upstream.RSSCloud, feed)
	f.Failures = 0
	e.save(t, f)
	s := e.upstream(t)
	var group sync.WaitGroup
	errs := make(chan error, all)
	for range all {
		group.Go(func() {
			_, err := s.ChangeFollow(context.WithoutCancel(e.Ctx), f.ID, func(now *upstream.Follow, _ bool) (upstream.Verdict, []event.Event) {
				now.Failures++
				return upstream.Keep, nil
			})
			errs <- err
		})
	}
	group.Wait()
	for range all {
		storetest.Must(t, <-errs)
	}
	storetest.Same(t, "counted", e.storedFollow(t, f.ID).Failures, all)
}

func followsFound(t *testing.T, e *env) {
	s := e.upstream(t)
	a, b, c := e.newFollow(upstream.RSSCloud, feed), e.newFollow(upstream.WebSub, feed), e.newFollow(upstream.CNWS, feed+"2")
	a.Topic, c.Topic = feed, feed
	e.save(t, a, b, c)
	got, err := s.FollowByToken(e.Ctx, b.Token)
	storetest.Must(t, err)
	storetest.Same(t, "by token", got, b)
	for _, wrong := range []string{"", "token", b.Token + "x", "\x00", "\xff"} {
		_, err = s.FollowByToken(e.Ctx, wrong)
		storetest.WantFault(t, err, fault.NotFound)
	}
	list, err := s.FollowsOf(e.Ctx, feed)
	storetest.Must(t, err)
	storetest.Same(t, "by feed and topic", list, []upstream.Follow{c, a, b})
	list, err = s.FollowsOf(e.Ctx, b.Topic)
	storetest.Must(t, err)
	storetest.Same(t, "by topic", list, []upstream.Follow{b})
	list, err = s.FollowsOf(e.Ctx, "http://127.0.0.1/nobody\x00\xff")
	storetest.Must(t, err)
	storetest.Same(t, "follows of an unknown feed", len(list), 0)
}

func followsByPage(t *testing.T, e *env) {
	s := e.upstream(t)
	var want []upstream.Follow
	for i := range 5 {
		for _, protocol := range []string{upstream.CNWS, upstream.RSSCloud, upstream.WebSub} {
			f := e.newFollow(protocol, fmt.Sprint(feed, i))
			if f.For = []string{"relay"}; i == 3 {
				f.For, f.State = []string{"reader"}, upstream.Pending
			}
			want = append(want, f)
		}
	}
	e.save(t, want...)
	var got []upstream.Follow
	q := upstream.Query{Limit: 4}
	for {
		page, err := s.Follows(e.Ctx, q)
		storetest.Must(t, err)
		got = append(got, page...)
		if len(page) < 4 {
			break
		}
		q.After = page[3]
	}
	storetest.Same(t, "listed", got, want)
	for name, one := range map[string]struct {
		q upstream.Query
		n int
	}{
		"protocol": {upstream.Query{Protocol: upstream.WebSub}, 5},
		"state":    {upstream.Query{State: upstream.Pending}, 3},
		"for":      {upstream.Query{For: "reader"}, 3},
		"half":     {upstream.Query{For: "read"}, 0},
		"match":    {upstream.Query{Match: "HUB.example/☂"}, 15},
		"no match": {upstream.Query{Match: "hub_example"}, 0},
	} {
		list, err := s.Follows(e.Ctx, one.q)
		storetest.Must(t, err)
		storetest.Same(t, name, len(list), one.n)
	}
}

func claimFollows(t *testing.T, e *env) {
	s := e.upstream(t)
	next, err := s.NextFollow(e.Ctx)
	storetest.Must(t, err)
	storetest.Same(t, "next due time", next, time.Time{})
	a, b := e.newFollow(upstream.RSSCloud, feed), e.newFollow(upstream.WebSub, feed)
	a.NextAt, b.NextAt = e.In(-time.Second), e.In(-2*time.Second)
	e.save(t, a, b)
	next, err = s.NextFollow(e.Ctx)
	storetest.Must(t, err)
	storetest.Same(t, "due", next, b.NextAt)
	got, err := s.ClaimFollows(e.Ctx, e.Now, e.In(lease), 1, 5)
	storetest.Must(t, err)
	b.Claim, b.NextAt = 5, e.In(lease)
	storetest.Same(t, "the oldest", got, []upstream.Follow{b})
	storetest.Same(t, "stored", e.storedFollow(t, b.ID), b)
	got, err = s.ClaimFollows(e.Ctx, e.Now, e.In(lease), 10, 6)
	storetest.Must(t, err)
	storetest.Same(t, "the other", len(got), 1)
	got, err = s.ClaimFollows(e.Ctx, e.In(lease-time.Millisecond), e.In(2*lease), 10, 7)
	storetest.Must(t, err)
	storetest.Same(t, "claimed during the lease", len(got), 0)
	got, err = s.ClaimFollows(e.Ctx, e.In(lease), e.In(2*lease), 10, 7)
	storetest.Must(t, err)
	storetest.Same(t, "claimed after the lease", len(got), 2)
}

func putOffFollows(t *testing.T, e *env) {
	s := e.upstream(t)
	a, b, c := e.newFollow(upstream.RSSCloud, feed), e.newFollow(upstream.WebSub, feed), e.newFollow(upstream.CNWS, feed)
	a.Claim, b.Claim, c.Claim = 5, 6, 5
	e.save(t, a, b, c)
	storetest.Must(t, s.PutOffFollows(e.Ctx, nil))
	storetest.Must(t, s.PutOffFollows(e.Ctx, []upstream.PutOff{
		{ID: a.ID, Claim: 5, NextAt: e.In(time.Hour)}, {ID: b.ID, Claim: 5, NextAt: e.In(time.Hour)}, {ID: 9, Claim: 5, NextAt: e.Now},
	}))
	a.Claim, a.NextAt = 0, e.In(time.Hour)
	storetest.Same(t, "released follow", e.storedFollow(t, a.ID), a)
	storetest.Same(t, "another's", e.storedFollow(t, b.ID), b)
	storetest.Same(t, "follow that was not named", e.storedFollow(t, c.ID), c)
}

func countFollows(t *testing.T, e *env) {
	s := e.upstream(t)
	check := func(want int64, list ...int64) {
		t.Helper()
		overdue, n, err := s.CountFollows(e.Ctx, e.Now, e.In(150*time.Second), time.Minute)
		storetest.Must(t, err)
		storetest.Same(t, "overdue", overdue, want)
		storetest.Same(t, "by the minute", n, list)
	}
	check(0, 0, 0, 0)
	for i, due := range []time.Duration{
		-time.Hour, -time.Millisecond, 0, 59 * time.Second, time.Minute - time.Millisecond, 2 * time.Minute, 150 * time.Second, time.Hour,
	} {
		f := e.newFollow(upstream.RSSCloud, fmt.Sprint(feed, i))
		f.NextAt = e.In(due)
		e.save(t, f)
	}
	check(2, 3, 0, 1)
}

func hastenFollows(t *testing.T, e *env) {
	s := e.upstream(t)
	cloud, ws, moved, ending := e.newFollow(upstream.RSSCloud, feed), e.newFollow(upstream.WebSub, feed), e.newFollow(upstream.WebSub, feed+"2"), e.newFollow(upstream.RSSCloud, feed+"3")
	fresh := e.newFollow(upstream.RSSCloud, feed+"4")
	moved.Base, ending.State = "http://old.example", upstream.Ending
	fresh.Base, fresh.RequestedAt = "", time.Time{}
	all := []upstream.Follow{cloud, ws, moved, ending, fresh}
	for i := range all {
		all[i].Missed, all[i].NextAt = false, e.In(time.Hour)
	}
	e.save(t, all...)
	check := func(what string, r upstream.Hasten, want ...bool) {
		t.Helper()
		n, err := s.HastenFollows(e.Ctx, r)
		storetest.Must(t, err)
		for i, f := range all {
			if want[i] {
				f.Missed, f.NextAt, f.Claim = true, r.Now, 0
				n--
			}
			storetest.Same(t, what, e.storedFollow(t, f.ID), f)
		}
		storetest.Same(t, "number", n, int64(0))
	}
	check("same base", upstream.Hasten{Now: e.Now, Base: "https://me.example"}, false, false, true, false, false)
	e.save(t, all...)
	check("protocols too", upstream.Hasten{Now: e.Now, Base: "https://me.example", Protocols: []string{upstream.RSSCloud, upstream.CNWS}}, true, false, true, false, false)
}

// cnwsOf returns f with the protocol CNWS.
func cnwsOf(f upstream.Follow) upstream.Follow {
	f.Protocol, f.ID = upstream.CNWS, upstream.FollowID(upstream.CNWS, f.Feed)
	f.Token = fmt.Sprint("token-", f.ID)
	return f
}

func renewFollows(t *testing.T, e *env) {
	s := e.upstream(t)
	var all []upstream.Follow
	want := map[int64]bool{}
	add := func(renewed bool, change func(f *upstream.Follow)) {
		f := e.newFollow(upstream.RSSCloud, fmt.Sprint(feed, len(all)))
		f.Claim, f.Missed, f.Asked, f.RequestedAt, f.NextAt = 0, false, false, e.In(-time.Hour), e.In(20*time.Hour)
		change(&f)
		all, want[f.ID] = append(all, f), renewed
	}
	for range 20 {
		add(true, func(*upstream.Follow) {})
	}
	add(true, func(f *upstream.Follow) { f.State = upstream.Refused })
	add(true, func(f *upstream.Follow) { *f = cnwsOf(*f) })
	add(false, func(f *upstream.Follow) { f.State = upstream.Ending })
	add(false, func(f *upstream.Follow) { f.Claim = 7 })
	add(false, func(f *upstream.Follow) { f.RequestedAt = time.Time{} })
	add(false, func(f *upstream.Follow) { f.RequestedAt = e.In(-time.Minute) })
	add(false, func(f *upstream.Follow) { f.NextAt = e.In(-time.Second) })
	e.save(t, all...)
	n, err := s.RenewFollows(e.Ctx, upstream.Renew{Now: e.Now, AskedBefore: e.In(-time.Minute), Over: time.Hour})
	storetest.Must(t, err)
	storetest.Same(t, "number", n, int64(22))
	early := 0
	for _, f := range all {
		got := e.storedFollow(t, f.ID)
		if want[f.ID] {
			if got.NextAt.Before(e.Now) || !got.NextAt.Before(e.In(time.Hour)) {
				t.Errorf("a renewed follow is due at %s", got.NextAt)
			}
			if got.NextAt.Before(e.In(30 * time.Minute)) {
				early++
			}
			f.NextAt, f.Asked = got.NextAt, f.Protocol == upstream.CNWS
		}
		storetest.Same(t, "follow", got, f)
	}
	if early == 0 || early == 22 {
		t.Errorf("%d of 22 follows are due in the first half of the hour", early)
	}
	n, err = s.RenewFollows(e.Ctx, upstream.Renew{Now: e.Now, AskedBefore: e.In(-time.Minute)})
	storetest.Must(t, err)
	storetest.Same(t, "follows due at once without a spread", n, int64(22))
}
