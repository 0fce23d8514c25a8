package doctest

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// TestDocumentedRunPatternsMatchATest checks the -run flag of each "go test" command in the
// documentation. At least one test in the named package must match the pattern.
func TestDocumentedRunPatternsMatchATest(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../docs/*/*.md")
	if err != nil {
		t.Fatal(err)
	}
	command := regexp.MustCompile(`go\s+test\s+(\./[\w/]+)[^\n]*?\s-run\s+'?([\w|]+)`)
	declared := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	checked := 0
	for _, file := range append(files, "../../CONTRIBUTING.md", "../../ARCHITECTURE.md") {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range command.FindAllStringSubmatch(string(text), -1) {
			checked++
			pattern, matched := regexp.MustCompile(found[2]), false
			sources, _ := filepath.Glob(filepath.Join("../..", found[1], "*_test.go")) // the pattern is valid
			for _, source := range sources {
				code, err := os.ReadFile(source)
				if err != nil {
					t.Fatal(err)
				}
				for _, name := range declared.FindAllStringSubmatch(string(code), -1) {
					matched = matched || pattern.MatchString(name[1])
				}
			}
			if !matched {
				t.Errorf("%s: no test in %s matches -run %s", file, found[1], found[2])
			}
		}
	}
	if checked < 8 {
		t.Errorf("only %d patterns were found: the search looks in the wrong place", checked)
	}
}
