package syndicate

import (
	"fmt"
	"time"

	"cloudburst/feed"
	"cloudburst/feed/polling"
)

// Bounds of max-age. The hub notifies readers of changes, and a cache must not delay the reload for
// long. A feed that declares a day therefore gets an hour, and a feed without a declaration gets
// five minutes. skipHours and skipDays are ignored: readers that follow them send no request then,
// and others get a 304.
const (
	defaultAge  = 5 * time.Minute
	minAge      = time.Minute
	maxAgeLimit = time.Hour
)

// errorAge is how long a cache may use a feed while every node is down. Caches that obey
// must-revalidate respond with an error instead.
const errorAge = time.Hour

// cacheControl returns the Cache-Control of a feed; f is nil for a document that is not a feed.
//
// spec:datafeeds-2006#feed-caching
func cacheControl(f *feed.Feed, private bool) string {
	if private {
		return "private, no-store"
	}
	return fmt.Sprintf("public, max-age=%d, must-revalidate, stale-if-error=%d", maxAge(f)/time.Second, errorAge/time.Second)
}

// maxAge returns the shortest period that the feed declares, within the bounds.
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
