package writerui

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"cloudburst/internal/account"
	"cloudburst/internal/author"
	"cloudburst/internal/fault"
	"cloudburst/internal/web/shell"
)

// writeView is the page on which a post is written.
type writeView struct {
	shell.View
	Form    postForm
	State   author.State // "": it is new
	Wrong   wrongs
	Message string // what was done just now
	Undo    *shell.UndoBar
	Done    string // post and key that are saved, for the script to forget what it kept of them
	Theirs  *otherVersion
	Again   *again // whoever was signed in is not any more

	HTML    template.HTML // how it will look, when that was asked for
	Looked  bool
	Measure author.Measure
	Mode    string
	Zone    string // in words
	Known   []author.Count
	Copy    bool // what stands here is a change that readers do not see yet
	Files   bool // files are kept here
	Back    bool // it is what was sent just now
}

// ask is a button under the form that opens a field.
type ask struct {
	ID, Label string
	Open      bool
}

// Asks are the fields that are there when somebody asks for them, or has filled them in.
func (v writeView) Asks() []ask {
	f, w := v.Form, v.Wrong
	return []ask{
		{"title", "Title", f.Title != "" || w.Title != ""},
		{"link", "Link", f.Link != "" || w.Link != ""},
		{"files", "Files", len(f.Files) > 0 || w.Files != ""},
		{"categories", "Categories", f.Categories != "" || w.Categories != ""},
		{"reply", "Reply", w.Reply != "" || f.Reply.URL != "" && f.Reply.Title == ""},
		{"when", "Date", w.When != "" || v.State == author.Scheduled},
		{"language", "Language", f.Language != "" || w.Language != ""},
	}
}

// Counted is how long the text is, or how much room is left, in the words of the script.
func (v writeView) Counted() string {
	m := v.Measure
	switch {
	case m.Limit > 0 && m.Over && v.Mode == author.LimitStop:
		return shell.FormatCount(m.Characters-m.Limit) + " too many: shorten it, or give it a title"
	case m.Limit > 0 && m.Over:
		return shell.FormatCount(m.Characters-m.Limit) + " over " + shell.FormatCount(m.Limit) + ": long for a post without a title"
	case m.Limit > 0:
		return shell.FormatCount(m.Limit - m.Characters)
	case v.Mode == author.LimitOff || m.Characters == 0:
		return ""
	}
	return shell.FormatQuantity(m.Characters, "character", "characters")
}

// Blank is what the script makes the rows of new files of.
func (v writeView) Blank() fileField { return fileField{} }

// wrongs are what is wrong, by the field that it stands beside.
type wrongs struct{ Title, Source, Link, Language, Categories, Files, Reply, Outline, When, All string }

// field is where the form shows what is wrong with the field that err is in; beside the
// text where err is in none.
func (w *wrongs) field(err error) *string {
	switch topField(err) {
	case "title":
		return &w.Title
	case "link":
		return &w.Link
	case "language":
		return &w.Language
	case "categories":
		return &w.Categories
	case "enclosures":
		return &w.Files
	case "reply":
		return &w.Reply
	case "outline":
		return &w.Outline
	case "at":
		return &w.When
	}
	return &w.Source
}

// topField is the outermost field that err is in: "enclosures" for enclosures[2].url.
func topField(err error) string {
	field := fault.FieldOf(err)
	if i := strings.IndexAny(field, ".["); i >= 0 {
		field = field[:i]
	}
	return field
}

func (w wrongs) any() bool { return w != wrongs{} }

// otherVersion is what was saved elsewhere while this was being written.
type otherVersion struct {
	Base    int64
	Source  string
	HTML    template.HTML
	When    shell.Moment
	Deleted bool
}

