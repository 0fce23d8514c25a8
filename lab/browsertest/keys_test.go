package browsertest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"

	"cloudburst/lab/outside"
	"cloudburst/protocol/rsscloud"
)

// at presses keys. It waits until the item with this title has the focus and is on the screen.
func (b *tab) at(keys, title string) {
	b.t.Helper()
	b.keys(keys)
	b.until("after "+keys+" the focus is on "+title, fmt.Sprintf(`document.activeElement.matches(".item") && document.activeElement.querySelector("h3")?.textContent.trim() === %q
		&& (({ top, bottom }) => bottom > 0 && top >= 0 && top < innerHeight)(document.activeElement.getBoundingClientRect())`, title))
}

// day starts a program that reads two feeds in a category. Each feed has four items from
// yesterday, and the items of the first feed are newer. Recent items would be from two different
// days if the test runs after midnight.
func day(t *testing.T) (p *running, server *feedServer, morning *servedFeed) {
	t.Helper()
	p, server = start(t, conf(t)), newFeedServer(t)
	midnight := time.Now().UTC().Truncate(24 * time.Hour)
	morning = server.feed("/morning.xml", "Morning Post", rsscloud.CloudAt(p.base).String(), postsBefore(midnight, 4, "Morning")...)
	evening := postsBefore(midnight, 4, "Evening")
	for i := range evening {
		evening[i].At = evening[i].At.Add(-5 * time.Hour)
	}
	evening[0].Text = "<p>" + strings.Repeat("A long story of many words. ", 40) + "</p><p>" + strings.Repeat("It goes on. ", 60) + "</p><p>The very end.</p>"
	p.follow("", morning.url(), "Day")
	p.follow("", server.feed("/evening.xml", "Evening Star", "", evening...).url(), "Day", "Night")
	return p, server, morning
}

func TestRiverCanBeReadByKeyboard(t *testing.T) {
	t.Parallel()
	p, server, morning := day(t)
	b := newTab(t, p.base)
	b.open("/river?category=Day")
	b.until("the page is live", `document.getElementById("live-text").textContent === "Live" && document.querySelectorAll("#days .item").length === 8`)

	b.at("j", "Morning, number 4")
	b.at("j", "Morning, number 3")
	b.at("j", "Morning, number 2")
	b.at("k", "Morning, number 3")
	b.at("n", "Evening, number 4")
	b.at("p", "Morning, number 4")
	b.holds("the focus can be seen", `getComputedStyle(document.activeElement, "::before").width === "3px"`)

	for i, key := range []string{"o", "v", kb.Enter} {
		b.keys(key)
		outside.Until(t, "the item is opened where it stands", func() bool { return server.requests("/post/morning.xml/4 ") == i+1 })
	}
	b.holds("the river is still shown", `location.pathname === "/river"`)

	b.at("n", "Evening, number 4")
	b.holds("it is cut", `!document.activeElement.textContent.includes("The very end.")`)
	b.keys("x")
	b.until("all of it is shown", `document.activeElement.textContent.includes("The very end.") && !document.activeElement.querySelector(".whole")`)

	b.keys("s")
	b.until("it is starred", `document.activeElement.querySelector(".star").ariaPressed === "true" && document.getElementById("news").textContent === "Starred"`)
	b.holds("so it is read", `document.activeElement.matches(".read") && document.activeElement.querySelector(".readmark").ariaPressed === "true"`)
	b.keys("m")
	b.until("m makes it unread", `!document.activeElement.matches(".read") && document.getElementById("news").textContent === "Marked unread"`)
	b.keys("j")
	b.keys("m")
	b.until("m marks the next one read", `document.activeElement.matches(".read") && document.activeElement.textContent.includes("Evening, number 3") && document.getElementById("news").textContent === "Marked read"`)
	b.keys("m")
	b.until("and unread again", `!document.activeElement.matches(".read") && document.getElementById("news").textContent === "Marked unread"`)
	b.keys("u")
	b.until("u leads to the next unread item", `document.activeElement.textContent.includes("Evening, number 2")`)
	b.open("/river?category=Day")
	b.until("the page is live", `document.getElementById("live-text").textContent === "Live"`)
	b.keys(".")
	b.until("nothing is new", `document.getElementById("toast").textContent === "No new items."`)

	b.at("j", "Morning, number 4") // new items are announced but not shown while an item has the focus
	morning.add(post{Title: "Breakfast", At: time.Now()})
	p.ping(morning.url())
	b.until("something is new", `!pill.hidden`)
	b.at(".", "Breakfast")

	// In a text field, keys type text and are not shortcuts.
	b.keys("/")
	b.until("the search has the focus", `document.activeElement.id === "q"`)
	b.keys("jkmsg?.")
	if got := eval[string](b, `document.activeElement.value`); got != "jkmsg?." {
		t.Errorf("in the field is %q", got)
	}
	b.holds("no key did anything", `!document.querySelector("dialog[open]") && location.search === "?category=Day"`)
	b.keys(kb.Escape)
	b.until("Escape leaves the field", `document.activeElement === document.body`)

	b.click("#keyhint")
	b.until("a button shows the keys", `document.getElementById("keys").open`)
	b.keys(kb.Escape)
	b.until("Escape closes them", `!document.getElementById("keys").open`)
	b.keys("?")
	b.until("the keys are shown", `document.getElementById("keys").open`)
	b.keys("j")
	b.holds("keys below wait", `document.activeElement.closest("dialog")`)
	b.keys(kb.Escape)
	b.until("Escape closes them", `!document.getElementById("keys").open`)

	b.keys("g")
	b.keys("s")
	b.until("g s shows what is starred", `location.search === "?starred=1" && document.querySelectorAll("#days .item").length === 1`)
	b.keys("g")
	b.keys("r")
	b.until("g r shows the river", `location.pathname === "/river" && location.search === "" && document.querySelectorAll("#days .item").length > 8`)

	// Opening an item with the key o has marked the item as read.
	b.open("/river?unread=1&category=Day")
	b.holds("it is not among the unread", `document.querySelectorAll("#days .item").length === 8 && !document.getElementById("days").textContent.includes("Morning, number 4")`)
	b.keys("A")
	b.until("Shift+A marks all read", `document.querySelector(".undo p")?.textContent.trim() === "Marked 8 items read."`)
	b.keys("A")
	b.until("nothing is left to mark", `document.getElementById("toast").textContent === "Everything here is read."`)
	b.click(".undo button")
	b.until("that is undone", `document.querySelectorAll("#days .item").length === 8`)

	b.click("#display summary")
	b.click("#v-marks")
	b.click("#display .go button")
	b.until("tracking is off", `document.querySelector("#days .item") && !document.querySelector(".marking")`)
	b.keys("m")
	b.until("a visible message states that read tracking is off", `/Read tracking is off/.test(document.getElementById("toast").textContent) && document.getElementById("toast").checkVisibility()`)
	b.click("#toast button")
	b.until("it leads to where it is turned on", `document.getElementById("display").open && document.activeElement.id === "v-marks" && !document.getElementById("toast").checkVisibility()`)
	b.keys("g")
	b.keys("f")
	b.until("g f shows the feeds", `location.pathname === "/feeds"`)
}

