package rivertest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"cloudburst/feed/polling"
	"cloudburst/internal/fault"
	"cloudburst/internal/river"
	"cloudburst/internal/river/forward"
	"cloudburst/internal/store/storetest"
)

func riverSourceTests() map[string]func(*testing.T, *env) {
	return map[string]func(*testing.T, *env){
		"SourceIsReadAsWritten":                  riverTest(wholeSource),
		"MissingSourceIsNotFound":                riverTest(noSource),
		"PushedSourcesAreClaimedFirstThenOldest": riverTest(claimOrder),
		"SourceIsClaimedOncePerLease":            riverTest(claimLease),
		"ManualClaimFailsDuringCheck":            riverTest(claimByHand),
		"PutOffChangesOwnClaimsOnly":             riverTest(putOff),
		"ReleasedClaimsAreDueAtOnce":             riverTest(releaseClaims),
		"NextSourceIsEarliest":                   riverTest(nextSource),
		"PushByAnyNameMakesSourceDue":            riverTest(pushByName),
		"PushIgnoresUnfollowedAndGoneSources":    riverTest(pushWithoutFollowers),
		"PushDuringCheckCountsAfterCheck":        riverTest(pushDuringCheck),
		"CheckClearsEarlierPush":                 riverTest(pushBeforeCheck),
		"SourcesAreFoundByURL":                   riverTest(sourcesAt),
		"SourcesAreListedByPages":                riverTest(sourcePages),
		"ChangeOfSourceIsAtomic":                 riverTest(changeSource),
		"ChecksOfManySourcesArePlanned":          riverTest(planChecks),
		"ChangeOfSourceEndsClaim":                riverTest(changeClaimed),
		"LatestChecksAreKeptNewestFirst":         riverTest(keptChecks),
		"HostStateIsStored":                      riverTest(riverHosts),
		"SourcesAreCounted":                      riverTest(countSources),
		"TextsInvalidInPostgreSQLAreStored":      riverTest(badTexts),
		"SourceWithLoginIsSeparate":              riverTest(loginSource),
		"MovedSourceIsFoundByOldURL":             riverTest(movedSource),
		"ShortestUserIntervalIsKeptAfterChecks":  riverTest(wishSurvives),
	}
}

// fullSource sets every field that a check can set.
func (s *stream) fullSource(src river.Source) river.Source {
	src.State.Validators = polling.Validators{URL: src.URL, ETag: "W/\"☂\"", LastModified: "Fri\xff"}
	src.State.Hash, src.State.Reason = "abc", "it's \x00 time"
	src.State.Evidence = polling.Evidence{Proof: "proven", Recent: true, Believed: true, FullAt: s.Now}
	src.State.FollowUpAt, src.State.Push.Pending = s.In(time.Hour), true
	src.About = river.About{Title: "A ☂ 'title'", Description: "d", Home: "http://h/", Icon: "http://i/", Language: "de", Format: "RSS 2.0", Problem: "p"}
	src.PushEndpoints = []river.PushEndpoint{{Protocol: "websub", Hub: "http://hub/"}, {Protocol: "rsscloud", Hub: "http://c/", Wire: "xml-rpc", Procedure: "x"}}
	src.Topic = src.URL + "#self"
	src.Last = []river.Known{{ID: 1, Hash: -5}, {ID: 1 << 62, Hash: 7}}
	return src
}

func wholeSource(t *testing.T, s *stream) {
	src := s.followFeed("ann", feedURL(1))
	storetest.Same(t, "new", src, river.Source{ID: src.ID, URL: feedURL(1), State: polling.New(feedURL(1), s.Now), Readers: 1, CreatedAt: s.Now, NextAt: s.Now})
	got := s.take(src.ID)
	storetest.Same(t, "claim", []any{got.Claim, got.NextAt}, []any{s.claim, s.In(time.Minute)})
	want := s.fullSource(got)
	s.save(river.Saved{Source: want})
	want.State.CheckedAt, want.State.ReadAt = s.Now, s.Now
	want.State.Reason = "it's \x00 time"
	want.NextAt, want.Claim = s.In(time.Hour), 0
	storetest.Same(t, "stored", s.sourceNow(src.ID), want)
	list, err := s.ClaimSources(s.Ctx, s.In(2*time.Hour), s.In(3*time.Hour), 10, 77)
	storetest.Must(t, err)
	want.Claim, want.NextAt = 77, s.In(3*time.Hour)
	storetest.Same(t, "claimed", list, []river.Source{want})
}

