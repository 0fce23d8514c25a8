package hubui

import (
	"bytes"
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"cloudburst/internal/event"
	"cloudburst/internal/hub"
	"cloudburst/internal/web/locale"
	"cloudburst/internal/web/shell"
)

const (
	ChangesPerPage = 60 // number of changes on a page
	changeTags     = 12 // maximum number of tags that the line of a change shows
)

// changesQuery holds the filters in the URL of the recent changes.
type changesQuery struct {
	Text          string
	before, after event.Cursor

	PlaceError string
}

// parseChangesQuery reads q, before and after.
func parseChangesQuery(v url.Values) changesQuery {
	q := changesQuery{Text: shell.CleanText(strings.TrimSpace(v.Get("q")), 200)}
	var ok1, ok2 bool
	q.before, ok1 = shell.ParseCursor(v.Get("before"))
	q.after, ok2 = shell.ParseCursor(v.Get("after"))
	if !ok1 || !ok2 {
		q.PlaceError = "The position in the address is not valid, so this is the newest page."
		q.before, q.after = event.Cursor{}, event.Cursor{}
	}
	return q
}

// matches reports whether a live change passes the filter. The store uses the same filter.
func (q changesQuery) matches(c hub.Change) bool {
	if q.Text == "" {
		return true
	}
	text := strings.ToLower(q.Text)
	return slices.ContainsFunc(append([]string{c.Name, c.URL, c.Feed}, c.Tags...), func(s string) bool {
		return strings.Contains(strings.ToLower(s), text)
	})
}

// url returns path with the filter of q as parameters. If name is not "", it adds the parameter name.
func (q changesQuery) url(path, name, value string) string {
	v := url.Values{}
	if q.Text != "" {
		v.Set("q", q.Text)
	}
	if name != "" {
		v.Set(name, value)
	}
	if len(v) == 0 {
		return path
	}
	return path + "?" + v.Encode()
}

// changeLine is one change as a line of the page.
type changeLine struct {
	ID   string // cursor of the change
	Key  string // key of the feed: changes of one feed have the same key
	When shell.Moment
	Via  endpoint
	Name string // name of the site, or its host if the site has no name
	Href string // URL of the site; "": no link
	Site string // URL of the site, shortened; "": same as Name
	Page string // URL of the changed page; "": same as the site
	Feed string // URL of the changed feed; "": same as the site
	Tags []string
}

// changedFeed returns the URL of the changed feed, or the URL of the site if no feed is known.
func changedFeed(c hub.Change) string { return cmp.Or(c.Feed, c.URL) }

// newChangeLine returns the line of the change c. If c has no name, the line has the title of the feed
// from titles. Key of titles: feed URL.
func newChangeLine(c hub.Change, now time.Time, titles map[string]string) changeLine {
	l := changeLine{
		ID: shell.FormatCursor(c.Cursor()), Key: strconv.FormatInt(hub.TopicID(changedFeed(c)), 36), When: shell.NewMoment(now, c.At), Via: endpointOf(c.Via),
		Name: shell.CleanText(strings.TrimSpace(c.Name), 120), Site: shell.ShortURL(c.URL), Href: linkTo(c.URL),
	}
	if l.Name == "" {
		l.Name = cmp.Or(titles[changedFeed(c)], shell.HostOf(c.URL))
	}
	if l.Site == l.Name || strings.TrimSuffix(l.Site, "/") == l.Name {
		l.Site = ""
	}
	if c.Page != c.URL {
		l.Page = linkTo(c.Page)
	}
	if c.Feed != c.URL {
		l.Feed = linkTo(c.Feed)
	}
	for _, tag := range c.Tags[:min(len(c.Tags), changeTags)] {
		if tag = shell.CleanText(strings.TrimSpace(tag), 40); tag != "" {
			l.Tags = append(l.Tags, tag)
		}
	}
	return l
}

// linkTo returns address if it is safe as the target of a link, else "".
func linkTo(address string) string {
	if len(address) > 2048 || !shell.IsWebURL(address) {
		return ""
	}
	return shell.CleanText(address, 2048)
}

