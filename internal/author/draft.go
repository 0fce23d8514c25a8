package author

import (
	"context"
	"reflect"
	"regexp"
	"strconv"

	"cloudburst/internal/fault"
)

// EditDraftKey is the key of the draft that holds a change of a published or scheduled post.
// The change is a draft of its own, so the post stays as it is until the change is published.
func EditDraftKey(post int64) string { return "edit-" + strconv.FormatInt(post, 10) }

var editDraftForm = regexp.MustCompile(`^edit-([1-9][0-9]{0,17})$`)

// EditedPost is the post whose change the draft p holds; 0: p is no such draft.
func EditedPost(p Post) int64 {
	m := editDraftForm.FindStringSubmatch(p.Key)
	if m == nil {
		return 0
	}
	n, _ := strconv.ParseInt(m[1], 10, 64) // it is a number
	return n
}

// DraftEdit is a text that its author has not published yet.
type DraftEdit struct {
	User, Via string
	ID, Base  int64 // of the post and of the revision that the text began with; 0: the post is new
	// Draft and DraftBase are the same of the draft that holds a change of a published post. 0: none
	// is known yet.
	Draft, DraftBase int64
	Key              string // of a new post, see [Post].Key
	Change           func(c *Content) error
}

// SaveDraft saves a text where only its author sees it. A new text becomes a draft, the text of a
// draft changes the draft, and a change of a published or scheduled post becomes a draft beside
// the post, see [EditDraftKey]. The result is d with the numbers and revisions that the next save
// must name. Repeating a save whose answer was lost is no conflict.
func (p *Posts) SaveDraft(ctx context.Context, d DraftEdit) (DraftEdit, error) {
	e := Edit{User: d.User, Via: d.Via, NoUndo: true, Change: d.Change, To: Draft}
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
	if post.State != Published && post.State != Scheduled {
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
		e.ID, e.Base, e.Key = 0, 0, EditDraftKey(d.ID) // the draft was discarded meanwhile
	}
	draft, err := p.saveRepeated(ctx, e)
	if err == nil {
		d.Draft, d.DraftBase = draft.ID, draft.Revision
	}
	return d, err
}

// EditDraft is the draft that holds a change of a post. fault.NotFound: there is none.
func (p *Posts) EditDraft(ctx context.Context, user string, post int64) (Post, error) {
	draft, err := p.ByKey(ctx, user, EditDraftKey(post), "")
	if err == nil && draft.State != Draft {
		err = fault.New(fault.NotFound, "The post has no change that is not published.")
	}
	return draft, err
}

// DiscardEditDraft deletes the draft that holds a change of a post, if there is one.
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

// SaveOnce is Save for a client that may repeat a request because it lost the answer: where the
// same key has made a new post before, SaveOnce changes that post to what e says.
func (p *Posts) SaveOnce(ctx context.Context, e Edit) (Post, error) {
	post, err := p.Save(ctx, e)
	if err != nil || e.ID != 0 || e.Key == "" {
		return post, err
	}
	want := e.To
	if want == Published && post.State == Scheduled {
		want = post.State
	}
	if post.State == want && unchangedBy(p, post, e.Change) {
		return post, nil
	}
	e.ID, e.Base = post.ID, post.Revision
	return p.Save(ctx, e)
}

// saveRepeated is SaveOnce, and no conflict where the draft is already as e would make it: then
// the client repeats a save, and nobody else has changed anything.
func (p *Posts) saveRepeated(ctx context.Context, e Edit) (Post, error) {
	post, err := p.SaveOnce(ctx, e)
	if fault.CodeOf(err) != fault.Conflict || e.ID == 0 {
		return post, err
	}
	if now, looking := p.Get(ctx, e.User, e.ID); looking == nil && now.State == Draft && unchangedBy(p, now, e.Change) {
		return now, nil
	}
	return post, err
}

// unchangedBy reports that a post is as a change would make it.
func unchangedBy(p *Posts, post Post, change func(*Content) error) bool {
	c := post.Content.clone()
	if change != nil && change(&c) != nil {
		return false
	}
	c, _, err := p.Preview(c)
	return err == nil && reflect.DeepEqual(c, post.Content)
}
