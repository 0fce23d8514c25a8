package browsertest

import (
	"fmt"
	"testing"

	"github.com/chromedp/cdproto/emulation"

	"cloudburst/client"
	"cloudburst/lab/outside"
	"cloudburst/protocol/rsscloud"
)

// makeFilter creates a filter for a word, and checks its preview before it saves the filter.
func (b *tab) makeFilter(word, action, previewed string) {
	b.t.Helper()
	b.open("/feeds/filters")
	b.click(`a.button[href="/feeds/filters/new"]`)
	b.until("the form is shown", `document.querySelector("#x-values0") !== null`)
	b.click("#x-values0")
	b.keys(word)
	b.click("#x-" + action)
	b.click(`button[name=do][value=preview]`)
	b.until("the preview is shown", `document.querySelector("#s-preview") !== null`)
	b.holds("it lists the item that matches", fmt.Sprintf(`document.querySelector("section[aria-labelledby=s-preview] .rows").textContent.includes(%q) && document.querySelectorAll("section[aria-labelledby=s-preview] .rows li").length === 1`, previewed))
	b.holds("the form keeps what was entered", fmt.Sprintf(`document.querySelector("#x-values0").value.trim() === %q && document.querySelector("#x-%s").checked`, word, action))
	b.click(`button[name=do][value=save]`)
	b.until("the filter is listed", fmt.Sprintf(`location.pathname === "/feeds/filters" && document.querySelector("ol.rows").textContent.includes(%q)`, word))
}

func TestFiltersHideAndStarNewItems(t *testing.T) {
	t.Parallel()
	p, server := start(t, conf(t)), newFeedServer(t)
	feed := server.feed("/market.xml", "Market", rsscloud.CloudAt(p.base).String(), post{Title: "A sponsored apple"}, post{Title: "An advert for pears"}, post{Title: "A zebra"}, post{Title: "An okapi"})
	p.follow("", feed.url())
	b := newTab(t, p.base)
	for i, c := range []struct {
		scripts      bool
		width        int64
		hidden, star string
		seen, loved  string
	}{{true, 1280, "sponsored", "zebra", "A sponsored apple", "A zebra"}, {false, 390, "advert", "okapi", "An advert for pears", "An okapi"}} {
		command(b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: !c.scripts})
		b.size(c.width, 900)
		b.makeFilter(c.hidden, "hide", c.seen)
		b.makeFilter(c.star, "star", c.loved)
		last := fmt.Sprint("Ordinary, number ", i)
		feed.add(post{Title: "Again: " + c.hidden})
		feed.add(post{Title: "Again: " + c.star})
		feed.add(post{Title: last})
		p.ping(feed.url())
		outside.Until(t, last+" arrives", func() bool {
			for it, err := range p.river("").Items(t.Context(), client.ItemQuery{}) {
				if err != nil {
					t.Fatal(err)
				}
				if it.Title == last {
					return true
				}
			}
			return false
		})
		b.open("/river")
		titles := `[...document.querySelectorAll("#days .item h3")].map((h) => h.textContent.trim())`
		b.holds("the item is hidden, and others are not", fmt.Sprintf(`!%s.includes(%q) && %s.includes(%q)`, titles, "Again: "+c.hidden, titles, last))
		b.holds("the item is starred", fmt.Sprintf(`[...document.querySelectorAll("#days .item")].find((i) => i.querySelector("h3").textContent.trim() === %q).querySelector(".star").ariaPressed === "true"`, "Again: "+c.star))
		b.open("/river?starred=1")
		b.holds("it is among the starred items", fmt.Sprintf(`%s.includes(%q)`, titles, "Again: "+c.star))
	}
}
