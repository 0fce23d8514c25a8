package polling

import (
	"strings"
	"time"
)

// ParseTTL reads the minutes of <ttl> in common spellings: "60", "60.0", "60 minutes", "2 hours".
// If the value is invalid, problem describes it and d is 0.
func ParseTTL(raw string) (d time.Duration, problem string) {
	s := strings.ToLower(strings.TrimSpace(raw))
	i := 0
	for i < len(s) && (s[i] >= '0' && s[i] <= '9' || s[i] == '.') {
		i++
	}
	unit := unitOf(strings.Trim(s[i:], " \t\r\n."))
	n, ok := decimal(strings.TrimSuffix(s[:i], "."))
	switch {
	case s == "":
		return 0, "empty"
	case strings.HasPrefix(s, "-"):
		return 0, "a negative number"
	case !ok || unit == 0:
		return 0, "not a number of minutes"
	}
	if d = times(unit, n); d <= 0 {
		return 0, "zero"
	}
	return d, ""
}

func unitOf(word string) time.Duration {
	switch word {
	case "", "m", "min", "mins", "minute", "minutes":
		return time.Minute
	case "s", "sec", "secs", "second", "seconds":
		return time.Second
	case "h", "hr", "hrs", "hour", "hours":
		return time.Hour
	case "d", "day", "days":
		return 24 * time.Hour
	}
	return 0
}

// decimal parses digits with at most one period. A number that is too large does not fail, but
// becomes a very large n.
func decimal(s string) (n float64, ok bool) {
	scale := 0.0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '.' && scale == 0:
			scale = 1
		case c < '0' || c > '9':
			return 0, false
		case scale == 0:
			n, ok = min(n*10+float64(c-'0'), 1e12), true
		default:
			scale /= 10
			n, ok = n+float64(c-'0')*scale, true
		}
	}
	return n, ok
}

// times returns n units as a duration, at most longestFresh.
func times(unit time.Duration, n float64) time.Duration {
	return time.Duration(min(float64(unit)*n, float64(longestFresh)))
}
