package web

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"cloudburst/internal/river"
)

// flood makes a reader follow a new feed, and adds n items that one check of the feed has found at the
// time at. The items have no publication dates. Each item is one millisecond older than the previous item.
func (x *riverHarness) flood(reader, name string, at time.Time, n int) river.Followed {
	x.Helper()
	f := x.fakeRiver.follow(reader, river.Source{URL: "https://" + name + ".example/feed", About: river.About{Title: name}})
	for i := range n {
		x.fakeRiver.arrive(river.Item{SourceID: f.SourceID, GUID: fmt.Sprint(i), At: at.Add(-time.Duration(i) * time.Millisecond), ReadAt: at, Content: river.Content{Title: fmt.Sprint(name, " ", i)}})
	}
	return f
}

// titles returns the titles of the visible items of a page, and the titles of its collapsed items.
func titles(doc *html.Node) (shown, folded []string) {
	for _, item := range find(doc, "article", "item") {
		title := ""
		for _, h := range find(item, "h3", "") {
			title = text(h)
		}
		if p := item.Parent; p.Data == "details" {
			folded = append(folded, title)
		} else {
			shown = append(shown, title)
		}
	}
	return shown, folded
}

func TestOldItemsOfOneCheckAreCollapsed(t *testing.T) {
	t.Parallel()
	x := newRiverHarness(t).as("bob")
	now := x.fake.now
	f := x.flood("bob", "Frisk", now.Add(-time.Minute), 23)
	g := x.fakeRiver.follow("bob", river.Source{URL: "https://g.example/feed", About: river.About{Title: "Archive"}})
	at := now.Add(-time.Hour)
	for i, age := range []time.Duration{time.Minute, 20 * time.Hour, 25 * time.Hour, 26 * time.Hour, 27 * time.Hour, 28 * time.Hour} {
		x.fakeRiver.arrive(river.Item{SourceID: g.SourceID, GUID: fmt.Sprint(i), At: at.Add(-time.Duration(i) * time.Millisecond), ReadAt: at, Content: river.Content{Title: fmt.Sprint("Archive ", i), Published: at.Add(-age)}})
	}
	h := x.fakeRiver.follow("bob", river.Source{URL: "https://h.example/feed", About: river.About{Title: "Dated"}})
	for i := range 6 {
		date := now.Add(-time.Duration(40+i) * time.Hour)
		x.fakeRiver.arrive(river.Item{SourceID: h.SourceID, GUID: fmt.Sprint(i), At: date, ReadAt: now, Content: river.Content{Title: fmt.Sprint("Dated ", i), Published: date}})
	}
	doc := check(t, x.open("/river"))
	shown, folded := titles(doc)
	if len(folded) != 21 || !strings.Contains(strings.Join(shown, ","), "Frisk 0,Frisk 1,Frisk 2,Archive 0,Archive 1,Archive 2,Archive 3,Archive 4") || len(shown) != 3+5+6 {
		t.Errorf("shown: %q\nfolded: %q", shown, folded)
	}
	var lines []string
	for _, d := range find(doc, "details", "flood") {
		lines = append(lines, text(find(d, "summary", "")[0]))
	}
	if got := strings.Join(lines, ", "); got != "20 older items from Frisk, 1 older item from Archive" {
		t.Errorf("the lines are %s", got)
	}
	for _, path := range []string{fmt.Sprint("/river?source=", f.SourceID), "/river?q=Frisk"} {
		if _, folded := titles(check(t, x.open(path))); len(folded) > 0 {
			t.Errorf("%s folds %d items", path, len(folded))
		}
	}
}

func TestPagesOfCollapsedItemsContainEachItemOnce(t *testing.T) {
	t.Parallel()
	for _, size := range []int{10, 45, 50, 51, 120, 700} {
		x := newRiverHarness(t).as("bob")
		now := x.fake.now
		total := 0
		for i, n := range []int{4, size, 3, 30} {
			x.flood("bob", fmt.Sprint("Feed", i), now.Add(-time.Duration(i+1)*time.Hour), n)
			total += n
		}
		news := x.fakeRiver.follow("bob", river.Source{URL: "https://news.example/feed", About: river.About{Title: "News"}})
		for i := range 70 {
			at := now.Add(-time.Duration(10*i+5) * time.Minute)
			x.fakeRiver.arrive(river.Item{SourceID: news.SourceID, GUID: fmt.Sprint(i), At: at, ReadAt: at, Content: river.Content{Title: fmt.Sprint("News ", i), Published: at}})
			total++
		}
		seen, skipped, floods := map[string]bool{}, 0, 0
		for path := "/river"; path != ""; path = link(check(t, x.open(path)), "next") {
			doc := check(t, x.open(path))
			lines := len(find(doc, "details", "flood"))
			floods += lines
			shown, folded := titles(doc)
			if lines += len(shown); lines > itemsOnPage+3 || len(folded) > 150 {
				t.Errorf("%d: %s has %d lines and %d folded items", size, path, lines, len(folded))
			}
			for _, title := range append(shown, folded...) {
				if seen[title] {
					t.Errorf("%d: %s is there twice", size, title)
				}
				seen[title] = true
			}
			for _, d := range find(doc, "details", "flood") {
				var n int
				if _, err := fmt.Sscan(attr(d, "data-more"), &n); err == nil {
					skipped += n
					rest := find(d, "p", "rest")
					if len(rest) != 1 || text(rest[0]) != fmt.Sprint(n, " more") {
						t.Fatalf("%d: nothing leads to the rest", size)
					}
					further, _ := titles(check(t, x.open(attr(find(rest[0], "a", "")[0], "href"))))
					if last := fmt.Sprint("Feed1 ", len(find(d, "article", ""))+3); further[0] != last {
						t.Errorf("%d: the rest begins with %s, not %s", size, further[0], last)
					}
				}
			}
		}
		if len(seen)+skipped != total || floods != 3 {
			t.Errorf("%d: %d items are shown and %d are left out, of %d; %d lines fold some", size, len(seen), skipped, total, floods)
		}
	}
}

const itemsOnPage = 50
