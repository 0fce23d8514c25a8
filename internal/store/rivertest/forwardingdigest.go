package rivertest

import (
	"testing"
	"time"

	"cloudburst/internal/river"
	"cloudburst/internal/river/forward"
	"cloudburst/internal/store/storetest"
)

// mailOf stores a confirmed forwarding to a mailbox.
func (s *stream) mailOf(target, digest string) forward.Forwarding {
	s.t.Helper()
	n := mailTo("ann", target, forward.ForwardingConfirmed)
	n.Digest = digest
	return s.newForwarding(n)
}

// dueTimes returns the due times of ann's forwardings.
func (s *stream) dueTimes() (all []time.Time) {
	s.t.Helper()
	list, err := s.Forwardings(s.Ctx, "ann")
	s.must(err)
	for _, n := range list {
		all = append(all, n.NextAt)
	}
	return all
}

func digestDue(t *testing.T, s *stream) {
	src := s.followFeed("ann", feedURL(1))
	s.readFeed(src.ID)
	once, daily, weekly := s.mailOf("a@x.example", ""), s.mailOf("b@x.example", forward.DigestDaily), s.mailOf("c@x.example", forward.DigestWeekly)
	s.news(src.ID, 1)
	day, week := forward.DueAt(forward.DigestDaily, daily.ID, s.Now), forward.DueAt(forward.DigestWeekly, weekly.ID, s.Now)
	storetest.Same(t, "due", s.dueTimes(), []time.Time{s.Now, day, week})
	storetest.Same(t, "sent at once", s.due(), map[int64][]string{once.ID: {"Title 1"}})
	s.pass(time.Second)
	s.news(src.ID, 2)
	storetest.Same(t, "a second item moves nothing", s.dueTimes()[1:], []time.Time{day, week})
	daily.Paused = true
	storetest.Same(t, "paused", s.newForwarding(daily).NextAt, time.Time{})
	daily.Paused, daily.NextAt = false, day
	storetest.Same(t, "resumed", s.newForwarding(daily).NextAt, day)
	s.pass(day.Sub(s.Now))
	list, err := s.ClaimForwardings(s.Ctx, s.Now, s.In(time.Minute), 10, 77)
	storetest.Must(t, err)
	for _, n := range list {
		if n.ID == weekly.ID && day.Before(week) {
			t.Error("the weekly digest is due with the daily one")
		}
	}
}

func digestQueue(t *testing.T, s *stream) {
	src := s.followFeed("ann", feedURL(1))
	s.readFeed(src.ID)
	n := s.mailOf("a@x.example", forward.DigestDaily)
	var all []river.Item
	for i := range 5 {
		all = append(all, s.news(src.ID, i))
		s.pass(time.Second)
	}
	s.save(river.Saved{Source: s.take(src.ID), Withdrawn: []river.Item{{ID: all[3].ID, Seq: 99, WithdrawnAt: s.Now}}})
	q, err := s.QueuedDigest(s.Ctx, n.ID, 2)
	storetest.Must(t, err)
	storetest.Same(t, "queue", []any{len(q.List), q.List[0].Title, q.List[1].Title, q.Count, len(q.IDs)}, []any{2, "Title 4", "Title 2", 4, 5})
	list, err := s.ClaimForwardings(s.Ctx, s.In(8*24*time.Hour), s.In(9*24*time.Hour), 10, 5)
	storetest.Same(t, "claimed", []any{len(list), err}, []any{1, error(nil)})
	late := s.news(src.ID, 9) // while the mail is sent
	list[0].NextAt, list[0].LastAt = s.In(24*time.Hour), s.Now
	ok, err := s.SaveForwarding(s.Ctx, list[0], q.IDs)
	storetest.Same(t, "saved", []any{ok, err, s.dueTimes()}, []any{true, error(nil), []time.Time{s.In(24 * time.Hour)}})
	q, err = s.QueuedDigest(s.Ctx, n.ID, 2)
	storetest.Same(t, "the rest", []any{q.Count, q.IDs, err}, []any{1, []int64{late.ID}, error(nil)})
	q, err = s.QueuedDigest(s.Ctx, n.ID+1, 2)
	storetest.Same(t, "of no forwarding", []any{q.Count, err}, []any{0, error(nil)})
	// A digest keeps more items than other forwardings.
	s.readFeed(src.ID, s.items(src.ID, 100, 1300)...)
	list, err = s.ClaimForwardings(s.Ctx, s.In(8*24*time.Hour), s.In(9*24*time.Hour), 10, 6)
	storetest.Same(t, "claimed", []any{len(list), err}, []any{1, error(nil)})
	ok, err = s.SaveForwarding(s.Ctx, list[0], nil)
	storetest.Same(t, "saved", []any{ok, err}, []any{true, error(nil)})
	q, err = s.QueuedDigest(s.Ctx, n.ID, 200)
	storetest.Same(t, "many", []any{len(q.List), q.Count, len(q.IDs), err}, []any{200, 1201, 1201, error(nil)})
}

