package cloudburst_test

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

type layer struct {
	name     string
	packages []string // folders of packages; "." is the root of the module
}

// grant allows the package pkg to import all packages of an outside module. If pkg is empty, all
// tests may import the module.
type grant struct{ module, pkg, why string }

type ruleset struct {
	module     string
	layers     []layer
	blind      map[string][]string // key: package; value: earlier packages that it must not import
	seenBy     map[string][]string // key: package; value: the only packages that may import it outside tests
	within     map[string][]string // key: folder; value: the only packages outside of the folder that may import packages in it, also in tests
	grants     []grant
	testGrants []grant
	testsSee   map[string][]string // key: package; value: later packages that its tests may import
}

// imported is one import of a source file.
type imported struct {
	from string // folder of the importing file
	file string
	what string // path of the imported package
	test bool   // the file is a _test.go file
}

// check reads every Go file of the module in tree and returns the violations of the rules,
// one sentence each, sorted.
func (r ruleset) check(tree fs.FS) ([]string, error) {
	imports, folders, err := readImports(tree)
	if err != nil {
		return nil, err
	}
	var wrong []string
	wrong = append(wrong, r.checkTables(folders)...)
	used := map[string]bool{} // key: path of an imported module
	usedGrants := map[grant]bool{}
	for _, i := range imports {
		if w := r.checkImport(i, used, usedGrants); w != "" {
			wrong = append(wrong, fmt.Sprintf("%s imports %s: %s", i.file, i.what, w))
		}
	}
	for _, g := range r.grants {
		if !usedGrants[g] {
			wrong = append(wrong, fmt.Sprintf("the grant of %s to %s is not used: remove its row", g.module, g.pkg))
		}
	}
	mods, err := requiredDirectly(tree)
	if err != nil {
		return nil, err
	}
	for _, m := range mods {
		if !used[m] {
			wrong = append(wrong, fmt.Sprintf("go.mod requires %s, and no package imports it", m))
		}
	}
	slices.Sort(wrong)
	return slices.Compact(wrong), nil
}

// checkTables compares the tables with folders, which contains each folder with Go files. The
// value is true if the folder contains files other than tests.
func (r ruleset) checkTables(folders map[string]bool) []string {
	var wrong []string
	listed := map[string]bool{}
	for _, l := range r.layers {
		for _, p := range l.packages {
			if listed[p] {
				wrong = append(wrong, fmt.Sprintf("package %s is listed twice", p))
			}
			listed[p] = true
			if _, ok := folders[p]; !ok {
				wrong = append(wrong, fmt.Sprintf("package %s is listed in layer %q and is gone", p, l.name))
			}
		}
	}
	for p := range folders {
		if !listed[p] {
			wrong = append(wrong, fmt.Sprintf("package %s is in no layer: add it to the table where it belongs", p))
		}
	}
	for _, g := range slices.Concat(r.grants, r.testGrants) {
		if g.why == "" {
			wrong = append(wrong, fmt.Sprintf("the grant of %s gives no reason", g.module))
		}
	}
	return wrong
}

// checkImport returns the violation of one import, or "" if the import is allowed.
func (r ruleset) checkImport(i imported, used map[string]bool, usedGrants map[grant]bool) string {
	if i.what == "C" {
		return "there is no C in this program, it is built without cgo"
	}
	if i.what == r.module || strings.HasPrefix(i.what, r.module+"/") {
		to := "."
		if i.what != r.module {
			to = strings.TrimPrefix(i.what, r.module+"/")
		}
		return r.checkOwn(i, to)
	}
	if first, _, _ := strings.Cut(i.what, "/"); !strings.Contains(first, ".") {
		return "" // the package belongs to the standard library
	}
	granted := false
	for _, g := range slices.Concat(r.grants, r.testGrants) {
		if i.what != g.module && !strings.HasPrefix(i.what, g.module+"/") {
			continue
		}
		used[g.module] = true
		ours := g.pkg == i.from && g.pkg != ""
		if ours && !i.test {
			usedGrants[g] = true
		}
		// A test can import the modules granted to its package, and the modules granted to all
		// tests.
		granted = granted || ours || g.pkg == "" && (i.test || isTestPackage(i.from))
	}
	if !granted {
		return "no grant lets " + i.from + " import this module"
	}
	return ""
}

