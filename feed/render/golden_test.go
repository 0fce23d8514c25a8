package render

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cloudburst/feed"
)

var update = flag.Bool("update", false, "rewrite the golden files; review them before you commit")

// golden compares a document and its warnings with testdata/golden.
func golden(t *testing.T, name string, doc []byte, warnings []Warning) {
	t.Helper()
	var b strings.Builder
	b.Write(doc)
	for _, w := range warnings {
		b.WriteString("! " + w.Rule + " · " + w.Path + " · " + w.Text + "\n")
	}
	name = filepath.Join("testdata", "golden", name)
	if *update {
		if err := os.WriteFile(name, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != b.String() {
		t.Errorf("%s has\n%s\ngot\n%s", name, want, b.String())
	}
}

// This test writes the documents in testdata/golden/*.xml in every version of RSS.
func TestRenderedRSSMatchesGoldenFiles(t *testing.T) {
	t.Parallel()
	goldens(t, rssFormats())
}

// goldens compares each document in each of the formats with its golden file.
func goldens(t *testing.T, formats []string) {
	t.Helper()
	sources, err := filepath.Glob("testdata/golden/*.xml")
	if err != nil || len(sources) == 0 {
		t.Fatal("no documents found", err)
	}
	for _, source := range sources {
		doc, err := os.ReadFile(source)
		if err != nil {
			t.Fatal(err)
		}
		f, err := feed.ParseBytes(doc, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, format := range formats {
			out, warnings, err := Append(nil, f, format, nil)
			if err != nil {
				t.Fatal(err)
			}
			golden(t, strings.TrimSuffix(filepath.Base(source), ".xml")+"."+format, out, warnings)
		}
	}
}
