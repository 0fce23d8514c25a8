package hubui

import (
	"math"
	"net/http"
	"slices"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/hub"
	"cloudburst/internal/web/locale"
	"cloudburst/internal/web/shell"
)

// span is a period that the status page can show.
type span struct {
	Name, Label string
	Length      time.Duration
	Step        time.Duration // period that one point of a chart covers
	TableStep   time.Duration // period that one row of the table covers
	Ticks       []shell.Tick
}

func spans() []span {
	return []span{
		{"hour", "Last hour", time.Hour, time.Minute, 10 * time.Minute,
			[]shell.Tick{{At: 0, Label: "−60 min"}, {At: 0.25, Label: "−45"}, {At: 0.5, Label: "−30"}, {At: 0.75, Label: "−15"}, {At: 1, Label: "now"}}},
		{"day", "Last day", 24 * time.Hour, 15 * time.Minute, 2 * time.Hour,
			[]shell.Tick{{At: 0, Label: "−24 h"}, {At: 0.25, Label: "−18"}, {At: 0.5, Label: "−12"}, {At: 0.75, Label: "−6"}, {At: 1, Label: "now"}}},
	}
}

type statusView struct {
	shell.View
	Lead     string
	Then     string
	Bad      bool
	Needs    []attention
	warnings []string
	Groups   []numberGroup
	Counts   hub.Counts
	Counted  bool
	Live     hub.Live
	Up       string
	Spans    []span
	Span     span
	Charts   []shell.Figure
	Table    []bucket
	Reading  *readingNow // nil: no feed reader, or its state is unknown
}

// bucket is the activity of all nodes in one period.
type bucket struct {
	At time.Time
	hub.Minute
	Any      bool // at least one node was running
	Measured bool // P50 and P99 are valid
}

func (s *Pages) status(rw http.ResponseWriter, r *http.Request) error {
	v := statusView{View: s.wideView(r, "Status"), Spans: spans(), Live: s.Hub.Live()}
	v.Script = "status.js"
	v.Span = v.Spans[0]
	for _, sp := range v.Spans {
		if sp.Name == r.URL.Query().Get("span") {
			v.Span = sp
		}
	}
	if s.Warnings != nil {
		v.warnings = s.Warnings()
	}
	if !v.Live.Started.IsZero() {
		v.Up = v.Lang.Duration(v.Now.Sub(v.Live.Started))
	}
	minutes, err := s.Store.Minutes(r.Context(), v.Now.Add(-v.Span.Length))
	if err == nil {
		v.Counts, err = s.Hub.Counts(r.Context())
	}
	if err != nil {
		s.Logger().Error("read the store for the status page", "err", err)
		v.Bad, v.Lead = true, "The store cannot be reached at the moment."
		v.Then = "No acknowledged request is lost. The work continues when the store is available again."
		v.Needs = attentions(v)
		if fault.CodeOf(err) == fault.Unavailable {
			rw.Header().Set("Retry-After", "10")
		}
		return s.Render(rw, r, http.StatusServiceUnavailable, "status", v)
	}
	v.Counted = true
	v.Reading = s.readingNow(r.Context(), v.Lang)
	points := gather(minutes, v.Now, v.Span.Length, v.Span.Step)
	v.Charts = statusCharts(v.Lang, points, v.Span)
	v.Table = gather(minutes, v.Now, v.Span.Length, v.Span.TableStep)
	v.Lead, v.Then, v.Bad = statusWords(v, points)
	v.Needs, v.Groups = attentions(v), statusGroups(v)
	return s.Render(rw, r, http.StatusOK, "status", v)
}

// gather sums the minutes of all nodes into equal periods that end now, oldest first. The p50 of a
// period is the mean of its minutes weighted by their notifications; the p99 is the highest of its
// minutes, so it is never lower than the exact value.
func gather(minutes []hub.Minute, now time.Time, length, step time.Duration) []bucket {
	all := make([]bucket, length/step)
	from := now.Add(-length)
	weight := make([]float64, len(all))
	for i := range all {
		all[i].At = from.Add(time.Duration(i) * step)
	}
	for _, m := range minutes {
		i := int(m.At.Sub(from) / step)
		if m.At.Before(from) || i >= len(all) {
			continue
		}
		b := &all[i]
		b.Any = true
		b.Pings += m.Pings
		b.Checks += m.Checks
		b.Changes += m.Changes
		b.Notified += m.Notified
		b.Failed += m.Failed
		b.Registers += m.Registers
		b.Writes += m.Writes
		b.Queue = max(b.Queue, m.Queue)
		if m.Notified > 0 {
			b.Measured = true
			b.P99 = max(b.P99, m.P99)
			b.P50 = (b.P50*weight[i] + m.P50*float64(m.Notified)) / (weight[i] + float64(m.Notified))
			weight[i] += float64(m.Notified)
		}
	}
	return all
}

// P50Text returns the median latency, or a dash if the period has no notifications.
func (b bucket) P50Text() any { return b.latency(b.P50) }

