package histogram

import (
	"math"
	"testing"
	"time"
)

func TestHistogramQuantilesAreAccurateToTenPercent(t *testing.T) {
	t.Parallel()
	var h Histogram
	for i := 1; i <= 1000; i++ {
		h.Add(time.Duration(i) * time.Millisecond)
	}
	counts, n := h.Drain()
	for q, want := range map[float64]float64{0.5: 500, 0.99: 990} {
		if got := Quantile(counts, n, q); math.Abs(got-want) > want/10 {
			t.Errorf("quantile %g = %g ms, want about %g", q, got, want)
		}
	}
	if _, n := h.Drain(); n != 0 {
		t.Error("a drained histogram is not empty")
	}
}
