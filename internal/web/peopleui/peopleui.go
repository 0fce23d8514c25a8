// Package peopleui has the pages on which people find the authors of this server and follow them, here
// or on their own server. Start with [Pages].
package peopleui

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"cloudburst/internal/account"
	"cloudburst/internal/author"
	"cloudburst/internal/people"
	"cloudburst/internal/river"
	"cloudburst/internal/route"
	"cloudburst/internal/web/content"
	"cloudburst/internal/web/shell"
	"cloudburst/protocol/rsscloud"
)

// Path is the path of the list of authors.
const Path = "/people"

// Directory is the interface to the list of authors; *people.Directory implements it.
type Directory interface {
	List(ctx context.Context, words string, number int) (people.Page, error)
	Forget()
	// Followed returns the ID of the source among following that has the posts of the author. 0: none.
	Followed(author string, following map[int64]bool) int64
}

// River is the interface to the aggregator for the pages; *river.River implements it.
type River interface {
	Following(ctx context.Context, reader string) (map[int64]bool, error)
	Add(ctx context.Context, q river.Request) (river.Added, error)
	Remove(ctx context.Context, reader string, sources ...int64) error
}

// Options configure the pages.
type Options struct {
	Directory     Directory
	Subscriptions *people.Subscriptions                                       // subscriptions by e-mail; nil: visitors cannot subscribe by e-mail
	River         River                                                       // nil: the server has no feed reader, so users cannot follow authors
	ReaderOf      func(user string) string                                    // returns the reader name of a user in the river
	Hosted        func(ctx context.Context, user string) (author.Feed, error) // returns the public feed of a user; fault.NotFound: the user has none
}

// Pages has the pages.
type Pages struct {
	*content.Renderer
	Options
}

// New builds the pages.
func New(c *content.Renderer, o Options) *Pages { return &Pages{c, o} }

// Routes lists the pages.
func (s *Pages) Routes() []route.Route {
	all := []route.Route{
		{Method: http.MethodGet, Path: Path, Handler: s.Handle(s.listPage), Purpose: "The authors of this server, who last wrote first."},
		{Method: http.MethodGet, Path: Path + "/follow", Handler: s.Handle(s.followPage), Purpose: "Follows an author from another server: leads to the form of that server."},
	}
	if s.River == nil {
		return all
	}
	if s.Subscriptions != nil {
		all = append(all, route.Route{Method: http.MethodPost, Path: Path + "/mail", Handler: s.Handle(s.doMail), MaxBody: rsscloud.MaxForm,
			Purpose: "Asks an address by mail whether it wants the posts of an author."})
	}
	return append(all,
		s.FormRoute(Path+"/follow", rsscloud.MaxForm, "Follows an author.", s.doFollow),
		s.FormRoute(Path+"/settings", rsscloud.MaxForm, "Stores whether the user is listed, and what others see of whom they follow.", s.doSettings))
}

type listView struct {
	shell.View
	Words   string
	Rows    []authorRow
	Total   int
	Newer   string // URL of the previous page; "": none
	Older   string
	Message string
	Mine    *settingsView // choices of the signed-in user; nil: signed out
	Off     bool          // the list of authors is turned off
}

// authorRow is an author in the list.
type authorRow struct {
	people.Author
	Path, Href string // path of the author's page; URL of the author's image, "" if there is none
	Letter     string
	When       shell.Moment
	Following  int64 // ID of the feed by which the user follows the author; 0: none
	Own        bool
	MayFollow  bool // the user is signed in, and this server has a feed reader
	Remote     string
}

// settingsView has the choices of the user about this page.
type settingsView struct {
	Listed, ShowFollows, OwnPosts bool
	Mail, MaySend                 bool // Mail: the user sends posts to subscribers; MaySend: the server can send mail
}

