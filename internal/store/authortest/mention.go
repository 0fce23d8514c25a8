package authortest

import (
	"fmt"
	"testing"
	"time"

	"cloudburst/internal/author"
	"cloudburst/internal/conversation"
	"cloudburst/internal/fault"
	"cloudburst/internal/store/storetest"
)

func mentionTests() map[string]func(*testing.T, *env) {
	return map[string]func(*testing.T, *env){
		"MentionIsReadAsWritten":             mentionTest(wholeMention),
		"RepeatedReportKeepsTheDecision":     mentionTest(repeatedMention),
		"UndecidedMentionsAreLimited":        mentionTest(limitedMentions),
		"DueMentionIsClaimedOnce":            mentionTest(claimedMention),
		"MentionsAreListedByStateAndPost":    mentionTest(listedMentions),
		"RulesChangeMentionsOfTheirAuthor":   mentionTest(ruledMentions),
		"OldAndOrphanedMentionsAreForgotten": mentionTest(tidiedMentions),
	}
}

type mentions struct {
	*env
	conversation.Store
	t *testing.T
}

func mentionTest(f func(*testing.T, *mentions)) func(*testing.T, *env) {
	return func(t *testing.T, e *env) {
		s, ok := e.Store.(conversation.Store)
		if !ok {
			t.Fatal("the store is not a conversation.Store")
		}
		f(t, &mentions{env: e, Store: s, t: t})
	}
}

func (s *mentions) report(user string, id int64) conversation.Mention {
	return conversation.Mention{
		User: user, ID: id, Post: 1, Source: fmt.Sprintf("https://you.example/☂/%d", id), Target: "https://me.example/" + user + "/2026/11/28/x",
		State: conversation.Unread, Host: "you.example", ReceivedAt: s.Now, DueAt: s.Now,
	}
}

// put stores a mention in a state.
func (s *mentions) put(m conversation.Mention) {
	s.t.Helper()
	storetest.Must(s.t, s.ReceiveMention(s.Ctx, m, 100))
	storetest.Must(s.t, s.ChangeMention(s.Ctx, m.User, m.ID, func(now *conversation.Mention, _ []conversation.Rule) (conversation.Action, error) {
		*now = m
		return conversation.Keep, nil
	}))
}

func (s *mentions) state(user string, id int64) conversation.State {
	s.t.Helper()
	m, err := s.Mention(s.Ctx, user, id)
	storetest.Must(s.t, err)
	return m.State
}

func wholeMention(t *testing.T, s *mentions) {
	m := s.report("ann", 7)
	storetest.Must(t, s.ReceiveMention(s.Ctx, m, 10))
	got, err := s.Mention(s.Ctx, "ann", 7)
	storetest.Must(t, err)
	storetest.Same(t, "reported", got, m)
	m.State, m.Author, m.DueAt, m.Tries, m.Lease = conversation.Approved, "https://you.example/", time.Time{}, 2, 5
	m.Content = conversation.Content{Kind: conversation.Reply, Name: "You ☂", Title: "T", Text: "a\nb", PublishedAt: s.In(-time.Hour), ReadAt: s.Now}
	s.put(m)
	got, err = s.Mention(s.Ctx, "ann", 7)
	storetest.Must(t, err)
	storetest.Same(t, "changed", got, m)
	for _, user := range []string{"bob", "nul\x00", "broken \xff"} {
		if _, err := s.Mention(s.Ctx, user, 7); fault.CodeOf(err) != fault.NotFound {
			t.Errorf("the mention of another user: %v", err)
		}
	}
	refused := fault.New(fault.Conflict, "no")
	if err := s.ChangeMention(s.Ctx, "ann", 7, func(*conversation.Mention, []conversation.Rule) (conversation.Action, error) {
		return conversation.Delete, refused
	}); fault.CodeOf(err) != fault.Conflict {
		t.Errorf("a change that fails: %v", err)
	}
	storetest.Must(t, s.ChangeMention(s.Ctx, "ann", 7, func(*conversation.Mention, []conversation.Rule) (conversation.Action, error) {
		return conversation.Delete, nil
	}))
	if err := s.ChangeMention(s.Ctx, "ann", 7, nil); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("a deleted mention: %v", err)
	}
}

