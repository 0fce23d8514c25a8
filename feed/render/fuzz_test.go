package render

import (
	"os"
	"path/filepath"
	"testing"
	"unicode/utf8"

	"cloudburst/feed"
)

// FuzzRender writes every parsed document in every format.
func FuzzRender(f *testing.F) {
	names, err := filepath.Glob("../testdata/*/*.xml")
	if err != nil || len(names) == 0 {
		f.Fatal("no documents found", err)
	}
	for _, name := range names {
		if doc, err := os.ReadFile(name); err == nil && len(doc) < 4000 {
			f.Add(doc)
		}
	}
	xml := map[string]bool{}
	for _, format := range xmlFormats() {
		xml[format] = true
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		in, err := feed.ParseBytes(doc, nil)
		if err != nil {
			return
		}
		for _, format := range Formats() {
			out := written(t, in, format.Name)
			if format.Name == "storable" || format.Name == "phps" { // these formats contain the lengths of strings in bytes
				continue
			}
			if !utf8.Valid(out) {
				t.Errorf("%s is not UTF-8", format.Name)
			}
			if !xml[format.Name] {
				continue
			}
			if _, err := decode(out); err != nil {
				t.Errorf("%s: %v\n%s", format.Name, err, out)
			}
			if format.Name == "opml" {
				continue
			}
			got := reread(t, out)
			for _, p := range got.Problems {
				if p.Kind == feed.ProblemMarkup || p.Kind == feed.ProblemAttribute {
					t.Errorf("%s: %+v\n%s", format.Name, p, out)
				}
			}
			switch format.Name {
			case "rss092", "rss093", "rss094", "rss20", "rdf", "atom", "atom03":
				if len(got.Items) != len(in.Items) {
					t.Errorf("%s: %d items, want %d\n%s", format.Name, len(got.Items), len(in.Items), out)
				}
			}
		}
		for _, format := range rssFormats() {
			checkRSS(t, written(t, in, format), format)
		}
	})
}
