package authortest

import (
	"slices"
	"testing"
	"time"

	"cloudburst/internal/author"
	"cloudburst/internal/conversation"
	"cloudburst/internal/store/storetest"
)

func mentionSentTests() map[string]func(*testing.T, *env) {
	return map[string]func(*testing.T, *env){
		"SentMentionsAreReplacedTogether": sentTest(replacedSent),
		"DueSentMentionIsClaimedOnce":     sentTest(claimedSent),
		"SentMentionsAreListedByPost":     sentTest(listedSent),
		"PublicPostHasAReminder":          sentTest(remindedSent),
	}
}

type sent struct {
	*env
	conversation.SendStore
	t *testing.T
}

func sentTest(f func(*testing.T, *sent)) func(*testing.T, *env) {
	return func(t *testing.T, e *env) {
		s, ok := e.Store.(conversation.SendStore)
		if !ok {
			t.Fatal("the store is not a conversation.SendStore")
		}
		f(t, &sent{env: e, SendStore: s, t: t})
	}
}

func (s *sent) row(user string, post int64, target string) conversation.Sent {
	return conversation.Sent{User: user, Post: post, Target: target, DueAt: s.Now, Sending: conversation.Sending{Source: "https://me.example/☂", Result: conversation.Pending}}
}

// put stores the rows of a post.
func (s *sent) put(user string, post int64, rows ...conversation.Sent) {
	s.t.Helper()
	storetest.Must(s.t, s.ChangeSent(s.Ctx, user, post, func([]conversation.Sent) []conversation.Sent { return rows }))
}

// rows returns the rows of a post.
func (s *sent) rows(user string, post int64) (all []conversation.Sent) {
	s.t.Helper()
	storetest.Must(s.t, s.ChangeSent(s.Ctx, user, post, func(rows []conversation.Sent) []conversation.Sent {
		all = slices.Clone(rows)
		return rows
	}))
	return all
}

func replacedSent(t *testing.T, s *sent) {
	a, b, c := s.row("ann", 1, "https://a.example/☂"), s.row("ann", 1, "https://b.example/"), s.row("ann", 1, "")
	a.LastAt, a.Status, a.Tries, a.Lease, a.DueAt = s.In(-time.Hour), 503, 2, 7, time.Time{}
	s.put("ann", 1, b, a, c)
	s.put("ann", 2, s.row("ann", 2, "https://a.example/"))
	storetest.Same(t, "stored", s.rows("ann", 1), []conversation.Sent{c, a, b})
	b.Removed, b.Tries = true, 1
	s.put("ann", 1, b)
	storetest.Same(t, "replaced", s.rows("ann", 1), []conversation.Sent{b})
	storetest.Same(t, "another post", len(s.rows("ann", 2)), 1)
	for _, user := range []string{"bob", "nul\x00", "broken \xff"} {
		storetest.Same(t, "another user", len(s.rows(user, 1)), 0)
	}
}

func claimedSent(t *testing.T, s *sent) {
	late, never := s.row("ann", 1, "https://a.example/"), s.row("ann", 1, "https://b.example/")
	late.DueAt, never.DueAt = s.In(-time.Minute), time.Time{}
	s.put("ann", 1, late, never)
	s.put("bob", 1, s.row("bob", 1, ""))
	next, err := s.NextSent(s.Ctx)
	storetest.Must(t, err)
	storetest.Same(t, "next", next, late.DueAt)
	got, err := s.ClaimSent(s.Ctx, s.Now, s.In(time.Minute), 1, 41)
	storetest.Must(t, err)
	if len(got) != 1 || got[0].Target != late.Target || got[0].Lease != 41 || !got[0].DueAt.Equal(s.In(time.Minute)) {
		t.Fatalf("claimed %+v", got)
	}
	for i, want := range []int{1, 0} {
		got, err := s.ClaimSent(s.Ctx, s.Now, s.In(time.Minute), 10, 42)
		storetest.Must(t, err)
		if len(got) != want {
			t.Errorf("claim %d has %d rows, want %d", i, len(got), want)
		}
	}
}

func listedSent(t *testing.T, s *sent) {
	for post := range int64(3) {
		s.put("ann", post+1, s.row("ann", post+1, ""), s.row("ann", post+1, "https://a.example/"), s.row("ann", post+1, "https://b.example/"))
	}
	list := func(q conversation.SentQuery) (all []string) {
		q.User = "ann"
		rows, err := s.SentMentions(s.Ctx, q)
		storetest.Must(t, err)
		for _, o := range rows {
			all = append(all, string(rune('0'+o.Post))+" "+o.Target[8:9])
		}
		return all
	}
	storetest.Same(t, "all", list(conversation.SentQuery{}), []string{"3 a", "3 b", "2 a", "2 b", "1 a", "1 b"})
	storetest.Same(t, "a page", list(conversation.SentQuery{BeforePost: 2, AfterTarget: "https://a.example/", Limit: 2}), []string{"2 b", "1 a"})
	storetest.Same(t, "of a post", list(conversation.SentQuery{Post: 2}), []string{"2 a", "2 b"})
}

func remindedSent(t *testing.T, s *sent) {
	posts, ok := s.env.Store.(author.PostStore)
	if !ok {
		t.Fatal("the store is not an author.PostStore")
	}
	write := func(id int64, to author.State, mention bool) int64 {
		done, err := posts.WritePost(s.Ctx, author.Writing{User: "ann", ID: id, At: s.Now, Mention: mention, Change: func(p author.Post, _ bool, _ *author.Post, _ author.Writer, _ func(string) (string, error)) (*author.Post, *author.Post, error) {
			p.State, p.CreatedAt, p.UpdatedAt, p.PublishedAt = to, s.Now, s.Now, s.Now
			return &p, nil, nil
		}})
		storetest.Must(t, err)
		return done.Post.ID
	}
	id := write(0, author.Draft, true)
	storetest.Same(t, "of a draft", len(s.rows("ann", id)), 0)
	write(id, author.Published, false)
	storetest.Same(t, "without webmentions", len(s.rows("ann", id)), 0)
	write(id, author.Published, true)
	reminder := conversation.Sent{User: "ann", Post: id, DueAt: s.Now}
	storetest.Same(t, "published", s.rows("ann", id), []conversation.Sent{reminder})
	if _, err := s.ClaimSent(s.Ctx, s.Now, s.In(time.Minute), 1, 9); err != nil {
		t.Fatal(err)
	}
	write(id, author.Deleted, true)
	storetest.Same(t, "deleted during the comparison", s.rows("ann", id), []conversation.Sent{reminder})
	old := s.row("ann", 99, "https://a.example/")
	old.DueAt = time.Time{}
	s.put("ann", 99, old)
	storetest.Must(t, s.TidySent(s.Ctx))
	storetest.Same(t, "of a missing post", len(s.rows("ann", 99)), 0)
	storetest.Same(t, "of a deleted post", len(s.rows("ann", id)), 1)
}
