package authorui

import (
	"context"
	"html/template"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"cloudburst/internal/account"
	"cloudburst/internal/author"
	"cloudburst/internal/fault"
	"cloudburst/internal/route"
	"cloudburst/internal/web/shell"
)

// Paths of the settings of an author's page.
const (
	designPath  = "/account/author/design"
	previewPath = "/account/author/preview"
	pagesPath   = "/account/author/pages"
)

// maxDesignForm and maxPageForm are the maximum sizes of the forms in bytes. Percent-encoding can
// triple the size of a text.
const (
	maxDesignForm = 3*(64<<10) + shell.FormOverhead
	maxPageForm   = 3*author.MaxPageSource + shell.FormOverhead
)

// Routes lists the routes of the authors' stylesheets and of the settings of the authors' pages.
func (s *Pages) Routes() []route.Route {
	if s.Site == nil {
		return nil
	}
	get, form := s.UserRoute, s.FormRoute
	all := []route.Route{{Method: http.MethodGet, Path: "/static/author/{user}/{file}", Handler: s.Handle(s.styleFile), Purpose: "The stylesheet that an author wrote, named after its content."}}
	if s.Sessions == nil {
		return all
	}
	return append(append(all, s.domainRoutes()...),
		get(designPath, "The theme, the colour and the stylesheet of the author's page.", s.designPage),
		form(designPath, maxDesignForm, "Previews, publishes or discards a look of the author's page.", s.doDesign),
		get(previewPath, "The author's page in a look that is not published.", s.previewPage),
		get(pagesPath, "The pages of the author that are not posts, and the pinned post.", s.pagesPage),
		form(pagesPath, shell.FormOverhead, "Pins a post to the top of the author's page.", s.doPin),
		get(pagesPath+"/{slug}", "The editor of a page of the author.", s.editPage),
		form(pagesPath+"/{slug}", maxPageForm, "Previews, saves or deletes a page of the author.", s.doPage),
	)
}

// readForm reads a form of at most maxPageForm bytes. The route of the form can have a lower limit.
func readForm(rw http.ResponseWriter, r *http.Request) (url.Values, error) {
	r.Body = http.MaxBytesReader(rw, r.Body, maxPageForm)
	if err := r.ParseForm(); err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "The form is too large or arrived incomplete. Nothing was done. Go back and send it again.")
	}
	return r.PostForm, nil
}

// siteTabs returns the tabs of the settings of an author's page. path is the path of the current
// tab.
func (s *Pages) siteTabs(path string) []menuItem {
	all := []menuItem{{Title: "Profile", Href: "/account/author"}, {Title: "Design", Href: designPath}, {Title: "Pages", Href: pagesPath}}
	if s.Domains != nil {
		all = append(all, menuItem{Title: "Domain", Href: domainPath})
	}
	for i := range all {
		all[i].Current = all[i].Href == path
	}
	return all
}

type designView struct {
	shell.View
	SiteTabs []menuItem
	Message  string
	Designs  []designChoice
	Drafted  bool // the form shows a draft, a look that is not published
	Tinted   bool
	Accent   string
	Theme    string
	CSS      string

	DesignWrong, AccentWrong, CSSWrong, AllWrong string
}

type designChoice struct {
	Value              author.Design
	Class, Label, Note string
	Chosen             bool
}

// designChoices lists the themes as choices of the form.
func designChoices(chosen author.Design) []designChoice {
	all := []designChoice{
		{Value: "", Class: "paper", Label: "Paper", Note: "warm and quiet"},
		{Value: "journal", Class: "journal", Label: "Journal", Note: "a book page, with serifs"},
		{Value: "plain", Class: "plain", Label: "Plain", Note: "text and nothing else"},
		{Value: "gazette", Class: "gazette", Label: "Gazette", Note: "a front page in black and white"},
		{Value: "terminal", Class: "terminal", Label: "Terminal", Note: "one width for all letters"},
		{Value: "garden", Class: "garden", Label: "Garden", Note: "soft green, round shapes"},
	}
	for i := range all {
		all[i].Chosen = all[i].Value == chosen
	}
	return all
}

func designMessages() map[string]string {
	return map[string]string{"saved": "Saved. Your page has the new look.", "discarded": "Discarded. Your page looks as before."}
}

// designPage shows the form for the look of the author's page, with the draft if there is one.
func (s *Pages) designPage(rw http.ResponseWriter, r *http.Request, session account.Session) error {
	w, err := s.Posts.Writer(r.Context(), session.User)
	if err != nil {
		return err
	}
	look, v := w.Look(), designView{Message: designMessages()[r.URL.Query().Get("done")]}
	if w.Page.Draft != nil {
		look, v.Drafted = *w.Page.Draft, true
	}
	if v.CSS, err = s.Site.StyleSource(r.Context(), session.User, look); err != nil {
		return err
	}
	return s.showDesign(rw, r, http.StatusOK, look, v)
}

