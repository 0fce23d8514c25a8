package diagram

import (
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write docs/images")

func TestDiagramImagesMatchTheirSources(t *testing.T) {
	t.Parallel()
	sources, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(sources) < 3 {
		t.Fatal(sources, err)
	}
	for _, source := range sources {
		text, err := os.ReadFile(source)
		if err != nil {
			t.Fatal(err)
		}
		d, err := Parse(string(text))
		if err != nil {
			t.Fatalf("%s: %v", source, err)
		}
		want := d.SVG()
		decoder := xml.NewDecoder(strings.NewReader(want))
		for {
			if _, err := decoder.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s is not well-formed: %v", source, err)
			}
		}
		name := "../../docs/images/" + strings.TrimSuffix(filepath.Base(source), ".txt") + ".svg"
		if *update {
			if err := os.WriteFile(name, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if got, err := os.ReadFile(name); err != nil || string(got) != want {
			t.Errorf("%s is outdated (%v): go test ./lab/diagram -update", name, err)
		}
	}
}

func TestParseNamesTheInvalidLine(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		"title: x\ntext: y\nbox a 0 0 \"A\"\narrow a b": "line 4",
		"box a x 0 \"A\"": "line 1",
		"title: x":        "boxes",
		"nonsense":        "line 1",
	} {
		if _, err := Parse(source); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", source, err)
		}
	}
}
