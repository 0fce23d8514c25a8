package feedstate

import (
	"net/http"
	"strings"
	"time"
)

// Cache is what the last answer said about how long it stays fresh.
type Cache struct {
	From    string        `json:"from,omitempty"`  // "max-age", "expires", "no-cache", "no-store"; "": nothing
	Value   string        `json:"value,omitempty"` // as given, of max-age and Expires
	Seen    time.Time     `json:"seen,omitzero"`
	Fresh   time.Duration `json:"fresh,omitzero"` // from Seen on, in nanoseconds
	Problem string        `json:"problem,omitempty"`
}

// Until is when it is no longer fresh; the zero time when it never was.
func (c Cache) Until() time.Time {
	if c.Fresh <= 0 {
		return time.Time{}
	}
	return c.Seen.Add(c.Fresh)
}

// longestFresh keeps sums within what a time can hold. It is beyond all bounds anyway.
const longestFresh = 366 * 24 * time.Hour

// cacheOf reads the freshness that h gives. ok is false when it says nothing at all,
// as with most 304s: then what was said before still holds.
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

// expires counts from the server's own clock: ours may be another. Whatever is no
// date means that it has expired already.
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
	// Sub gives the longest duration there is when it does not fit.
	c.Fresh = min(max(0, at.Sub(date)-age(h)), longestFresh)
	return c
}

type cacheControl struct {
	maxAge           string
	noCache, noStore bool
}

// directives reads Cache-Control. We are a private cache: s-maxage is not for us. Of
// several max-age the first one counts.
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
				c.noCache = c.noCache || !given // with field names it is about those only
			case "no-store":
				c.noStore = true
			}
		}
	}
	return c
}

// splitQuoted parts at commas that are not within quotes.
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

// age is how long the answer had been in caches on its way.
func age(h http.Header) time.Duration {
	d, _ := seconds(strings.TrimSpace(h.Get("Age")))
	return d
}

// seconds reads digits and nothing else. What is too large is merely very long.
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

// validatorsOf takes the validators of an answer as they are. A field that could not
// be sent again, or is too long to keep, is none.
func validatorsOf(h http.Header, from string) Validators {
	return Validators{URL: from, ETag: usable(h.Get("ETag")), LastModified: usable(h.Get("Last-Modified"))}
}

// spec:cloudburst#validator-limit
func usable(s string) string {
	if len(s) > longestValidator {
		return ""
	}
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < ' ' && c != '\t' || c == 0x7f {
			return ""
		}
	}
	return s
}

// confirm puts the validators of a 304 in the place of those before.
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