// P99Text returns the 99th percentile of the latency, or a dash if the period has no notifications.
func (b bucket) P99Text() any { return b.latency(b.P99) }

func (b bucket) latency(ms float64) any {
	if !b.Measured {
		return "–"
	}
	return time.Duration(ms * float64(time.Millisecond))
}

func statusWords(v statusView, points []bucket) (lead, then string, bad bool) {
	var sum bucket
	weight := 0.0
	for _, p := range points {
		sum.Notified += p.Notified
		sum.Failed += p.Failed
		sum.Pings += p.Pings
		if p.Measured {
			sum.P50 += p.P50 * float64(p.Notified)
			sum.P99 = max(sum.P99, p.P99)
			weight += float64(p.Notified)
			sum.Measured = true
		}
	}
	in := v.Say("In the last hour")
	if v.Span.Name == "day" {
		in = v.Say("In the last day")
	}
	switch {
	case sum.Measured:
		sum.P50 /= weight
		lead = v.Say("%s %s, half of them within %s of the ping.", in, locale.Quantity(sum.Notified, "subscriber was notified", "subscribers were notified"), sum.P50Text())
	case sum.Pings > 0:
		lead = v.Say("%s %s, and no subscriber had to be notified.", in, locale.Quantity(sum.Pings, "ping arrived", "pings arrived"))
	case v.Live.Totals.Notified > 0: // the current minute is not stored yet
		lead = v.Say("Since its start %s this server has notified %s.", v.Lang.Relative(v.Now, v.Live.Started), locale.Quantity(v.Live.Totals.Notified, "subscriber", "subscribers"))
	default:
		lead = v.Say("%s there was no activity.", in)
	}
	failing := v.Counts.Failing
	switch {
	case v.Counts.Subscriptions == 0:
		then = v.Say("There are no subscriptions yet.")
	case failing == 0:
		then = v.Say("Every one of the %s answers.", locale.Quantity(v.Counts.Subscriptions, "subscription", "subscriptions"))
	default:
		then = v.Say("%d of %s could not be notified the last time and %s retried.", failing, locale.Quantity(v.Counts.Subscriptions, "subscription", "subscriptions"), v.Say(isAre(failing)))
		bad = failing*4 > v.Counts.Subscriptions
	}
	return lead, then, bad
}

func isAre(n int64) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

func statusCharts(l *locale.Locale, points []bucket, sp span) []shell.Figure {
	per, period := l.Words("a minute"), l.Words("Over the last hour.")
	if sp.Step != time.Minute {
		per, period = l.Say("in %d minutes", int(sp.Step.Minutes())), l.Words("Over the last day.")
	}
	minutes := sp.Step.Minutes()
	pick := func(get func(bucket) float64, has func(bucket) bool) []float64 {
		out := make([]float64, len(points))
		for i, p := range points {
			if out[i] = math.NaN(); has(p) {
				out[i] = get(p)
			}
		}
		return out
	}
	seen := func(b bucket) bool { return b.Any }
	measured := func(b bucket) bool { return b.Measured }
	notified := pick(func(b bucket) float64 { return float64(b.Notified) }, seen)
	pings := pick(func(b bucket) float64 { return float64(b.Pings) }, seen)
	p50 := pick(func(b bucket) float64 { return b.P50 }, measured)
	p99 := pick(func(b bucket) float64 { return b.P99 }, measured)
	queue := pick(func(b bucket) float64 { return float64(b.Queue) }, seen)
	unit := inSeconds(p50, p99)
	charts := []shell.Figure{
		{ID: "told", Title: l.Say("Notifications %s", per), Unit: l.Words("notifications"), Whole: true, Bars: true, Series: []shell.Series{{Name: l.Words("notifications"), Class: "s1", Values: notified}}},
		{ID: "pings", Title: l.Say("Pings %s", per), Unit: l.Words("pings"), Whole: true, Bars: true, Series: []shell.Series{{Name: l.Words("pings"), Class: "s1", Values: pings}}},
		{ID: "latency", Title: l.Words("From ping to delivery"), Unit: unit, Series: []shell.Series{{Name: l.Words("half within (p50)"), Class: "s1", Values: p50}, {Name: l.Words("99 of 100 within (p99)"), Class: "s2", Values: p99}}},
		{ID: "queue", Title: l.Words("Peak queue"), Unit: l.Words("deliveries"), Whole: true, Series: []shell.Series{{Name: l.Words("deliveries"), Class: "s1", Values: queue}}},
	}
	for i := range charts {
		c := &charts[i]
		c.Ticks = slices.Clone(sp.Ticks)
		for j := range c.Ticks {
			c.Ticks[j].Label = l.Words(c.Ticks[j].Label)
		}
		c.Desc = shell.DescribeChart(l, c.Series, period, c.Unit, minutes)
		c.Now = l.Words("nothing yet")
		if c.Highest() > 0 {
			c.Now = l.Say("highest %s", shell.FormatHighest(l, c.Series[len(c.Series)-1].Values, c.Unit))
		}
	}
	return charts
}
