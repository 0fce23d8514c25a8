package api

import (
	"context"
	"testing"
	"time"

	"cloudburst/internal/author"
	"cloudburst/internal/conversation"
	"cloudburst/internal/fault"
)

// fakeReplies returns one reply and one moderation rule for each user.
type fakeReplies struct{ mentions author.Mentions }

func (w *fakeReplies) List(_ context.Context, q conversation.Query) ([]conversation.Mention, error) {
	m := conversation.Mention{User: q.User, ID: 1 << 51, Post: 3, State: conversation.Waiting, Source: "https://you.example/r", Target: "https://me.example/p", Host: "you.example",
		Author: "https://you.example/", ReceivedAt: start(), Content: conversation.Content{Kind: conversation.Reply, Name: "You", Title: "T", Text: "Hello", PublishedAt: start()}}
	return []conversation.Mention{m}[:min(q.Limit, 1)], nil
}

func (w *fakeReplies) Rules(context.Context, string) ([]conversation.Rule, error) {
	return []conversation.Rule{{Host: "you.example", Author: conversation.EveryAuthor, Verdict: conversation.Block, At: start()}}, nil
}

func (w *fakeReplies) Moderate(_ context.Context, _ string, id int64, d conversation.Moderation) (conversation.Mention, error) {
	if id != 1<<51 {
		return conversation.Mention{}, fault.New(fault.NotFound, "There is no such reply.")
	}
	if d == "delete" {
		return conversation.Mention{}, fault.New(fault.Invalid, "Unknown decision.")
	}
	return conversation.Mention{ID: id, DecidedAt: start()}, nil
}

func (w *fakeReplies) Undo(_ context.Context, _ string, at time.Time) error {
	if !at.Equal(start()) {
		return fault.New(fault.Conflict, "There is nothing to undo.")
	}
	return nil
}

func (w *fakeReplies) RemoveRule(context.Context, string, string, string) error { return nil }

func (w *fakeReplies) Writer(context.Context, string) (author.Writer, error) {
	return author.Writer{Profile: author.Profile{Mentions: w.mentions}}, nil
}

func (w *fakeReplies) SetMentions(_ context.Context, _ string, m author.Mentions) error {
	w.mentions = m
	return nil
}

// fakeSent returns one sent webmention for each user.
type fakeSent struct{}

func (fakeSent) List(_ context.Context, q conversation.SentQuery) ([]conversation.Sent, error) {
	return []conversation.Sent{{User: q.User, Post: 3, Target: "https://you.example/", Tries: 1, DueAt: start(), Sending: conversation.Sending{
		Source: "https://me.example/p", Reply: true, Removed: true, Result: conversation.Pending, Status: 503, Answer: "Busy.", Endpoint: "https://you.example/w", LastAt: start()}}}, nil
}

func TestReplyResponsesMatchSchema(t *testing.T) {
	t.Parallel()
	const base, to = "/v1/users/alice/replies", "/v1/users/{user}/replies"
	w := &fakeReplies{}
	checkResponses(t, Options{Accounts: newFakeAccounts("alice"), Posts: newPostHarness(t), Replies: w, Sent: fakeSent{}, Mentions: w}, []expectation{
		{"GET", base, to, "", 200},
		{"GET", base + "?state=waiting&post=3&limit=1&cursor=7", to, "", 200},
		{"GET", base + "?state=public", to, "", 400},
		{"GET", base + "?cursor=x", to, "", 400},
		{"GET", "/v1/users/nobody/replies", to, "", 404},
		{"POST", base + "/2251799813685248", to + "/{id}", `{"do":"approve"}`, 200},
		{"POST", base + "/2251799813685248", to + "/{id}", `{"do":"block-host"}`, 200},
		{"POST", base + "/2251799813685248", to + "/{id}", `{"do":"delete"}`, 400},
		{"POST", base + "/2251799813685248", to + "/{id}", `{`, 400},
		{"POST", base + "/4", to + "/{id}", `{"do":"approve"}`, 404},
		{"POST", base + "/x", to + "/{id}", `{"do":"approve"}`, 400},
		{"POST", base + "/undo", to + "/undo", `{"decidedAt":"` + start().Format(time.RFC3339Nano) + `"}`, 200},
		{"POST", base + "/undo", to + "/undo", `{"decidedAt":"2001-01-01T00:00:00Z"}`, 409},
		{"GET", base + "/rules", to + "/rules", "", 200},
		{"DELETE", base + "/rules?host=you.example&author=*", to + "/rules", "", 200},
		{"DELETE", base + "/rules?host=other.example&author=*", to + "/rules", "", 404},
		{"GET", base + "/settings", to + "/settings", "", 200},
		{"PUT", base + "/settings", to + "/settings", `{"receive":false,"send":true}`, 200},
		{"PUT", base + "/settings", to + "/settings", `{"receive":false}`, 400},
		{"GET", "/v1/users/alice/webmentions?limit=1", "/v1/users/{user}/webmentions", "", 200},
		{"GET", "/v1/users/alice/webmentions?cursor=x", "/v1/users/{user}/webmentions", "", 400},
	})
	if w.mentions != (author.Mentions{NoReceive: true}) {
		t.Errorf("stored: %+v", w.mentions)
	}
	checkResponses(t, Options{Accounts: newFakeAccounts("alice"), Posts: newPostHarness(t)}, []expectation{{"GET", base, to, "", 501}})
}
