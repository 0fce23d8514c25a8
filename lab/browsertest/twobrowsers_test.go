package browsertest

import (
	"fmt"
	"testing"

	"cloudburst/client"
	"cloudburst/protocol/rsscloud"
)

// onScreen returns an expression for the element of the item with the given title.
func onScreen(title string) string {
	return fmt.Sprintf(`[...document.querySelectorAll("#days .item")].find((i) => i.querySelector("h3").textContent.trim() === %q)`, title)
}

func TestMarksOfOneBrowserAppearInTheOther(t *testing.T) {
	t.Parallel()
	p, server := start(t, conf(t)), newFeedServer(t)
	p.author(t, "first") // the first user owns the river of the server, which follows the test feed
	one := p.author(t, "ann")
	feed := server.feed("/pushed.xml", "Pushed", rsscloud.CloudAt(p.base).String(), posts(4, "Talk")...)
	p.follow("ann", feed.url(), "Day")
	p.follow("ann", server.feed("/other.xml", "Other", "", posts(2, "Other")...).url(), "Night")
	two := p.signIn(t, "ann")
	count := func(n int) string {
		return fmt.Sprintf(`+(document.querySelector("#feedlist li > a .num")?.firstChild.data ?? 0) === %d`, n)
	}
	for b, path := range map[*tab]string{one: "/river", two: "/river?unread=1"} {
		b.open(path)
		b.until("the page is live", `document.getElementById("live-text").textContent === "Live" && document.querySelectorAll("#days .item").length === 6`)
		b.holds("it counts the unread items", count(6))
	}
	one.click(`#days .item .readmark[name=read]`)
	title := eval[string](one, `document.querySelector("#days .item.read h3").textContent.trim()`)
	two.until("the item is marked read", onScreen(title)+`.matches(".read")`)
	two.until("its page counts the rest", count(5))
	two.click("#days .item .readmark[name=unread]")
	one.until("the item is marked unread", onScreen(title)+`.querySelector(".readmark[name=read]") && !document.querySelector("#days .item.read")`)
	one.holds("its page counts it", count(6))
	one.click("#days .item .star")
	two.until("the item is starred", onScreen(title)+`.querySelector(".star").ariaPressed === "true"`)

	// A new item appears in both windows, including the page of unread items. Both windows count
	// the item.
	feed.add(post{Title: "Fresh"})
	p.ping(feed.url())
	for _, b := range []*tab{one, two} {
		b.until("the new item is there", `document.getElementById("days").textContent.includes("Fresh") || !pill.hidden`)
		b.until("the new item is counted", count(7))
	}

	// The page does not show this item, but its count of unread items changes.
	one.open("/river?category=Night")
	one.until("the page is live", `document.getElementById("live-text").textContent === "Live"`)
	two.click(`#days .item .readmark[name=read]`)
	one.until("the count falls", count(6))

	// Marks from an app, and from the button for all items, appear in the open windows.
	read := true
	ids := eval[[]client.ID](one, `[...document.querySelectorAll("#days .item")].map((i) => i.id.slice(1))`)
	if _, err := p.river("ann").Mark(t.Context(), client.MarkRequest{IDs: ids, Read: &read}); err != nil {
		t.Fatal(err)
	}
	one.until("marks of a program appear", `document.querySelectorAll("#days .item.read").length === 2`)
	two.open("/river")
	two.until("the page is live", `document.getElementById("live-text").textContent === "Live"`)
	two.click(".allread button")
	two.until("all are read", `document.querySelector(".undo")?.textContent.includes("read")`)
	one.until("the other page offers to reload", `pill.textContent === "Marks changed: reload the page" && !pill.hidden`)
	one.click("#pill")
	one.until("it shows the marks", `!document.querySelector("#days .item:not(.read)") && !document.querySelector("#feedlist .num")`)
	two.click(".undo button")
	one.until("an undo is reported too", `document.getElementById("pill") && !pill.hidden`)
}
