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
	"unicode"
)

// sentenceReaders returns the files that may recognise an error by its text, because the library
// has no type for the error. The value names the library.
func sentenceReaders() map[string]string {
	return map[string]string{
		"internal/fetch/error.go":          "net/http, crypto/tls and the resolver",
		"internal/cli/shell/network.go":    "net/http",
		"internal/cli/readcli/exchange.go": "crypto/tls",
		"internal/api/exchange/body.go":    "encoding/json, about unknown fields",
		"lab/program/process.go":           "the log of a child process",
	}
}

// recognised lists the places that search the text of an error or a fault. Such code should use
// the type or code of the error, or a field of the fault, instead.
func recognised(tree fs.FS, except map[string]string) (wrong []string, err error) {
	err = fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			return enter(tree, name)
		case path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") || except[name] != "":
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
		for _, decl := range f.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok && fn.Body != nil {
				for _, at := range searches(fn.Body) {
					wrong = append(wrong, fmt.Sprintf("%s: an error is recognised by its sentence: use its type, its fault.Code or its Field", set.Position(at)))
				}
			}
		}
		return nil
	})
	return wrong, err
}

// searches returns the places in a function that search or compare the text of an error.
func searches(body *ast.BlockStmt) (found []token.Pos) {
	named := sentences(body)
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			of, ok := n.Fun.(*ast.SelectorExpr)
			if !ok || len(n.Args) == 0 {
				return true
			}
			in, _ := of.X.(*ast.Ident)
			looks := []string{"Contains", "HasPrefix", "HasSuffix", "EqualFold", "Index", "LastIndex", "Cut", "CutPrefix", "CutSuffix"}
			if in != nil && in.Name == "strings" && slices.Contains(looks, of.Sel.Name) && isSentence(n.Args[0], named) && !isPunctuation(n.Args[1:]) {
				found = append(found, n.Pos())
			}
			if of.Sel.Name == "MatchString" && isSentence(n.Args[0], named) {
				found = append(found, n.Pos())
			}
		case *ast.BinaryExpr:
			lit, ok := n.Y.(*ast.BasicLit)
			if n.Op == token.EQL && ok && lit.Kind == token.STRING && lit.Value != `""` && isSentence(n.X, named) {
				found = append(found, n.Pos())
			}
		}
		return true
	})
	return found
}

// isPunctuation reports whether the search text is a literal without letters. Such a search only
// reformats the text of the error.
func isPunctuation(sought []ast.Expr) bool {
	if len(sought) != 1 {
		return false
	}
	lit, ok := sought[0].(*ast.BasicLit)
	return ok && !strings.ContainsFunc(lit.Value, unicode.IsLetter)
}

// sentences returns the names of a function's variables that contain the text of an error.
func sentences(body *ast.BlockStmt) map[string]bool {
	named := map[string]bool{}
	ast.Inspect(body, func(n ast.Node) bool {
		if a, ok := n.(*ast.AssignStmt); ok && len(a.Lhs) == len(a.Rhs) {
			for i, right := range a.Rhs {
				if left, ok := a.Lhs[i].(*ast.Ident); ok && isSentence(right, nil) {
					named[left.Name] = true
				}
			}
		}
		return true
	})
	return named
}

// isSentence reports whether an expression is err.Error(), fault.Message(err), reason(err),
// message(err), or a variable with one of them.
func isSentence(e ast.Expr, named map[string]bool) bool {
	switch e := e.(type) {
	case *ast.Ident:
		return named[e.Name]
	case *ast.CallExpr:
		switch f := e.Fun.(type) {
		case *ast.Ident:
			return f.Name == "reason" || f.Name == "message"
		case *ast.SelectorExpr:
			x, _ := f.X.(*ast.Ident)
			return f.Sel.Name == "Error" && len(e.Args) == 0 || x != nil && x.Name == "fault" && f.Sel.Name == "Message" ||
				x != nil && x.Name == "strings" && len(e.Args) > 0 && isSentence(e.Args[0], named)
		}
	}
	return false
}

func TestCodeDoesNotCompareErrorTexts(t *testing.T) {
	t.Parallel()
	wrong, err := recognised(os.DirFS("."), sentenceReaders())
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range wrong {
		t.Error(w)
	}
	for name := range sentenceReaders() {
		if all, err := recognised(os.DirFS("."), nil); err != nil || !slices.ContainsFunc(all, func(w string) bool { return strings.HasPrefix(w, name+":") }) {
			t.Errorf("%s recognises no error by its sentence: remove its row", name)
		}
	}
}

func TestErrorTextComparisonsAreDetected(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]int{
		`_ = strings.Contains(err.Error(), "x")`:                  1,
		`text := err.Error(); _ = strings.HasPrefix(text, "x")`:   1,
		`text := reason(err); if strings.Contains(text, "x") {}`:  1,
		`_, _, _ = strings.Cut(fault.Message(err), "x")`:          1,
		`_ = strings.Contains(strings.ToLower(err.Error()), "x")`: 1,
		`_ = err.Error() == "x"`:                                  1,
		`_ = form.MatchString(err.Error())`:                       1,
		`_ = err.Error() == ""`:                                   0,
		`_ = strings.HasSuffix(err.Error(), ".")`:                 0,
		`text := err.Error(); log(text)`:                          0,
		`_ = strings.Contains(text, "x")`:                         0,
		`_ = strings.TrimSuffix(err.Error(), ".")`:                0,
	} {
		wrong, err := recognised(fstest.MapFS{"p/p.go": file("package p\nfunc f(err error) {\n\t" + body + "\n}\n")}, nil)
		if err != nil || len(wrong) != want {
			t.Errorf("%s: %v %v", body, wrong, err)
		}
	}
}
