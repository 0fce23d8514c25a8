package web

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"cloudburst/internal/author"
	"cloudburst/internal/author/rules"
	"cloudburst/internal/author/version"
	"cloudburst/internal/fault"
)

// fakeVersions is a version.Store that contains the versions of one post.
type fakeVersions []version.Version

func (f fakeVersions) Versions(context.Context, string, int64) ([]version.Version, error) {
	return f, nil
}

func (f fakeVersions) Version(_ context.Context, _ string, _, n int64) (version.Version, error) {
	for _, v := range f {
		if v.N == n {
			return v, nil
		}
	}
	return version.Version{}, fault.New(fault.NotFound, "There is no such version of the post.")
}

func TestEarlierVersionsAreComparedAndRestored(t *testing.T) {
	t.Parallel()
	x := newWriteHarness(t).as("alice")
	post := x.write("alice", author.Draft, author.Content{Source: "The lamp was lit again"})
	x.Versions = version.Versions{Posts: x.posts, Store: fakeVersions{
		{N: 2, At: x.fake.now.Add(-time.Hour), State: author.Published, Content: author.Content{Source: "The lamp was lit"}},
		{N: 1, At: x.fake.now.Add(-2 * time.Hour), State: author.Draft, Content: author.Content{Source: "The old lamp was lit"}},
	}}
	x.rebuild()
	doc := check(t, x.open("/write/1/versions"))
	added, removed := find(doc, "ins", ""), find(doc, "del", "")
	if len(added) != 1 || strings.TrimSpace(text(added[0])) != "again" || len(removed) != 1 || strings.TrimSpace(text(removed[0])) != "old" {
		t.Errorf("the page shows %s", text(doc))
	}
	if page := text(doc); !strings.Contains(page, "published, 4 words") || !strings.Contains(page, "draft, 5 words") {
		t.Errorf("the page says %s", page)
	}
	if rec := x.send("/write/1/versions/9/restore"); rec.Code != 404 {
		t.Errorf("a missing version: %d", rec.Code)
	}
	if rec := x.send("/write/1/versions/1/restore", "base", "99"); rec.Code != 409 {
		t.Errorf("an old revision: %d", rec.Code)
	}
	to := x.location(x.send("/write/1/versions/1/restore", "base", "1"))
	if page := text(check(t, x.open(to.String()))); x.post("alice", post.ID).Source != "The old lamp was lit" || !strings.Contains(page, "The earlier version is restored.") {
		t.Errorf("%s shows %s", to, page)
	}
	if rec := x.as("bob").open("/write/1/versions"); rec.Code != 404 {
		t.Errorf("the versions of another user: %d", rec.Code)
	}
}

func TestWritingSettingsAreSavedAndShown(t *testing.T) {
	t.Parallel()
	x := newWriteHarness(t).as("alice")
	x.Rules = author.RuleSettings{Posts: x.posts}
	x.rebuild()
	if page := text(check(t, x.open("/write"))); !strings.Contains(page, "Short posts: 140 characters, warn") {
		t.Errorf("the composer shows %s", page)
	}
	x.location(x.send("/write/settings", "short", "enforce", "urls", "free"))
	w, err := x.posts.Writer(t.Context(), "alice")
	if err != nil || w.Rules != (rules.Rules{Short: "enforce", URLs: "free", PlainTags: true}) {
		t.Errorf("%+v, %v", w.Rules, err)
	}
	doc := check(t, x.open("/write/settings?done=saved"))
	if page := text(doc); !strings.Contains(page, "Saved.") || x.field(doc, "hashtags") != "1" {
		t.Errorf("the page shows %s", page)
	}
	if page := text(check(t, x.open("/write"))); !strings.Contains(page, "Short posts: 140 characters, enforce") {
		t.Errorf("the composer shows %s", page)
	}
	if rec := x.send("/write/settings", "short", "never"); rec.Code != 400 || !strings.Contains(text(check(t, rec)), "off, warn or enforce") {
		t.Errorf("an unknown rule: %d", rec.Code)
	}
}

