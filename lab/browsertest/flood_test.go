package browsertest

import (
	"fmt"
	"testing"

	"github.com/chromedp/cdproto/emulation"

	"cloudburst/protocol/rsscloud"
)

// undated returns n posts without a date.
func undated(n int, about string) (all []post) {
	for i := range n {
		all = append(all, post{Title: fmt.Sprintf("%s, number %d", about, n-i), Text: "<p>It may be of any year.</p>"})
	}
	return all
}

// visible is an expression that returns the titles of the items that are not folded.
const visible = `[...document.querySelectorAll("#days .item")].filter((i) => i.checkVisibility()).map((i) => i.querySelector("h3").textContent.trim()).join()`

func TestOldItemsOfOneCheckAreCollapsedOnALivePage(t *testing.T) {
	t.Parallel()
	p, server := start(t, conf(t)), newFeedServer(t)
	p.follow("", server.feed("/news.xml", "News", "", posts(2, "News")...).url(), "Day")
	b := newTab(t, p.base)
	b.open("/river?category=Day")
	b.until("the page is live", `document.getElementById("live-text").textContent === "Live" && document.querySelectorAll("#days .item").length === 2`)
	old := server.feed("/frisk.xml", "Frisk", rsscloud.CloudAt(p.base).String(), undated(23, "Frisk")...)
	p.follow("", old.url(), "Day")
	const folded = `document.querySelector("#days .flood summary")?.textContent === "20 older items from Frisk" && document.querySelectorAll("#days .flood .item").length === 20`
	const shown = `"Frisk, number 23,Frisk, number 22,Frisk, number 21,News, number 2,News, number 1"`
	b.until("they are folded", folded)
	b.holds("the newest three are shown", visible+" === "+shown)
	b.holds("the folded ones keep their order", `[...document.querySelectorAll(".flood h3")].map((h) => +h.textContent.match(/\d+/)[0]).every((n, i) => n === 20 - i)`)

	for range 4 {
		b.keys("j")
	}
	b.until("keys pass the folded items", `document.activeElement.matches(".item") && document.activeElement.textContent.includes("News, number 2")`)
	b.keys("k")
	old.add(post{Title: "Fresh"})
	p.ping(old.url())
	b.until("another one waits", `pill.textContent === "1 new" && !pill.hidden`)
	b.keys(".")
	b.until("it is shown", `document.querySelector("#days .item h3").textContent.trim() === "Fresh"`)
	b.holds("the older ones stay folded", folded)

	b.open("/river?category=Day")
	b.holds("the server folds them alike", folded+" && "+visible+` === "Fresh," + `+shown)
	b.click("#days .flood summary")
	b.holds("they unfold", `document.querySelector("#days .flood .item").checkVisibility()`)

	command(b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	for _, width := range []int64{1280, 390} {
		b.size(width, 900)
		b.open("/river?category=Day")
		b.holds("without scripts they are folded", folded+` && !document.querySelector(".flood .item").checkVisibility()`)
		b.click("#days .flood summary")
		b.holds("and unfold", `document.querySelector("#days .flood .item").checkVisibility()`)
	}
}