// checkOwn checks the import of a package of this module.
func (r ruleset) checkOwn(i imported, to string) string {
	from, dest := r.layerOf(i.from), r.layerOf(to)
	switch {
	case from < 0:
		return "" // checkTables already reports a package without a layer
	case dest < 0:
		return "it is in no layer"
	case r.outside(i.from, to) != "":
		return "what is below " + r.outside(i.from, to) + " stays within it"
	case i.test && (to == i.from || isTestPackage(to) || slices.Contains(r.testsSee[i.from], to)):
		return ""
	case isTestPackage(to) && !isTestPackage(i.from):
		return "a test package may be imported by tests only"
	case dest == from:
		return fmt.Sprintf("both are in layer %q", r.layers[from].name)
	case dest > from:
		return fmt.Sprintf("layer %q comes after layer %q", r.layers[dest].name, r.layers[from].name)
	case slices.Contains(r.blind[i.from], to):
		return "the table says that " + i.from + " does not know it"
	}
	if only := r.seenBy[to]; only != nil && !i.test && !slices.Contains(only, i.from) {
		return "only " + strings.Join(only, " and ") + " may see it"
	}
	return ""
}

// outside returns the folder that restricts the import of package to by package from, or "" if no
// folder does.
func (r ruleset) outside(from, to string) string {
	for folder, guests := range r.within {
		below := func(pkg string) bool { return strings.HasPrefix(pkg, folder+"/") }
		if below(to) && !below(from) && !slices.Contains(guests, from) {
			return folder
		}
	}
	return ""
}

func (r ruleset) layerOf(pkg string) int {
	return slices.IndexFunc(r.layers, func(l layer) bool { return slices.Contains(l.packages, pkg) })
}

// isTestPackage reports whether a package is only for tests: its name ends in "test".
func isTestPackage(pkg string) bool { return strings.HasSuffix(path.Base(pkg), "test") }

// readImports parses the imports of every Go file, regardless of build tags. It skips testdata
// folders, hidden folders and nested modules. The value of a folder is true if the folder
// contains files other than tests.
func readImports(tree fs.FS) (imports []imported, folders map[string]bool, err error) {
	folders = map[string]bool{}
	set := token.NewFileSet()
	err = fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			return enter(tree, name)
		}
		if path.Ext(name) != ".go" {
			return nil
		}
		src, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		f, err := parser.ParseFile(set, name, src, parser.ImportsOnly)
		if err != nil {
			return err
		}
		from, test := path.Dir(name), strings.HasSuffix(name, "_test.go")
		folders[from] = folders[from] || !test
		for _, s := range f.Imports {
			what, err := strconv.Unquote(s.Path.Value)
			if err != nil {
				return fmt.Errorf("%s: import %s: %w", name, s.Path.Value, err)
			}
			imports = append(imports, imported{from, name, what, test})
		}
		return nil
	})
	return imports, folders, err
}

// enter returns nil if WalkDir visits the folder name, and fs.SkipDir if it skips the folder.
func enter(tree fs.FS, name string) error {
	if name == "." {
		return nil
	}
	base := path.Base(name)
	if base == "testdata" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") {
		return fs.SkipDir
	}
	if _, err := fs.Stat(tree, path.Join(name, "go.mod")); err == nil {
		return fs.SkipDir
	}
	return nil
}

// requiredDirectly lists the modules that go.mod requires without "// indirect".
func requiredDirectly(tree fs.FS) ([]string, error) {
	text, err := fs.ReadFile(tree, "go.mod")
	if err != nil {
		return nil, err
	}
	var out []string
	block := ""
	for line := range strings.Lines(string(text)) {
		code, comment, _ := strings.Cut(strings.TrimSpace(line), "//")
		f := strings.Fields(code)
		switch {
		case len(f) == 0:
		case block == "" && len(f) == 2 && f[1] == "(":
			block = f[0]
		case f[0] == ")":
			block = ""
		case strings.TrimSpace(comment) == "indirect":
		case block == "require":
			out = append(out, f[0])
		case block == "" && f[0] == "require" && len(f) > 1:
			out = append(out, f[1])
		}
	}
	return out, nil
}
