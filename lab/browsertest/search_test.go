package browsertest

import (
	"fmt"
	"slices"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"cloudburst/client"
	"cloudburst/lab/outside"
)

// indexed waits until a search for match finds the given number of items.
func (p *running) indexed(match string, items int) {
	p.t.Helper()
	outside.Until(p.t, match+" is found", func() bool {
		n := 0
		for _, err := range p.river("").Items(p.t.Context(), client.ItemQuery{Match: match}) {
			if err != nil {
				p.t.Fatal(err)
			}
			n++
		}
		return n == items
	})
}

func TestSearchFindsWordsFeedsAndCategories(t *testing.T) {
	t.Parallel()
	p, server, _ := day(t)
	p.follow("", server.feed("/zoo.xml", "Zoo", "", post{Title: "A zebra & a gnu", Text: "<p>They drink coffee in the morning.</p>"}, post{Title: "An okapi", Text: "<p>It drinks tea.</p>"}).url())
	p.indexed("drinks", 1)
	p.indexed("evening", 4)
	b := newTab(t, p.base)
	b.open("/river")
	for words, want := range map[string][]string{
		"zebra coffee":                   {"A zebra & a gnu"},
		`"drinks tea"`:                   {"An okapi"},
		`feed:zoo drink -tea`:            {"A zebra & a gnu"},
		`feed:star`:                      {"Evening, number 4", "Evening, number 3", "Evening, number 2", "Evening, number 1"},
		`feed:"Evening Star" "number 3"`: {"Evening, number 3"},
		"category:night number 2":        {"Evening, number 2"},
		"category:day zebra":             nil,
		`<b>"'&%`:                        nil,
	} {
		b.fill("#q", words)
		b.keys(kb.Enter)
		b.until("a search for "+words, fmt.Sprintf(`new URLSearchParams(location.search).get("q") === %q `, words))
		got := b.texts("#days .item h3")
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s: found %q, want %q", words, got, want)
		}
		b.holds("the heading has the words", fmt.Sprintf(`document.querySelector("h1").textContent === %q`, "Search: "+words))
		b.holds("the field contains the words", fmt.Sprintf(`document.querySelector("#q").value === %q`, words))
		b.holds("empty fields are not in the address", `!/category=|source=/.test(location.search)`)
		if want == nil {
			b.holds("it reports no results, and what to do", `document.querySelector(".found").textContent.trim() === "No results" && document.querySelector("#empty").textContent.includes("Try fewer words")`)
		} else {
			b.holds("it reports the number of results", fmt.Sprintf(`document.querySelector(".found").textContent.trim() === "%d result%s"`, len(want), map[bool]string{true: "s"}[len(want) > 1]))
		}
	}
	b.open("/river?q=zebra+coff")
	if got := b.texts(".item mark"); !slices.Equal(got, []string{"zebra", "coffee"}) {
		t.Errorf("marked are %q", got)
	}
	// A search within a category offers a search of the whole river.
	b.open("/river?category=Night")
	b.fill("#q", "zebra")
	b.click(".find button")
	b.until("only the category is searched", `/category=Night/.test(location.search) && document.querySelector("#empty")`)
	b.click("#empty a.button")
	b.until("the whole river is searched", `!/category/.test(location.search) && document.querySelectorAll("#days .item").length === 1`)
}
