package cloudburst_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

const (
	largestPackage   = 6000 // lines of a package, without tests
	largestType      = 60   // methods of a type
	largestInterface = 20   // methods that an interface declares
)

// sizes are the counts that exceed their limits.
type sizes struct {
	packages   map[string]int // key: folder; value: number of lines
	types      map[string]int // key: folder.Type; value: number of methods
	interfaces map[string]int // key: folder.Type; value: number of declared methods
	sleeps     map[string]int // key: file; value: number of time.Sleep calls on the real clock
}

// exceptions returns the allowed counts above the limits. The test fails if a count exceeds its
// exception, if a count needs no exception, or if an exception is too large.
func exceptions() sizes {
	return sizes{
		packages: map[string]int{
			"feed":        9500,  // the package has one file for each format and each module
			"feed/render": 10910, // the package has one file for each format
			"lab/bench":   7450,
		},
		types: map[string]int{
			"client.Client":        64,  // the client has one method for each operation of the API
			"feed.parser":          214, // the parser has one method for each element
			"feed/render.writer":   159, // the writer has one method for each element
			"internal/scan.Reader": 73,
			"lab/hubsim.Disk":      64, // the type implements all methods of a store
		},
		interfaces: map[string]int{},
		// Clients of real processes pause between requests. Simulated nodes run in a synctest
		// bubble that their caller opens.
		sleeps: map[string]int{
			"internal/cputime/thread_test.go":     2, // the test measures that waiting takes no CPU time
			"internal/store/move_test.go":         2,
			"internal/store/storetest/standby.go": 1,
			"lab/abusetest/callbacks_test.go":     1,
			"lab/abusetest/load_test.go":          1,
			"lab/abusetest/login_test.go":         1,
			"lab/abusetest/overload_test.go":      1,
			"lab/abusetest/slow_test.go":          3,
			"lab/bench/receiver.go":               2,
			"lab/clustertest/harness.go":          1,
			"lab/crashtest/hostedload.go":         3,
			"lab/crashtest/targeted.go":           2,
			"lab/crashtest/posts.go":              2,
			"lab/crashtest/process.go":            1,
			"lab/crashtest/run.go":                3,
			"lab/hubsim/calm.go":                  4,
			"lab/hubsim/node.go":                  2,
			"lab/hubsim/play.go":                  12,
			"lab/hubsim/scenario.go":              1,
			"lab/outside/outside.go":              1,
			"lab/planted/bugs.go":                 1,
			"lab/powertest/disk.go":               1,
			"lab/powertest/keeper_test.go":        3,
			"lab/powertest/mount_linux_test.go":   1,
		},
	}
}

// measure returns the counts above their limits. It ignores time.Sleep in the tests of a folder
// that uses testing/synctest, because sleeping in a bubble takes no real time.
func measure(tree fs.FS) (all sizes, err error) {
	all = sizes{map[string]int{}, map[string]int{}, map[string]int{}, map[string]int{}}
	bubbles := map[string]bool{} // key: folder with tests that use testing/synctest
	err = fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			return enter(tree, name)
		case path.Ext(name) != ".go":
			return nil
		}
		src, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, src, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		folder := path.Dir(name)
		for _, i := range f.Imports {
			bubbles[folder] = bubbles[folder] || i.Path.Value == `"testing/synctest"`
		}
		if n := countSleeps(f); n > 0 {
			all.sleeps[name] = n
		}
		if strings.HasSuffix(name, "_test.go") {
			return nil
		}
		all.packages[folder] += strings.Count(string(src), "\n")
		countMethods(folder, f, all)
		return nil
	})
	within := func(counts map[string]int, most int) {
		maps.DeleteFunc(counts, func(_ string, n int) bool { return n <= most })
	}
	within(all.packages, largestPackage)
	within(all.types, largestType)
	within(all.interfaces, largestInterface)
	maps.DeleteFunc(all.sleeps, func(name string, _ int) bool {
		return strings.HasSuffix(name, "_test.go") && bubbles[path.Dir(name)]
	})
	return all, err
}

func countMethods(folder string, f *ast.File, all sizes) {
	for _, decl := range f.Decls {
		if fn, ok := decl.(*ast.FuncDecl); ok && fn.Recv != nil {
			recv := fn.Recv.List[0].Type
			if star, ok := recv.(*ast.StarExpr); ok {
				recv = star.X
			}
			if generic, ok := recv.(*ast.IndexExpr); ok {
				recv = generic.X
			}
			if name, ok := recv.(*ast.Ident); ok {
				all.types[folder+"."+name.Name]++
			}
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		spec, ok := n.(*ast.TypeSpec)
		if !ok {
			return true
		}
		if is, ok := spec.Type.(*ast.InterfaceType); ok {
			for _, m := range is.Methods.List {
				all.interfaces[folder+"."+spec.Name.Name] += len(m.Names)
			}
		}
		return true
	})
}

