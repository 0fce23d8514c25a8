// Package filterui has the pages of filters. A filter is a rule that hides, marks, stars or forwards new
// items of a user. Start with [Pages].
package filterui

import (
	"context"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"

	"cloudburst/internal/fault"
	"cloudburst/internal/fetch"
	"cloudburst/internal/river"
	"cloudburst/internal/river/filter"
	"cloudburst/internal/river/forward"
	"cloudburst/internal/route"
	"cloudburst/internal/web/locale"
	"cloudburst/internal/web/shell"
)

const filtersPath = "/feeds/filters"

// River is the interface to the aggregator for the pages; river.River implements it.
type River interface {
	Filters() *filter.Filters
	Subscriptions(ctx context.Context, q river.SubscriptionQuery) ([]river.Followed, error)
	Categories(ctx context.Context, reader string, unread bool) ([]river.Category, error)
	Forwardings(ctx context.Context, reader string) ([]forward.Forwarding, error)
}

// Options configure the pages. All fields must be set.
type Options struct {
	River River
	shell.ReaderRoutes
}

// Pages has the pages of filters.
type Pages struct {
	*shell.Shell
	Options
}

// New builds the pages.
func New(sh *shell.Shell, o Options) *Pages { return &Pages{sh, o} }

// pageView is the common data of the pages.
type pageView struct {
	shell.View
	Message string
}

func (s *Pages) pageView(r *http.Request, title string) pageView {
	return pageView{View: s.NewView(r, title), Message: map[string]string{
		"filter":          "Saved. The filter applies to new items.",
		"filter-applied":  "Saved. The filter applies to new items, and is now applied to existing items.",
		"filter-on":       "The filter is on.",
		"filter-off":      "The filter is off. Items that it hid stay hidden.",
		"filter-restored": "Undone: the filter is back.",
		"shown":           "The items are in the river again, as read.",
	}[r.URL.Query().Get("done")]}
}

// Routes lists the pages.
func (s *Pages) Routes() (all []route.Route) {
	all = append(all, s.Own(filtersPath, "The filters of the reader.", s.filtersPage),
		s.Own(filtersPath+"/new", "The form for a new filter.", s.newFilterPage),
		s.Own(filtersPath+"/edit", "One filter, and the items that it hides.", s.editFilterPage))
	for _, f := range []struct {
		path, purpose string
		do            shell.ReaderPage
	}{
		{"save", "Saves a filter, or shows which items it would match.", s.doSaveFilter},
		{"switch", "Turns a filter on or off.", s.doSwitchFilter},
		{"move", "Makes a filter run earlier or later.", s.doMoveFilter},
		{"delete", "Deletes a filter.", s.doDeleteFilter},
		{"undo", "Restores a deleted filter.", s.doUndoFilter},
		{"show", "Shows items again that a filter hides.", s.doShowHidden},
	} {
		all = append(all, s.Form(path.Join(filtersPath, f.path), f.purpose, f.do))
	}
	return all
}

type filtersView struct {
	pageView
	Undo *shell.UndoBar
	Rows []filterRow
}

// filterRow is a filter in the list.
type filterRow struct {
	ID          string
	Name        string
	Scope, Does string
	When        []string // conditions of the filter, in words
	Off         bool
	Matched     locale.Text
	Last        shell.Moment
	Applying    string // progress of applying the filter to existing items; "": not in progress
	First       bool
	Final       bool
}

// filtersPage lists the filters.
func (s *Pages) filtersPage(rw http.ResponseWriter, r *http.Request, reader string) error {
	v := filtersView{pageView: s.pageView(r, "Filters")}
	all, err := s.River.Filters().List(r.Context(), reader)
	var names filterNames
	if err == nil {
		names, err = s.names(r.Context(), reader, all)
	}
	names.lang = v.Lang
	if err != nil {
		return err
	}
	for i := range all {
		row := s.filterRow(&all[i], names)
		row.First, row.Final = i == 0, i == len(all)-1
		v.Rows = append(v.Rows, row)
	}
	q := r.URL.Query()
	if id, err := strconv.ParseInt(q.Get("id"), 10, 64); err == nil && q.Get("done") == "deleted" {
		v.Undo = &shell.UndoBar{Action: filtersPath + "/undo", Words: "Filter deleted.", Until: shell.NewMoment(v.Now, v.Now.Add(river.UndoWithin)),
			Fields: []shell.NamedValue{{Name: "id", Value: strconv.FormatInt(id, 10)}}}
		v.Undo.Until = v.Undo.Until.As(v.Now.Add(river.UndoWithin).In(shell.TimeZone(r)).Format("15:04:05"))
	}
	return s.Render(rw, r, http.StatusOK, "filters", v)
}

// filterNames has the names of the feeds and categories that filters refer to.
type filterNames struct {
	lang     *locale.Locale
	sources  map[int64]string
	forwards map[int64]string
	menus    menus
}

