package render

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"cloudburst/internal/fulltest"
)

func TestDocumentedFeedDataProgramsRun(t *testing.T) {
	t.Parallel()
	fulltest.Needs(t, "another language")
	doc, err := os.ReadFile("../../docs/reference/feed-data.md")
	if err != nil {
		t.Fatal(err)
	}
	commands := map[string][]string{"php": {"php"}, "perl": {"perl"}, "python": {"python3"}, "ruby": {"ruby"}, "js": {"node"}}
	f, want := goldenFeed(), "Ada's weblog\nhttp://example.org/1 First: naïve ☕\n \n"
	blocks := regexp.MustCompile("(?s)```([a-z]+)\n(.*?)```").FindAllStringSubmatch(string(doc), -1)
	blocks = slices.DeleteFunc(blocks, func(b []string) bool { return b[1] == "ts" }) // skip the TypeScript declarations
	if len(blocks) != len(commands) {
		t.Fatalf("%d programs, not %d", len(blocks), len(commands))
	}
	for _, b := range blocks {
		lang, program := b[1], b[2]
		t.Run(lang, func(t *testing.T) {
			t.Parallel()
			variants := []string{program}
			if m := regexp.MustCompile(`(?m)^.*feed\.[a-z]+.*\n(?:    feed = .*\n)?(?://|#) or: (.*)\n`).FindStringSubmatchIndex(program); m != nil {
				variants = append(variants, program[:m[0]]+program[m[2]:m[3]]+"\n"+program[m[1]:])
			}
			if lang != "ruby" && lang != "js" && len(variants) != 2 {
				t.Fatal("the second program was not found")
			}
			for i, v := range variants {
				folder := t.TempDir()
				write(t, folder, "package.json", `{"type":"module"}`)
				for _, format := range Formats() {
					if slices.Contains([]string{"phps", "php", "storable", "perl", "python", "ruby", "js"}, format.Name) {
						write(t, folder, "feed."+format.Ext, rendered(t, f, format.Name, nil))
					}
				}
				name := "program." + map[string]string{"php": "php", "perl": "pl", "python": "py", "ruby": "rb", "js": "js"}[lang]
				write(t, folder, name, v)
				cmd := exec.CommandContext(t.Context(), commands[lang][0], name)
				cmd.Dir = folder
				cmd.Env = append(os.Environ(), "PYTHONIOENCODING=utf-8", "LC_ALL=C.UTF-8")
				out, err := cmd.CombinedOutput()
				if err != nil || string(out) != want {
					t.Errorf("variant %d: %v, prints %q, not %q:\n%s", i, err, out, want, v)
				}
			}
		})
	}
}

func write(t *testing.T, folder, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// The documentation must list exactly the names that the data can contain.
func TestDocumentationListsEveryFieldOfFeedData(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("../../docs/reference/feed-data.md")
	if err != nil {
		t.Fatal(err)
	}
	reported := map[string]bool{}
	for _, m := range regexp.MustCompile(`([a-z_]+)\??: `).FindAllStringSubmatch(string(doc), -1) {
		reported[m[1]] = true
	}
	source := ""
	for _, file := range []string{"datafeed.go", "dataitem.go"} {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		source += string(b)
	}
	names := map[string]bool{}
	for _, m := range regexp.MustCompile(`t\.\w+\("([a-z_]+)"|return "([a-z_]+)"(?:, "([a-z_]+)")?`).FindAllStringSubmatch(source, -1) {
		for _, name := range m[1:] {
			if name = strings.TrimSuffix(strings.TrimSuffix(name, "_unix"), "_raw"); name != "" {
				names[name] = true
			}
		}
	}
	if len(names) < 60 {
		t.Fatal(fmt.Sprint("the names are not found any more: ", names))
	}
	for name := range names {
		if !reported[name] {
			t.Errorf("docs/reference/feed-data.md does not document %s", name)
		}
	}
}
