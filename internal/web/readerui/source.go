package readerui

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"

	"cloudburst/internal/fault"
	"cloudburst/internal/river"
	"cloudburst/internal/web/shell"
	"cloudburst/protocol/rsscloud"
)

// sourceView is one feed: its description, its settings, and its schedule.
type sourceView struct {
	followView
	ID      int64
	Row     sourceRow
	About   aboutSource
	Form    settingsForm
	Login   loginForm
	Private bool

	RefreshError string // why it could not be checked now
	Gone         bool
	Failing      bool
	Moved        *movedSource
	Explain      explainView
	Repaired     string // tolerated errors of the last document
	JSON         bool   // the explanation is also available as JSON
}

// HasNotes reports whether notes below explain the state in more detail.
func (v sourceView) HasNotes() bool {
	return v.Gone || len(v.Row.Badges) > 0 && v.Row.Badges[0].Text == "failing"
}

// aboutSource is the description of a feed.
type aboutSource struct {
	Address, Href string
	Description   string
	Home          string // "": none, or not safe as a link
	Format        string
	Language      string
	Items         int64
	Since         shell.Moment
	List          bool // added by a reading list
}

type movedSource struct {
	From, To, Why string
	At            shell.Moment
}

// settingsForm holds the user's settings of a feed.
type settingsForm struct {
	Title     string
	Feed      string // title that the feed declares
	Checks    []categoryCheck
	New       string
	Intervals []interval
	Error     string
}

type categoryCheck struct {
	ID, Name string
	Chosen   bool
}

// sourcePage shows one feed; with .json after its number, its explanation as JSON.
func (s *followPages) sourcePage(rw http.ResponseWriter, r *http.Request, reader string, _ access) {
	if strings.HasSuffix(r.PathValue("id"), ".json") {
		s.sourceJSON(rw, r, reader)
		return
	}
	s.showSource(rw, r, reader, http.StatusOK, func(*sourceView) {})
}

// showSource shows a feed; amend adds the result of a form.
func (s *followPages) showSource(rw http.ResponseWriter, r *http.Request, reader string, status int, amend func(*sourceView)) {
	v, err := s.sourceView(r, reader)
	if err != nil {
		s.Fail(rw, r, err)
		return
	}
	amend(&v)
	s.iconHeaders(rw)
	s.Render(rw, r, status, "source", v)
}

func (s *followPages) sourceView(r *http.Request, reader string) (v sourceView, err error) {
	id, err := sourceID(r)
	if err != nil {
		return v, err
	}
	f, err := s.followed(r.Context(), reader, id)
	if err != nil {
		return v, err
	}
	e, err := s.River.Explain(r.Context(), id)
	if err != nil {
		return v, err
	}
	categories, err := s.River.Categories(r.Context(), reader, false)
	if err != nil {
		return v, err
	}
	f.Source = e.Source
	v.Row = s.sourceRow(&f)
	_, v.Row.Why = condition(&f.Source, s.CurrentTime())
	v.Row.Why = shell.Sentence(v.Row.Why)
	v.followView = s.followView(r, v.Row.Name)
	v.Script = "feeds.js"
	v.ID, v.Private = id, f.Source.Private()
	v.About = s.aboutSource(&f)
	v.Form = settings(&f, categories)
	v.Login = loginForm{Kind: f.Source.Login.Kind, Name: shell.CleanText(f.Source.Login.Name, 200), Kinds: loginKinds()}
	v.Gone, v.Failing = f.Source.State.Gone != nil, f.Source.State.Failures > 0
	v.Repaired, v.JSON = shell.CleanText(f.Source.About.Problem, 400), s.Explained != nil
	if m, ok := lastMove(&f.Source); ok {
		v.Moved = &movedSource{shell.CleanText(withoutUser(m.From), 300), shell.CleanText(withoutUser(m.To), 300), moveWords(m.Why), shell.NewMoment(v.Now, m.At)}
	}
	v.Explain = explained(e, v.Now)
	v.Message = s.sourceMessage(r, v)
	return v, nil
}

// sourceMessage is the message about the last action on this feed.
func (s *followPages) sourceMessage(r *http.Request, v sourceView) string {
	switch r.URL.Query().Get("done") {
	case "added":
		switch n := v.About.Items; {
		case v.Row.Newest.Zero && n == 0:
			return "You follow this feed now. It has no items yet; the next one will be in your river."
		default:
			return "You follow this feed now. " + shell.FormatQuantity(n, "item of it is", "items of it are") + " in your river."
		}
	case "read":
		if len(v.Explain.Checks) > 0 {
			return "The feed was checked just now: " + shell.LowerFirst(v.Explain.Checks[0].Text)
		}
		return "The feed was checked just now."
	}
	return v.Message
}

func (s *followPages) aboutSource(f *river.Followed) aboutSource {
	src := &f.Source
	a := aboutSource{Address: shell.CleanText(withoutUser(src.URL), 2048), Description: shell.CleanText(src.About.Description, 400), Format: shell.CleanText(src.About.Format, 60),
		Language: shell.CleanText(src.About.Language, 40), Items: src.Items, Since: shell.NewMoment(s.CurrentTime(), f.AddedAt), List: f.ListID != 0}
	if shell.IsWebURL(src.URL) {
		a.Href = withoutUser(src.URL)
	}
	if shell.IsWebURL(src.About.Home) {
		a.Home = src.About.Home
	}
	return a
}

// settings returns the form with the current settings.
func settings(f *river.Followed, categories []river.Category) settingsForm {
	form := settingsForm{Title: shell.CleanText(f.Title, 300), Feed: shell.CleanText(f.Source.Name(), 200), Intervals: intervals(f.Interval)}
	form.check(categories, f.Categories)
	return form
}

// check lists the categories; the chosen ones are first if there are very many.
func (f *settingsForm) check(categories []river.Category, chosen []string) {
	names := make([]string, 0, len(categories))
	for _, c := range categories {
		names = append(names, c.Name)
	}
	for _, c := range chosen {
		if !slices.Contains(names, c) {
			names = append(names, c)
		}
	}
	if len(names) > maxChecks {
		slices.SortStableFunc(names, func(a, b string) int {
			return rankOf(slices.Contains(chosen, a)) - rankOf(slices.Contains(chosen, b))
		})
		names = names[:max(maxChecks, min(len(chosen), 100))]
	}
	for i, name := range names {
		f.Checks = append(f.Checks, categoryCheck{"s-c" + shell.FormatCount(i), name, slices.Contains(chosen, name)})
	}
}

// maxChecks limits the checkboxes of a form, because a form has at most 200 fields. Other
// categories can be typed.
const maxChecks = 120

func rankOf(first bool) int {
	if first {
		return 0
	}
	return 1
}

// doSettings saves title, categories and interval.
func (s *followPages) doSettings(rw http.ResponseWriter, r *http.Request, reader string, _ access) {
	id, form, err := readSourceForm(rw, r)
	if err != nil {
		s.Fail(rw, r, err)
		return
	}
	title := strings.TrimSpace(shell.CleanText(shell.FormValue(form, "title"), 300))
	names := categoriesOf(form)
	own := intervalOf(shell.FormValue(form, "every"))
	_, err = s.River.Change(r.Context(), reader, id, func(sub *river.Subscription) error {
		sub.Title, sub.Categories, sub.Interval = title, names, own
		return nil
	})
	if err == nil {
		http.Redirect(rw, r, SourcePath(id)+"?done=settings", http.StatusSeeOther)
		return
	}
	s.showError(rw, r, reader, err, func(v *sourceView, text string) {
		v.Form.Title, v.Form.Intervals, v.Form.Error = title, intervals(own), text
		v.Form.New = strings.TrimSpace(shell.CleanText(shell.FormValue(form, "new"), 200))
		for i := range v.Form.Checks {
			v.Form.Checks[i].Chosen = slices.Contains(names, v.Form.Checks[i].Name)
		}
	})
}

