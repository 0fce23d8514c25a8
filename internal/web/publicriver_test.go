package web

import (
	"fmt"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"cloudburst/feed"
	"cloudburst/feed/opml"
	"cloudburst/internal/river"
	"cloudburst/internal/web/readerui"
)

func TestPublicCategoriesHaveTheirOwnRivers(t *testing.T) {
	t.Parallel()
	x := newRiverHarness(t)
	doc := check(t, x.open("/rivers/alice"))
	if !strings.Contains(text(doc), "Weblogs") || strings.Contains(text(doc), "News") {
		t.Error(text(doc))
	}
	doc = check(t, x.open("/rivers/alice/Weblogs"))
	if len(find(doc, "article", "item")) == 0 || len(find(doc, "button", "star")) != 0 || strings.Contains(text(doc), "xkcd") {
		t.Error(text(doc))
	}
	kinds := ""
	for _, l := range find(doc, "link", "") {
		if attr(l, "rel") == "alternate" {
			kinds += attr(l, "type") + " " + attr(l, "href") + "\n"
		}
	}
	if want := "application/rss+xml /rivers/alice/Weblogs/feed.rss\napplication/atom+xml /rivers/alice/Weblogs/feed.atom\napplication/feed+json /rivers/alice/Weblogs/feed.json\ntext/x-opml /rivers/alice/Weblogs/opml\n"; kinds != want {
		t.Errorf("got %s", kinds)
	}
	whole := find(doc, "a", "whole")
	if doc := check(t, x.open(attr(whole[0], "href"))); !strings.HasPrefix(attr(whole[0], "href"), "/rivers/alice/Weblogs/item/") || !strings.Contains(text(doc), "No algorithm") {
		t.Error(attr(whole[0], "href"))
	}
	for _, path := range []string{"/rivers/alice/News", "/rivers/alice/Nothing", "/rivers/nobody", "/rivers/nobody/Weblogs", "/rivers/alice/Weblogs/feed.exe", "/rivers/alice/Weblogs/else", "/rivers/alice/News/feed.rss", "/rivers/alice/Family/opml"} {
		if rec := x.open(path); rec.Code != 404 {
			t.Errorf("%s: %d", path, rec.Code)
		}
	}
}

