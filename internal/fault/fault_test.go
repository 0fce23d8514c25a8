package fault_test

import (
	"errors"
	"testing"

	"cloudburst/internal/fault"
)

func TestErrorJoinsMessageAndCause(t *testing.T) {
	t.Parallel()
	for msg, want := range map[string]string{
		"The feed names port 1.":   "The feed names port 1: cause",
		"The database is not here": "The database is not here: cause",
	} {
		if got := fault.Wrap(fault.Refused, errors.New("cause"), "%s", msg).Error(); got != want {
			t.Errorf("%q; want %q", got, want)
		}
	}
}