// menus has the choices of the menus of a form.
type menus struct {
	Categories []string
	Sources    []choice
	More       bool // Sources has only the feeds that existing filters name, because the user follows too many
	Targets    []choice
}

type choice struct{ Value, Text string }

// Limits of the menus.
const (
	maxSources    = 100
	maxCategories = 500
)

// names loads the names for filters, and the menus of their forms.
func (s *Pages) names(ctx context.Context, reader string, all []filter.Rule) (n filterNames, err error) {
	if err = s.sources(ctx, reader, all, &n); err != nil {
		return n, err
	}
	categories, err := s.River.Categories(ctx, reader, false)
	if err != nil {
		return n, err
	}
	for _, c := range categories[:min(len(categories), maxCategories)] {
		n.menus.Categories = append(n.menus.Categories, c.Name)
	}
	forwardings, err := s.River.Forwardings(ctx, reader)
	n.forwards = map[int64]string{}
	for _, f := range forwardings {
		target := f.Target
		if f.Via != forward.ViaEmail {
			target = fetch.Redact(target)
		}
		n.forwards[f.ID] = shell.CleanText(target, 60)
		n.menus.Targets = append(n.menus.Targets, choice{strconv.FormatInt(f.ID, 10), n.forwards[f.ID]})
	}
	return n, err
}

// sources loads the names of all followed feeds. If there are too many, it loads only the names of feeds
// that filters refer to.
func (s *Pages) sources(ctx context.Context, reader string, all []filter.Rule, n *filterNames) error {
	list, err := s.River.Subscriptions(ctx, river.SubscriptionQuery{Reader: reader, Limit: maxSources + 1})
	if err != nil {
		return err
	}
	n.sources = map[int64]string{}
	if n.menus.More = len(list) > maxSources; n.menus.More {
		list = nil
		for i := range all {
			id := all[i].SourceID
			if _, done := n.sources[id]; id == 0 || done {
				continue
			}
			n.sources[id] = ""
			one, err := s.River.Subscriptions(ctx, river.SubscriptionQuery{Reader: reader, SourceID: id, Limit: 1})
			if err != nil {
				return err
			}
			list = append(list, one...)
		}
	}
	for i := range list {
		f := &list[i]
		n.sources[f.SourceID] = shell.CleanText(f.Name(), 100)
		n.menus.Sources = append(n.menus.Sources, choice{strconv.FormatInt(f.SourceID, 10), n.sources[f.SourceID]})
	}
	return nil
}

func (s *Pages) filterRow(f *filter.Rule, names filterNames) filterRow {
	row := filterRow{ID: strconv.FormatInt(f.ID, 10), Name: shell.CleanText(f.Name, filter.MaxName), Off: f.Off, Scope: scopeText(f, names), Does: actionsText(f, names),
		Matched: locale.Quantity(f.Matched, "match", "matches"), Last: shell.NewMoment(s.CurrentTime(), f.LastAt)}
	for _, c := range f.Conditions {
		row.When = append(row.When, conditionText(names.lang, c))
	}
	if f.Applying {
		row.Applying = names.lang.Say("Being applied to existing items: %s compared so far.", locale.Quantity(f.Applied, "item", "items"))
	}
	return row
}

func scopeText(f *filter.Rule, names filterNames) string {
	switch {
	case f.SourceID != 0 && names.sources[f.SourceID] != "":
		return names.sources[f.SourceID]
	case f.SourceID != 0:
		return names.lang.Words("a feed that you do not follow any more")
	case f.Category != "":
		return names.lang.Say("category %s", shell.CleanText(f.Category, 100))
	}
	return names.lang.Words("all feeds")
}

// actionsText describes the actions of a filter: "Mark read and star".
func actionsText(f *filter.Rule, names filterNames) string {
	var do []string
	for _, a := range []struct {
		on   bool
		text string
	}{{f.Hide, "hide"}, {f.Read && !f.Hide, "mark read"}, {f.Star, "star"}} {
		if a.on {
			do = append(do, names.lang.Words(a.text))
		}
	}
	if f.Forward != 0 {
		to := names.forwards[f.Forward]
		if to == "" {
			to = names.lang.Words("a deleted forwarding")
		}
		do = append(do, names.lang.Say("forward to %s", to))
	}
	text := names.lang.Join(do)
	return strings.ToUpper(text[:min(1, len(text))]) + text[min(1, len(text)):]
}

func fieldChoices() []choice {
	return []choice{{filter.Any, "Title or text"}, {filter.Title, "Title"}, {filter.Text, "Text"}, {filter.Author, "Author"}, {filter.Category, "Category of the item"}, {filter.Link, "Link"}}
}

