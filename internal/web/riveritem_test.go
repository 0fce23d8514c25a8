package web

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"cloudburst/internal/river"
)

// link returns the href of the first <a> element with a rel, or "" if a page contains no such element.
func link(doc *html.Node, rel string) string {
	for _, a := range find(doc, "a", "") {
		if attr(a, "rel") == rel {
			return attr(a, "href")
		}
	}
	return ""
}

func TestReadingViewLinksToPreviousAndNextItem(t *testing.T) {
	t.Parallel()
	x := newRiverHarness(t).as("alice")
	for _, from := range []string{"/river", "/river?category=Weblogs", "/river?starred=1", "/river?q=number", "/river?unread=1"} {
		if strings.Contains(from, "starred") {
			for i := range 4 {
				x.send("/river/mark", "star", fmt.Sprint(x.fakeRiver.items[3*i].ID))
			}
		}
		if strings.Contains(from, "unread") {
			x.send("/river/display", "marks", "0") // with marks, an opened item would leave the list of unread items
		}
		var want []string
		for _, item := range find(check(t, x.open(from)), "article", "item") {
			want = append(want, attr(item, "id"))
		}
		_, query, _ := strings.Cut(from, "?")
		path := "/river/item/" + want[0][1:]
		if query != "" {
			path += "?" + query
		}
		for prev := path; prev != ""; prev = link(check(t, x.open(path)), "prev") {
			path = prev // the first item of the page may have a previous item, because the page sorts the items of one check by publication
		}
		var got []string
		for before := ""; path != "" && len(got) < len(want); {
			doc := check(t, x.open(path))
			got = append(got, attr(find(doc, "article", "item")[0], "id"))
			if prev := link(doc, "prev"); prev != before {
				t.Errorf("%s: the item before %s is %q, not %q", from, path, prev, before)
			}
			if up := attr(find(doc, "a", "up")[0], "href"); up != from {
				t.Errorf("%s: %s leads up to %s", from, path, up)
			}
			before, path = path, link(doc, "next")
		}
		sortedWant, sortedGot := strings.Join(slices.Sorted(slices.Values(want)), " "), strings.Join(slices.Sorted(slices.Values(got)), " ")
		if sortedWant != sortedGot {
			t.Errorf("%s leads to\n%s, not\n%s", from, sortedGot, sortedWant)
		}
	}
}

func TestOpenedItemIsMarkedAsRead(t *testing.T) {
	t.Parallel()
	x := newRiverHarness(t).as("alice")
	id := x.fakeRiver.items[0].ID
	path := fmt.Sprint("/river/item/", id)
	read := func() bool { return x.fakeRiver.marks["alice"][id].Read }
	for _, h := range [][]string{{"Sec-Purpose", "prefetch"}, {"Sec-Purpose", "prefetch;prerender"}, {"Purpose", "prefetch"}, {"X-Moz", "prefetch"}} {
		if _ = x.open(path, h...); read() {
			t.Fatalf("%v marks it", h)
		}
	}
	doc := check(t, x.open(path))
	if !read() || attr(find(doc, "button", "readmark")[0], "name") != "unread" {
		t.Fatal("an opened item is unread")
	}
	var back string
	for _, f := range find(doc, "input", "") {
		if attr(f, "name") == "back" {
			back = attr(f, "value")
		}
	}
	rec := x.send("/river/mark", "unread", fmt.Sprint(id), "back", back)
	if doc := check(t, x.open(rec.Header().Get("Location"))); read() || attr(find(doc, "button", "readmark")[0], "name") != "read" {
		t.Error("the page after Mark unread marks it as read again")
	}
	x.cookie = ""
	x.RiverPublic = true
	x.pages = x.Routes()
	if _ = x.open(path); read() || x.fakeRiver.marks[""][id].Read {
		t.Error("another user marks it")
	}
}

func TestReadingViewFollowsTheOrderOfTheRiver(t *testing.T) {
	t.Parallel()
	x := newRiverHarness(t).as("alice")
	if rec := x.send("/river/display", "order", "oldest", "text", "large", "density", "titles", "marks", "1"); rec.Code != 303 {
		t.Fatal(rec.Code)
	}
	var ids []string
	for _, item := range find(check(t, x.open("/river")), "article", "item") {
		ids = append(ids, attr(item, "id")[1:])
	}
	doc := check(t, x.open("/river/item/"+ids[1]))
	if prev, next := link(doc, "prev"), link(doc, "next"); prev != "/river/item/"+ids[0] || next != "/river/item/"+ids[2] {
		t.Errorf("it leads to %s and %s, not to %s and %s", prev, next, ids[0], ids[2])
	}
	if class := attr(find(doc, "div", "river")[0], "class"); class != "river alone marking text-large" {
		t.Errorf("the classes are %s", class)
	}
}

func TestReadingViewHidesPrivateFiltersFromOtherUsers(t *testing.T) {
	t.Parallel()
	x := newRiverHarness(t)
	x.RiverPublic = true
	x.pages = x.Routes()
	for _, it := range x.fakeRiver.items {
		e, ok := x.fakeRiver.entry("", it)
		if !ok || e.Source.Private {
			continue
		}
		for _, query := range []string{"?category=Family", "?category=News", "?starred=1", "?unread=1", "?q=category:News", "?q=is:starred", "?q=is:%22unread%22", "?source=x", "?before=no"} {
			doc := check(t, x.open(fmt.Sprint("/river/item/", it.ID, query)))
			for _, a := range find(doc, "a", "") {
				if href := attr(a, "href"); strings.Contains(href, "/river") && strings.Contains(href, "?") && !strings.Contains(href, "/river/image?") {
					t.Errorf("%s leads to %s", query, href)
				}
			}
			if strings.Contains(text(doc), "Grandfather") {
				t.Errorf("%s shows a private item", query)
			}
		}
		break
	}
}

func TestReadingViewOfAHugeItemIsBounded(t *testing.T) {
	t.Parallel()
	x := newRiverHarness(t).as("alice")
	f := x.fakeRiver.follow("alice", river.Source{URL: "https://huge.example/feed", About: river.About{Title: "Huge"}})
	words := strings.Repeat("<p>"+strings.Repeat("many words ", 100)+"</p>", 2000)
	images := ""
	for i := range 3000 {
		images += fmt.Sprintf(`<p><img src="https://huge.example/%d.png" alt="Image %d"></p>`, i, i)
	}
	at := x.fake.now.Add(-time.Second)
	x.fakeRiver.arrive(river.Item{ID: 501, SourceID: f.SourceID, GUID: "words", At: at, Content: river.Content{Title: "شَدِيد", HTML: words}},
		river.Item{ID: 502, SourceID: f.SourceID, GUID: "images", At: at, Content: river.Content{Title: "Images", HTML: images}})
	doc := check(t, x.open("/river/item/501"))
	if n := len(text(find(doc, "div", "e-content")[0])); n < 2_000_000 {
		t.Errorf("%d bytes of text are shown", n)
	}
	if attr(find(doc, "h1", "")[0], "dir") != "auto" {
		t.Error("the direction of the title is fixed")
	}
	doc = check(t, x.open("/river/item/502"))
	all := find(find(doc, "div", "e-content")[0], "img", "")
	if len(all) != 3000 {
		t.Fatalf("%d images are shown", len(all))
	}
	for _, img := range all {
		if attr(img, "loading") != "lazy" || attr(img, "decoding") != "async" {
			t.Fatal("an image loads at once")
		}
	}
	if n := x.open("/river?source=" + fmt.Sprint(f.SourceID)).Body.Len(); n > 60_000 {
		t.Errorf("on the river they take %d bytes", n)
	}
}
