package cloudburst_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// hostKeys lists the places where the key of a limit or map is a host as written in a URL. Such a
// key gives each spelling of the same host its own limit.
func hostKeys(tree fs.FS) (wrong []string, err error) {
	limits := []string{"take", "turn", "empty", "begin", "beginAll", "end", "ask", "host", "later"}
	err = fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			return enter(tree, name)
		case path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		src, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, name, src, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(f, func(n ast.Node) bool {
			var keys []ast.Expr
			switch n := n.(type) {
			case *ast.IndexExpr:
				keys = []ast.Expr{n.Index}
			case *ast.CallExpr:
				if s, ok := n.Fun.(*ast.SelectorExpr); ok && slices.Contains(limits, s.Sel.Name) {
					keys = n.Args
				}
			}
			for _, key := range keys {
				if spelled(key) {
					wrong = append(wrong, fmt.Sprintf("%s: a host as its URL spells it is a key: use href.Host or href.HostPort", set.Position(n.Pos())))
				}
			}
			return true
		})
		return nil
	})
	return wrong, err
}

// spelled reports whether an expression calls hostOf, text.Host or Hostname, or reads the
// Host of a URL or of a request.
func spelled(key ast.Expr) (found bool) {
	ast.Inspect(key, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if f, ok := n.Fun.(*ast.Ident); ok && f.Name == "hostOf" {
				found = true
			}
			if s, ok := n.Fun.(*ast.SelectorExpr); ok && s.Sel.Name == "Hostname" {
				found = true
			}
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && n.Sel.Name == "Host" && (x.Name == "u" || x.Name == "r" || x.Name == "text") {
				found = true
			}
		}
		return true
	})
	return found
}

func TestLimitKeysContainNormalisedHosts(t *testing.T) {
	t.Parallel()
	wrong, err := hostKeys(os.DirFS("."))
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range wrong {
		t.Error(w)
	}
}

func TestLimitKeysWithUnnormalisedHostsAreDetected(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]int{
		`l.take(hostOf(u), now)`:              1,
		`l.begin("read " + hostOf(in.Topic))`: 1,
		`m[u.Hostname()]++`:                   1,
		`m[u.Host] = true`:                    1,
		`l.take(text.Host(u), now)`:           1,
		`l.take(href.Host(u), now)`:           0,
		`log.Info("x", "host", hostOf(u))`:    0,
		`m[s.Host]++`:                         0,
	} {
		wrong, err := hostKeys(fstest.MapFS{"p/p.go": file("package p\nfunc f() {\n\t" + body + "\n}\n")})
		if err != nil || len(wrong) != want {
			t.Errorf("%s: %v %v", body, wrong, err)
		}
	}
}