func noSource(t *testing.T, s *stream) {
	_, err := s.Store.Source(s.Ctx, 5)
	storetest.WantFault(t, err, fault.NotFound)
	_, err = s.ClaimSource(s.Ctx, 5, s.Now, s.In(time.Minute), 1)
	storetest.WantFault(t, err, fault.NotFound)
	_, err = s.ChangeSource(s.Ctx, 5, func(*river.Source) error { return nil })
	storetest.WantFault(t, err, fault.NotFound)
	list, err := s.ClaimSources(s.Ctx, s.Now, s.In(time.Minute), 10, 1)
	storetest.Same(t, "claimed", []any{list, err}, []any{[]river.Source(nil), error(nil)})
	next, err := s.NextSource(s.Ctx)
	storetest.Same(t, "next", []any{next, err}, []any{time.Time{}, error(nil)})
}

func claimOrder(t *testing.T, s *stream) {
	for n := range 5 {
		s.followFeed("ann", feedURL(n))
		s.pass(time.Second)
	}
	pushed, err := s.MarkPushed(s.Ctx, feedURL(3), "ping", s.Now)
	storetest.Must(t, err)
	storetest.Same(t, "pushed sources", pushed, []int64{river.SourceID(feedURL(3))})
	urls := func(n int, claim int64) (list []string) {
		all, err := s.ClaimSources(s.Ctx, s.Now, s.In(time.Minute), n, claim)
		storetest.Must(t, err)
		for _, src := range all {
			list = append(list, src.URL)
			storetest.Same(t, "claim", []any{src.Claim, src.NextAt}, []any{claim, s.In(time.Minute)})
		}
		return list
	}
	storetest.Same(t, "first", urls(3, 1), []string{feedURL(3), feedURL(0), feedURL(1)})
	storetest.Same(t, "then", urls(100, 2), []string{feedURL(2), feedURL(4)})
	storetest.Same(t, "no more", urls(100, 3), []string(nil))
}

func claimLease(t *testing.T, s *stream) {
	src := s.followFeed("ann", feedURL(1))
	a := s.take(src.ID)
	_, err := s.ClaimSource(s.Ctx, src.ID, s.In(59*time.Second), s.In(time.Hour), 99)
	storetest.WantFault(t, err, fault.Conflict)
	list, err := s.ClaimSources(s.Ctx, s.In(59*time.Second), s.In(time.Hour), 10, 99)
	storetest.Same(t, "while it lasts", []any{len(list), err}, []any{0, error(nil)})
	list, err = s.ClaimSources(s.Ctx, s.In(time.Minute), s.In(time.Hour), 10, 99)
	storetest.Same(t, "after it", []any{len(list), err}, []any{1, error(nil)})
	before := s.sourceNow(src.ID)
	a.About.Title = "too late"
	ok, err := s.SaveCheck(s.Ctx, river.Saved{Source: a, Check: river.Check{At: s.Now}, Put: s.items(src.ID, 0, 3), Now: s.Now})
	storetest.Same(t, "write with an expired claim", []any{ok, err, s.sourceNow(src.ID)}, []any{false, error(nil), before})
	checks, err := s.Checks(s.Ctx, src.ID)
	storetest.Same(t, "checks", []any{len(checks), err}, []any{0, error(nil)})
}

func claimByHand(t *testing.T, s *stream) {
	src := s.followFeed("ann", feedURL(1))
	s.readFeed(src.ID)
	s.take(src.ID) // take claims the source although its next check is in an hour
	_, err := s.ClaimSource(s.Ctx, src.ID, s.Now, s.In(time.Hour), 99)
	storetest.WantFault(t, err, fault.Conflict)
}

