package forward

import (
	"testing"
	"time"
)

func TestDigestsAreDueInTheirHourAfterTheGivenTime(t *testing.T) {
	t.Parallel()
	at := func(text string) time.Time {
		v, err := time.Parse(time.RFC3339, text)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for _, c := range []struct {
		digest    string
		id        int64
		now, want string
	}{
		{DigestNone, 7, "2026-03-03T10:00:00Z", "2026-03-03T10:00:00Z"},
		{DigestDaily, 0, "2026-03-03T06:59:59Z", "2026-03-03T07:00:00Z"},
		{DigestDaily, 0, "2026-03-03T07:00:00Z", "2026-03-04T07:00:00Z"},
		{DigestDaily, 61, "2026-03-03T07:00:59Z", "2026-03-03T07:01:00Z"},
		{DigestDaily, 119, "2026-12-31T23:00:00+01:00", "2027-01-01T07:59:00Z"},
		{DigestWeekly, 5, "2026-03-02T07:04:59Z", "2026-03-02T07:05:00Z"}, // 2 March 2026 is a Monday
		{DigestWeekly, 5, "2026-03-02T07:05:00Z", "2026-03-09T07:05:00Z"},
		{DigestWeekly, 5, "2026-03-08T23:59:00Z", "2026-03-09T07:05:00Z"},
	} {
		if got := DueAt(c.digest, c.id, at(c.now)); !got.Equal(at(c.want)) {
			t.Errorf("%q of %d after %s: %s; want %s", c.digest, c.id, c.now, got, c.want)
		}
	}
}
