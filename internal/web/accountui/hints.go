package accountui

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"cloudburst/internal/account"
	"cloudburst/internal/author"
	"cloudburst/internal/date"
	"cloudburst/internal/fault"
	"cloudburst/internal/web/shell"
	"cloudburst/protocol/rsscloud"
)

// hintsView is the form for the update interval that the feed declares.
type hintsView struct {
	TTL, Hours, Period, Frequency, Base string
	Days                                []chosen
	Periods                             []chosen
	Open                                bool // the form is open, because a value is set or invalid
	Wrong                               string
}

// chosen is an option of a list in the form, and whether it is selected.
type chosen struct {
	Name string
	On   bool
}

func hintsViewOf(h author.Hints) hintsView {
	v := hintsView{TTL: positive(h.TTL), Period: h.UpdatePeriod, Frequency: positive(h.UpdateFrequency), Open: !h.IsZero()}
	var hours []string
	for _, hour := range h.SkipHours {
		hours = append(hours, strconv.Itoa(hour))
	}
	v.Hours = strings.Join(hours, ", ")
	if !h.UpdateBase.IsZero() {
		v.Base = h.UpdateBase.Format(time.RFC3339)
	}
	v.choices(h.SkipDays)
	return v
}

// choices sets the options for days and periods.
func (v *hintsView) choices(days []string) {
	v.Days, v.Periods = nil, nil
	for i := range 7 {
		day := time.Weekday((i + 1) % 7).String()
		on := false
		for _, c := range days {
			on = on || c == day
		}
		v.Days = append(v.Days, chosen{day, on})
	}
	for _, period := range author.Periods() {
		v.Periods = append(v.Periods, chosen{period, period == v.Period})
	}
}

func positive(n int) string {
	if n <= 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// doHints sets the update interval that the feed of the user's posts declares.
func (s *Pages) doHints(rw http.ResponseWriter, r *http.Request, session account.Session, form rsscloud.Form) error {
	one := func(name string) string { return shell.CleanText(strings.TrimSpace(shell.FormValue(form, name)), 200) }
	v := hintsView{TTL: one("ttl"), Hours: one("hours"), Period: one("period"), Frequency: one("frequency"), Base: one("base"), Open: true}
	var days []string
	for _, field := range form {
		if field.Name == "day" {
			days = append(days, shell.CleanText(field.Value, 40))
		}
	}
	v.choices(days)
	hints, err := v.parse(days)
	if err == nil {
		_, err = s.Profiles.SetProfile(r.Context(), session.User, func(p *author.Profile) error { p.Hints = hints; return nil }, "write")
	}
	if err != nil {
		status := s.Refused(rw, r, err)
		v.Wrong = shell.Reason(err)
		return s.showFeeds(rw, r, session, status, feedsView{Hints: v}, hosted{})
	}
	return shell.Redirect(rw, r, "/account/feed?done=hints")
}

// parse reads the values of the form.
func (v *hintsView) parse(days []string) (h author.Hints, err error) {
	number := func(what, s string) int {
		n, e := strconv.Atoi(s)
		if s != "" && e != nil && err == nil {
			err = fault.New(fault.Invalid, "%q is not a whole number. Write %s as a number, or leave the field empty.", s, what)
		}
		return n
	}
	h = author.Hints{TTL: number("the minutes", v.TTL), SkipDays: days, UpdatePeriod: v.Period, UpdateFrequency: number("the times in a period", v.Frequency)}
	for _, hour := range strings.FieldsFunc(v.Hours, func(r rune) bool { return r == ',' || r == ' ' }) {
		h.SkipHours = append(h.SkipHours, number("each hour", hour))
	}
	if v.Base != "" {
		base, ok := date.Parse(v.Base)
		if !ok && err == nil {
			err = fault.New(fault.Invalid, "%q is not a time. Write it as 2026-01-01T12:00:00Z, or leave the field empty.", v.Base)
		}
		h.UpdateBase = base
	}
	return h, err
}
