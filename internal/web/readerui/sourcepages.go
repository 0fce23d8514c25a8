package readerui

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"cloudburst/internal/fault"
	"cloudburst/internal/river"
	"cloudburst/internal/web/content"
	"cloudburst/internal/web/shell"
)

const (
	maxGroupedFeeds      = 250 // feeds on a page grouped by category
	sourcesPerPage       = 200 // on a page without groups
	maxPages             = 500
	maxCategoriesPerFeed = 5 // groups that can repeat a feed
)

// followView is the common data of the pages about followed feeds.
type followView struct {
	shell.View
	Message string
}

func (s *base) followView(r *http.Request, title string) followView {
	v := followView{View: s.NewView(r, title, "")}
	v.Message = followMessage(r)
	return v
}

// followMessage is the message about the action that the URL names by a keyword.
func followMessage(r *http.Request) string {
	return map[string]string{
		"had":        "You follow this feed already. Your entries were not used; change the settings here.",
		"settings":   "Settings saved.",
		"login":      "The login is saved. The feed is read with it for you only.",
		"nologin":    "The feed is read without a login.",
		"revived":    "Checks of the feed are resumed.",
		"undone":     "The move is undone. The feed is read at its old address.",
		"unfollowed": "You unfollowed the feed.",
		"refollowed": "Undone: you follow this feed again, as before.",
		"category":   "Category created.",
		"renamed":    "Category renamed.",
		"removed":    "Removed.",
		"public":     "The category is public now.",
		"private":    "The category is private now.",
		"dropped":    "You unfollowed the list.",
		"notice":     "Saved. The recipient is asked for consent now; until then nothing is forwarded.",
		"tried":      "The newest item was sent and accepted.",
		"asked":      "The recipient was asked again.",
		"paused":     "Paused. New items are not sent.",
		"resumed":    "Resumed. New items are sent again.",
	}[r.URL.Query().Get("done")]
}

// sourcesView is the list of followed feeds.
type sourcesView struct {
	followView
	Add    addForm
	Total  int
	Begins bool // the user follows only defaults
	Broken int  // feeds on the page that are failing or gone
	Undo   *shell.UndoBar
	Query  sourceQuery
	Groups []sourceGroup
	Shown  int
	Paged  bool // the list has several pages
	Number int  // of the page, from 1
	Older  string
	Newer  string
	Names  []categoryLink

	Bookmarklet string
}

// sourceQuery holds the filters of the list.
type sourceQuery struct {
	Text     string
	Broken   bool
	Category string
	None     bool // only feeds without a category
	Page     int
}

// Any reports whether a filter is set.
func (q sourceQuery) Any() bool { return q.Text != "" || q.Broken || q.Category != "" || q.None }

func parseSourceQuery(r *http.Request) (q sourceQuery) {
	v := r.URL.Query()
	q.Text = strings.TrimSpace(shell.CleanText(v.Get("q"), 200))
	q.Broken = v.Get("show") == "broken"
	q.Category = shell.CleanText(v.Get("category"), 200)
	q.None = v.Get("none") == "1" && q.Category == ""
	if n, err := strconv.Atoi(v.Get("page")); err == nil {
		q.Page = min(max(n, 1), maxPages) - 1
	}
	return q
}

// href is the URL of another page of the same list.
func (q sourceQuery) href(page int) string {
	v := url.Values{}
	if q.Text != "" {
		v.Set("q", q.Text)
	}
	if q.Broken {
		v.Set("show", "broken")
	}
	if q.Category != "" {
		v.Set("category", q.Category)
	}
	if q.None {
		v.Set("none", "1")
	}
	if page > 0 {
		v.Set("page", strconv.Itoa(page+1))
	}
	if len(v) == 0 {
		return "/feeds"
	}
	return "/feeds?" + v.Encode()
}

func (q sourceQuery) of(reader string) river.SubscriptionQuery {
	return river.SubscriptionQuery{Reader: reader, Category: q.Category, None: q.None, Match: q.Text, Broken: q.Broken}
}

// sourceGroup is a category with its feeds.
type sourceGroup struct {
	ID, Name string
	River    string // URL of the items of the category; "": none
	Rows     []sourceRow
}

type categoryLink struct {
	Name   string
	Href   string
	Count  int64
	Here   bool
	Public bool
}

// sourceRow is a feed in the list.
type sourceRow struct {
	ID     int64
	Name   string
	Host   string
	Icon   string // URL of an image that this page may load; "": Letter
	Letter string
	Badges []badge
	Why    string
	Newest shell.Moment
	Words  string // text of Next, or of the whole column
	Next   shell.Moment
}

func (s *followPages) sourceRow(f *river.Followed) sourceRow {
	now := s.CurrentTime()
	row := sourceRow{ID: f.SourceID, Name: shell.CleanText(f.Name(), 200), Host: sourceHost(f.Source.URL), Newest: shell.NewMoment(now, f.Source.NewestAt)}
	row.Icon, row.Letter = s.icon(f.Source.About.Icon), initial(row.Name)
	row.Badges, row.Why = badges(&f.Source, now)
	row.Words, row.Next = upcoming(&f.Source, now)
	return row
}

// iconHeaders extends the policy of a page for feed icons from any server, if the setting is
// ImagesDirect.
func (s *followPages) iconHeaders(rw http.ResponseWriter) {
	if s.ImageMode() == content.ImagesDirect {
		rw.Header().Set("Content-Security-Policy", strings.Replace(shell.Policy, "img-src 'self' data:", "img-src 'self' data: http: https:", 1))
	}
}

