package syndicate

import (
	"fmt"
	"time"

	"cloudburst/feed"
	"cloudburst/feed/polling"
)

// Limits of max-age. The hub notifies readers of changes, so caches should reload a feed soon. A
// feed that declares a day therefore gets one hour, and a feed without a declaration gets five
// minutes. max-age ignores skipHours and skipDays: readers that obey these hints send no request in
// that time, and other readers get a 304.
const (
	defaultAge  = 5 * time.Minute
	minAge      = time.Minute
	maxAgeLimit = time.Hour
)

// errorAge is the time for which a cache may use a feed while all nodes are down. A cache that
// obeys must-revalidate returns an error instead.
const errorAge = time.Hour

// cacheControl returns the value of Cache-Control for a feed. f is nil for a document that is not a
// feed.
//
// spec:datafeeds-2006#feed-caching
func cacheControl(f *feed.Feed, private bool) string {
	if private {
		return "private, no-store"
	}
	return fmt.Sprintf("public, max-age=%d, must-revalidate, stale-if-error=%d", maxAge(f)/time.Second, errorAge/time.Second)
}

// maxAge returns the shortest period that the feed declares, limited to the minimum and maximum of
// max-age.
//
// spec:feedstate-2007#cacheability-publish
func maxAge(f *feed.Feed) time.Duration {
	if f == nil {
		return defaultAge
	}
	age := time.Duration(0)
	if d, problem := polling.ParseTTL(f.Hints.TTL); problem == "" && f.Hints.TTL != "" {
		age = d
	}
	if sy, _, ok := polling.ParseSyndication(f.Hints); ok && sy.Every > 0 && (age == 0 || sy.Every < age) {
		age = sy.Every
	}
	if age == 0 {
		return defaultAge
	}
	return min(max(age, minAge), maxAgeLimit).Truncate(time.Second)
}
