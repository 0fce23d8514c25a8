package sanitize

import (
	"testing"

	"cloudburst/feed/feedtest"
	"cloudburst/internal/fulltest"
)

func TestSafeTextIsReturnedWithoutAllocation(t *testing.T) {
	fulltest.SkipUnderRace(t)
	for _, p := range pairs() {
		for _, kind := range []feedtest.Kind{feedtest.RSSContent, feedtest.RSSEscaped, feedtest.AtomHTML} {
			for _, s := range texts(t, feedtest.Make(kind, 20e3, 1)) {
				clean := p.HTML(s)
				if again := p.HTML(clean); again != clean {
					t.Fatalf("%q is cleaned again to %q", clean, again)
				}
				if n := testing.AllocsPerRun(5, func() { p.HTML(clean) }); n != 0 {
					t.Errorf("%v allocations with options %+v for %q", n, p.o, clean)
				}
			}
		}
	}
}