func (s *Pages) showDesign(rw http.ResponseWriter, r *http.Request, status int, l author.Look, v designView) error {
	v.View, v.SiteTabs = s.NewView(r, "Design"), s.siteTabs(designPath)
	v.Designs, v.Tinted, v.Theme, v.Accent = designChoices(l.Design), l.Accent != "", l.Theme, l.Accent
	if v.Accent == "" {
		v.Accent = "#0a6496"
	}
	return s.Render(rw, r, status, "sitedesign", v)
}

// doDesign previews, saves, publishes or discards a look.
func (s *Pages) doDesign(rw http.ResponseWriter, r *http.Request, session account.Session) error {
	form, err := readForm(rw, r)
	if err != nil {
		return err
	}
	w, err := s.Posts.Writer(r.Context(), session.User)
	if err != nil {
		return err
	}
	look := lookOf(form)
	css := form.Get("css")
	switch form.Get("do") {
	case "discard":
		look = w.Look()
		css, err = s.Site.StyleSource(r.Context(), session.User, look)
	case "publish":
		if w.Page.Draft == nil {
			return shell.Redirect(rw, r, designPath)
		}
		look = *w.Page.Draft
		css, err = s.Site.StyleSource(r.Context(), session.User, look)
	}
	draft := form.Get("do") == "preview"
	if err == nil {
		_, err = s.Site.SetLook(r.Context(), session.User, look, css, draft, "write")
	}
	switch {
	case err != nil:
		return s.failDesign(rw, r, look, css, err)
	case draft:
		return shell.Redirect(rw, r, previewPath)
	case form.Get("do") == "discard":
		return shell.Redirect(rw, r, designPath+"?done=discarded")
	default:
		return shell.Redirect(rw, r, designPath+"?done=saved")
	}
}

func lookOf(form url.Values) author.Look {
	one := func(name string) string { return shell.CleanText(strings.TrimSpace(form.Get(name)), 40) }
	l := author.Look{Design: author.Design(one("design")), Accent: one("accent"), Theme: one("theme")}
	if form.Get("tinted") == "" {
		l.Accent = ""
	}
	return l
}

// failDesign shows the form with the error next to its field.
func (s *Pages) failDesign(rw http.ResponseWriter, r *http.Request, l author.Look, css string, err error) error {
	status := s.Refused(rw, r, err)
	v := designView{CSS: css}
	at := &v.AllWrong
	switch fault.FieldOf(err) {
	case "design":
		at = &v.DesignWrong
	case "accent":
		at = &v.AccentWrong
	case "css":
		at = &v.CSSWrong
	}
	*at = shell.Reason(err)
	return s.showDesign(rw, r, status, l, v)
}

// previewPage shows the author's page in the look that is not published.
func (s *Pages) previewPage(rw http.ResponseWriter, r *http.Request, session account.Session) error {
	path := author.View{User: session.User}.Base()
	return s.postListPage(rw, r.WithContext(context.WithValue(r.Context(), previewKey{}, true)), postList{User: session.User, Path: path})
}

type pagesView struct {
	shell.View
	SiteTabs []menuItem
	Message  string
	Pages    []author.Page
	Posts    []pinChoice
	PinWrong string
}

type pinChoice struct {
	Number int64
	Title  string
	Chosen bool
}

// pinChoices is the maximum number of posts in the menu of posts to pin.
const pinChoices = 50

// pagesPage lists the pages of the user.
func (s *Pages) pagesPage(rw http.ResponseWriter, r *http.Request, session account.Session) error {
	return s.showPages(rw, r, http.StatusOK, session.User, "")
}

func (s *Pages) showPages(rw http.ResponseWriter, r *http.Request, status int, user, wrong string) error {
	messages := map[string]string{"saved": "Saved.", "deleted": "Deleted.", "pinned": "Saved. Your page shows the change."}
	v := pagesView{View: s.NewView(r, "Pages"), SiteTabs: s.siteTabs(pagesPath), Message: messages[r.URL.Query().Get("done")], PinWrong: wrong}
	w, err := s.Posts.Writer(r.Context(), user)
	if err == nil {
		v.Pages, err = s.Site.Pages(r.Context(), user)
	}
	var posts []author.Post
	if err == nil {
		posts, err = s.Posts.List(r.Context(), author.PostQuery{User: user, State: author.Published, Limit: pinChoices})
	}
	var pinned *author.Post
	if err == nil {
		pinned, err = s.pinned(r.Context(), w)
	}
	if err != nil {
		return err
	}
	for i, t := range s.titles(posts) {
		v.Posts = append(v.Posts, pinChoice{posts[i].ID, t.Title, posts[i].ID == w.Page.Pinned})
		if posts[i].ID == w.Page.Pinned {
			pinned = nil
		}
	}
	if pinned != nil { // the pinned post is older than all listed posts, so add it
		v.Posts = append(v.Posts, pinChoice{pinned.ID, s.titles([]author.Post{*pinned})[0].Title, true})
	}
	return s.Render(rw, r, status, "sitepages", v)
}

