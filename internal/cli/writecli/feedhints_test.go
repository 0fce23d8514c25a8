package writecli

import (
	"slices"
	"testing"
)

func TestRangeOfHoursMayPassMidnight(t *testing.T) {
	t.Parallel()
	for value, want := range map[string][]int{"": nil, "0-2, 12": {0, 1, 2, 12}, "22-3": {22, 23, 0, 1, 2, 3}, "5-5": {5}} {
		if got, err := hoursOf(value); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q is %v, %v; want %v", value, got, err, want)
		}
	}
	for _, value := range []string{"24", "-1", "3-24", "a-b", "1-2-3"} {
		if got, err := hoursOf(value); err == nil {
			t.Errorf("%q is %v, want an error", value, got)
		}
	}
}
