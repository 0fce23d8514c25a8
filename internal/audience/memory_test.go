package audience

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
)

func TestLongNamesOfProgramsTakeNoMoreMemoryThanShortOnes(t *testing.T) {
	t.Parallel()
	a := &Audience{Key: []byte("key")}
	long := strings.Repeat("x", 60<<10)
	for i := range 100 {
		a.Hit("alice/rss", Hit{Agent: fmt.Sprint("Reader/1.0 ", i, long), Addr: netip.MustParseAddr("192.0.2.1"), Status: 200})
	}
	for ua := range a.agents {
		if len(ua) > maxAgentBytes {
			t.Fatalf("%d bytes are remembered of a User-Agent", len(ua))
		}
	}
	if len(a.agents) != 100 || len(a.waiting) != 1 {
		t.Errorf("%d User-Agents, %d readers", len(a.agents), len(a.waiting))
	}
}
