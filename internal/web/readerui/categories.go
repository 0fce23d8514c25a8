package readerui

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"cloudburst/internal/fault"
	"cloudburst/internal/river"
	"cloudburst/internal/web/locale"
	"cloudburst/internal/web/shell"
	"cloudburst/protocol/rsscloud"
)

type categoriesView struct {
	followView
	Rows          []categoryRow
	New, NewError string
	Public        bool // the user chose that the new category becomes public
	Problem       string
	Owner         string // name of the user in the paths of public rivers
}

type categoryRow struct {
	ID, Name    string
	Feeds       locale.Text
	Public      bool
	River       string // URL of the category in the user's river
	Feed        string // path of the public feed; "": the category is private
	Page, OPML  string
	Address     string // full URL of Page
	Rename      string // new name, as typed
	RenameError string
	Open        bool
}

// categoriesPage creates, renames, merges and publishes categories.
func (s *followPages) categoriesPage(rw http.ResponseWriter, r *http.Request, reader string, _ access) error {
	return s.showCategories(rw, r, reader, http.StatusOK, func(*categoriesView) {})
}

func (s *followPages) showCategories(rw http.ResponseWriter, r *http.Request, reader string, status int, amend func(*categoriesView)) error {
	v := categoriesView{followView: s.followView(r, "Categories"), Owner: s.ownerOf(reader)}
	all, err := s.River.Categories(r.Context(), reader, false)
	if err != nil {
		return err
	}
	for i, c := range all[:min(len(all), maxChoices)] {
		row := categoryRow{ID: "k" + strconv.Itoa(i), Name: c.Name, Feeds: locale.Quantity(c.Sources, "feed", "feeds"), Public: c.Public, Rename: c.Name,
			River: "/river?" + url.Values{"category": {c.Name}}.Encode()}
		if c.Public {
			row.Page = PublicPath(v.Owner, c.Name)
			row.Feed, row.OPML = row.Page+"/feed.xml", row.Page+"/opml"
			row.Address = s.BaseURL(r) + row.Page
		}
		v.Rows = append(v.Rows, row)
	}
	amend(&v)
	return s.Render(rw, r, status, "categories", v)
}

// showCategoryError shows the page again with the error. amend adds the typed values to the page.
func (s *followPages) showCategoryError(rw http.ResponseWriter, r *http.Request, reader string, err error, amend func(v *categoriesView, text string)) error {
	status, _ := shell.StatusOf(err)
	if status >= 500 {
		return err
	}
	shell.SetRetryAfter(rw, err)
	return s.showCategories(rw, r, reader, status, func(v *categoriesView) { amend(v, shell.Reason(err)) })
}

// doCategory creates a category.
func (s *followPages) doCategory(rw http.ResponseWriter, r *http.Request, reader string, form rsscloud.Form) error {
	name, public := strings.TrimSpace(shell.CleanText(shell.FormValue(form, "name"), maxMarks)), shell.FormValue(form, "public") == "yes"
	err := s.noSuchCategory(r, reader, name)
	if name == "" {
		err = fault.New(fault.Invalid, "Enter the name of the category.")
	}
	if err == nil {
		err = s.River.PutCategory(r.Context(), reader, name, public)
	}
	if err != nil {
		return s.showCategoryError(rw, r, reader, err, func(v *categoriesView, text string) { v.New, v.Public, v.NewError = name, public, text })
	}
	return shell.Redirect(rw, r, "/feeds/categories?done=category")
}

// noSuchCategory returns an error if the category exists, because creating it again could make a private
// category public.
func (s *followPages) noSuchCategory(r *http.Request, reader, name string) error {
	if _, there, err := s.category(r, reader, name); err != nil || !there {
		return err
	}
	return fault.New(fault.Conflict, "The category %s already exists.", name)
}

func (s *followPages) category(r *http.Request, reader, name string) (c river.Category, there bool, err error) {
	all, err := s.River.Categories(r.Context(), reader, false)
	if err != nil {
		return c, false, err
	}
	i := slices.IndexFunc(all, func(c river.Category) bool { return c.Name == name })
	if i < 0 {
		return c, false, nil
	}
	return all[i], true, nil
}

