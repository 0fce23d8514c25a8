package readerui

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"cloudburst/internal/fault"
	"cloudburst/internal/river"
	"cloudburst/internal/river/search"
	"cloudburst/internal/web/content"
	"cloudburst/internal/web/locale"
	"cloudburst/internal/web/shell"
)

// itemView is the reading view: the page of one item.
type itemView struct {
	shell.View
	Post       riverPost
	Own        bool
	Classes    string    // CSS classes of the river's element
	Back       string    // URL of the page after a form was sent: this page, with keepMark
	Up         string    // URL of the river from which the user came
	UpName     string    // name of that river
	UpForeign  bool      // the user chose the name: isolate its text direction
	Prev, Next *itemLink // the items before and after this item in that river; nil: none
	Full       fullView
	Replies    []*content.Reply
}

// itemLink is a link to a neighbour of an item.
type itemLink struct{ Href, Title, Feed string }

// keepMark is the URL parameter of a page that must not mark its item as read, because the user has
// just changed the mark.
const keepMark = "keep"

// itemPage shows one item completely.
func (s *riverPages) itemPage(rw http.ResponseWriter, r *http.Request, reader string, may access) error {
	return s.itemOf(rw, r, riverScope{Reader: reader, May: may, Root: "/river", Category: parseRiverQuery(r.URL.Query()).Category})
}

// itemOf shows an item of a scope. The URL has the parameters of the river from which the
// user came; a parameter that is not valid leads to the whole river.
func (s *riverPages) itemOf(rw http.ResponseWriter, r *http.Request, st riverScope) error {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil || id <= 0 {
		return s.NotFound(rw, r)
	}
	want := river.ItemQuery{Reader: st.Reader, IDs: []int64{id}, Public: st.visitors(), Limit: 1}
	if st.Public != "" {
		want.Category = st.Category
	}
	list, err := s.River.Items(r.Context(), want)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		return s.NotFound(rw, r)
	}
	looks := s.displaySettingsOf(r)
	v := itemView{View: s.NewView(r, ""), Own: st.May == accessWrite}
	v.OwnKeys = true
	v.Classes = looks.reading()
	if v.Own && looks.Marks {
		s.markOpened(r, st.Reader, &list[0])
	}
	q := s.itemScope(r, st, &list[0])
	how := showing{lang: v.Lang, now: v.Now, zone: shell.TimeZone(r), root: st.Root, from: q.scopeValues(st), found: q.found(), oldest: looks.Oldest, own: v.Own, marks: looks.Marks, whole: true, reply: v.Own && s.IsWriter(r)}
	if v.Full, err = s.fullOf(r, st, &list[0], withQuery(how.path(id), how.from)); err != nil {
		return err
	}
	v.Post = s.post(&list[0], how)
	v.Title = v.Post.Title
	if v.Title == "" {
		v.Title = v.Say("From %s", v.Post.Feed)
	}
	v.Heading, v.Up, v.Back = v.Title, withQuery(st.Root, q.scopeValues(st)), v.Post.Self
	v.UpName, v.UpForeign = q.name(v.Lang), q.Category != "" || q.Text != ""
	if q.Source != 0 {
		v.UpName, v.UpForeign = v.Post.Feed, true
	}
	if v.Own {
		kept := q.scopeValues(st)
		kept.Set(keepMark, "1")
		v.Back = withQuery(how.path(id), kept)
	}
	if v.Replies, err = s.repliesOf(r, &list[0], how.reply); err != nil {
		return err
	}
	if v.Prev, v.Next, err = s.neighbours(r.Context(), st, q, &list[0], how); err != nil {
		return err
	}
	s.AllowMedia(rw)
	return s.Render(rw, r, http.StatusOK, "riveritem", v)
}

// reading returns the classes of an item on its own page, where the settings for lists do not apply.
func (d displaySettings) reading() string {
	d.Density, d.Width = "", ""
	return d.Classes()
}

