package browsertest

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"

	"cloudburst/client"
	"cloudburst/lab/outside"
	"cloudburst/protocol/rsscloud"
)

// watchNews is a script that stores the time when new items are announced or shown, in Unix
// milliseconds.
const watchNews = `(() => {
	const note = () => { window.newsAt ??= Date.now(); };
	new MutationObserver(() => { if (!pill.hidden) note(); }).observe(pill, { attributes: true });
	new MutationObserver((list) => { if (list.some((m) => [...m.addedNodes].some((n) => n.matches?.(".item, .day")))) note(); }).observe(document.getElementById("days"), { childList: true, subtree: true });
	return true;
})()`

// box is the position and size of an element in the window, in pixels. Scroll is how far the page
// is scrolled.
type box struct{ X, Y, Width, Height, Scroll float64 }

func (b *tab) box(selector string) box {
	b.t.Helper()
	return eval[box](b, fmt.Sprintf(`(({ x, y, width, height }) => ({ X: x, Y: y, Width: width, Height: height, Scroll: scrollY }))(document.querySelector(%q).getBoundingClientRect())`, selector))
}

// delay returns the time from the given moment until new items were announced or shown. The page
// must run watchNews.
func (b *tab) delay(from time.Time) time.Duration {
	b.t.Helper()
	return time.UnixMilli(eval[int64](b, `window.newsAt`)).Sub(from)
}

func (p *running) follow(user, feed string, categories ...string) *client.Source {
	p.t.Helper()
	got, err := p.river(user).AddSource(p.t.Context(), client.SourceRequest{URL: feed, Categories: categories})
	if err != nil || got.Source == nil {
		p.t.Fatalf("follow %s: %+v %v", feed, got, err)
	}
	return got.Source
}

func TestLiveItemDoesNotShiftTheOpenPage(t *testing.T) {
	t.Parallel()
	p, server := start(t, conf(t)), newFeedServer(t)
	feed := server.feed("/pushed.xml", "Pushed", rsscloud.CloudAt(p.base).String(), posts(20, "Talk")...)
	p.follow("", feed.url(), "Day")
	b := newTab(t, p.base)
	b.open("/river?category=Day") // without the test feed, which adds an item each quarter of an hour
	b.until("the page is live", `document.getElementById("live-text").textContent === "Live" && document.querySelectorAll("#days .item").length >= 20`)
	eval[bool](b, watchNews)

	// The user scrolls to the middle of the page.
	const reads = "#days .item:nth-of-type(7)"
	eval[bool](b, fmt.Sprintf(`document.querySelector(%q).scrollIntoView(), document.querySelector(%q).focus({ preventScroll: true }), true`, reads, reads))
	id := eval[string](b, fmt.Sprintf(`document.querySelector(%q).id`, reads))
	before := b.box("#" + id)
	if before.Scroll < 100 {
		t.Fatalf("the page is too short to scroll: %+v", before)
	}
	feed.add(post{Title: "Hot news", Text: "<p>It has just happened.</p>"})
	at := time.Now()
	p.ping(feed.url())
	b.until("the button announces the new item", `!pill.hidden`)
	t.Logf("ping to pill: %v", b.delay(at).Round(time.Millisecond))
	b.holds("the button counts the new item", `pill.textContent === "1 new"`)
	b.holds("it is on the screen", `(({ top, bottom }) => top >= 0 && bottom <= innerHeight)(pill.getBoundingClientRect())`)
	b.holds("the title counts it", `document.title.startsWith("(1) ")`)
	b.holds("the live region announces it", `document.getElementById("news").textContent === "1 new"`)
	b.holds("the item waits", `!document.getElementById("days").textContent.includes("Hot news")`)
	if after := b.box("#" + id); after != before {
		t.Errorf("what is being read moved from %+v to %+v", before, after)
	}
	b.holds("the focus does not move", `document.activeElement.id === "`+id+`"`)

	b.click("#pill")
	b.until("the item is shown", `document.querySelector("#days .item h3").textContent.trim() === "Hot news"`)
	b.holds("the page is at its top", `scrollY === 0`)
	b.holds("the item has the focus", `document.activeElement === document.querySelector("#days .item")`)
	b.holds("it begins a group of its feed", `document.querySelector("#days .item .from")?.textContent.includes("Pushed")`)
	b.holds("the button is gone", `pill.hidden && !document.title.startsWith("(")`)

	// Edits of visible items are also announced first, and shown later.
	feed.posts[0].Text = "<p>It has not happened after all.</p>"
	feed.publish()
	p.ping(feed.url())
	b.until("the edit is announced", `document.querySelector("#days .item .held")`)
	b.holds("its text waits", `document.querySelector("#days .item .e-content").textContent.includes("just happened")`)
	b.click("#days .item .held")
	b.until("the edit is shown", `document.querySelector("#days .item .e-content").textContent.includes("after all") && document.querySelector("#days .item .edited")`)
	b.holds("the page has it once", `document.querySelectorAll("#days .item").length === new Set([...document.querySelectorAll("#days .item")].map((i) => i.id)).size`)
}

func TestNewItemsAppearAutomaticallyAtTheTopOfThePage(t *testing.T) {
	t.Parallel()
	p, server := start(t, conf(t)), newFeedServer(t)
	feed := server.feed("/pushed.xml", "Pushed", rsscloud.CloudAt(p.base).String(), posts(20, "Talk")...)
	p.follow("", feed.url(), "Day")
	b := newTab(t, p.base)
	b.open("/river?category=Day") // without the test feed, which adds an item each quarter of an hour
	b.until("the page is live", `document.getElementById("live-text").textContent === "Live" && document.querySelectorAll("#days .item").length >= 20`)
	top := func(title string) string {
		return fmt.Sprintf(`document.querySelector("#days .item h3").textContent.trim() === %q`, title)
	}
	news := func(title string) {
		t.Helper()
		feed.add(post{Title: title})
		p.ping(feed.url())
	}
	news("At the top")
	b.until("it appears", top("At the top"))
	b.holds("it fades in, without a button", `document.querySelector("#days .item.fresh") && pill.hidden && !document.title.startsWith("(")`)
	b.holds("a screen reader reports it", `document.getElementById("news").textContent === "1 new"`)
	b.holds("the page and the focus do not change", `scrollY === 0 && document.activeElement === document.body`)

	// New items are not shown while the user selects text, has the focus in an item, or has
	// scrolled.
	for state, c := range map[string][2]string{
		"selected": {`getSelection().selectAllChildren(document.querySelector("#days .item h3"))`, `getSelection().removeAllRanges()`},
		"focused":  {`document.querySelector("#days .item .star, #days .item a").focus()`, `document.activeElement.blur()`},
		"scrolled": {`scrollTo(0, 300)`, `scrollTo(0, 0)`},
	} {
		eval[bool](b, c[0]+", true")
		was := eval[string](b, `document.querySelector("#days .item").id`)
		news("While " + state)
		b.until("the item is announced while the page is "+state, `!pill.hidden && pill.textContent === "1 new"`)
		b.holds("the post is scheduled", fmt.Sprintf(`document.querySelector("#days .item").id === %q`, was))
		eval[bool](b, c[1]+", true")
		b.click("#pill")
		b.until("it is shown", top("While "+state))
		eval[bool](b, `document.activeElement.blur(), true`)
	}
}

