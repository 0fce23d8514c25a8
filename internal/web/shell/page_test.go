package shell

import (
	"runtime"
	"testing"

	"cloudburst/internal/web/locale"
)

func TestEveryTemplateIsParsedInEachLanguage(t *testing.T) {
	t.Parallel()
	for language, pages := range parsePages() {
		for name, page := range pages {
			if page().Lookup("page") == nil {
				t.Errorf("the page %s has no template in the language %s", name, language)
			}
		}
	}
}

// Before the first request, a server has parsed only the templates that all pages share. This test does
// not run in parallel, because it counts the allocations of the process.
func TestTemplatesAreParsedOnFirstUse(t *testing.T) {
	loadAssets()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	newPages(locale.English())
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 4<<20 {
		t.Errorf("parsing what the pages share took %d bytes", n)
	}
}