// itemScope returns the filters of the river from which the user came. Filters that this user may
// not use, or that do not fit the item, are left out.
func (s *riverPages) itemScope(r *http.Request, st riverScope, e *river.Entry) riverQuery {
	q := parseRiverQuery(r.URL.Query())
	q.Before, q.Category = river.Place{}, st.Category
	if q.Wrong != "" {
		q = riverQuery{Category: st.Category}
	}
	if q.Source != e.SourceID || st.Public != "" {
		q.Source = 0
	}
	if st.May != accessWrite { // marks and categories are private
		q.Starred, q.Unread = false, false
		if st.Public == "" && s.mayWatch(r.Context(), st) != nil {
			q.Category = ""
		}
		if w, err := search.Read(q.Text); err != nil || w.Private() {
			q.Text = ""
		}
	}
	return q
}

// name returns the heading of the page that q selects, unless it is the page of a feed.
func (q riverQuery) name(l *locale.Locale) string {
	switch {
	case q.Text != "":
		return l.Say("Search: %s", q.Text)
	case q.Starred:
		return l.Words("Starred")
	case q.Unread && q.Category == "":
		return l.Words("Unread")
	case q.Category != "":
		return shell.CleanText(q.Category, 100)
	}
	return l.Words("River")
}

// markOpened marks an item as read, because its owner opens it. A prefetch of the page does not
// mark the item, and neither does a URL with keepMark.
func (s *riverPages) markOpened(r *http.Request, reader string, e *river.Entry) {
	if e.Mark.Read || r.Method != http.MethodGet || isPrefetch(r) || r.URL.Query().Has(keepMark) {
		return
	}
	yes := true
	if _, err := s.River.Mark(r.Context(), reader, []int64{e.ID}, &yes, nil); err != nil {
		s.Logger().Warn("mark an opened item as read", "err", err) // show the page although it could not be marked
		return
	}
	e.Mark.Read = true
}

// isPrefetch reports whether a browser loads a page before the user opens it.
func isPrefetch(r *http.Request) bool {
	for _, name := range []string{"Sec-Purpose", "Purpose", "X-Moz", "X-Purpose"} {
		switch kind, _, _ := strings.Cut(strings.ToLower(r.Header.Get(name)), ";"); strings.TrimSpace(kind) {
		case "prefetch", "prerender", "preview":
			return true
		}
	}
	return false
}

// neighbours links to the items directly before and after an item in the order of the river.
func (s *riverPages) neighbours(ctx context.Context, st riverScope, q riverQuery, e *river.Entry, how showing) (prev, next *itemLink, err error) {
	for _, side := range []struct {
		link **itemLink
		prev bool
	}{{&prev, true}, {&next, false}} {
		want := q.items(st.Reader)
		want.Public = st.visitors()
		want.Unread = want.Unread && !(side.prev && how.marks) // if the river shows read marks, the items before this one were just marked read
		want.Before, want.Oldest, want.Bare, want.Limit = e.Place(), side.prev != how.oldest, true, neighbourLimit
		list, err := s.River.Items(ctx, want)
		if err != nil {
			if fault.CodeOf(err) == fault.Invalid { // the search is invalid; its page shows the error
				return nil, nil, nil
			}
			return nil, nil, err
		}
		for _, n := range list {
			feed := shell.CleanText(n.Source.Title, 120)
			*side.link = &itemLink{withQuery(how.path(n.ID), how.from), strings.TrimSpace(shell.CleanText(n.Title, 120)), feed}
			break
		}
	}
	return prev, next, nil
}

// neighbourLimit is the maximum number of items that neighbours reads in each direction. A page for
// other users skips the items of private feeds.
const neighbourLimit = 5

// path returns the path of the page of an item.
func (how showing) path(id int64) string { return how.root + "/item/" + strconv.FormatInt(id, 10) }

// scopeValues returns the parameters that select q in a scope.
func (q riverQuery) scopeValues(st riverScope) url.Values {
	v := q.values()
	if st.Public != "" { // the path already names the category
		v.Del("category")
	}
	return v
}
