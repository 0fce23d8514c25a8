package readerui

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"cloudburst/internal/fault"
	"cloudburst/internal/river"
	"cloudburst/internal/web/feedview"
	"cloudburst/internal/web/locale"
	"cloudburst/internal/web/shell"
	"cloudburst/protocol/rsscloud"
)

// sourceView is a page of one feed: its items, its settings, or its diagnosis.
type sourceView struct {
	followView
	ID      int64
	Part    sourcePart
	Tabs    []categoryLink
	Row     sourceRow
	Live    bool // a hub pushes changes of the feed
	About   aboutSource
	Private bool
	Why     string // the state in one sentence; "": nothing is wrong
	Items   []sourceItem
	More    bool // there are more items
	Stars   int
	Form    settingsForm
	Login   loginForm

	RefreshError string // error of a check or of another action that the user requested
	Gone         bool
	Failing      bool
	Moved        *movedSource
	Explain      feedview.Explanation
	Repaired     string // errors of the last document that the parser tolerated
	JSON         bool   // the explanation is also available as JSON
}

// sourcePart is one of the pages about a feed.
type sourcePart string

// The pages about a feed, as in their URLs.
const (
	partItems     sourcePart = "items" // the page at the URL of the feed itself
	partSettings  sourcePart = "settings"
	partDiagnosis sourcePart = "diagnosis"
)

// label returns the text of a tab.
func (p sourcePart) label() string {
	switch p {
	case partSettings:
		return "Settings"
	case partDiagnosis:
		return "Diagnosis"
	}
	return "Items"
}

// partPath returns the URL of a page about a feed.
func partPath(id int64, part sourcePart) string {
	if part == partItems {
		return SourcePath(id)
	}
	return SourcePath(id) + "/" + string(part)
}

// sourceItem is an item of the feed in a list.
type sourceItem struct {
	Href, Title   string
	When          shell.Moment
	Read, Starred bool
}

const (
	itemsOnPage = 30
	countedTo   = 1000 // maximum number of starred items that are counted
)

// aboutSource is the description of a feed.
type aboutSource struct {
	Address, Href string
	Description   string
	Home          string // website of the feed; "": none, or not safe as a link
	Format        string
	Language      string
	Items         int64
	Since         shell.Moment
	List          bool // a reading list added the feed
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
	Intervals []feedview.Interval
	FullText  bool
	Error     string
}

type categoryCheck struct {
	ID, Name string
	Chosen   bool
}

// sourcePage shows the items of a feed; with .json after its number, its explanation as JSON.
func (s *followPages) sourcePage(rw http.ResponseWriter, r *http.Request, reader string, _ access) error {
	if strings.HasSuffix(r.PathValue("id"), ".json") {
		return s.sourceJSON(rw, r, reader)
	}
	return s.showSource(rw, r, reader, partItems, http.StatusOK, func(*sourceView) {})
}

// sourcePartPage shows the settings or the diagnosis of a feed.
func (s *followPages) sourcePartPage(rw http.ResponseWriter, r *http.Request, reader string, _ access) error {
	switch part := sourcePart(r.PathValue("part")); part {
	case partSettings, partDiagnosis:
		return s.showSource(rw, r, reader, part, http.StatusOK, func(*sourceView) {})
	case partItems:
		return shell.Redirect(rw, r, "/feeds/"+r.PathValue("id"))
	default:
		return s.NotFound(rw, r)
	}
}

// showSource shows a page about a feed; amend adds the result of a form.
func (s *followPages) showSource(rw http.ResponseWriter, r *http.Request, reader string, part sourcePart, status int, amend func(*sourceView)) error {
	v, err := s.sourceView(r, reader, part)
	if err != nil {
		return err
	}
	amend(&v)
	s.iconHeaders(rw)
	return s.Render(rw, r, status, "source", v)
}

func (s *followPages) sourceView(r *http.Request, reader string, part sourcePart) (v sourceView, err error) {
	id, err := sourceID(r)
	if err != nil {
		return v, err
	}
	list, err := s.River.Subscriptions(r.Context(), river.SubscriptionQuery{Reader: reader, SourceID: id, Next: true, Unread: part == partItems, Limit: 1})
	if err != nil {
		return v, err
	}
	if len(list) == 0 {
		return v, notFollowed()
	}
	f := &list[0]
	v.Row = s.sourceRow(f)
	title := v.Row.Name
	if part != partItems {
		title += ": " + s.Locale(r).Words(string(part))
	}
	v.followView = s.followView(r, title)
	v.Heading, v.ID, v.Part, v.Private = v.Row.Name, id, part, f.Source.Private()
	for _, p := range []sourcePart{partItems, partSettings, partDiagnosis} {
		v.Tabs = append(v.Tabs, categoryLink{Name: p.label(), Href: partPath(id, p), Here: p == part})
	}
	v.About, v.Live = s.aboutSource(f), f.Source.State.Push.Live(v.Now)
	_, why := feedview.Condition(&f.Source, v.Now)
	v.Why = shell.Sentence(why)
	v.Gone, v.Failing = f.Source.State.Gone != nil, f.Source.State.Failures > 0
	if m, ok := feedview.LastMove(&f.Source); ok {
		v.Moved = &movedSource{shell.CleanText(feedview.WithoutUser(m.From), 300), shell.CleanText(feedview.WithoutUser(m.To), 300), feedview.MoveWords(m.Why), shell.NewMoment(v.Now, m.At)}
	}
	switch part {
	case partItems:
		err = s.addItems(r.Context(), reader, &v)
	case partSettings:
		err = s.addSettings(r.Context(), f, &v)
	case partDiagnosis:
		err = s.addDiagnosis(r.Context(), f, &v)
	}
	if err == nil {
		v.Message = s.sourceMessage(r, v)
	}
	return v, err
}

// addItems adds the newest items of the feed.
func (s *followPages) addItems(ctx context.Context, reader string, v *sourceView) error {
	list, err := s.River.Items(ctx, river.ItemQuery{Reader: reader, SourceID: v.ID, Limit: itemsOnPage + 1})
	if err != nil {
		return err
	}
	if len(list) > itemsOnPage {
		list, v.More = list[:itemsOnPage], true
	}
	for i := range list {
		e := &list[i]
		at := e.Published
		if at.IsZero() {
			at = e.At
		}
		it := sourceItem{Href: "/river/item/" + strconv.FormatInt(e.ID, 10), When: shell.NewMoment(v.Now, at), Read: e.Read, Starred: e.Starred}
		for _, t := range []string{e.Title, e.Text, e.Link, "Untitled item"} {
			if it.Title = strings.TrimSpace(shell.CleanText(t, 140)); it.Title != "" {
				break
			}
		}
		v.Items = append(v.Items, it)
	}
	starred, err := s.River.Items(ctx, river.ItemQuery{Reader: reader, SourceID: v.ID, Starred: true, Bare: true, Limit: countedTo})
	v.Stars = len(starred)
	return err
}

// addSettings adds the form with the current settings.
func (s *followPages) addSettings(ctx context.Context, f *river.Followed, v *sourceView) error {
	categories, err := s.River.Categories(ctx, f.Reader, false)
	v.Form = settings(f, categories)
	v.Login = loginForm{Kind: f.Source.Login.Kind, Name: shell.CleanText(f.Source.Login.Name, 200), Kinds: loginKinds()}
	return err
}

// addDiagnosis adds the schedule, the last checks and the hubs of the feed.
func (s *followPages) addDiagnosis(ctx context.Context, f *river.Followed, v *sourceView) error {
	e, err := s.River.Explain(ctx, f.SourceID)
	if err != nil {
		return err
	}
	v.Wide = true
	v.Row.Next = feedview.NextOf(e.Next, v.Now)
	v.Repaired, v.JSON = shell.CleanText(e.Source.About.Problem, 400), s.Explained != nil
	v.Explain = feedview.Explain(e, v.Now, v.Lang)
	return nil
}

// sourceMessage returns the message about the last action on this feed.
func (s *followPages) sourceMessage(r *http.Request, v sourceView) string {
	switch r.URL.Query().Get("done") {
	case "added":
		if n := v.About.Items; n > 0 || !v.Row.Newest.Zero {
			return v.Say("You follow this feed now. %s in your river.", locale.Quantity(n, "item is", "items are"))
		}
		return "You follow this feed now. It has no items yet; the next one will be in your river."
	case "read":
		e, err := s.River.Explain(r.Context(), v.ID)
		if err != nil || len(e.Checks) == 0 {
			return "The feed was checked just now."
		}
		return v.Say("The feed was checked just now: %s", shell.LowerFirst(shell.Sentence(v.Say(e.Checks[0].Text))))
	}
	return v.Message
}

func (s *base) aboutSource(f *river.Followed) aboutSource {
	src := &f.Source
	a := aboutSource{Address: shell.CleanText(feedview.WithoutUser(src.URL), 2048), Description: shell.CleanText(src.About.Description, 400), Format: shell.CleanText(src.About.Format, 60),
		Language: shell.CleanText(src.About.Language, 40), Items: src.Items, Since: shell.NewMoment(s.CurrentTime(), f.AddedAt), List: f.ListID != 0}
	if shell.IsWebURL(src.URL) {
		a.Href = feedview.WithoutUser(src.URL)
	}
	if shell.IsWebURL(src.About.Home) {
		a.Home = src.About.Home
	}
	return a
}

// settings returns the form with the current settings.
func settings(f *river.Followed, categories []river.Category) settingsForm {
	form := settingsForm{Title: shell.CleanText(f.Title, 300), Feed: shell.CleanText(f.Source.Name(), 200), Intervals: feedview.Intervals(f.Interval), FullText: f.FullText}
	form.check(categories, f.Categories)
	return form
}

// check lists the categories as checkboxes. If there are more than maxChecks, the chosen categories
// are first, and the list is cut.
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

