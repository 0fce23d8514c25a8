package accountui

import (
	"math"
	"net/http"
	"time"

	"cloudburst/feed/render"
	"cloudburst/internal/account"
	"cloudburst/internal/audience"
	"cloudburst/internal/web/locale"
	"cloudburst/internal/web/shell"
)

// readersDays is the number of days on the page about the readers of feeds.
const readersDays = 30

type readersView struct {
	shell.View
	Lead     string
	Then     string
	Report   audience.Report
	Services []serviceRow
	Push     []countRow
	Formats  []countRow
	Programs []countRow
	Charts   []shell.Figure
	Days     []dayRow // one row a day, newest first
}

// serviceRow is an online feed reader that fetches a feed once for many people.
type serviceRow struct {
	Name, Format string
	N            int64
	Last         shell.Moment
}

type countRow struct {
	Name string
	N    int64
}

type dayRow struct {
	Date, ISO string
	audience.Day
}

// readersPage shows the number of readers of the user's feeds.
func (s *Pages) readersPage(rw http.ResponseWriter, r *http.Request, session account.Session) error {
	report, err := s.Audience.Report(r.Context(), session.User, readersDays)
	if err != nil {
		return err
	}
	v := readersView{View: s.NewView(r, "Readers"), Report: report}
	v.Heading = v.Say("Your readers")
	v.Lead, v.Then = readersWords(v.Lang, report)
	for _, one := range report.Services.List {
		v.Services = append(v.Services, serviceRow{shell.CleanText(one.Name, 100), v.Say(formTitle(one.Format)), one.Subscribers, v.When(one.LastAt)})
	}
	for _, one := range report.Programs.List {
		v.Programs = append(v.Programs, countRow{shell.CleanText(one.Name, 100), one.N})
	}
	for _, one := range report.Push.List {
		v.Push = append(v.Push, countRow{shell.ProtocolName(one.Name), one.N})
	}
	for _, one := range report.Formats {
		v.Formats = append(v.Formats, countRow{v.Say(formTitle(one.Name)), one.N})
	}
	v.Charts = readersCharts(v.Lang, report.Days, v.Now)
	for _, d := range report.Days {
		v.Days = append([]dayRow{{d.Day.UTC().Format("2 Jan 2006"), d.Day.UTC().Format(time.DateOnly), d}}, v.Days...)
	}
	return s.Render(rw, r, http.StatusOK, "readers", v)
}

// formTitle returns the common name of a feed format.
func formTitle(name string) string {
	if name == "" {
		return "as saved"
	}
	if f, err := render.Lookup(name); err == nil {
		return f.Title
	}
	return shell.CleanText(name, 40)
}

func readersWords(l *locale.Locale, r audience.Report) (lead, then string) {
	if r.Readers == 0 {
		return l.Say("No readers of your feeds were seen in the last %s.", locale.Quantity(r.WindowDays, "day", "days")),
			l.Words("Share their addresses; readers are counted here from their first request.")
	}
	var parts []string
	for _, p := range []struct {
		n    int64
		word string
	}{{r.Services.Readers, "through services"}, {r.Programs.Readers, "with their own programs"}, {r.Push.Readers, "by notifications only"}, {r.Private.Readers, "with a secret"}} {
		if p.n > 0 {
			parts = append(parts, l.Count(p.n)+" "+l.Words(p.word))
		}
	}
	lead = l.Say("About %s your feeds.", locale.Quantity(r.Readers, "person reads", "people read"))
	then = l.Join(parts) + "."
	if r.Partial {
		then += " " + l.Words("There are more readers than could be counted, so the number is too low.")
	}
	return lead, then
}

// readersCharts draws the days up to now. A day without data is a gap in the chart.
func readersCharts(l *locale.Locale, days []audience.Day, now time.Time) []shell.Figure {
	readers, requests := make([]float64, readersDays), make([]float64, readersDays)
	for i := range readers {
		readers[i], requests[i] = math.NaN(), math.NaN()
	}
	today := now.UTC().Truncate(24 * time.Hour)
	var last audience.Day
	for _, d := range days {
		i := readersDays - 1 - int(today.Sub(d.Day)/(24*time.Hour))
		if i >= 0 && i < readersDays {
			readers[i], requests[i], last = float64(d.Readers), float64(d.Requests), d
		}
	}
	ticks := []shell.Tick{{At: 0, Label: l.Words("−29 days")}, {At: 0.5, Label: "−15"}, {At: 1, Label: l.Words("today")}}
	charts := []shell.Figure{
		{ID: "readers", Title: l.Words("Readers"), Unit: l.Words("readers"), Whole: true, Ticks: ticks, Now: l.Say("now %d", last.Readers), Series: []shell.Series{{Name: l.Words("readers"), Class: "s1", Values: readers}}},
		{ID: "requests", Title: l.Words("Requests a day"), Unit: l.Words("requests"), Whole: true, Ticks: ticks, Bars: true, Now: l.Say("today %d", last.Requests), Series: []shell.Series{{Name: l.Words("requests"), Class: "s1", Values: requests}}},
	}
	for i := range charts {
		charts[i].Desc = shell.DescribeChart(l, charts[i].Series, l.Say("Over the last %d days.", readersDays), "", 24*60)
	}
	return charts
}