// changeRun is one or more changes of the same feed without a change of another feed between them,
// newest first.
type changeRun []changeLine

// Newest returns the newest of the changes.
func (r changeRun) Newest() changeLine { return r[0] }

// Oldest returns the oldest of the changes.
func (r changeRun) Oldest() changeLine { return r[len(r)-1] }

// foldChanges groups consecutive lines of the same feed.
func foldChanges(lines []changeLine) (runs []changeRun) {
	for _, l := range lines {
		if n := len(runs); n > 0 && runs[n-1][0].Key == l.Key {
			runs[n-1] = append(runs[n-1], l)
			continue
		}
		runs = append(runs, changeRun{l})
	}
	return runs
}

// changeLines makes the lines of changes, with the titles of their feeds.
func (s *Pages) changeLines(ctx context.Context, list []hub.Change, now time.Time) []changeLine {
	titles := s.changeTitles(ctx, list)
	lines := make([]changeLine, len(list))
	for i, c := range list {
		lines[i] = newChangeLine(c, now, titles)
	}
	return lines
}

// changeTitles returns the titles of the feeds of the changes that have no name.
func (s *Pages) changeTitles(ctx context.Context, list []hub.Change) map[string]string {
	var urls []string
	for _, c := range list {
		if strings.TrimSpace(c.Name) == "" {
			urls = append(urls, changedFeed(c))
		}
	}
	return s.titlesOf(ctx, urls)
}

type changesView struct {
	shell.View
	Query         changesQuery
	Runs          []changeRun
	Total         int64
	Newest        bool   // the page is the first page, which is live
	Stream        string // URL of the live lines after the first row
	Older, Newer  string // URLs of the neighbouring pages; "": none
	First         string // URL of the newest page
	ThisHour, Ago string // paths of the archives of this hour and of the same hour yesterday
}

// Filtered reports whether a filter is set.
func (v changesView) Filtered() bool { return v.Query.Text != "" }

// archivePath returns the path of the archive for the hour of t.
func archivePath(t time.Time) string { return t.UTC().Format("/2006/01/02/15.xml") }

// spec:cloudburst#changes-page
func (s *Pages) changesPage(rw http.ResponseWriter, r *http.Request) error {
	q := parseChangesQuery(r.URL.Query())
	v := changesView{View: s.wideView(r, "Changes"), Query: q, First: q.url("/changes", "", "")}
	v.Script = "log.js"
	v.ThisHour, v.Ago = archivePath(v.Now), archivePath(v.Now.Add(-24*time.Hour))
	list, older, newer, err := shell.ReadPage(ChangesPerPage, q.before, q.after, func(before, after event.Cursor, limit int) ([]hub.Change, error) {
		return s.Store.Changes(r.Context(), hub.ChangeQuery{Text: q.Text, Before: before, After: after, Forward: after != event.Cursor{}, Limit: limit})
	})
	if err != nil {
		return err
	}
	since := event.Cursor{}
	v.Runs = foldChanges(s.changeLines(r.Context(), list, v.Now))
	if n := len(list); n > 0 {
		since = list[0].Cursor()
		if older {
			v.Older = q.url("/changes", "before", shell.FormatCursor(list[n-1].Cursor()))
		}
		if newer {
			v.Newer = q.url("/changes", "after", shell.FormatCursor(since))
		}
	}
	v.Newest = !newer
	v.Stream = q.url("/changes/stream", "since", shell.FormatCursor(since)) + "&as=html"
	if v.Total, err = s.Store.CountChanges(r.Context()); err != nil {
		v.Total = 0 // the page works without the count
	}
	status := http.StatusOK
	if q.PlaceError != "" {
		status = http.StatusBadRequest
	}
	return s.Render(rw, r, status, "changes", v)
}

// line renders c as the HTML of its line.
func (s *Pages) line(l *locale.Locale, c hub.Change, titles map[string]string) ([]byte, error) {
	return s.lines.get(rowKey{eventKey: eventKey{c.Node, c.Seq}, lang: l.Code}, func(out *bytes.Buffer) error {
		return s.ExecutePartIn(l, out, "changes", "change", newChangeLine(c, s.CurrentTime(), titles))
	})
}