// doSettings saves the title, the categories, the interval and the choice of the full text.
func (s *followPages) doSettings(rw http.ResponseWriter, r *http.Request, reader string, _ access) error {
	id, form, err := readSourceForm(rw, r)
	if err != nil {
		return err
	}
	title := strings.TrimSpace(shell.CleanText(shell.FormValue(form, "title"), 300))
	names := categoriesOf(form)
	own := feedview.IntervalOf(shell.FormValue(form, "every"))
	full := shell.FormValue(form, "full") != ""
	_, err = s.River.Change(r.Context(), reader, id, func(sub *river.Subscription) error {
		sub.Title, sub.Categories, sub.Interval, sub.FullText = title, names, own, full
		return nil
	})
	if err == nil {
		return shell.Redirect(rw, r, partPath(id, partSettings)+"?done=settings")
	}
	return s.showError(rw, r, reader, partSettings, err, func(v *sourceView, text string) {
		v.Form.Title, v.Form.Intervals, v.Form.FullText, v.Form.Error = title, feedview.Intervals(own), full, text
		v.Form.New = strings.TrimSpace(shell.CleanText(shell.FormValue(form, "new"), maxMarks))
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
			names = append(names, shell.CleanText(name, maxMarks))
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

// showError shows the page of a feed again with the error of a form. For fault.NotFound and
// fault.Internal it shows an error page.
func (s *followPages) showError(rw http.ResponseWriter, r *http.Request, reader string, part sourcePart, err error, amend func(v *sourceView, text string)) error {
	if errors.Is(err, context.Canceled) && r.Context().Err() != nil {
		return nil
	}
	switch fault.CodeOf(err) {
	case fault.NotFound, fault.Internal:
		return err
	}
	status := s.Refused(rw, r, err)
	return s.showSource(rw, r, reader, part, status, func(v *sourceView) { amend(v, shell.Reason(err)) })
}

// doSourceLogin saves the credentials for the feed's server. A feed with a login is a separate
// source, so the id in the path can change.
func (s *followPages) doSourceLogin(rw http.ResponseWriter, r *http.Request, reader string, _ access) error {
	id, form, err := readSourceForm(rw, r)
	if err != nil {
		return err
	}
	l := river.Login{Kind: shell.CleanText(shell.FormValue(form, "login"), 20), Name: strings.TrimSpace(shell.CleanText(shell.FormValue(form, "name"), 200)), Secret: shell.FormValue(form, "secret")}
	if l.Kind == "" {
		l = river.Login{}
	}
	again := func(v *sourceView, text string) { v.Login.Kind, v.Login.Name, v.Login.Error = l.Kind, l.Name, text }
	if text := loginError(l); text != "" {
		return s.showSource(rw, r, reader, partSettings, http.StatusBadRequest, func(v *sourceView) { again(v, text) })
	}
	f, err := s.River.SetLogin(r.Context(), reader, id, l)
	if err != nil {
		return s.showError(rw, r, reader, partSettings, err, again)
	}
	done := "?done=login"
	if l.Kind == "" {
		done = "?done=nologin"
	}
	return shell.Redirect(rw, r, partPath(f.SourceID, partSettings)+done)
}

// doRefresh checks a feed now, and returns to the page with the button.
func (s *followPages) doRefresh(rw http.ResponseWriter, r *http.Request, reader string, _ access) error {
	id, form, err := readSourceForm(rw, r)
	part := partItems
	if shell.FormValue(form, "part") == string(partDiagnosis) {
		part = partDiagnosis
	}
	if err == nil {
		_, err = s.followed(r.Context(), reader, id)
	}
	if err == nil {
		_, err = s.River.Refresh(r.Context(), id)
	}
	if err != nil {
		return s.showError(rw, r, reader, part, err, func(v *sourceView, _ string) { v.RefreshError = shell.Sentence(fault.Message(err)) }) // the message names the time of the next check
	}
	return shell.Redirect(rw, r, partPath(id, part)+"?done=read")
}

// doRevive resumes checking a feed that is gone or failing.
func (s *followPages) doRevive(rw http.ResponseWriter, r *http.Request, reader string, _ access) error {
	return s.doToSource(rw, r, reader, "revived", s.River.Revive)
}

// doUndo undoes the move of a feed.
func (s *followPages) doUndo(rw http.ResponseWriter, r *http.Request, reader string, _ access) error {
	return s.doToSource(rw, r, reader, "undone", s.River.Undo)
}

func (s *followPages) doToSource(rw http.ResponseWriter, r *http.Request, reader, done string, do func(context.Context, string, int64) (river.Followed, error)) error {
	id, _, err := readSourceForm(rw, r)
	if err != nil {
		return err
	}
	f, err := do(r.Context(), reader, id)
	if err != nil {
		return s.showError(rw, r, reader, partItems, err, func(v *sourceView, text string) { v.RefreshError = text })
	}
	return shell.Redirect(rw, r, SourcePath(f.SourceID)+"?done="+done)
}

// sourceJSON sends the explanation as JSON.
func (s *followPages) sourceJSON(rw http.ResponseWriter, r *http.Request, reader string) error {
	if s.Explained == nil {
		return s.NotFound(rw, r)
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
		return err
	}
	rw.Header().Set("Content-Type", "application/json")
	_, _ = rw.Write(append(body, '\n'))
	return nil
}