func putOff(t *testing.T, s *stream) {
	a, b := s.take(s.followFeed("ann", feedURL(1)).ID), s.take(s.followFeed("ann", feedURL(2)).ID)
	storetest.Must(t, s.PutOff(s.Ctx, []river.PutOff{{ID: b.ID, Claim: b.Claim + 100, NextAt: s.Now}, {ID: a.ID, Claim: a.Claim, NextAt: s.In(5 * time.Minute)}, {ID: 9}}))
	a, b2 := s.sourceNow(a.ID), s.sourceNow(b.ID)
	storetest.Same(t, "put off", []any{a.Claim, a.NextAt}, []any{int64(0), s.In(5 * time.Minute)})
	storetest.Same(t, "another's", []any{b2.Claim, b2.NextAt}, []any{b.Claim, b.NextAt})
	storetest.Must(t, s.PutOff(s.Ctx, nil))
}

func releaseClaims(t *testing.T, s *stream) {
	a, b := s.take(s.followFeed("ann", feedURL(1)).ID), s.followFeed("ann", feedURL(2))
	s.readFeed(b.ID)
	s.pass(time.Second)
	storetest.Must(t, s.ReleaseClaims(s.Ctx, s.Now))
	got := s.sourceNow(a.ID)
	storetest.Same(t, "released", []any{got.Claim, got.NextAt}, []any{int64(0), s.Now})
	storetest.Same(t, "the other waits", s.sourceNow(b.ID).NextAt, s.In(time.Hour-time.Second))
	ok, err := s.SaveCheck(s.Ctx, river.Saved{Source: a, Check: river.Check{At: s.Now}, Now: s.Now})
	storetest.Same(t, "saved", []any{ok, err}, []any{false, error(nil)})
}

func nextSource(t *testing.T, s *stream) {
	for n := range 3 {
		src := s.followFeed("ann", feedURL(n))
		s.take(src.ID)
		storetest.Must(t, s.PutOff(s.Ctx, []river.PutOff{{ID: src.ID, Claim: s.claim, NextAt: s.In(time.Duration(10-n) * time.Minute)}}))
	}
	next, err := s.NextSource(s.Ctx)
	storetest.Same(t, "next", []any{next, err}, []any{s.In(8 * time.Minute), error(nil)})
}

func pushByName(t *testing.T, s *stream) {
	src := s.followFeed("ann", feedURL(1))
	got := s.take(src.ID)
	got.State.URL, got.URL, got.Topic, got.About.Title = feedURL(2), feedURL(2), feedURL(3), "Title"
	s.save(river.Saved{Source: got})
	for _, url := range []string{feedURL(1), feedURL(2), feedURL(3)} {
		s.pass(time.Second)
		pushed, err := s.MarkPushed(s.Ctx, url, "notify-websub", s.Now)
		storetest.Same(t, url, []any{pushed, err}, []any{[]int64{src.ID}, error(nil)})
		got := s.sourceNow(src.ID)
		storetest.Same(t, url, []any{got.PushedAt, got.PushedVia}, []any{s.Now, "notify-websub"})
		if got.NextAt.After(s.Now) {
			t.Errorf("%s: due at %v", url, got.NextAt)
		}
	}
	named, err := s.NamedSources(s.Ctx, []string{feedURL(4), feedURL(1), feedURL(2), "", "\xff", feedURL(3)})
	storetest.Must(t, err)
	slices.Sort(named)
	storetest.Same(t, "named", named, []string{feedURL(1), feedURL(2), feedURL(3)})
	titles, err := s.SourceTitles(s.Ctx, []string{feedURL(1), feedURL(2), "\xff"})
	storetest.Same(t, "titles", []any{titles, err}, []any{map[string]string{feedURL(2): "Title"}, error(nil)})
	for _, c := range []struct{ prefix, after, want string }{{feedURL(2)[:len(feedURL(2))-1], "", feedURL(2)}, {feedURL(2), feedURL(2), ""}, {feedURL(2) + "x", "", ""}} {
		under, err := s.SourcesUnder(s.Ctx, c.prefix, c.after, 10)
		storetest.Must(t, err)
		storetest.Same(t, "under "+c.prefix, strings.Join(under, " "), c.want)
	}
	for _, url := range []string{"", feedURL(4), "\x00", "\xff"} {
		pushed, err := s.MarkPushed(s.Ctx, url, "ping", s.Now)
		storetest.Same(t, url, []any{len(pushed), err}, []any{0, error(nil)})
	}
}

