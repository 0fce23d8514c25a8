package doctest

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Each public package must have a package comment and examples that run. The developer's page
// must list the package.
func TestPublicPackagesHaveExamples(t *testing.T) {
	t.Parallel()
	guide, err := os.ReadFile("../../docs/get-started/developer.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range publicPackages(t) {
		files, err := filepath.Glob("../../" + name + "/*.go")
		if err != nil {
			t.Fatal(err)
		}
		comment, run := packageDoc(t, files)
		if len(comment) < 200 {
			t.Errorf("the comment of package %s is too short: %q", name, comment)
		}
		if run == 0 {
			t.Errorf("package %s has no running example", name)
		}
		if !strings.Contains(string(guide), "`"+name+"`") {
			t.Errorf("docs/get-started/developer.md does not name package %s", name)
		}
	}
}

// packageDoc returns the package comment, and the number of examples whose output is checked.
func packageDoc(t *testing.T, files []string) (comment string, run int) {
	t.Helper()
	set := token.NewFileSet()
	var tests []*ast.File
	for _, name := range files {
		f, err := parser.ParseFile(set, name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, "_test.go") {
			tests = append(tests, f)
		} else {
			comment += f.Doc.Text()
		}
	}
	for _, example := range doc.Examples(tests...) {
		if example.Output == "" && !example.EmptyOutput {
			t.Errorf("%s only compiles: it has no output comment", example.Name)
		}
		run++
	}
	return comment, run
}
