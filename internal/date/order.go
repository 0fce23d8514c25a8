package date

import (
	"cmp"
	"time"
)

// Order is the order of day and month in a numeric date.
type Order int8

// Orders of dates. DayFirst is the order of 31/12/2026 and MonthFirst that of 12/31/2026.
const (
	OrderUnknown Order = iota
	DayFirst
	MonthFirst
)

// Ambiguous reports whether s is a date only if the order of its numbers is known.
func Ambiguous(s string) bool {
	_, _, one := ParseOrder(s, OrderUnknown)
	_, _, known := ParseOrder(s, DayFirst)
	return known && !one
}

// resolveOrder decides whether a numeric date begins with the day or with the month. The date was
// read with the month first. The weekday decides, otherwise the given order.
func (r *dateReader) resolveOrder() {
	if r.weekday != 0 {
		monthFirst := r.matchesWeekday(r.month, r.day)
		if monthFirst != r.matchesWeekday(r.day, r.month) {
			r.proven = DayFirst
			if monthFirst {
				r.proven = MonthFirst
			}
		}
	}
	switch cmp.Or(r.proven, r.order) {
	case DayFirst:
		r.month, r.day = r.day, r.month
	case OrderUnknown:
		r.failed = true
	case MonthFirst:
	}
}

// matchesWeekday reports whether month and day fall on the weekday in the text.
func (r *dateReader) matchesWeekday(month, day int) bool {
	on := time.Date(r.year, time.Month(month), day, 0, 0, 0, 0, time.UTC).Weekday()
	return int8((on+6)%7)+1 == r.weekday
}
