package authortest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"cloudburst/internal/author"
	"cloudburst/internal/conversation"
	"cloudburst/internal/store/storetest"
)

func threadTests() map[string]func(*testing.T, *env) {
	return map[string]func(*testing.T, *env){
		"RepliesAreReadInTheOrderOfTheirThread":  threadTest(orderedThread),
		"ReplyBeforeItsParentMovesBelowIt":       threadTest(lateParent),
		"LoopOfRepliesIsListedOnce":              threadTest(loopedThread),
		"OnlyApprovedRepliesHaveContent":         threadTest(moderatedThread),
		"PageOfAThreadContinuesAfterItsLast":     threadTest(pagedThread),
		"DeepRepliesStayInTheThread":             threadTest(deepThread),
		"WorkForThreadsIsClaimedOnce":            threadTest(claimedWork),
		"TidyRemovesEntriesWithoutContent":       threadTest(tidiedThread),
		"PrivateReplyAndItsRepliesAreInNoThread": threadTest(privateThread),
		"RepliesStayWithAPostWhoseDateChanges":   threadTest(movedThread),
	}
}

type threads struct {
	*mentions
	conversation.ThreadStore
	conversation.WorkStore
}

func threadTest(f func(*testing.T, *threads)) func(*testing.T, *env) {
	return mentionTest(func(t *testing.T, s *mentions) {
		of, ok := s.env.Store.(conversation.ThreadStore)
		work, ok2 := s.env.Store.(conversation.WorkStore)
		if !ok || !ok2 {
			t.Fatal("the store has no threads")
		}
		f(t, &threads{s, of, work})
	})
}

// top is the post above all replies.
const top = "/ann/2026/11/28/x"

// found stores a reply that has no mention.
func (s *threads) found(name string, second int, parents ...string) {
	s.t.Helper()
	storetest.Must(s.t, s.PutEntry(s.Ctx, conversation.Entry{Name: name, Parents: parents, At: s.In(time.Duration(second) * time.Second), Content: conversation.Content{Text: "text of " + name}}))
}

// names returns the replies below a post, each with its level before its name.
func (s *threads) names(q conversation.ThreadQuery) string {
	s.t.Helper()
	q.All, q.Limit = true, max(q.Limit, 50)
	got, err := s.Thread(s.Ctx, q)
	storetest.Must(s.t, err)
	var all []string
	for _, n := range got.Nodes {
		all = append(all, fmt.Sprint(n.Depth(), n.Name))
	}
	return strings.Join(all, " ")
}

func orderedThread(t *testing.T, s *threads) {
	s.found("b", 2, top)
	s.found("a", 1, top)
	s.found("a2", 9, "a")
	s.found("a1", 8, "unknown", "a")
	s.found("a11", 10, "a1")
	s.found("other", 1, "/bob/2026/11/28/y")
	key := conversation.KeyOf(top)
	storetest.Same(t, "all", s.names(conversation.ThreadQuery{ID: key}), "1a 2a1 3a11 2a2 1b")
	storetest.Same(t, "two levels", s.names(conversation.ThreadQuery{ID: key, Levels: 2}), "1a 2a1 2a2 1b")
	storetest.Same(t, "below a reply", s.names(conversation.ThreadQuery{ID: conversation.KeyOf("a")}), "2a1 3a11 2a2")
	storetest.Same(t, "newest first", s.names(conversation.ThreadQuery{ID: key, Newest: true}), "3a11 2a2 2a1 1b 1a")
	above, err := s.Ancestors(s.Ctx, conversation.KeyOf("a11"))
	storetest.Must(t, err)
	if len(above) != 3 || above[0].Name != "a" || above[0].ParentName != top || above[2].Name != "a11" || above[1].Text != "text of a1" {
		t.Errorf("above: %+v", above)
	}
	s.found("a2", 9, "b") // the reply moves below another reply
	storetest.Same(t, "moved", s.names(conversation.ThreadQuery{ID: key}), "1a 2a1 3a11 1b 2a2")
}

func lateParent(t *testing.T, s *threads) {
	s.found("c", 3, "b")
	s.found("d", 4, "c")
	storetest.Same(t, "before", s.names(conversation.ThreadQuery{ID: conversation.KeyOf("b")}), "1c 2d")
	storetest.Must(t, s.PutEntry(s.Ctx, conversation.Entry{Name: "https://b.example/", GUID: "b", Parents: []string{"a"}, At: s.Now}))
	s.found("a", 1, top)
	storetest.Same(t, "after", s.names(conversation.ThreadQuery{ID: conversation.KeyOf(top)}), "1a 2https://b.example/ 3c 4d")
}

func loopedThread(t *testing.T, s *threads) {
	s.found("a", 1, "c")
	s.found("b", 2, "a")
	s.found("c", 3, "b") // the replies form a cycle
	s.found("self", 4, "self")
	s.found("a", 1, "b")
	storetest.Same(t, "the ring", s.names(conversation.ThreadQuery{ID: conversation.KeyOf("c")}), "1a 2b")
	storetest.Same(t, "itself", s.names(conversation.ThreadQuery{ID: conversation.KeyOf("self")}), "")
}

