package browsertest

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"

	"cloudburst/client"
)

// newUser creates a user of a program and signs the user in.
func (b *tab) newUser(p *running, name string) {
	b.t.Helper()
	if _, err := (&client.Client{Base: p.admin}).AddUser(b.t.Context(), name, aPassword); err != nil {
		b.t.Fatal(err)
	}
	b.open("/login?next=/people")
	b.fill("[name=name]", name)
	b.fill("[name=password]", aPassword)
	b.click("form.sheet button")
	b.until(name+" is signed in", `location.pathname === "/people"`)
}

// writes publishes a post of the signed-in user with a form, without the scripts of the page.
func (b *tab) writes(text string) {
	b.t.Helper()
	b.open("/write")
	b.click("#w-source")
	b.keys(text)
	b.click("#w-go")
	b.until("the post is published", `document.body.textContent.includes("Published")`)
}

func TestAuthorIsFoundInTheListAndFollowed(t *testing.T) {
	t.Parallel()
	p := start(t, conf(t))
	alice := newTab(t, p.base)
	alice.newUser(p, "alice")
	alice.writes("Blue chalk")
	for i, c := range []struct {
		scripts bool
		width   int64
	}{{true, 1280}, {false, 390}} {
		b := newTab(t, p.base)
		command(b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: !c.scripts})
		b.size(c.width, 900)
		b.newUser(p, fmt.Sprint("reader", i))
		b.open("/people")
		b.fill("#q", "ALI")
		b.click(".find button")
		b.until("alice is found", `location.search.includes("q=ALI") && document.querySelector("#u-alice") !== null && document.querySelectorAll(".people > li").length === 1`)
		b.holds("nothing is cut", `document.documentElement.scrollWidth <= innerWidth`)
		b.click("#u-alice .act button")
		b.until("alice is followed", `document.querySelector("#u-alice .act a")?.textContent.startsWith("Following")`)
		b.open("/river")
		b.holds("the post is in the river", `document.querySelector("#days").textContent.includes("Blue chalk")`)
	}
	alice.open("/account/readers")
	alice.holds("alice sees the number, and no names", `document.querySelector("section[aria-labelledby=s-here]").textContent.includes("2 people follow you") && !document.body.textContent.includes("@reader")`)
}

func TestAuthorOfAnotherServerIsFollowedByNameAndByButton(t *testing.T) {
	t.Parallel()
	far, near := start(t, conf(t)), start(t, conf(t))
	alice := newTab(t, far.base)
	alice.newUser(far, "alice")
	alice.writes("From far away")
	b := newTab(t, near.base)
	b.newUser(near, "bob")
	b.open("/feeds/add")
	b.fill("#a-url", "@alice@"+strings.TrimPrefix(far.base, "http://"))
	b.click("form.sheet > p.go button")
	b.until("the feed is followed", `location.search.includes("done=added")`)
	b.open("/river")
	b.holds("the post is in the river", `document.querySelector("#days").textContent.includes("From far away")`)

	// The button on the author's page opens the form to follow the author on the visitor's own
	// server.
	v := newTab(t, far.base)
	v.open("/people/follow?user=alice")
	v.fill("#f-server", strings.TrimPrefix(near.base, "http://"))
	v.click("form.sheet button")
	want := near.base + "/feeds/add?url=" + url.QueryEscape(far.base+"/alice/")
	v.until("the page leads on", fmt.Sprintf(`document.querySelector(".choice a.button")?.href === %q`, want))
}

func TestPeoplePageIsHiddenIfTheDirectoryIsDisabled(t *testing.T) {
	t.Parallel()
	cfg := conf(t)
	cfg.Accounts.Directory = "off"
	p := start(t, cfg)
	b := newTab(t, p.base)
	b.expect("404")
	b.open("/people")
	b.holds("there is no such page", `document.querySelector("h1").textContent !== "People on this server"`)
}
