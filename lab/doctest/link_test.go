package doctest

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Each link between pages must point to an existing page and heading.
func TestLinksInTheDocumentationHaveTargets(t *testing.T) {
	t.Parallel()
	all := pages(t)
	marks := map[string]map[string]bool{}
	for _, p := range all {
		marks[p.name] = p.marks
	}
	n := 0
	for _, p := range all {
		for _, l := range p.links {
			if strings.Contains(l.text, "://") {
				continue
			}
			n++
			file, mark, _ := strings.Cut(l.text, "#")
			to := p.name
			if file != "" {
				to = path.Join(path.Dir(p.name), file)
			}
			if _, err := os.Stat("../../" + to); err != nil {
				t.Errorf("%s:%d links to %s, which does not exist", p.name, l.line, l.text)
			}
			if mark != "" && !marks[to][mark] {
				t.Errorf("%s:%d links to %s, but the page has no such heading", p.name, l.line, l.text)
			}
		}
	}
	if n < 100 {
		t.Errorf("only %d links were found", n)
	}
}

// pathLike matches words that can be the path of a file.
var pathLike = regexp.MustCompile(`^[\w.-]+(/[\w.*-]+)+/?$`)

// All files and folders that the documentation names must exist.
func TestFilesNamedInTheDocumentationExist(t *testing.T) {
	t.Parallel()
	roots := map[string]bool{}
	entries, err := os.ReadDir("../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		roots[e.Name()] = e.IsDir()
	}
	for _, folder := range []string{"bin", "data", ".git"} { // the user creates these folders
		delete(roots, folder)
	}
	n := 0
	for _, p := range pages(t) {
		near := "" // last folder that this row of a table named
		line := 0
		for _, s := range p.spans {
			if s.line != line {
				near, line = "", s.line
			}
			name := s.text
			first, _, _ := strings.Cut(name, "/")
			switch {
			case pathLike.MatchString(name) && roots[first]:
				near = path.Dir(name)
				if path.Ext(name) == "" {
					near = name
				}
			case near != "" && strings.HasSuffix(name, ".go"):
				// The name is relative to the last folder, or to a folder next to the last
				// folder.
				if there(path.Join(near, name)) || there(path.Join(path.Dir(near), "*", name)) {
					n++
					continue
				}
			default:
				continue
			}
			n++
			if !there(name) {
				t.Errorf("%s:%d names %s, which does not exist", p.name, s.line, s.text)
			}
		}
	}
	if n < 100 {
		t.Errorf("only %d files were found", n)
	}
}

// there reports whether a file or folder matches the pattern name.
func there(name string) bool {
	found, err := filepath.Glob("../../" + name)
	return err == nil && len(found) > 0
}
