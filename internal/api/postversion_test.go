package api

import (
	"errors"
	"strings"
	"testing"

	"cloudburst/client"
	"cloudburst/internal/author"
	"cloudburst/internal/author/version"
	"cloudburst/internal/event"
	"cloudburst/internal/store/sqlite"
)

func servePosts(t *testing.T) *client.Client {
	t.Helper()
	w := newPostHarness(t)
	c, _ := serveWith(t, Options{Hub: newFakeHub(), Bus: event.NewBus(1), Accounts: newFakeAccounts("alice"), Posts: w, Files: postFiles{w},
		Versions: version.Versions{Store: w.Store.(*sqlite.Store), Posts: w.Posts}, Rules: author.RuleSettings{Posts: w.Posts}})
	return c
}

func TestClientListsAndRestoresVersions(t *testing.T) {
	t.Parallel()
	c, ctx := servePosts(t), t.Context()
	one, two, draft := "one", "two", "draft"
	post, err := c.CreatePost(ctx, "alice", client.PostChange{Source: &one, State: &draft}, "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.ChangePost(ctx, "alice", post.ID, 0, client.PostChange{Source: &two}); err != nil {
		t.Fatal(err)
	}
	v := client.Versions{Client: c, User: "alice", Post: post.ID}
	all, err := v.List(ctx)
	if err != nil || len(all) != 1 || all[0].Source != "one" || all[0].Number != 1 || all[0].State != "draft" || all[0].Format != "markdown" {
		t.Fatalf("%+v, %v", all, err)
	}
	if got, err := v.Restore(ctx, 1); err != nil || got.ID != post.ID || got.Source != "one" {
		t.Errorf("%+v, %v", got, err)
	}
	for want, call := range map[int]func() error{
		404: func() error { _, err := v.Restore(ctx, 99); return err },
		400: func() error { _, err := v.Restore(ctx, 0); return err },
	} {
		if e, ok := errors.AsType[*client.Error](call()); !ok || e.Status != want {
			t.Errorf("%+v, want %d", e, want)
		}
	}
}

func TestPostRulesOfTheAuthorApplyToTheAPI(t *testing.T) {
	t.Parallel()
	c, ctx := servePosts(t), t.Context()
	w, err := c.SetProfile(ctx, "alice", client.Profile{Name: "Alice", PingTargets: []string{}, Rules: &client.PostRules{Short: "enforce", URLs: "free", PlainTags: true}})
	if err != nil || *w.Rules != (client.PostRules{Short: "enforce", URLs: "free", PlainTags: true}) {
		t.Fatalf("%+v, %v", w.Rules, err)
	}
	long, linked := strings.Repeat("ä", 141), "#tag https://example.com/"+strings.Repeat("x", 200)
	_, err = c.CreatePost(ctx, "alice", client.PostChange{Source: &long}, "")
	if e, ok := errors.AsType[*client.Error](err); !ok || e.Status != 400 || !strings.Contains(e.Message, "141 characters") {
		t.Errorf("%#v", err)
	}
	if p, err := c.CreatePost(ctx, "alice", client.PostChange{Source: &linked, Card: &client.PostCard{URL: "https://example.com/", Title: "T"}}, ""); err != nil || len(p.Categories) > 0 || p.Card.Title != "T" {
		t.Errorf("%+v, %v", p, err)
	}
	// A profile without rules keeps the stored rules. A profile with invalid rules changes nothing.
	if w, err = c.SetProfile(ctx, "alice", client.Profile{Name: "Bob", PingTargets: []string{}}); err != nil || w.Rules.Short != "enforce" {
		t.Errorf("%+v, %v", w.Rules, err)
	}
	_, err = c.SetProfile(ctx, "alice", client.Profile{Name: "Eve", PingTargets: []string{}, Rules: &client.PostRules{Short: "stop"}})
	if e, ok := errors.AsType[*client.Error](err); !ok || e.Status != 400 {
		t.Errorf("%#v", err)
	}
	if w, err = c.Writer(ctx, "alice"); err != nil || w.Name != "Bob" {
		t.Errorf("%+v, %v", w, err)
	}
}
