package author_test

import (
	"testing"
	"time"

	"cloudburst/internal/author"
	"cloudburst/internal/fault"
)

// draftOf returns d, the result of the previous save, with a new text to save.
func draftOf(d author.DraftEdit, text string) author.DraftEdit {
	d.User, d.Via, d.Key = "alice", "test", "page 1"
	d.Change = write(text).Change
	return d
}

func TestRepeatedDraftSavesCreateOnePost(t *testing.T) {
	t.Parallel()
	withHarness(t, func(t *testing.T, d *harness) {
		first, err := d.SaveDraft(d.ctx, draftOf(author.DraftEdit{}, "one"))
		if err != nil || first.ID == 0 || first.Draft != 0 {
			t.Fatalf("%+v, %v", first, err)
		}
		// The response to the first save was lost, and the author has continued typing.
		again, err := d.SaveDraft(d.ctx, draftOf(author.DraftEdit{}, "one and two"))
		if err != nil || again.ID != first.ID || again.Base == first.Base {
			t.Fatalf("%+v, %v", again, err)
		}
		// A page that knows only the first revision repeats the same save.
		late, err := d.SaveDraft(d.ctx, draftOf(first, "one and two"))
		if err != nil || late.Base != again.Base {
			t.Errorf("%+v, %v", late, err)
		}
		_, err = d.SaveDraft(d.ctx, draftOf(first, "something else"))
		if fault.CodeOf(err) != fault.Conflict {
			t.Errorf("an older page saves another text: %v", err)
		}
		if post := d.must(d.Get(d.ctx, "alice", first.ID)); post.State != author.Draft || post.Source != "one and two" || len(d.notified()) != 0 {
			t.Errorf("%+v, notified %v", post, d.notified())
		}
	})
}

func TestChangeOfAPublishedPostIsSavedAsSeparateDraft(t *testing.T) {
	t.Parallel()
	withHarness(t, func(t *testing.T, d *harness) {
		post := d.post("as published")
		if _, err := d.EditDraft(d.ctx, "alice", post.ID); fault.CodeOf(err) != fault.NotFound {
			t.Errorf("before anything is changed: %v", err)
		}
		saved, err := d.SaveDraft(d.ctx, draftOf(author.DraftEdit{ID: post.ID, Base: post.Revision}, "changed"))
		if err != nil || saved.ID != post.ID || saved.Base != post.Revision || saved.Draft == 0 {
			t.Fatalf("%+v, %v", saved, err)
		}
		saved, err = d.SaveDraft(d.ctx, draftOf(saved, "changed again"))
		if err != nil {
			t.Fatal(err)
		}
		draft := d.must(d.EditDraft(d.ctx, "alice", post.ID))
		if draft.ID != saved.Draft || draft.Source != "changed again" || author.EditedPost(draft) != post.ID || draft.Key != author.EditDraftKey(post.ID) {
			t.Errorf("%+v", draft)
		}
		d.wantFeed("as published")
		if err := d.DiscardEditDraft(d.ctx, "alice", post.ID, "test"); err != nil {
			t.Fatal(err)
		}
		if err := d.DiscardEditDraft(d.ctx, "alice", post.ID, "test"); err != nil {
			t.Errorf("a second time: %v", err)
		}
		// A page that still has the ID of the discarded draft creates another draft.
		if saved, err = d.SaveDraft(d.ctx, draftOf(saved, "once more")); err != nil {
			t.Fatal(err)
		}
		if draft := d.must(d.EditDraft(d.ctx, "alice", post.ID)); draft.ID != saved.Draft || draft.Source != "once more" {
			t.Errorf("%+v, %+v", saved, draft)
		}
		d.sleep(time.Second)
		e := write("published elsewhere")
		e.ID = post.ID
		d.must(d.Save(d.ctx, e))
		if _, err = d.SaveDraft(d.ctx, draftOf(saved, "too late")); fault.CodeOf(err) != fault.Conflict {
			t.Errorf("a change of a post that changed: %v", err)
		}
	})
}

func TestRepeatedDraftRequestUpdatesThePost(t *testing.T) {
	t.Parallel()
	withHarness(t, func(t *testing.T, d *harness) {
		e := write("first")
		e.Key = "page 2"
		a := d.must(d.SaveOnce(d.ctx, e))
		if b := d.must(d.SaveOnce(d.ctx, e)); b.ID != a.ID || b.Revision != a.Revision {
			t.Errorf("the same again: %+v", b)
		}
		e.Change = write("second").Change
		if c := d.must(d.SaveOnce(d.ctx, e)); c.ID != a.ID || c.Revision == a.Revision || c.Source != "second" {
			t.Errorf("more was typed: %+v", c)
		}
		d.wantFeed("second")
	})
}

func TestKeysOfEditDraftsAreParsed(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]int64{author.EditDraftKey(17): 17, "edit-1": 1, "edit-0": 0, "edit-01": 0, "edit-": 0, "edit--1": 0, "xedit-1": 0, "edit-1x": 0, "edit-9999999999999999999": 0, "": 0} {
		if got := author.EditedPost(author.Post{Key: key}); got != want {
			t.Errorf("%q: %d, want %d", key, got, want)
		}
	}
}
