package authorui

import (
	"cmp"
	"context"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"cloudburst/internal/author"
	"cloudburst/internal/fault"
	"cloudburst/internal/origin"
	"cloudburst/internal/web/content"
	"cloudburst/internal/web/shell"
)

// postsPerPage is the number of posts on a page of an author.
const postsPerPage = 20

// postList selects the posts of a page.
type postList struct {
	User         string // name of the author; "": all users
	Category     string // category in its folded spelling; "": all categories
	Since, Until time.Time
	Path         string // path of the first page of the list
	Words        string // heading below the author's name: "November 2026", "#go"
}

// view returns the feed that has the same posts as the list.
func (l postList) view() author.View { return author.View{User: l.User, Category: l.Category} }

// postsView is a page of posts, or of one post.
type postsView struct {
	shell.View
	Writer content.WriterView
	List   postList
	Posts  []content.PostView
	Links  []shell.FormatLink // feed links for <head>, the feed of the page first
	Forms  []shell.FormatLink // feed of the page in all formats
	Feed0  string             // path of the feed of the page
	Self   string             // URL of the page
	Base   string             // URL of this server
	About  string             // description for link previews
	Image  string             // image for link previews
	Type   string             // Open Graph type of the page
	Style  string             // stylesheet of the author; "": none
	Hub    string
	Older  string // URL of older posts; "": none
	Newer  string
	OlderWords,
	NewerWords string
	Months     []yearView
	Categories []content.TagView
	Counted    string // number of posts, in words
	All        bool   // the page shows posts of all users
	Stream     string // URL of the stream of new posts; "": the page is not live
	OwnPage    bool   // the signed-in user is the author
	Reads      bool   // the server has a feed reader
	Webmention string // path of the endpoint for replies to the post; "": none
	Replies    repliesView
	Thread     threadView

	Site     siteView
	Pinned   *content.PostView // post at the top of the first page; nil: none
	Text     template.HTML     // text of an author's page that is not a post
	Titles   []monthTitles     // posts of the archive by month
	Query    string            // search query
	Found    []titleView
	FoundAll bool // the page shows all results of the search
	NoIndex  bool // search engines must not index the page

	brief bool // the page shows a line of another post, so it stays in memory only for briefLife
}

// MainForms returns the feed formats that most feed readers use.
func (v postsView) MainForms() (all []shell.FormatLink) {
	for _, f := range v.Forms {
		switch f.Type {
		case "application/rss+xml", "application/atom+xml", "application/feed+json":
			if f.Hint == ".xml" || f.Hint == ".atom" || f.Hint == ".json" {
				all = append(all, f)
			}
		}
	}
	return all
}

// authored serves the paths below /<user>/, and the lists of all users' posts.
//
// spec:cloudburst#author-pages
func (s *Pages) authored(rw http.ResponseWriter, r *http.Request, user, rest string) error {
	if s.Posts == nil || user == "" {
		return s.NotFound(rw, r)
	}
	first, behind, below := strings.Cut(rest, "/")
	switch {
	case user == author.Everyone && rest == "":
		return s.postListPage(rw, r, postList{Path: "/" + author.Everyone + "/"})
	case first == "category":
		return s.categoryPage(rw, r, user, behind, below)
	case user == author.Everyone:
		return s.NotFound(rw, r)
	case first == "archive" && behind == "":
		if s.slashed(rw, r) {
			return s.archivePage(rw, r, user)
		}
	case rest == "formats":
		return s.formatsPage(rw, r, user)
	case rest == "search":
		return s.searchPage(rw, r, user)
	case len(first) == 4 && strings.Trim(first, "0123456789") == "":
		return s.datedPage(rw, r, user, rest)
	default:
		return s.sitePage(rw, r, user, rest)
	}
	return nil
}

// slashed reports whether the path ends with a slash. If not, it redirects to the path with a
// slash.
func (s *Pages) slashed(rw http.ResponseWriter, r *http.Request) bool {
	if strings.HasSuffix(r.URL.Path, "/") {
		return true
	}
	to := url.URL{Path: r.URL.Path + "/", RawQuery: r.URL.RawQuery}
	http.Redirect(rw, r, to.String(), http.StatusPermanentRedirect)
	return false
}

// categoryPage serves a category, or the list of categories.
func (s *Pages) categoryPage(rw http.ResponseWriter, r *http.Request, user, behind string, below bool) error {
	label, more, _ := strings.Cut(behind, "/")
	switch {
	case more != "":
		return s.NotFound(rw, r)
	case !s.slashed(rw, r):
		return nil
	case label == "" && below:
		return s.aboutPage(rw, r, user)
	}
	if user == author.Everyone {
		user = ""
	}
	name := author.CategoryName(label)
	v := author.View{User: user, Category: name}
	if name != label && name != "" { // redirect to the author's spelling
		http.Redirect(rw, r, v.Base(), http.StatusMovedPermanently)
		return nil
	}
	if name == "" {
		return s.NotFound(rw, r)
	}
	counts, err := s.Posts.Counts(r.Context(), user, author.ByCategory, name, 1)
	if err != nil {
		return err
	}
	words := name
	if len(counts) > 0 && counts[0].Name == name {
		words = cmp.Or(counts[0].Label, name)
	} else if stamp, err := s.Posts.Stamp(r.Context(), user, name); err != nil || stamp == 0 {
		if err != nil {
			return err
		}
		return s.NotFound(rw, r)
	}
	return s.postListPage(rw, r, postList{User: user, Category: name, Path: v.Base(), Words: shell.CleanText(words, 100)})
}

