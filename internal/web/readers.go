package web

import (
	"math"
	"net/http"
	"time"

	"cloudburst/feed/render"
	"cloudburst/internal/account"
	"cloudburst/internal/audience"
)

// readersDays is how far back the page of readers looks.
const readersDays = 30

type readersView struct {
	view
	Mine     string
	Lead     string
	Then     string
	Report   audience.Report
	Services []serviceRow
	Push     []countRow
	Formats  []countRow
	Programs []countRow
	Charts   []figure
	Days     []dayRow // the newest first
}

// serviceRow is a service that reads for many.
type serviceRow struct {
	Name, Format string
	N            int64
	Last         moment
}

type countRow struct {
	Name string
	N    int64
}

type dayRow struct {
	Date, ISO string
	audience.Day
}

// readersPage says who reads one's feeds, as far as that can be known.
func (s *accountPages) readersPage(rw http.ResponseWriter, r *http.Request, session account.Session) {
	report, err := s.Audience.Report(r.Context(), session.User, readersDays)
	if err != nil {
		s.fail(rw, r, err)
		return
	}
	v := readersView{view: s.view(r, "Readers", "/account"), Mine: "/account/readers", Report: report}
	v.Heading = "Your readers"
	v.Lead, v.Then = readersWords(report)
	for _, one := range report.Services.List {
		v.Services = append(v.Services, serviceRow{clean(one.Name, 100), formTitle(one.Format), one.Subscribers, v.When(one.LastAt)})
	}
	for _, one := range report.Programs.List {
		v.Programs = append(v.Programs, countRow{clean(one.Name, 100), one.N})
	}
	for _, one := range report.Push.List {
		v.Push = append(v.Push, countRow{protocolWords(one.Name), one.N})
	}
	for _, one := range report.Formats {
		v.Formats = append(v.Formats, countRow{formTitle(one.Name), one.N})
	}
	v.Charts = readersCharts(report.Days, v.Now)
	for _, d := range report.Days {
		v.Days = append([]dayRow{{d.Day.UTC().Format("2 Jan 2006"), d.Day.UTC().Format(time.DateOnly), d}}, v.Days...)
	}
	s.render(rw, r, http.StatusOK, "readers", v)
}

// formTitle is what people call a form of a feed.
func formTitle(name string) string {
	if name == "" {
		return "as saved"
	}
	if f, err := render.Lookup(name); err == nil {
		return f.Title
	}
	return clean(name, 40)
}

func readersWords(r audience.Report) (lead, then string) {
	if r.Readers == 0 {
		return "Nobody was seen reading your feeds in the last " + some(r.WindowDays, "day", "days") + ".",
			"Tell people where they are; whoever reads one is counted here from then on."
	}
	var parts []string
	for _, p := range []struct {
		n    int64
		word string
	}{{r.Services.Readers, "through services"}, {r.Programs.Readers, "with a program of their own"}, {r.Push.Readers, "by notifications alone"}, {r.Private.Readers, "with a secret"}} {
		if p.n > 0 {
			parts = append(parts, count(p.n)+" "+p.word)
		}
	}
	lead = "About " + some(r.Readers, "person reads", "people read") + " your feeds."
	then = list(parts) + "."
	if r.Partial {
		then += " There are more readers than were looked at, so the number is too low."
	}
	return lead, then
}

// readersCharts draws the days up to now; one that nothing is known of is a gap.
func readersCharts(days []audience.Day, now time.Time) []figure {
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
	ticks := []tick{{0, "−29 days"}, {0.5, "−15"}, {1, "today"}}
	charts := []figure{
		{ID: "readers", Title: "Readers", Ticks: ticks, Now: "now " + count(last.Readers), Series: []series{{"readers", "s1", readers}}},
		{ID: "requests", Title: "Requests a day", Ticks: ticks, Bars: true, Now: "today " + count(last.Requests), Series: []series{{"requests", "s1", requests}}},
	}
	for i := range charts {
		charts[i].Desc = describe(charts[i].Series, "last "+some(readersDays, "day", "days"), "", 24*60)
	}
	return charts
}