func TestSavedPostAppearsLiveForASignedInUser(t *testing.T) {
	t.Parallel()
	p := start(t, conf(t))
	const password = "correct horse battery"
	for _, name := range []string{"alice", "bob"} { // alice, the first user, owns the river of the server
		if _, err := (&client.Client{Base: p.admin}).AddUser(t.Context(), name, password); err != nil {
			t.Fatal(err)
		}
	}
	server := newFeedServer(t)
	save := func(item string) {
		t.Helper()
		doc := fmt.Sprintf(`<rss version="2.0"><channel><title>Alice writes</title><link>%s/</link><description>x</description><item><title>%s</title><guid isPermaLink="false">%s</guid></item></channel></rss>`, server.URL, item, item)
		req, err := http.NewRequest(http.MethodPut, p.base+"/alice/rss.xml", bytes.NewReader([]byte(doc)))
		if err != nil {
			t.Fatal(err)
		}
		req.SetBasicAuth("alice", password)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		if body, _ := io.ReadAll(res.Body); res.StatusCode/100 != 2 {
			t.Fatalf("put: %d %s", res.StatusCode, body)
		}
	}
	save("The first")
	b := newTab(t, p.base)
	b.open("/river")
	b.until("who is not signed in is asked to", `location.pathname === "/login"`)
	b.fill("#c-name", "bob")
	b.fill("#c-password", password)
	b.click("form[action='/login'] button")
	b.until("his river opens", `location.pathname === "/river" && document.querySelector("#empty a[href='/feeds/start']")`)
	b.open("/feeds/add")
	b.fill("#a-url", p.base+"/alice/rss.xml")
	b.click(`form[action="/feeds/add"] .go button`)
	b.until("he follows it", `/^\/feeds\/\d+$/.test(location.pathname)`)
	b.open("/river")
	b.until("the page is live", `document.getElementById("live-text").textContent === "Live" && document.querySelectorAll("#days .item").length === 1`)
	for i, title := range []string{"The second", "The third", "The fourth"} {
		// The program reads a feed at most once per second, even if more pings arrive.
		b.until("a second passes", `Date.now() - (window.newsAt ?? performance.timeOrigin) > 1100`)
		eval[bool](b, `window.newsAt = undefined, true`)
		if i == 0 {
			eval[bool](b, watchNews)
		}
		at := time.Now()
		save(title)
		answered := time.Since(at)
		b.until("the post is shown", fmt.Sprintf(`document.querySelector("#days .item h3").textContent.trim() === %q`, title))
		t.Logf("%s: on the page %v after its PUT began, which was answered after %v", title, b.delay(at).Round(time.Millisecond), answered.Round(time.Millisecond))
	}
	b.holds("all items are shown", `document.querySelectorAll("#days .item").length === 4`)

	// The session ends in another window. The server rejects further changes, and the page
	// reports this.
	eval[int](b, `fetch("/logout", { method: "POST" }).then((r) => r.status)`)
	b.click(".star")
	b.until("the star is reset", `document.querySelector(".star").ariaPressed === "false" && /could not be saved/.test(document.getElementById("toast").textContent)`)
	b.open("/account")
	b.until("he is signed out", `!document.querySelector(".me").textContent.includes("bob")`)
	b.open("/river")
	b.until("his river is no longer accessible", `location.pathname === "/login"`)
}

func TestItemsMissedWhileDisconnectedAppearAfterReconnecting(t *testing.T) {
	t.Parallel()
	server, proxy := newFeedServer(t), newProxy(t)
	cfg := conf(t)
	cfg.PublicURL = proxy.url()
	p := start(t, cfg)
	proxy.connect(p.base)
	feed := server.feed("/pushed.xml", "Pushed", rsscloud.CloudAt(proxy.url()).String(), posts(3, "Talk")...)
	p.follow("", feed.url())
	b := newTab(t, proxy.url())
	for _, part := range []string{"net::ERR_EMPTY_RESPONSE", "net::ERR_CONNECTION", "net::ERR_SOCKET_NOT_CONNECTED", "net::ERR_INCOMPLETE_CHUNKED_ENCODING"} {
		b.expect(part) // the test closes connections
	}
	b.open("/river?category=&source=" + fmt.Sprint(p.follow("", feed.url()).ID))
	b.until("the page is live", `document.getElementById("live-text").textContent === "Live" && document.querySelectorAll("#days .item").length === 3`)
	eval[bool](b, `document.querySelector("#days .item").focus(), true`) // with the focus in an item, new items are announced and not shown

	proxy.connect("") // close the connections while the program runs
	b.until("the page knows", `document.getElementById("live-text").textContent === "Reconnecting" && !document.getElementById("live").hidden`)
	feed.add(post{Title: "Came while the line was cut"})
	p.ping(feed.url())
	proxy.connect(p.base)
	b.until("what came is announced", `pill.textContent === "1 new" && !pill.hidden`)
	b.until("the page is live again", `document.getElementById("live-text").textContent === "Live"`)

	p.stop() // a new program on the same folder replaces this one
	b.until("the page knows", `document.getElementById("live-text").textContent === "Reconnecting"`)
	feed.add(post{Title: "Came while the program was away"})
	p = start(t, cfg)
	p.ping(feed.url())
	outside.Until(t, "the program has it", func() bool {
		for it, err := range p.river("").Items(t.Context(), client.ItemQuery{}) {
			if err == nil && it.Title == "Came while the program was away" {
				return true
			}
		}
		return false
	})
	proxy.connect(p.base)
	b.until("that is announced too", `pill.textContent === "2 new"`)
	b.click("#pill")
	b.until("both are shown", `document.querySelectorAll("#days .item").length === 5`)
	if got := b.texts("#days .item h3")[:2]; got[0] != "Came while the program was away" || got[1] != "Came while the line was cut" {
		t.Errorf("on top are %q", got)
	}
}

