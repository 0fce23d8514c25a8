package browsertest

import (
	"testing"

	"cloudburst/protocol/rsscloud"
)

const (
	isLive   = `document.getElementById("live-text").textContent === "Live"`
	isPaused = `document.getElementById("live-text").textContent === "Paused"`
)

// use makes the page the one that its user used last.
func (b *tab) use() {
	b.t.Helper()
	eval[bool](b, `dispatchEvent(new Event("focus"))`)
}

// hide makes the page a hidden one, as if another tab covered it.
func (b *tab) hide() {
	b.t.Helper()
	eval[bool](b, `Object.defineProperty(document, "hidden", { value: true }) && document.dispatchEvent(new Event("visibilitychange"))`)
}

// A browser opens at most six connections to a server that has HTTP/1.1.
func TestEighthLivePageLoadsWhileSevenAreOpen(t *testing.T) {
	t.Parallel()
	p, server := start(t, conf(t)), newFeedServer(t)
	p.author(t, "first") // the first user owns the river of the server, which follows the test feed
	one := p.author(t, "ann")
	feed := server.feed("/pushed.xml", "Pushed", rsscloud.CloudAt(p.base).String(), posts(3, "Talk")...)
	p.follow("ann", feed.url())
	all := []*tab{one, one.another(), one.another(), one.another(), one.another(), one.another(), one.another()}
	for i, path := range []string{"/ann/", "/log", "/river", "/river", "/river", "/river", "/river"} {
		all[i].open(path)
		if path == "/river" {
			all[i].until("the page is live", isLive+` && document.querySelectorAll("#days .item").length === 3`)
		}
	}
	eighth := one.another()
	eighth.open("/feeds")
	eighth.until("the page loads", `document.querySelector("main h1")`)

	// The river that was used first has no stream. It misses an item and a mark, and shows both when it is
	// used again.
	first, second, last := all[2], all[3], all[6]
	eighth.open("/river")
	first.until("the page without a stream says so", isPaused)
	feed.add(post{Title: "Came later"})
	p.ping(feed.url())
	last.until("a page with a stream receives the item", `document.getElementById("days").textContent.includes("Came later")`)
	last.click(`#days .item:last-child .readmark[name=read]`)
	last.until("the item is marked", `document.querySelector("#days .item.read")`)
	title := eval[string](last, `document.querySelector("#days .item.read h3").textContent.trim()`)
	first.holds("the page without a stream does not receive it", `!document.getElementById("days").textContent.includes("Came later")`)
	first.use()
	first.until("the page is live again", isLive)
	first.until("it shows the item", `document.getElementById("days").textContent.includes("Came later")`)
	first.until("it shows the mark", onScreen(title)+`.matches(".read")`)

	// Visible pages have a stream before hidden pages.
	second.until("the page is paused", isPaused)
	last.hide()
	all[5].hide()
	second.until("the visible page is live", isLive)
}
