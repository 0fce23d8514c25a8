package cloudburst_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"cloudburst/internal/fulltest"
)

// TestProgramTypeChecksForOtherOperatingSystems checks the types of the program and its imports
// for the other supported systems. Within seconds, it finds all errors of a build except those of
// assembly and linking. "make cross" builds the program.
func TestProgramTypeChecksForOtherOperatingSystems(t *testing.T) {
	t.Parallel()
	fulltest.Needs(t, "the sources of all modules")
	for _, system := range []string{"linux/arm64", "darwin/arm64"} {
		t.Run(system, func(t *testing.T) {
			t.Parallel()
			s := newSystem(system)
			if err := s.check("./cmd/cloudburst", "./cmd/cloudburst-lab"); err != nil {
				t.Error(err)
			}
			if n := len(s.checked); n < 200 {
				t.Errorf("only %d packages were looked at", n)
			}
		})
	}
}

// The type check must find an error in a package for another system.
func TestTypeErrorsForOtherOperatingSystemsAreDetected(t *testing.T) {
	t.Parallel()
	fulltest.Needs(t, "the sources of all modules")
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":     "module example\n\ngo 1.26\n",
		"main.go":    "package main\n\nfunc main() { here() }\n",
		"a_linux.go": "package main\n\nimport \"syscall\"\n\nfunc here() { _, _ = syscall.InotifyInit() }\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for system, want := range map[string]string{"linux/arm64": "<nil>", "darwin/arm64": "undefined: here"} {
		s := newSystem(system)
		s.dir = dir
		said := fmt.Sprint(s.check("."))
		if !strings.Contains(said, want) {
			t.Errorf("%s: %s, want %s", system, said, want)
		}
	}
}

// system is an operating system and architecture that the program supports.
type system struct {
	os, arch string
	dir      string // folder of the module
	files    *token.FileSet
	sizes    types.Sizes
	checked  map[string]*types.Package
}

func newSystem(name string) *system {
	goos, arch, _ := strings.Cut(name, "/")
	return &system{os: goos, arch: arch, files: token.NewFileSet(), sizes: types.SizesFor("gc", arch),
		checked: map[string]*types.Package{"unsafe": types.Unsafe}}
}

// listed is the part of go list's JSON output about a package that the check needs.
type listed struct {
	ImportPath, Dir string
	GoFiles         []string
	ImportMap       map[string]string
	Module          *struct {
		Main      bool
		GoVersion string
	}
	Error *struct{ Err string }
}

// check checks the types of the packages in roots and of all their imports, imports first.
func (s *system) check(roots ...string) error {
	list := exec.Command("go", append([]string{"list", "-e", "-deps", "-json=ImportPath,Dir,GoFiles,ImportMap,Module,Error"}, roots...)...)
	list.Dir, list.Stderr = s.dir, os.Stderr
	list.Env = append(os.Environ(), "GOOS="+s.os, "GOARCH="+s.arch, "CGO_ENABLED=0", "GOFLAGS=-buildvcs=false")
	out, err := list.Output()
	if err != nil {
		return fmt.Errorf("go list: %w", err)
	}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if p.Error != nil {
			return fmt.Errorf("%s: %s", p.ImportPath, p.Error.Err)
		}
		if err := s.one(p); err != nil {
			return err
		}
	}
}

// one checks the types of a package. It skips the function bodies of packages outside this
// module.
func (s *system) one(p listed) error {
	if p.ImportPath == "unsafe" {
		return nil
	}
	ours := p.Module != nil && p.Module.Main
	var files []*ast.File
	for _, name := range p.GoFiles {
		f, err := parser.ParseFile(s.files, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		files = append(files, f)
	}
	c := types.Config{Sizes: s.sizes, IgnoreFuncBodies: !ours, Importer: imports{s, p.ImportMap}}
	if p.Module != nil && p.Module.GoVersion != "" {
		c.GoVersion = "go" + p.Module.GoVersion
	}
	pkg, err := c.Check(p.ImportPath, s.files, files, nil)
	if err != nil {
		return fmt.Errorf("for %s on %s: %w", s.os, s.arch, err)
	}
	s.checked[p.ImportPath] = pkg
	return nil
}

// imports resolves the import paths of a package. names maps an import path in the source to the
// resolved import path.
type imports struct {
	*system
	names map[string]string
}

// Import implements [types.Importer].
func (i imports) Import(path string) (*types.Package, error) {
	if name := i.names[path]; name != "" {
		path = name
	}
	if pkg := i.checked[path]; pkg != nil {
		return pkg, nil
	}
	return nil, fmt.Errorf("%s was not listed before it is imported", path)
}
