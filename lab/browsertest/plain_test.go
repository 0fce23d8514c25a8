package browsertest

import (
	"slices"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp/kb"
)

// announced returns a condition: the page announces a stored change. Without scripts the
// condition is always true, because each change loads a new page without an announcement.
func announced(scripts bool, words string) string {
	if !scripts {
		return "true"
	}
	return `document.getElementById("news").textContent === "` + words + `"`
}

// marked stars items and marks them as read, with scripts or without. It checks that an item has
// the same marks on all pages.
func (b *tab) marked(scripts bool) {
	b.t.Helper()
	b.open("/river?category=Day")
	b.holds("marks and counts are shown", `document.querySelector(".marking") && document.querySelector(".rail .num")`)
	b.holds("8 are unread", `document.querySelector(".rail [aria-current] .num").textContent === "8 unread"`)
	b.click(".item:nth-of-type(2) .star")
	b.until("it is starred", `document.querySelectorAll(".item")[1].querySelector(".star").ariaPressed === "true" && `+announced(scripts, "Starred"))
	b.click(".item:nth-of-type(3) .readmark")
	b.until("it is read", `document.querySelectorAll(".item")[2].matches(".read") && document.querySelectorAll(".item")[2].querySelector(".readmark").ariaPressed === "true" && `+announced(scripts, "Marked read"))
	b.open("/river?starred=1")
	if got := b.texts("#days .item h3"); !slices.Equal(got, []string{"Morning, number 3"}) {
		b.t.Errorf("starred are %q", got)
	}
	b.click(".star")
	if away := "its star is taken away"; scripts {
		b.until(away, announced(scripts, "Star removed"))
	} else {
		b.until(away, `document.querySelector("#empty")`)
	}
	b.open("/river?starred=1")
	b.holds("nothing is starred", `document.querySelector("#empty").textContent.includes("No starred items yet")`)
	b.open("/river?category=Day&unread=1")
	b.holds("read items are hidden", `document.querySelectorAll(".item").length === 7`)
	b.open("/river?category=Day")
	b.holds("7 are unread", `document.querySelector(".rail [aria-current] .num").textContent === "7 unread"`)
	b.holds("the button counts the items that it marks", `document.querySelector(".allread button").textContent === "Mark all 7 read"`)
	b.click(".allread button")
	b.until("all are read", `document.querySelectorAll(".item.read").length === 8 && !document.querySelector(".rail [aria-current] .num")`)
	b.holds("the message counts the marked items", `document.querySelector(".undo p").textContent.trim() === "Marked 7 items read." && !document.querySelector(".allread")`)
	b.click(".undo button")
	b.until("that is undone", `document.querySelectorAll(".item.read").length === 1 && document.querySelector(".rail [aria-current] .num").textContent === "7 unread"`)
	b.holds("the message confirms the undo", `document.querySelector(".note").textContent === "Undone: 7 items unread again."`)
}

func TestStarsAndReadMarksAreStored(t *testing.T) {
	t.Parallel()
	p, _, _ := day(t)
	newTab(t, p.base).marked(true)
}

func TestFeedAndRiverPagesAreUsableWithoutScripts(t *testing.T) {
	t.Parallel()
	p, server, _ := day(t)
	b := newTab(t, p.base)
	command(b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	b.marked(false)
	b.holds("scripts do not run", `document.getElementById("live").hidden`)

	// The user follows a feed with the form. The items of the feed fill several pages.
	b.open("/feeds/add")
	b.fill("#a-url", server.feed("/many.xml", "Many", "", posts(70, "One of many")...).url())
	b.click(`form[action="/feeds/add"] .go button`)
	b.until("it is followed", `document.querySelector("h1").textContent.includes("Many")`)
	b.click(`.acts a[href^="/river?source="]`)
	b.until("its items are there", `document.querySelectorAll(".item").length === 50`)
	b.click("#older a")
	b.until("older ones are on the next page", `document.querySelectorAll(".item").length === 20 && /before=/.test(location.search)`)
	b.click(".pages a")
	b.until("the undo button is shown", `document.querySelectorAll(".item").length === 50`)

	// The time of an item is a link to the page of the item.
	b.open("/river?category=Night")
	b.click(".item .whole")
	b.until("all of it is on a page of its own", `/^\/river\/item\/\d+$/.test(location.pathname) && document.body.textContent.includes("The very end.")`)
	b.click(".star")
	b.until("the item is starred on its own page", `/^\/river\/item\/\d+$/.test(location.pathname) && document.querySelector(".star").ariaPressed === "true"`)

	p.indexed("evening", 4)
	b.open("/river")
	b.fill("#q", "evening 3")
	b.keys(kb.Enter)
	b.until("words are found", `document.querySelectorAll(".item").length === 1`)

	// Forms change the categories and the name of a feed.
	b.open("/feeds/categories")
	b.click(`form[action="/feeds/categories/public"] button`)
	b.until("a category is public", `document.querySelector(".rows .k-notify")`)
	b.click(`.rows .more a[href^="/rivers/"]`)
	b.until("it is a river for everybody", `/^\/rivers\/server\/\w+$/.test(location.pathname) && document.querySelectorAll(".item").length > 0`)
}
