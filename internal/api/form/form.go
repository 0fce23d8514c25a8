// Package form converts the values of other packages to the types of package client, which define
// the JSON of the API. The results contain no secrets, except the result of [ExportedSubscription].
// Start with [Item] and [Post].
package form

import "time"

// When returns a time in UTC with a precision of milliseconds; nil for the zero time.
func When(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = Milli(t)
	return &t
}

// Milli returns a time in UTC with a precision of milliseconds.
func Milli(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }
