package rivertest

import (
	"testing"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/river/forward"
	"cloudburst/internal/store/storetest"
)

func forwardingWaiting(t *testing.T, s *stream) {
	src := s.followFeed("ann", feedURL(1))
	s.readFeed(src.ID)
	n := s.newForwarding(forward.Forwarding{Reader: "ann", State: forward.ForwardingWaiting})
	storetest.Same(t, "due at once, to be asked", []any{n.State, n.NextAt.IsZero()}, []any{forward.ForwardingWaiting, false})
	s.news(src.ID, 1)
	list, err := s.ClaimForwardings(s.Ctx, s.Now, s.In(time.Minute), 10, 5)
	storetest.Same(t, "claimed", []any{len(list), err}, []any{1, error(nil)})
	entries, err := s.ForwardingItems(s.Ctx, n.ID, 10)
	storetest.Same(t, "items that arrived in the meantime", []any{len(entries), err}, []any{0, error(nil)})
	n = list[0]
	n.Asked, n.AskedAt, n.NextAt = 1, s.Now, time.Time{}
	ok, err := s.SaveForwarding(s.Ctx, n, nil)
	storetest.Same(t, "saved", []any{ok, err, s.due()}, []any{true, error(nil), map[int64][]string{}})
	got, err := s.Forwardings(s.Ctx, "ann")
	n.Claim = 0
	storetest.Same(t, "stored", []any{got, err}, []any{[]forward.Forwarding{n}, error(nil)})
	// Changing the source or the category needs no new consent.
	n.Category = "c"
	storetest.Same(t, "changed", s.newForwarding(n).NextAt, time.Time{})
	n.Category, n.Asked = "", 0
	n = s.newForwarding(n)
	list, err = s.ClaimForwardings(s.Ctx, s.Now, s.In(time.Minute), 10, 6)
	storetest.Same(t, "asked again", []any{len(list), err}, []any{1, error(nil)})
	list[0].NextAt = s.In(time.Minute)
	ok, err = s.SaveForwarding(s.Ctx, list[0], nil)
	storetest.Same(t, "saved", []any{ok, err, s.due()}, []any{true, error(nil), map[int64][]string{}})
	s.pass(time.Minute)
	list, err = s.ClaimForwardings(s.Ctx, s.Now, s.In(time.Minute), 10, 7)
	storetest.Must(t, err)
	list[0].State, list[0].DecidedAt = forward.ForwardingConfirmed, s.Now
	ok, err = s.SaveForwarding(s.Ctx, list[0], nil)
	storetest.Same(t, "confirmed", []any{ok, err}, []any{true, error(nil)})
	s.news(src.ID, 2)
	storetest.Same(t, "due after the consent", s.due(), map[int64][]string{n.ID: {"Title 2"}})
	// Another forwarding to the same recipient needs no new consent.
	storetest.Same(t, "a second", s.newForwarding(forward.Forwarding{Reader: "ann", State: forward.ForwardingWaiting}).State, forward.ForwardingConfirmed)
	storetest.Same(t, "of another reader", s.newForwarding(forward.Forwarding{Reader: "bob", State: forward.ForwardingWaiting}).State, forward.ForwardingWaiting)
}

func mailTo(reader, target, state string) forward.Forwarding {
	return forward.Forwarding{Reader: reader, Via: forward.ViaEmail, Target: target, State: state}
}

func (s *stream) states(reader string) (all []string) {
	s.t.Helper()
	list, err := s.Forwardings(s.Ctx, reader)
	s.must(err)
	for _, n := range list {
		all = append(all, n.State)
	}
	return all
}

func forwardingDecided(t *testing.T, s *stream) {
	src := s.followFeed("ann", feedURL(1))
	s.readFeed(src.ID)
	for _, target := range []string{"vic@x.example", "VIC@x.example", "vic+news@x.example", "other@x.example"} {
		s.newForwarding(mailTo("ann", target, forward.ForwardingWaiting))
	}
	s.newForwarding(mailTo("bob", "vic@x.example", forward.ForwardingWaiting))
	n, err := s.DecideForwardings(s.Ctx, mailTo("ann", "Vic@X.example", ""), forward.ForwardingConfirmed, s.Now)
	storetest.Same(t, "confirmed", []any{n, err, s.states("ann"), s.states("bob")}, []any{2, error(nil),
		[]string{forward.ForwardingConfirmed, forward.ForwardingConfirmed, forward.ForwardingWaiting, forward.ForwardingWaiting}, []string{forward.ForwardingWaiting}})
	s.news(src.ID, 1)
	list, err := s.ClaimForwardings(s.Ctx, s.Now, s.In(time.Minute), 10, 9)
	storetest.Must(t, err)
	n, err = s.DecideForwardings(s.Ctx, mailTo("ann", "vic@x.example", ""), forward.ForwardingEnded, s.In(time.Second))
	storetest.Same(t, "ended", []any{n, err, s.states("ann"), s.states("bob")}, []any{3, error(nil),
		[]string{forward.ForwardingEnded, forward.ForwardingEnded, forward.ForwardingEnded, forward.ForwardingWaiting}, []string{forward.ForwardingWaiting}})
	for _, n := range list {
		if n.Reader == "ann" && n.Target == "vic@x.example" {
			ok, err := s.SaveForwarding(s.Ctx, n, nil)
			storetest.Same(t, "write during the decision", []any{ok, err}, []any{false, error(nil)})
			entries, err := s.ForwardingItems(s.Ctx, n.ID, 10)
			storetest.Same(t, "items after the decision", []any{len(entries), err}, []any{0, error(nil)})
		}
	}
	got, err := s.Forwardings(s.Ctx, "ann")
	storetest.Same(t, "since", []any{got[0].DecidedAt, got[0].NextAt, err}, []any{s.In(time.Second), time.Time{}, error(nil)})
	s.news(src.ID, 2)
	s.pass(time.Hour)
	list, err = s.ClaimForwardings(s.Ctx, s.Now, s.In(time.Minute), 10, 10)
	storetest.Must(t, err)
	for _, n := range list {
		if n.State == forward.ForwardingEnded {
			t.Errorf("%+v is due", n)
		}
	}
}