// offer stores a reply that becomes a mention in a state.
func (s *threads) offer(name string, state conversation.State) (seen bool) {
	s.t.Helper()
	m := s.report("ann", int64(len(name)))
	m.Source, m.DueAt, m.State, m.Content = name, time.Time{}, conversation.Waiting, conversation.Content{Kind: conversation.Reply, Text: "hello"}
	e := conversation.Entry{Name: name, Parents: []string{top}, At: s.Now, User: "ann", Post: 1, Content: m.Content}
	seen, err := s.OfferReply(s.Ctx, m, e, 10, func(now *conversation.Mention, _ []conversation.Rule, isNew bool) conversation.Action {
		if !isNew && now.State == state {
			return conversation.Leave
		}
		now.State = state
		return conversation.Keep
	})
	storetest.Must(s.t, err)
	return seen
}

func moderatedThread(t *testing.T, s *threads) {
	const name = "https://you.example/1"
	if s.offer(name, conversation.Waiting) {
		t.Error("a waiting reply is visible")
	}
	read := func() conversation.Node {
		t.Helper()
		got, err := s.Thread(s.Ctx, conversation.ThreadQuery{ID: conversation.KeyOf(top), Limit: 10})
		storetest.Must(t, err)
		if len(got.Nodes) != 1 {
			t.Fatalf("%d replies", len(got.Nodes))
		}
		return got.Nodes[0]
	}
	if n := read(); !n.Hidden || n.Text != "" {
		t.Errorf("waiting: %+v", n)
	}
	if !s.offer(name, conversation.Approved) || s.offer(name, conversation.Approved) {
		t.Error("an approved reply is not visible once")
	}
	if n := read(); n.Hidden || n.Text != "hello" {
		t.Errorf("approved: %+v", n)
	}
	if !s.offer(name, conversation.Rejected) {
		t.Error("a rejected reply does not disappear")
	}
	spot, err := s.ThreadSpot(s.Ctx, []int64{1, conversation.KeyOf(name)})
	storetest.Must(t, err)
	storetest.Same(t, "the place of a reply to it", spot, conversation.Spot{Found: true, User: "ann", Post: 1})
	s.found("plain", 9, top)
	got, err := s.Thread(s.Ctx, conversation.ThreadQuery{ID: conversation.KeyOf(top), Limit: 10})
	storetest.Must(t, err)
	if n := got.Nodes[1]; !n.Hidden || n.Text != "" || n.Name != "" {
		t.Errorf("without a mention: %+v", n)
	}
}

func pagedThread(t *testing.T, s *threads) {
	for i := range 5 {
		s.found(fmt.Sprint("r", i), i, top)
	}
	q := conversation.ThreadQuery{ID: conversation.KeyOf(top), Limit: 2, All: true}
	var all []string
	for {
		got, err := s.Thread(s.Ctx, q)
		storetest.Must(t, err)
		for _, n := range got.Nodes {
			all = append(all, n.Name)
			q.After = n.Path
		}
		if !got.More {
			break
		}
	}
	storetest.Same(t, "all pages", strings.Join(all, " "), "r0 r1 r2 r3 r4")
}

func deepThread(t *testing.T, s *threads) {
	const levels = conversation.MaxThreadDepth + 10
	for i := levels; i > 0; i-- { // the deepest first
		above := top
		if i > 1 {
			above = fmt.Sprint("d", i-1)
		}
		s.found(fmt.Sprint("d", i), i, above)
	}
	got, err := s.Thread(s.Ctx, conversation.ThreadQuery{ID: conversation.KeyOf(top), Limit: 100, All: true})
	storetest.Must(t, err)
	if len(got.Nodes) != levels {
		t.Errorf("%d of %d replies", len(got.Nodes), levels)
	}
}

func claimedWork(t *testing.T, s *threads) {
	w := conversation.Work{Kind: conversation.WorkComments, Name: "https://a.example/☂", Depth: 1, DueAt: s.Now}
	item := conversation.Work{Kind: conversation.WorkItem, Name: "7", DueAt: s.Now}
	never := time.Time{}
	storetest.Must(t, s.QueueThreadWork(s.Ctx, w, never))
	storetest.Must(t, s.QueueThreadWork(s.Ctx, w, never))
	storetest.Must(t, s.QueueThreadWork(s.Ctx, item, never))
	next, err := s.NextThreadWork(s.Ctx)
	storetest.Must(t, err)
	storetest.Same(t, "next", next, s.Now)
	list, err := s.ClaimThreadWork(s.Ctx, s.Now, s.In(time.Minute), 10, 5)
	storetest.Must(t, err)
	if len(list) != 2 {
		t.Fatalf("claimed %+v", list)
	}
	for _, one := range list {
		one.DueAt = time.Time{}
		storetest.Must(t, s.SettleThreadWork(s.Ctx, one, s.Now))
	}
	storetest.Must(t, s.QueueThreadWork(s.Ctx, w, s.In(-time.Minute)))
	next, err = s.NextThreadWork(s.Ctx)
	storetest.Must(t, err)
	storetest.Same(t, "done a moment ago", next, time.Time{})
	storetest.Must(t, s.QueueThreadWork(s.Ctx, w, s.In(time.Minute)))
	next, err = s.NextThreadWork(s.Ctx)
	storetest.Must(t, err)
	storetest.Same(t, "done long ago", next, s.Now)
}