// categoriesOf returns the ticked categories of a form, and the new one.
func categoriesOf(form rsscloud.Form) (names []string) {
	for _, field := range form {
		name := strings.TrimSpace(field.Value)
		if (field.Name == "category" || field.Name == "new") && name != "" && !slices.Contains(names, name) {
			names = append(names, shell.CleanText(name, 200))
		}
	}
	slices.Sort(names)
	return names
}

func readSourceForm(rw http.ResponseWriter, r *http.Request) (int64, rsscloud.Form, error) {
	id, err := sourceID(r)
	if err != nil {
		return 0, nil, err
	}
	form, err := shell.ReadForm(rw, r)
	return id, form, err
}

// showError shows the page of a feed again with the error of a form; for an error that is not the
// user's, it shows an error page.
func (s *followPages) showError(rw http.ResponseWriter, r *http.Request, reader string, err error, amend func(v *sourceView, text string)) {
	if errors.Is(err, context.Canceled) && r.Context().Err() != nil {
		return
	}
	switch fault.CodeOf(err) {
	case fault.NotFound, fault.Internal:
		s.Fail(rw, r, err)
		return
	}
	status, _ := shell.StatusOf(err)
	s.LogFailure(r, err, status)
	shell.SetRetryAfter(rw, err)
	s.showSource(rw, r, reader, status, func(v *sourceView) { amend(v, shell.Reason(err)) })
}

// doSourceLogin saves the credentials for the feed's server. A source with a login is separate from
// the public one, so the id in the path may change.
func (s *followPages) doSourceLogin(rw http.ResponseWriter, r *http.Request, reader string, _ access) {
	id, form, err := readSourceForm(rw, r)
	if err != nil {
		s.Fail(rw, r, err)
		return
	}
	l := river.Login{Kind: shell.CleanText(shell.FormValue(form, "login"), 20), Name: strings.TrimSpace(shell.CleanText(shell.FormValue(form, "name"), 200)), Secret: shell.FormValue(form, "secret")}
	if l.Kind == "" {
		l = river.Login{}
	}
	again := func(v *sourceView, text string) { v.Login.Kind, v.Login.Name, v.Login.Error = l.Kind, l.Name, text }
	if text := loginError(l); text != "" {
		s.showSource(rw, r, reader, http.StatusBadRequest, func(v *sourceView) { again(v, text) })
		return
	}
	f, err := s.River.SetLogin(r.Context(), reader, id, l)
	if err != nil {
		s.showError(rw, r, reader, err, again)
		return
	}
	done := "?done=login"
	if l.Kind == "" {
		done = "?done=nologin"
	}
	http.Redirect(rw, r, SourcePath(f.SourceID)+done, http.StatusSeeOther)
}

// doRefresh checks a feed now.
func (s *followPages) doRefresh(rw http.ResponseWriter, r *http.Request, reader string, _ access) {
	id, _, err := readSourceForm(rw, r)
	if err == nil {
		_, err = s.followed(r.Context(), reader, id)
	}
	if err == nil {
		_, err = s.River.Refresh(r.Context(), id)
	}
	if err != nil {
		s.showError(rw, r, reader, err, func(v *sourceView, _ string) { v.RefreshError = shell.Sentence(fault.Message(err)) }) // the message has the time of the next check
		return
	}
	http.Redirect(rw, r, SourcePath(id)+"?done=read", http.StatusSeeOther)
}

// doRevive resumes checking a feed that is gone or failing.
func (s *followPages) doRevive(rw http.ResponseWriter, r *http.Request, reader string, _ access) {
	s.doToSource(rw, r, reader, "revived", s.River.Revive)
}

// doUndo undoes the move of a feed.
func (s *followPages) doUndo(rw http.ResponseWriter, r *http.Request, reader string, _ access) {
	s.doToSource(rw, r, reader, "undone", s.River.Undo)
}

