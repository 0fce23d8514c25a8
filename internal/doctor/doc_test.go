package doctor_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDocumentationListsEveryDoctorCheck(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	id := regexp.MustCompile(`(?:x\.add\(Subject\w+, |x\.conditional\(ctx, |const id = )"([a-z-]+)"`)
	var used []string
	for _, name := range files {
		src, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		for _, m := range id.FindAllStringSubmatch(string(src), -1) {
			used = append(used, m[1])
		}
	}
	doc, err := os.ReadFile("../../docs/reference/doctor.md")
	if err != nil {
		t.Fatal(err)
	}
	var documented []string
	_, table, _ := strings.Cut(string(doc), "\n## The checks\n")
	table, _, _ = strings.Cut(table, "\n## ")
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z-]+)` \\|").FindAllStringSubmatch(table, -1) {
		documented = append(documented, m[1])
	}
	slices.Sort(used)
	slices.Sort(documented)
	if diff := cmp.Diff(slices.Compact(used), documented); diff != "" {
		t.Errorf("docs/reference/doctor.md (-used +documented):\n%s", diff)
	}
}
