package feed

import (
	"time"

	"cloudburst/internal/date"
)

// ParseDate parses a date in any form that is common in feeds: RFC 822 with every
// spelling of zones, W3CDTF, ISO 8601, asctime, month names in many languages. The
// result is in UTC, in the years 1 to 9999; a date without a zone is taken as UTC. ok is
// false if s is not a date or is ambiguous, like 03/04/2026.
func ParseDate(s string) (t time.Time, ok bool) { return date.Parse(s) }

// date reads a date. If the element is repeated, the last date that can be parsed counts. *name is
// the element that set *to; name is nil if no other element can set the date.
func (p *parser) date(to *Date, name *string) {
	at, old := p.r.Offset(), to.Raw
	if name == nil {
		name = new(string)
		*name = p.r.Name
	}
	raw := p.leaf()
	p.setDate(to, raw, at)
	switch {
	case to.Raw != old:
		p.keepText(*name, old)
		*name = p.r.Name
	case raw != old: // the date cannot be parsed
		p.keepText(p.r.Name, raw)
	}
}

func (p *parser) setDate(to *Date, raw string, at int) {
	if raw == "" {
		return
	}
	t, shown, ok := date.ParseOrder(raw, date.OrderUnknown)
	p.dates.note(shown)
	if !ok {
		if to.UTC.IsZero() && date.Ambiguous(raw) {
			*to = Date{Raw: raw}
			p.ambiguousDate(raw, at)
			return
		}
		p.problem(ProblemDate, at, "This date cannot be read: "+quote(raw)+". Write it like \"Fri, 20 Nov 2026 08:30:00 GMT\" or \"2026-11-20T08:30:00Z\".")
		if !to.UTC.IsZero() {
			return
		}
	}
	*to = Date{Raw: raw, UTC: t}
}
