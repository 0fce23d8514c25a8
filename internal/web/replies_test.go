package web

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"cloudburst/internal/author"
	"cloudburst/internal/conversation"
	"cloudburst/internal/fault"
)

// fakeReplies contains the replies to alice and the webmentions that alice sent. It records decisions.
type fakeReplies struct {
	all     []conversation.Mention // sorted by ID, newest first
	sent    []conversation.Sent
	decided []string
	undone  time.Time
	at      time.Time // DecidedAt of each decision
	again   int64
}

func (w *fakeReplies) List(_ context.Context, q conversation.Query) (list []conversation.Mention, _ error) {
	for _, m := range w.all {
		if m.State == q.State && (q.Before == 0 || m.ID < q.Before) && len(list) < q.Limit {
			list = append(list, m)
		}
	}
	return list, nil
}

func (w *fakeReplies) Counts(context.Context, string) (map[conversation.State]int, error) {
	return map[conversation.State]int{conversation.Waiting: len(w.all), conversation.Unread: 7}, nil
}

func (w *fakeReplies) Rules(context.Context, string) ([]conversation.Rule, error) { return nil, nil }

func (w *fakeReplies) Moderate(_ context.Context, user string, id int64, d conversation.Moderation) (conversation.Mention, error) {
	if d != conversation.Approve {
		return conversation.Mention{}, fault.New(fault.Invalid, "Unknown decision.")
	}
	w.decided = append(w.decided, fmt.Sprint(user, id, d))
	return conversation.Mention{DecidedAt: w.at}, nil
}

func (w *fakeReplies) Undo(_ context.Context, _ string, at time.Time) error {
	w.undone = at
	return nil
}

func (w *fakeReplies) RemoveRule(context.Context, string, string, string) error { return nil }

func (w *fakeReplies) Shown(context.Context, string, int64) ([]conversation.Mention, error) {
	return nil, nil
}

func (w *fakeReplies) Accepts(context.Context, string) (bool, error) { return true, nil }

// fakeSent lists the webmentions in the field sent of a fakeReplies.
type fakeSent struct{ *fakeReplies }

func (w fakeSent) List(_ context.Context, q conversation.SentQuery) (list []conversation.Sent, _ error) {
	for _, o := range w.sent {
		past := q.BeforePost == 0 || o.Post < q.BeforePost || o.Post == q.BeforePost && o.Target > q.AfterTarget
		if past && (q.Post == 0 || q.Post == o.Post) && len(list) < q.Limit {
			list = append(list, o)
		}
	}
	return list, nil
}

func (w fakeSent) Again(_ context.Context, _ string, post int64) (int, error) {
	w.again = post
	return 1, nil
}

func newRepliesHarness(t *testing.T) (*writeHarness, *fakeReplies) {
	x := newWriteHarness(t)
	w := &fakeReplies{at: x.fake.now}
	x.Replies, x.Sent, x.Mentions = w, fakeSent{w}, author.MentionSettings{Posts: x.posts}
	x.pages, x.author = x.Routes(), x.AuthorPage()
	return x.as("alice"), w
}

func TestRepliesArePagedAndEscaped(t *testing.T) {
	t.Parallel()
	x, w := newRepliesHarness(t)
	p := x.write("alice", author.Published, author.Content{Source: "A post"})
	for i := range 70 {
		w.all = append(w.all, conversation.Mention{ID: int64(100 - i), Post: p.ID, State: conversation.Waiting, Host: "you.example", Source: "https://you.example/", Author: "javascript:alert(1)",
			ReceivedAt: x.fake.now, Content: conversation.Content{Kind: conversation.Like, Name: "<script>Ann", Text: fmt.Sprint("Number", i)}})
	}
	w.all[1].Post = 99 // this post does not exist
	seen := 0
	for path := "/write/replies"; path != ""; {
		doc := check(t, x.open(path))
		if tabs := text(find(doc, "nav", "tabs states")[0]); !strings.Contains(tabs, "Waiting 70") {
			t.Errorf("tabs: %s", tabs)
		}
		for _, form := range find(doc, "form", "decide") {
			seen++
			if form.Parent == nil || !strings.Contains(text(form.Parent), "<script>Ann liked") {
				t.Errorf("a row: %s", text(form.Parent))
			}
		}
		for _, a := range find(doc, "a", "") {
			if strings.HasPrefix(attr(a, "href"), "javascript:") {
				t.Error("a hostile link is kept")
			}
		}
		path = ""
		for _, a := range find(doc, "a", "") {
			if attr(a, "rel") == "next" {
				path = attr(a, "href")
			}
		}
	}
	if seen != 70 {
		t.Errorf("page by page there are %d", seen)
	}
	if rows := find(check(t, x.open("/write/replies?show=nothing&before=x&at=y&did=z")), "form", "decide"); len(rows) != 30 {
		t.Errorf("an unknown tab has %d rows", len(rows))
	}
}

