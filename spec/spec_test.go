// Package spec_test compares the index of protocol rules with the comments that cite the rules.
package spec_test

import (
	"bytes"
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// index is the parsed content of index.txt.
type index struct {
	sources map[string]int // key: name of a source; value: line number
	rows    map[string]row // key: ID of a rule
}

type row struct {
	line  int
	state string
	rule  string
}

var (
	idForm     = regexp.MustCompile(`^([a-z0-9-]+)#[a-z0-9]+(-[a-z0-9]+)*$`)
	sourceForm = regexp.MustCompile(`^# source ([a-z0-9-]+): \S`)
	citeForm   = regexp.MustCompile(`\bspec:([^\s,;()]+)`)
)

// readIndex parses text, and returns the index and a sentence for each error.
func readIndex(text string) (index, []string) {
	x := index{sources: map[string]int{}, rows: map[string]row{}}
	var wrong []string
	bad := func(line int, format string, args ...any) {
		wrong = append(wrong, fmt.Sprintf("index.txt:%d: ", line)+fmt.Sprintf(format, args...))
	}
	last := ""
	for i, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		n := i + 1
		if strings.HasPrefix(line, "#") {
			if m := sourceForm.FindStringSubmatch(line); m != nil {
				x.sources[m[1]] = n
			}
			continue
		}
		f := strings.Split(line, "\t")
		if len(f) != 3 {
			bad(n, "%d fields, want id, state and rule, separated by tabs", len(f))
			continue
		}
		id, state, rule := f[0], f[1], f[2]
		m := idForm.FindStringSubmatch(id)
		switch {
		case m == nil:
			bad(n, "id %q is not SOURCE#ANCHOR in small letters, digits and hyphens", id)
			continue
		case x.sources[m[1]] == 0:
			bad(n, "source %q has no line \"# source %s: …\" above", m[1], m[1])
		}
		if !slices.Contains([]string{"yes", "partly", "no"}, state) {
			bad(n, "state %q of %s is not yes, partly or no", state, id)
		}
		if strings.TrimSpace(rule) != rule || !strings.HasSuffix(rule, ".") {
			bad(n, "the rule of %s is not a sentence that ends with a full stop", id)
		}
		if old, ok := x.rows[id]; ok {
			bad(n, "%s stands in line %d already", id, old.line)
			continue
		}
		if id < last {
			bad(n, "%s belongs before %s", id, last)
		}
		last = id
		x.rows[id] = row{n, state, rule}
	}
	for name, n := range x.sources {
		if !slices.ContainsFunc(slices.Collect(maps.Keys(x.rows)), func(id string) bool { return strings.HasPrefix(id, name+"#") }) {
			bad(n, "source %q has no rows", name)
		}
	}
	return x, wrong
}

// citation is one mention of a rule in a comment.
type citation struct {
	id, file string
	line     int
}

// readCitations collects the citations in the comments of all Go files of the module at the root
// of tree, regardless of build tags.
func readCitations(tree fs.FS) ([]citation, error) {
	var out []citation
	err := fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name != "." && (strings.HasPrefix(d.Name(), ".") || strings.HasPrefix(d.Name(), "_") || d.Name() == "testdata") {
				return fs.SkipDir
			}
			return nil
		}
		if path.Ext(name) != ".go" {
			return nil
		}
		src, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		if !bytes.Contains(src, []byte("spec:")) {
			return nil
		}
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, name, src, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, group := range f.Comments {
			for _, c := range group.List {
				line := set.Position(c.Pos()).Line
				for _, m := range citeForm.FindAllStringSubmatch(c.Text, -1) {
					out = append(out, citation{strings.TrimRight(m[1], ".:…"), name, line})
				}
			}
		}
		return nil
	})
	return out, err
}

// check returns the differences between the index and the citations, one sentence each.
func check(x index, cites []citation) []string {
	var wrong []string
	followed := map[string]bool{}
	for _, c := range cites {
		if _, ok := x.rows[c.id]; !ok {
			wrong = append(wrong, fmt.Sprintf("%s:%d cites %q, which spec/index.txt does not list", c.file, c.line, c.id))
		}
		if !strings.HasSuffix(c.file, "_test.go") {
			followed[c.id] = true
		}
	}
	for id, r := range x.rows {
		if r.state == "yes" && !followed[id] {
			wrong = append(wrong, fmt.Sprintf("index.txt:%d: %s is marked yes, and no line of code cites it", r.line, id))
		}
	}
	slices.Sort(wrong)
	return wrong
}

