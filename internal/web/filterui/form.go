package filterui

import (
	"net/http"
	"strconv"
	"strings"

	"cloudburst/internal/fault"
	"cloudburst/internal/river"
	"cloudburst/internal/river/filter"
	"cloudburst/internal/web/locale"
	"cloudburst/internal/web/shell"
	"cloudburst/protocol/rsscloud"
)

// filterView is the form of one filter, with its preview and the items that it hides.
type filterView struct {
	pageView
	ID         string // ID of the filter; "": a new filter
	Form       filterForm
	Menus      menus
	Fields     []choice
	Ops        []choice
	Preview    *previewView
	Hidden     []hiddenRow
	HiddenText string
}

// filterForm holds the values of the form as the user typed them, and the errors next to them.
type filterForm struct {
	Name, NameError       string
	What, WhatError       string // filtered items: "" for all, "c:" and a category, or "s:" and the ID of a feed
	Rows                  []conditionRow
	Hide, Read, Star      bool
	Forward, ForwardError string
	ActionsError, Error   string
	Apply                 bool
}

// conditionRow is one line of conditions.
type conditionRow struct {
	N         int // index of the line, from 0
	Field, Op string
	Values    string // values of the condition, one per line
	Error     string
}

// previewView contains the existing items that a filter matches.
type previewView struct {
	Text string
	Rows []hiddenRow
}

// hiddenRow is an item in a list of matches.
type hiddenRow struct {
	ID          string
	Title, Feed string
	Href        string
	At          shell.Moment
}

// Number returns the number of the line as people count, from 1.
func (c conditionRow) Number() int { return c.N + 1 }

// fillRows adds empty lines of conditions: at least one, unless the limit of conditions is reached.
func (f *filterForm) fillRows() {
	for n := min(max(len(f.Rows)+1, 2), filter.MaxConditions); len(f.Rows) < n; {
		f.Rows = append(f.Rows, conditionRow{Field: filter.Any, Op: filter.Word})
	}
	for i := range f.Rows {
		f.Rows[i].N = i
	}
}

func formOf(f *filter.Rule) filterForm {
	form := filterForm{Name: f.Name, Hide: f.Hide, Read: f.Read, Star: f.Star}
	switch {
	case f.SourceID != 0:
		form.What = "s:" + strconv.FormatInt(f.SourceID, 10)
	case f.Category != "":
		form.What = "c:" + f.Category
	}
	if f.Forward != 0 {
		form.Forward = strconv.FormatInt(f.Forward, 10)
	}
	for _, c := range f.Conditions {
		op := c.Op
		if c.Not {
			op = "not-" + op
		}
		form.Rows = append(form.Rows, conditionRow{Field: c.Field, Op: op, Values: strings.Join(c.Values, "\n")})
	}
	return form
}

// newFilterPage shows the form for a new filter. The query may name its feed or category.
func (s *Pages) newFilterPage(rw http.ResponseWriter, r *http.Request, reader string) error {
	form := filterForm{}
	if id := r.URL.Query().Get("source"); id != "" {
		form.What = "s:" + shell.CleanText(id, 30)
	} else if name := r.URL.Query().Get("category"); name != "" {
		form.What = "c:" + shell.CleanText(name, 200)
	}
	return s.showFilter(rw, r, reader, http.StatusOK, &filterView{pageView: s.pageView(r, "New filter"), Form: form})
}

// editFilterPage shows one filter and the items that it hides.
func (s *Pages) editFilterPage(rw http.ResponseWriter, r *http.Request, reader string) error {
	f, err := s.filter(r.Context(), reader, r.URL.Query().Get("id"))
	if err != nil {
		return err
	}
	v := &filterView{pageView: s.pageView(r, "Filter"), ID: strconv.FormatInt(f.ID, 10), Form: formOf(&f)}
	if f.Hide {
		list, err := s.River.Filters().Hidden(r.Context(), reader, f.ID)
		if err != nil {
			return err
		}
		v.Hidden = s.matchRows(list)
		v.HiddenText = "The filter hides these items. They count as read."
		if len(list) == 0 {
			v.HiddenText = "The filter hides no items now."
		}
	}
	return s.showFilter(rw, r, reader, http.StatusOK, v)
}

func (s *Pages) matchRows(list []river.Entry) (rows []hiddenRow) {
	now := s.CurrentTime()
	for i := range list {
		e := &list[i]
		row := hiddenRow{ID: strconv.FormatInt(e.ID, 10), Title: shell.CleanText(e.Title, 200), Feed: shell.CleanText(e.Source.Title, 100), At: shell.NewMoment(now, e.At)}
		if row.Title == "" {
			row.Title = shell.CleanText(e.Text, 120)
		}
		if row.Title == "" {
			row.Title = "Untitled"
		}
		if shell.IsWebURL(e.Link) {
			row.Href = e.Link
		}
		rows = append(rows, row)
	}
	return rows
}

