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
	"cloudburst/internal/author/rules"
	"cloudburst/internal/fault"
	"cloudburst/internal/web/content"
	"cloudburst/internal/web/locale"
	"cloudburst/internal/web/shell"
)

// writeView is the page for writing a post.
type writeView struct {
	shell.View
	Form    postForm
	State   author.State // state of the post; "": a new post
	Wrong   wrongs
	Message string // result of the last action
	Undo    *shell.UndoBar
	Done    string // number and key of the saved post, separated by a space; write.js deletes its local copy
	Theirs  *otherVersion
	Again   *signInAgain // form to sign in; nil: the session is valid

	HTML    template.HTML // rendered preview; "": not requested
	Looked  bool
	Measure rules.Measure
	Rules   author.Composer // the author's rules for texts
	Zone    string          // time zone of the date, such as "UTC+01:00"
	Known   []author.Count
	Copy    bool // the form shows unpublished changes of the post
	Files   bool // uploads are possible
	Cards   bool // link previews are possible
	CardRow *cardRow
	Back    bool // the form has values that were not saved

	Audience audience
}

// ask is a button that opens a field of the form.
type ask struct {
	ID, Label string // ID is also the name of its icon
	Open      bool
}

// Asks lists the optional fields; a field is open if it has a value or the user opened it.
func (v writeView) Asks() []ask {
	f, w := v.Form, v.Wrong
	all := []ask{
		{"title", "Title", f.Title != "" || w.Title != ""},
		{"files", "Images, files", len(f.Files) > 0 || w.Files != ""},
		{"categories", "Categories", f.Categories != "" || w.Categories != ""},
		{"link", "Link", f.Link != "" || w.Link != ""},
	}
	if v.Cards {
		all = append(all, ask{"card", "Link preview", f.Card.URL != "" || w.Card != ""})
	}
	return append(all,
		ask{"outline", "Outline", f.Outline != "" || w.Outline != ""},
		ask{"reply", "Reply", w.Reply != "" || f.Reply.URL != "" && f.Reply.Title == ""},
		ask{"when", "Date", w.When != "" || v.State == author.Scheduled},
		ask{"language", "Language", f.Language != "" || w.Language != ""})
}

// Counted returns the number of characters left or over, in the words that write.js uses; "": not
// displayed.
func (v writeView) Counted() string {
	m := v.Measure
	switch {
	case m.Limit > 0 && m.Over:
		return v.Say("%d over", m.Characters-m.Limit)
	case m.Limit > 0:
		return v.Say("%d left", m.Limit-m.Characters)
	case v.Rules.Short == rules.ShortOff || m.Characters == 0:
		return ""
	}
	return locale.Quantity(m.Characters, "character", "characters").In(v.Lang)
}

// ShortRule returns the author's rule for short posts in words.
func (v writeView) ShortRule() string {
	switch v.Rules.Short {
	case rules.ShortOff:
		return v.Say("Short posts: no limit")
	case rules.ShortEnforce:
		return v.Say("Short posts: %d characters, enforce", v.Rules.Most)
	case rules.ShortWarn:
		return v.Say("Short posts: %d characters, warn", v.Rules.Most)
	}
	return "" // nobody is signed in
}

// EmptyCard returns an empty link preview, which write.js uses as a template.
func (v writeView) EmptyCard() cardRow { return cardRow{View: &content.CardView{}} }

// EmptyFile returns an empty file, which write.js uses as a template for new rows.
func (v writeView) EmptyFile() fileField { return fileField{} }

// wrongs contains the error messages of the form, by field.
type wrongs struct{ Title, Source, Link, Language, Categories, Files, Reply, Card, Outline, When, Audience, All string }

// field returns the error message of the field that err names. If err names no known field, it is
// the message of the text.
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
	case "card":
		return &w.Card
	case "outline":
		return &w.Outline
	case "groups":
		return &w.Audience
	case "at":
		return &w.When
	}
	return &w.Source
}

// topField returns the outermost field that err names: "enclosures" for enclosures[2].url.
func topField(err error) string {
	field := fault.FieldOf(err)
	if i := strings.IndexAny(field, ".["); i >= 0 {
		field = field[:i]
	}
	return field
}

func (w wrongs) any() bool { return w != wrongs{} }

// otherVersion is a version that was saved elsewhere in the meantime.
type otherVersion struct {
	ID      int64 // number of the post, or of the draft with its unpublished changes
	Base    int64
	Text    string
	Source  string
	HTML    template.HTML
	When    shell.Moment
	Deleted bool
}

// Changes returns the difference from the other version to the form.
func (v writeView) Changes() []change {
	var c author.Content
	if v.Theirs == nil || v.Form.apply(&c) != nil {
		return nil
	}
	return differenceOf(v.Theirs.Text, textOf(&c))
}