func TestFeedPageKeysMoveBetweenItems(t *testing.T) {
	t.Parallel()
	p, server, _ := day(t)
	b := newTab(t, p.base)
	b.open("/river?category=Day")
	b.at("j", "Morning, number 4")
	b.at(kb.PageDown, "Morning, number 3")
	b.at(kb.PageDown, "Morning, number 2")
	b.at(kb.PageUp, "Morning, number 3")
	b.keys(kb.Tab)
	b.until("Tab moves the focus into the item", `document.activeElement.closest(".item")?.querySelector("h3").textContent === "Morning, number 3" && document.activeElement.matches("a")`)
	b.at("j", "Morning, number 2")

	// At the last item of the page, the key j loads older items.
	id := p.follow("", server.feed("/many.xml", "Many", "", posts(60, "Many")...).url()).ID
	b.open(fmt.Sprint("/river?source=", id))
	eval[bool](b, `[...document.querySelectorAll(".item")].at(-1).focus(), true`)
	b.at("j", "Many, number 10")
	b.holds("older items are shown", `document.querySelectorAll(".item").length === 60 && !document.getElementById("older")`)
	b.at("k", "Many, number 11")
}

// pages contains the pages that key sequences starting with g open; key: second key of the
// sequence.
var pages = map[string]string{"r": "/river", "u": "/river?unread=1", "s": "/river?starred=1", "f": "/feeds", "w": "/write", "h": "/hub", "l": "/log", "t": "/topics", "d": "/docs", "a": "/account"}

func TestEveryDocumentedKeyPerformsItsActionOrShowsWhyNot(t *testing.T) {
	t.Parallel()
	p, b := newWriter(t)
	server := newFeedServer(t)
	p.follow("alice", server.feed("/news.xml", "News", "", posts(3, "News")...).url())
	listed := func() []string {
		return eval[[]string](b, `[...document.querySelectorAll("#keys dt")].map((dt) => [...dt.children].map((k) => k.textContent).join(" "))`)
	}
	type page struct{ path, want string }
	for _, c := range []page{
		{"/river", "j k,n p,o v,Enter,x,s,m,u,Shift+A,.,r,c,/,?"},
		{eval[string](b, `fetch("/river").then((r) => r.text()).then((t) => t.match(/\/river\/item\/\d+/)[0])`), "j k,o v,x,s,m,u,f,r,c,/,?"},
		{"/feeds", "r,c,/,?"}, {"/write/posts", "r,c,/,?"}, {"/log", "r,c,/,?"},
	} {
		b.open(c.path)
		want, got := strings.Split(c.want, ","), listed()
		var single, sequences []string
		for _, k := range got {
			if strings.HasPrefix(k, "g ") {
				sequences = append(sequences, k[2:])
			} else {
				single = append(single, k)
			}
		}
		if !slices.Equal(single, want) || len(sequences) != len(pages) {
			t.Errorf("%s lists %q and g %q", c.path, single, sequences)
		}
		// On a page where a shortcut has no effect, a message states the reason.
		for _, k := range []string{"j", "k", "n", "p", "x", "s", "m", "u", "A", "."} {
			if slices.ContainsFunc(single, func(row string) bool {
				return row == k || strings.Contains(" "+row+" ", " "+k+" ") || row == "Shift+A" && k == "A"
			}) {
				continue
			}
			eval[bool](b, `document.getElementById("toast").textContent = "", true`)
			b.keys(k)
			b.until(k+" shows a message on "+c.path, `document.getElementById("toast").textContent !== "" && document.getElementById("toast").checkVisibility()`)
		}
		b.holds("a button shows the keys", `document.getElementById("keyhint").checkVisibility()`)
	}
	for key, path := range pages {
		b.open("/feeds")
		b.keys("g" + key)
		b.until("g "+key, fmt.Sprintf(`location.pathname + location.search === %q`, path))
	}
	b.open("/feeds")
	b.keys("gz")
	b.until("g z shows a message", `document.getElementById("toast").textContent.startsWith("There is no page for g z.")`)
	b.keys("c")
	b.until("c composes", `location.pathname === "/write"`)
}