func TestDatesAreInTheTimeZoneOfTheBrowser(t *testing.T) {
	t.Parallel()
	p, server := start(t, conf(t)), newFeedServer(t)
	feed := server.feed("/pushed.xml", "Pushed", rsscloud.CloudAt(p.base).String(), posts(30, "Talk")...)
	id := p.follow("", feed.url()).ID
	b := newTab(t, p.base)
	// In this time zone, the current date differs from the date in UTC.
	zone := map[bool]string{true: "Pacific/Kiritimati", false: "Pacific/Pago_Pago"}[time.Now().UTC().Hour() >= 12]
	command(b, emulation.SetTimezoneOverride, emulation.SetTimezoneOverrideParams{TimezoneID: zone})
	b.open(fmt.Sprint("/river?source=", id)) // this page detects the time zone of the browser
	const right = `[...document.querySelectorAll("#days .item")].every((i) => i.closest(".day").dataset.day === new Date(+i.dataset.at).toLocaleDateString("sv"))
		&& [...document.querySelectorAll("time[data-clock]")].every((c) => c.textContent.endsWith(new Date(c.dateTime).toTimeString().slice(0, 5)))`
	b.holds("hours are right at once", `[...document.querySelectorAll("time[data-clock]")].every((c) => c.textContent.endsWith(new Date(c.dateTime).toTimeString().slice(0, 5)))`)
	b.open(fmt.Sprint("/river?source=", id))
	b.until("the page is live", `document.getElementById("live-text").textContent === "Live" && document.querySelectorAll("#days .item").length === 30`)
	b.holds("items stand at their day", right)
	b.holds("days have names", `[...document.querySelectorAll(".day")].every((d) => { const days = Math.round((Date.parse(new Date().toLocaleDateString("sv")) - Date.parse(d.dataset.day)) / 864e5); return d.querySelector("h2").textContent.trim() === ["Today", "Yesterday", new Date(d.dataset.day).toLocaleDateString("en-GB", { weekday: "long", timeZone: "UTC" })][days]; })`)
	feed.add(post{Title: "Just now"})
	p.ping(feed.url())
	b.until("it stands at today", `document.querySelector("#days .item h3").textContent.trim() === "Just now" && document.querySelector("#days h2").textContent.trim() === "Today"`)
	b.holds("everything still stands at its day", right)
	b.holds("no day is shown twice", `new Set([...document.querySelectorAll(".day")].map((d) => d.dataset.day)).size === document.querySelectorAll(".day").length`)
}

// zoneAtNoon returns the name of a time zone in which it is about noon, so that an hour ago is today.
func zoneAtNoon() string {
	return fmt.Sprintf("Etc/GMT%+d", time.Now().UTC().Hour()-12) // these names have the opposite sign
}

func TestTimesDoNotDependOnTheClockOfTheBrowser(t *testing.T) {
	t.Parallel()
	p, server := start(t, conf(t)), newFeedServer(t)
	feed := server.feed("/news.xml", "News", rsscloud.CloudAt(p.base).String(), post{Title: "An hour ago", At: time.Now().Add(-61 * time.Minute)})
	id := p.follow("", feed.url()).ID
	for _, skew := range []time.Duration{-3 * time.Hour, 3 * time.Hour, 30 * 24 * time.Hour} {
		b := newTab(t, p.base)
		command(b, emulation.SetTimezoneOverride, emulation.SetTimezoneOverrideParams{TimezoneID: zoneAtNoon()})
		b.open("/river") // the script of the page sends the time zone with later requests
		command(b, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: fmt.Sprintf(`{ const now = Date.now; Date.now = () => now() + %d; }`, skew.Milliseconds())})
		b.open(fmt.Sprint("/river?source=", id))
		b.until("the page is live", `document.getElementById("live-text").textContent === "Live"`)
		b.holds("the time is right, by a clock that differs by "+skew.String(), `document.querySelector("#days .item:last-child .at").textContent === "1 h ago"`)
		feed.add(post{Title: fmt.Sprint("News of ", skew)})
		p.ping(feed.url())
		b.until("a new item stands at today", fmt.Sprintf(`document.querySelector("#days .item h3").textContent === %q && document.querySelector("#days h2").textContent.trim() === "Today"`, fmt.Sprint("News of ", skew)))
		b.holds("its time is right", `/^(now|\d+ s ago)$/.test(document.querySelector("#days .item .at").textContent)`)
	}
}
