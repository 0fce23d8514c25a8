// Package form converts the values of the domains to the types of package client, which are the JSON
// form of the API. Secrets are left out, except in [ExportedSubscription]. Start with [Item] and [Post].
package form

import "time"

// When returns a time in UTC with milliseconds; nil if it is zero.
func When(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = Milli(t)
	return &t
}

// Milli returns a time in UTC with milliseconds.
func Milli(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }
