package river_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cloudburst/feed/polling"
	"cloudburst/internal/cputime"
	"cloudburst/internal/fault"
	"cloudburst/internal/fulltest"
	"cloudburst/internal/river"
)

// exported returns the OPML document of an export.
func (h *diskHarness) exported(user, category string) string {
	h.t.Helper()
	d, err := h.river.Export(h.t.Context(), user, category)
	if err != nil {
		h.t.Fatal(err)
	}
	var b bytes.Buffer
	if _, err := d.WriteTo(&b); err != nil {
		h.t.Fatal(err)
	}
	return b.String()
}

func (h *diskHarness) imported(user, doc string) river.Imported {
	h.t.Helper()
	got, err := h.river.Import(h.t.Context(), user, strings.NewReader(doc), river.ImportOptions{})
	if err != nil {
		h.t.Fatal(err)
	}
	return got
}

func TestOPMLExportContainsFoldersTitlesAndListsButNoLogins(t *testing.T) {
	t.Parallel()
	withDisk(t, river.Options{}, func(t *testing.T, h *diskHarness) {
		h.serve(feedURL, doc(rss("", "a")))
		h.serve("http://closed.test/rss", locked("ann", "geheim", rss("", "a")))
		h.serve("http://lists.test/all.opml", doc(`<opml version="2.0"><head><title>All</title></head><body/></opml>`))
		h.add(river.Request{URL: feedURL, Title: "Mine & more", Categories: []string{"B", "A"}})
		h.add(river.Request{URL: "http://ann:geheim@closed.test/rss", Categories: []string{"A"}})
		if _, err := h.river.Import(t.Context(), "ann", nil, river.ImportOptions{URL: "http://lists.test/all.opml", Follow: true, Category: "B"}); err != nil {
			t.Fatal(err)
		}
		all := h.exported("ann", "")
		body := all[strings.Index(all, "<body>"):]
		want := `<body>
    <outline text="A">
      <outline text="Feed" title="Feed" type="rss" xmlUrl="http://closed.test/rss" htmlUrl="http://feeds.test/"/>
      <outline text="Mine &amp; more" title="Feed" type="rss" xmlUrl="http://feeds.test/rss.xml" htmlUrl="http://feeds.test/"/>
    </outline>
    <outline text="B">
      <outline text="Mine &amp; more" title="Feed" type="rss" xmlUrl="http://feeds.test/rss.xml" htmlUrl="http://feeds.test/"/>
      <outline text="All" type="include" url="http://lists.test/all.opml"/>
    </outline>
  </body>
</opml>
`
		if d := cmp.Diff(want, body); d != "" {
			t.Error(d)
		}
		if strings.Contains(all, "geheim") {
			t.Error(all)
		}
		if got := h.exported("ann", "A"); strings.Count(got, "xmlUrl") != 2 || !strings.Contains(got, "<title>A</title>") || strings.Contains(got, `text="A"`) {
			t.Error(got)
		}
		secret := "http://feeds.test/alice/private/sanmgs4wpliu." + strings.Repeat("K_-9", 8) + "/rss.xml"
		h.serve(secret, doc(rss("", "s")))
		h.add(river.Request{URL: secret, Categories: []string{"A"}})
		if got := h.exported("ann", "A"); !strings.Contains(got, secret) {
			t.Errorf("the list of a private category omits a feed:\n%s", got)
		}
		if err := h.river.PutCategory(t.Context(), "ann", "A", true); err != nil {
			t.Fatal(err)
		}
		if got := h.exported("ann", "A"); strings.Count(got, "xmlUrl") != 1 || strings.Contains(got, "closed.test") || strings.Contains(got, "/private/") {
			t.Errorf("a public list names a private feed:\n%s", got)
		}
		if _, err := h.river.Export(t.Context(), "ann", "Z"); fault.CodeOf(err) != fault.NotFound {
			t.Error(err)
		}
	})
}

// The lists are random and use all characters that a name may contain.
func TestOPMLExportSurvivesImport(t *testing.T) {
	t.Parallel()
	withDisk(t, river.Options{}, func(t *testing.T, h *diskHarness) {
		dice := rand.New(rand.NewPCG(1, 2))
		names := []string{"A", "Ä ö", "<b>bold</b>", "R&D", "&amp;", "&lt;i&gt;x&lt;/i&gt;", `"quoted"`, "a,b", "' or 1=1", "日本語", "x < y", "]]>", strings.Repeat("long ", 11) + "long"}
		pick := func() string { return names[dice.IntN(len(names))] }
		folder := func() string { return strings.ReplaceAll(pick(), "/", "") } // the name of a folder must not contain a slash
		now := time.Now().UTC()
		for round := range 10 {
			from, to := fmt.Sprint("from", round), fmt.Sprint("to", round)
			var list []river.Addition
			for i := range 20 {
				u := fmt.Sprintf("http://h%d.test/%d/feed?a=b&c=%%20;", dice.IntN(1000), i)
				a := river.Addition{
					Subscription: river.Subscription{Reader: from, SourceID: river.SourceID(u), AddedAt: now},
					Source:       river.Source{ID: river.SourceID(u), URL: u, State: polling.New(u, now.Add(time.Hour)), NextAt: now.Add(240 * time.Hour), CreatedAt: now},
				}
				if dice.IntN(2) == 0 {
					a.Source.About.Title = pick()
				}
				if dice.IntN(3) == 0 {
					a.Title = "own " + pick()
				}
				for range dice.IntN(4) {
					a.Categories = append(a.Categories, folder())
				}
				list = append(list, a)
			}
			for i := range list { // sort and deduplicate the names, as the river does
				list[i].Categories = compact(list[i].Categories)
			}
			if _, err := h.store.RiverSubscribe(t.Context(), list, now, 1000); err != nil {
				t.Fatal(err)
			}
			doc := h.exported(from, "")
			got := h.imported(to, doc)
			if got.Added != 20 || got.Skipped != 0 {
				t.Errorf("%+v", got)
			}
			// The import does not know yet which names are the titles of the feeds.
			unmarked := strings.NewReplacer(" own\n", "\n")
			if d := cmp.Diff(unmarked.Replace(h.list(from)+"\n"), unmarked.Replace(h.list(to)+"\n")); d != "" {
				t.Errorf("round %d:\n%s\n%s", round, d, doc)
			}
			// The other server has not fetched these feeds, so it takes the titles from the list.
			other := h.exported(to, "")
			if d := cmp.Diff(doc, other); d != "" {
				t.Error(d)
			}
		}
	})
}

