package readerui

import (
	"net/http"
	"strconv"
	"strings"

	"cloudburst/internal/fault"
	"cloudburst/internal/river"
	"cloudburst/internal/web/feedview"
	"cloudburst/internal/web/locale"
	"cloudburst/internal/web/shell"
	"cloudburst/protocol/rsscloud"
)

type listsView struct {
	followView
	Rows []listRow
}

// listRow is a reading list.
type listRow struct {
	ID       string
	Title    string
	Address  string
	Href     string
	Category string
	Feeds    locale.Text
	Badge    feedview.Badge
	Why      string
	Read     shell.Moment
	Next     shell.Moment
	Due      bool
	Part     string // name of the list that includes this list; "": none
}

// listsPage shows the followed reading lists.
func (s *followPages) listsPage(rw http.ResponseWriter, r *http.Request, reader string, _ access) error {
	v := listsView{followView: s.followView(r, "Reading lists")}
	all, err := s.River.ReadingLists(r.Context(), reader)
	if err != nil {
		return err
	}
	names := map[int64]string{}
	for _, l := range all {
		names[l.ID] = listName(l)
	}
	for _, l := range all[:min(len(all), maxChoices)] {
		v.Rows = append(v.Rows, s.listRow(l, names))
	}
	return s.Render(rw, r, http.StatusOK, "readinglists", v)
}

func listName(l river.ReadingList) string {
	if l.Title != "" {
		return shell.CleanText(l.Title, 200)
	}
	return shell.ShortURL(feedview.WithoutUser(l.URL))
}

func (s *followPages) listRow(l river.ReadingList, names map[int64]string) listRow {
	now := s.CurrentTime()
	row := listRow{ID: strconv.FormatInt(l.ID, 10), Title: listName(l), Address: shell.CleanText(feedview.WithoutUser(l.URL), 300), Category: shell.CleanText(l.Category, 200),
		Feeds: locale.Quantity(l.Feeds, "feed", "feeds"), Read: shell.NewMoment(now, l.ReadAt), Next: shell.NewMoment(now, l.NextAt), Due: !l.NextAt.IsZero() && !l.NextAt.After(now), Part: names[l.Memory.Parent]}
	if shell.IsWebURL(l.URL) {
		row.Href = feedview.WithoutUser(l.URL)
	}
	src := river.Source{State: l.State, NextAt: l.NextAt}
	row.Badge, row.Why = feedview.Condition(&src, now)
	if row.Badge.Class == feedview.BadgeGood {
		row.Badge = feedview.Badge{}
	}
	if l.Problem != "" && row.Badge.Class == "" {
		row.Badge = feedview.Badge{Text: "failing", Class: feedview.BadgeBad}
	}
	if l.Problem != "" {
		row.Why = shell.CleanText(l.Problem, 300)
	}
	row.Why = shell.Sentence(row.Why)
	return row
}

// doDropList unfollows a list after confirmation; the user chooses whether its feeds stay.
func (s *followPages) doDropList(rw http.ResponseWriter, r *http.Request, reader string, form rsscloud.Form) error {
	id, err := strconv.ParseInt(strings.TrimSpace(shell.FormValue(form, "id")), 10, 64)
	if err != nil {
		return fault.New(fault.NotFound, "You do not follow that list.")
	}
	remove := shell.FormValue(form, "remove") == "yes"
	if remove && shell.FormValue(form, "sure") == "" {
		return s.AskFirst(rw, r, "Unfollow the list and all its feeds?", shell.Question{Lines: []string{"All feeds that the list added are unfollowed. Their items leave your river; starred ones stay."},
			Action: r.URL.Path, Fields: []shell.NamedValue{{Name: "id", Value: strconv.FormatInt(id, 10)}, {Name: "remove", Value: "yes"}}, Button: "Unfollow all", Back: "/feeds/lists"})
	}
	if err := s.River.DropReadingList(r.Context(), reader, id, remove); err != nil {
		return err
	}
	return shell.Redirect(rw, r, "/feeds/lists?done=dropped")
}
