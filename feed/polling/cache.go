package polling

import (
	"net/http"
	"strings"
	"time"
)

// Cache describes how long the last response is fresh, as the response declared.
type Cache struct {
	From    string        `json:"from,omitempty"`    // the header that declared it: "max-age", "expires", "no-cache" or "no-store"; "": none
	Value   string        `json:"value,omitempty"`   // unchanged value of max-age or Expires
	Seen    time.Time     `json:"seen,omitzero"`     // time of the response
	Fresh   time.Duration `json:"fresh,omitzero"`    // duration from Seen on, in nanoseconds
	Problem string        `json:"problem,omitempty"` // what is wrong with an invalid Value
}

// Until returns the time at which the response stops being fresh, or the zero time if it was never
// fresh.
func (c Cache) Until() time.Time {
	if c.Fresh <= 0 {
		return time.Time{}
	}
	return c.Seen.Add(c.Fresh)
}

// longestFresh prevents an overflow when times are added. It is greater than every bound of a wait.
const longestFresh = 366 * 24 * time.Hour

// cacheOf reads the freshness from h. ok is false if h declares none, as most 304 responses
// do; then the earlier declaration still applies.
func cacheOf(h http.Header, now time.Time) (c Cache, ok bool) {
	c.Seen = stamp(now)
	control := directives(h)
	switch {
	case control.noStore:
		c.From = "no-store"
		return c, true
	case control.noCache:
		c.From = "no-cache"
		return c, true
	case control.maxAge != "":
		// spec:feedstate-2007#cacheability
		c.From, c.Value = "max-age", short(control.maxAge)
		d, good := seconds(control.maxAge)
		if !good {
			c.Problem = "not a number of seconds"
			return c, true
		}
		c.Fresh = max(0, d-age(h))
		return c, true
	}
	if raw := h.Get("Expires"); raw != "" {
		return expires(c, raw, h), true
	}
	return c, false
}

// expires compares Expires with the Date of the same server, because its clock can differ from the
// local clock. An invalid date means that the response is already expired.
func expires(c Cache, raw string, h http.Header) Cache {
	c.From, c.Value = "expires", short(raw)
	at, err := http.ParseTime(raw)
	if err != nil {
		if raw != "0" && raw != "-1" {
			c.Problem = "not an HTTP date"
		}
		return c
	}
	date, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		date = c.Seen
	}
	// If the difference overflows, Sub returns the longest possible duration.
	c.Fresh = min(max(0, at.Sub(date)-age(h)), longestFresh)
	return c
}

type cacheControl struct {
	maxAge           string
	noCache, noStore bool
}

// directives reads Cache-Control as a private cache, so it ignores s-maxage. If max-age is
// repeated, the first one counts.
func directives(h http.Header) (c cacheControl) {
	for _, line := range h.Values("Cache-Control") {
		for part := range splitQuoted(line) {
			name, value, given := strings.Cut(part, "=")
			value = strings.Trim(strings.TrimSpace(value), `"`)
			switch strings.ToLower(strings.TrimSpace(name)) {
			case "max-age":
				if c.maxAge == "" {
					c.maxAge = strings.TrimSpace(value)
					if c.maxAge == "" {
						c.maxAge = "?"
					}
				}
			case "no-cache":
				c.noCache = c.noCache || !given // a no-cache with field names applies to these fields only
			case "no-store":
				c.noStore = true
			}
		}
	}
	return c
}

// splitQuoted splits at commas outside quotation marks.
func splitQuoted(s string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		start, quoted := 0, false
		for i := 0; i < len(s); i++ {
			switch {
			case s[i] == '"':
				quoted = !quoted
			case s[i] == ',' && !quoted:
				if !yield(s[start:i]) {
					return
				}
				start = i + 1
			}
		}
		yield(s[start:])
	}
}

// age returns how long the response was in caches between server and client.
func age(h http.Header) time.Duration {
	d, _ := seconds(strings.TrimSpace(h.Get("Age")))
	return d
}

// seconds reads a number that consists of digits only. If it is too large, the result is
// longestFresh.
func seconds(s string) (d time.Duration, ok bool) {
	if s == "" {
		return 0, false
	}
	var n int64
	for i := 0; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
		if n = n*10 + int64(s[i]-'0'); n > int64(longestFresh/time.Second) {
			n = int64(longestFresh / time.Second)
		}
	}
	return time.Duration(n) * time.Second, true
}

// validatorsOf returns the validators of a response unchanged. It drops a field that cannot be
// sent again or is too long to store, and *, which as If-None-Match means any version.
func validatorsOf(h http.Header, from string) Validators {
	return Validators{URL: from, ETag: usable(h.Get("ETag")), LastModified: usable(h.Get("Last-Modified"))}
}

// spec:cloudburst#validator-limit
func usable(s string) string {
	if len(s) > longestValidator || strings.TrimSpace(s) == "*" {
		return ""
	}
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < ' ' && c != '\t' || c == 0x7f {
			return ""
		}
	}
	return s
}

// confirm returns v with the validators that a 304 response contains.
func (v Validators) confirm(h http.Header) Validators {
	got := validatorsOf(h, v.URL)
	if got.ETag != "" {
		v.ETag = got.ETag
	}
	if got.LastModified != "" {
		v.LastModified = got.LastModified
	}
	return v
}
