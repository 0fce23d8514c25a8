package browsertest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"

	"cloudburst/client"
	"cloudburst/internal/river"
	"cloudburst/lab/outside"
	"cloudburst/protocol/rsscloud"
)

// article serves a page with a long article at a path.
func (p *feedServer) article(path, about string) {
	var b strings.Builder
	for i := range 12 {
		fmt.Fprintf(&b, "<p>%s, paragraph %d: the keeper wrote down the hour, the wind, and the height of the water, then lit the lamp.</p>", about, i+1)
	}
	p.put(path, "text/html; charset=utf-8", `<!doctype html><html><head><title>`+about+`</title></head><body><nav><a href="/menu">Menu of the site</a></nav><article><h1>`+about+`</h1>`+
		b.String()+`<p><img src="/lamp.png" width="320" height="200" alt="The lamp"></p></article><footer>Imprint of the site</footer></body></html>`)
}

// capture writes a screenshot if the environment variable CLOUDBURST_SCREENSHOTS names a folder.
func (b *tab) capture(name string) {
	b.t.Helper()
	dir := os.Getenv("CLOUDBURST_SCREENSHOTS")
	if dir == "" {
		return
	}
	got := command(b, page.CaptureScreenshot, page.CaptureScreenshotParams{})
	if err := os.WriteFile(filepath.Join(dir, name+".png"), got.Data, 0o644); err != nil {
		b.t.Fatal(err)
	}
}

func TestFullTextOfPushedItemAppearsOnOpenPage(t *testing.T) {
	t.Parallel()
	p, server := start(t, conf(t)), newFeedServer(t)
	feed := server.feed("/short.xml", "Short", rsscloud.CloudAt(p.base).String(), posts(3, "Summary")...)
	b := p.author(t, "alice")
	source := p.follow("alice", feed.url())
	b.open(fmt.Sprintf("/feeds/%d/settings", source.ID))
	b.holds("full text is off", `!document.getElementById("s-full").checked`)
	b.click("#s-full")
	b.capture("fulltext-settings")
	b.click("form.sheet[action$='/settings'] button")
	b.until("the setting is saved", `location.search === "?done=settings" && document.getElementById("s-full").checked`)

	b.open("/river")
	b.until("the page is live", `document.getElementById("live-text").textContent === "Live" && document.querySelectorAll("#days .item").length >= 3`)
	server.article("/post/short.xml/4", "The lighthouse")
	feed.add(post{Title: "The lighthouse", Text: "<p>Only a summary.</p>"})
	p.ping(feed.url())
	b.until("the item is on the page, with its summary or already its text", `[...document.querySelectorAll("#days .item")].some((item) => item.textContent.includes("The lighthouse"))`)
	b.until("its full text is offered or shown", `(() => {
		const item = [...document.querySelectorAll("#days .item")].find((item) => item.textContent.includes("The lighthouse"));
		if (item.querySelector(".held")?.textContent === "Full text: show") item.querySelector(".held").click();
		return "full" in document.querySelector("#" + item.id).dataset && document.querySelector("#" + item.id).textContent.includes("the keeper wrote down");
	})()`)
	b.holds("what is around the article is not there", `!document.body.textContent.includes("Menu of the site") && !document.body.textContent.includes("Imprint of the site")`)
	b.capture("fulltext-river")

	b.open(eval[string](b, `[...document.querySelectorAll("#days .item")].find((item) => item.textContent.includes("The lighthouse")).querySelector("a[href^='/river/item/']").getAttribute("href")`))
	b.until("the reading view has the full text", `document.querySelector(".alone .e-content").textContent.includes("paragraph 12")`)
	b.holds("the image has its size", `document.querySelector(".alone .e-content img").getAttribute("width") === "320"`)
	b.capture("fulltext-item")
	b.keys("f")
	b.until("f shows the text of the feed", `document.querySelector(".alone .e-content").textContent.trim() === "Only a summary."`)
	b.keys("f")
	b.until("f shows the full text again", `document.querySelector(".alone .e-content").textContent.includes("paragraph 12")`)
	outside.Until(t, "the page is searchable", func() bool {
		for it, err := range p.river("alice").Items(t.Context(), client.ItemQuery{Match: "keeper"}) {
			return err == nil && it.FullText && strings.Contains(it.HTML, "paragraph 12")
		}
		return false
	})
	if n := server.requests("/post/short.xml/4 "); n != 1 {
		t.Errorf("the page was read %d times", n)
	}
	if n := server.requests("/post/short.xml/3 "); n != 0 {
		t.Error("the page of an old item was read")
	}
}

func TestFullTextIsShownOnDemandWithAndWithoutScripts(t *testing.T) {
	t.Parallel()
	p, server := start(t, conf(t)), newFeedServer(t)
	server.article("/post/short.xml/1", "The harbour")
	server.article("/post/short.xml/2", "The lighthouse")
	server.put("/post/short.xml/3", "status", "403")
	feed := server.feed("/short.xml", "Short", "", posts(3, "Summary")...)
	b := p.author(t, "alice")
	p.follow("alice", feed.url())
	open := func(n int) {
		t.Helper()
		b.open(fmt.Sprintf("/river/item/%d", river.ItemID(river.SourceID(feed.url()), fmt.Sprintf("%s/post/short.xml/%d", server.URL, n))))
	}
	open(2)
	b.holds("the page has the summary", `document.querySelector(".alone .e-content").textContent.includes("of hour 2")`)
	eval[bool](b, `window.same = true`)
	b.keys("f")
	b.until("the full text replaces it on the same page", `window.same && document.querySelector(".alone .e-content").textContent.includes("paragraph 12") && new URLSearchParams(location.search).get("full") === "1"`)
	open(3)
	b.click(".fulltext button")
	b.until("the failure is a sentence", `document.querySelector(".fulltext .why")?.textContent.includes("its server answered 403 Forbidden. Open the original instead.")`)
	b.capture("fulltext-failed")

	command(b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	for _, width := range []int64{1280, 390} {
		b.size(width, 900)
		open(1)
		b.capture(fmt.Sprint("fulltext-offer-", width))
		b.holds("the target is large enough", fmt.Sprintf(`document.querySelector(".fulltext :is(button, a)").getBoundingClientRect().height >= (%d < 600 ? 44 : 24)`, width))
		if width == 1280 {
			b.click(".fulltext button")
		} else { // the first run has already stored the full text
			b.click(".fulltext a")
		}
		b.until("the page has the full text", `document.querySelector(".alone .e-content").textContent.includes("The harbour, paragraph 12")`)
		for _, wrong := range eval[[]string](b, tooWide) {
			t.Errorf("%d pixels wide: %s", width, wrong)
		}
		b.click(".fulltext a")
		b.until("the link leads back to the text of the feed", `document.querySelector(".alone .e-content").textContent.includes("of hour 1")`)
	}
	if n := server.requests("/post/short.xml/1 "); n != 1 {
		t.Errorf("the page was read %d times", n)
	}
}