func (s *Pages) showFilter(rw http.ResponseWriter, r *http.Request, reader string, status int, v *filterView) error {
	id, _ := strconv.ParseInt(strings.TrimPrefix(v.Form.What, "s:"), 10, 64)
	names, err := s.names(r.Context(), reader, []filter.Rule{{SourceID: id}})
	if err != nil {
		return err
	}
	v.Menus, v.Fields, v.Ops = names.menus, fieldChoices(), opChoices()
	v.Form.fillRows()
	return s.Render(rw, r, status, "filter", v)
}

// readFilter reads the form.
func readFilter(form rsscloud.Form, reader string) (f filter.Rule, typed filterForm, err error) {
	value := func(name string, n int) string {
		return strings.TrimSpace(shell.CleanText(shell.FormValue(form, name), n))
	}
	typed = filterForm{Name: value("name", 2*filter.MaxName), What: value("what", 210), Hide: value("hide", 5) != "", Read: value("read", 5) != "", Star: value("star", 5) != "",
		Forward: value("forward", 30), Apply: value("apply", 5) != ""}
	f = filter.Rule{Reader: reader, Name: typed.Name, Actions: filter.Actions{Hide: typed.Hide, Read: typed.Read, Star: typed.Star}}
	f.Applying = typed.Apply
	for i := range filter.MaxConditions {
		n := strconv.Itoa(i)
		row := conditionRow{Field: value("field"+n, 20), Op: value("op"+n, 20), Values: strings.ReplaceAll(shell.FormValue(form, "values"+n), "\r\n", "\n")}
		if row.Values = strings.TrimSpace(row.Values); row.Values == "" {
			continue
		}
		typed.Rows = append(typed.Rows, row)
		op, not := strings.CutPrefix(row.Op, "not-")
		f.Conditions = append(f.Conditions, filter.Condition{Field: row.Field, Op: op, Not: not, Values: strings.Split(row.Values, "\n")})
	}
	kind, rest, _ := strings.Cut(typed.What, ":")
	switch kind {
	case "c":
		f.Category = rest
	case "s":
		if f.SourceID, err = strconv.ParseInt(rest, 10, 64); err != nil {
			return f, typed, fault.In(fault.New(fault.Invalid, "Choose a feed from the menu."), "source")
		}
	}
	if typed.Forward != "" {
		if f.Forward, err = strconv.ParseInt(typed.Forward, 10, 64); err != nil {
			return f, typed, fault.In(fault.New(fault.Invalid, "Choose a forwarding from the menu."), "forward")
		}
	}
	return f, typed, nil
}

// showError puts an error next to its field.
func (f *filterForm) showError(err error) {
	text, field := shell.Reason(err), fault.FieldOf(err)
	f.fillRows()
	switch field {
	case "name":
		f.NameError = text
	case "source", "category":
		f.WhatError = text
	case "forward":
		f.ForwardError = text
	case "actions":
		f.ActionsError = text
	case "conditions":
		f.Rows[0].Error = text
	default:
		if n, err := strconv.Atoi(strings.TrimPrefix(field[:min(len(field), 12)], "conditions[")); err == nil && n < len(f.Rows) {
			f.Rows[n].Error = text
			return
		}
		f.Error = text
	}
}

// doSaveFilter saves a filter, or shows the page again with a preview.
func (s *Pages) doSaveFilter(rw http.ResponseWriter, r *http.Request, reader string) error {
	form, err := shell.ReadForm(rw, r)
	if err != nil {
		return err
	}
	f, typed, err := readFilter(form, reader)
	v := &filterView{pageView: s.pageView(r, "New filter"), ID: shell.CleanText(shell.FormValue(form, "id"), 30), Form: typed}
	if v.ID != "" {
		old, missing := s.filter(r.Context(), reader, v.ID)
		if missing != nil {
			return missing
		}
		f.ID, f.Off, v.Heading = old.ID, old.Off, "Filter"
	}
	preview := shell.FormValue(form, "do") == "preview"
	if err == nil && !preview {
		if f, err = s.River.Filters().Put(r.Context(), f); err == nil {
			done := "?done=filter"
			if f.Applying {
				done = "?done=filter-applied"
			}
			return shell.Redirect(rw, r, filtersPath+done)
		}
	}
	var found filter.Preview
	if err == nil {
		found, err = s.River.Filters().Preview(r.Context(), f)
	}
	if err != nil {
		status := s.Refused(rw, r, err)
		v.Form.showError(err)
		return s.showFilter(rw, r, reader, status, v)
	}
	v.Preview = &previewView{Text: previewText(s.Locale(r), &found), Rows: s.matchRows(found.Matched)}
	return s.showFilter(rw, r, reader, http.StatusOK, v)
}

func previewText(l *locale.Locale, p *filter.Preview) string {
	if p.Compared == 0 {
		return l.Words("There are no items yet to compare with.")
	}
	of := locale.Quantity(int64(p.Compared), "item", "items")
	if len(p.Matched) == 0 {
		return l.Say("The filter would have matched none of the last %s.", of)
	}
	return l.Say("The filter would have matched %d of the last %s. Nothing is saved yet.", len(p.Matched), of)
}
