package readerui

import (
	"context"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"cloudburst/internal/fault"
	"cloudburst/internal/river"
	"cloudburst/internal/text"
	"cloudburst/internal/web/feedview"
	"cloudburst/internal/web/shell"
)

const (
	maxGroupedFeeds      = 250 // maximum number of feeds on a page grouped by category
	sourcesPerPage       = 200 // number of feeds on a page without groups
	maxPages             = 500
	maxCategoriesPerFeed = 5 // maximum number of groups that list the same feed
)

// followView is the common data of the pages about followed feeds.
type followView struct {
	shell.View
	Message string
}

func (s *base) followView(r *http.Request, title string) followView {
	v := followView{View: s.NewView(r, title)}
	v.Message = followMessage(r)
	return v
}

// followMessage returns the message about the action that the URL names by a keyword.
func followMessage(r *http.Request) string {
	return map[string]string{
		"had":        "You already follow this feed. Your entries were not used; change them under Settings.",
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
	}[r.URL.Query().Get("done")]
}

// sourcesView is the list of followed feeds.
type sourcesView struct {
	followView
	Total   int
	Begins  bool // the user follows no feed, or only the test feed
	Broken  int  // number of feeds on the page that are failing or gone
	Undo    *shell.UndoBar
	Problem string // error of a form
	Query   sourceQuery
	Groups  []sourceGroup
	Sorts   []sortChoice
	Counts  bool // show the numbers of unread items
	Paged   bool // the list has several pages
	Number  int  // number of the page, from 1
	Older   string
	Newer   string
	Names   []categoryLink
	Public  []categoryLink // public categories
	Back    string         // URL of this page
	Select  string         // URL of this page with check boxes
	Done    string         // URL of this page without check boxes
}

// sourceQuery holds the filters and the order of the list.
type sourceQuery struct {
	Text     string
	Broken   bool
	Category string
	None     bool // only feeds without a category
	Sort     river.SubscriptionSort
	Select   bool // show check boxes and actions for several feeds
	Page     int
}

// Any reports whether a filter is set.
func (q sourceQuery) Any() bool { return q.Text != "" || q.Broken || q.Category != "" || q.None }

// sortChoice is an order of the list in a menu.
type sortChoice struct {
	Value, Text string
	Here        bool
}

func sortChoices(now river.SubscriptionSort) (all []sortChoice) {
	for _, c := range []sortChoice{{"", "title", false}, {string(river.SortNewest), "newest item", false}, {string(river.SortUnread), "unread items", false},
		{string(river.SortFailure), "last failure", false}, {string(river.SortAdded), "date added", false}} {
		c.Here = c.Value == string(now)
		all = append(all, c)
	}
	return all
}

func parseSourceQuery(v url.Values) (q sourceQuery) {
	q.Text = strings.TrimSpace(shell.CleanText(v.Get("q"), 200))
	q.Broken = v.Get("show") == "broken"
	q.Category = shell.CleanText(v.Get("category"), 200)
	q.None = v.Get("none") == "1" && q.Category == ""
	q.Select = v.Get("select") == "1"
	for _, c := range sortChoices("") {
		if c.Value == v.Get("sort") {
			q.Sort = river.SubscriptionSort(c.Value)
		}
	}
	if n, err := strconv.Atoi(v.Get("page")); err == nil {
		q.Page = min(max(n, 1), maxPages) - 1
	}
	return q
}

// href returns the URL of another page of the same list.
func (q sourceQuery) href(page int) string {
	v := url.Values{}
	for name, value := range map[string]string{"q": q.Text, "category": q.Category, "sort": string(q.Sort)} {
		if value != "" {
			v.Set(name, value)
		}
	}
	if q.Broken {
		v.Set("show", "broken")
	}
	for name, on := range map[string]bool{"none": q.None, "select": q.Select} {
		if on {
			v.Set(name, "1")
		}
	}
	if page > 0 {
		v.Set("page", strconv.Itoa(page+1))
	}
	return withQuery("/feeds", v)
}

// selecting returns the URL of the same page with or without check boxes.
func (q sourceQuery) selecting(on bool) string {
	q.Select = on
	return q.href(q.Page)
}

func (q sourceQuery) of(reader string) river.SubscriptionQuery {
	return river.SubscriptionQuery{Reader: reader, Category: q.Category, None: q.None, Match: q.Text, Broken: q.Broken, Sort: q.Sort, Next: true}
}

