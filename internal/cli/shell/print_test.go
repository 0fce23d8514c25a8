package shell

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"
)

func TestDurationsAreFormattedInTwoUnits(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		3200 * time.Microsecond: "3.2 ms", 0: "0.0 ms", 999 * time.Millisecond: "999.0 ms", 1500 * time.Millisecond: "1.5 s",
		42 * time.Second: "42 s", 125 * time.Second: "2 m 5 s", 25 * time.Hour: "25 h 0 m", 72 * time.Hour: "3 days", -time.Second: "-1.0 s",
	} {
		if got := FormatDuration(d); got != want {
			t.Errorf("FormatDuration(%s) = %q, want %q", d, got, want)
		}
	}
}

func TestRowsBeforeAnErrorArePrinted(t *testing.T) {
	t.Parallel()
	failure := errors.New("the second page failed")
	list := func(yield func(string, error) bool) {
		for range 100 {
			if !yield(strings.Repeat("a", 100), nil) {
				return
			}
		}
		yield("", failure)
	}
	for _, asJSON := range []bool{false, true} {
		var out bytes.Buffer
		err := PrintList(&out, list, asJSON, []string{"TEXT"}, func(s *string) []string { return []string{*s} })
		if !errors.Is(err, failure) {
			t.Errorf("JSON %t: %v", asJSON, err)
		}
		if n := strings.Count(out.String(), "\n"); n != 100 || !strings.HasSuffix(out.String(), "\n") {
			t.Errorf("JSON %t: %d complete lines, want 100; the end is %q", asJSON, n, out.String()[out.Len()-20:])
		}
	}
}

func TestProgressPrintsOneLinePerSecondWithoutTerminal(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	now := time.Unix(1000, 0)
	p := NewProgress(&out, "imported")
	p.now, p.last = func() time.Time { return now }, now
	for n := range 25 {
		p.At(n, 25)
		now = now.Add(100 * time.Millisecond)
	}
	p.At(25, 0)
	p.Step("checked", 1, 9)
	p.Step("checked", 2, 9)
	p.End()
	if got, want := out.String(), "imported 10 of 25\nimported 20 of 25\nchecked 1 of 9\n"; got != want {
		t.Errorf("%q", got)
	}
	out.Reset()
	p.What, p.Human = "imported", true
	now = now.Add(time.Second)
	p.At(5, 10)
	p.End()
	if !strings.HasPrefix(out.String(), "\r\x1b[Kimported [███") || !strings.HasSuffix(out.String(), "\r\x1b[K") {
		t.Errorf("%q", out.String())
	}
}