func pushWithoutFollowers(t *testing.T, s *stream) {
	left, gone := s.followFeed("ann", feedURL(1)), s.followFeed("ann", feedURL(2))
	_, err := s.RiverUnsubscribe(s.Ctx, "ann", []int64{left.ID})
	storetest.Must(t, err)
	_, err = s.ChangeSource(s.Ctx, gone.ID, func(src *river.Source) error {
		src.State.Gone, src.NextAt = &polling.Gone{At: s.Now, Reason: "410"}, time.Time{}
		return nil
	})
	storetest.Must(t, err)
	for _, src := range []river.Source{left, gone} {
		pushed, err := s.MarkPushed(s.Ctx, src.URL, "ping", s.Now)
		storetest.Same(t, src.URL, []any{len(pushed), err}, []any{0, error(nil)})
		under, err := s.SourcesUnder(s.Ctx, src.URL, "", 10)
		storetest.Same(t, src.URL, []any{len(under), err}, []any{0, error(nil)})
		got := s.sourceNow(src.ID)
		storetest.Same(t, src.URL, []any{got.NextAt, got.PushedAt}, []any{time.Time{}, time.Time{}})
	}
}

func pushDuringCheck(t *testing.T, s *stream) {
	src := s.take(s.followFeed("ann", feedURL(1)).ID)
	at := s.Now
	for _, after := range []time.Duration{0, time.Second} { // the second push may also arrive in the same millisecond
		s.Now = at.Add(after)
		_, err := s.MarkPushed(s.Ctx, src.URL, "ping", s.Now)
		storetest.Must(t, err)
		storetest.Same(t, "time of the continuing claim", s.sourceNow(src.ID).NextAt, src.NextAt)
		s.save(river.Saved{Source: src, Check: river.Check{At: at}})
		got := s.sourceNow(src.ID)
		storetest.Same(t, "due again", []any{got.NextAt, got.PushedAt, got.PushedVia, got.Claim}, []any{s.Now, s.Now, "ping", int64(0)})
		src, at = s.take(src.ID), s.Now
	}
	s.save(river.Saved{Source: src, Check: river.Check{At: s.Now}})
	got := s.sourceNow(src.ID)
	storetest.Same(t, "once", []any{got.NextAt, got.PushedAt, got.PushedVia}, []any{s.In(time.Hour), time.Time{}, ""})
}

func pushBeforeCheck(t *testing.T, s *stream) {
	src := s.followFeed("ann", feedURL(1))
	_, err := s.MarkPushed(s.Ctx, src.URL, "ping", s.Now)
	storetest.Must(t, err)
	got := s.take(src.ID)
	storetest.Same(t, "claimed", []any{got.PushedAt, got.PushedVia}, []any{s.Now, "ping"})
	_, err = s.MarkPushed(s.Ctx, src.URL, "again", s.In(time.Second))
	storetest.Must(t, err)
	s.pass(2 * time.Second) // the check begins later, when the limit of the host allows it
	s.save(river.Saved{Source: got})
	got = s.sourceNow(src.ID)
	storetest.Same(t, "answered", []any{got.NextAt, got.PushedAt}, []any{s.In(time.Hour), time.Time{}})
}

func sourcesAt(t *testing.T, s *stream) {
	s.followFeed("ann", feedURL(1))
	list, err := s.SourcesAt(s.Ctx, feedURL(1))
	storetest.Same(t, "found", []any{len(list), err, list[0].URL}, []any{1, error(nil), feedURL(1)})
	list, err = s.SourcesAt(s.Ctx, feedURL(2))
	storetest.Same(t, "nothing", []any{len(list), err}, []any{0, error(nil)})
}

func movedSource(t *testing.T, s *stream) {
	src := s.followFeed("ann", feedURL(1))
	_, err := s.ChangeSource(s.Ctx, src.ID, func(src *river.Source) error {
		src.State.URL = feedURL(2)
		return nil
	})
	storetest.Must(t, err)
	s.followFeed("ann", feedURL(3))
	for _, url := range []string{feedURL(1), feedURL(2)} {
		list, err := s.SourcesAt(s.Ctx, url)
		storetest.Same(t, url, []any{len(list), err, list[0].ID, list[0].URL}, []any{1, error(nil), src.ID, feedURL(2)})
	}
}

