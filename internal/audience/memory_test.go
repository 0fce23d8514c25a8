package audience

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
)

func TestLongUserAgentsAreTruncatedInMemory(t *testing.T) {
	t.Parallel()
	a := &Audience{Key: []byte("key")}
	long := strings.Repeat("x", 60<<10)
	for i := range 100 {
		a.Hit("alice/rss", Hit{Agent: fmt.Sprint("Reader/1.0 ", i, long), Addr: netip.MustParseAddr("192.0.2.1"), Status: 200})
	}
	for ua := range a.agents {
		if len(ua) > maxAgentBytes {
			t.Fatalf("%d bytes of a User-Agent are cached", len(ua))
		}
	}
	if len(a.agents) != 100 || len(a.waiting) != 1 {
		t.Errorf("%d User-Agents, %d clients", len(a.agents), len(a.waiting))
	}
}