func TestModerationOfAReplyCanBeUndoneForTenMinutes(t *testing.T) {
	t.Parallel()
	x, w := newRepliesHarness(t)
	to := x.location(x.send("/write/replies", "do", "approve", "id", "5", "show", "rejected"))
	if q := to.Query(); q.Get("show") != "rejected" || q.Get("did") != "approve" || len(w.decided) != 1 || w.decided[0] != "alice5approve" {
		t.Fatalf("leads to %s after %v", to, w.decided)
	}
	bar := find(check(t, x.open(to.String())), "div", "undo")
	if len(bar) != 1 || !strings.Contains(text(bar[0]), "Approved.") {
		t.Fatalf("%d undo bars", len(bar))
	}
	if to := x.location(x.send("/write/replies", "do", "undo", "at", to.Query().Get("at"))); !w.undone.Equal(w.at) || to.Query().Get("did") != "undo" {
		t.Errorf("undone %v, leads to %s", w.undone, to)
	}
	x.fake.now = x.fake.now.Add(conversation.UndoWithin + time.Second)
	if doc := check(t, x.open(to.String())); len(find(doc, "div", "undo")) != 0 || !strings.Contains(text(doc), "Approved.") {
		t.Error("undo is offered after ten minutes")
	}
	for _, form := range [][]string{{"do", "approve"}, {"do", "approve", "id", "x"}, {"do", "undo", "at", "x"}, {"do", "nothing", "id", "5"}, {"do", "again"}, {}} {
		if rec := x.send("/write/replies", form...); rec.Code != http.StatusBadRequest {
			t.Errorf("%v: %d", form, rec.Code)
		}
	}
	if len(w.decided) != 1 || w.again != 0 {
		t.Errorf("an invalid form has an effect: %+v", w)
	}
}

func TestSentWebmentionsAreListedByPost(t *testing.T) {
	t.Parallel()
	x, w := newRepliesHarness(t)
	p := x.write("alice", author.Published, author.Content{Source: "A post"})
	if doc := check(t, x.open("/write/replies?show=sent")); !strings.Contains(text(doc), "Nothing was sent yet.") {
		t.Error("the empty list says nothing")
	}
	for i := range 40 {
		w.sent = append(w.sent, conversation.Sent{Post: p.ID, Target: fmt.Sprintf("https://h%02d.example/", i), Sending: conversation.Sending{Result: conversation.Accepted, Status: 202}})
	}
	w.sent[0].Sending = conversation.Sending{Result: conversation.Failed, Status: 400, Answer: "<b>No."}
	w.sent[1].Result, w.sent[1].Tries, w.sent[1].Answer, w.sent[1].DueAt = conversation.Pending, 2, "Busy.", x.fake.now.Add(time.Minute)
	w.sent[2].Result = conversation.NoEndpoint
	doc := check(t, x.open("/write/replies?show=sent"))
	whole := text(doc)
	for _, want := range []string{"A post", "Failed", "HTTP 400", "<b>No.", "Pending", "next attempt", "receives no webmentions", "HTTP 202", "Send again"} {
		if !strings.Contains(whole, want) {
			t.Errorf("%q is missing in %s", want, whole)
		}
	}
	next := ""
	for _, a := range find(doc, "a", "") {
		if attr(a, "rel") == "next" {
			next = attr(a, "href")
		}
	}
	if rows := find(check(t, x.open(next)), "li", "stack"); len(rows) != 10 {
		t.Errorf("the second page has %d rows", len(rows))
	}
	if to := x.location(x.send("/write/replies", "do", "again", "show", "sent", "post", "1")); w.again != 1 || to.Query().Get("show") != "sent" {
		t.Errorf("leads to %s", to)
	}
}

func TestAuthorEnablesAndDisablesWebmentions(t *testing.T) {
	t.Parallel()
	x, _ := newRepliesHarness(t)
	page := x.open("/write/replies?show=settings")
	if check(t, page); strings.Count(page.Body.String(), " checked>") != 2 {
		t.Error("both are not on by default")
	}
	x.location(x.send("/write/replies", "do", "settings", "receive", "on"))
	if w, err := x.posts.Writer(t.Context(), "alice"); err != nil || w.Mentions != (author.Mentions{NoSend: true}) {
		t.Errorf("stored: %+v, %v", w.Mentions, err)
	}
}
