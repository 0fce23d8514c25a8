package feed

import (
	"strconv"

	"cloudburst/internal/date"
)

// dateOrder decides whether the day or the month comes first in dates such as 03/04/2020. If
// another date of the document shows the order, all ambiguous dates use it.
type dateOrder struct {
	dayFirst, monthFirst bool      // the orders that unambiguous dates have shown
	count                int       // number of ambiguous dates
	waiting              []Problem // a problem for each ambiguous date, up to the limit of problems
}

// note records the order that an unambiguous date shows.
func (o *dateOrder) note(shown date.Order) {
	o.dayFirst = o.dayFirst || shown == date.DayFirst
	o.monthFirst = o.monthFirst || shown == date.MonthFirst
}

// order returns the order that the dates of the document show, or OrderUnknown if they disagree.
func (o *dateOrder) order() date.Order {
	switch {
	case o.dayFirst == o.monthFirst:
		return date.OrderUnknown
	case o.dayFirst:
		return date.DayFirst
	}
	return date.MonthFirst
}

// ambiguousDate stores a problem for an ambiguous date at an offset. orderDates decides later
// whether to report it.
func (p *parser) ambiguousDate(raw string, at int) {
	p.dates.count++
	if len(p.dates.waiting) >= p.o.Limits.Problems {
		return
	}
	p.dates.waiting = append(p.dates.waiting, Problem{Kind: ProblemDate, Line: p.r.Line(at), Path: p.path(),
		Message: "This date is ambiguous: " + quote(raw) + ". Write it like \"Fri, 20 Nov 2026 08:30:00 GMT\" or \"2026-11-20T08:30:00Z\"."})
}

// orderDates parses the ambiguous dates, or reports them if the order is still unknown.
func (p *parser) orderDates() {
	waiting, order := p.dates.waiting, p.dates.order()
	if p.dates.count == 0 {
		return
	}
	if order == date.OrderUnknown {
		p.unreported += p.dates.count - len(waiting)
		for _, w := range waiting {
			p.problemAt(w.Kind, w.Line, w.Path, w.Message)
		}
		return
	}
	read := func(d *Date) {
		if d.Raw != "" && d.UTC.IsZero() {
			d.UTC, _, _ = date.ParseOrder(d.Raw, order)
		}
	}
	f := p.f
	for _, d := range []*Date{&f.Published, &f.Updated, &f.Created, &f.Hints.UpdateBase} {
		read(d)
	}
	readTrailers(f.Podcast, read)
	readItems(f.Items, read)
	first := "month"
	if order == date.DayFirst {
		first = "day"
	}
	p.problemAt(ProblemDate, 0, "", "Ambiguous dates: "+strconv.Itoa(p.dates.count)+". They are read with the "+first+
		" first, as another date of this feed shows. Write dates like \"2026-11-20T08:30:00Z\".")
}

// readItems calls read for each date of items and of their nested items.
func readItems(items []Item, read func(*Date)) {
	for i := range items {
		it := &items[i]
		read(&it.Published)
		read(&it.Updated)
		if it.More != nil {
			read(&it.More.Created)
			read(&it.More.Expires)
			read(&it.More.Edited)
		}
		if it.Source != nil {
			read(&it.Source.Updated)
		}
		readTrailers(it.Podcast, read)
		readItems(it.Items, read)
	}
}

// readTrailers calls read for the date of each trailer of a podcast.
func readTrailers(c *Podcast, read func(*Date)) {
	if c == nil {
		return
	}
	for i := range c.Trailers {
		read(&c.Trailers[i].Published)
	}
}
