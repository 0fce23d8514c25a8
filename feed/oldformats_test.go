package feed_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cloudburst/feed"
)

// TestARedirectCutAnywhereNeverLies cuts redirects after every byte: a feed never goes
// to half an address, and is never gone because the rest of the answer is missing.
func TestARedirectCutAnywhereNeverLies(t *testing.T) {
	t.Parallel()
	const to = "http://new.example/feed?a=1&b=2"
	for _, doc := range []string{
		"<?xml version=\"1.0\"?>\n<redirect>\n <newLocation>http://new.example/feed?a=1&amp;b=2</newLocation>\n</redirect>\n",
		"<redirect><newLocation>http://new.example/feed?a=1&amp;b=2<newLocation></redirect>",
		"<redirect><newLocation><![CDATA[http://new.example/feed?a=1&b=2]]></newLocation></redirect>",
		"<redirect><newLocation href='http://new.example/feed?a=1&amp;b=2'/></redirect>",
		"<newLocation>http://new.example/feed?a=1&amp;b=2</newLocation>",
	} {
		for n := range len(doc) + 1 {
			f, err := feed.ParseBytes([]byte(doc[:n]), nil)
			switch {
			case err != nil || f.Moved == nil:
				if n == len(doc) {
					t.Errorf("%q: the whole document says nothing: %v", doc, err)
				}
			case f.Moved.Gone || f.Moved.To != to:
				t.Errorf("%q: %+v", doc[:n], *f.Moved)
			}
		}
	}
}

// TestAFeedIsGoneOnlyByAWholeElement cuts empty redirects after every byte.
func TestAFeedIsGoneOnlyByAWholeElement(t *testing.T) {
	t.Parallel()
	for doc, whole := range map[string]string{
		"<redirect> <newLocation/> </redirect>":              "<newLocation/>",
		"<redirect> <newLocation></newLocation> </redirect>": "</newLocation>",
	} {
		end := strings.Index(doc, whole) + len(whole)
		for n := range len(doc) + 1 {
			f, err := feed.ParseBytes([]byte(doc[:n]), nil)
			gone := err == nil && f.Moved != nil && f.Moved.Gone
			if n != end-1 && gone != (n >= end) { // whether the last > is there is all the same
				t.Errorf("%q: gone: %t", doc[:n], gone)
			}
		}
	}
}

// FuzzParseOldFormats holds for CDF, scriptingNews, MCF and redirects.
func FuzzParseOldFormats(f *testing.F) {
	for _, folder := range []string{"cdf", "scriptingnews", "mcf", "redirect"} {
		docs, err := filepath.Glob("testdata/" + folder + "/*.[xm]*")
		if err != nil || len(docs) == 0 {
			f.Fatal("no documents in", folder, err)
		}
		for _, name := range docs {
			doc, err := os.ReadFile(name)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(doc)
		}
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		o := goldenOptions{URL: "http://a.example/b/c", Sanitize: true}.options()
		got, err := feed.ParseBytes(doc, o)
		if err != nil {
			return
		}
		sameAfterJSON(t, got)
		if m := got.Moved; m != nil && m.Gone == (m.To != "") {
			t.Errorf("moved and gone: %+v", *m)
		}
		for i := range got.Items {
			if got.Items[i].ID == "" {
				t.Error("an item has no id")
			}
		}
	})
}
