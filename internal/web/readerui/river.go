package readerui

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/river"
	"cloudburst/internal/river/search"
	"cloudburst/internal/web/shell"
)

const itemsPerPage = 50

// riverScope is the part of a river that a page shows.
type riverScope struct {
	Reader   string
	May      access
	Root     string // path of the river, or of the public category
	Category string
	Public   string // owner of a public river; "": not public
	Private  bool   // the category is private: only its owner sees this page
}

// visitors reports whether the pages of the scope are for people other than its user.
func (st riverScope) visitors() bool { return st.May != accessWrite || st.Public != "" }

// riverQuery holds the filters in the URL of a page.
type riverQuery struct {
	Category string
	Source   int64
	Starred  bool
	Unread   bool
	Text     string // search text as typed
	Before   river.Place
	Wrong    string // the error of an invalid filter
}

func parseRiverQuery(v url.Values) riverQuery {
	q := riverQuery{Category: shell.CleanText(v.Get("category"), 200), Text: strings.TrimSpace(shell.CleanText(v.Get("q"), 300)), Starred: v.Get("starred") == "1", Unread: v.Get("unread") == "1"}
	if id := v.Get("source"); id != "" {
		n, err := strconv.ParseInt(id, 10, 64)
		if err != nil || n <= 0 {
			q.Wrong = "There is no feed with that number."
		}
		q.Source = n
	}
	if at := v.Get("before"); at != "" {
		var ok bool
		if q.Before, ok = parseRiverPlace(at); !ok {
			q.Wrong = "The position in the address is not valid. Start at the top of the river."
		}
	}
	return q
}

// riverPlace writes a place for a URL.
func riverPlace(p river.Place) string {
	return strconv.FormatInt(p.At, 10) + "." + strconv.FormatInt(p.ID, 10)
}

func parseRiverPlace(s string) (p river.Place, ok bool) {
	at, id, found := strings.Cut(s, ".")
	if !found {
		return p, false
	}
	var err1, err2 error
	p.At, err1 = strconv.ParseInt(at, 10, 64)
	p.ID, err2 = strconv.ParseInt(id, 10, 64)
	if err1 != nil || err2 != nil || p.ID <= 0 || p.At <= 0 {
		return river.Place{}, false
	}
	return p, true
}

// Filtered reports whether the page shows a selection of items, not a whole river, category or
// feed.
func (q riverQuery) Filtered() bool { return q.Starred || q.Unread || q.Text != "" }

// scoped reports whether the page shows a category or a feed.
func (q riverQuery) scoped() bool { return q.Category != "" || q.Source != 0 }

// live reports whether the page shows new items without a reload.
func (q riverQuery) live() bool { return !q.Starred && q.Text == "" }

// values returns the URL parameters of q without Before.
func (q riverQuery) values() url.Values {
	v := url.Values{}
	if q.Category != "" {
		v.Set("category", q.Category)
	}
	if q.Source != 0 {
		v.Set("source", strconv.FormatInt(q.Source, 10))
	}
	if q.Starred {
		v.Set("starred", "1")
	}
	if q.Unread {
		v.Set("unread", "1")
	}
	if q.Text != "" {
		v.Set("q", q.Text)
	}
	return v
}

func withQuery(path string, v url.Values) string {
	if len(v) == 0 {
		return path
	}
	return path + "?" + v.Encode()
}

// items returns the query for the river. It converts the search terms is:starred, is:unread and
// is:read; the river interprets the other terms.
func (q riverQuery) items(reader string) river.ItemQuery {
	out := river.ItemQuery{Reader: reader, Category: q.Category, SourceID: q.Source, Starred: q.Starred, Unread: q.Unread, Before: q.Before, Limit: itemsPerPage + 1}
	var words []string
	for word := range strings.FieldsSeq(q.Text) {
		switch strings.ToLower(word) {
		case "is:starred":
			out.Starred = true
		case "is:unread":
			out.Unread = true
		case "is:read":
			out.Read = true
		default:
			words = append(words, word)
		}
	}
	out.Match = strings.Join(words, " ")
	return out
}

// found returns the search terms that the page marks in its items; nil: the page has no valid
// search.
func (q riverQuery) found() []search.Term {
	if q.Text == "" {
		return nil
	}
	words, err := search.Read(q.items("").Match)
	if err != nil {
		return nil
	}
	terms, err := search.Terms(words.Rest)
	if err != nil { // an invalid search marks nothing
		return nil
	}
	return terms
}

