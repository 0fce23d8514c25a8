package cloudburst_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"strings"
	"testing"
	"testing/fstest"
)

const (
	longestFunction = 60 // maximum lines of a function outside tests
	longestFile     = 500
)

// habits returns the violations of the coding rules that a program can count.
func habits(tree fs.FS) (wrong []string, err error) {
	described := map[string]string{} // key: package; value: the file with its package comment
	err = fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			return enter(tree, name)
		case path.Ext(name) != ".go":
			return nil
		}
		set := token.NewFileSet()
		src, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		f, err := parser.ParseFile(set, name, src, parser.SkipObjectResolution|parser.ParseComments)
		if err != nil {
			return err
		}
		if n := strings.Count(string(src), "\n"); n > longestFile {
			wrong = append(wrong, fmt.Sprintf("%s has %d lines, more than %d: split it by its nouns", name, n, longestFile))
		}
		if pkg := path.Join(path.Dir(name), f.Name.Name); f.Doc != nil {
			if other := described[pkg]; other != "" {
				wrong = append(wrong, fmt.Sprintf("%s and %s both have a package comment: leave one", other, name))
			}
			described[pkg] = name
		}
		for _, decl := range f.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok {
				wrong = append(wrong, functionHabits(tree, set, name, fn)...)
			}
		}
		return nil
	})
	return wrong, err
}

func functionHabits(tree fs.FS, set *token.FileSet, file string, fn *ast.FuncDecl) (wrong []string) {
	name, test := fn.Name.Name, strings.HasSuffix(file, "_test.go")
	mayBeLong := test || isTestPackage(path.Dir(file)) // tests contain long tables
	at := set.Position(fn.Pos())
	if n := set.Position(fn.End()).Line - at.Line + 1; n > longestFunction && !mayBeLong {
		wrong = append(wrong, fmt.Sprintf("%s: %s has %d lines, more than %d", at, name, n, longestFunction))
	}
	if name == "init" && fn.Recv == nil {
		wrong = append(wrong, fmt.Sprintf("%s: init functions are not allowed: call the code explicitly", at))
	}
	if test && strings.HasPrefix(name, "Fuzz") && fn.Recv == nil {
		corpus := path.Join(path.Dir(file), "testdata/fuzz", name)
		if entries, err := fs.ReadDir(tree, corpus); err != nil || len(entries) == 0 {
			wrong = append(wrong, fmt.Sprintf("%s: %s has no corpus in %s", at, name, corpus))
		}
	}
	return wrong
}

func TestCodeFollowsTheConventions(t *testing.T) {
	t.Parallel()
	wrong, err := habits(os.DirFS("."))
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range wrong {
		t.Error(w)
	}
}

func TestConventionViolationsAreDetected(t *testing.T) {
	t.Parallel()
	body := func(lines int) string {
		return "package p\nfunc f() {\n" + strings.Repeat("\t_ = 0\n", lines-2) + "}\n"
	}
	for name, c := range map[string]struct {
		tree fstest.MapFS
		want string // expected violation; "" for none
	}{
		"nothing in a good tree": {fstest.MapFS{
			"p/p.go": file(body(longestFunction)), "p/p_test.go": file(body(longestFunction + 1)),
			"p/ptest/p.go": file(body(longestFunction + 1)),
			"p/f_test.go":  file("package p\nfunc FuzzF() {}\n"), "p/testdata/fuzz/FuzzF/a": file("go test fuzz v1\n")}, ""},
		"a long function": {fstest.MapFS{"p/p.go": file(body(longestFunction + 1))}, "p/p.go:2:1: f has 61 lines"},
		"a long file": {fstest.MapFS{"p/p_test.go": file("package p\n" + strings.Repeat("\n", longestFile))},
			"p/p_test.go has 501 lines"},
		"an init": {fstest.MapFS{"p/p.go": file("package p\nfunc init() {}\n")}, "p/p.go:2:1: init"},
		"two package comments": {fstest.MapFS{"p/a.go": file("// Package p is.\npackage p\n"), "p/b.go": file("// Package p was.\npackage p\n")},
			"p/a.go and p/b.go both have a package comment"},
		"a fuzz target without corpus":  {fstest.MapFS{"p/p_test.go": file("package p\nfunc FuzzF() {}\n")}, "p/p_test.go:2:1: FuzzF has no corpus in p/testdata/fuzz/FuzzF"},
		"nothing that is only a method": {fstest.MapFS{"p/p.go": file("package p\nfunc (t T) init() {}\n")}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wrong, err := habits(c.tree)
			if err != nil {
				t.Fatal(err)
			}
			got := strings.Join(wrong, "\n")
			if c.want == "" && got != "" || !strings.Contains(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
