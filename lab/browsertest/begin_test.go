package browsertest

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestNewServerShowsItsTestFeedAndOffersFeeds(t *testing.T) {
	t.Parallel()
	p := start(t, conf(t))
	b := newTab(t, p.base)
	b.open("/river")
	b.until("the river shows the test feed", `document.querySelectorAll("#days .item").length >= 8`)
	b.holds("the item names its feed", `document.querySelector("#days .item .from").textContent.includes("Cloudburst test feed")`)
	b.until("the page is live", `document.getElementById("live-text").textContent === "Live"`)

	b.click(`nav a[href="/feeds"]`)
	b.until("the followed feed is listed", `location.pathname === "/feeds" && document.querySelectorAll(".rows .source").length === 1`)
	b.click(`.note a[href="/feeds/start"]`)
	b.until("feeds are offered", `location.pathname === "/feeds/start" && document.querySelectorAll("form.start [name=feed]").length > 10`)
	b.holds("the followed feed is ticked", `document.querySelector("#w-test").checked && document.querySelector("#w-test").disabled`)
	b.holds("a link leads to the import", `document.querySelector('main a[href="/feeds/import"]')`)
	b.holds("a link leads to the form for a URL", `document.querySelector('main a[href="/feeds/add"]')`)

	// The river of a user without feeds links to the page that offers feeds. The user follows
	// feeds on this page.
	b.click(`nav a[href="/feeds"]`)
	b.click(`.rows .source a`)
	b.click(`form[action$="/unfollow"] button`)
	b.until("the feed is unfollowed", `location.pathname === "/feeds" && document.querySelectorAll(".rows .source").length === 0`)
	b.open("/river")
	b.click(`#empty a[href="/feeds/start"]`)
	b.until("the test feed is proposed", `document.querySelector("#w-test")?.checked && !document.querySelector("#w-test").disabled`)
	b.click(`form.start .go button`)
	b.until("the river shows the test feed again", `location.pathname === "/river" && document.querySelectorAll("#days .item").length >= 8`)
}

func TestFeedIsDiscoveredFromItsPageURL(t *testing.T) {
	t.Parallel()
	p, server := start(t, conf(t)), newFeedServer(t)
	server.feed("/news.xml", "The News", "", posts(3, "News")...)
	server.feed("/sports.xml", "The Sports", "", posts(3, "Sport")...)
	page := server.put("/paper", "text/html; charset=utf-8", `<!doctype html><title>The Paper</title>
<link rel="alternate" type="application/rss+xml" title="The News" href="/news.xml"><link rel="alternate" type="application/rss+xml" title="The Sports" href="sports.xml"><p>Read us.</p>`)
	b := newTab(t, p.base)
	b.open("/feeds")
	b.click(`a.button[href="/feeds/add"]`)
	b.until("the form is there", `document.querySelector("#a-url")`)
	b.fill("#a-url", page)
	b.fill("#a-new", "Papers")
	b.click(`form[action="/feeds/add"] .go button`)
	b.until("both feeds of the page are offered", `document.querySelectorAll("input[type=radio][name=url]").length === 2`)
	b.holds("the first is chosen", `document.querySelector("input[name=url]").checked`)
	b.click(`input[value$="/sports.xml"]`)
	b.click(`form[action="/feeds/add"] button`)
	b.until("the page of the followed feed opens", `/^\/feeds\/\d+$/.test(location.pathname) && document.querySelector("h1").textContent.includes("The Sports")`)
	b.holds("its items are listed", `document.querySelectorAll(".items li").length === 3 && document.querySelector("main").innerText.includes("3 items are in your river")`)
	b.click(`.acts a[href^="/river?source="]`)
	b.until("its items are there", `document.querySelectorAll("#days .item").length === 3`)
	if got := b.texts("#days .item h3"); !slices.IsSortedFunc(got, func(x, y string) int { return strings.Compare(y, x) }) || got[0] != "Sport, number 3" {
		t.Errorf("its items are %q", got)
	}
	b.open("/river?category=Papers")
	b.holds("the items are in its category", `document.querySelectorAll("#days .item").length === 3`)
	b.holds("the category is in the river", `document.querySelector('.rail a[href="/river?category=Papers"]')`)

	// Adding the same feed again changes nothing. An invalid URL is reported next to the field.
	b.open("/feeds/add")
	b.fill("#a-url", server.URL+"/sports.xml")
	b.click(`form[action="/feeds/add"] .go button`)
	b.until("the page reports that the feed is followed already", `/done=had/.test(location.search)`)
	b.expect("404") // the page with the error has status 404
	b.open("/feeds/add")
	b.fill("#a-url", server.URL+"/nothing-to-follow")
	b.click(`form[action="/feeds/add"] .go button`)
	b.until("an error is next to the field", `document.querySelector("#a-url-wrong").textContent.trim() !== "" && document.querySelector("#a-url").value.endsWith("/nothing-to-follow")`)
	b.holds("the field is marked", `document.querySelector("#a-url").ariaInvalid === "true"`)
}

// TestFirstAccountIsSignedInUnderEveryNameOfTheServer opens the set-up link and the page for a
// new post under different host names of this machine.
func TestFirstAccountIsSignedInUnderEveryNameOfTheServer(t *testing.T) {
	t.Parallel()
	p := start(t, conf(t))
	link := regexp.MustCompile(`http://\S+/setup\?token=\S+`).FindString(p.printed.String())
	if !strings.HasPrefix(link, p.base+"/") {
		t.Fatalf("the link to set up is %q; the listener is at %s", link, p.base)
	}
	other := strings.Replace(p.base, "127.0.0.1", "localhost", 1)
	b := newTab(t, p.base)
	b.open(strings.Replace(link, p.base, other, 1))
	b.holds("the page has the canonical host name", fmt.Sprintf(`location.origin === %q`, p.base))
	b.fill("[name=name]", "alice")
	b.fill("[name=password]", "correct horse battery")
	b.click("main form button:not([type=button])")
	b.until("the account is created", `location.pathname !== "/setup"`)
	for _, origin := range []string{other, p.base} {
		b.open(origin + "/write")
		b.until("the page for new posts opens", `location.pathname === "/write"`)
		b.holds("it is signed in", `document.querySelector('a[href="/account"]') && document.querySelector("textarea")`)
	}
}
