package writerui

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"cloudburst/internal/author"
	"cloudburst/internal/fault"
	"cloudburst/internal/web/shell"
)

// signInAgain is the sign-in form for a user whose session ended while writing.
type signInAgain struct{ Name, Wrong string }

// doWrite handles the form of the page. It carries out the action of the pressed button, or shows
// the form again with all its values.
func (s *Pages) doWrite(rw http.ResponseWriter, r *http.Request) error {
	rw.Header().Set("Cache-Control", "no-store")
	session, err := s.FindVisitor(r)
	if err != nil {
		return err
	}
	got, err := s.readSent(rw, r, session.User)
	if err != nil {
		return err
	}
	v := writeView{Form: readPostForm(got.fields, session.User)}
	v.Form.add(s, got.files)
	v.Wrong.Files = got.wrong
	if session.User == "" {
		return s.signedOut(rw, r, v, got)
	}
	if v.Form.Writer != session.User {
		// Another user of this browser began the form: that user's post stays unchanged.
		f := &v.Form
		v.Wrong.All = "This post was started by " + f.Writer + ", and you are signed in as " + session.User + ". Nothing was done yet. If you publish now, the post is yours."
		f.ID, f.Base, f.Copy, f.CopyBase, f.Key, f.Writer = 0, 0, 0, 0, s.newPostForm("").Key, session.User
		return s.showWrite(rw, r, session.User, http.StatusConflict, v)
	}
	if address := strings.TrimSpace(got.fields.Get("file-url")); address != "" {
		file := s.remoteFile(r.Context(), shell.CleanText(address, 4096))
		if v.Form.Files = append(v.Form.Files, file); file.Bad != "" {
			v.Wrong.Files = file.Bad
		}
	}
	return s.submit(rw, r, session.User, got, v)
}

// submit carries out the action of the pressed button.
func (s *Pages) submit(rw http.ResponseWriter, r *http.Request, user string, got *sent, v writeView) error {
	do := got.fields.Get("do")
	f := &v.Form
	if f.ID != 0 {
		post, err := s.Posts.Get(r.Context(), user, f.ID)
		if err != nil {
			return s.showSaveError(rw, r, user, v, err)
		}
		v.State = post.State
	}
	if shown, err := s.showsAgain(rw, r, user, got, &v); shown {
		return err
	}
	if err := s.checkForm(r.Context(), user, &v); err != nil {
		return s.showSaveError(rw, r, user, v, err)
	}
	if v.Wrong.any() {
		return s.showWrite(rw, r, user, http.StatusBadRequest, v)
	}
	if do == "draft" {
		err := s.saveDraft(r.Context(), user, f, true)
		if err != nil {
			return s.showSaveError(rw, r, user, v, err)
		}
		return s.redirect(rw, r, "/write/"+strconv.FormatInt(f.ID, 10)+"?did=kept")
	}
	post, did, err := s.publish(r.Context(), user, do, &v)
	if err != nil {
		return s.showSaveError(rw, r, user, v, err)
	}
	to := "/write/posts"
	if f.ID == 0 && post.State.HasReaders() || did == "published" || did == "private" {
		to = "/write"
	}
	return s.redirect(rw, r, to+"?did="+did+"&done="+strconv.FormatInt(post.ID, 10))
}

// showsAgain handles the buttons that save nothing and show the form again. It reports whether the user
// pressed one of these buttons.
func (s *Pages) showsAgain(rw http.ResponseWriter, r *http.Request, user string, got *sent, v *writeView) (shown bool, err error) {
	id := strconv.FormatInt(v.Form.ID, 10)
	do := got.fields.Get("do")
	status := http.StatusOK
	switch {
	case do == "card":
		card, err := s.readCard(r.Context(), user, &v.Form)
		if err != nil {
			v.Wrong.Card = shell.Reason(err)
		} else {
			v.Form.Card = card
		}
	case do == "merge":
		s.merge(r.Context(), user, got.fields.Get("other"), v)
	case do == "preview" || do == "file" || v.Wrong.any():
		if v.Wrong.any() {
			status = http.StatusBadRequest
		}
		v.Looked = do == "preview"
	case do == "theirs":
		s.discardDraft(r.Context(), user, v.Form.ID)
		return true, s.redirect(rw, r, "/write/"+id+"?did=theirs")
	case do == "drop":
		s.discardDraft(r.Context(), user, v.Form.ID)
		return true, s.redirect(rw, r, "/write/posts?did=dropped&done="+id)
	default:
		return false, nil
	}
	return true, s.showWrite(rw, r, user, status, *v)
}

