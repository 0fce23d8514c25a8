package browsertest

import (
	"fmt"
	"testing"
)

// small lists links and buttons that are smaller than 24 pixels. Links inside text are exempt.
const small = `[...document.querySelectorAll("main a[href], main button, main summary")].filter((e) => {
	if (!e.checkVisibility() || e.closest(".e-content, p:not(.about, .more, .choice) > *:not(:only-child), .sr")) return false;
	const box = e.getBoundingClientRect();
	return box.width < 24 || box.height < 24;
}).map((e) => Math.round(e.getBoundingClientRect().height) + " high: " + e.outerHTML.slice(0, 120))`

func TestLinksAreRecognizableAndLargeEnough(t *testing.T) {
	t.Parallel()
	p, b := newWriter(t)
	server := newFeedServer(t)
	feed := server.put("/atom.xml", "application/atom+xml", fmt.Sprintf(`<feed xmlns="http://www.w3.org/2005/Atom"><title>Summaries</title><id>urn:x</id><updated>2026-11-20T10:00:00Z</updated>
<entry><id>urn:x:1</id><title>One</title><link href="%s/one"/><updated>2026-11-20T10:00:00Z</updated><summary>The beginning of it …</summary><category term="hens"/></entry></feed>`, server.URL))
	p.follow("alice", feed)
	b.open("/river")
	b.until("the item is there", `document.querySelector(".item .rest a")`)
	if gap := eval[float64](b, `(() => {
		const link = document.querySelector(".item .rest a"), words = document.createRange();
		words.setStart(link.firstChild, 0);
		words.setEnd(link.firstChild, link.firstChild.data.trimEnd().length);
		return link.querySelector("bdi").getBoundingClientRect().left - words.getBoundingClientRect().right;
	})()`); gap < 2 {
		t.Errorf("the space before the host of the link to the rest is %v pixels wide", gap)
	}
	for _, wrong := range eval[[]string](b, small) {
		t.Errorf("the river: %s", wrong)
	}

	if !eval[bool](b, `fetch("/write", {method: "POST", body: new URLSearchParams({do: "publish", key: "k1", writer: "alice", source: "Shopping", categories: "Home",
		outline: JSON.stringify([{text: "Chocolate, see [the list](https://example.com/list)"}])})}).then((r) => r.ok)`) {
		t.Fatal("the post could not be made")
	}
	b.open("/write/posts")
	for _, wrong := range eval[[]string](b, small) {
		t.Errorf("the posts: %s", wrong)
	}
	b.open(eval[string](b, `document.querySelector(".mineposts .more a").getAttribute("href")`))
	b.holds("a link in a line of an outline is underlined", `getComputedStyle(document.querySelector(".leaf a")).textDecorationLine === "underline"`)
	b.holds("and has the colour of links", `getComputedStyle(document.querySelector(".leaf a")).color !== getComputedStyle(document.querySelector(".leaf")).color`)
}

func TestMissingIconIsReplacedByTheLetterOfTheFeed(t *testing.T) {
	t.Parallel()
	p, server := start(t, conf(t)), newFeedServer(t)
	server.put("/dead.png", "status", "404")
	ids := map[string]int64{}
	for _, name := range []string{"dead", "alive"} {
		icon := fmt.Sprintf("<image><url>%s/%s.png</url><title>x</title><link>%s/</link></image>", server.URL, name, server.URL)
		ids[name] = p.follow("", server.feed("/"+name+".xml", "Feed that is "+name, icon, posts(2, "News")...).url()).ID
	}
	b := newTab(t, p.base)
	b.expect("502") // the missing icon has this status
	for _, c := range []struct{ path, row, icon string }{
		{"/feeds", ".rows .source", ".tile"}, {fmt.Sprint("/feeds/", ids["dead"]), ".top", ".tile"}, {"/river", ".item.first", ".mono"},
	} {
		b.open(c.path)
		find := func(name string) string {
			return fmt.Sprintf(`[...document.querySelectorAll(%q)].find((e) => e.textContent.includes("Feed that is %s")).querySelector(%q)`, c.row, name, c.icon)
		}
		b.until("the letter stands for the dead icon of "+c.path, fmt.Sprintf(`%s.textContent === "F" && !%[1]s.querySelector("img")`, find("dead")))
		if c.path != fmt.Sprint("/feeds/", ids["dead"]) {
			b.until("the existing icon is shown", fmt.Sprintf(`%s.querySelector("img").naturalWidth > 0`, find("alive")))
		}
	}
}
