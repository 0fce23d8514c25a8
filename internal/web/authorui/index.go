package authorui

import (
	"context"
	"net/http"
	"strings"
	"time"

	"cloudburst/internal/author"
	"cloudburst/internal/web/content"
	"cloudburst/internal/web/shell"
)

// yearView is a year with its months that have posts.
type yearView struct {
	Year   string
	Months []content.TagView
}

// archivePage lists the months with posts of a user.
func (s *Pages) archivePage(rw http.ResponseWriter, r *http.Request, user string) error {
	return s.indexPage(rw, r, user, author.ByMonth, "archive", "Archive")
}

// aboutPage lists the categories of a user; if user is "", the categories of all users.
func (s *Pages) aboutPage(rw http.ResponseWriter, r *http.Request, user string) error {
	if user == author.Everyone {
		user = ""
	}
	return s.indexPage(rw, r, user, author.ByCategory, "category", "Categories")
}

func (s *Pages) indexPage(rw http.ResponseWriter, r *http.Request, user string, what author.CountOf, path, words string) error {
	w, err := s.writer(r.Context(), user)
	if err != nil {
		return err
	}
	if w.Version == 0 && user != "" {
		return s.NotFound(rw, r)
	}
	counts, err := s.Posts.Counts(r.Context(), user, what, "", 10_000)
	if err != nil {
		return err
	}
	stamp, err := s.Posts.Stamp(r.Context(), user, "")
	if err != nil {
		return err
	}
	l := postList{User: user, Words: s.Locale(r).Words(words)}
	base := l.view().Base()
	l.Path = base + path + "/"
	v, err := s.listView(r, w, l)
	if err != nil {
		return err
	}
	posts := int64(0)
	for _, c := range counts {
		posts += c.Posts
		if what == author.ByMonth {
			v.month(base, c)
		} else {
			v.Categories = append(v.Categories, content.TagView{Label: shell.CleanText(c.Label, 100), Href: author.View{User: user, Category: c.Name}.Base(), Posts: c.Posts})
		}
	}
	if what == author.ByMonth {
		v.Counted = shell.FormatQuantity(posts, "post", "posts")
		if err := s.addTitles(r.Context(), &v, user); err != nil {
			return err
		}
		if posts <= maxTitles {
			v.Months = nil // every post is listed by title, so the counts per month are not needed
		}
	}
	s.sendWritten(rw, r, "postindex", &v, time.UnixMicro(stamp))
	return nil
}

// month adds a month to the archive. The caller adds the newest month first.
func (v *postsView) month(base string, c author.Count) {
	at, err := time.Parse("2006-01", c.Name)
	if err != nil {
		return
	}
	year := at.Format("2006")
	if n := len(v.Months); n == 0 || v.Months[n-1].Year != year {
		v.Months = append(v.Months, yearView{Year: year})
	}
	y := &v.Months[len(v.Months)-1]
	y.Months = append(y.Months, content.TagView{Label: v.Lang.Date(at, "January"), Href: base + strings.ReplaceAll(c.Name, "-", "/") + "/", Posts: c.Posts})
}

// monthTitles is a month of the archive with its posts.
type monthTitles struct {
	Month string
	Posts []titleView
}

// addTitles adds the newest posts to the archive, by month.
func (s *Pages) addTitles(ctx context.Context, v *postsView, user string) error {
	posts, err := s.Posts.List(ctx, author.PostQuery{User: user, State: author.Published, Limit: maxTitles})
	if err != nil {
		return err
	}
	for i, t := range s.titles(posts) {
		at := posts[i].PublishedAt.UTC()
		month := v.Lang.Date(at, "January 2006")
		if n := len(v.Titles); n == 0 || v.Titles[n-1].Month != month {
			v.Titles = append(v.Titles, monthTitles{Month: month})
		}
		t.Day = v.Lang.Date(at, "2 January")
		m := &v.Titles[len(v.Titles)-1]
		m.Posts = append(m.Posts, t)
	}
	return nil
}