func TestPublicCategoriesHaveFeeds(t *testing.T) {
	t.Parallel()
	x := newRiverHarness(t)
	x.fakeRiver.mu.Lock()
	private := river.SourceID("https://family.example/secret.xml")
	f := x.fakeRiver.subs["alice"][private]
	f.Categories = append(f.Categories, "Weblogs") // the feed stays private in a public category
	x.fakeRiver.subs["alice"][private] = f
	f.Source.URL, f.Source.Login = "https://b.example/carl/private/sanmgs4wpliu."+strings.Repeat("K_-9", 8)+"/rss.xml", river.Login{}
	f.Source.ID = river.SourceID(f.Source.URL)
	x.fakeRiver.subs["alice"][f.Source.ID] = f
	x.fakeRiver.mu.Unlock()
	for ext, want := range map[string]string{"rss": "application/rss+xml", "atom": "application/atom+xml", "json": "application/feed+json"} {
		path := "/rivers/alice/Weblogs/feed." + ext
		rec := x.open(path)
		if rec.Code != 200 || !strings.HasPrefix(rec.Header().Get("Content-Type"), want) || rec.Header().Get("Cache-Control") != "public, max-age=60" {
			t.Errorf("%s: %d %v", ext, rec.Code, rec.Header())
		}
		got, err := feed.ParseBytes(rec.Body.Bytes(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if got.Title.Value != "Weblogs" || len(got.Items) < 20 || got.Items[0].Published.UTC.IsZero() || strings.Contains(rec.Body.String(), secret) {
			t.Errorf("%s: %q with %d items", ext, got.Title.Value, len(got.Items))
		}
		r := httptest.NewRequest("GET", path, nil)
		r.Header.Set("If-None-Match", rec.Header().Get("ETag"))
		if rec := x.do(r); rec.Code != 304 {
			t.Errorf("%s: again %d", ext, rec.Code)
		}
	}
	rec := x.open("/rivers/alice/Weblogs/opml")
	list, err := opml.ParseBytes(rec.Body.Bytes(), nil)
	if err != nil || len(list.Outlines) != 2 || strings.Contains(rec.Body.String(), "family") || strings.Contains(rec.Body.String(), "sanmgs4") || !strings.HasPrefix(rec.Header().Get("Content-Type"), "text/x-opml") {
		t.Errorf("%v: %s", err, rec.Body)
	}
}

func TestItemsOfPublicRiversKeepTheirIDsWhenItemsArrive(t *testing.T) {
	t.Parallel()
	x := newRiverHarness(t)
	var feeds []int64
	for _, u := range []string{"http://one.example/feed", "http://one.example/comments", "http://planet.example/feed"} {
		feeds = append(feeds, x.fakeRiver.follow("alice", river.Source{URL: u}, "Both").SourceID)
	}
	_ = x.fakeRiver.PutCategory(t.Context(), "alice", "Both", true)
	seen := map[string]string{} // key: format and link of an item; value: its ID
	for n := range 6 {
		// Each feed uses the same numbers and the same URLs as IDs.
		for _, guid := range []string{strconv.Itoa(n / 3), fmt.Sprint("http://one.example/", n/3)} {
			x.fakeRiver.arrive(river.Item{SourceID: feeds[n%3], GUID: guid, Content: river.Content{Title: "t", Link: fmt.Sprintf("http://link.example/%d/%s", n, guid)}})
		}
		for _, ext := range []string{"rss", "atom", "json"} {
			got, err := feed.ParseBytes(x.open("/rivers/alice/Both/feed."+ext).Body.Bytes(), nil)
			if err != nil || len(got.Items) != 2*(n+1) {
				t.Fatalf("%s: %+v %v", ext, got, err)
			}
			unique := map[string]bool{}
			for _, it := range got.Items {
				key := ext + " " + it.Link
				if was, known := seen[key]; known && was != it.ID || unique[it.ID] {
					t.Errorf("%s: the ID %q became %q", key, was, it.ID)
				}
				seen[key], unique[it.ID] = it.ID, true
			}
		}
	}
}

func TestItemOfPublicRiverKeepsItsLinkAsID(t *testing.T) {
	t.Parallel()
	x := newRiverHarness(t)
	one := x.fakeRiver.follow("alice", river.Source{URL: "http://feeds.example/one", About: river.About{Home: "http://www.one.example/"}}, "Mine").SourceID
	_ = x.fakeRiver.PutCategory(t.Context(), "alice", "Mine", true)
	for _, guid := range []string{"http://one.example/p", "http://other.example/p", "http://one.example/?p=7", "7"} {
		link := strings.Replace(guid, "?p=", "", 1)
		x.fakeRiver.arrive(river.Item{SourceID: one, GUID: guid, Content: river.Content{Title: guid, Link: link}})
	}
	// Another feed of the site has the same post.
	two := x.fakeRiver.follow("alice", river.Source{URL: "http://one.example/news"}, "Mine").SourceID
	x.fakeRiver.arrive(river.Item{SourceID: two, GUID: "http://one.example/p", Content: river.Content{Title: "http://one.example/p", Link: "http://one.example/p"}})
	got, err := feed.ParseBytes(x.open("/rivers/alice/Mine/feed.rss").Body.Bytes(), nil)
	if err != nil || len(got.Items) != 4 {
		t.Fatalf("%+v %v", got, err)
	}
	for _, it := range got.Items {
		want := it.Title.Value
		if want != "http://one.example/p" {
			want = fmt.Sprintf("/rivers/alice/Mine/item/%d", river.ItemID(one, want))
		}
		if !strings.HasSuffix(it.ID, want) {
			t.Errorf("%s has the ID %s", it.Title.Value, it.ID)
		}
	}
}

func TestOwnerCanReadPrivateCategoriesAsFeeds(t *testing.T) {
	t.Parallel()
	x := newRiverHarness(t).as("alice")
	rec := x.open("/rivers/alice/News/feed.rss")
	if rec.Code != 200 || rec.Header().Get("Cache-Control") != "private, max-age=60" {
		t.Errorf("%d %v", rec.Code, rec.Header())
	}
	x.as("bob")
	if rec := x.open("/rivers/alice/News/feed.rss"); rec.Code != 404 {
		t.Errorf("another user: %d", rec.Code)
	}
}

func TestCategoryNamesMayContainAnyText(t *testing.T) {
	t.Parallel()
	x := newRiverHarness(t)
	for _, name := range []string{"Tech/Go", "a b", "例え", "100%", "?#&", ".."} {
		x.fakeRiver.follow("alice", river.Source{URL: "http://scripting.com/rss.xml", About: river.About{Title: "Scripting News"}}, name)
		_ = x.fakeRiver.PutCategory(t.Context(), "alice", name, true)
		if name == ".." {
			continue // no URL can address this category, because browsers resolve the path segment ".."
		}
		for _, path := range []string{readerui.PublicPath("alice", name), readerui.PublicPath("alice", name) + "/feed.json"} {
			if rec := x.open(path); rec.Code != 200 {
				t.Errorf("%s: %d", path, rec.Code)
			}
		}
	}
}