// writePage shows the form for a new post. The query can supply values.
func (s *Pages) writePage(rw http.ResponseWriter, r *http.Request, session account.Session) error {
	v := writeView{Form: s.newPostForm(session.User)}
	q := r.URL.Query()
	if id, err := strconv.ParseInt(q.Get("reply"), 10, 64); err == nil {
		if s.ReplyTo == nil {
			err = fault.New(fault.NotFound, "This server reads no feeds, so there is no item to reply to.")
		} else {
			v.Form.Reply, err = s.ReplyTo(r.Context(), session.User, id)
		}
		if err != nil {
			return err
		}
	}
	if to := q.Get("reply"); shell.IsWebURL(to) {
		v.Form.Reply = author.Reply{URL: shell.CleanText(to, 4096)}
		if s.ReplyToURL != nil {
			v.Form.Reply = s.ReplyToURL(r.Context(), v.Form.Reply.URL)
		}
	}
	// Another page can pass these values for a new post.
	if link := q.Get("link"); shell.IsWebURL(link) {
		v.Form.Link, v.Form.Title = shell.CleanText(link, 2048), shell.CleanText(q.Get("title"), author.MaxTitle)
	}
	v.Form.Source = cutText(q.Get("text"), maxSharedText)
	if to := shell.CleanText(q.Get("to"), author.MaxGroupSlug+1); to != "" {
		v.Form.Audience, v.Form.Groups = forGroups, []string{to}
	}
	if id, err := strconv.ParseInt(q.Get("done"), 10, 64); err == nil {
		v.Undo, v.Message, v.Done = s.undoOf(r.Context(), session.User, id, q.Get("did"), shell.TimeZone(r), s.Locale(r))
	}
	return s.showWrite(rw, r, session.User, http.StatusOK, v)
}

// maxSharedText is the maximum length of a text in the URL of the form, in bytes.
const maxSharedText = 8192

// cutText returns the first limit bytes of a text from a URL, as valid UTF-8 without NUL bytes.
// Line ends are kept.
func cutText(text string, limit int) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text[:min(len(text), limit)], ""), "\x00", "")
}

func (s *Pages) newPostForm(user string) postForm {
	return postForm{Writer: user, Key: "page-" + rand.Text()}
}

// editPage shows a post in the form.
func (s *Pages) editPage(rw http.ResponseWriter, r *http.Request, session account.Session) error {
	post, ok := s.ownPost(rw, r, session)
	if !ok {
		return nil
	}
	if of := author.EditedPost(post); of != 0 && post.State == author.Draft {
		return shell.Redirect(rw, r, "/write/"+strconv.FormatInt(of, 10))
	}
	zone := shell.TimeZone(r)
	v := writeView{State: post.State, Form: postFormOf(post, zone)}
	q := r.URL.Query()
	v.Message = cmp.Or(undoneWords(s.Locale(r), q.Get("did"), post), map[string]string{"kept": "The draft is saved.", "theirs": "This is the saved version.", "restored": "The earlier version is restored. The text that it replaced is one of the earlier versions now.",
		"restored-change": "The earlier version is restored as an unpublished change. Publish it to show it to your readers."}[q.Get("did")])
	if q.Get("did") != "" {
		v.Done = strconv.FormatInt(post.ID, 10) + " " + post.Key
	}
	if post.State.HasReaders() || post.State == author.Scheduled {
		s.showEditDraft(r.Context(), &v, post, zone)
	}
	if v.Undo, _, _ = s.undoOf(r.Context(), session.User, post.ID, "", zone, s.Locale(r)); post.State == author.Deleted && v.Undo == nil {
		v.Message = "This post is deleted. Save it as a draft or publish it to restore it."
	}
	return s.showWrite(rw, r, session.User, http.StatusOK, v)
}

// showEditDraft puts unpublished changes of a post into the form.
func (s *Pages) showEditDraft(ctx context.Context, v *writeView, post author.Post, zone *time.Location) {
	c, err := s.Posts.EditDraft(ctx, post.User, post.ID)
	if err != nil {
		return
	}
	f := postFormOf(post, zone)
	f.fill(c.Content)
	f.Copy, f.CopyBase, f.Key = c.ID, c.Revision, post.Key
	v.Form, v.Copy = f, true
	if post.UpdatedAt.After(c.UpdatedAt) { // the post was changed elsewhere since
		v.Theirs = s.other(ctx, post)
	}
}

// ownPost returns the user's post that the path names. If it returns false, the response was sent.
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

