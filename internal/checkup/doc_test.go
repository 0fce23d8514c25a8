package checkup

import (
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDocumentationListsEachInstallationCheck(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("checkup.go")
	if err != nil {
		t.Fatal(err)
	}
	used := idsOf(string(source), `(?:found|fine)\("([a-z-]+)", |Finding\{"([a-z-]+)", |const id = "([a-z-]+)"`)
	for _, knob := range []string{"fsync", "full_page_writes", "synchronous_commit"} {
		used = append(used, "pg-"+knob)
	}
	doc, err := os.ReadFile("../../docs/reference/doctor.md")
	if err != nil {
		t.Fatal(err)
	}
	table := regexp.MustCompile(`(?s)## The checks of an installation\n.*`).FindString(string(doc))
	var listed []string
	for _, row := range regexp.MustCompile("(?m)^\\| (`.*?`) \\|").FindAllStringSubmatch(table, -1) {
		listed = append(listed, idsOf(row[1], "`([a-z_-]+)`")...)
	}
	slices.Sort(used)
	slices.Sort(listed)
	if d := cmp.Diff(slices.Compact(used), listed); d != "" {
		t.Errorf("docs/reference/doctor.md (- checked, + listed):\n%s", d)
	}
}

// idsOf returns the non-empty groups of all matches of pattern in text.
func idsOf(text, pattern string) (all []string) {
	for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
		for _, id := range m[1:] {
			if id != "" {
				all = append(all, id)
			}
		}
	}
	return all
}