// datedPage serves the posts of a year, a month or a day, or a post below a day.
func (s *Pages) datedPage(rw http.ResponseWriter, r *http.Request, user, rest string) error {
	parts := strings.Split(strings.TrimSuffix(rest, "/"), "/")
	if len(parts) > 4 || strings.Contains(rest, "//") {
		return s.NotFound(rw, r)
	}
	layouts := [...]string{"2006", "2006/01", "2006/01/02"}
	words := [...]string{"2006", "January 2006", "2 January 2006"}
	day := min(len(parts), 3)
	since, err := time.Parse(layouts[day-1], strings.Join(parts[:day], "/"))
	switch {
	case err != nil:
		return s.NotFound(rw, r)
	case len(parts) == 4 && strings.HasSuffix(rest, "/"):
		return s.NotFound(rw, r)
	case len(parts) == 4:
		return s.postPage(rw, r, user, parts[3])
	case s.slashed(rw, r):
		until := [...]time.Time{since.AddDate(1, 0, 0), since.AddDate(0, 1, 0), since.AddDate(0, 0, 1)}[day-1]
		return s.postListPage(rw, r, postList{User: user, Since: since, Until: until, Path: "/" + user + "/" + rest, Words: s.Locale(r).Date(since, words[day-1])})
	}
	return nil
}

// postListPage serves a page of posts, newest first.
func (s *Pages) postListPage(rw http.ResponseWriter, r *http.Request, l postList) error {
	ctx := r.Context()
	w, err := s.writer(ctx, l.User)
	if err != nil {
		return err
	}
	q := author.PostQuery{User: l.User, State: author.Published, Category: l.Category, Since: l.Since, Before: l.Until, Limit: postsPerPage + 1}
	at := r.URL.Query().Get("before")
	q.After = placeOf(at, l.User)
	posts, err := s.Posts.List(ctx, q)
	stamp, err2 := s.Posts.Stamp(ctx, l.User, l.Category)
	switch {
	case err != nil || err2 != nil:
		return cmp.Or(err, err2)
	case len(posts) == 0 && !l.Since.IsZero() && q.After == nil:
		return s.NotFound(rw, r)
	case w.Version == 0 && l.User != "":
		return s.NotFound(rw, r)
	}
	v, err := s.listView(r, w, l)
	if err != nil {
		return err
	}
	if len(posts) > postsPerPage {
		posts = posts[:postsPerPage]
		v.Older = l.Path + "?before=" + placeAfter(posts[len(posts)-1], l.User)
		v.OlderWords = "Older"
	}
	if q.After != nil {
		v.Newer, v.NewerWords = l.Path, "Newest"
		v.Self = s.BaseURL(r) + l.Path + "?before=" + url.QueryEscape(at)
	}
	if q.After == nil && l.Since.IsZero() {
		v.Script, v.Stream = "posts.js", savesOf(v.Base, l.User)
		if l.User != "" && l.Category == "" {
			feeds, err := s.categoryLinks(ctx, l.User, v.Writer.Title)
			if err != nil {
				return err
			}
			v.Links = append(v.Links, feeds...)
		}
	}
	if v.Posts, err = s.entries(ctx, posts, l.User == ""); err == nil && v.IsHome() && q.After == nil {
		err = s.addPinned(ctx, &v, w)
	}
	if err != nil {
		return err
	}
	s.sendWritten(rw, r, "posts", &v, time.UnixMicro(stamp))
	return nil
}

// savesOf returns the URL of the live log filtered to the posts of a user, or of all users.
func savesOf(base, user string) string {
	q := url.Values{"kind": {"save"}}
	if user != "" {
		q.Set("topic", base+author.FeedPath(user))
	}
	return origin.StreamPath + "?" + q.Encode()
}

// addPinned moves the pinned post to the top of the first page.
func (s *Pages) addPinned(ctx context.Context, v *postsView, w author.Writer) error {
	p, err := s.pinned(ctx, w)
	if err != nil || p == nil {
		return err
	}
	one, err := s.entries(ctx, []author.Post{*p}, false)
	if err != nil {
		return err
	}
	v.Pinned = &one[0]
	v.Posts = slices.DeleteFunc(v.Posts, func(e content.PostView) bool { return e.Number == p.ID })
	return nil
}

