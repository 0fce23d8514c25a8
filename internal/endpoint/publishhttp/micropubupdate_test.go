package publishhttp_test

import (
	"strings"
	"testing"
	"time"

	"cloudburst/internal/author"
	"cloudburst/protocol/micropub"
)

func (w *pubHarness) tryCreate(properties string) (string, error) {
	w.Helper()
	req, err := micropub.ParseJSON([]byte(`{"type":["h-entry"],"properties":` + properties + `}`))
	if err != nil {
		w.Fatal(err)
	}
	return w.client("create").Create(w.Context(), req)
}

func TestUpdateOfALikeOrRepostChangesTheLink(t *testing.T) {
	t.Parallel()
	const one, two = "https://a.example/1", "https://a.example/2"
	for _, name := range []string{"bookmark-of", "like-of", "repost-of"} {
		for changes, want := range map[string]string{
			`"replace":{"NAME":["` + two + `"]}`:                               two,
			`"replace":{"like-of":["` + two + `"]},"delete":["bookmark-of"]`:   two,
			`"replace":{"NAME":["` + one + `"]}`:                               one,
			`"delete":["NAME"]`:                                                "",
			`"delete":{"NAME":["` + one + `"]}`:                                "",
			`"delete":{"NAME":["` + two + `"]}`:                                one,
			`"delete":{"NAME":["` + one + `"]},"add":{"NAME":["` + two + `"]}`: two,
		} {
			w := newPubHarness(t)
			at, p := w.create(`{"content":["a"],"` + name + `":["` + one + `"]}`)
			changes = strings.ReplaceAll(changes, "NAME", name)
			if _, err := w.update(at, changes); err != nil {
				t.Errorf("%s: %v", changes, err)
			}
			if got := w.get(p.ID).Link; got != want {
				t.Errorf("%s: the link is %q, want %q", changes, got, want)
			}
		}
	}
}

func TestUpdateCanRemoveTheDescriptionOfAnImage(t *testing.T) {
	t.Parallel()
	for changes, want := range map[string]string{
		`"replace":{"photo":["https://a.example/s.png"]}`:                                            "",
		`"replace":{"photo":[{"value":"https://a.example/s.png","alt":""}]}`:                         "",
		`"delete":{"photo":["https://a.example/s.png"]},"add":{"photo":["https://a.example/s.png"]}`: "",
		`"replace":{"photo":[{"value":"https://a.example/s.png","alt":"NEW"}]}`:                      "NEW",
		`"add":{"photo":["https://a.example/t.png"]}`:                                                "OLD",
		`"replace":{"content":["b"]}`:                                                                "OLD",
		`"replace":{"photo":["https://a.example/s.png"],"mp-photo-alt":["NEW"]}`:                     "NEW",
	} {
		w := newPubHarness(t)
		at, p := w.create(`{"content":["a"],"photo":[{"value":"https://a.example/s.png","alt":"OLD"}]}`)
		if _, err := w.update(at, changes); err != nil {
			t.Errorf("%s: %v", changes, err)
		}
		if got := w.get(p.ID).Enclosures[0].Alt; got != want {
			t.Errorf("%s: the description is %q, want %q", changes, got, want)
		}
	}
}

func TestValuesThatAPostCannotHaveAreRejected(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ properties, changes, words string }{
		{`{"content":["a"],"published":["2027-01-01T00:00:00Z"]}`, `"delete":["published"]`, "published"},
		{`{"content":["a"]}`, `"replace":{"published":[]}`, "published"},
		{`{"content":["a"],"in-reply-to":["https://a.example/1"]}`, `"add":{"in-reply-to":["https://a.example/2"]}`, "in-reply-to"},
		{`{"content":["a"],"like-of":["https://a.example/1"]}`, `"add":{"like-of":["https://a.example/2"]}`, "like-of"},
		{`{"content":["a"],"name":["a"]}`, `"add":{"name":["b"]}`, "name"},
	} {
		w := newPubHarness(t)
		at, p := w.create(tt.properties)
		if _, err := w.update(at, tt.changes); err == nil || !strings.Contains(err.Error(), tt.words) {
			t.Errorf("%s: %v", tt.changes, err)
		}
		if now := w.get(p.ID); now.Revision != p.Revision {
			t.Errorf("%s changed the post", tt.changes)
		}
	}
	w := newPubHarness(t)
	at, _ := w.create(`{"content":["a"],"in-reply-to":["https://a.example/1"]}`)
	if _, err := w.update(at, `"add":{"in-reply-to":["https://a.example/1"]}`); err != nil {
		t.Errorf("the same value again: %v", err)
	}
	for properties, words := range map[string]string{
		`{"content":["a"],"in-reply-to":["https://a.example/1","https://a.example/2"]}`:           "in-reply-to",
		`{"content":["a"],"like-of":["https://a.example/1"],"repost-of":["https://a.example/2"]}`: "repost-of",
		`{"content":["a"],"like-of":["https://a.example/1"],"repost-of":["https://a.example/1"]}`: "",
	} {
		if _, err := w.tryCreate(properties); (err == nil) != (words == "") || err != nil && !strings.Contains(err.Error(), words) {
			t.Errorf("a new post with %s: %v", properties, err)
		}
	}
}

func TestFutureDateInAnUpdateSchedulesThePost(t *testing.T) {
	t.Parallel()
	w := newPubHarness(t)
	at, p := w.create(`{"content":["a"]}`)
	now, err := w.update(at, `"replace":{"published":["2031-02-01T00:00:00Z"]}`)
	if p = w.get(p.ID); err != nil || p.State != author.Scheduled || p.DueAt.Year() != 2031 || now == at {
		t.Errorf("%s %v: the post is %s, due at %s", now, err, p.State, p.DueAt)
	}
}

func TestUpdateCanMakeAScheduledPostADraftWithoutADate(t *testing.T) {
	t.Parallel()
	w := newPubHarness(t)
	at, p := w.create(`{"content":["a"],"published":["2031-01-01T00:00:00Z"]}`)
	_, err := w.update(at, `"replace":{"post-status":["draft"]},"delete":["published"]`)
	if p = w.get(p.ID); err != nil || p.State != author.Draft {
		t.Errorf("the post is %s, %v", p.State, err)
	}
}

func TestWishedSlugOfADraftIsReturnedAndUsed(t *testing.T) {
	t.Parallel()
	w := newPubHarness(t)
	at, _ := w.create(`{"content":["a"],"post-status":["draft"],"mp-slug":["My words"]}`)
	got, err := w.client("update").Source(t.Context(), at)
	if err != nil || got.Properties.Text("mp-slug") != "my-words" {
		t.Errorf("the slug of the draft is %q, %v", got.Properties.Text("mp-slug"), err)
	}
	if _, err := w.update(at, `"replace":{"mp-slug":["New words"]}`); err != nil {
		t.Error(err)
	}
	now, err := w.update(at, `"replace":{"post-status":["published"]}`)
	if err != nil || !strings.HasSuffix(now, "/new-words") {
		t.Errorf("published at %s, %v", now, err)
	}
	w.create(`{"content":["a"],"published":["2026-11-23T00:00:00Z"],"mp-slug":["other"]}`)
	w.later(24 * time.Hour)
	if n, err := w.posts.PublishDue(t.Context()); n != 1 || err != nil || w.newest().Slug != "other" {
		t.Errorf("%d published, %v: the slug is %q", n, err, w.newest().Slug)
	}
}
