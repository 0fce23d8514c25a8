package author

import (
	"context"
	"reflect"
	"regexp"
	"strconv"

	"cloudburst/internal/fault"
)

// EditDraftKey returns the key of the draft that holds the unpublished change of a published or
// scheduled post. The post itself is unchanged until the change is published.
func EditDraftKey(post int64) string { return "edit-" + strconv.FormatInt(post, 10) }

var editDraftForm = regexp.MustCompile(`^edit-([1-9][0-9]{0,17})$`)

// EditedPost returns the ID of the post whose change the draft p holds; 0: p holds no change of a
// post.
func EditedPost(p Post) int64 {
	m := editDraftForm.FindStringSubmatch(p.Key)
	if m == nil {
		return 0
	}
	n, _ := strconv.ParseInt(m[1], 10, 64) // editDraftForm matches only digits
	return n
}

// DraftEdit is an unpublished text to save.
type DraftEdit struct {
	User, Via string
	ID, Base  int64 // ID and Base are the post and the revision that the text is based on; 0: a new post
	// Draft and DraftBase are the ID and the revision of the draft that holds the change of a
	// published post. 0: the caller does not know the draft yet.
	Draft, DraftBase int64
	Key              string // key of a new post, see [Post].Key
	Asked            bool   // the author asked for the save; false: it is automatic
	Change           func(c *Content) error
}

// SaveDraft saves a text without publishing it. A new text becomes a draft, the text of a draft
// changes the draft, and the change of a published or scheduled post becomes a separate draft, see
// [EditDraftKey]. The result is d with the IDs and revisions for the next save. Repeating a save
// whose response was lost is not a conflict.
func (p *Posts) SaveDraft(ctx context.Context, d DraftEdit) (DraftEdit, error) {
	e := Edit{User: d.User, Via: d.Via, NoUndo: true, Automatic: !d.Asked, Change: d.Change, To: Draft}
	if d.ID == 0 {
		e.Key = d.Key
		post, err := p.SaveOnce(ctx, e)
		if err == nil {
			d.ID, d.Base = post.ID, post.Revision
		}
		return d, err
	}
	post, err := p.Get(ctx, d.User, d.ID)
	if err != nil {
		return d, err
	}
	if !post.State.HasReaders() && post.State != Scheduled {
		e.ID, e.Base = d.ID, d.Base
		if post, err = p.saveRepeated(ctx, e); err == nil {
			d.Base = post.Revision
		}
		return d, err
	}
	if d.Base != 0 && d.Base != post.Revision {
		return d, fault.New(fault.Conflict, "This post was changed elsewhere since you opened it.")
	}
	e.ID, e.Base = d.Draft, d.DraftBase
	if d.Draft == 0 {
		e.Key = EditDraftKey(d.ID)
	} else if at, err := p.Get(ctx, d.User, d.Draft); err != nil || at.State != Draft || EditedPost(at) != d.ID {
		e.ID, e.Base, e.Key = 0, 0, EditDraftKey(d.ID) // the author has discarded the draft
	}
	draft, err := p.saveRepeated(ctx, e)
	if err == nil {
		d.Draft, d.DraftBase = draft.ID, draft.Revision
	}
	return d, err
}

// EditDraft returns the draft that holds the change of a post. fault.NotFound: the post has no such
// draft.
func (p *Posts) EditDraft(ctx context.Context, user string, post int64) (Post, error) {
	draft, err := p.ByKey(ctx, user, EditDraftKey(post), "")
	if err == nil && draft.State != Draft {
		err = fault.New(fault.NotFound, "The post has no unpublished change.")
	}
	return draft, err
}

// DiscardEditDraft deletes the draft that holds the change of a post. It does nothing if there is
// no draft.
func (p *Posts) DiscardEditDraft(ctx context.Context, user string, post int64, via string) error {
	draft, err := p.EditDraft(ctx, user, post)
	if err == nil {
		_, err = p.Delete(ctx, user, draft.ID, 0, via)
	}
	if fault.CodeOf(err) == fault.NotFound {
		return nil
	}
	return err
}

// RestoreEditDraft restores the draft that was discarded with or after the deletion of a post. It does
// nothing if there is no such draft.
func (p *Posts) RestoreEditDraft(ctx context.Context, deleted Post, via string) error {
	draft, err := p.ByKey(ctx, deleted.User, EditDraftKey(deleted.ID), "")
	if err == nil && draft.State == Deleted && !draft.UndoUntil.Before(deleted.UndoUntil) {
		_, err = p.Undo(ctx, deleted.User, draft.ID, via)
	}
	if fault.CodeOf(err) == fault.NotFound {
		return nil
	}
	return err
}

// SaveOnce is like Save for a client that may repeat a request whose response was lost. If the user
// has a post with the key of e, SaveOnce changes that post to the content of e.
func (p *Posts) SaveOnce(ctx context.Context, e Edit) (Post, error) {
	post, err := p.Save(ctx, e)
	if err != nil || e.ID != 0 || e.Key == "" {
		return post, err
	}
	want := e.To
	if want == Published && (post.State == Scheduled || post.State == ForGroups) {
		want = post.State
	}
	if post.State == want && unchangedBy(ctx, p, post, e.Change) {
		return post, nil
	}
	e.ID, e.Base = post.ID, post.Revision
	return p.Save(ctx, e)
}

// saveRepeated is like SaveOnce, but returns no conflict if the draft already has the content of e,
// because then the client repeats an earlier save.
func (p *Posts) saveRepeated(ctx context.Context, e Edit) (Post, error) {
	post, err := p.SaveOnce(ctx, e)
	if fault.CodeOf(err) != fault.Conflict || e.ID == 0 {
		return post, err
	}
	if now, looking := p.Get(ctx, e.User, e.ID); looking == nil && now.State == Draft && unchangedBy(ctx, p, now, e.Change) {
		return now, nil
	}
	return post, err
}

// unchangedBy reports whether a change would leave a post unchanged.
func unchangedBy(ctx context.Context, p *Posts, post Post, change func(*Content) error) bool {
	c := post.Content.Clone()
	if change != nil && change(&c) != nil {
		return false
	}
	o, err := p.Composer(ctx, post.User)
	if err != nil {
		return false
	}
	c, _, err = o.Preview(c)
	return err == nil && reflect.DeepEqual(c, post.Content)
}
