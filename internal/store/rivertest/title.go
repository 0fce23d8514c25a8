package rivertest

import (
	"testing"
	"time"

	"cloudburst/internal/river"
	"cloudburst/internal/store/storetest"
)

// ownTitleDropped stores subscriptions as an import does: before the title of the feed is known.
func ownTitleDropped(t *testing.T, s *stream) {
	for reader, title := range map[string]string{"ann": "The log", "bob": "My log"} {
		a := s.addition(reader, feedURL(1))
		a.Title, a.Source.About.Title = title, "Imported"
		_, err := s.RiverSubscribe(s.Ctx, []river.Addition{a}, s.Now, 10)
		storetest.Must(t, err)
	}
	id := river.SourceID(feedURL(1))
	titles := func(what string, want ...string) {
		t.Helper()
		known, err := s.KnownSources(s.Ctx, "ann", []string{feedURL(1)})
		storetest.Same(t, what, []any{s.one("ann", id).Title, s.one("bob", id).Title, known[feedURL(1)].Title, err}, []any{want[0], want[1], want[2], error(nil)})
	}
	titles("before the first check", "The log", "My log", "")
	src := s.take(id)
	src.State.Failures, src.State.CheckedAt, src.NextAt, src.About.Title = 1, s.Now, s.In(time.Hour), "The log"
	ok, err := s.SaveCheck(s.Ctx, river.Saved{Source: src, Check: river.Check{At: s.Now}, Now: s.Now})
	storetest.Same(t, "saved", []any{ok, err}, []any{true, error(nil)})
	titles("after a failed check", "The log", "My log", "")
	src = s.take(id)
	src.About.Title = "The  log "
	s.save(river.Saved{Source: src})
	titles("after the first check", "", "My log", "The  log ")
	_, err = s.ChangeSubscription(s.Ctx, "ann", id, func(f *river.Subscription) error { f.Title = "Later"; return nil })
	storetest.Must(t, err)
	src = s.take(id)
	src.About.Title = "Later"
	s.save(river.Saved{Source: src})
	titles("after the second check", "Later", "My log", "Later")
}