func (s *riverPages) riverPage(rw http.ResponseWriter, r *http.Request, reader string, may access) error {
	st := riverScope{Reader: reader, May: may, Root: "/river", Category: parseRiverQuery(r.URL.Query()).Category}
	return s.riverOf(rw, r, st)
}

// riverOf shows a scope of a river.
func (s *riverPages) riverOf(rw http.ResponseWriter, r *http.Request, st riverScope) error {
	q := parseRiverQuery(r.URL.Query())
	q.Category = st.Category
	if st.May != accessWrite {
		q.Starred, q.Unread = false, false
	}
	if st.Public != "" {
		q.Source = 0
	}
	status := http.StatusOK
	v, err := s.riverView(r, st, q)
	switch {
	case err == nil:
	case fault.CodeOf(err) == fault.Invalid: // the page shows the error next to the search field
		v.Query.Wrong, status = shell.Sentence(fault.Message(err)), http.StatusBadRequest
	default:
		return err
	}
	s.AllowMedia(rw)
	return s.Render(rw, r, status, "river", v)
}

// riverView reads the data of a page. If it returns an error, the page has no items.
func (s *riverPages) riverView(r *http.Request, st riverScope, q riverQuery) (riverView, error) {
	ctx := r.Context()
	v := riverView{View: s.NewView(r, "River"), Query: q, riverScope: st, Looks: s.displaySettingsOf(r), Own: st.May == accessWrite, base: s.BaseURL(r)}
	v.OwnKeys = true
	v.Plain = withQuery(st.Root, v.values())
	v.Back = v.Plain
	if q.Before != (river.Place{}) {
		v.Back = withQuery(st.Root, v.with("before", riverPlace(q.Before)))
	}
	if err := s.railOf(ctx, &v); err != nil {
		return v, err
	}
	err := s.fillRiver(r, &v)
	if failed := s.finishRail(ctx, &v); err == nil {
		err = failed
	}
	return v, err
}

// fillRiver adds the name of the river and its items.
func (s *riverPages) fillRiver(r *http.Request, v *riverView) error {
	ctx, st, q := r.Context(), v.riverScope, v.Query
	if err := s.nameRiver(ctx, v); err != nil {
		return err
	}
	if q.Wrong != "" {
		return fault.New(fault.Invalid, "%s", q.Wrong)
	}
	want := q.items(st.Reader)
	want.Oldest = v.Looks.Oldest
	if want.Public = st.visitors(); want.Public { // marks and categories are private
		if words, err := search.Read(q.Text); err == nil && words.Private() {
			return fault.New(fault.Invalid, "Only the owner of the river can search by category, star or read mark. Choose a category from the list.")
		}
	}
	asked := s.CurrentTime()
	v.Fold = q.Source == 0 && q.Text == "" && !q.Starred && !want.Oldest
	page, err := s.pageOf(ctx, want, v.Fold, st.Public == "")
	if err != nil {
		return err
	}
	list := page.list
	if page.older != (river.Place{}) {
		v.Older = withQuery(st.Root, v.with("before", riverPlace(page.older)))
	}
	s.follow(v, asked, list)
	v.Found, v.Zone = len(list), shell.TimeZone(r)
	s.addMarkResult(r, v)
	v.Days, err = s.riverDays(list, showing{lang: v.Lang, now: v.Now, zone: v.Zone, root: st.Root, from: v.values(), fold: v.Fold, rest: page.rest, found: q.found(), oldest: want.Oldest, own: v.Own, marks: v.Looks.Marks, reply: v.Own && s.IsWriter(r)})
	return err
}

// follow adds the stream of new items to the page. asked is the time before the items were read:
// the Seq of an item is its write time, so the stream misses no item. Searches, starred items,
// older pages and pages with the oldest item first have no stream.
func (s *riverPages) follow(v *riverView, asked time.Time, list []river.Entry) {
	if s.Arrivals == nil || v.Looks.Oldest || !v.Query.live() || v.Query.Before != (river.Place{}) {
		return
	}
	since := asked.UnixMicro()
	for i := range list {
		since = max(since, list[i].Seq) // if the clock was set back, items can be later than the clock
	}
	values := v.values()
	values.Set("since", strconv.FormatInt(since, 10))
	v.Stream = withQuery(v.Root+"/stream", values)
}
