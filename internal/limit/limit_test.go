package limit

import (
	"testing"
	"time"
)

func TestTokenBucketsRefillOverTimeAndAreBounded(t *testing.T) {
	t.Parallel()
	now := time.Unix(1000, 0)
	l := New(10, 3, 2)
	for i := range 3 {
		if _, ok := l.Take("a", now); !ok {
			t.Fatalf("token %d of the burst was refused", i+1)
		}
	}
	wait, ok := l.Take("a", now)
	if ok || wait != 100*time.Millisecond {
		t.Errorf("the fourth: %s, %v; want to wait 100ms", wait, ok)
	}
	if _, ok := l.Take("a", now.Add(wait)); !ok {
		t.Error("refused after the wait that was asked for")
	}
	l.Take("b", now)
	if _, ok := l.Take("c", now); ok {
		t.Error("a third key found room among two that are in use")
	}
	if _, ok := l.Take("c", now.Add(time.Hour)); !ok {
		t.Error("full buckets were not forgotten")
	}
}