// writePage is an empty form.
func (s *Pages) writePage(rw http.ResponseWriter, r *http.Request, session account.Session) {
	v := writeView{Form: s.newPostForm(session.User)}
	q := r.URL.Query()
	if id, err := strconv.ParseInt(q.Get("reply"), 10, 64); err == nil {
		if s.ReplyTo == nil {
			err = fault.New(fault.NotFound, "No feeds are read here, so there is nothing to answer.")
		} else {
			v.Form.Reply, err = s.ReplyTo(r.Context(), session.User, id)
		}
		if err != nil {
			s.Fail(rw, r, err)
			return
		}
	}
	// What another page hands over to be written about.
	if link := q.Get("link"); shell.IsWebURL(link) {
		v.Form.Link, v.Form.Title = shell.CleanText(link, 2048), shell.CleanText(q.Get("title"), author.MaxTitle)
	}
	if id, err := strconv.ParseInt(q.Get("done"), 10, 64); err == nil {
		v.Undo, v.Message, v.Done = s.undoOf(r.Context(), session.User, id, q.Get("did"), shell.TimeZone(r))
	}
	s.showWrite(rw, r, session.User, http.StatusOK, v)
}

func (s *Pages) newPostForm(user string) postForm {
	return postForm{Writer: user, Key: "page-" + rand.Text()}
}

// editPage is a post that is there, as its author left it.
func (s *Pages) editPage(rw http.ResponseWriter, r *http.Request, session account.Session) {
	post, ok := s.ownPost(rw, r, session)
	if !ok {
		return
	}
	if of := author.EditedPost(post); of != 0 && post.State == author.Draft {
		http.Redirect(rw, r, "/write/"+strconv.FormatInt(of, 10), http.StatusSeeOther)
		return
	}
	zone := shell.TimeZone(r)
	v := writeView{State: post.State, Form: postFormOf(post, zone)}
	q := r.URL.Query()
	v.Message = cmp.Or(undoneWords(q.Get("did"), post), map[string]string{"kept": "The draft is saved.", "theirs": "This is the version that was saved."}[q.Get("did")])
	if q.Get("did") != "" {
		v.Done = strconv.FormatInt(post.ID, 10) + " " + post.Key
	}
	if post.State == author.Published || post.State == author.Scheduled {
		s.showEditDraft(r.Context(), &v, post, zone)
	}
	if v.Undo, _, _ = s.undoOf(r.Context(), session.User, post.ID, "", zone); post.State == author.Deleted && v.Undo == nil {
		v.Message = "This post is deleted. Save it as a draft, or publish it, to bring it back."
	}
	s.showWrite(rw, r, session.User, http.StatusOK, v)
}

// showEditDraft puts a change on the page that was begun before, and that readers do not see yet.
func (s *Pages) showEditDraft(ctx context.Context, v *writeView, post author.Post, zone *time.Location) {
	c, err := s.Posts.EditDraft(ctx, post.User, post.ID)
	if err != nil {
		return
	}
	f := postFormOf(post, zone)
	f.fill(c.Content)
	f.Copy, f.CopyBase, f.Key = c.ID, c.Revision, post.Key
	v.Form, v.Copy = f, true
	if post.UpdatedAt.After(c.UpdatedAt) { // it was changed elsewhere since
		v.Theirs = s.other(ctx, post)
	}
}

// ownPost is the post that the path names, of who is signed in.
func (s *Pages) ownPost(rw http.ResponseWriter, r *http.Request, session account.Session) (author.Post, bool) {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil || id <= 0 {
		s.NotFound(rw, r)
		return author.Post{}, false
	}
	post, err := s.Posts.Get(r.Context(), session.User, id)
	if fault.CodeOf(err) == fault.NotFound {
		s.NotFound(rw, r)
		return post, false
	}
	if err != nil {
		s.Fail(rw, r, err)
		return post, false
	}
	return post, true
}