func opChoices() []choice {
	return []choice{{filter.Word, "has the word"}, {filter.Contains, "contains"}, {filter.Regexp, "matches the pattern"},
		{"not-" + filter.Word, "does not have the word"}, {"not-" + filter.Contains, "does not contain"}, {"not-" + filter.Regexp, "does not match the pattern"}}
}

func choiceText(list []choice, value string) string {
	if i := slices.IndexFunc(list, func(k choice) bool { return k.Value == value }); i >= 0 {
		return list[i].Text
	}
	return value
}

// conditionText describes a condition: "Title has the word rain or snow".
func conditionText(l *locale.Locale, c filter.Condition) string {
	op := c.Op
	if c.Not {
		op = "not-" + op
	}
	var values []string
	for _, v := range c.Values[:min(len(c.Values), 5)] {
		values = append(values, l.Say("“%s”", shell.CleanText(v, 80)))
	}
	text := l.Words(choiceText(fieldChoices(), c.Field)) + " " + l.Words(choiceText(opChoices(), op)) + " " + strings.Join(values, " "+l.Words("or")+" ")
	if n := len(c.Values) - len(values); n > 0 {
		text += " " + l.Say("or %d more", n)
	}
	return text
}

// filter returns the filter of the reader that a form or URL names.
func (s *Pages) filter(ctx context.Context, reader, id string) (filter.Rule, error) {
	all, err := s.River.Filters().List(ctx, reader)
	for i := range all {
		if strconv.FormatInt(all[i].ID, 10) == id {
			return all[i], err
		}
	}
	if err == nil {
		err = fault.New(fault.NotFound, "This filter does not exist any more.")
	}
	return filter.Rule{}, err
}

// formFilter returns the filter that the form of a row names. If that fails, it sends an error page.
func (s *Pages) formFilter(rw http.ResponseWriter, r *http.Request, reader string) (f filter.Rule, value func(name string) string, ok bool) {
	form, err := shell.ReadForm(rw, r)
	if err == nil {
		f, err = s.filter(r.Context(), reader, shell.FormValue(form, "id"))
	}
	if err != nil {
		s.Fail(rw, r, err)
		return f, nil, false
	}
	return f, func(name string) string { return shell.FormValue(form, name) }, true
}

// afterFilter redirects to the list with query, unless err is set. It returns err.
func (s *Pages) afterFilter(rw http.ResponseWriter, r *http.Request, err error, query string) error {
	if err != nil {
		return err
	}
	return shell.Redirect(rw, r, filtersPath+query)
}

func (s *Pages) doSwitchFilter(rw http.ResponseWriter, r *http.Request, reader string) error {
	f, _, ok := s.formFilter(rw, r, reader)
	if !ok {
		return nil
	}
	f.Off, f.Applying = !f.Off, false
	_, err := s.River.Filters().Put(r.Context(), f)
	done := "?done=filter-on"
	if f.Off {
		done = "?done=filter-off"
	}
	return s.afterFilter(rw, r, err, done)
}

func (s *Pages) doMoveFilter(rw http.ResponseWriter, r *http.Request, reader string) error {
	if f, value, ok := s.formFilter(rw, r, reader); ok {
		return s.afterFilter(rw, r, s.River.Filters().Move(r.Context(), reader, f.ID, value("to") == "down"), "")
	}
	return nil
}

func (s *Pages) doDeleteFilter(rw http.ResponseWriter, r *http.Request, reader string) error {
	if f, _, ok := s.formFilter(rw, r, reader); ok {
		return s.afterFilter(rw, r, s.River.Filters().Drop(r.Context(), reader, f.ID), "?done=deleted&id="+strconv.FormatInt(f.ID, 10))
	}
	return nil
}

func (s *Pages) doUndoFilter(rw http.ResponseWriter, r *http.Request, reader string) error {
	form, err := shell.ReadForm(rw, r)
	if err != nil {
		return err
	}
	id, err := strconv.ParseInt(shell.FormValue(form, "id"), 10, 64)
	if err != nil {
		return fault.New(fault.NotFound, "This filter does not exist any more.")
	}
	return s.afterFilter(rw, r, s.River.Filters().Restore(r.Context(), reader, id), "?done=filter-restored")
}

// doShowHidden shows one hidden item again, or all hidden items that the page of the filter lists.
func (s *Pages) doShowHidden(rw http.ResponseWriter, r *http.Request, reader string) error {
	form, err := shell.ReadForm(rw, r)
	if err != nil {
		return err
	}
	f, err := s.filter(r.Context(), reader, shell.FormValue(form, "id"))
	var ids []int64
	for _, field := range form {
		if id, bad := strconv.ParseInt(field.Value, 10, 64); field.Name == "item" && bad == nil {
			ids = append(ids, id)
		}
	}
	if err == nil {
		err = s.River.Filters().Show(r.Context(), reader, ids)
	}
	return s.afterFilter(rw, r, err, "/edit?done=shown&id="+strconv.FormatInt(f.ID, 10))
}
