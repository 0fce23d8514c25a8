package cli

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

func TestSpansAreShortAndExact(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		3200 * time.Microsecond: "3.2 ms", 0: "0.0 ms", 999 * time.Millisecond: "999.0 ms", 1500 * time.Millisecond: "1.5 s",
		42 * time.Second: "42 s", 125 * time.Second: "2 m 5 s", 25 * time.Hour: "25 h 0 m", 72 * time.Hour: "3 days", -time.Second: "-1.0 s",
	} {
		if got := span(d); got != want {
			t.Errorf("span(%s) = %q, want %q", d, got, want)
		}
	}
}

func TestProgressIsALineASecondWhereNobodyLooks(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	now := time.Unix(1000, 0)
	p := newProgress(&out, "imported")
	p.now, p.last = func() time.Time { return now }, now
	for n := range 25 {
		p.at(n, 25)
		now = now.Add(100 * time.Millisecond)
	}
	p.at(25, 0)
	p.end()
	if got, want := out.String(), "imported 10 of 25\nimported 20 of 25\n"; got != want {
		t.Errorf("%q", got)
	}
	out.Reset()
	p.human = true
	now = now.Add(time.Second)
	p.at(5, 10)
	p.end()
	if !strings.HasPrefix(out.String(), "\rimported [███") || !strings.HasSuffix(out.String(), "\r\x1b[K") {
		t.Errorf("%q", out.String())
	}
}