// showWrite adds to v what the page always has.
func (s *Pages) showWrite(rw http.ResponseWriter, r *http.Request, user string, status int, v writeView) {
	name := "Write"
	if v.Form.ID != 0 {
		name = "Change a post"
		if v.State == author.Draft {
			name = "Draft"
		}
	}
	if v.Form.Title != "" {
		name = shell.CleanText(v.Form.Title, 100)
	}
	v.View = s.NewView(r, name, "/write")
	v.Heading, v.Script, v.Files = map[bool]string{true: "Change the post", false: "Write"}[v.Form.ID != 0], "write.js", s.Files != nil
	v.Form.at(shell.TimeZone(r), s.CurrentTime())
	v.Back = r.Method == http.MethodPost
	v.Mode, v.Zone = s.limitMode(), zoneWords(v.Form.Offset)
	v.User = user
	if user != "" { // strangers have nothing made of what they send
		// What is wrong with the form is shown beside its fields.
		v.Measure, v.HTML, _ = s.measureAndPreview(r.Context(), &v.Form, user, v.Looked)
	}
	if user != "" && v.Again == nil {
		var err error
		if v.Known, err = s.Posts.Counts(r.Context(), user, author.ByCategory, "", 200); err != nil {
			s.Fail(rw, r, err)
			return
		}
	}
	s.AllowMedia(rw) // for images and sounds in what readers see
	s.Render(rw, r, status, "write", v)
}

// limitMode is what becomes of a long short post.
func (s *Pages) limitMode() string {
	if s.LimitMode == "" {
		return author.LimitWarn
	}
	return s.LimitMode
}

// other is the version that somebody else saved.
func (s *Pages) other(ctx context.Context, post author.Post) *otherVersion {
	html, err := s.previewOf(ctx, post)
	if err != nil {
		s.Logger().Warn("the other version of a post could not be shown", "user", post.User, "post", post.ID, "err", err)
	}
	return &otherVersion{Base: post.Revision, Source: post.Source, HTML: html, When: shell.NewMoment(s.CurrentTime(), post.UpdatedAt), Deleted: post.State == author.Deleted}
}

// undoOf is the bar that undoes the last change of a post while that can be done, else what was
// done in words; and which post it is.
func (s *Pages) undoOf(ctx context.Context, user string, id int64, did string, zone *time.Location) (bar *shell.UndoBar, doneMessage, done string) {
	doneMessage = didWords(did)
	post, err := s.Posts.Get(ctx, user, id)
	if err != nil {
		return nil, doneMessage, ""
	}
	if did == "scheduled" && post.State == author.Scheduled {
		doneMessage = "Scheduled for " + post.DueAt.In(zone).Format("2 January 2006, 15:04") + "."
	}
	if long := s.Posts.Warning(post); long != "" && (did == "published" || did == "changed" || did == "scheduled") {
		doneMessage += " " + long
	}
	done = strconv.FormatInt(post.ID, 10) + " " + post.Key
	if !post.UndoUntil.After(s.CurrentTime()) {
		return nil, doneMessage, done
	}
	bar = &shell.UndoBar{Action: fmt.Sprintf("/write/%d/undo", post.ID), Words: doneMessage, Until: shell.NewMoment(s.CurrentTime(), post.UndoUntil)}
	bar.Until.Text = post.UndoUntil.In(zone).Format("15:04:05")
	if bar.Words == "" {
		bar.Words = map[author.State]string{author.Published: "Published.", author.Deleted: "Deleted."}[post.State]
	}
	if bar.Words == "" {
		bar.Words = "Changed."
	}
	if post.State == author.Published {
		bar.Href = s.Posts.Path(post)
	}
	return bar, "", done
}

// didWords is what an address may say that was done; see said.
func didWords(did string) string {
	return map[string]string{
		"published": "Published.", "changed": "The change is published.", "deleted": "Deleted.", "scheduled": "Scheduled.",
		"back": "It is a draft again; readers do not see it any more.", "kept": "The draft is saved.",
		"dropped": "The unpublished changes are discarded.",
	}[did]
}

// zoneWords names a distance from UTC.
func zoneWords(offset string) string {
	n, err := strconv.Atoi(offset)
	if err != nil || n == 0 {
		return "UTC"
	}
	sign := "+"
	if n < 0 {
		sign, n = "−", -n
	}
	return "UTC" + sign + time.Unix(int64(n)*60, 0).UTC().Format("15:04")
}

// loginAt is where one signs in to go on with what the request was for.
func loginAt(path string) string { return "/login?next=" + url.QueryEscape(path) }
