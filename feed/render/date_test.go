package render

import (
	"testing"
	"time"

	"cloudburst/internal/fulltest"
)

func TestDatesMatchTheStandardLibrary(t *testing.T) {
	t.Parallel()
	fulltest.Long(t)
	check := func(at time.Time) {
		t.Helper()
		at = at.UTC()
		if got, want := string(appendRFC822(nil, at)), at.Format("Mon, 02 Jan 2006 15:04:05 GMT"); got != want {
			t.Fatalf("%q, want %q", got, want)
		}
		if got, want := string(appendRFC3339(nil, at)), at.Format(time.RFC3339Nano); got != want {
			t.Fatalf("%q, want %q", got, want)
		}
	}
	for s := int64(firstSecond); s <= lastSecond; s += 86_400*3 + 4099 { // tests about every third day, at different times of day
		check(time.Unix(s, 0))
	}
	for _, year := range []int{1, 4, 100, 400, 1600, 1900, 1970, 1999, 2000, 2024, 2026, 2100, 9999} {
		for day := range 366 {
			check(time.Date(year, 1, 1+day, 23, 59, 59, 120_000_000, time.UTC))
			if year == 9999 && day == 364 {
				break
			}
		}
	}
	check(time.Unix(firstSecond, 0))
	check(time.Unix(lastSecond, 999_999_999))
	check(time.Date(2026, 3, 1, 6, 30, 0, 0, time.FixedZone("", -5*3600)))
}
