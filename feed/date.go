package feed

import "time"

// ParseDate reads a date in any of the forms that feeds use.
func ParseDate(s string) (t time.Time, ok bool) {
	return time.Time{}, false
}