func loginSource(t *testing.T, s *stream) {
	open := s.followFeed("ann", feedURL(1))
	a := s.addition("bob", feedURL(1))
	a.Source.ID, a.SourceID, a.Source.Login = 42, 42, river.Login{Kind: river.LoginBasic, Name: "b", Secret: "sealed ☂"}
	_, err := s.RiverSubscribe(s.Ctx, []river.Addition{a}, s.Now, 10)
	storetest.Must(t, err)
	list, err := s.SourcesAt(s.Ctx, feedURL(1))
	storetest.Must(t, err)
	storetest.Same(t, "two", []any{len(list), list[0].ID, list[1].ID, list[1].Login, list[1].Login.Kind != ""}, []any{2, open.ID, int64(42), a.Source.Login, true})
	pushed, err := s.MarkPushed(s.Ctx, feedURL(1), "ping", s.Now)
	storetest.Same(t, "a ping does not reach the source with a login", []any{pushed, err, s.sourceNow(42).PushedAt.IsZero()}, []any{[]int64{open.ID}, error(nil), true})
	_, err = s.RiverUnsubscribe(s.Ctx, "ann", []int64{open.ID})
	storetest.Must(t, err)
	pushed, err = s.MarkPushed(s.Ctx, feedURL(1), "ping", s.Now)
	storetest.Same(t, "a ping does not reveal the source with a login", []any{len(pushed), err}, []any{0, error(nil)})
	named, err := s.NamedSources(s.Ctx, []string{feedURL(1)})
	storetest.Same(t, "by any lookup", []any{len(named), err}, []any{0, error(nil)})
	page, err := s.Sources(s.Ctx, river.SourceQuery{Limit: 1})
	storetest.Same(t, "a page does not end between them", []any{len(page), err}, []any{2, error(nil)})
	_, err = s.ChangeSource(s.Ctx, 42, func(src *river.Source) error {
		src.Login = river.Login{}
		return nil
	})
	storetest.Must(t, err)
	storetest.Same(t, "no login", s.sourceNow(42).Login, river.Login{})
}

func sourcePages(t *testing.T, s *stream) {
	for n := range 7 {
		src := s.take(s.followFeed("ann", feedURL(n)).ID)
		src.About.Title = fmt.Sprintf("Ümlaut %d", n)
		if n == 2 {
			src.State.Failures, src.State.Failure = 3, &polling.Failure{Kind: polling.ErrDNS}
		}
		s.save(river.Saved{Source: src})
	}
	var got []string
	q := river.SourceQuery{Limit: 3}
	for {
		page, err := s.Sources(s.Ctx, q)
		storetest.Must(t, err)
		for _, src := range page {
			got = append(got, src.URL)
		}
		if len(page) < 3 {
			break
		}
		q.After = page[2].URL
	}
	storetest.Same(t, "pages", len(got), 7)
	for name, one := range map[string]struct {
		q river.SourceQuery
		n int
	}{
		"title": {river.SourceQuery{Match: "ümlaut 3"}, 1}, "url": {river.SourceQuery{Match: "EXAMPLE/00"}, 7},
		"none": {river.SourceQuery{Match: "x_m"}, 0}, "broken": {river.SourceQuery{Broken: true}, 1},
	} {
		page, err := s.Sources(s.Ctx, one.q)
		storetest.Same(t, name, []any{len(page), err}, []any{one.n, error(nil)})
	}
}

func changeSource(t *testing.T, s *stream) {
	src := s.followFeed("ann", feedURL(1))
	got, err := s.ChangeSource(s.Ctx, src.ID, func(now *river.Source) error {
		storetest.Same(t, "current value", *now, src)
		now.State.Failures, now.NextAt, now.Login = 4, s.In(time.Hour), river.Login{Kind: river.LoginToken, Secret: "s"}
		return nil
	})
	storetest.Must(t, err)
	src.State.Failures, src.NextAt, src.Login = 4, s.In(time.Hour), river.Login{Kind: river.LoginToken, Secret: "s"}
	storetest.Same(t, "returned", got, src)
	storetest.Same(t, "stored", s.sourceNow(src.ID), src)
	wrong := errors.New("no")
	_, err = s.ChangeSource(s.Ctx, src.ID, func(now *river.Source) error {
		now.State.Failures = 9
		return wrong
	})
	if !errors.Is(err, wrong) {
		t.Errorf("got error %v", err)
	}
	storetest.Same(t, "unchanged", s.sourceNow(src.ID), src)
}

