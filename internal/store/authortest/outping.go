package authortest

import (
	"strings"
	"testing"
	"time"

	"cloudburst/internal/announce"
	"cloudburst/internal/event"
	"cloudburst/internal/store/storetest"
)

func outpingTests() map[string]func(*testing.T, *env) {
	return map[string]func(*testing.T, *env){
		"ASinkComesBackWhole":                     sinkTest(wholeSink),
		"ASinkThatIsLeftIsNotMade":                sinkTest(leftSink),
		"ADueSinkIsClaimedByOne":                  sinkTest(claimedSink),
		"SinksAreListedInTheirOrder":              sinkTest(listedSinks),
		"OfTwoWhoMakeOneSinkTheNewerVersionStays": sinkTest(racedSink),
		"TheNextDueSinkIsKnown":                   sinkTest(nextSink),
	}
}

type sinks struct {
	*env
	announce.Store
	t *testing.T
}

func sinkTest(f func(*testing.T, *sinks)) func(*testing.T, *env) {
	return func(t *testing.T, e *env) {
		s, ok := e.Store.(announce.Store)
		if !ok {
			t.Fatal("the store keeps no sinks")
		}
		f(t, &sinks{env: e, Store: s, t: t})
	}
}

func sinkKey(user, sink string) announce.Key {
	return announce.Key{User: user, Sink: sink, Topic: "http://127.0.0.1/" + user + "/rss.xml"}
}

// put writes a row as it is.
func (s *sinks) put(o announce.Owed) {
	s.t.Helper()
	storetest.Must(s.t, s.ChangeSinks(s.Ctx, []announce.Key{o.Key}, func(now *announce.Owed, _ bool) (announce.Verdict, []event.Event) {
		*now = o
		return announce.Keep, []event.Event{s.Event(event.KindSink, "put "+o.Sink)}
	}))
}

func (s *sinks) all(q announce.Query) []announce.Owed {
	s.t.Helper()
	list, err := s.Sinks(s.Ctx, q)
	storetest.Must(s.t, err)
	return list
}

func wholeSink(t *testing.T, s *sinks) {
	o := announce.Owed{
		Key: sinkKey("ann", "get http://127.0.0.1/?☂={0}"), Version: 7, Told: 5, DueAt: s.In(time.Hour), Tries: 3, Lease: 1 << 62,
		Note: announce.Note{Name: "☂ \"x\"", Home: "h", SavedAt: s.Now, LastAt: s.In(-time.Second), Last: "It said no.", Refused: 2, NotYet: s.In(time.Minute)},
	}
	s.put(o)
	storetest.Same(t, "row", s.all(announce.Query{}), []announce.Owed{o})
	storetest.Same(t, "log", s.Log(t), []string{"put " + o.Sink})
	o.DueAt, o.GaveUp, o.Lease = time.Time{}, true, 0
	s.put(o)
	storetest.Same(t, "changed row", s.all(announce.Query{User: "ann"}), []announce.Owed{o})
	bad := announce.Owed{Key: sinkKey("nul\x00", "broken \xff"), Version: 1, Note: announce.Note{Last: "\x00\xff"}}
	s.put(bad)
	if got := s.all(announce.Query{After: o.Key}); len(got) != 1 || !strings.HasPrefix(got[0].User, "nul") {
		t.Errorf("text that no database takes: %+v", got)
	}
}

func leftSink(t *testing.T, s *sinks) {
	for _, v := range []announce.Verdict{announce.Leave, announce.Delete} {
		storetest.Must(t, s.ChangeSinks(s.Ctx, []announce.Key{sinkKey("ann", "x")}, func(o *announce.Owed, found bool) (announce.Verdict, []event.Event) {
			storetest.Same(t, "a row that is not there", *o, announce.Owed{Key: sinkKey("ann", "x")})
			if found {
				t.Error("it was found")
			}
			o.Version = 3
			return v, nil
		}))
	}
	storetest.Same(t, "rows", s.all(announce.Query{}), []announce.Owed(nil))
	s.put(announce.Owed{Key: sinkKey("ann", "x"), Version: 1})
	storetest.Must(t, s.ChangeSinks(s.Ctx, []announce.Key{sinkKey("ann", "x")}, func(*announce.Owed, bool) (announce.Verdict, []event.Event) { return announce.Delete, nil }))
	storetest.Same(t, "rows after the end", s.all(announce.Query{}), []announce.Owed(nil))
	storetest.Must(t, s.ChangeSinks(s.Ctx, nil, nil))
}

