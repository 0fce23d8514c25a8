package browsertest

import (
	"fmt"
	"regexp"
	"testing"

	"cloudburst/client"
)

// German words are longer than English words. The pages must still fit on a phone and a desktop,
// and must be completely in German.
func TestPagesInGermanFitPhonesAndDesktops(t *testing.T) {
	t.Parallel()
	r := newFullRiver(t)
	b := newTab(t, r.base)
	b.expect("404") // the tour opens the page of a missing feed
	b.size(phoneWidth, phoneHeight)
	b.open("/river/display")
	eval[string](b, `document.getElementById("v-language").value = "de"`)
	b.click(".display .go button")
	b.until("the page is German", `document.documentElement.lang === "de" && document.body.innerText.includes("In diesem Browser gespeichert.")`)
	var item int64
	for it, err := range r.river("").Items(t.Context(), client.ItemQuery{Source: fmt.Sprint(r.ids["walks"]), Limit: 1}) {
		if err != nil {
			t.Fatal(err)
		}
		item = it.ID
	}
	r.indexed("walk hills", 3)
	for _, s := range r.tour(item) {
		b.visit(s, "")
		b.holds(s.name+" is German", `document.documentElement.lang === "de"`)
	}
	b.open("/river")
	b.holds("the scripts write German times", `[...document.querySelectorAll(".item .about time")].some((e) => /^(vor \d+ (Min\.|Std\.|Tagen)|\d+\. )/.test(e.textContent))`)
	b.keys("?")
	b.until("the keys are in German", `document.querySelector("dialog[open] h2")?.textContent === "Tasten"`)
}

// The test creates an account and publishes a post in German, on a phone.
func TestPostIsPublishedInGerman(t *testing.T) {
	t.Parallel()
	p := start(t, conf(t))
	b := newTab(t, p.base)
	b.size(phoneWidth, phoneHeight)
	fits := func(page string) {
		for _, w := range eval[[]string](b, tooWide) {
			t.Errorf("%s: %s", page, w)
		}
	}
	b.open("/river/display")
	eval[string](b, `document.getElementById("v-language").value = "de"`)
	b.click(".display .go button")
	b.until("the page is German", `document.documentElement.lang === "de"`)
	b.open(regexp.MustCompile(`http://\S+/setup\?token=\S+`).FindString(p.printed.String()))
	b.holds("the form is German", `document.querySelector("h1").textContent === "Das erste Konto erstellen"`)
	b.holds("no label of the bar is cut", `[...document.querySelectorAll(".bar nav a span:not(.sr)")].every((e) => e.scrollWidth <= e.clientWidth)`)
	b.fill("[name=name]", "alice")
	b.fill("[name=password]", "correct horse battery")
	b.click("main form button:not([type=button])")
	b.until("the account is created", `location.pathname !== "/setup"`)
	b.open("/river/display")
	eval[string](b, `document.getElementById("v-language").value = "de"`)
	b.click(".display .go button")
	b.until("the account is German", `document.documentElement.lang === "de" && document.body.innerText.includes("Gespeichert.")`)
	b.open("/write")
	fits("the composer")
	b.click("#w-source")
	b.keys("Regen am Abend")
	b.until("the script counts in German", `/^noch \d+$/.test(document.getElementById("w-count").textContent)`)
	b.click("#w-go")
	b.until("it is published", `document.body.innerText.includes("Veröffentlicht.")`)
	for _, path := range []string{"/write/posts", "/account", "/account/tokens", "/account/author", "/account/feed", "/account/private", "/account/import", "/account/readers", "/admin", "/admin/users", "/admin/settings", "/admin/blocks", "/admin/invites", "/admin/subscriptions", "/admin/backups", "/admin/audit", "/feeds/filters/new", "/hub", "/log", "/topics", "/changes", "/status", "/alice/"} {
		b.open(path)
		b.holds(path+" is German", `document.documentElement.lang === "de"`)
		fits(path)
	}
}
