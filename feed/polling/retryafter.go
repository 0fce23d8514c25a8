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
	Value  string    `json:"value"`  // unchanged value of the header
	Seen   time.Time `json:"seen"`   // time of the response
	Until  time.Time `json:"until"`  // end of the wait, at most LongestRetry after Seen
}

// retryAfter reads the header Retry-After. It returns nil unless the value is a number of seconds
// or a date in the future.
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
		// Use the time of the server if the response contains it, because the local clock may
		// differ.
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

// HostWaitsNeeded is the number of feeds of one host that must wait because of a Retry-After at the
// same time before the wait applies to the whole host.
const HostWaitsNeeded = 3

// keptWaits is the maximum number of stored waits per host, which is enough to detect that several
// feeds wait.
const keptWaits = 8

// Host collects the Retry-After values of the feeds of one host. One value applies to its feed;
// several values mean that the server wants no requests. The zero Host is empty. Like State it is
// plain data, and functions return a changed copy.
type Host struct {
	Waits []Wait `json:"waits,omitempty"` // the longest wait first; one wait per URL
}

// Add returns h with the wait of a decision (Decision.Wait, which may be nil). It ignores waits of
// successful answers, because these concern only their own feed.
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

// Until returns the end of the host's wait, if at least HostWaitsNeeded of its feeds are waiting.
// It returns the zero time if requests are allowed now.
func (h Host) Until(now time.Time) time.Time {
	h = h.Add(nil, now)
	if len(h.Waits) < HostWaitsNeeded {
		return time.Time{}
	}
	return h.Waits[HostWaitsNeeded-1].Until
}

// HostOf returns the key under which to store the Host of a URL: the normalized host name, with the
// port unless it is the default port of the scheme.
func HostOf(raw string) string { return href.HostPort(raw) }
