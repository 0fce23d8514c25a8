package conversation

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"cloudburst/internal/fault"
)

// memoryStore is a Store in memory for one user.
type memoryStore struct {
	Store // provides the methods that the tests do not use
	mu    sync.Mutex
	all   map[int64]Mention
	rules []Rule
}

func (s *memoryStore) ReceiveMention(_ context.Context, m Mention, limit int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, old := range s.all {
		if old.Source == m.Source && old.Post == m.Post {
			if old.DueAt, old.Lease, old.Tries = m.DueAt, 0, 0; m.Target != old.Target {
				old.Reported = m.Target
			}
			s.all[id] = old
			return nil
		}
	}
	if len(s.all) >= limit {
		return fault.New(fault.TooMany, "full")
	}
	s.all[m.ID] = m
	return nil
}

func (s *memoryStore) Mention(_ context.Context, _ string, id int64) (Mention, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m, ok := s.all[id]
	if !ok {
		return m, fault.New(fault.NotFound, "none")
	}
	return m, nil
}

func (s *memoryStore) ClaimMentions(_ context.Context, now, until time.Time, limit int, lease int64) (list []Mention, _ error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, m := range s.all {
		if !m.DueAt.IsZero() && !m.DueAt.After(now) && len(list) < limit {
			m.Lease, m.DueAt = lease, until
			s.all[id] = m
			list = append(list, m)
		}
	}
	return list, nil
}

func (s *memoryStore) NextMention(context.Context) (next time.Time, _ error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.all {
		if !m.DueAt.IsZero() && (next.IsZero() || m.DueAt.Before(next)) {
			next = m.DueAt
		}
	}
	return next, nil
}

func (s *memoryStore) ChangeMention(_ context.Context, _ string, id int64, change func(*Mention, []Rule) (Action, error)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	m, ok := s.all[id]
	if !ok {
		return fault.New(fault.NotFound, "none")
	}
	action, err := change(&m, s.rules)
	switch {
	case err != nil:
		return err
	case action == Delete:
		delete(s.all, id)
	case action == Keep:
		s.all[id] = m
	}
	return nil
}

func (s *memoryStore) MentionRules(context.Context, string) ([]Rule, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rules, nil
}

func (s *memoryStore) SetMentionRule(_ context.Context, _ string, r Rule, _ int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rules = append(s.rules, r)
	return nil
}

// one returns the only mention.
func (s *memoryStore) one(t *testing.T) Mention {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.all) != 1 {
		t.Fatalf("%d mentions", len(s.all))
	}
	for _, m := range s.all {
		return m
	}
	return Mention{}
}

const author = "https://you.example/"

// scenario is a running Conversation whose pages answer as the test requires.
type scenario struct {
	*Conversation
	store *memoryStore
	mu    sync.Mutex
	reads int
	page  func(n int) (Content, string, error)
	links []string // targets to which the page links; nil: every target
}

func (w *scenario) Read(_ context.Context, _, target string) (Content, string, error) {
	if w.links != nil && !slices.Contains(w.links, target) {
		return Content{}, "", fault.New(fault.Gone, "The page does not link to the post.")
	}
	w.mu.Lock()
	w.reads++
	n := w.reads
	w.mu.Unlock()
	return w.page(n)
}

func (w *scenario) report(t *testing.T) {
	t.Helper()
	w.reportTo(t, "https://me.example/post")
}

func (w *scenario) reportTo(t *testing.T, target string) {
	t.Helper()
	if err := w.Receive(t.Context(), "https://you.example/reply", target, netip.MustParseAddr("192.0.2.1")); err != nil {
		t.Error(err)
	}
	time.Sleep(time.Second)
	synctest.Wait()
}

func run(t *testing.T, f func(t *testing.T, w *scenario)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &scenario{store: &memoryStore{all: map[int64]Mention{}}}
		w.page = func(int) (Content, string, error) {
			return Content{Kind: Reply, Name: "You", Text: "Hello"}, author, nil
		}
		w.Conversation = &Conversation{Store: w.store, Read: w, Target: func(_ context.Context, url string) (string, int64, error) {
			if path, _, _ := strings.Cut(url, "?"); path != "https://me.example/post" {
				return "", 0, fault.New(fault.NotFound, "none")
			}
			return "me", 3, nil
		}}
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- w.Run(ctx) }()
		f(t, w)
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func TestReplyOfUnknownAuthorWaitsForApproval(t *testing.T) {
	run(t, func(t *testing.T, w *scenario) {
		w.report(t)
		m := w.store.one(t)
		if m.State != Waiting || m.Author != author || m.Text != "Hello" || m.Host != "you.example" || !m.DueAt.IsZero() || m.Lease != 0 {
			t.Errorf("stored: %+v", m)
		}
	})
}