func repeatedMention(t *testing.T, s *mentions) {
	m := s.report("ann", 1)
	m.State, m.DueAt, m.Lease = conversation.Rejected, time.Time{}, 9
	s.put(m)
	again := s.report("ann", 2)
	again.Source, again.Target, again.DueAt = m.Source, m.Target+"?x=1", s.In(time.Minute)
	storetest.Must(t, s.ReceiveMention(s.Ctx, again, 1))
	got, err := s.Mention(s.Ctx, "ann", 1)
	storetest.Must(t, err)
	if got.State != conversation.Rejected || got.Lease != 0 || !got.DueAt.Equal(again.DueAt) || got.Target != m.Target || got.Reported != again.Target {
		t.Errorf("reported again: %+v", got)
	}
	again.Target = m.Target // a report of the target does not replace the other URL
	storetest.Must(t, s.ReceiveMention(s.Ctx, again, 1))
	kept, err := s.Mention(s.Ctx, "ann", 1)
	storetest.Must(t, err)
	storetest.Same(t, "the target reported again", kept, got)
	got.Target, got.Reported = got.Reported, ""
	storetest.Must(t, s.ChangeMention(s.Ctx, "ann", 1, func(now *conversation.Mention, _ []conversation.Rule) (conversation.Action, error) {
		*now = got
		return conversation.Keep, nil
	}))
	verified, err := s.Mention(s.Ctx, "ann", 1)
	storetest.Must(t, err)
	storetest.Same(t, "after the read", []string{verified.Target, verified.Reported}, []string{got.Target, ""})
}

func limitedMentions(t *testing.T, s *mentions) {
	storetest.Must(t, s.ReceiveMention(s.Ctx, s.report("ann", 1), 2))
	storetest.Must(t, s.ReceiveMention(s.Ctx, s.report("ann", 2), 2))
	if err := s.ReceiveMention(s.Ctx, s.report("ann", 3), 2); fault.CodeOf(err) != fault.TooMany || fault.RetryAfter(err) <= 0 {
		t.Errorf("a third one: %v", err)
	}
	storetest.Must(t, s.ReceiveMention(s.Ctx, s.report("bob", 3), 2))
	counts, err := s.CountMentions(s.Ctx, "ann")
	storetest.Must(t, err)
	storetest.Same(t, "counts", counts, map[conversation.State]int{conversation.Unread: 2})
}

func claimedMention(t *testing.T, s *mentions) {
	late := s.report("ann", 1)
	late.DueAt = s.In(-time.Minute)
	storetest.Must(t, s.ReceiveMention(s.Ctx, late, 10))
	storetest.Must(t, s.ReceiveMention(s.Ctx, s.report("bob", 2), 10))
	next, err := s.NextMention(s.Ctx)
	storetest.Must(t, err)
	storetest.Same(t, "next", next, late.DueAt)
	got, err := s.ClaimMentions(s.Ctx, s.Now, s.In(time.Minute), 1, 41)
	storetest.Must(t, err)
	if len(got) != 1 || got[0].ID != 1 || got[0].Lease != 41 || !got[0].DueAt.Equal(s.In(time.Minute)) {
		t.Fatalf("claimed %+v", got)
	}
	for i, want := range []int{1, 0} {
		got, err := s.ClaimMentions(s.Ctx, s.Now, s.In(time.Minute), 10, 42)
		storetest.Must(t, err)
		if len(got) != want {
			t.Errorf("claim %d has %d rows, want %d", i, len(got), want)
		}
	}
	got, err = s.ClaimMentions(s.Ctx, s.In(time.Minute), s.In(time.Hour), 10, 43)
	storetest.Must(t, err)
	if len(got) != 2 {
		t.Errorf("%d mentions are due when their leases have ended", len(got))
	}
}

func listedMentions(t *testing.T, s *mentions) {
	for id, state := range map[int64]conversation.State{1: conversation.Waiting, 2: conversation.Approved, 3: conversation.Waiting, 4: conversation.Unread} {
		m := s.report("ann", id)
		m.State, m.Post = state, id%2+1
		s.put(m)
	}
	ids := func(q conversation.Query) (all []int64) {
		q.User = "ann"
		list, err := s.Mentions(s.Ctx, q)
		storetest.Must(t, err)
		for _, m := range list {
			all = append(all, m.ID)
		}
		return all
	}
	storetest.Same(t, "all that were read", ids(conversation.Query{}), []int64{3, 2, 1})
	storetest.Same(t, "waiting", ids(conversation.Query{State: conversation.Waiting}), []int64{3, 1})
	storetest.Same(t, "a page", ids(conversation.Query{State: conversation.Waiting, Before: 3, Limit: 1}), []int64{1})
	storetest.Same(t, "of a post", ids(conversation.Query{State: conversation.Approved, Post: 1}), []int64{2})
}