func planChecks(t *testing.T, s *stream) {
	planned, kept := s.take(s.followFeed("ann", feedURL(1)).ID), s.take(s.followFeed("ann", feedURL(2)).ID)
	left := s.followFeed("bob", feedURL(3))
	_, err := s.RiverUnsubscribe(s.Ctx, "bob", []int64{left.ID})
	storetest.Must(t, err)
	seen := 0
	n, err := s.PlanChecks(s.Ctx, []int64{kept.ID, planned.ID, 42, left.ID}, func(src *river.Source) bool {
		seen++
		src.State.Reason, src.NextAt = "planned", s.In(time.Hour)
		return src.ID != kept.ID
	})
	storetest.Same(t, "planned, seen", []any{n, seen, err}, []any{2, 3, error(nil)})
	planned.State.Reason, planned.NextAt, planned.Claim = "planned", s.In(time.Hour), 0
	storetest.Same(t, "changed, without a claim", s.sourceNow(planned.ID), planned)
	storetest.Same(t, "kept, with its claim", s.sourceNow(kept.ID), kept)
	storetest.Same(t, "without followers, not due", s.sourceNow(left.ID).NextAt, time.Time{})
	n, err = s.PlanChecks(s.Ctx, nil, nil)
	storetest.Same(t, "none", []any{n, err}, []any{0, error(nil)})
}

func changeClaimed(t *testing.T, s *stream) {
	src := s.take(s.followFeed("ann", feedURL(1)).ID)
	_, err := s.ChangeSource(s.Ctx, src.ID, func(now *river.Source) error {
		now.NextAt = s.In(time.Hour)
		return nil
	})
	storetest.Must(t, err)
	ok, err := s.SaveCheck(s.Ctx, river.Saved{Source: src, Check: river.Check{At: s.Now}, Now: s.Now})
	storetest.Same(t, "saved", []any{ok, err}, []any{false, error(nil)})
}

func keptChecks(t *testing.T, s *stream) {
	src, other := s.followFeed("ann", feedURL(1)), s.followFeed("ann", feedURL(2))
	for n := range 2*river.KeptChecks + 3 {
		got := s.take(src.ID)
		s.save(river.Saved{Source: got, Check: river.Check{At: s.Now, Status: n, Text: "text \x00 ☂ \xff", Took: time.Second, Hops: []polling.Hop{{Status: 301}}}})
		s.pass(time.Minute)
	}
	s.readFeed(other.ID)
	list, err := s.Checks(s.Ctx, src.ID)
	storetest.Must(t, err)
	storetest.Same(t, "number", len(list), river.KeptChecks)
	for i, c := range list {
		storetest.Same(t, "check", []any{c.Status, c.At, c.Took}, []any{2*river.KeptChecks + 2 - i, s.In(-time.Duration(i+1) * time.Minute), time.Second})
	}
	list, err = s.Checks(s.Ctx, other.ID)
	storetest.Same(t, "the other's", []any{len(list), err}, []any{1, error(nil)})
	list, err = s.Checks(s.Ctx, 77)
	storetest.Same(t, "checks of an unknown source", []any{len(list), err}, []any{0, error(nil)})
}

func riverHosts(t *testing.T, s *stream) {
	src := s.take(s.followFeed("ann", feedURL(1)).ID)
	want := polling.Host{Waits: []polling.Wait{{URL: feedURL(1), Status: 429, Value: "60", Seen: s.Now, Until: s.In(time.Minute)}}}
	s.save(river.Saved{Source: src, Host: &want})
	got, err := s.Hosts(s.Ctx, []string{"feeds.example", "nobody.example", "\x00"})
	storetest.Must(t, err)
	storetest.Same(t, "hosts", got, map[string]river.Host{"feeds.example": want})
	src = s.take(src.ID)
	s.save(river.Saved{Source: src})
	got, err = s.Hosts(s.Ctx, []string{"feeds.example"})
	storetest.Same(t, "as before", []any{got, err}, []any{map[string]river.Host{"feeds.example": want}, error(nil)})
	got, err = s.Hosts(s.Ctx, nil)
	storetest.Same(t, "none", []any{len(got), err}, []any{0, error(nil)})
}