func TestLinkPreviewIsFetchedOnRequestAndStored(t *testing.T) {
	t.Parallel()
	x := newWriteHarness(t).as("alice")
	var asked []string
	x.Card = func(_ context.Context, user, url string) (author.Card, error) {
		if asked = append(asked, user+" "+url); strings.HasSuffix(url, "/none") {
			return author.Card{}, fault.New(fault.Unreadable, "The page has no title to show.")
		}
		return author.Card{URL: url, Title: "The <lamp>", Description: "It is lit", Image: "https://example.com/lamp.png"}, nil
	}
	x.rebuild()
	const source = "Look: https://example.com/page, please"
	doc := check(t, x.send("/write", "do", "card", "source", source))
	if len(asked) != 1 || asked[0] != "alice https://example.com/page" || x.field(doc, "card-title") != "The <lamp>" || !strings.Contains(text(find(doc, "a", "linkcard")[0]), "It is lit") {
		t.Fatalf("asked %q", asked)
	}
	card := []string{"card-url", "https://example.com/page", "card-title", "The <lamp>", "card-description", "It is lit"}
	x.location(x.send("/write", append(card, "do", "publish", "key", "k1", "source", source)...))
	if post := x.post("alice", 1); post.Card == nil || post.Card.Title != "The <lamp>" {
		t.Errorf("%+v", post.Card)
	}
	if page := x.see(x.Posts.Path(x.post("alice", 1))).Body.String(); !strings.Contains(page, "The &lt;lamp&gt;") {
		t.Errorf("the page shows %s", page)
	}
	x.location(x.send("/write", append(card, "do", "publish", "id", "1", "base", "1", "card-drop", "1", "source", source)...))
	if post := x.post("alice", 1); post.Card != nil {
		t.Errorf("%+v", post.Card)
	}
	for words, text := range map[string]string{"no title": "https://example.com/none", "no URL yet": "nothing"} {
		if a, status := x.ask("/write/card", "source", text, "writer", "alice"); a.OK || status == http.StatusOK || !strings.Contains(a.Error, words) {
			t.Errorf("%s: %d %+v", text, status, a)
		}
	}
	if a, _ := x.ask("/write/card", "source", source, "writer", "alice"); !a.OK || !strings.Contains(string(a.HTML), "card-url") {
		t.Errorf("%+v", a)
	}
}

func TestUnsavedPostIsPreviewedOnThePageOfItsAuthor(t *testing.T) {
	t.Parallel()
	x := newWriteHarness(t).as("alice")
	rec := x.send("/write/look", "source", "On #walks <script>alert(1)</script>", "title", "Seen")
	doc := check(t, rec)
	if rec.Code != 200 || rec.Header().Get("Cache-Control") != "no-store" || strings.Contains(rec.Body.String(), "alert(1)") || !strings.Contains(text(doc), "Seen") || !strings.Contains(rec.Body.String(), `href="/alice/category/walks/"`) {
		t.Errorf("%d %s", rec.Code, rec.Body)
	}
	if list, err := x.posts.List(t.Context(), author.PostQuery{User: "alice"}); err != nil || len(list) > 0 {
		t.Errorf("it stored %d posts, %v", len(list), err)
	}
	if rec := x.as("").send("/write/look", "source", "Hi"); rec.Code == 200 {
		t.Error("an unknown client sees a preview")
	}
}

func TestConflictingTextsCanBeMerged(t *testing.T) {
	t.Parallel()
	x := newWriteHarness(t).as("alice")
	x.write("alice", author.Draft, author.Content{Source: "one\ntwo\nthree", Categories: []string{"Walks"}})
	if _, err := x.posts.Save(t.Context(), author.Edit{User: "alice", ID: 1, To: author.Draft, Change: func(c *author.Content) error { c.Source = "one\nelsewhere\nthree"; return nil }}); err != nil {
		t.Fatal(err)
	}
	mine := []string{"id", "1", "base", "1", "writer", "alice", "source", "one\nmine\nthree", "title", "T"}
	doc := check(t, x.send("/write", append(mine, "do", "draft")...))
	if added := find(doc, "ins", ""); len(added) == 0 || !strings.Contains(text(doc), "Put both texts into one") || x.post("alice", 1).Source != "one\nelsewhere\nthree" {
		t.Fatalf("the page shows %s", text(doc))
	}
	mine[3] = x.field(doc, "base")
	doc = check(t, x.send("/write", append(mine, "do", "merge", "other", "1")...))
	if got := strings.TrimSpace(x.field(doc, "source")); got != "one\nelsewhere\nmine\nthree" || x.field(doc, "title") != "T" {
		t.Errorf("both are %q", got)
	}
	if got := x.field(doc, "base"); got != "2" {
		t.Errorf("the next save names the revision %s", got)
	}
}
