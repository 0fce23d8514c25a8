package greader

import (
	"errors"
	"strconv"
	"strings"
	"time"
)

// stamp parses a time in seconds, milliseconds, microseconds (as Google used) or
// nanoseconds. The number of digits determines the unit, which is unambiguous until the
// year 2286.
//
// spec:cloudburst#greader-times
func stamp(s string) (time.Time, error) {
	s, _, _ = strings.Cut(strings.TrimSpace(s), ".") // drop fractions, which some apps send
	n, err := strconv.ParseInt(s, 10, 64)
	switch {
	case s == "" || err == nil && n == 0:
		return time.Time{}, nil
	case err != nil && !errors.Is(err, strconv.ErrRange) || n < 0:
		return time.Time{}, invalid("Not a time: " + clip(s))
	case err != nil:
		return time.Time{}, nil // too large for a time
	case n < 1e11:
		return time.Unix(n, 0).UTC(), nil
	case n < 1e14:
		return time.UnixMilli(n).UTC(), nil
	case n < 1e17:
		return time.UnixMicro(n).UTC(), nil
	}
	return time.Unix(0, n).UTC(), nil
}
