package render

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cloudburst/feed"
)

// otherXML are the formats of XML that are not RSS.
func otherXML() []string { return []string{"atom", "atom03", "cdf", "scriptingnews", "opml"} }

// The documents in testdata/golden/*.xml are written in every format of XML.
func TestFormatsOfXMLAreWrittenLikeThis(t *testing.T) {
	t.Parallel()
	sources, err := filepath.Glob("testdata/golden/*.xml")
	if err != nil || len(sources) == 0 {
		t.Fatal("there are no documents", err)
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
		for _, format := range otherXML() {
			out, warnings, err := Append(nil, f, format, nil)
			if err != nil {
				t.Fatal(err)
			}
			golden(t, strings.TrimSuffix(filepath.Base(source), ".xml")+"."+format, out, warnings)
		}
	}
}
