package hubui

import (
	"testing"
	"time"

	"cloudburst/internal/hub"
)

func TestStatisticsPerMinuteOfAllNodesAreCombined(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 14, 0, 30, 0, time.UTC)
	at := now.Add(-10 * time.Minute)
	got := gather([]hub.Minute{
		{At: now.Add(-2 * time.Hour), Notified: 99},
		{At: at, Node: 1, Notified: 300, P50: 2, P99: 10, Queue: 7, Pings: 1},
		{At: at.Add(time.Second), Node: 2, Notified: 100, P50: 6, P99: 50, Queue: 3, Pings: 2},
		{At: at.Add(2 * time.Minute), Node: 2, Pings: 5},
		{At: now.Add(time.Hour), Notified: 99},
	}, now, time.Hour, time.Minute)
	if len(got) != 60 {
		t.Fatalf("%d points", len(got))
	}
	b := got[50]
	if b.Notified != 400 || b.P50 != 3 || b.P99 != 50 || b.Queue != 7 || b.Pings != 3 || !b.Measured {
		t.Errorf("%+v", b)
	}
	if quiet := got[52]; !quiet.Any || quiet.Measured || quiet.P99Text() != "–" {
		t.Errorf("a minute without notifications: %+v", quiet)
	}
	if got[51].Any || got[0].Any {
		t.Error("minutes without a record are counted")
	}
}
