package doctest

import (
	"debug/buildinfo"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"cloudburst/internal/fulltest"
)

// A program in a separate module must be able to import every public package. The developer's
// guide states how. TestCommandsInTheDocumentationRun runs the program in that guide.
func TestPublicPackagesImportNoServerModules(t *testing.T) {
	t.Parallel()
	fulltest.Needs(t, "two builds in a module outside this tree")
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	public := publicPackages(t)
	dir := t.TempDir()
	run := func(args ...string) string {
		t.Helper()
		c := exec.CommandContext(t.Context(), "go", args...)
		c.Dir = dir
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	run("mod", "init", "outside.example/program")
	run("mod", "edit", "-require", "cloudburst@v0.0.0", "-replace", "cloudburst="+root)
	source := "package main\n\nimport (\n"
	for _, p := range public {
		source += fmt.Sprintf("\t_ %q\n", "cloudburst/"+p)
	}
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(source+")\n\nfunc main() {}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	run("mod", "tidy")
	run("build", "-o", "program", ".")

	// The public packages may only depend on these modules, for HTML, character sets and domain
	// names.
	allowed := []string{"cloudburst", "golang.org/x/net", "golang.org/x/text"}
	info, err := buildinfo.ReadFile(filepath.Join(dir, "program"))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range info.Deps {
		if !slices.Contains(allowed, m.Path) {
			t.Errorf("the program has module %s in its build list", m.Path)
		}
	}
	mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`(?m)^(?:require |\t)(\S+) v`).FindAllStringSubmatch(string(mod), -1) {
		if !slices.Contains(allowed, m[1]) {
			t.Errorf("the program's go.mod requires %s", m[1])
		}
	}
	sums, err := os.ReadFile(filepath.Join(dir, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	for _, heavy := range []string{"modernc.org/sqlite", "github.com/jackc/pgx", "github.com/spf13/cobra", "github.com/prometheus", "go.opentelemetry.io"} {
		if strings.Contains(string(sums), heavy) {
			t.Errorf("the program's go.sum holds a checksum of %s", heavy)
		}
	}
	for line := range strings.Lines(run("list", "-deps", ".")) {
		for _, part := range []string{"cloudburst/internal/store", "cloudburst/internal/app", "cloudburst/internal/config", "cloudburst/lab"} {
			if strings.HasPrefix(line, part) {
				t.Errorf("a public package imports %s", strings.TrimSpace(line))
			}
		}
	}
}

// publicPackages lists the folders of the packages that other modules may import.
func publicPackages(t *testing.T) (names []string) {
	t.Helper()
	for _, pattern := range []string{"client", "feed", "feed/*", "protocol/*"} {
		folders, err := filepath.Glob("../../" + pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, folder := range folders {
			files, err := filepath.Glob(folder + "/*.go")
			if err != nil {
				t.Fatal(err)
			}
			name := strings.TrimPrefix(filepath.ToSlash(folder), "../../")
			if len(files) > 0 && name != "feed/feedtest" { // package feedtest generates feeds for tests
				names = append(names, name)
			}
		}
	}
	if len(names) < 15 {
		t.Fatalf("only %d public packages were found", len(names))
	}
	return names
}