// listView returns the common data of pages of posts.
func (s *Pages) listView(r *http.Request, w author.Writer, l postList) (postsView, error) {
	base := s.BaseURL(r)
	v := postsView{
		List: l, Writer: s.NewWriterView(w), Base: base, Self: base + l.Path, Type: "website", Hub: base + "/websub", All: l.User == "",
		Feed0: l.view().Base() + "rss.xml",
	}
	v.View, v.Reads = s.NewView(r, ""), s.Shell.Reads
	v.Title, v.Heading = v.Writer.Title, v.Writer.Title
	if l.User == "" {
		v.Writer = content.WriterView{Title: v.Say("Everyone here"), Path: l.Path}
		v.Title, v.Heading = v.Writer.Title, v.Writer.Title
	} else {
		v.Bare = true
		v.Type, v.Image = "profile", s.whole(base, v.Writer.Photo)
		v.OwnPage = v.User == l.User
	}
	if l.Words != "" {
		v.Title = l.Words + " · " + v.Writer.Title
	}
	v.About = shell.CleanText(strings.Join(v.Writer.Blurb, " "), 200)
	v.Forms = shell.FormatsBelow(l.view().Base())
	feedTitle := v.Writer.Title // a month, the archive and the search have no feed of their own
	if l.Category != "" {
		feedTitle = v.Title
	}
	v.Links = alternates(l.view().Base(), feedTitle)
	if user := (author.View{User: l.User}); l.Category != "" && l.User != "" {
		v.Links = append(v.Links, alternates(user.Base(), v.Writer.Title)...)
	}
	if l.User == "" {
		return v, nil
	}
	return v, s.addSite(r, &v, w, l.Path)
}

// alternates lists one feed in common formats for the head of a page. Feed readers use the first
// link, or let the user choose.
//
// spec:cloudburst#autodiscovery
func alternates(base, title string) []shell.FormatLink {
	all := []shell.FormatLink{{Title: title + ": RSS", Href: base + "rss.xml", Type: "application/rss+xml", Hint: ""}}
	for _, l := range shell.FormatsBelow(base) {
		if l.Hint == ".atom" || l.Hint == ".json" {
			l.Title = title + ": " + l.Title
			all = append(all, l)
		}
	}
	return all
}

// categoryLinks lists the feeds of a user's categories for the head of the user's page.
func (s *Pages) categoryLinks(ctx context.Context, user, title string) ([]shell.FormatLink, error) {
	counts, err := s.Posts.Counts(ctx, user, author.ByCategory, "", linkedCategories)
	var all []shell.FormatLink
	for _, c := range counts {
		base := author.View{User: user, Category: c.Name}.Base()
		all = append(all, shell.FormatLink{Title: "#" + shell.CleanText(c.Label, 100) + " · " + title, Href: base + "rss.xml", Type: "application/rss+xml", Hint: ""})
	}
	return all, err
}

// linkedCategories is the maximum number of categories in the head of the user's page.
const linkedCategories = 20

// writer returns the author of the posts of a page, or the zero value for a page of all users' posts.
func (s *Pages) writer(ctx context.Context, user string) (author.Writer, error) {
	if user == "" {
		return author.Writer{}, nil
	}
	return s.Posts.Writer(ctx, user)
}

// whole converts a path on this server to an absolute URL.
func (s *Pages) whole(base, ref string) string {
	if strings.HasPrefix(ref, "/") {
		return base + ref
	}
	return ref
}

// placeOf parses the result of placeAfter: the post after which a page begins. It returns nil if s is
// invalid. user is the author of the page.
func placeOf(s, user string) *author.Post {
	at, rest, _ := strings.Cut(s, "-")
	id, name, _ := strings.Cut(rest, "-")
	ms, err1 := strconv.ParseInt(at, 10, 64)
	n, err2 := strconv.ParseInt(id, 10, 64)
	if err1 != nil || err2 != nil || n < 1 || ms < -1<<47 || ms > 1<<48 || len(name) > 32 || (name == "") != (user != "") {
		return nil
	}
	return &author.Post{User: cmp.Or(user, name), State: author.Published, ID: n, PublishedAt: time.UnixMilli(ms).UTC()}
}

// placeAfter returns the URL parameter that identifies the last post of a page. The next page begins
// after this post, so new posts do not shift it.
func placeAfter(p author.Post, user string) string {
	s := strconv.FormatInt(p.PublishedAt.UnixMilli(), 10) + "-" + strconv.FormatInt(p.ID, 10)
	if user == "" {
		s += "-" + p.User
	}
	return s
}

// postsInstead serves the page of a user who writes posts on this server. It returns false for other
// users.
func (s *Pages) postsInstead(rw http.ResponseWriter, r *http.Request, user string) (served bool, err error) {
	if s.Posts == nil {
		return false, nil
	}
	w, err := s.Posts.Writer(r.Context(), user)
	switch {
	case err != nil && fault.CodeOf(err) != fault.NotFound:
		return false, err
	case err == nil && w.Written:
		return true, s.postListPage(rw, r, postList{User: user, Path: "/" + user + "/"})
	}
	return false, nil
}