func countSources(t *testing.T, s *stream) {
	for n := range 5 {
		src := s.followFeed("ann", feedURL(n))
		if n > 0 {
			got := s.take(src.ID)
			switch n {
			case 1:
				got.State.Failures = 2
			case 2:
				got.State.Gone = &polling.Gone{}
			case 3:
				got.State.Push = polling.Push{Since: s.Now, Until: s.In(time.Hour), Announced: 3}
			}
			s.save(river.Saved{Source: got, Put: s.items(src.ID, 0, n)})
		}
	}
	s.followFeed("bob", feedURL(4))
	_, err := s.RiverUnsubscribe(s.Ctx, "ann", []int64{river.SourceID(feedURL(3))})
	storetest.Must(t, err)
	n, err := s.CountSources(s.Ctx, s.Now)
	storetest.Must(t, err)
	storetest.Same(t, "counts", n, river.SourceCounts{Sources: 5, Followed: 4, Due: 1, Failing: 1, Gone: 1, Pushed: 1, Items: 10, Subscriptions: 5, Readers: 2})
	n, err = s.CountSources(s.Ctx, s.In(time.Hour))
	storetest.Same(t, "later", []any{n.Pushed, n.Due, err}, []any{int64(0), int64(4), error(nil)})
}

func badTexts(t *testing.T, s *stream) {
	const bad = "a\x00b\xffc"
	src := s.followFeed(bad, "http://feeds.example/"+bad, bad)
	got := s.take(river.SourceID("http://feeds.example/" + bad))
	got.About.Title, got.Topic, got.PushEndpoints = bad, bad, []river.PushEndpoint{{Hub: bad}}
	it := s.newItem(src.ID, 1, s.Now)
	it.GUID, it.Title, it.Link, it.HTML, it.Text, it.Authors = bad, bad, bad, bad, bad, []string{bad}
	s.save(river.Saved{Source: got, Check: river.Check{At: s.Now, Text: bad, Sent: bad}, Put: []river.Item{it}})
	s.index()
	list := s.ask(river.ItemQuery{Reader: bad, Category: bad})
	storetest.Same(t, "items", len(list), 1)
	storetest.Same(t, "the guid as it was", list[0].GUID, bad)
	storetest.Must(t, s.PutCategory(s.Ctx, bad, bad, true))
	_, err := s.Items(s.Ctx, river.ItemQuery{Reader: bad, Match: bad})
	storetest.Must(t, err)
	_, err = s.PutForwarding(s.Ctx, forward.Forwarding{Reader: bad, Via: bad, Target: bad, Secret: bad, Category: bad, Problem: bad}, 5)
	storetest.Must(t, err)
	storetest.Must(t, s.AddReadingList(s.Ctx, river.ReadingList{Reader: bad, URL: bad, Title: bad}))
	_, err = s.RiverSubscriptions(s.Ctx, river.SubscriptionQuery{Reader: bad, Match: bad, Category: bad})
	storetest.Must(t, err)
}

func wishSurvives(t *testing.T, s *stream) {
	src := s.take(s.followFeed("ann", feedURL(1)).ID)
	_, err := s.ChangeSubscription(s.Ctx, "ann", src.ID, func(f *river.Subscription) error {
		f.Interval = 10 * time.Minute
		return nil
	})
	storetest.Must(t, err)
	s.save(river.Saved{Source: src})
	storetest.Same(t, "interval", s.sourceNow(src.ID).State.Interval, 10*time.Minute)
	got, err := s.ChangeSource(s.Ctx, src.ID, func(src *river.Source) error {
		src.State.Interval = 20 * time.Minute
		return nil
	})
	storetest.Same(t, "changed by hand", []any{got.State.Interval, err, s.sourceNow(src.ID).State.Interval}, []any{20 * time.Minute, error(nil), 20 * time.Minute})
}