func TestApprovedReplyNeedsApprovalAgainAfterAChange(t *testing.T) {
	run(t, func(t *testing.T, w *scenario) {
		w.report(t)
		if _, err := w.Moderate(t.Context(), "me", w.store.one(t).ID, Approve); err != nil {
			t.Fatal(err)
		}
		w.report(t)
		if m := w.store.one(t); m.State != Approved {
			t.Errorf("the same text is %s", m.State)
		}
		w.page = func(int) (Content, string, error) {
			return Content{Kind: Reply, Name: "You", Text: "Buy this"}, author, nil
		}
		w.report(t)
		if m := w.store.one(t); m.State != Waiting {
			t.Errorf("the changed text is %s", m.State)
		}
	})
}

func TestTrustedAuthorsAreApprovedAndBlockedAuthorsRejected(t *testing.T) {
	run(t, func(t *testing.T, w *scenario) {
		w.store.rules = []Rule{{Host: "you.example", Author: author, Verdict: Trust}}
		w.report(t)
		if m := w.store.one(t); m.State != Approved {
			t.Errorf("a trusted author is %s", m.State)
		}
		if _, err := w.Moderate(t.Context(), "me", w.store.one(t).ID, BlockAuthor); err != nil {
			t.Fatal(err)
		}
		w.report(t)
		if m := w.store.one(t); m.State != Rejected {
			t.Errorf("a blocked author is %s", m.State)
		}
		if _, err := w.Moderate(t.Context(), "me", w.store.one(t).ID, BlockHost); err != nil {
			t.Fatal(err)
		}
		err := w.Receive(t.Context(), "https://a.you.example/reply", "https://me.example/post", netip.MustParseAddr("192.0.2.1"))
		if fault.CodeOf(err) != fault.Refused {
			t.Errorf("a subdomain of a blocked host: %v", err)
		}
	})
}

func TestRejectedReplyStaysRejectedAfterAnotherWebmention(t *testing.T) {
	run(t, func(t *testing.T, w *scenario) {
		w.report(t)
		if _, err := w.Moderate(t.Context(), "me", w.store.one(t).ID, Reject); err != nil {
			t.Fatal(err)
		}
		w.store.rules = []Rule{{Host: "you.example", Author: author, Verdict: Trust}}
		w.report(t)
		if m := w.store.one(t); m.State != Rejected {
			t.Errorf("reported again it is %s", m.State)
		}
	})
}

func TestReplyIsRemovedIfItsPageIsDeleted(t *testing.T) {
	for _, code := range []fault.Code{fault.Gone, fault.Refused, fault.Invalid} {
		t.Run(code.String(), func(t *testing.T) {
			run(t, func(t *testing.T, w *scenario) {
				w.report(t)
				w.page = func(int) (Content, string, error) { return Content{}, "", fault.New(code, "no") }
				w.report(t)
				if n := len(w.store.all); n != 0 {
					t.Errorf("%d mentions remain", n)
				}
			})
		})
	}
}

func TestReportOfAnotherURLOfThePostDoesNotRemoveAnApprovedReply(t *testing.T) {
	run(t, func(t *testing.T, w *scenario) {
		const post, other = "https://me.example/post", "https://me.example/post?x=1"
		w.links = []string{post}
		w.report(t)
		if _, err := w.Moderate(t.Context(), "me", w.store.one(t).ID, Approve); err != nil {
			t.Fatal(err)
		}
		w.reportTo(t, other)
		if m := w.store.one(t); m.State != Approved || m.Target != post || m.Reported != "" {
			t.Errorf("after the report of a URL without a link: %+v", m)
		}
		w.links = []string{other} // the page links to another URL of the post now
		w.reportTo(t, other)
		if m := w.store.one(t); m.State != Approved || m.Target != other || m.Reported != "" {
			t.Errorf("after the page changed its link: %+v", m)
		}
		w.links = []string{}
		w.reportTo(t, post)
		if n := len(w.store.all); n != 0 {
			t.Errorf("%d mentions remain after the page removed its link", n)
		}
	})
}

func TestUnreadableReplyPageIsRetriedThenAbandoned(t *testing.T) {
	run(t, func(t *testing.T, w *scenario) {
		w.page = func(n int) (Content, string, error) { return Content{}, "", fault.New(fault.Unreadable, "timeout") }
		w.report(t)
		if _, err := w.Moderate(t.Context(), "me", w.store.one(t).ID, Approve); fault.CodeOf(err) != fault.Conflict {
			t.Errorf("approved before it was read: %v", err)
		}
		time.Sleep(72 * time.Hour)
		synctest.Wait()
		if len(w.store.all) != 0 || w.reads != 6 {
			t.Errorf("%d mentions after %d readings", len(w.store.all), w.reads)
		}
	})
}