// doRenameCategory renames a category. If another category has the new name, it merges both after
// confirmation.
func (s *followPages) doRenameCategory(rw http.ResponseWriter, r *http.Request, reader string, form rsscloud.Form) error {
	from, to := shell.FormValue(form, "from"), strings.TrimSpace(shell.CleanText(shell.FormValue(form, "to"), maxMarks))
	var err error
	var other river.Category
	merges := false
	switch {
	case to == "":
		err = fault.New(fault.Invalid, "Enter the new name.")
	case to == from:
		return shell.Redirect(rw, r, "/feeds/categories")
	default:
		other, merges, err = s.category(r, reader, to)
	}
	if err == nil && merges && shell.FormValue(form, "sure") == "" {
		lines := []string{s.Locale(r).Say("The category %s already exists. It gets the feeds of %s, which is then deleted. This cannot be undone.", shell.CleanText(to, 100), shell.CleanText(from, 100))}
		if other.Public {
			lines = append(lines, s.Locale(r).Say("%s is public: anyone can then see all of these feeds.", shell.CleanText(to, 100)))
		}
		return s.AskFirst(rw, r, "Merge two categories?", shell.Question{Lines: lines, Action: r.URL.Path, Fields: []shell.NamedValue{{Name: "from", Value: from}, {Name: "to", Value: to}}, Button: "Merge", Back: "/feeds/categories"})
	}
	if err == nil {
		err = s.River.RenameCategory(r.Context(), reader, from, to)
	}
	if err != nil {
		return s.showCategoryError(rw, r, reader, err, func(v *categoriesView, text string) { v.showError(from, to, text) })
	}
	return shell.Redirect(rw, r, "/feeds/categories?done=renamed")
}

// showError puts the error next to its category.
func (v *categoriesView) showError(name, to, text string) {
	for i := range v.Rows {
		if v.Rows[i].Name == name {
			v.Rows[i].Rename, v.Rows[i].RenameError, v.Rows[i].Open = to, text, true
			return
		}
	}
	v.Problem = text
}

// doRemoveCategory deletes a category; its feeds stay.
func (s *followPages) doRemoveCategory(rw http.ResponseWriter, r *http.Request, reader string, form rsscloud.Form) error {
	name := shell.FormValue(form, "name")
	if shell.FormValue(form, "sure") == "" {
		return s.AskFirst(rw, r, s.Locale(r).Say("Delete the category %s?", shell.CleanText(name, 100)), shell.Question{Lines: []string{"Its feeds stay. A public page and feed of the category are deleted too."},
			Action: r.URL.Path, Fields: []shell.NamedValue{{Name: "name", Value: name}}, Button: "Delete", Back: "/feeds/categories"})
	}
	if err := s.River.RenameCategory(r.Context(), reader, name, ""); err != nil {
		return s.showCategoryError(rw, r, reader, err, func(v *categoriesView, text string) { v.Problem = text })
	}
	return shell.Redirect(rw, r, "/feeds/categories?done=removed")
}

// doPublicCategory makes a category public or private.
func (s *followPages) doPublicCategory(rw http.ResponseWriter, r *http.Request, reader string, form rsscloud.Form) error {
	name, public := shell.FormValue(form, "name"), shell.FormValue(form, "public") == "yes"
	_, there, err := s.category(r, reader, name)
	if err == nil && !there {
		err = fault.New(fault.NotFound, "There is no category %s any more.", shell.CleanText(name, 100))
	}
	if err == nil {
		err = s.River.PutCategory(r.Context(), reader, name, public)
	}
	if err != nil {
		return s.showCategoryError(rw, r, reader, err, func(v *categoriesView, text string) { v.showError(name, name, text) })
	}
	done := "private"
	if public {
		done = "public"
	}
	return shell.Redirect(rw, r, "/feeds/categories?done="+done)
}
