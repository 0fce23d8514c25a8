package syndicate

import (
	"strconv"
	"time"

	"cloudburst/feed"
	"cloudburst/feed/feedstate"
)

// How long others may keep a feed without asking. Those who cannot wait are told of
// changes by the cloud, and a cache that has just been passed by must not hold them up
// for long: so even a feed that gives itself a day gets an hour, and one that says
// nothing five minutes. The hours and days of skipHours and skipDays change nothing:
// who follows them does not ask, and who does not is answered 304.
const (
	defaultAge  = 5 * time.Minute
	minAge      = time.Minute
	maxAgeLimit = time.Hour
)

// cacheControl is the header for a feed; nil is a document that is none.
//
// spec:datafeeds-2006#feed-caching
func cacheControl(f *feed.Feed, private bool) string {
	if private {
		return "private, no-store"
	}
	return "public, max-age=" + strconv.Itoa(int(maxAge(f)/time.Second)) + ", must-revalidate"
}

// maxAge is the least of what the feed says of itself, within bounds.
//
// spec:feedstate-2007#cacheability-publish
func maxAge(f *feed.Feed) time.Duration {
	if f == nil {
		return defaultAge
	}
	age := time.Duration(0)
	if d, problem := feedstate.ParseTTL(f.Hints.TTL); problem == "" && f.Hints.TTL != "" {
		age = d
	}
	if sy, _, ok := feedstate.ParseSyndication(f.Hints); ok && sy.Every > 0 && (age == 0 || sy.Every < age) {
		age = sy.Every
	}
	if age == 0 {
		return defaultAge
	}
	return min(max(age, minAge), maxAgeLimit).Truncate(time.Second)
}
