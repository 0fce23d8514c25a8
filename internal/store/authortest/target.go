package authortest

import (
	"strings"
	"testing"
	"time"

	"cloudburst/internal/announce"
	"cloudburst/internal/event"
	"cloudburst/internal/store/storetest"
)

func targetTests() map[string]func(*testing.T, *env) {
	return map[string]func(*testing.T, *env){
		"TargetIsReadAsWritten":               targetTest(wholeTarget),
		"TargetIsNotCreatedOnLeave":           targetTest(leftTarget),
		"DueTargetIsClaimedOnce":              targetTest(claimedTarget),
		"TargetsAreListedInOrder":             targetTest(listedTargets),
		"ConcurrentCreationKeepsNewerVersion": targetTest(racedTarget),
		"NextTargetIsEarliest":                targetTest(nextTarget),
	}
}

type targets struct {
	*env
	announce.Store
	t *testing.T
}

func targetTest(f func(*testing.T, *targets)) func(*testing.T, *env) {
	return func(t *testing.T, e *env) {
		s, ok := e.Store.(announce.Store)
		if !ok {
			t.Fatal("the store is not an announce.Store")
		}
		f(t, &targets{env: e, Store: s, t: t})
	}
}

func targetKey(user, target string) announce.Key {
	return announce.Key{User: user, Target: target, Topic: "http://127.0.0.1/" + user + "/rss.xml"}
}

// put stores a target unchanged.
func (s *targets) put(o announce.PendingTarget) {
	s.t.Helper()
	storetest.Must(s.t, s.ChangeTargets(s.Ctx, []announce.Key{o.Key}, func(now *announce.PendingTarget, _ bool) (announce.Verdict, []event.Event) {
		*now = o
		return announce.Keep, []event.Event{s.Event(event.KindTarget, "put "+o.Target)}
	}))
}

func (s *targets) all(q announce.Query) []announce.PendingTarget {
	s.t.Helper()
	list, err := s.Targets(s.Ctx, q)
	storetest.Must(s.t, err)
	return list
}

func wholeTarget(t *testing.T, s *targets) {
	o := announce.PendingTarget{
		Key: targetKey("ann", "get http://127.0.0.1/?☂={0}"), Version: 7, Notified: 5, DueAt: s.In(time.Hour), Tries: 3, Lease: 1 << 62,
		Note: announce.Note{Name: "☂ \"x\"", Home: "h", SavedAt: s.Now, LastAt: s.In(-time.Second), Last: "It said no.", Refused: 2, RetryAt: s.In(time.Minute)},
	}
	s.put(o)
	storetest.Same(t, "row", s.all(announce.Query{}), []announce.PendingTarget{o})
	storetest.Same(t, "log", s.Log(t), []string{"put " + o.Target})
	o.DueAt, o.GaveUp, o.Lease = time.Time{}, true, 0
	s.put(o)
	storetest.Same(t, "changed row", s.all(announce.Query{User: "ann"}), []announce.PendingTarget{o})
	bad := announce.PendingTarget{Key: targetKey("nul\x00", "broken \xff"), Version: 1, Note: announce.Note{Last: "\x00\xff"}}
	s.put(bad)
	if got := s.all(announce.Query{After: o.Key}); len(got) != 1 || !strings.HasPrefix(got[0].User, "nul") {
		t.Errorf("invalid text: %+v", got)
	}
}

func leftTarget(t *testing.T, s *targets) {
	for _, v := range []announce.Verdict{announce.Leave, announce.Delete} {
		storetest.Must(t, s.ChangeTargets(s.Ctx, []announce.Key{targetKey("ann", "x")}, func(o *announce.PendingTarget, found bool) (announce.Verdict, []event.Event) {
			storetest.Same(t, "a row that is not there", *o, announce.PendingTarget{Key: targetKey("ann", "x")})
			if found {
				t.Error("the row was found")
			}
			o.Version = 3
			return v, nil
		}))
	}
	storetest.Same(t, "rows", s.all(announce.Query{}), []announce.PendingTarget(nil))
	s.put(announce.PendingTarget{Key: targetKey("ann", "x"), Version: 1})
	storetest.Must(t, s.ChangeTargets(s.Ctx, []announce.Key{targetKey("ann", "x")}, func(*announce.PendingTarget, bool) (announce.Verdict, []event.Event) { return announce.Delete, nil }))
	storetest.Same(t, "rows after the end", s.all(announce.Query{}), []announce.PendingTarget(nil))
	storetest.Must(t, s.ChangeTargets(s.Ctx, nil, nil))
}

func claimedTarget(t *testing.T, s *targets) {
	for i, target := range []string{"late", "later", "never", "early"} {
		o := announce.PendingTarget{Key: targetKey("ann", target), Version: 1}
		if target != "never" {
			o.DueAt = s.In(-time.Duration(i) * time.Minute)
		}
		s.put(o)
	}
	got, err := s.ClaimTargets(s.Ctx, s.Now, s.In(time.Minute), 2, 41)
	storetest.Must(t, err)
	var names []string
	for _, o := range got {
		names = append(names, o.Target)
		if o.Lease != 41 || !o.DueAt.Equal(s.In(time.Minute)) {
			t.Errorf("a claimed row has lease %d until %s", o.Lease, o.DueAt)
		}
	}
	storetest.Same(t, "the oldest two", names, []string{"early", "later"})
	got, err = s.ClaimTargets(s.Ctx, s.Now, s.In(time.Minute), 10, 42)
	storetest.Must(t, err)
	if len(got) != 1 || got[0].Target != "late" {
		t.Fatalf("claimed %+v", got)
	}
	got, err = s.ClaimTargets(s.Ctx, s.Now, s.In(time.Minute), 10, 43)
	storetest.Must(t, err)
	storetest.Same(t, "rows claimed by others", got, []announce.PendingTarget(nil))
	got, err = s.ClaimTargets(s.Ctx, s.In(time.Minute), s.In(time.Hour), 10, 44)
	storetest.Must(t, err)
	if len(got) != 3 {
		t.Errorf("%d rows are due again when their leases have ended", len(got))
	}
}

func listedTargets(t *testing.T, s *targets) {
	for _, k := range []announce.Key{targetKey("bob", "a"), targetKey("ann", "b"), targetKey("ann", "a"), targetKey("Zoe", "z")} {
		o := announce.PendingTarget{Key: k, Version: 2, Notified: 2}
		if k.Target == "a" {
			o.Notified = 1
		}
		s.put(o)
	}
	names := func(q announce.Query) (out []string) {
		for _, o := range s.all(q) {
			out = append(out, o.User+" "+o.Target)
		}
		return out
	}
	storetest.Same(t, "all", names(announce.Query{}), []string{"Zoe z", "ann a", "ann b", "bob a"})
	storetest.Same(t, "a page", names(announce.Query{After: targetKey("ann", "a"), Limit: 1}), []string{"ann b"})
	storetest.Same(t, "of one user", names(announce.Query{User: "ann"}), []string{"ann a", "ann b"})
	storetest.Same(t, "pending", names(announce.Query{Pending: true}), []string{"ann a", "bob a"})
}

func racedTarget(t *testing.T, s *targets) {
	const many = 8
	done := make(chan error)
	for v := range int64(many) {
		go func() {
			done <- s.ChangeTargets(s.Ctx, []announce.Key{targetKey("ann", "b"), targetKey("ann", "a")}, func(o *announce.PendingTarget, _ bool) (announce.Verdict, []event.Event) {
				if v+1 <= o.Version {
					return announce.Leave, nil
				}
				o.Version = v + 1
				return announce.Keep, nil
			})
		}()
	}
	for range many {
		storetest.Must(t, <-done)
	}
	for _, o := range s.all(announce.Query{}) {
		if o.Version != many {
			t.Errorf("%s has pending version %d", o.Target, o.Version)
		}
	}
}

func nextTarget(t *testing.T, s *targets) {
	next, err := s.NextTarget(s.Ctx)
	storetest.Must(t, err)
	if !next.IsZero() {
		t.Errorf("%s is due in an empty store", next)
	}
	s.put(announce.PendingTarget{Key: targetKey("ann", "a"), Version: 1})
	s.put(announce.PendingTarget{Key: targetKey("ann", "b"), Version: 1, DueAt: s.In(time.Hour)})
	s.put(announce.PendingTarget{Key: targetKey("ann", "c"), Version: 1, DueAt: s.In(time.Minute)})
	next, err = s.NextTarget(s.Ctx)
	storetest.Must(t, err)
	storetest.Same(t, "next", next, s.In(time.Minute))
}
