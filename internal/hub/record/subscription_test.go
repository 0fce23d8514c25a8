package record_test

import (
	"testing"
	"time"

	"cloudburst/internal/date"
	"cloudburst/internal/hub/record"
)

func TestRenewalTimeIsFormattedInWords(t *testing.T) {
	t.Parallel()
	for lifetime, want := range map[time.Duration][2]string{
		25 * time.Hour:          {"25 hours", "24 hours"},
		time.Hour:               {"1 hour", "57 minutes"},
		90 * time.Minute:        {"90 minutes", "1 hour"},
		3 * time.Second:         {"3 seconds", "2 seconds"},
		time.Second:             {"1 second", "960 milliseconds"},
		30 * 24 * time.Hour:     {"720 hours", "691 hours"},
		1500 * time.Millisecond: {"1500 milliseconds", "1 second"},
	} {
		if got := [2]string{date.InWords(lifetime), date.InWords(record.RenewWithin(lifetime))}; got != want {
			t.Errorf("%s: %q, want %q", lifetime, got, want)
		}
		if within := record.RenewWithin(lifetime); within >= lifetime || within <= 0 {
			t.Errorf("%s: renewal time is %s", lifetime, within)
		}
	}
}
