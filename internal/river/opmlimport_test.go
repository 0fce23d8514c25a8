package river

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cloudburst/internal/fault"
	"cloudburst/internal/fetch"
	"cloudburst/internal/fulltest"
	"cloudburst/internal/river/naming"
)

// taken returns the imported data of one feed as a line.
func taken(a Addition) string {
	s := a.Source.URL + " " + strings.Join(a.Categories, "|")
	if a.Title != "" {
		s += " own=" + a.Title
	}
	if a.Source.About.Title != "" {
		s += " feed=" + a.Source.About.Title
	}
	if a.Source.Login.Kind != "" {
		s += " login=" + a.Source.Login.Name
	}
	return s
}

func importOf(t *testing.T, doc string, o ImportOptions) (*userStore, Imported, error) {
	t.Helper()
	store := &userStore{}
	r := newImportRiver()
	r.Store = store
	got, err := r.Import(t.Context(), "ann", strings.NewReader(doc), o)
	return store, got, err
}

func newImportRiver() *River {
	return &River{Options: Options{Max: 20_000}, Key: []byte(strings.Repeat("k", 32)), Now: func() time.Time { return time.Unix(1_800_000_000, 0) }}
}

func TestImportConvertsFoldersToCategories(t *testing.T) {
	t.Parallel()
	store, got, err := importOf(t, `<opml version="2.0"><head><title>My &lt;b&gt;feeds&lt;/b&gt;</title></head><body>
<outline text="Tools"><outline text="Chalk/Blue">
	<outline text="The chalk log" title="The chalk log" type="rss" xmlUrl="http://Chalk.example:80/rss.xml"/>
	<outline text="My pencils" title="Pencils" xmlUrl="https://pencil.example/feed"/>
	<outline text="again" xmlUrl="http://chalk.example/rss.xml" category="/Tags/Colour,Plain"/>
</outline></outline>
<outline text="https://ink.example/" xmlUrl="https://ink.example/"/>
<outline text="Paper" title="https://paper.example/" xmlUrl="https://paper.example/"/>
<outline text="Closed" xmlUrl="https://ann:secret@closed.example/feed"/>
<outline text="Old" xmlUrl="old.example/rss"/>
<outline text="bad" xmlUrl="javascript:alert(1)"/>
<outline text="relative" xmlUrl="feed.xml"/>
<outline text="off" isComment="true"><outline text="x" xmlUrl="https://off.example/"/></outline>
<outline text="More" type="include" url="https://lists.example/more.opml"/>
<outline text="Tools"><outline text="More again" type="link" url="https://lists.example/more.opml"/><outline text="a page" type="link" url="https://lists.example/"/></outline>
</body></opml>`, ImportOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, a := range store.added {
		lines = append(lines, taken(a))
		if a.Source.State.URL != a.Source.URL || a.SourceID != a.Source.ID || a.Reader != "ann" || a.Source.NextAt.IsZero() || strings.Contains(fmt.Sprintf("%+v", a), "secret") {
			t.Errorf("%+v", a)
		}
		if (a.SourceID == SourceID(a.Source.URL)) != (a.Source.Login.Kind == "") {
			t.Errorf("%s is source %d", a.Source.URL, a.SourceID)
		}
	}
	want := []string{
		"http://chalk.example/rss.xml Chalk-Blue|Colour|Plain own=The chalk log feed=The chalk log",
		"https://pencil.example/feed Chalk-Blue own=My pencils feed=Pencils",
		"https://ink.example/ ",
		"https://paper.example/  own=Paper",
		"https://closed.example/feed  own=Closed feed=Closed login=ann",
		"http://old.example/rss  own=Old feed=Old",
	}
	if d := cmp.Diff(want, lines); d != "" {
		t.Error(d)
	}
	if got.Title != "My feeds" || got.Found != 9 || got.Added != 6 || got.Skipped != 2 || got.Lists != 1 || len(got.Problems) < 2 || len(store.lists) != 1 || store.lists[0].Title != "More" {
		t.Errorf("%+v %+v", got, store.lists)
	}
}

func TestImportReportsAShortenedCategoryOnce(t *testing.T) {
	t.Parallel()
	name := strings.Repeat("y", 60)
	doc := `<opml><body><outline text="` + name + `-sport"><outline text="a" xmlUrl="http://a.example/"/><outline text="b" xmlUrl="http://b.example/"/></outline>` +
		`<outline text="` + name + `-politics"><outline text="c" xmlUrl="http://c.example/"/></outline></body></opml>`
	_, got, err := importOf(t, doc, ImportOptions{})
	if err != nil || len(got.Problems) != 2 || !strings.Contains(got.Problems[1], "-politics” is called “"+name+"”") {
		t.Errorf("%q %v", got.Problems, err)
	}
}

func TestImportCanPutAllFeedsIntoOneCategory(t *testing.T) {
	t.Parallel()
	doc := `<opml><body><outline text="a" xmlUrl="http://a.example/"/><outline text="F"><outline text="b" xmlUrl="http://b.example/"/></outline></body></opml>`
	store, _, err := importOf(t, doc, ImportOptions{Category: " New "})
	if err != nil || !slices.Equal(store.added[0].Categories, []string{"New"}) || !slices.Equal(store.added[1].Categories, []string{"F", "New"}) {
		t.Errorf("%+v %v", store.added, err)
	}
	if _, _, err := importOf(t, doc, ImportOptions{Category: "a/b"}); fault.CodeOf(err) != fault.Invalid {
		t.Error(err)
	}
}

func TestImportErrorStatesTheDetectedFormat(t *testing.T) {
	t.Parallel()
	for doc, want := range map[string]string{
		"": "it is empty", "<!DOCTYPE html><html><body>x</body></html>": "a web page", "<rss version='2.0'><channel/></rss>": "follow it as one",
		"<svg xmlns='http://www.w3.org/2000/svg'/>": "<svg>", "just words": "looks like text", "\x89PNG\r\n\x1a\n....": "looks like",
	} {
		store, _, err := importOf(t, doc, ImportOptions{})
		if fault.CodeOf(err) != fault.Invalid || err == nil || !strings.Contains(fault.Message(err), want) || err.Error() != fault.Message(err) || store.added != nil {
			t.Errorf("%q: %v", doc, err)
		}
	}
	if _, _, err := importOf(t, "x", ImportOptions{URL: "http://a.example/", Follow: true}); fault.CodeOf(err) != fault.Invalid {
		t.Error(err)
	}
}

func TestLongImportReportsProgressAndLimitsProblems(t *testing.T) {
	t.Parallel()
	fulltest.SkipUnderRace(t)
	var b strings.Builder
	b.WriteString(`<opml version="2.0"><head/><body>`)
	for i := range 3_000 {
		if i%100 == 0 {
			fmt.Fprintf(&b, `</outline><outline text="Folder %d">`, i/100)
		}
		fmt.Fprintf(&b, `<outline type="rss" text="Feed %d" title="Feed %d" description="The feed with the number %d" xmlUrl="http://host%d.example/feeds/%d/rss.xml" htmlUrl="http://host%d.example/"/>`, i, i, i, i%5000, i, i%5000)
		if i%20 == 0 {
			fmt.Fprintf(&b, `<outline text="bad %d" xmlUrl="::"/>`, i)
		}
	}
	b.WriteString(`</outline></body></opml>`)
	var calls, last int
	store, got, err := importOf(t, b.String(), ImportOptions{Progress: func(done, total int) {
		if calls++; done < last || total != 3_150 {
			t.Errorf("%d of %d after %d", done, total, last)
		}
		last = done
	}})
	if err != nil || len(store.added) != 3_000 || got.Added != 3_000 || got.Skipped != 150 || len(got.Problems) != maxProblems || calls < 8 || last != 3_150 {
		t.Errorf("%d added, %+v, %d calls to %d: %v", len(store.added), got.Added, calls, last, err)
	}
}

func TestHostileOPMLListIsImportedSafely(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat(`<outline text="x">`, 100_000)
	for name, doc := range map[string]string{
		"deep":       `<opml><body>` + deep + `<outline xmlUrl="http://a.example/"/>`,
		"entities":   `<!DOCTYPE opml [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]><opml><body><outline text="&b;&b;" xmlUrl="http://a.example/&b;"/></body></opml>`,
		"attributes": `<opml><body><outline ` + strings.Repeat(`a="1" `, 10_000) + `xmlUrl="http://a.example/"/></body></opml>`,
		"names":      `<opml><body><outline text="` + strings.Repeat("n\u202e\x00", 10_000) + `"><outline text="` + strings.Repeat("t", 100_000) + `" xmlUrl="http://a.example/" category="` + strings.Repeat("/,..,a/b,", 10_000) + `"/></outline></body></opml>`,
		"addresses":  `<opml><body><outline text="l" xmlUrl="http://a.example/` + strings.Repeat("a", 10_000) + `"/><outline text="p" xmlUrl="http://127.1/"/><outline text="u" xmlUrl="http://a:b@c:d@e.example/"/></body></opml>`,
		"lists":      `<opml><body>` + lots(200) + `</body></opml>`,
	} {
		store, got, err := importOf(t, doc, ImportOptions{})
		if err != nil || len(got.Problems) > maxProblems || len(store.lists) > maxLists {
			t.Errorf("%s: %v, %d problems, %d lists", name, err, len(got.Problems), len(store.lists))
		}
		for _, a := range store.added {
			wellFormed(t, a)
		}
	}
}

func lots(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `<outline type="include" url="http://l.example/%d.opml"/>`, i)
	}
	return b.String()
}