func claimedSink(t *testing.T, s *sinks) {
	for i, sink := range []string{"late", "later", "never", "early"} {
		o := announce.Owed{Key: sinkKey("ann", sink), Version: 1}
		if sink != "never" {
			o.DueAt = s.In(-time.Duration(i) * time.Minute)
		}
		s.put(o)
	}
	got, err := s.ClaimSinks(s.Ctx, s.Now, s.In(time.Minute), 2, 41)
	storetest.Must(t, err)
	var names []string
	for _, o := range got {
		names = append(names, o.Sink)
		if o.Lease != 41 || !o.DueAt.Equal(s.In(time.Minute)) {
			t.Errorf("a claimed row has lease %d until %s", o.Lease, o.DueAt)
		}
	}
	storetest.Same(t, "the oldest two", names, []string{"early", "later"})
	got, err = s.ClaimSinks(s.Ctx, s.Now, s.In(time.Minute), 10, 42)
	storetest.Must(t, err)
	if len(got) != 1 || got[0].Sink != "late" {
		t.Fatalf("claimed %+v", got)
	}
	got, err = s.ClaimSinks(s.Ctx, s.Now, s.In(time.Minute), 10, 43)
	storetest.Must(t, err)
	storetest.Same(t, "what others have", got, []announce.Owed(nil))
	got, err = s.ClaimSinks(s.Ctx, s.In(time.Minute), s.In(time.Hour), 10, 44)
	storetest.Must(t, err)
	if len(got) != 3 {
		t.Errorf("%d rows are due again when their leases have ended", len(got))
	}
}

func listedSinks(t *testing.T, s *sinks) {
	for _, k := range []announce.Key{sinkKey("bob", "a"), sinkKey("ann", "b"), sinkKey("ann", "a"), sinkKey("Zoe", "z")} {
		o := announce.Owed{Key: k, Version: 2, Told: 2}
		if k.Sink == "a" {
			o.Told = 1
		}
		s.put(o)
	}
	names := func(q announce.Query) (out []string) {
		for _, o := range s.all(q) {
			out = append(out, o.User+" "+o.Sink)
		}
		return out
	}
	storetest.Same(t, "all", names(announce.Query{}), []string{"Zoe z", "ann a", "ann b", "bob a"})
	storetest.Same(t, "a page", names(announce.Query{After: sinkKey("ann", "a"), Limit: 1}), []string{"ann b"})
	storetest.Same(t, "of one", names(announce.Query{User: "ann"}), []string{"ann a", "ann b"})
	storetest.Same(t, "owing", names(announce.Query{Owing: true}), []string{"ann a", "bob a"})
}

func racedSink(t *testing.T, s *sinks) {
	const many = 8
	done := make(chan error)
	for v := range int64(many) {
		go func() {
			done <- s.ChangeSinks(s.Ctx, []announce.Key{sinkKey("ann", "b"), sinkKey("ann", "a")}, func(o *announce.Owed, _ bool) (announce.Verdict, []event.Event) {
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
			t.Errorf("%s shall hear of version %d", o.Sink, o.Version)
		}
	}
}

func nextSink(t *testing.T, s *sinks) {
	next, err := s.NextSink(s.Ctx)
	storetest.Must(t, err)
	if !next.IsZero() {
		t.Errorf("of nothing, %s is due", next)
	}
	s.put(announce.Owed{Key: sinkKey("ann", "a"), Version: 1})
	s.put(announce.Owed{Key: sinkKey("ann", "b"), Version: 1, DueAt: s.In(time.Hour)})
	s.put(announce.Owed{Key: sinkKey("ann", "c"), Version: 1, DueAt: s.In(time.Minute)})
	next, err = s.NextSink(s.Ctx)
	storetest.Must(t, err)
	storetest.Same(t, "next", next, s.In(time.Minute))
}