// sourceGroup is a category with its feeds.
type sourceGroup struct {
	ID, Name string
	River    string // URL of the items of the category; "": none
	Page     string // path of the public page of the category; "": the category is private
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
	Icon   string // URL of an image that this page may load; "": show Letter
	Letter string
	Badges []feedview.Badge
	Why    string
	Unread int64
	Newest shell.Moment
	Next   feedview.Next
}

func (s *base) sourceRow(f *river.Followed) sourceRow {
	now := s.CurrentTime()
	row := sourceRow{ID: f.SourceID, Name: feedName(f), Host: sourceHost(f.Source.URL), Newest: shell.NewMoment(now, f.Source.NewestAt), Unread: f.Unread, Next: feedview.NextOf(f.Next, now)}
	row.Icon, row.Letter = s.icon(f.Source.About.Icon), initial(row.Name)
	row.Badges, row.Why = feedview.Badges(&f.Source, now)
	return row
}

// feedName returns the title of a feed; for a feed without a title, its URL without a login.
func feedName(f *river.Followed) string {
	name := strings.TrimSpace(f.Name())
	if name == "" || name == f.Source.URL {
		return shell.ShortURL(feedview.WithoutUser(f.Source.URL))
	}
	return shell.CleanText(name, 200)
}

func sourceHost(address string) string {
	return strings.TrimPrefix(shell.HostOf(address), "www.")
}

// sourcesPage lists the followed feeds.
func (s *followPages) sourcesPage(rw http.ResponseWriter, r *http.Request, reader string, _ access) error {
	return s.showSources(rw, r, reader, http.StatusOK, parseSourceQuery(r.URL.Query()), "")
}

// showSources shows the list. problem is the error of a form, or "" if there is none.
func (s *followPages) showSources(rw http.ResponseWriter, r *http.Request, reader string, status int, q sourceQuery, problem string) error {
	v := sourcesView{followView: s.followView(r, "Feeds"), Query: q, Problem: problem, Counts: s.displaySettingsOf(r).Marks}
	v.Wide, v.Script = true, "feeds.js"
	if err := s.listSources(r.Context(), reader, &v); err != nil {
		return err
	}
	if v.Total == 0 && !v.Query.Any() && v.Message == "" && problem == "" {
		return shell.Redirect(rw, r, "/feeds/start")
	}
	v.Sorts = sortChoices(v.Query.Sort)
	v.Back, v.Select, v.Done = v.Query.href(v.Query.Page), v.Query.selecting(true), v.Query.selecting(false)
	s.offerUnfollowUndo(r, reader, &v)
	s.offerSelectedUndo(r, reader, &v)
	s.iconHeaders(rw)
	return s.Render(rw, r, status, "sources", v)
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
	if v.Query.Page*sourcesPerPage >= max(v.Total, 1) {
		v.Query.Page = max(v.Total-1, 0) / sourcesPerPage
	}
	q := v.Query.of(reader)
	q.Unread = v.Counts
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
	pages := map[string]string{}
	for _, c := range categories {
		one := categoryLink{c.Name, sourceQuery{Category: c.Name}.href(0), c.Sources, c.Name == v.Query.Category, c.Public}
		v.Names = append(v.Names, one)
		if c.Public {
			one.Href = PublicPath(s.ownerOf(reader), c.Name)
			v.Public = append(v.Public, one)
			pages[c.Name] = one.Href
		}
	}
	v.Names = v.Names[:min(len(v.Names), maxChoices)]
	s.group(v, list)
	for i := range v.Groups {
		v.Groups[i].Page = pages[v.Groups[i].Name]
	}
	return nil
}

// group groups a list by category. A list of several pages, or of one category, has a single group.
func (s *base) group(v *sourcesView, list []river.Followed) {
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
	case v.Paged, v.Query.Category != "", v.Query.None, v.Query.Sort != river.SortName:
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
	names := slices.SortedFunc(maps.Keys(byName), text.CompareNames)
	for i, name := range names {
		v.Groups = append(v.Groups, sourceGroup{ID: "g" + strconv.Itoa(i+1), Name: name, River: "/river?" + url.Values{"category": {name}}.Encode(), Rows: byName[name]})
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
		return river.Followed{}, notFollowed()
	}
	return list[0], nil
}

func notFollowed() error {
	return fault.New(fault.NotFound, "You do not follow this feed. Your feeds are listed under Feeds.")
}
