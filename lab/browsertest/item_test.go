package browsertest

import (
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"

	"cloudburst/lab/outside"
)

// startWithCategory starts a program whose river has the category Shelf. The category contains
// four items of two feeds.
func startWithCategory(t *testing.T) (p *running, server *feedServer) {
	t.Helper()
	p, server = start(t, conf(t)), newFeedServer(t)
	now := time.Now()
	all := posts(3, "Book")
	all[0].Title = "\u05e1\u05e4\u05e8, a book"
	all[1].Text = "<p>" + fmt.Sprint("A chapter. ", "It is long. ") + "</p>"
	all[1].More = `<category>paper</category><category>ink</category><author>anna@example.org (Anna Example)</author><comments>` + server.URL + `/comments</comments>`
	p.follow("", server.feed("/books.xml", "Books", "", all...).url(), "Shelf")
	p.follow("", server.feed("/notes.xml", "Notes", "", post{Text: "<p>A note without a title.</p>", At: now.Add(-90 * time.Minute)}).url(), "Shelf")
	return p, server
}

// reads waits until the page of an item that contains words is open.
func (b *tab) reads(words string) {
	b.t.Helper()
	b.until("the reading view of "+words, fmt.Sprintf(`location.pathname.startsWith("/river/item/") && document.querySelector(".alone > .item").textContent.includes(%q)`, words))
}

func TestReadingViewMovesFromItemToItem(t *testing.T) {
	t.Parallel()
	p, server := startWithCategory(t)
	b := newTab(t, p.base)
	b.open("/river?category=Shelf")
	b.open(eval[string](b, `document.querySelector("#days .item a.at").getAttribute("href")`))
	b.reads("\u05e1\u05e4\u05e8")
	b.holds("title and text have their sizes", `getComputedStyle(document.querySelector("h1")).font.startsWith("650 28px") && getComputedStyle(document.querySelector(".e-content")).lineHeight === "29px"`)
	b.holds("a line has at most 66 characters", `document.querySelector(".e-content").getBoundingClientRect().width <= 66 * (() => { const c = document.createElement("canvas").getContext("2d"); c.font = getComputedStyle(document.querySelector(".e-content")).font; return c.measureText("0").width; })() + 1`)
	b.keys("k")
	b.until("a message states that this is the first item", `document.getElementById("toast").textContent === "This is the first item."`)
	b.keys("j")
	b.reads("A note without a title.")
	b.keys("j")
	b.reads("A chapter.")
	b.holds("author, feed and date are in the line below the title", `/Anna Example.*Books.*2 h ago/s.test(document.querySelector(".from").textContent)`)
	b.keys("k")
	b.reads("A note without a title.")

	b.keys("m")
	b.until("it is unread again", `document.querySelector(".readmark").textContent === "Mark read" && document.getElementById("news").textContent === "Marked unread"`)
	b.keys("s")
	b.until("it is starred", `document.querySelector(".acts .star").ariaPressed === "true" && document.getElementById("news").textContent === "Starred"`)
	b.keys("x")
	b.until("it is shown completely", `document.getElementById("toast").textContent === "This item is shown completely."`)
	b.keys("o")
	outside.Until(t, "the original is opened", func() bool { return server.requests("/post/notes.xml/1 ") == 1 })
	b.keys("u")
	b.until("u leads back to the category", `location.pathname + location.search === "/river?category=Shelf" && document.querySelectorAll("#days .item").length === 4`)
	b.holds("opened items are read, but not the one that was marked unread", `document.querySelectorAll("#days .item.read").length === 2`)

	// Opening the original from the river also marks the item as read.
	b.keys("j")
	b.keys("j")
	b.keys("j")
	b.keys("j")
	b.keys("o")
	b.until("it is read, and the server has it", `document.querySelectorAll("#days .item")[3].matches(".read") && document.getElementById("news").textContent === "Marked read"`)
	b.open("/river?category=Shelf")
	b.until("the mark remains", `document.querySelectorAll("#days .item.read").length === 3`)
	b.click("#days .item.read:last-child .readmark, #days .day:last-of-type .item:last-child .readmark")
	b.until("the button makes it unread", `document.querySelectorAll("#days .item.read").length === 2`)
}

func TestReadingViewIsUsableWithoutScripts(t *testing.T) {
	t.Parallel()
	p, _ := startWithCategory(t)
	b := newTab(t, p.base)
	command(b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	for _, width := range []int64{1280, 390} {
		b.size(width, 900)
		b.open("/river?category=Shelf")
		b.click("#days .item a.at")
		b.reads("\u05e1\u05e4\u05e8")
		b.click(".step a:last-child")
		b.reads("A note without a title.")
		b.click(`.pages a[rel="next"]`)
		b.reads("A chapter.")
		b.click(".plus summary")
		b.holds("tags and comments are behind +3", `document.querySelector(".plus summary").textContent.startsWith("+3") && document.querySelector(".plus .tag").checkVisibility()`)
		b.click(`.pages a[rel="prev"]`)
		b.reads("A note without a title.")
		b.holds("the link to the original is shown, and controls that need scripts are not", `document.querySelector(".acts a.open").checkVisibility() && !document.querySelector(".share").checkVisibility()`)
		b.click(".up")
		b.until("the link leads back", `location.pathname + location.search === "/river?category=Shelf"`)
		for _, wrong := range eval[[]string](b, tooWide) {
			t.Errorf("%d pixels wide: %s", width, wrong)
		}
	}
}
