package web

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"cloudburst/internal/author"
)

func TestPostsAreListedSearchedAndPaged(t *testing.T) {
	t.Parallel()
	x := newWriteHarness(t).as("alice")
	for i := range 70 {
		x.fake.now = x.fake.now.Add(time.Minute)
		x.write("alice", author.Published, author.Content{Source: fmt.Sprintf("Post number%d", i)})
	}
	x.write("alice", author.Draft, author.Content{Title: "A <i>draft</i>"})
	x.write("bob", author.Published, author.Content{Source: "Of bob"})
	doc := check(t, x.open("/write/posts"))
	if rows := find(doc, "a", "words"); len(rows) != 31 || text(rows[0]) != "A <i>draft</i>" || text(rows[1]) != "Post number69" {
		t.Errorf("%d rows", len(rows))
	}
	var seen []string
	for path := "/write/posts?show=published"; path != ""; {
		doc := check(t, x.open(path))
		for _, a := range find(doc, "a", "words") {
			seen = append(seen, text(a))
		}
		path = ""
		for _, a := range find(doc, "a", "") {
			if attr(a, "rel") == "next" {
				path = attr(a, "href")
			}
		}
	}
	if len(seen) != 70 || seen[0] != "Post number69" || seen[69] != "Post number0" {
		t.Errorf("page by page there are %d", len(seen))
	}
	if rows := find(check(t, x.open("/write/posts?q=NUMBER42")), "a", "words"); len(rows) != 1 || text(rows[0]) != "Post number42" {
		t.Errorf("%d are found", len(rows))
	}
	if to := x.location(x.send("/write/70/delete", "base", "1")); to.Path != "/write/posts" {
		t.Errorf("leads to %s", to)
	}
	if doc := check(t, x.open("/write/posts?did=deleted&done=70")); len(find(doc, "div", "undo")) != 1 || !strings.Contains(text(find(doc, "div", "undo")[0]), "Deleted.") {
		t.Error("the deletion cannot be taken back")
	}
	if rec := x.send("/write/69/delete", "base", "7"); rec.Code != 409 || x.post("alice", 69).State != author.Published {
		t.Errorf("one that has changed since: %d", rec.Code)
	}
	if doc := check(t, x.open("/write/posts?show=deleted")); len(find(doc, "a", "words")) != 1 {
		t.Error("the deleted one is not listed")
	}
	for _, path := range []string{"/write/0", "/write/x", "/write/9999", "/write/71000000000000000000"} {
		if rec := x.open(path); rec.Code != 404 {
			t.Errorf("%s: %d", path, rec.Code)
		}
	}
}

func TestPostsOfOtherUsersCannotBeChanged(t *testing.T) {
	t.Parallel()
	x := newWriteHarness(t)
	x.write("bob", author.Published, author.Content{Source: "Of bob"})
	x.as("alice")
	for _, path := range []string{"/write/1/delete", "/write/1/undo"} {
		if rec := x.send(path); rec.Code != 404 {
			t.Errorf("%s: %d", path, rec.Code)
		}
	}
	x.send("/write", "do", "publish", "id", "1", "base", "1", "writer", "alice", "source", "Mine now")
	if p := x.post("bob", 1); p.Source != "Of bob" {
		t.Errorf("bob's post is %q", p.Source)
	}
}

func TestReplyLinkOfAnItemOpensTheComposer(t *testing.T) {
	t.Parallel()
	x := newWriteHarness(t).as("alice")
	doc := check(t, x.open("/river"))
	links := find(doc, "a", "reply")
	if len(links) == 0 {
		t.Fatal("no item can be answered")
	}
	page := check(t, x.open(attr(links[0], "href")))
	url, title := x.field(page, "reply"), x.field(page, "reply-title")
	if url == "" || title == "" || !strings.Contains(text(find(page, "p", "answering")[0]), "In reply to") {
		t.Errorf("it replies to %q, %q", url, title)
	}
	if rec := x.open("/write?reply=999999999"); rec.Code != 404 {
		t.Errorf("an item that is none: %d", rec.Code)
	}
	x.cookie, x.RiverPublic = "", true
	x.pages = x.Routes()
	if doc := check(t, x.open("/river")); len(find(doc, "a", "reply")) != 0 {
		t.Error("a signed-out client has a reply link")
	}
}

