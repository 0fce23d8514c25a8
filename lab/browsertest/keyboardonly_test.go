package browsertest

import (
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"

	"cloudburst/client"
)

// tabTo presses Tab until an element that matches selector has the focus. The test fails if the
// focus is not visible on the element.
func (b *tab) tabTo(selector string) {
	b.t.Helper()
	const most = 150 // more presses than any page has focusable elements
	for range most {
		b.keys(kb.Tab)
		if eval[bool](b, fmt.Sprintf(`document.activeElement.matches(%q)`, selector)) {
			b.holds("the focus on "+selector+" is visible", `(({ outlineStyle, outlineWidth }) => outlineStyle !== "none" && parseFloat(outlineWidth) >= 1)(getComputedStyle(document.activeElement))
				&& document.activeElement.checkVisibility()`)
			return
		}
	}
	b.t.Fatalf("the key Tab does not lead to %s within %d presses", selector, most)
}

// enter moves the focus to an element with Tab, presses Enter and waits until expression is true.
func (b *tab) enter(selector, what, expression string) {
	b.t.Helper()
	b.tabTo(selector)
	b.keys(kb.Enter)
	b.until(what, expression)
}

func TestEveryTaskCanBeCompletedByKeyboard(t *testing.T) {
	t.Parallel()
	p, server := start(t, conf(t)), newFeedServer(t)
	if _, err := (&client.Client{Base: p.admin}).AddUser(t.Context(), "alice", aPassword); err != nil {
		t.Fatal(err)
	}
	feed := server.feed("/feed.xml", "Morning Post", "", postsBefore(time.Now().UTC().Truncate(24*time.Hour), 3, "Morning")...)
	b := newTab(t, p.base)
	b.open("/login")
	b.tabTo("[name=name]")
	b.keys("alice")
	b.tabTo("[name=password]")
	b.keys(aPassword + kb.Enter)
	b.until("alice is signed in", `location.pathname.startsWith("/river")`)

	b.enter(`nav a[href="/feeds"]`, "the feeds are shown", `location.pathname === "/feeds"`)
	b.enter(`a[href="/feeds/add"]`, "the form is shown", `location.pathname === "/feeds/add"`)
	b.tabTo("main input[name=url]")
	b.keys(feed.url() + kb.Enter)
	b.until("the feed is followed", `/Morning Post/.test(document.querySelector("main h1").textContent)`)
	b.enter(`nav a[href="/river"]`, "its items are in the river", `location.pathname === "/river" && document.getElementById("days")?.textContent.includes("Morning, number 3")`)
	b.keys("/")
	b.keys("Morning" + kb.Enter)
	b.until("the results are shown", `location.search.includes("q=Morning") && document.querySelectorAll("#days .item").length === 3`)
	b.enter(`#days .item .star`, "the first item is starred", `document.querySelector("#days .item .star").ariaPressed === "true"`)
	b.enter("#days .item a.at", "the reading view is shown", `/^\/river\/.*\d/.test(location.pathname)`)
	b.keys("g")
	b.keys("r")
	b.until("the river is shown", `location.pathname === "/river" && location.search === ""`)
	b.keys("A")
	b.until("everything is marked read", `document.querySelector(".undo p")`)
	b.enter(".undo button", "that is undone", `!document.querySelector(".undo") || /Undone/.test(document.body.textContent)`)
	b.enter("#display summary", "the settings are open", `document.getElementById("display").open`)
	b.tabTo("#v-theme")
	b.keys("D")
	b.enter("#display .go button", "the colours are dark", `document.querySelector('#v-theme').value === "dark" && !document.getElementById("display").open`)
	b.enter(".me summary", "the menu of the account is open", `document.querySelector(".me details").open`)
	b.enter(`.me form[action="/logout"] button`, "alice is signed out", `document.querySelector(".me a[href='/login']")`)
}