func countSleeps(f *ast.File) (n int) {
	ast.Inspect(f, func(node ast.Node) bool {
		if s, ok := node.(*ast.SelectorExpr); ok && s.Sel.Name == "Sleep" {
			if x, ok := s.X.(*ast.Ident); ok && x.Name == "time" {
				n++
			}
		}
		return true
	})
	return n
}

// compare returns the differences between the counts and their exceptions.
func (s sizes) compare(granted sizes) (wrong []string) {
	for _, c := range []struct {
		what          string
		most, slack   int // slack is how far the number in an exception may exceed its count
		found, listed map[string]int
	}{
		{"lines", largestPackage, 500, s.packages, granted.packages},
		{"methods", largestType, 0, s.types, granted.types},
		{"methods", largestInterface, 0, s.interfaces, granted.interfaces},
		{"calls of time.Sleep outside a bubble of testing/synctest", 0, 0, s.sleeps, granted.sleeps},
	} {
		for name, n := range c.found {
			if most := max(c.most, c.listed[name]); n > most {
				wrong = append(wrong, fmt.Sprintf("%s has %d %s, more than %d", name, n, c.what, most))
			}
		}
		for name, most := range c.listed {
			if n := c.found[name]; n < most-c.slack {
				wrong = append(wrong, fmt.Sprintf("the exception of %s allows %d %s, and it has %d: lower or remove the exception", name, most, c.what, n))
			}
		}
	}
	slices.Sort(wrong)
	return wrong
}

func TestPackagesTypesAndInterfacesStayWithinLimits(t *testing.T) {
	t.Parallel()
	all, err := measure(os.DirFS("."))
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range all.compare(exceptions()) {
		t.Error(w)
	}
}

func TestSizesAboveTheLimitsAreDetected(t *testing.T) {
	t.Parallel()
	methods := func(n int) (s string) {
		for i := range n {
			s += fmt.Sprintf("func (t *T) M%d() {}\n", i)
		}
		return s
	}
	declared := func(n int) (s string) {
		for i := range n {
			s += fmt.Sprintf("M%d()\n", i)
		}
		return "package p\ntype I interface {\n" + s + "}\n"
	}
	const sleeping = "package p\nimport \"time\"\nfunc f() { time.Sleep(1) }\n"
	for name, c := range map[string]struct {
		tree    fstest.MapFS
		granted sizes
		want    string // expected violation; "" for none
	}{
		"nothing within the bounds": {tree: fstest.MapFS{"p/p.go": file("package p\ntype T int\n" + methods(largestType)), "p/i.go": file(declared(largestInterface))}},
		"a large package": {tree: fstest.MapFS{"p/p.go": file("package p\n" + strings.Repeat("\n", largestPackage))},
			want: "p has 6001 lines, more than 6000"},
		"not the tests of a package": {tree: fstest.MapFS{"p/p_test.go": file("package p\n" + strings.Repeat("\n", largestPackage))}},
		"a type over two files": {tree: fstest.MapFS{"p/p.go": file("package p\ntype T int\n" + methods(largestType)), "p/q.go": file("package p\nfunc (T) N() {}\n")},
			want: "p.T has 61 methods, more than 60"},
		"a large interface":        {tree: fstest.MapFS{"p/p.go": file(declared(largestInterface + 1))}, want: "p.I has 21 methods, more than 20"},
		"a sleep":                  {tree: fstest.MapFS{"p/p_test.go": file(sleeping)}, want: "p/p_test.go has 1 calls of time.Sleep"},
		"no sleep next to bubbles": {tree: fstest.MapFS{"p/p_test.go": file(sleeping), "p/q_test.go": file("package p\nimport _ \"testing/synctest\"\n")}},
		"a sleep of the program":   {tree: fstest.MapFS{"p/p.go": file(sleeping), "p/q_test.go": file("package p\nimport _ \"testing/synctest\"\n")}, want: "p/p.go has 1 calls"},
		"more than an exception":   {tree: fstest.MapFS{"p/p.go": file(declared(23))}, granted: sizes{interfaces: map[string]int{"p.I": 22}}, want: "p.I has 23 methods, more than 22"},
		"nothing that is granted":  {tree: fstest.MapFS{"p/p.go": file(declared(22))}, granted: sizes{interfaces: map[string]int{"p.I": 22}}},
		"an exception that shrank": {tree: fstest.MapFS{"p/p.go": file(declared(21))}, granted: sizes{interfaces: map[string]int{"p.I": 22}}, want: "allows 22 methods, and it has 21"},
		"an exception of nothing":  {tree: fstest.MapFS{"p/p.go": file("package p\n")}, granted: sizes{sleeps: map[string]int{"p/q.go": 1}}, want: "the exception of p/q.go allows 1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all, err := measure(c.tree)
			if err != nil {
				t.Fatal(err)
			}
			got := strings.Join(all.compare(c.granted), "\n")
			if c.want == "" && got != "" || !strings.Contains(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