func (s *Pages) listPage(rw http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	number, err := strconv.Atoi(q.Get("page"))
	if err != nil || number < 1 || number > people.MaxAuthors {
		number = 1
	}
	v := listView{View: s.NewView(r, "People"), Words: shell.CleanText(strings.TrimSpace(q.Get("q")), 100)}
	v.Heading = v.Say("People on this server")
	page, err := s.Directory.List(r.Context(), v.Words, number)
	if err != nil {
		return err
	}
	following := map[int64]bool{}
	if v.User != "" && s.River != nil {
		if following, err = s.River.Following(r.Context(), s.ReaderOf(v.User)); err != nil {
			return err
		}
		p := s.Preferences(r)
		v.Mine = &settingsView{Listed: !p.Unlisted, ShowFollows: p.ShowFollows, OwnPosts: !p.NoOwnPosts, Mail: p.MailSubscribers, MaySend: s.Subscriptions != nil && s.Subscriptions.Sends()}
	}
	for _, a := range page.Authors {
		v.Rows = append(v.Rows, s.row(&v, a, following))
	}
	v.Total = page.Total
	at := func(n int) string {
		p := url.Values{"page": {strconv.Itoa(n)}}
		if v.Words != "" {
			p.Set("q", v.Words)
		}
		return Path + "?" + p.Encode()
	}
	if page.More {
		v.Older = at(page.Number + 1)
	}
	if page.Number > 1 {
		v.Newer = at(page.Number - 1)
	}
	switch q.Get("done") {
	case "followed":
		v.Message = v.Say("Followed. New posts appear in your river.")
	case "saved":
		v.Message = v.Say("Saved.")
	}
	return s.Render(rw, r, http.StatusOK, "people", v)
}

func (s *Pages) row(v *listView, a people.Author, following map[int64]bool) authorRow {
	row := authorRow{Author: a, Path: "/" + url.PathEscape(a.User) + "/", When: v.When(a.LastAt), Own: a.User == v.User, MayFollow: v.User != "" && s.River != nil,
		Remote: Path + "/follow?user=" + url.QueryEscape(a.User)}
	row.Name, row.About = shell.CleanText(a.Name, 100), shell.CleanText(a.About, 200)
	row.Href = s.NewWriterView(author.Writer{User: a.User, Profile: author.Profile{Avatar: a.Avatar}}).Avatar
	row.Letter = strings.ToUpper(string([]rune(row.Name + a.User)[:1]))
	row.Following = s.Directory.Followed(a.User, following)
	return row
}

// doFollow follows an author of this server with one click.
func (s *Pages) doFollow(rw http.ResponseWriter, r *http.Request, session account.Session) error {
	form, err := shell.ReadForm(rw, r)
	if err != nil {
		return err
	}
	user := shell.FormValue(form, "user")
	if _, err = s.Hosted(r.Context(), user); err == nil {
		_, err = s.River.Add(r.Context(), river.Request{Reader: s.ReaderOf(session.User), URL: s.BaseURL(r) + author.FeedPath(user)})
	}
	if err != nil {
		return err
	}
	to := url.Values{"done": {"followed"}}
	for _, name := range []string{"q", "page"} {
		if value := shell.FormValue(form, name); value != "" {
			to.Set(name, value)
		}
	}
	return shell.Redirect(rw, r, Path+"?"+to.Encode())
}

// doSettings stores the choices of the user. The choice about own posts follows or unfollows the user's
// own feed at once.
func (s *Pages) doSettings(rw http.ResponseWriter, r *http.Request, session account.Session) error {
	form, err := shell.ReadForm(rw, r)
	if err != nil {
		return err
	}
	p, was := s.Preferences(r), s.Preferences(r)
	p.Unlisted = shell.FormValue(form, "listed") == ""
	p.ShowFollows = shell.FormValue(form, "show") != ""
	p.MailSubscribers = shell.FormValue(form, "mail") != ""
	p.NoOwnPosts = shell.FormValue(form, "own") == "" && !p.MailSubscribers // the server mails posts from the user's own river, so the river must contain the own posts
	if err = s.SetPreferences(rw, r, p); err == nil && p.NoOwnPosts != was.NoOwnPosts {
		err = s.setOwnPosts(r, session.User, !p.NoOwnPosts)
	}
	s.Directory.Forget()
	if err != nil {
		return err
	}
	return shell.Redirect(rw, r, Path+"?done=saved#s-mine")
}

// setOwnPosts follows or unfollows the feed of the user. A user without a feed follows it with their
// first post.
func (s *Pages) setOwnPosts(r *http.Request, user string, on bool) error {
	reader := s.ReaderOf(user)
	if on {
		if f, err := s.Hosted(r.Context(), user); err != nil || f.Version == 0 {
			return nil
		}
		_, err := s.River.Add(r.Context(), river.Request{Reader: reader, URL: s.BaseURL(r) + author.FeedPath(user)})
		return err
	}
	following, err := s.River.Following(r.Context(), reader)
	if err != nil {
		return err
	}
	if id := s.Directory.Followed(user, following); id != 0 {
		return s.River.Remove(r.Context(), reader, id)
	}
	return nil
}