func tidiedThread(t *testing.T, s *threads) {
	s.offer("https://you.example/1", conversation.Approved) // the post does not exist
	s.found("kept", 1, top)
	storetest.Must(t, s.TidyMentions(s.Ctx, s.Now))
	storetest.Must(t, s.TidyThreads(s.Ctx, s.Now))
	storetest.Same(t, "left", s.names(conversation.ThreadQuery{ID: conversation.KeyOf(top)}), "1kept")
}

// privateThread checks which replies of a thread stay visible when a reply in the middle of the
// thread changes between public and private.
func privateThread(t *testing.T, s *threads) {
	write := func(id int64, change func(*author.Post)) author.Post {
		t.Helper()
		w := s.grouped(s.made(s.writing("alice", id, change)))
		w.Thread = func(p author.Post) author.ThreadPlace { return author.PlaceOf(p, nil) }
		return s.wrote(t, w).Post
	}
	reply := func(p *author.Post) { p.Title, p.Reply = "reply", &author.Reply{URL: top} }
	want := func(what, names string) {
		t.Helper()
		storetest.Same(t, what, s.names(conversation.ThreadQuery{ID: conversation.KeyOf(top)}), names)
		storetest.Must(t, s.TidyThreads(s.Ctx, s.Now))
		storetest.Same(t, what+", tidied", s.names(conversation.ThreadQuery{ID: conversation.KeyOf(top)}), names)
	}
	write(0, func(p *author.Post) { reply(p); p.PublishedAt = s.Now; forGroups("family")(p) })
	want("a private reply", "")
	p := write(0, func(p *author.Post) { reply(p); p.State = author.Published })
	path := author.PathOf(p)
	s.found("below", 5, path)
	s.found("deeper", 6, "below")
	want("public", "1"+path+" 2below 3deeper")
	write(p.ID, func(p *author.Post) { p.State, p.Groups = author.ForGroups, []string{"family"} })
	want("private", "")
	s.found("later", 7, path)
	want("a reply to the private post", "")
	write(p.ID, func(p *author.Post) { p.State, p.Groups = author.Published, nil })
	want("public again", "1"+path+" 2below 3deeper 2later")
}

// movedThread checks that the replies to a post, and the replies to a reply of this server, stay in
// the thread when the dates of both posts change. Later replies may name an earlier path.
func movedThread(t *testing.T, s *threads) {
	write := func(id int64, change func(*author.Post)) author.Post {
		t.Helper()
		w := s.grouped(s.made(s.writing("alice", id, change)))
		w.Thread = func(p author.Post) author.ThreadPlace { return author.PlaceOf(p, nil) }
		return s.wrote(t, w).Post
	}
	yesterday := func(p *author.Post) { p.PublishedAt = p.PublishedAt.AddDate(0, 0, -1) }
	first := write(0, func(p *author.Post) { p.State, p.Title = author.Published, "first" })
	old := author.PathOf(first)
	reply := write(0, func(p *author.Post) {
		p.State, p.Title, p.Reply = author.Published, "reply", &author.Reply{URL: old}
	})
	oldReply := author.PathOf(reply)
	s.found("below", 5, oldReply)
	s.found("deeper", 6, "below")
	s.found("other", 7, old)
	path := author.PathOf(write(first.ID, yesterday))
	replyPath := author.PathOf(write(reply.ID, yesterday))
	if path == old || replyPath == oldReply {
		t.Fatalf("the paths did not change: %s, %s", path, replyPath)
	}
	s.found("later", 8, old)
	s.found("lower", 9, oldReply)
	storetest.Must(t, s.TidyThreads(s.Ctx, s.Now))
	storetest.Same(t, "all", s.names(conversation.ThreadQuery{ID: conversation.KeyOf(path)}), "1"+replyPath+" 2below 3deeper 2lower 1other 1later")
	storetest.Same(t, "at the earlier path", s.names(conversation.ThreadQuery{ID: conversation.KeyOf(old)}), "")
	above, err := s.Ancestors(s.Ctx, conversation.KeyOf("deeper"))
	storetest.Must(t, err)
	if len(above) != 3 || above[0].ParentName != path || above[1].ParentName != replyPath {
		t.Errorf("above: %+v", above)
	}
}
