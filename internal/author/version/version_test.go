package version_test

import (
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"cloudburst/internal/author"
	"cloudburst/internal/author/version"
	"cloudburst/internal/fault"
	"cloudburst/internal/store/sqlite"
	"cloudburst/internal/store/sqlite/sqlitetest"
)

type harness struct {
	version.Versions
	t *testing.T
}

func withHarness(t *testing.T, do func(*testing.T, *harness)) {
	t.Helper()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		log := slog.New(slog.NewTextHandler(t.Output(), nil))
		st, err := sqlite.Open(t.Context(), sqlite.Options{Dir: sqlitetest.Fill(t, dir), Log: log})
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := st.Close(); err != nil {
				t.Error(err)
			}
		}()
		posts := &author.Posts{Store: st, Feeds: &author.Feeds{Store: st, Log: log}, Log: log, Origin: func() string { return "https://here.example" }}
		do(t, &harness{version.Versions{Store: st, Posts: posts}, t})
	})
}

// save saves a text at the request of the author (asked) or automatically.
func (h *harness) save(d author.DraftEdit, text string, asked bool) author.DraftEdit {
	h.t.Helper()
	d.User, d.Key, d.Asked = "alice", "key", asked
	d.Change = func(c *author.Content) error { c.Source = text; return nil }
	d, err := h.Posts.SaveDraft(h.t.Context(), d)
	if err != nil {
		h.t.Fatal(err)
	}
	return d
}

func (h *harness) texts(id int64) string {
	h.t.Helper()
	list, err := h.List(h.t.Context(), "alice", id)
	if err != nil {
		h.t.Fatal(err)
	}
	var all []string
	for _, v := range list {
		all = append(all, string(v.State)+" "+v.Source)
	}
	return strings.Join(all, ", ")
}

func TestAutomaticSavesCreateOneVersionEveryFiveMinutes(t *testing.T) {
	t.Parallel()
	withHarness(t, func(t *testing.T, h *harness) {
		d := h.save(author.DraftEdit{}, "one", false)
		for _, text := range []string{"one two", "one two three", "one two three four"} {
			time.Sleep(10 * time.Second) // advances the clock of the synctest bubble
			d = h.save(d, text, false)
		}
		if got := h.texts(d.ID); got != "draft one" {
			t.Errorf("within a minute: %s", got)
		}
		time.Sleep(6 * time.Minute)
		d = h.save(d, "five", false)
		time.Sleep(6 * time.Minute)
		d = h.save(d, "six", false)
		if got := h.texts(d.ID); got != "draft five, draft one" {
			t.Errorf("after a pause: %s", got)
		}
	})
}

func TestVersionIsKeptForManualSavesAndBeforeLargeDeletions(t *testing.T) {
	t.Parallel()
	withHarness(t, func(t *testing.T, h *harness) {
		long := strings.Repeat("x", 300)
		d := h.save(author.DraftEdit{}, "one", true)
		d = h.save(d, long, true)
		d = h.save(d, long, true) // the same text as before
		d = h.save(d, "short", false)
		if got := h.texts(d.ID); got != "draft "+long+", draft one" {
			t.Errorf("the versions are %s", got)
		}
	})
}

func TestRestoredVersionReplacesTheDraft(t *testing.T) {
	t.Parallel()
	withHarness(t, func(t *testing.T, h *harness) {
		ctx := t.Context()
		d := h.save(author.DraftEdit{}, "one #walks", true)
		d = h.save(d, "two", true)
		d, err := h.Restore(ctx, "alice", d.ID, 1, d.Base, "test")
		if err != nil {
			t.Fatal(err)
		}
		post, err := h.Posts.Get(ctx, "alice", d.ID)
		if err != nil || post.Source != "one #walks" || post.State != author.Draft || strings.Join(post.Categories, " ") != "walks" {
			t.Errorf("%+v, %v", post, err)
		}
		if got := h.texts(d.ID); got != "draft two, draft one #walks" {
			t.Errorf("the versions are %s", got)
		}
		if _, err := h.Restore(ctx, "alice", d.ID, 9, 0, "test"); fault.CodeOf(err) != fault.NotFound {
			t.Errorf("a missing version: %v", err)
		}
		if _, err := h.Restore(ctx, "bob", d.ID, 1, 0, "test"); fault.CodeOf(err) != fault.NotFound {
			t.Errorf("the version of another user: %v", err)
		}
		if _, err := h.Restore(ctx, "alice", d.ID, 1, d.Base-1, "test"); fault.CodeOf(err) != fault.Conflict {
			t.Errorf("an old revision: %v", err)
		}
		if _, err := h.List(ctx, "bob", d.ID); fault.CodeOf(err) != fault.NotFound {
			t.Errorf("the versions of another user: %v", err)
		}
	})
}

func TestRestoredVersionOfAPublishedPostIsNotPublishedAutomatically(t *testing.T) {
	t.Parallel()
	withHarness(t, func(t *testing.T, h *harness) {
		ctx := t.Context()
		publish := func(id int64, text string) author.Post {
			p, err := h.Posts.Save(ctx, author.Edit{User: "alice", ID: id, To: author.Published, Change: func(c *author.Content) error { c.Source = text; return nil }})
			if err != nil {
				t.Fatal(err)
			}
			return p
		}
		post := publish(publish(0, "one").ID, "two")
		for range 2 { // the second Restore changes the draft that the first Restore created
			d, err := h.Restore(ctx, "alice", post.ID, 1, 0, "test")
			if err != nil {
				t.Fatal(err)
			}
			draft, err := h.Posts.Get(ctx, "alice", d.Draft)
			if err != nil || draft.Source != "one" || author.EditedPost(draft) != post.ID {
				t.Errorf("%+v, %v", draft, err)
			}
		}
		if now, err := h.Posts.Get(ctx, "alice", post.ID); err != nil || now.Source != "two" || now.State != author.Published {
			t.Errorf("%+v, %v", now, err)
		}
	})
}
