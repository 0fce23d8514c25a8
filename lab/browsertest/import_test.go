package browsertest

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"

	"cloudburst/feed/opml"
)

// listed parses an OPML document. It returns the categories of each feed; key: URL of the feed.
func listed(t *testing.T, doc string) map[string]string {
	t.Helper()
	d, err := opml.ParseBytes([]byte(doc), nil)
	if err != nil {
		t.Fatal(err)
	}
	feeds := map[string]string{}
	var walk func(list []opml.Outline, in string)
	walk = func(list []opml.Outline, in string) {
		for i := range list {
			if u := list[i].FeedURL(); u != "" {
				feeds[u] = strings.Trim(feeds[u]+" "+in, " ")
			} else {
				walk(list[i].Outlines, list[i].Text)
			}
		}
	}
	walk(d.Outlines, "")
	return feeds
}

func TestListOfFiftyFeedsIsImportedAndExported(t *testing.T) {
	t.Parallel()
	const count, first = 50, 20
	p, server := start(t, conf(t)), newFeedServer(t)
	var mu sync.Mutex
	given, goOn := 0, make(chan struct{})
	server.hold = func(string) {
		mu.Lock()
		given++
		late := given > first
		mu.Unlock()
		if late {
			<-goOn
		}
	}
	letOn := sync.OnceFunc(func() { close(goOn) })
	t.Cleanup(letOn) // the feed server can close only after this call
	var doc strings.Builder
	doc.WriteString(`<opml version="2.0"><head><title>My fifty</title></head><body>`)
	for i, folder := range []string{"Politics & more", "Science", ""} {
		if folder != "" {
			fmt.Fprintf(&doc, `<outline text="%s">`, strings.ReplaceAll(folder, "&", "&amp;"))
		}
		for n := i; n < count; n += 3 {
			server.feed(fmt.Sprintf("/%d.xml", n), fmt.Sprintf("Feed %d", n), "", posts(2, fmt.Sprintf("Feed %d", n))...)
			fmt.Fprintf(&doc, `<outline type="rss" text="Feed %d" xmlUrl="%s/%d.xml"/>`, n, server.URL, n)
		}
		if folder != "" {
			doc.WriteString(`</outline>`)
		}
	}
	doc.WriteString(`</body></opml>`)
	file := filepath.Join(t.TempDir(), "fifty.opml")
	if err := os.WriteFile(file, []byte(doc.String()), 0o600); err != nil {
		t.Fatal(err)
	}

	b := newTab(t, p.base)
	b.open("/feeds/import")
	b.do("choose the file", chromedp.SetUploadFiles(chromedp.CSS("#f-file"), []string{file}))
	b.click(`form[action="/feeds/import"] .go button`)
	b.until("the list is imported", `/^\/feeds\/import\/./.test(location.pathname) && document.querySelector(".lede").textContent.includes("“My fifty” has 50 feeds. You follow all of them now.")`)
	b.until("the page counts what was read", fmt.Sprintf(`document.querySelector("#p-progress progress")?.value === %d && document.querySelector("#p-progress progress").max === 50`, first))
	letOn()
	b.until("all are read", `document.querySelector("#p-progress").textContent.includes("All feeds that you follow have been read.")`)
	b.click(`#p-progress a[href="/river"]`)
	b.until("the river has their items", `document.querySelectorAll("#days .item").length === 50`)
	rail := b.texts(".rail .branch > a bdi")
	if !slices.Equal(rail, []string{"Politics & more", "Science"}) {
		t.Errorf("the rail has %q", rail)
	}
	b.do("go to a category", chromedp.Click(chromedp.JSPath(`[...document.querySelectorAll(".rail .branch > a")].find((a) => a.textContent.startsWith("Politics & more"))`)))
	b.until("a category is a river of its own", `new URLSearchParams(location.search).get("category") === "Politics & more" && document.querySelectorAll("#days .item").length === 34`)

	// The export contains the imported feeds and the program's test feed.
	b.open("/feeds/import")
	b.holds("the page links to the export", `document.querySelector('a[href="/feeds/export.opml"][download]')`)
	out := listed(t, eval[string](b, `fetch("/feeds/export.opml").then((r) => r.text())`))
	in := listed(t, doc.String())
	maps.DeleteFunc(out, func(u, _ string) bool { return strings.HasSuffix(u, "/test/rss.xml") })
	if !maps.Equal(in, out) {
		t.Errorf("given out: %q\nwere taken in: %q", out, in)
	}
	only := listed(t, eval[string](b, `fetch("/feeds/export.opml?category=Science").then((r) => r.text())`))
	if len(only) != 17 {
		t.Errorf("one category given out has %d feeds", len(only))
	}

	// An error about an invalid list is shown next to the field.
	b.expect("400")
	if err := os.WriteFile(file, []byte("This is no list."), 0o600); err != nil {
		t.Fatal(err)
	}
	b.do("choose the file", chromedp.SetUploadFiles(chromedp.CSS("#f-file"), []string{file}))
	b.click(`form[action="/feeds/import"] .go button`)
	b.until("it is refused", `document.querySelector("#f-file-wrong").textContent.trim() !== "" && document.querySelector("#f-file").ariaInvalid === "true"`)
}