func (s *followPages) doToSource(rw http.ResponseWriter, r *http.Request, reader, done string, do func(context.Context, string, int64) (river.Followed, error)) {
	id, _, err := readSourceForm(rw, r)
	if err != nil {
		s.Fail(rw, r, err)
		return
	}
	f, err := do(r.Context(), reader, id)
	if err != nil {
		s.showError(rw, r, reader, err, func(v *sourceView, text string) { v.RefreshError = text })
		return
	}
	http.Redirect(rw, r, SourcePath(f.SourceID)+"?done="+done, http.StatusSeeOther)
}

// doUnfollow unfollows a feed after confirmation.
func (s *followPages) doUnfollow(rw http.ResponseWriter, r *http.Request, reader string, _ access) {
	id, form, err := readSourceForm(rw, r)
	var f river.Followed
	if err == nil {
		f, err = s.followed(r.Context(), reader, id)
	}
	if err != nil {
		s.Fail(rw, r, err)
		return
	}
	if shell.FormValue(form, "sure") == "" {
		s.askFirst(rw, r, "Unfollow "+shell.CleanText(f.Name(), 100)+"?", shell.Question{
			Lines:  []string{"Its items leave your river; starred ones stay. You can undo this for one minute. You can follow the feed again later; only the items in the feed at that time return."},
			Action: r.URL.Path, Button: "Unfollow", Back: SourcePath(id)})
		return
	}
	if err := s.River.Remove(r.Context(), reader, id); err != nil {
		s.Fail(rw, r, err)
		return
	}
	http.Redirect(rw, r, "/feeds?done=unfollowed&feed="+strconv.FormatInt(id, 10), http.StatusSeeOther)
}

// doUndoUnfollow undoes doUnfollow.
func (s *followPages) doUndoUnfollow(rw http.ResponseWriter, r *http.Request, reader string, _ access) {
	id, _, err := readSourceForm(rw, r)
	var f river.Followed
	if err == nil {
		f, err = s.River.UndoRemove(r.Context(), reader, id)
	}
	if err != nil {
		s.Fail(rw, r, err)
		return
	}
	http.Redirect(rw, r, SourcePath(f.SourceID)+"?done=refollowed", http.StatusSeeOther)
}

// offerUnfollowUndo adds the bar that undoes doUnfollow to the next page, while that is possible.
func (s *followPages) offerUnfollowUndo(r *http.Request, reader string, v *sourcesView) {
	id, err := strconv.ParseInt(r.URL.Query().Get("feed"), 10, 64)
	if err != nil || r.URL.Query().Get("done") != "unfollowed" {
		return
	}
	until, err := s.River.Removed(r.Context(), reader, id)
	if err != nil || !until.After(v.Now) {
		return // the page shows the message only
	}
	v.Undo = &shell.UndoBar{Action: path.Join(SourcePath(id), "unfollow", "undo"), Words: v.Message, Until: shell.NewMoment(v.Now, until)}
	v.Message, v.Undo.Until.Text = "", until.In(shell.TimeZone(r)).Format("15:04:05")
}

// askFirst shows a confirmation page.
func (s *base) askFirst(rw http.ResponseWriter, r *http.Request, heading string, q shell.Question) {
	for i := range q.Fields {
		q.Fields[i].Value = shell.CleanText(q.Fields[i].Value, 2048)
	}
	s.Shell.AskQuestion(rw, r, heading, "/feeds", q)
}

// sourceJSON sends the explanation as JSON.
func (s *followPages) sourceJSON(rw http.ResponseWriter, r *http.Request, reader string) {
	if s.Explained == nil {
		s.NotFound(rw, r)
		return
	}
	id, err := sourceID(r)
	var f river.Followed
	if err == nil {
		f, err = s.followed(r.Context(), reader, id)
	}
	var e river.Explanation
	if err == nil {
		e, err = s.River.Explain(r.Context(), id)
	}
	var body []byte
	if err == nil {
		f.Source = e.Source
		body, err = json.MarshalIndent(s.Explained(&f, &e), "", "  ")
	}
	if err != nil {
		s.Fail(rw, r, err)
		return
	}
	rw.Header().Set("Content-Type", "application/json")
	_, _ = rw.Write(append(body, '\n'))
}