// redirect ends a request that has changed data with the page that shows the result. The script
// receives the path in JSON and navigates itself; a redirect would load that page twice.
func (s *Pages) redirect(rw http.ResponseWriter, r *http.Request, path string) error {
	if r.Header.Get("Accept") == "application/json" {
		sendAnswer(rw, http.StatusOK, editorResponse{OK: true, Path: path})
		return nil
	}
	return shell.Redirect(rw, r, path)
}

// publish handles the buttons that change the published post.
func (s *Pages) publish(ctx context.Context, user, do string, v *writeView) (author.Post, string, error) {
	f := &v.Form
	at, err := f.moment()
	if err != nil {
		return author.Post{}, "", err
	}
	e := author.Edit{User: user, ID: f.ID, Base: f.Base, Key: f.Key, Via: "write", Change: f.apply, To: author.Published, At: at}
	did := "published"
	switch {
	case do == "now": // publish at once, even if the post was scheduled
		e.At = s.CurrentTime()
	case do == "back":
		e.To, e.At, did = author.Draft, time.Time{}, "back"
	case v.State == author.Scheduled && f.When == "" && f.Was != "": // the date was cleared
		e.At = s.CurrentTime()
	case v.State == author.Scheduled && at.IsZero():
		e.To, did = author.Scheduled, "scheduled"
	case v.State.HasReaders():
		did = "changed"
	}
	post, err := s.Posts.SaveOnce(ctx, e)
	if err != nil {
		return post, "", err
	}
	switch {
	case post.State == author.Scheduled:
		did = "scheduled"
	case post.State == author.ForGroups && v.State != author.ForGroups:
		did = "private"
	case post.State == author.Published && v.State == author.ForGroups:
		did = "public"
	}
	if f.ID != 0 {
		s.discardDraft(ctx, user, f.ID)
	}
	return post, did, nil
}

// saveDraft saves the form as a draft and puts into the form the revision that the next save must
// name. asked reports that the author requested the save.
func (s *Pages) saveDraft(ctx context.Context, user string, f *postForm, asked bool) error {
	d, err := s.Posts.SaveDraft(ctx, author.DraftEdit{User: user, Via: "write", Asked: asked, ID: f.ID, Base: f.Base, Draft: f.Copy, DraftBase: f.CopyBase, Key: f.Key, Change: f.apply})
	f.ID, f.Base, f.Copy, f.CopyBase = d.ID, d.Base, d.Draft, d.DraftBase
	return err
}

// discardDraft deletes unpublished changes after they were published or discarded.
func (s *Pages) discardDraft(ctx context.Context, user string, id int64) {
	if err := s.Posts.DiscardEditDraft(ctx, user, id, "write"); err != nil {
		s.Logger().Warn("delete the draft of a change", "user", user, "post", id, "err", err)
	}
}

// showSaveError shows the form again with the error. After a conflict, the page shows both
// versions.
func (s *Pages) showSaveError(rw http.ResponseWriter, r *http.Request, user string, v writeView, err error) error {
	status := s.Refused(rw, r, err)
	text := shell.Reason(err)
	switch code := fault.CodeOf(err); {
	case (code == fault.Conflict || code == fault.Gone || code == fault.NotFound) && v.Form.ID != 0 && s.loadOtherVersion(r.Context(), user, &v):
	case code == fault.NotFound: // the page offers to save the text as a new post
		v.Wrong.All = "The post does not exist any more, but your text is still here. Save it as a new post."
		v.Form.ID, v.Form.Base, v.Form.Key, v.State = 0, 0, s.newPostForm("").Key, ""
	case code == fault.Invalid:
		*v.Wrong.field(err) = text
	default:
		v.Wrong.All = text
	}
	return s.showWrite(rw, r, user, status, v)
}

// loadOtherVersion puts the version saved elsewhere next to the form, if there is one. The next
// save replaces that version, because the user has seen both versions.
func (s *Pages) loadOtherVersion(ctx context.Context, user string, v *writeView) bool {
	post, err := s.Posts.Get(ctx, user, v.Form.ID)
	if err != nil {
		return false
	}
	v.State = post.State
	if v.Form.Base != post.Revision || post.State == author.Deleted {
		v.Theirs = s.other(ctx, post)
		v.Form.Base = post.Revision
		return true
	}
	c, err := s.Posts.EditDraft(ctx, user, post.ID)
	if err != nil || c.Revision == v.Form.CopyBase {
		return false
	}
	v.Theirs = s.other(ctx, c)
	v.Form.Copy, v.Form.CopyBase = c.ID, c.Revision
	return true
}