func TestSpecCitationsMatchTheRowsOfTheIndex(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("index.txt")
	if err != nil {
		t.Fatal(err)
	}
	x, wrong := readIndex(string(text))
	for _, w := range wrong {
		t.Error(w)
	}
	cites, err := readCitations(os.DirFS(".."))
	if err != nil {
		t.Fatal(err)
	}
	if len(cites) == 0 {
		t.Fatal("no Go file cites a rule: the search looks in the wrong place")
	}
	for _, w := range check(x, cites) {
		t.Error(w)
	}
}

const header = "# source a-2000: A\n# source b-2001: B\n"

func TestInvalidSpecIndexRowsAreRejected(t *testing.T) {
	t.Parallel()
	rows := "a-2000#x\tyes\tX.\nb-2001#y\tno\tY.\n"
	if _, wrong := readIndex(header + rows); len(wrong) != 0 {
		t.Fatalf("a good index is refused: %q", wrong)
	}
	for name, c := range map[string]struct{ text, want string }{
		"a row of two fields":            {header + "a-2000#w\tyes\n" + rows, "2 fields"},
		"an empty line":                  {header + "\n" + rows, "1 fields"},
		"a state it does not know":       {header + "a-2000#w\tmaybe\tW.\n" + rows, `state "maybe"`},
		"an id without anchor":           {header + "a-2000\tyes\tW.\n" + rows, `id "a-2000"`},
		"an id with capitals":            {header + "a-2000#W\tyes\tW.\n" + rows, `id "a-2000#W"`},
		"a source it does not know":      {header + "a-1999#w\tyes\tW.\n" + rows, `source "a-1999"`},
		"a source without rows":          {header + "a-2000#x\tyes\tX.\n", `source "b-2001" has no rows`},
		"the same id twice":              {header + "a-2000#x\tno\tAgain.\n" + rows, "stands in line 3 already"},
		"rows out of order":              {header + "a-2000#z\tno\tZ.\n" + rows, "a-2000#x belongs before a-2000#z"},
		"a rule that is not a sentence":  {header + "a-2000#w\tyes\tW\n" + rows, "full stop"},
		"a rule of nothing but a margin": {header + "a-2000#w\tyes\t \n" + rows, "full stop"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, wrong := readIndex(c.text)
			if !strings.Contains(strings.Join(wrong, "\n"), c.want) {
				t.Errorf("got %q, want something about %q", wrong, c.want)
			}
		})
	}
}

func TestInvalidSpecCitationsAreDetected(t *testing.T) {
	t.Parallel()
	x, wrong := readIndex(header + "a-2000#x\tyes\tX.\nb-2001#y\tno\tY.\nb-2001#z\tpartly\tZ.\n")
	if len(wrong) != 0 {
		t.Fatal(wrong)
	}
	file := func(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte("package p\n" + s + "\n")} }
	for name, c := range map[string]struct {
		tree fstest.MapFS
		want string // expected error; "" means no error
	}{
		"nothing when all agrees":          {fstest.MapFS{"p/p.go": file("// Why. spec:a-2000#x.")}, ""},
		"nothing behind a build tag":       {fstest.MapFS{"p/p.go": {Data: []byte("//go:build plan9\n\npackage p\n\n// (spec:a-2000#x)\n")}}, ""},
		"a citation that is no row":        {fstest.MapFS{"p/p.go": file("// spec:a-2000#x spec:a-2000#q")}, `p/p.go:2 cites "a-2000#q"`},
		"a citation without anchor":        {fstest.MapFS{"p/p.go": file("// spec:a-2000#x\n// spec:b-2001")}, `p/p.go:3 cites "b-2001"`},
		"a wrong citation in a test":       {fstest.MapFS{"p/p.go": file("// spec:a-2000#x"), "p/p_test.go": file("// spec:c#c")}, `p/p_test.go:2 cites "c#c"`},
		"a followed rule cited nowhere":    {fstest.MapFS{"p/p.go": file("")}, "a-2000#x is marked yes"},
		"a rule cited by a test alone":     {fstest.MapFS{"p/p_test.go": file("// spec:a-2000#x")}, "a-2000#x is marked yes"},
		"a rule cited in a string alone":   {fstest.MapFS{"p/p.go": file("const c = `// spec:a-2000#x`")}, "a-2000#x is marked yes"},
		"a rule cited in testdata alone":   {fstest.MapFS{"p/testdata/p.go": file("// spec:a-2000#x")}, "a-2000#x is marked yes"},
		"a rule cited in a text file only": {fstest.MapFS{"p/p.txt": file("// spec:a-2000#x")}, "a-2000#x is marked yes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cites, err := readCitations(c.tree)
			if err != nil {
				t.Fatal(err)
			}
			got := strings.Join(check(x, cites), "\n")
			if c.want == "" && got != "" || !strings.Contains(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
