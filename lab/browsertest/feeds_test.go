package browsertest

import (
	"fmt"
	"testing"

	"github.com/chromedp/cdproto/emulation"
)

func TestSelectedFeedsAreUnfollowedOrMovedTogether(t *testing.T) {
	t.Parallel()
	for _, scripts := range []bool{true, false} {
		for _, width := range []int64{1280, 390} {
			t.Run(fmt.Sprintf("%d wide, scripts %v", width, scripts), func(t *testing.T) {
				t.Parallel()
				p, server := start(t, conf(t)), newFeedServer(t)
				for _, name := range []string{"Apple", "Birch", "Cedar"} {
					p.follow("", server.feed("/"+name+".xml", name, "", posts(2, name)...).url())
				}
				b := newTab(t, p.base)
				b.size(width, 900)
				if !scripts {
					command(b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
				}
				b.open("/feeds")
				b.holds("the list has no checkboxes", `!document.querySelector("main [type=checkbox]") && !document.querySelector(".source .kind")`)
				b.click(`a[href="/feeds?select=1"]`)
				b.until("feeds can be ticked", `document.querySelectorAll("[name=feed]").length >= 3`)
				tick := func(name string) {
					b.click(fmt.Sprintf(`[name=feed][aria-label="Select %s"]`, name))
				}
				tick("Apple")
				tick("Birch")
				if scripts {
					b.holds("they are counted", `document.getElementById("x-count").textContent === "2 ticked"`)
				}
				b.fill("#x-new", "Trees")
				b.click(`button[value="move"]`)
				b.until("they are moved", `document.body.innerText.includes("Moved 2 feeds to the category Trees.")`)
				b.holds("their category is a group", `[...document.querySelectorAll(".group h2")].some((e) => e.textContent.startsWith("Trees"))`)
				b.click(`a[href="/feeds?select=1"]`)
				b.until("feeds can be ticked again", `document.querySelectorAll("[name=feed]").length >= 3`)
				tick("Apple")
				tick("Cedar")
				b.click(`button[value="unfollow"]`)
				b.until("they are unfollowed", `document.querySelector(".undo")?.textContent.includes("You unfollowed 2 feeds.")`)
				b.click(".undo button")
				b.until("they are followed again", `document.body.innerText.includes("you follow 2 feeds again") && document.body.innerText.includes("Cedar")`)
				b.holds("nothing is wider than the screen", `document.documentElement.scrollWidth <= innerWidth`)
				if scripts {
					b.open("/feeds?select=1")
					b.click("#x-all")
					b.holds("all are ticked", `[...document.querySelectorAll("[name=feed]")].every((e) => e.checked)`)
				}
			})
		}
	}
}

func TestAuthorsOfTheServerAreOfferedToFollow(t *testing.T) {
	t.Parallel()
	p := start(t, conf(t))
	p.author(t, "alice").write("Good morning.")
	bob := p.author(t, "bob")
	bob.open("/feeds/start")
	bob.holds("alice is offered", `[...document.querySelectorAll("form.start fieldset")].some((e) => e.textContent.includes("People on this server") && e.textContent.includes("alice"))`)
	bob.click(`[name=feed][value$="/alice/rss.xml"]`)
	bob.click(`form.start .go button`)
	bob.until("her post is in the river", `location.pathname === "/river" && document.body.innerText.includes("Good morning.")`)
	bob.open("/feeds/start")
	bob.holds("she is followed", `document.querySelector('[name=feed][value$="/alice/rss.xml"]').disabled`)
}

func TestMissingIconIsReplacedByALetterWithoutScripts(t *testing.T) {
	t.Parallel()
	p, server := start(t, conf(t)), newFeedServer(t)
	server.put("/dead.png", "status", "404")
	p.follow("", server.feed("/dead.xml", "Feed that is dead", fmt.Sprintf("<image><url>%s/dead.png</url><title>x</title><link>%[1]s/</link></image>", server.URL), posts(2, "News")...).url())
	b := newTab(t, p.base)
	b.expect("502") // the missing icon has this status
	command(b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	b.open("/feeds")
	b.until("the letter covers the broken image", `(() => { const img = document.querySelector(".tile img"); return img.complete && !img.naturalWidth && getComputedStyle(img, "::after").content === '"F"'; })()`)
}