func TestExportedTitlesSurviveImportOnAnotherServer(t *testing.T) {
	t.Parallel()
	var doc, want string
	withDisk(t, river.Options{}, func(t *testing.T, h *diskHarness) {
		h.imported("ann", `<opml><body><outline text="&lt;F&gt; &amp;amp; co"><outline text="The log" xmlUrl="http://a.test/"/><outline text="My &amp; own" title="Theirs" xmlUrl="http://b.test/"/></outline><outline text="http://c.test/" xmlUrl="http://c.test/"/><outline text="Named" title="http://d.test/" xmlUrl="http://d.test/"/></body></opml>`)
		doc, want = h.exported("ann", ""), h.list("ann")
	})
	withDisk(t, river.Options{}, func(t *testing.T, h *diskHarness) {
		h.imported("ann", doc)
		if d := cmp.Diff(want, h.list("ann")); d != "" {
			t.Error(d)
		}
		if d := cmp.Diff(doc, h.exported("ann", "")); d != "" {
			t.Error(d)
		}
	})
	if want == "" {
		t.Error("nothing was compared")
	}
}

// Miniflux, FreshRSS and Feedbin write the name that the user gave a feed into both attributes.
func TestImportKeepsTheUsersNamesOfFeeds(t *testing.T) {
	t.Parallel()
	withDisk(t, river.Options{}, func(t *testing.T, h *diskHarness) {
		h.serve(feedURL, doc(rss("", "a")))
		outline := func(attributes string) string {
			return `<opml><body><outline ` + attributes + ` xmlUrl="` + feedURL + `"/></body></opml>`
		}
		h.imported("ann", outline(`text="Mine" title="Mine"`))
		h.imported("bob", outline(`text="Mine, too"`))
		h.imported("eve", outline(`text=" Feed " title="Feed"`))
		h.advance(time.Minute)
		h.imported("dan", outline(`text="Feed" title="Feed"`)) // after the first check
		h.imported("kim", outline(`text="Later" title="Later"`))
		for user, want := range map[string]string{"ann": "Mine " + feedURL + " own", "bob": "Mine, too " + feedURL + " own", "eve": "Feed " + feedURL, "dan": "Feed " + feedURL, "kim": "Later " + feedURL + " own"} {
			if got := h.list(user); got != want {
				t.Errorf("%s: %s; want %s", user, got, want)
			}
		}
	})
}

func compact(list []string) []string {
	seen := map[string]bool{}
	var out []string
	for _, s := range list {
		if !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	return out
}

func TestImportTimeIsLinear(t *testing.T) { // not parallel, because the test measures processor time
	fulltest.Long(t)
	fulltest.SkipUnderRace(t)
	const few, huge = 2000, 20_000
	list := func(n int) string {
		var b strings.Builder
		b.WriteString(`<opml version="2.0"><body>`)
		for i := range n {
			fmt.Fprintf(&b, `<outline text="Feed %d" xmlUrl="http://host%d.test/%d.xml"/>`, i, i%2000, i)
		}
		b.WriteString(`</body></opml>`)
		return b.String()
	}
	h := openRiver(t)
	add := func(user string, n int) time.Duration {
		doc := list(n)
		return cputime.Process(func() {
			got, err := h.Import(t.Context(), user, strings.NewReader(doc), river.ImportOptions{Category: "All", Operator: true})
			if err != nil || got.Added != n {
				t.Fatalf("%d %v", got.Added, err)
			}
		})
	}
	small := max(add("zoe", few), time.Millisecond)
	large := add("ann", huge)
	t.Logf("the work for %d feeds is %v, for %d it is %v", few, small, huge, large)
	if large > 4*small*time.Duration(huge/few) {
		t.Errorf("%d feeds take %v, and %d take %v: more than linear", few, small, huge, large)
	}
	if got, err := h.Import(t.Context(), "bea", strings.NewReader(list(few)), river.ImportOptions{}); err != nil || got.Added != few {
		t.Errorf("%d %v", got.Added, err)
	}
	if got, err := h.Import(t.Context(), "bea", strings.NewReader(list(few+1)), river.ImportOptions{}); err != nil || got.Added != 1 || got.Had != few {
		t.Errorf("%d %v", got.Added, err)
	}
}
