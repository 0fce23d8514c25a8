package readerui

import (
	"context"
	"errors"
	"html/template"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"cloudburst/internal/fault"
	"cloudburst/internal/river"
	"cloudburst/internal/web/feedview"
	"cloudburst/internal/web/shell"
	"cloudburst/protocol/rsscloud"
)

// addForm holds the values of the form to add a feed. A secret is never written back into a page.
type addForm struct {
	URL, URLError string
	Title         string
	Category      string // chosen category, one of Categories; "": none
	New           string // name of a new category; "": none
	Categories    []string
	Every         string
	Intervals     []feedview.Interval
	Login         loginForm
	Open          bool // the optional settings are open
}

// loginForm holds the credentials for the feed's server.
type loginForm struct {
	Kind  string
	Name  string
	Kinds []loginKind
	Error string
}

type loginKind struct{ Value, Text string }

func loginKinds() []loginKind {
	return []loginKind{{"", "nothing"}, {river.LoginBasic, "name and password (Basic)"}, {river.LoginToken, "a token (Bearer)"},
		{river.LoginWSSE, "name and password (WSSE)"}, {river.LoginHeader, "a custom header"}}
}

// maxChoices limits the categories of a menu.
const maxChoices = 1000

func (s *followPages) emptyAdd(categories []river.Category) addForm {
	f := addForm{Intervals: feedview.Intervals(0), Login: loginForm{Kinds: loginKinds()}}
	for _, c := range categories[:min(len(categories), maxChoices)] {
		f.Categories = append(f.Categories, c.Name)
	}
	return f
}

// take fills in the form with the sent values, and returns the secret.
func (f *addForm) take(form rsscloud.Form) (secret string) {
	f.URL = shell.CleanText(strings.TrimSpace(shell.FormValue(form, "url")), 2048)
	f.Title = strings.TrimSpace(shell.CleanText(shell.FormValue(form, "title"), 300))
	f.Category = shell.CleanText(shell.FormValue(form, "category"), 200)
	f.New = strings.TrimSpace(shell.CleanText(shell.FormValue(form, "new"), maxMarks))
	f.Every = shell.FormValue(form, "every")
	f.Intervals = feedview.Intervals(feedview.IntervalOf(f.Every))
	f.Login.Kind, f.Login.Name = shell.CleanText(shell.FormValue(form, "login"), 20), shell.CleanText(shell.FormValue(form, "name"), 200)
	f.Open = f.Title != "" || feedview.IntervalOf(f.Every) > 0 || f.Login.Kind != ""
	return shell.FormValue(form, "secret")
}

// categories returns the chosen and the new category.
func (f *addForm) categories() (all []string) {
	for _, c := range []string{f.Category, f.New} {
		if c != "" && !slices.Contains(all, c) {
			all = append(all, c)
		}
	}
	return all
}

// bookmarklet returns a bookmark that opens the form to add a feed with the URL of the current
// page.
func bookmarklet(base string) string {
	return "javascript:location.href='" + template.JSEscapeString(base) + "/feeds/add?url='+encodeURIComponent(location.href)"
}

// BookmarkletURL returns the link to drag to the bookmarks bar. A click on it does nothing, because the
// policy of the page blocks the script.
func (v addView) BookmarkletURL() template.URL { return template.URL(v.Bookmarklet) }

// plainAddress removes the URL schemes feed: and web+feed:, with which browsers pass the URLs of
// feeds.
func plainAddress(s string) string {
	s = strings.TrimSpace(s)
	for _, scheme := range []string{"web+feed:", "feed:"} {
		if len(s) < len(scheme) || !strings.EqualFold(s[:len(scheme)], scheme) {
			continue
		}
		rest := s[len(scheme):]
		if strings.HasPrefix(rest, "//") {
			return "https:" + rest
		}
		return rest
	}
	return s
}

type addView struct {
	followView
	Add         addForm
	Choices     []choiceRow
	Bookmarklet string
	Page        string // URL of the page with the choices
	Secret      bool   // a secret was sent, and must be typed again
}

type choiceRow struct {
	ID       string
	URL      string
	Title    string
	Format   string
	Comments bool
	Chosen   bool
}

