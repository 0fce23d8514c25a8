package feed_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cloudburst/feed"
)

// TestTruncatedRedirectDocumentIsIgnored truncates redirects after every byte. A truncated URL must
// never count as the new URL of a feed, and a feed must never count as gone because the rest of the
// document is missing.
func TestTruncatedRedirectDocumentIsIgnored(t *testing.T) {
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
					t.Errorf("%q: the complete document is not a redirect: %v", doc, err)
				}
			case f.Moved.Gone || f.Moved.To != to:
				t.Errorf("%q: got %+v", doc[:n], *f.Moved)
			}
		}
	}
}

// TestFeedIsGoneOnlyIfTheRedirectElementIsComplete truncates empty redirects after every byte.
func TestFeedIsGoneOnlyIfTheRedirectElementIsComplete(t *testing.T) {
	t.Parallel()
	for doc, whole := range map[string]string{
		"<redirect> <newLocation/> </redirect>":              "<newLocation/>",
		"<redirect> <newLocation></newLocation> </redirect>": "</newLocation>",
	} {
		end := strings.Index(doc, whole) + len(whole)
		for n := range len(doc) + 1 {
			f, err := feed.ParseBytes([]byte(doc[:n]), nil)
			gone := err == nil && f.Moved != nil && f.Moved.Gone
			if n != end-1 && gone != (n >= end) { // if only the last > is missing, both results are correct
				t.Errorf("%q: gone is %t", doc[:n], gone)
			}
		}
	}
}

// FuzzParseOldFormats parses CDF, scriptingNews, MCF and redirects.
func FuzzParseOldFormats(f *testing.F) {
	for _, folder := range []string{"cdf", "scriptingnews", "mcf", "redirect"} {
		docs, err := filepath.Glob("testdata/" + folder + "/*.[xm]*")
		if err != nil || len(docs) == 0 {
			f.Fatal("no documents found in", folder, err)
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
			t.Errorf("a redirect is either moved or gone: %+v", *m)
		}
		for i := range got.Items {
			if got.Items[i].ID == "" {
				t.Error("an item has no id")
			}
		}
	})
}