// wellFormed checks properties that every imported feed must have.
func wellFormed(t *testing.T, a Addition) {
	t.Helper()
	if u, err := fetch.Normal(a.Source.URL); err != nil || u != a.Source.URL {
		t.Errorf("%q: %v", a.Source.URL, err)
	}
	if title, err := naming.Title(a.Title); err != nil || title != a.Title {
		t.Errorf("title %q: %v", a.Title, err)
	}
	if list, err := naming.Categories(a.Categories); err != nil || !slices.Equal(list, a.Categories) {
		t.Errorf("categories %q: %v", a.Categories, err)
	}
}

func FuzzImport(f *testing.F) {
	f.Add([]byte(`<opml version="1.0"><body><outline text="a" xmlUrl="http://a.example/"/></body></opml>`))
	r := newImportRiver() // all runs share one river, because creating a river is expensive
	f.Fuzz(func(t *testing.T, doc []byte) {
		store := &userStore{}
		r.Store = store
		got, err := r.Import(t.Context(), "ann", bytes.NewReader(doc), ImportOptions{URL: "http://lists.example/a/list.opml"})
		if err != nil {
			if fault.CodeOf(err) == fault.Internal || store.added != nil || store.lists != nil {
				t.Fatalf("%v %+v", err, store)
			}
			return
		}
		if got.Added != len(store.added) || got.Added+got.Skipped > got.Found || got.Lists != len(store.lists) {
			t.Fatalf("%+v of %d and %d", got, len(store.added), len(store.lists))
		}
		seen := map[int64]bool{}
		for _, a := range store.added {
			wellFormed(t, a)
			if seen[a.SourceID] {
				t.Fatalf("%s twice", a.Source.URL)
			}
			seen[a.SourceID] = true
		}
	})
}
