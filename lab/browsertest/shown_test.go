package browsertest

import (
	"testing"
	"time"
)

func TestButtonForAllItemsCountsMarks(t *testing.T) {
	t.Parallel()
	p, _, _ := day(t)
	b := newTab(t, p.base)
	b.open("/river?category=Day")
	button := func(text string) string {
		return `document.querySelector(".allread button").textContent === "` + text + `" && !document.querySelector(".allread").hidden`
	}
	b.holds("all items are unread", button("Mark all 8 read"))
	b.keys("j")
	b.keys("m")
	b.until("a marked item is not counted", button("Mark all 7 read"))
	b.click(".item.read .readmark")
	b.until("it counts again", button("Mark all 8 read"))
	eval[bool](b, `[...document.querySelectorAll("#days .readmark")].slice(1).every((e) => { e.click(); return true; })`)
	b.until("one item is left", button("Mark 1 item read"))
	b.click("#days .readmark[name=read]")
	b.until("there is nothing to mark", `document.querySelector(".allread").hidden`)
	b.click("#days .readmark[name=unread]")
	b.until("the button is back", button("Mark 1 item read"))
}

func TestIconsInItemsHaveTheSizeOfText(t *testing.T) {
	t.Parallel()
	p := start(t, conf(t))
	server := newFeedServer(t)
	text := `<p>An icon <svg class="icon" viewBox="0 0 24 24"><path d="M4 12h16"/></svg> in a text</p>
		<p>A hidden one <svg aria-hidden="true" class="fa" viewBox="0 0 512 512"><path d="M0 0h512v512H0z"/></svg> too</p>
		<p id="hole"><svg viewBox="0 0 64 64"></svg>No hole</p>
		<svg viewBox="0 0 4000 1000"><rect width="4000" height="1000"/></svg>`
	p.follow("", server.feed("/icons.xml", "Icons", "", post{Title: "Icons", Text: text, At: time.Now()}).url())
	b := newTab(t, p.base)
	for _, width := range []int64{phoneWidth, 1280} {
		b.size(width, 900)
		b.open("/river")
		b.until("the item is there", `document.querySelector(".item .e-content svg")`)
		b.holds("the drawings fit", `JSON.stringify([...document.querySelectorAll(".item .e-content svg")].map((e) => {
			const box = e.getBoundingClientRect();
			return box.width <= 24 && box.height <= 24 ? "icon" : box.width <= e.closest(".e-content").clientWidth && Math.abs(box.width / box.height - 4) < .1 ? "drawing" : box.width + "x" + box.height;
		})) === '["icon","icon","drawing"]'`)
	}
}

func TestFooterDoesNotEndWithASeparator(t *testing.T) {
	t.Parallel()
	p := start(t, conf(t))
	b := newTab(t, p.base)
	b.open("/feeds/start")
	ends := func(text string) string {
		return `document.querySelector("footer").innerText.replace(/\s+/g, " ").trim().endsWith("` + text + `")`
	}
	b.until("the footer shows the keys", ends("· Docs · ? Keys"))
	b.size(phoneWidth, phoneHeight)
	b.until("a phone has no keys", ends("· Docs"))
}