// doPin pins a post.
func (s *Pages) doPin(rw http.ResponseWriter, r *http.Request, session account.Session) error {
	form, err := readForm(rw, r)
	if err != nil {
		return err
	}
	id, err := strconv.ParseInt(form.Get("pin"), 10, 64)
	if err != nil || id < 0 {
		err = fault.New(fault.Invalid, "Choose a post of the list.")
	} else {
		err = s.Site.Pin(r.Context(), session.User, id, "write")
	}
	if err != nil {
		status, _ := shell.StatusOf(err)
		s.LogFailure(r, err, status)
		return s.showPages(rw, r, status, session.User, shell.Reason(err))
	}
	return shell.Redirect(rw, r, pagesPath+"?done=pinned")
}

type pageView struct {
	shell.View
	SiteTabs []menuItem
	Was      string // slug of the page before the change; "": the page is new
	Page     author.Page
	Preview  template.HTML

	TitleWrong, SlugWrong, SourceWrong, AllWrong string
}

// newSlug identifies a page that is not stored yet; it cannot be the slug of a page.
const newSlug = "new"

// editPage shows the editor of a page.
func (s *Pages) editPage(rw http.ResponseWriter, r *http.Request, session account.Session) error {
	v := pageView{Page: author.Page{InMenu: true}}
	if slug := r.PathValue("slug"); slug != newSlug {
		p, err := s.Site.Page(r.Context(), session.User, slug)
		if err != nil {
			return err
		}
		v.Was, v.Page = slug, p
	}
	return s.showEditor(rw, r, http.StatusOK, v)
}

func (s *Pages) showEditor(rw http.ResponseWriter, r *http.Request, status int, v pageView) error {
	title := "Edit a page"
	if v.Was == "" {
		title = "Add a page"
	}
	v.View, v.SiteTabs = s.NewView(r, title), s.siteTabs(pagesPath)
	return s.Render(rw, r, status, "sitepage", v)
}

// doPage previews, saves or deletes a page.
func (s *Pages) doPage(rw http.ResponseWriter, r *http.Request, session account.Session) error {
	form, err := readForm(rw, r)
	if err != nil {
		return err
	}
	v := pageView{Was: r.PathValue("slug")}
	if v.Was == newSlug {
		v.Was = ""
	}
	place, _ := strconv.ParseInt(strings.TrimSpace(form.Get("place")), 10, 32) // text that is not a number counts as 0
	v.Page = author.Page{User: session.User, Slug: shell.CleanText(strings.TrimSpace(form.Get("slug")), 100), Title: shell.CleanText(form.Get("title"), 1000),
		Source: form.Get("source"), Place: place, InMenu: form.Get("menu") != ""}
	done := "saved"
	switch do := form.Get("do"); {
	case do == "delete" && v.Was != "" && form.Get("sure") == "":
		return s.AskFirst(rw, r, "Delete the page", shell.Question{Lines: []string{"The page and its text are deleted. This cannot be undone."}, Action: pagesPath + "/" + v.Was,
			Fields: []shell.NamedValue{{Name: "do", Value: "delete"}}, Button: "Delete", Back: pagesPath + "/" + v.Was})
	case do == "delete" && v.Was != "":
		done, err = "deleted", s.Site.DeletePage(r.Context(), session.User, v.Was)
	case do == "preview":
		var p author.Page
		if p, err = s.Site.PreviewPage(v.Page); err == nil {
			v.Preview = s.NewBodyRenderer(true).Render(p.HTML, true).HTML
			return s.showEditor(rw, r, http.StatusOK, v)
		}
	default:
		_, err = s.Site.SavePage(r.Context(), v.Page, v.Was)
	}
	if err != nil {
		return s.failPage(rw, r, v, err)
	}
	return shell.Redirect(rw, r, pagesPath+"?done="+done)
}

// failPage shows the editor with the error next to its field.
func (s *Pages) failPage(rw http.ResponseWriter, r *http.Request, v pageView, err error) error {
	status := s.Refused(rw, r, err)
	at := &v.AllWrong
	switch fault.FieldOf(err) {
	case "title":
		at = &v.TitleWrong
	case "slug":
		at = &v.SlugWrong
	case "source":
		at = &v.SourceWrong
	}
	*at = shell.Reason(err)
	return s.showEditor(rw, r, status, v)
}
