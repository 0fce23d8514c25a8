package web

import (
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"cloudburst/internal/route"
)

func TestEveryRouteHasAPurposeAndItsProtection(t *testing.T) {
	t.Parallel()
	x := newWriteHarness(t)
	seen, protected := map[string]bool{}, 0
	wildcard := regexp.MustCompile(`\{[^}]*\}`)
	for _, r := range x.RouteList() {
		if !strings.HasSuffix(r.Purpose, ".") || seen[r.Pattern()] {
			t.Errorf("%s is for %q, and listed before: %t", r.Pattern(), r.Purpose, seen[r.Pattern()])
		}
		if seen[r.Pattern()] = true; r.Protection != route.Session {
			continue
		}
		protected++
		req := httptest.NewRequest(r.Method, wildcard.ReplaceAllString(r.Path, "1"), strings.NewReader(""))
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		rec := x.do(req)
		if rec.Code != 401 && (rec.Code != 303 || !strings.HasPrefix(rec.Header().Get("Location"), "/login?next=")) {
			t.Errorf("%s replies to signed-out users with %d, %s", r.Pattern(), rec.Code, rec.Header().Get("Location"))
		}
	}
	if len(seen) < 90 || protected < 50 {
		t.Errorf("only %d routes are listed, %d for a session", len(seen), protected)
	}
}