func sourceHost(address string) string {
	return strings.TrimPrefix(shell.HostOf(address), "www.")
}

// sourcesPage lists the followed feeds.
func (s *followPages) sourcesPage(rw http.ResponseWriter, r *http.Request, reader string, _ access) {
	v := sourcesView{followView: s.followView(r, "Feeds"), Query: parseSourceQuery(r)}
	v.Script = "feeds.js"
	if err := s.listSources(r.Context(), reader, &v); err != nil {
		s.Fail(rw, r, err)
		return
	}
	if v.Total == 0 && !v.Query.Any() && v.Message == "" {
		http.Redirect(rw, r, "/feeds/start", http.StatusSeeOther)
		return
	}
	v.Bookmarklet = bookmarklet(s.BaseURL(r))
	s.offerUnfollowUndo(r, reader, &v)
	s.iconHeaders(rw)
	s.Render(rw, r, http.StatusOK, "sources", v)
}

// listSources adds the data from the river to v.
func (s *followPages) listSources(ctx context.Context, reader string, v *sourcesView) error {
	all, err := s.River.Following(ctx, reader)
	if err != nil {
		return err
	}
	v.Total, v.Begins = len(all), s.followsOnlyDefaults(all)
	categories, err := s.River.Categories(ctx, reader, false)
	if err != nil {
		return err
	}
	v.Add = s.emptyAdd(categories)
	if v.Query.Page*sourcesPerPage >= max(v.Total, 1) {
		v.Query.Page = max(v.Total-1, 0) / sourcesPerPage
	}
	q := v.Query.of(reader)
	if q.Limit = maxGroupedFeeds + 1; v.Query.Page > 0 || v.Total > maxGroupedFeeds {
		q.Skip, q.Limit, v.Paged = v.Query.Page*sourcesPerPage, sourcesPerPage+1, true
	}
	list, err := s.River.Subscriptions(ctx, q)
	if err != nil {
		return err
	}
	v.Number = v.Query.Page + 1
	if v.Paged {
		if len(list) > sourcesPerPage {
			list, v.Older = list[:sourcesPerPage], v.Query.href(v.Query.Page+1)
		}
		if v.Query.Page > 0 {
			v.Newer = v.Query.href(v.Query.Page - 1)
		}
		v.Paged = v.Older != "" || v.Newer != ""
	}
	v.Shown = len(list)
	for _, c := range categories {
		v.Names = append(v.Names, categoryLink{c.Name, sourceQuery{Category: c.Name}.href(0), c.Sources, c.Name == v.Query.Category, c.Public})
	}
	s.group(v, list)
	return nil
}

// group groups a list by category. A page of a longer list, or of one category, has a single group.
func (s *followPages) group(v *sourcesView, list []river.Followed) {
	rows := make([]sourceRow, len(list))
	for i := range list {
		rows[i] = s.sourceRow(&list[i])
		if st := &list[i].Source.State; st.Gone != nil || st.Failure != nil {
			v.Broken++
		}
	}
	switch {
	case len(rows) == 0:
		return
	case v.Paged, v.Query.Category != "", v.Query.None:
		g := sourceGroup{ID: "g0", Rows: rows}
		if g.Name = v.Query.Category; g.Name != "" {
			g.River = "/river?" + url.Values{"category": {g.Name}}.Encode()
		}
		v.Groups = []sourceGroup{g}
		return
	}
	byName := map[string][]sourceRow{}
	var none []sourceRow
	for i := range list {
		names := list[i].Categories
		for _, name := range names[:min(len(names), maxCategoriesPerFeed)] {
			byName[name] = append(byName[name], rows[i])
		}
		if len(names) == 0 {
			none = append(none, rows[i])
		}
	}
	names := make([]string, 0, len(byName))
	for name := range byName {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		return strings.Compare(strings.ToLower(a)+"\x00"+a, strings.ToLower(b)+"\x00"+b)
	})
	for i, name := range names {
		v.Groups = append(v.Groups, sourceGroup{"g" + strconv.Itoa(i+1), shell.CleanText(name, 200), "/river?" + url.Values{"category": {name}}.Encode(), byName[name]})
	}
	if none != nil {
		g := sourceGroup{ID: "g0", Rows: none}
		if len(names) > 0 {
			g.Name = "Without a category"
		}
		v.Groups = append(v.Groups, g)
	}
}

// sourceID reads the id of a feed from the path.
func sourceID(r *http.Request) (int64, error) {
	id, err := strconv.ParseInt(strings.TrimSuffix(r.PathValue("id"), ".json"), 10, 64)
	if err != nil || id <= 0 {
		return 0, fault.New(fault.NotFound, "There is no feed with the number %s. Your feeds are listed under Feeds.", shell.CleanText(r.PathValue("id"), 40))
	}
	return id, nil
}

// followed returns the reader's subscription with that id. A subscription of another reader is
// reported as not found, because it may be private.
func (s *base) followed(ctx context.Context, reader string, id int64) (river.Followed, error) {
	list, err := s.River.Subscriptions(ctx, river.SubscriptionQuery{Reader: reader, SourceID: id, Limit: 1})
	if err != nil {
		return river.Followed{}, err
	}
	if len(list) == 0 {
		return river.Followed{}, fault.New(fault.NotFound, "You do not follow this feed. Your feeds are listed under Feeds.")
	}
	return list[0], nil
}