func forwardingRefused(t *testing.T, s *stream) {
	refused := func(reader, target string) bool {
		yes, err := s.ForwardingRefused(s.Ctx, reader, forward.ViaEmail, target)
		storetest.Must(t, err)
		return yes
	}
	kept := s.newForwarding(mailTo("ann", "vic@x.example", forward.ForwardingConfirmed))
	_, err := s.DecideForwardings(s.Ctx, mailTo("ann", "vic@x.example", ""), forward.ForwardingEnded, s.Now)
	storetest.Must(t, err)
	storetest.Same(t, "refused", []bool{refused("ann", "Vic+a@x.example"), refused("bob", "vic@x.example"), refused("ann", "v@x.example")}, []bool{true, false, false})
	for _, target := range []string{"vic@x.example", "VIC+again@x.example"} {
		_, err = s.PutForwarding(s.Ctx, mailTo("ann", target, forward.ForwardingWaiting), 10)
		storetest.WantFault(t, err, fault.Refused)
	}
	storetest.Must(t, s.DropForwarding(s.Ctx, "ann", kept.ID))
	_, err = s.PutForwarding(s.Ctx, mailTo("ann", "vic@x.example", forward.ForwardingWaiting), 10)
	storetest.WantFault(t, err, fault.Refused)
	storetest.Same(t, "forwardings after the refusal", s.states("ann"), []string(nil))
	s.newForwarding(mailTo("bob", "vic@x.example", forward.ForwardingWaiting))
	n, err := s.DecideForwardings(s.Ctx, mailTo("ann", "vic@x.example", ""), forward.ForwardingConfirmed, s.Now)
	storetest.Same(t, "allowed again", []any{n, err, refused("ann", "vic@x.example")}, []any{0, error(nil), false})
	s.newForwarding(mailTo("ann", "vic@x.example", forward.ForwardingWaiting))
}

func messagesCounted(t *testing.T, s *stream) {
	add := func(day int64, n int, subjects ...forward.MessageLimit) bool {
		t.Helper()
		ok, err := s.CountMessages(s.Ctx, day, subjects, n)
		storetest.Must(t, err)
		return ok
	}
	ann, vic := forward.MessageLimit{Subject: "by ann", Max: 3}, forward.MessageLimit{Subject: "to ☂", Max: 2}
	storetest.Same(t, "first", []bool{add(5, 1, ann, vic), add(5, 1, ann, vic), add(5, 1, ann, vic)}, []bool{true, true, false})
	storetest.Same(t, "a failed count is rolled back", []bool{add(5, 1, ann), add(5, 1, ann)}, []bool{true, false})
	storetest.Same(t, "taken back", []bool{add(5, -1, ann, vic), add(5, 1, vic, ann), add(5, 1, vic)}, []bool{true, true, false})
	storetest.Same(t, "another day", []bool{add(6, 1, ann, vic), add(6, 1, ann, vic), add(6, 1, ann, vic)}, []bool{true, true, false})
}

func forwardingClaimedAlone(t *testing.T, s *stream) {
	n := s.newForwarding(forward.Forwarding{Reader: "ann"})
	_, err := s.ClaimForwarding(s.Ctx, "bob", n.ID, s.Now, s.In(time.Minute), 5)
	storetest.WantFault(t, err, fault.NotFound)
	got, err := s.ClaimForwarding(s.Ctx, "ann", n.ID, s.Now, s.In(time.Minute), 5)
	storetest.Same(t, "claimed", []any{got.Claim, got.NextAt, err}, []any{int64(5), s.In(time.Minute), error(nil)})
	_, err = s.ClaimForwarding(s.Ctx, "ann", n.ID, s.Now, s.In(time.Minute), 6)
	storetest.WantFault(t, err, fault.Conflict)
	s.pass(time.Minute)
	_, err = s.ClaimForwarding(s.Ctx, "ann", n.ID, s.Now, s.In(time.Minute), 7)
	storetest.Must(t, err)
}