func ruledMentions(t *testing.T, s *mentions) {
	put := func(user string, id int64, host, by string, state conversation.State) {
		m := s.report(user, id)
		m.Host, m.Author, m.State = host, by, state
		s.put(m)
	}
	put("ann", 1, "a.example", "x", conversation.Waiting)
	put("ann", 2, "a.example", "x", conversation.Rejected)
	put("ann", 3, "a.example", "y", conversation.Waiting)
	put("ann", 4, "b.example", "x", conversation.Approved)
	put("bob", 5, "a.example", "x", conversation.Waiting)
	trust := conversation.Rule{Host: "a.example", Author: "x", Name: "X ☂", Verdict: conversation.Trust, At: s.Now}
	storetest.Must(t, s.SetMentionRule(s.Ctx, "ann", trust, 2))
	states := func() (all []conversation.State) {
		for id := range int64(4) {
			all = append(all, s.state("ann", id+1))
		}
		return append(all, s.state("bob", 5))
	}
	const waiting, approved, rejected = conversation.Waiting, conversation.Approved, conversation.Rejected
	storetest.Same(t, "after trust", states(), []conversation.State{approved, rejected, waiting, approved, waiting})
	storetest.Must(t, s.SetMentionRule(s.Ctx, "ann", conversation.Rule{Host: "a.example", Author: "x", Verdict: conversation.Block, At: s.Now}, 2))
	storetest.Same(t, "after a block", states(), []conversation.State{rejected, rejected, waiting, approved, waiting})
	host := conversation.Rule{Host: "a.example", Author: conversation.EveryAuthor, Verdict: conversation.Block, At: s.In(time.Second)}
	storetest.Must(t, s.SetMentionRule(s.Ctx, "ann", host, 2))
	storetest.Same(t, "after a block of the host", states(), []conversation.State{rejected, rejected, rejected, approved, waiting})
	n, err := s.UndoMentions(s.Ctx, "ann", host.At)
	storetest.Must(t, err)
	storetest.Same(t, "changed rows of the undo", n, 2)
	storetest.Same(t, "after the undo", states(), []conversation.State{rejected, rejected, waiting, approved, waiting})
	if n, err := s.UndoMentions(s.Ctx, "ann", host.At); err != nil || n != 0 {
		t.Errorf("a second undo: %d, %v", n, err)
	}
	storetest.Must(t, s.SetMentionRule(s.Ctx, "ann", host, 2))
	if err := s.SetMentionRule(s.Ctx, "ann", conversation.Rule{Host: "c", Verdict: conversation.Block}, 2); fault.CodeOf(err) != fault.TooMany {
		t.Errorf("a third rule: %v", err)
	}
	rules, err := s.MentionRules(s.Ctx, "ann")
	storetest.Must(t, err)
	if len(rules) != 2 || rules[0] != host || rules[1].Verdict != conversation.Block {
		t.Errorf("rules: %+v", rules)
	}
	storetest.Must(t, s.SetMentionRule(s.Ctx, "ann", conversation.Rule{Host: "a.example", Author: "x"}, 2))
	if rules, _ := s.MentionRules(s.Ctx, "ann"); len(rules) != 1 {
		t.Errorf("rules after the removal: %+v", rules)
	}
	storetest.Same(t, "after the removal", s.state("ann", 1), rejected)
}

func tidiedMentions(t *testing.T, s *mentions) {
	posts, ok := s.env.Store.(author.PostStore)
	if !ok {
		t.Fatal("the store is not an author.PostStore")
	}
	written, err := posts.WritePost(s.Ctx, author.Writing{User: "ann", At: s.Now, Change: func(p author.Post, _ bool, _ *author.Post, _ author.Writer, _ func(string) (string, error)) (*author.Post, *author.Post, error) {
		p.State, p.CreatedAt, p.UpdatedAt = author.Draft, s.Now, s.Now
		return &p, nil, nil
	}})
	storetest.Must(t, err)
	for id, state := range map[int64]conversation.State{1: conversation.Approved, 2: conversation.Rejected, 3: conversation.Approved} {
		m := s.report("ann", id)
		m.State, m.Post = state, written.Post.ID
		if id == 3 {
			m.Post = 99
		}
		s.put(m)
	}
	storetest.Must(t, s.TidyMentions(s.Ctx, s.Now))
	counts, err := s.CountMentions(s.Ctx, "ann")
	storetest.Must(t, err)
	storetest.Same(t, "after a first round", counts, map[conversation.State]int{conversation.Approved: 1, conversation.Rejected: 1})
	storetest.Must(t, s.TidyMentions(s.Ctx, s.In(time.Second)))
	counts, err = s.CountMentions(s.Ctx, "ann")
	storetest.Must(t, err)
	storetest.Same(t, "after a second round", counts, map[conversation.State]int{conversation.Approved: 1})
}
