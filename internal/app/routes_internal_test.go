package app

import (
	"cmp"
	"flag"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"cloudburst/internal/account"
	"cloudburst/internal/config"
	"cloudburst/internal/route"
	"cloudburst/internal/store/sqlite/sqlitetest"
)

var update = flag.Bool("update", false, "write docs/reference/routes.md")

// allRoutes returns the routes of a server that has default settings.
func allRoutes(t *testing.T) []group {
	t.Helper()
	cfg := config.Default()
	cfg.Data = sqlitetest.Dir(t)
	a, err := Open(t.Context(), cfg, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	const public = "https://hub.example"
	return routing{a}.groups(public, routing{a}.pages(public), http.NotFoundHandler())
}

// The author page of a user with the name of a route would be unreachable, because fixed routes
// take precedence.
func TestFirstPathSegmentOfEachRouteIsAReservedName(t *testing.T) {
	t.Parallel()
	fixed := 0
	for _, g := range allRoutes(t) {
		for _, r := range g.routes {
			name, variable := r.First()
			if variable {
				continue
			}
			fixed++
			if account.CheckName(name) == nil {
				t.Errorf("%s begins with a name that a user may have: add %q to account.Reserved", r.Pattern(), name)
			}
		}
	}
	if fixed < 100 {
		t.Errorf("there are only %d routes", fixed)
	}
}

func TestEachRouteHasADescription(t *testing.T) {
	t.Parallel()
	for _, g := range allRoutes(t) {
		for _, r := range g.routes {
			if r.Purpose == "" || !strings.HasSuffix(r.Purpose, ".") || strings.ContainsAny(r.Purpose, "|\n") {
				t.Errorf("the purpose of %s is %q: it must be one sentence", r.Pattern(), r.Purpose)
			}
		}
	}
}

func TestRoutesReferenceListsAllRoutes(t *testing.T) {
	t.Parallel()
	const file = "../../docs/reference/routes.md"
	want := reference(allRoutes(t))
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s lists other routes than the program has; go test ./internal/app -run RoutesReference -update writes it", file)
	}
}

// reference returns the documentation of the routes in Markdown.
func reference(groups []group) string {
	var b strings.Builder
	b.WriteString(`# Routes

A test writes this page from the routes of the program with its default settings, so it is complete.
Most endpoints that other programs call also take a slash at the end of their path.

- **Protection**: everybody may use a public route. A session is that of a user who signed in with a
  browser. A token stands for a token, an app password or a secret of a user; the protocol says how
  programs send it. The operator's routes have the protection admin: only the operator's own listener
  has them.
- **Body**: how many bytes of a request the server reads at most.

`)
	for _, g := range groups {
		fmt.Fprintf(&b, "## %s\n\n| Method | Path | Protection | Body | Purpose |\n| --- | --- | --- | --- | --- |\n", g.title)
		for _, r := range shown(g.routes) {
			fmt.Fprintf(&b, "| %s | `%s` | %s | %s | %s |\n", cmp.Or(r.Method, "any"), strings.TrimSuffix(r.Path, "{$}"), r.Protection, size(r.MaxBody), r.Purpose)
		}
		b.WriteString("\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// shown returns the routes sorted by path. It leaves out routes that differ from another one only
// by a trailing slash.
func shown(routes []route.Route) []route.Route {
	var out []route.Route
	for _, r := range routes {
		without, slash := strings.CutSuffix(r.Path, "/{$}")
		if slash && without != "" && slices.ContainsFunc(routes, func(o route.Route) bool {
			return o.Path == without && o.Method == r.Method && o.Purpose == r.Purpose
		}) {
			continue
		}
		out = append(out, r)
	}
	slices.SortStableFunc(out, func(a, b route.Route) int { return cmp.Compare(a.Path, b.Path) })
	return out
}

// size formats a number of bytes for display.
func size(n int64) string {
	switch {
	case n == 0:
		return "none"
	case n >= 1<<30 && n%(1<<30) == 0:
		return fmt.Sprintf("%d GiB", n>>30)
	case n >= 1<<20:
		return fmt.Sprintf("%d MiB", (n+1<<20-1)>>20)
	}
	return fmt.Sprintf("%d KiB", (n+1<<10-1)>>10)
}