func TestWebmentionsAreLimitedPerHostAndClient(t *testing.T) {
	run(t, func(t *testing.T, w *scenario) {
		codes := map[string]int{}
		for i := range 10_000 {
			addr := netip.AddrFrom4([4]byte{10, byte(i >> 8), byte(i), 1})
			err := w.Receive(t.Context(), fmt.Sprintf("https://spam.example/%d", i), "https://me.example/post", addr)
			codes[fault.CodeOf(err).String()]++
			if err == nil {
				codes["accepted"]++
			}
		}
		if d := cmp.Diff(30, codes["accepted"]); d != "" || codes["too-many"] != 9970 {
			t.Errorf("%v", codes)
		}
		time.Sleep(time.Hour)
		refused := 0
		for i := range 100 {
			if w.Receive(t.Context(), fmt.Sprintf("https://h%d.example/", i), "https://me.example/post", netip.MustParseAddr("192.0.2.1")) != nil {
				refused++
			}
		}
		if refused != 70 {
			t.Errorf("%d of 100 reports of one client were refused", refused)
		}
		err := w.Receive(t.Context(), "https://you.example/", "https://me.example/other", netip.MustParseAddr("198.51.100.1"))
		if fault.CodeOf(err) != fault.Invalid {
			t.Errorf("an unknown target: %v", err)
		}
	})
}

func (s *memoryStore) UndoMentions(_ context.Context, _ string, at time.Time) (n int, _ error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, m := range s.all {
		if m.DecidedAt.Equal(at) {
			m.State, m.Was, m.DecidedAt = m.Was, "", time.Time{}
			s.all[id] = m
			n++
		}
	}
	return n, nil
}

func TestApprovalOfAReplyCanBeUndoneForTenMinutes(t *testing.T) {
	run(t, func(t *testing.T, w *scenario) {
		w.report(t)
		decide := func() time.Time {
			m, err := w.Moderate(t.Context(), "me", w.store.one(t).ID, Approve)
			if err != nil {
				t.Fatal(err)
			}
			return m.DecidedAt
		}
		if err := w.Undo(t.Context(), "me", decide()); err != nil || w.store.one(t).State != Waiting {
			t.Errorf("after undo it is %s, %v", w.store.one(t).State, err)
		}
		at := decide()
		if err := w.Undo(t.Context(), "me", at.Add(time.Millisecond)); fault.CodeOf(err) != fault.Conflict {
			t.Errorf("another time: %v", err)
		}
		time.Sleep(UndoWithin + time.Second)
		if err := w.Undo(t.Context(), "me", at); fault.CodeOf(err) != fault.Conflict || w.store.one(t).State != Approved {
			t.Errorf("after ten minutes: %v", err)
		}
	})
}

func TestReplyOfAFollowedAuthorIsApprovedUnlessBlocked(t *testing.T) {
	run(t, func(t *testing.T, w *scenario) {
		w.Known = func(context.Context, Mention) (bool, error) { return true, nil }
		w.report(t)
		if m := w.store.one(t); m.State != Approved {
			t.Errorf("it is %s", m.State)
		}
		w.store.rules = []Rule{{Host: "you.example", Author: author, Verdict: Block}}
		w.report(t)
		if m := w.store.one(t); m.State != Rejected {
			t.Errorf("of a blocked author it is %s", m.State)
		}
	})
}

// The author is not known yet when the page has been read. Then the item of the followed feed arrives,
// which approves the reply.
func TestReplyThatTheReaderApprovesDuringTheReadStaysApproved(t *testing.T) {
	run(t, func(t *testing.T, w *scenario) {
		arrived := false
		w.Known = func(_ context.Context, m Mention) (bool, error) {
			if arrived {
				return true, nil
			}
			arrived = true
			return false, w.store.ChangeMention(t.Context(), "me", m.ID, func(now *Mention, _ []Rule) (Action, error) {
				now.State, now.Text = Approved, "Hello, as the feed has it"
				return Keep, nil
			})
		}
		w.report(t)
		if m := w.store.one(t); m.State != Approved || m.Text != "Hello" || m.Lease != 0 || !m.DueAt.IsZero() {
			t.Errorf("stored: %+v", m)
		}
	})
}

func TestWebmentionIsRefusedIfSourceIsTargetOrAuthorDisabledThem(t *testing.T) {
	run(t, func(t *testing.T, w *scenario) {
		if err := w.ReceiveOwn(t.Context(), "https://me.example/post", "https://me.example/post"); fault.CodeOf(err) != fault.Refused || len(w.store.all) != 0 {
			t.Errorf("%v", err)
		}
		w.Open = func(context.Context, string) (bool, error) { return false, nil }
		for name, err := range map[string]error{
			"own":       w.ReceiveOwn(t.Context(), "https://me.example/other", "https://me.example/post"),
			"elsewhere": w.Receive(t.Context(), "https://you.example/reply", "https://me.example/post", netip.MustParseAddr("192.0.2.1")),
		} {
			if fault.CodeOf(err) != fault.Refused {
				t.Errorf("%s, to an author who accepts none: %v", name, err)
			}
		}
	})
}

func TestUnknownModerationDecisionIsRejected(t *testing.T) {
	run(t, func(t *testing.T, w *scenario) {
		w.report(t)
		if _, err := w.Moderate(t.Context(), "me", w.store.one(t).ID, "delete"); fault.CodeOf(err) != fault.Invalid {
			t.Error(err)
		}
	})
}
