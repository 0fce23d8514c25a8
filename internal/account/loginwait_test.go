package account

import (
	"testing"
	"time"

	"cloudburst/internal/fault"
)

func TestErrorOfTooManyAttemptsStatesTheWait(t *testing.T) {
	t.Parallel()
	for wait, want := range map[time.Duration]string{
		49_500 * time.Millisecond: "50 seconds", time.Minute: "1 minute", 90 * time.Second: "90 seconds",
		301 * time.Second: "6 minutes", 15 * time.Minute: "15 minutes", time.Hour: "1 hour",
	} {
		if got := fault.Message(tooMany(wait)); got != "There were too many failed attempts. Try again in "+want+"." {
			t.Errorf("%v: %s", wait, got)
		}
	}
}