// showWrite adds the common data of the page to v.
func (s *Pages) showWrite(rw http.ResponseWriter, r *http.Request, user string, status int, v writeView) error {
	name := "Write"
	if v.Form.ID != 0 {
		name = "Edit a post"
		if v.State == author.Draft {
			name = "Draft"
		}
	}
	v.View = s.NewView(r, "")
	if v.Title = v.Say(name); v.Form.Title != "" {
		v.Title = shell.CleanText(v.Form.Title, 100)
	}
	v.Heading, v.Script, v.Files = v.Say(map[bool]string{true: "Edit the post", false: "Write"}[v.Form.ID != 0]), "write.js", s.Files != nil
	v.Form.at(shell.TimeZone(r), s.CurrentTime())
	v.Back = r.Method == http.MethodPost
	v.Zone, v.Cards = zoneWords(v.Form.Offset), s.Options.Card != nil
	v.CardRow = s.cardRowOf(r.Context(), v.Form.Card)
	v.User = user
	if user != "" { // unknown clients get no rendering
		var err error
		if v.Rules, err = s.Posts.Composer(r.Context(), user); err != nil {
			return err
		}
		// The page shows errors next to their fields.
		v.Measure, v.HTML, _ = s.measureAndPreview(r.Context(), &v.Form, user, v.Looked)
	}
	if user != "" && v.Again == nil {
		var err error
		if v.Known, err = s.Posts.Counts(r.Context(), user, author.ByCategory, "", 200); err != nil {
			return err
		}
		profile, err := s.Posts.Writer(r.Context(), user)
		if err != nil {
			return err
		}
		v.Audience = audienceOf(profile, &v.Form, v.Wrong.Audience)
	}
	if v.State == author.ForGroups { // the page has the buttons of a published post
		v.State = author.Published
	}
	s.AllowMedia(rw) // the preview can show images and play media
	return s.Render(rw, r, status, "write", v)
}

// other prepares a version that was saved elsewhere for the page.
func (s *Pages) other(ctx context.Context, post author.Post) *otherVersion {
	html, err := s.previewOf(ctx, post)
	if err != nil {
		s.Logger().Warn("the other version of a post could not be shown", "user", post.User, "post", post.ID, "err", err)
	}
	return &otherVersion{ID: post.ID, Base: post.Revision, Text: textOf(&post.Content), Source: post.Source, HTML: html, When: shell.NewMoment(s.CurrentTime(), post.UpdatedAt), Deleted: post.State == author.Deleted}
}

// undoOf returns the bar to undo the last change of a post. If the change cannot be undone any
// more, it returns a message about the last action instead. done identifies the post for write.js;
// see writeView.Done.
func (s *Pages) undoOf(ctx context.Context, user string, id int64, did string, zone *time.Location, l *locale.Locale) (bar *shell.UndoBar, doneMessage, done string) {
	doneMessage = l.Words(didWords(did))
	post, err := s.Posts.Get(ctx, user, id)
	if err != nil {
		return nil, doneMessage, ""
	}
	if did == "scheduled" && post.State == author.Scheduled {
		doneMessage = l.Say("Scheduled for %s.", l.Date(post.DueAt.In(zone), "2 January 2006, 15:04"))
	}
	if long := s.Posts.Warning(ctx, post); long != "" && (did == "published" || did == "private" || did == "changed" || did == "scheduled") {
		doneMessage += " " + long
	}
	done = strconv.FormatInt(post.ID, 10) + " " + post.Key
	if !post.UndoUntil.After(s.CurrentTime()) {
		return nil, doneMessage, done
	}
	bar = &shell.UndoBar{Action: fmt.Sprintf("/write/%d/undo", post.ID), Words: doneMessage, Until: shell.NewMoment(s.CurrentTime(), post.UndoUntil)}
	bar.Until = bar.Until.As(post.UndoUntil.In(zone).Format("15:04:05"))
	if bar.Words == "" {
		bar.Words = map[author.State]string{author.Published: "Published.", author.ForGroups: "Published for your groups.", author.Deleted: "Deleted."}[post.State]
	}
	if bar.Words == "" {
		bar.Words = "Changed."
	}
	if post.State == author.Published {
		bar.Href = s.Posts.Path(post)
	}
	return bar, "", done
}

// didWords returns the message about the action that the URL names; "": the action is unknown.
// undoOf adds details to it.
func didWords(did string) string {
	return map[string]string{
		"published": "Published.", "private": "Published for your groups only.", "public": "Published. Everyone can read the post now.", "changed": "The changes are published.", "deleted": "Deleted.", "scheduled": "Scheduled.",
		"back": "Unpublished. The post is a draft again.", "kept": "The draft is saved.",
		"dropped": "The unpublished changes are discarded.",
	}[did]
}

// zoneWords returns the name of an offset in minutes east of UTC, such as "UTC+01:00".
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

// loginAt returns the URL to sign in and return to path.
func loginAt(path string) string { return "/login?next=" + url.QueryEscape(path) }