// addPage shows the form to add a feed. Parameters of the URL, for example of the bookmarklet, fill
// in the form. Only sending the form follows a feed.
func (s *followPages) addPage(rw http.ResponseWriter, r *http.Request, reader string, _ access) error {
	categories, err := s.River.Categories(r.Context(), reader, false)
	if err != nil {
		return err
	}
	v := addView{followView: s.followView(r, "Add a feed"), Add: s.emptyAdd(categories), Bookmarklet: bookmarklet(s.BaseURL(r))}
	v.Script = "feeds.js"
	q := r.URL.Query()
	v.Add.URL = shell.CleanText(plainAddress(q.Get("url")), 2048)
	v.Add.Title = strings.TrimSpace(shell.CleanText(q.Get("title"), 300))
	v.Add.Category = shell.CleanText(q.Get("category"), 200)
	v.Add.Open = v.Add.Title != ""
	return s.Render(rw, r, http.StatusOK, "sourceadd", v)
}

// doAdd follows a feed, or asks for one of several feeds of a page.
func (s *followPages) doAdd(rw http.ResponseWriter, r *http.Request, reader string, form rsscloud.Form) error {
	categories, err := s.River.Categories(r.Context(), reader, false)
	if err != nil {
		return err
	}
	v := addView{followView: s.followView(r, "Add a feed"), Add: s.emptyAdd(categories), Bookmarklet: bookmarklet(s.BaseURL(r))}
	v.Script = "feeds.js"
	secret := v.Add.take(form)
	q := river.Request{Reader: reader, URL: plainAddress(v.Add.URL), Title: v.Add.Title, Categories: v.Add.categories(), Interval: feedview.IntervalOf(v.Add.Every),
		Login: river.Login{Kind: v.Add.Login.Kind, Name: v.Add.Login.Name, Secret: secret}}
	var added river.Added
	if v.Add.URL == "" {
		err = fault.New(fault.Invalid, "Enter the address of a feed, or of a page that has one.")
	} else if v.Add.Login.Error = loginError(q.Login); v.Add.Login.Error != "" {
		v.Add.Open = true
		return s.Render(rw, r, http.StatusBadRequest, "sourceadd", v)
	} else {
		added, err = s.River.Add(r.Context(), q)
	}
	switch {
	case err != nil:
		return s.notAdded(rw, r, err, v)
	case len(added.Choices) > 0:
		return s.choose(rw, r, v, added.Choices, secret != "")
	case added.New:
		return shell.Redirect(rw, r, SourcePath(added.SourceID)+"?done=added")
	default:
		return shell.Redirect(rw, r, SourcePath(added.SourceID)+"?done=had")
	}
}

func SourcePath(id int64) string { return "/feeds/" + strconv.FormatInt(id, 10) }

// notAdded shows the form again with the error next to the URL.
func (s *followPages) notAdded(rw http.ResponseWriter, r *http.Request, err error, v addView) error {
	if errors.Is(err, context.Canceled) && r.Context().Err() != nil {
		return nil
	}
	status := s.Refused(rw, r, err)
	v.Add.URLError = shell.Reason(err)
	v.Add.Open = v.Add.Open || errors.Is(err, river.ErrNeedsLogin)
	return s.Render(rw, r, status, "sourceadd", v)
}

// loginError returns the error of incomplete credentials, "" if they are complete.
func loginError(l river.Login) string {
	switch {
	case l.Kind == "":
		return ""
	case !slices.ContainsFunc(loginKinds(), func(k loginKind) bool { return k.Value == l.Kind }):
		return "Unknown kind of login. Choose one from the menu."
	case l.Kind == river.LoginHeader && !isToken(l.Name):
		return "Enter the name of the header: letters, digits and hyphens."
	case l.Kind != river.LoginToken && l.Name == "":
		return "Enter the name that belongs to the password."
	case l.Secret == "":
		return "Enter the password or token. It is never shown again, so enter it each time."
	}
	return ""
}

// isToken reports whether s is valid as a header name.
func isToken(s string) bool {
	for _, c := range s {
		if c < '!' || c > '~' || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, c) {
			return false
		}
	}
	return s != "" && len(s) <= 100
}

// choose asks for one of several feeds of a page. The first feed without comments is preselected.
func (s *followPages) choose(rw http.ResponseWriter, r *http.Request, v addView, choices []river.Choice, secret bool) error {
	v.Heading, v.Page, v.Secret = "Choose a feed", v.Add.URL, secret
	chosen := false
	for i, c := range choices[:min(len(choices), 100)] {
		row := choiceRow{ID: "c-" + strconv.Itoa(i), URL: shell.CleanText(c.URL, 2048), Title: shell.CleanText(c.Title, 200), Format: shell.CleanText(c.Format, 60), Comments: c.Kind == "comments"}
		if !chosen && !row.Comments {
			chosen, row.Chosen = true, true
		}
		v.Choices = append(v.Choices, row)
	}
	if !chosen {
		v.Choices[0].Chosen = true
	}
	return s.Render(rw, r, http.StatusOK, "sourcechoice", v)
}
