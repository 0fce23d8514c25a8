package web

import (
	"context"
	"fmt"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/fulltext"
	"cloudburst/internal/river"
	"cloudburst/internal/web/readerui"
)

// fakeFullTexts contains the stored full texts of items. A request replaces the stored text of an item by
// its text in requested. The key of both maps is the ID of the item.
type fakeFullTexts struct {
	texts     map[int64]fulltext.Text
	requested map[int64]fulltext.Text
	asked     []int64
	err       error
}

func (f *fakeFullTexts) Get(_ context.Context, item int64) (fulltext.Text, error) {
	return f.texts[item], nil
}

func (f *fakeFullTexts) Request(_ context.Context, item int64, _ time.Duration) (fulltext.Text, error) {
	f.asked = append(f.asked, item)
	if f.err == nil {
		f.texts[item] = f.requested[item]
	}
	return f.texts[item], f.err
}

// fullHarness returns a river of alice. item is an item that contains only a summary, and path is the path
// of its page.
func fullHarness(t *testing.T) (x *riverHarness, full *fakeFullTexts, item *river.Item, path string) {
	t.Helper()
	x = newRiverHarness(t).as("alice")
	full = &fakeFullTexts{texts: map[int64]fulltext.Text{}, requested: map[int64]fulltext.Text{}}
	x.FullTexts = full
	x.pages = x.Routes()
	item = &x.fakeRiver.items[0]
	item.Link, item.HTML = "https://site.example/page", "<p>Only a summary.</p>"
	return x, full, item, fmt.Sprint("/river/item/", item.ID)
}

func whole(html string) fulltext.Text {
	return fulltext.Text{Full: river.Full{HTML: html, At: time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)}}
}

func TestFullTextOfAnItemIsShownOnDemand(t *testing.T) {
	t.Parallel()
	x, full, item, path := fullHarness(t)
	page := x.open(path).Body.String()
	for _, want := range []string{"Only a summary.", `action="` + path + `/full"`, "Show the full text", `/static/fulltext.`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
	full.requested[item.ID] = whole("<p>The whole article.</p>")
	rec := x.send(path+"/full", "back", path+"?category=Weblogs")
	to := rec.Header().Get("Location")
	if u, err := url.Parse(to); rec.Code != 303 || err != nil || u.Path != path || u.Query().Get("full") != "1" || u.Query().Get("category") != "Weblogs" || len(full.asked) != 1 {
		t.Fatalf("%d %s, %v", rec.Code, to, full.asked)
	}
	doc := check(t, x.open(to))
	if got := text(find(doc, "article", "item")[0]); !strings.Contains(got, "The whole article.") || strings.Contains(got, "Only a summary.") {
		t.Errorf("the item is %s", got)
	}
	back := attr(find(find(doc, "form", "fulltext")[0], "a", "")[0], "href")
	if got := text(find(check(t, x.open(back)), "article", "item")[0]); !strings.Contains(got, "Only a summary.") || !strings.Contains(got, "Show the full text") {
		t.Errorf("%s has the item %s", back, got)
	}
	// The form does not redirect to another site.
	if to := x.send(path+"/full", "back", "https://elsewhere.example/").Header().Get("Location"); !strings.HasPrefix(to, "/river?") {
		t.Errorf("the form leads to %s", to)
	}
}

func TestPageStatesWhyAFullTextIsMissing(t *testing.T) {
	t.Parallel()
	x, full, item, path := fullHarness(t)
	full.texts[item.ID] = fulltext.Text{Problem: "The page <b> could not be read: its server answered 403 Forbidden."}
	if page := x.open(path).Body.String(); !strings.Contains(page, "The page &lt;b&gt; could not be read: its server answered 403 Forbidden.") || !strings.Contains(page, "Try again") {
		t.Error("the page does not state the failure:\n" + page)
	}
	full.texts[item.ID] = fulltext.Text{NextAt: time.Now()}
	page := x.open(path).Body.String()
	for _, want := range []string{"is being read from the original page", fmt.Sprintf(`data-await="/river/stream?source=%d"`, item.SourceID)} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	full.texts[item.ID] = fulltext.Text{}
	full.err = fault.New(fault.TooMany, "This server is still reading 9 other pages. Try again in a few minutes.")
	if rec := x.send(path+"/full", "back", path); rec.Code != 429 || !strings.Contains(rec.Body.String(), "still reading 9 other pages") {
		t.Errorf("%d %s", rec.Code, rec.Body)
	}
}

func TestFullTextIsNotShownInPublicRivers(t *testing.T) {
	t.Parallel()
	x, full, item, path := fullHarness(t)
	full.texts[item.ID] = whole("<p>The whole article.</p>")
	x.fakeRiver.full = map[int64]river.Full{item.ID: full.texts[item.ID].Full} // alice has enabled full texts for this feed
	for _, at := range []string{"/river", path} {
		if page := x.open(at).Body.String(); !strings.Contains(page, "The whole article.") {
			t.Errorf("%s lacks the full text for its reader", at)
		}
	}
	x.fakeRiver.category("alice", "Weblogs", true)
	x.accountHarness.as("")
	public := "/rivers/alice/Weblogs"
	for _, at := range []string{public, public + "/rss.xml", public + fmt.Sprint("/item/", item.ID), public + fmt.Sprint("/item/", item.ID) + "?full=1", path + "?full=1"} {
		rec := x.do(httptest.NewRequest("GET", at, nil))
		if page := rec.Body.String(); strings.Contains(page, "The whole article.") || strings.Contains(page, `/full"`) {
			t.Errorf("%s has the full text: %d", at, rec.Code)
		}
	}
	if x.send(path+"/full", "back", path); len(full.asked) > 0 {
		t.Error("a visitor requested a page")
	}
}

func TestFullTextIsNotOfferedForItemWithoutLink(t *testing.T) {
	t.Parallel()
	x, full, item, path := fullHarness(t)
	for _, link := range []string{"", "javascript:alert(1)"} {
		item.Link = link
		if page := x.open(path).Body.String(); strings.Contains(page, "Show the full text") {
			t.Errorf("the link %q has a full text", link)
		}
	}
	for _, wrong := range []string{"/river/item/0/full", "/river/item/x/full", "/river/item/12345678901/full"} {
		if rec := x.send(wrong, "back", path); rec.Code != 404 || len(full.asked) > 0 {
			t.Errorf("%s: %d", wrong, rec.Code)
		}
	}
}

func TestFullTextCanBeEnabledForAFeed(t *testing.T) {
	t.Parallel()
	g := newFollowHarness(t)
	g.fakeRiver.addListsAndNotices("alice")
	id := river.SourceID("http://scripting.com/rss.xml")
	at := readerui.SourcePath(id) + "/settings"
	page := g.look(g.done(at, "title", "", "full", "1"))
	has(t, page, "Fetch the full text of new items", `aria-describedby="s-full-help" checked`)
	if f, _ := g.fakeRiver.Find(t.Context(), "alice", fmt.Sprint(id)); !f.FullText {
		t.Errorf("%+v", f.Subscription)
	}
	g.done(at, "title", "")
	if f, _ := g.fakeRiver.Find(t.Context(), "alice", fmt.Sprint(id)); f.FullText {
		t.Errorf("%+v", f.Subscription)
	}
}
