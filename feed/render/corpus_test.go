package render

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cloudburst/feed"
	"cloudburst/feed/feedtest"

	"github.com/google/go-cmp/cmp"
)

// readable returns the formats that package feed reads.
func readable() []string {
	return []string{"rss090", "rss091", "rss092", "rss093", "rss094", "rss20", "rdf", "atom", "atom03", "jsonfeed", "cdf", "scriptingnews"}
}

// corpus returns the parsed test documents of package feed by file name.
func corpus(t testing.TB) map[string]*feed.Feed {
	t.Helper()
	names, err := filepath.Glob("../testdata/*/*")
	if err != nil {
		t.Fatal(err)
	}
	feeds := map[string]*feed.Feed{}
	for _, name := range names {
		switch {
		case strings.Contains(name, "/fuzz/"), strings.HasSuffix(name, ".golden"), strings.HasSuffix(name, ".opts"):
			continue
		}
		doc, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		f, err := feed.ParseBytes(doc, &feed.Options{URL: "https://base.example/feed.xml"})
		if err == nil {
			feeds[strings.TrimPrefix(name, "../testdata/")] = f
		}
	}
	for _, kind := range feedtest.Kinds() {
		f, err := feed.ParseBytes(feedtest.Make(kind, 20_000, 5).Body, nil)
		if err != nil {
			t.Fatal(err)
		}
		feeds[string(kind)] = f
	}
	if len(feeds) < 150 {
		t.Fatalf("only %d documents", len(feeds))
	}
	return feeds
}

// written returns a feed in a format.
func written(t testing.TB, f *feed.Feed, format string) []byte {
	t.Helper()
	doc, _, err := Append(nil, f, format, nil)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func reread(t testing.TB, doc []byte) *feed.Feed {
	t.Helper()
	f, err := feed.ParseBytes(bytes.Clone(doc), nil)
	if err != nil {
		t.Fatalf("%v\n%s", err, doc)
	}
	return f
}

// essence contains the fields of an item that every format preserves.
type essence struct{ Title, Link string }

// essences returns the essences of items. If flat is set, it includes nested items, each after its
// parent.
func essences(items []feed.Item, flat bool) []essence {
	var list []essence
	for i := range items {
		it := &items[i]
		list = append(list, essence{strings.Join(strings.Fields(asWords(&it.Title)), " "), validReference(it.Link)})
		if flat {
			list = append(list, essences(it.Items, flat)...)
		}
	}
	return list
}

func TestParsedFeedRendersInEveryFormatWithoutLosingItems(t *testing.T) {
	t.Parallel()
	for name, f := range corpus(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, format := range readable() {
				got := reread(t, written(t, f, format))
				want := essences(f.Items, format == "jsonfeed" || format == "scriptingnews") // these formats have no nested items
				if format == "rss090" || format == "rss091" {
					want = want[:min(len(want), 15)]
				}
				have := essences(got.Items, false)
				if len(want) != len(have) {
					t.Errorf("%s: %d items, want %d", format, len(have), len(want))
					continue
				}
				for i := range want {
					if format == "scriptingnews" { // the format has no titles
						want[i].Title = ""
					}
					if w, h := want[i], have[i]; w.Title != "" && w.Title != h.Title || w.Link != "" && w.Link != h.Link {
						t.Errorf("%s, item %d: got %+q, want %+q", format, i+1, h, w)
					}
				}
				for _, p := range got.Problems {
					if p.Kind == feed.ProblemMarkup || p.Kind == feed.ProblemNamespace || p.Kind == feed.ProblemVersion {
						t.Errorf("%s: %+v", format, p)
					}
				}
			}
		})
	}
}

// When a document was written and parsed once, another round trip must not change it.
func TestSecondRoundTripDoesNotChangeTheFeed(t *testing.T) {
	t.Parallel()
	for name, f := range corpus(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, format := range readable() {
				once := reread(t, written(t, f, format))
				doc := written(t, once, format)
				twice := reread(t, doc)
				once.Problems, twice.Problems = nil, nil
				if diff := cmp.Diff(once, twice, same()); diff != "" {
					t.Errorf("%s, -once +twice:\n%s\n%s", format, diff, doc)
				}
			}
		})
	}
}
