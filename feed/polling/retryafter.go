package polling

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"cloudburst/internal/href"
)

// Wait is a Retry-After header of a response.
type Wait struct {
	URL    string    `json:"url"`    // URL of the feed
	Status int       `json:"status"` // HTTP status of the response
	Value  string    `json:"value"`  // the original value
	Seen   time.Time `json:"seen"`   // time of the response
	Until  time.Time `json:"until"`  // at most LongestRetry after Seen
}

// retryAfter reads Retry-After. It returns nil unless the value is a number of seconds or a
// date in the future.
func retryAfter(h http.Header, now time.Time) *Wait {
	raw := strings.TrimSpace(h.Get("Retry-After"))
	if raw == "" || len(raw) > 64 {
		return nil
	}
	d, ok := seconds(raw)
	if !ok {
		at, err := http.ParseTime(raw)
		if err != nil {
			return nil
		}
		// Use the server's clock if known: the local clock may differ.
		base := now
		if date, err := http.ParseTime(h.Get("Date")); err == nil {
			base = date
		}
		d = at.Sub(base)
	}
	if d <= 0 {
		return nil
	}
	return &Wait{Value: raw, Seen: stamp(now), Until: stamp(now.Add(min(d, LongestRetry)))}
}

// HostWaitsNeeded is the number of feeds of one host that must wait at the same time, because of a
// Retry-After, for the wait to apply to the whole host.
const HostWaitsNeeded = 3

// keptWaits is the number of waits stored per host, enough to detect agreement.
const keptWaits = 8

// Host collects the Retry-After values of the feeds of one host. One value applies to its
// feed; several values mean that the server wants no requests. The zero Host is empty. Like
// State it is plain data and never changed in place.
type Host struct {
	Waits []Wait `json:"waits,omitempty"` // the longest first, one per URL
}

// Add records the wait of a decision: Decision.Wait, which may be nil. It ignores waits of
// successful answers, which concern only their feed.
func (h Host) Add(w *Wait, now time.Time) Host {
	waits := slices.DeleteFunc(slices.Clone(h.Waits), func(o Wait) bool {
		return !o.Until.After(now) || o.Until.Sub(now) > LongestRetry || w != nil && o.URL == w.URL
	})
	if w != nil && (w.Status == http.StatusTooManyRequests || w.Status == http.StatusServiceUnavailable) {
		waits = append(waits, *w)
	}
	slices.SortStableFunc(waits, func(a, b Wait) int { return b.Until.Compare(a.Until) })
	return Host{Waits: waits[:min(len(waits), keptWaits)]}
}

// Until returns the end of the host's wait while HostWaitsNeeded of its feeds are waiting; the zero
// time if requests are allowed now.
func (h Host) Until(now time.Time) time.Time {
	h = h.Add(nil, now)
	if len(h.Waits) < HostWaitsNeeded {
		return time.Time{}
	}
	return h.Waits[HostWaitsNeeded-1].Until
}

// HostOf returns the key of the Host of a URL: its normalized host name, with the port unless
// it is the scheme's default port.
func HostOf(raw string) string { return href.HostPort(raw) }