func digestChosen(t *testing.T, s *stream) {
	src := s.followFeed("ann", feedURL(1))
	s.readFeed(src.ID)
	vic, other := s.mailOf("vic@x.example", forward.DigestWeekly), s.mailOf("other@x.example", forward.DigestWeekly)
	empty := s.mailOf("VIC@x.example", "")
	bob := mailTo("bob", "vic@x.example", forward.ForwardingConfirmed)
	s.newForwarding(bob)
	s.news(src.ID, 1)
	_, err := s.ClaimForwardings(s.Ctx, s.Now, s.In(time.Minute), 10, 5) // claim the forwarding that sends at once
	storetest.Must(t, err)
	choose := func(digest string) {
		t.Helper()
		storetest.Must(t, s.ChooseDigest(s.Ctx, mailTo("ann", "Vic@x.example", ""), digest, s.Now))
	}
	choose(forward.DigestDaily)
	storetest.Same(t, "daily", s.dueTimes()[:2], []time.Time{forward.DueAt(forward.DigestDaily, vic.ID, s.Now), forward.DueAt(forward.DigestWeekly, other.ID, s.Now)})
	list, err := s.Forwardings(s.Ctx, "ann")
	storetest.Same(t, "chosen", []any{list[0].Digest, list[1].Digest, list[2].ID, list[2].Digest, list[2].NextAt, err},
		[]any{forward.DigestDaily, forward.DigestWeekly, empty.ID, forward.DigestDaily, s.In(time.Minute), error(nil)})
	choose("")
	storetest.Same(t, "at once", s.dueTimes()[0], s.Now)
	list, err = s.Forwardings(s.Ctx, "bob")
	storetest.Same(t, "another's", []any{list[0].Digest, err}, []any{"", error(nil)})
	// A digest does not change a forwarding that waits for the recipient's consent or that the
	// recipient ended.
	n := s.newForwarding(mailTo("ann", "new@x.example", forward.ForwardingWaiting))
	storetest.Must(t, s.ChooseDigest(s.Ctx, mailTo("ann", "new@x.example", ""), forward.DigestDaily, s.Now))
	storetest.Same(t, "to be asked", s.dueTimes()[3], n.NextAt)
	_, err = s.DecideForwardings(s.Ctx, mailTo("ann", "vic@x.example", ""), forward.ForwardingEnded, s.Now)
	storetest.Must(t, err)
	choose(forward.DigestDaily)
	storetest.Same(t, "ended", []any{s.dueTimes()[0], s.states("ann")[0]}, []any{time.Time{}, forward.ForwardingEnded})
}

func digestChosenDuringClaim(t *testing.T, s *stream) {
	src := s.followFeed("ann", feedURL(1))
	s.readFeed(src.ID)
	n := s.mailOf("vic@x.example", "")
	s.news(src.ID, 1)
	save := func(claim int64, digest string, want time.Time) {
		t.Helper()
		list, err := s.ClaimForwardings(s.Ctx, s.In(10*24*time.Hour), s.In(11*24*time.Hour), 10, claim)
		storetest.Same(t, "claimed", []any{len(list), err}, []any{1, error(nil)})
		storetest.Must(t, s.ChooseDigest(s.Ctx, mailTo("ann", "vic@x.example", ""), digest, s.Now))
		list[0].LastAt, list[0].NextAt = s.Now, forward.DueAt(list[0].Digest, n.ID, s.Now)
		ok, err := s.SaveForwarding(s.Ctx, list[0], nil)
		storetest.Same(t, "saved", []any{ok, err, s.dueTimes()}, []any{true, error(nil), []time.Time{want}})
	}
	save(5, forward.DigestWeekly, forward.DueAt(forward.DigestWeekly, n.ID, s.Now))
	save(6, "", s.Now)
	list, err := s.Forwardings(s.Ctx, "ann")
	storetest.Same(t, "stored", []any{list[0].Digest, err}, []any{"", error(nil)})
}
