package readerui

import (
	"cmp"
	"slices"
	"time"

	"cloudburst/internal/river"
	"cloudburst/internal/web/locale"
	"cloudburst/internal/web/shell"
)

// riverDay is the part of a river page with the items of one day.
type riverDay struct {
	Name  string // such as "Today"
	Date  string // such as "2026-11-20"
	Long  string // such as "Friday, 20 November 2026"
	Posts []riverPost
}

// riverDays renders the items of a page and groups them by day. Consecutive items that one check
// brought form a group.
func (s *riverPages) riverDays(list []river.Entry, how showing) (days []riverDay, err error) {
	for i := range list {
		e := &list[i]
		p := s.post(e, how)
		at := e.At.In(how.zone)
		if date := at.Format(time.DateOnly); len(days) == 0 || days[len(days)-1].Date != date {
			days = append(days, riverDay{dayName(how.lang, at, how.now.In(how.zone)), date, how.lang.Date(at, "Monday, 2 January 2006"), nil})
		}
		d := &days[len(days)-1]
		if n := len(d.Posts); n > 0 && d.Posts[n-1].Group == p.Group {
			p.First = false
		}
		d.Posts = append(d.Posts, p)
	}
	for _, d := range days {
		sortGroups(d.Posts, how.oldest)
		if how.fold {
			how.foldOld(d.Posts)
		}
		for i := range d.Posts {
			if err := s.writeItem(&d.Posts[i], how); err != nil {
				return nil, err
			}
		}
	}
	return days, nil
}

// sortGroups sorts the items of each group by their time of publication. The order in which one check
// stored the items has no meaning.
func sortGroups(posts []riverPost, oldest bool) {
	for from := 0; from < len(posts); {
		to := from + 1
		for to < len(posts) && !posts[to].First {
			to++
		}
		group := posts[from:to]
		slices.SortStableFunc(group, func(a, b riverPost) int {
			if oldest {
				a, b = b, a
			}
			return cmp.Or(cmp.Compare(b.At, a.At), cmp.Compare(b.Published, a.Published))
		})
		for i := range group {
			group[i].First = i == 0
		}
		from = to
	}
}

func dayName(l *locale.Locale, t, now time.Time) string {
	y, m, d := now.Date()
	today := time.Date(y, m, d, 0, 0, 0, 0, now.Location())
	switch {
	case !t.Before(today):
		return l.Words("Today")
	case !t.Before(today.AddDate(0, 0, -1)):
		return l.Words("Yesterday")
	case !t.Before(today.AddDate(0, 0, -6)):
		return l.Date(t, "Monday")
	case t.Year() == y:
		return l.Date(t, "Monday, 2 January")
	}
	return l.Date(t, "2 January 2006")
}

// clock is a time of day.
type clock struct{ ISO, Exact, Text string }

func clockOf(t, day time.Time, zone *time.Location, l *locale.Locale) clock {
	w := shell.NewMoment(t, t)
	in := t.In(zone)
	c := clock{w.ISO, w.In(l).Exact, in.Format("15:04")}
	if y, m, d := day.In(zone).Date(); y != in.Year() || m != in.Month() || d != in.Day() {
		c.Text = l.Date(in, "2 Jan 15:04")
	}
	return c
}