func TestUndoOfADeletionRestoresTheUnpublishedChange(t *testing.T) {
	t.Parallel()
	x := newWriteHarness(t).as("alice")
	post := x.write("alice", author.Published, author.Content{Source: "As published"})
	x.ask("/write/draft", "id", fmt.Sprint(post.ID), "base", fmt.Sprint(post.Revision), "writer", "alice", "source", "Changed")
	x.send(fmt.Sprintf("/write/%d/delete", post.ID))
	x.location(x.send(fmt.Sprintf("/write/%d/undo", post.ID)))
	if got := strings.TrimSpace(x.field(check(t, x.open(fmt.Sprintf("/write/%d", post.ID))), "source")); got != "Changed" {
		t.Errorf("the editor shows %q", got)
	}
}

func TestDeletedPostsAreListedBehindManyDiscardedChanges(t *testing.T) {
	t.Parallel()
	x := newWriteHarness(t).as("alice")
	old := x.write("alice", author.Draft, author.Content{Source: "The old one"})
	x.send(fmt.Sprintf("/write/%d/delete", old.ID))
	for range 70 {
		x.fake.now = x.fake.now.Add(time.Second)
		change := x.write("alice", author.Draft, author.Content{Source: "A change"})
		x.send(fmt.Sprintf("/write/%d/delete", change.ID))
	}
	x.fakePostStore.mu.Lock()
	for id, p := range x.fakePostStore.posts {
		if p.Source == "A change" {
			p.Key = author.EditDraftKey(4711)
			x.fakePostStore.posts[id] = p
		}
	}
	x.fakePostStore.mu.Unlock()
	if got := text(check(t, x.open("/write/posts?show=deleted"))); !strings.Contains(got, "The old one") || strings.Contains(got, "A change") {
		t.Errorf("the list is %s", got)
	}
}

func TestUndoMessageStatesTheUndoneAction(t *testing.T) {
	t.Parallel()
	x := newWriteHarness(t).as("alice")
	undo := func(id int64) string {
		x.Helper()
		to := x.location(x.send(fmt.Sprintf("/write/%d/undo", id)))
		return text(find(check(t, x.open(to.String())), "p", "note")[0])
	}
	draft := x.write("alice", author.Draft, author.Content{Source: "A thought"})
	x.send(fmt.Sprintf("/write/%d/delete", draft.ID))
	if got := undo(draft.ID); got != "Deletion undone: “A thought” is a draft again." {
		t.Errorf("a draft: %s", got)
	}
	post := x.write("alice", author.Published, author.Content{Title: "News"})
	if got := undo(post.ID); got != "Publishing undone: “News” is a draft again." {
		t.Errorf("a post: %s", got)
	}
	post = x.write("alice", author.Published, author.Content{Title: "More news"})
	x.fake.now = x.fake.now.Add(2 * time.Minute)
	x.send("/write", "do", "publish", "id", fmt.Sprint(post.ID), "base", fmt.Sprint(post.Revision), "writer", "alice", "title", "No news")
	if got := undo(post.ID); got != "Last change undone: the previous version is back." || x.post("alice", post.ID).Title != "More news" {
		t.Errorf("a change: %s", got)
	}
}

func TestOnlyUnpublishedChangesAreDiscarded(t *testing.T) {
	t.Parallel()
	x := newWriteHarness(t).as("alice")
	x.write("alice", author.ForGroups, author.Content{Source: "For the family", Groups: []string{"private"}})
	post := x.write("alice", author.Published, author.Content{Source: "As published"})
	x.ask("/write/draft", "id", fmt.Sprint(post.ID), "base", fmt.Sprint(post.Revision), "writer", "alice", "source", "Changed")
	doc := check(t, x.open("/write/posts"))
	got := map[string]string{}
	for _, button := range find(doc, "button", "harm") {
		does, words, _ := strings.Cut(text(button), ": ")
		got[words] = does
	}
	want := map[string]string{"For the family": "Delete", "As published": "Delete", "Changed": "Discard"}
	if !maps.Equal(got, want) {
		t.Errorf("the buttons are %v, want %v", got, want)
	}
}