// merge puts the content of the other version into the form; see merged for the text. The other
// version supplies title, link and outline only if the form has none.
func (s *Pages) merge(ctx context.Context, user, other string, v *writeView) {
	id, err := strconv.ParseInt(other, 10, 64)
	if err != nil {
		return
	}
	post, err := s.Posts.Get(ctx, user, id)
	if err != nil || post.ID != v.Form.ID && author.EditedPost(post) != v.Form.ID {
		v.Wrong.All = "The other version does not exist any more. Your text is unchanged."
		return
	}
	f := &v.Form
	var theirs postForm
	theirs.fill(post.Content)
	f.Source = merged(f.Source, theirs.Source)
	f.Title, f.Link, f.Outline = cmp.Or(f.Title, theirs.Title), cmp.Or(f.Link, theirs.Link), cmp.Or(f.Outline, theirs.Outline)
	if theirs.Categories != "" {
		f.Categories = strings.Trim(f.Categories+", "+theirs.Categories, ", ")
	}
	for _, file := range theirs.Files {
		if !slices.ContainsFunc(f.Files, func(o fileField) bool { return o.URL == file.URL }) {
			f.Files = append(f.Files, file)
		}
	}
	v.Message = "Both texts are in the box: different lines are after each other, those of the other version first. Edit them, then save."
}

// checkForm checks each field separately, so that the page can show errors next to fields.
func (s *Pages) checkForm(ctx context.Context, user string, v *writeView) error {
	composer, err := s.Posts.Composer(ctx, user)
	if err != nil {
		return err
	}
	f, w := &v.Form, &v.Wrong
	var c author.Content
	if err := f.apply(&c); err != nil {
		w.Outline = shell.Reason(err)
		return nil
	}
	wrong := func(c author.Content) string {
		if _, _, err := composer.Preview(c); err != nil {
			return shell.Reason(err)
		}
		return ""
	}
	w.Title = wrong(author.Content{Title: c.Title})
	w.Source = wrong(author.Content{Source: c.Source, Format: c.Format})
	w.Link = wrong(author.Content{Link: c.Link})
	w.Categories = wrong(author.Content{Categories: c.Categories})
	w.Files = wrong(author.Content{Enclosures: c.Enclosures})
	w.Reply = wrong(author.Content{Reply: c.Reply})
	w.Outline = wrong(author.Content{Outline: c.Outline})
	w.Language = wrong(author.Content{Language: c.Language})
	w.Audience = f.checkAudience()
	if _, err := f.moment(); err != nil {
		w.When = shell.Reason(err)
	}
	if !w.any() { // each field is valid, but the whole content is not
		w.Source = wrong(c)
	}
	return nil
}

// signedOut handles a form whose session has ended. The page keeps all values and has a form to
// sign in. If the request has a name or a password, signedOut tries to sign the user in.
func (s *Pages) signedOut(rw http.ResponseWriter, r *http.Request, v writeView, got *sent) error {
	name, password := shell.CleanText(strings.TrimSpace(got.fields.Get("name")), 64), got.fields.Get("password")
	if name == "" && password == "" {
		v.Again = &signInAgain{Name: v.Form.Writer}
		return s.showWrite(rw, r, "", http.StatusUnauthorized, v)
	}
	user, err := s.Accounts.Check(r.Context(), name, password, s.CallerOf(r))
	if err == nil {
		err = s.SignIn(rw, r, user)
	}
	if err != nil {
		status := s.Refused(rw, r, err)
		v.Again = &signInAgain{Name: name, Wrong: shell.Reason(err)}
		return s.showWrite(rw, r, "", status, v)
	}
	if v.Form.Writer != user.Name {
		v.Form.ID, v.Form.Base, v.Form.Copy, v.Form.CopyBase, v.Form.Writer = 0, 0, 0, 0, user.Name
	}
	if post, err := s.Posts.Get(r.Context(), user.Name, v.Form.ID); err == nil && v.Form.ID != 0 {
		v.State = post.State
	}
	v.Message = "You are signed in again, and your text is complete."
	return s.showWrite(rw, r, user.Name, http.StatusOK, v)
}
