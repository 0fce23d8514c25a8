package browsertest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"

	"cloudburst/client"
)

// bothSides runs a test four times: with and without scripts, each on a desktop and on a phone.
func bothSides(t *testing.T, do func(t *testing.T, scripts bool, width int64)) {
	t.Helper()
	for _, scripts := range []bool{true, false} {
		for _, width := range []int64{1280, 390} {
			t.Run(fmt.Sprintf("scripts %v, %d pixels", scripts, width), func(t *testing.T) { do(t, scripts, width) })
		}
	}
}

// with sets the width of the window, and enables or disables scripts.
func (b *tab) with(scripts bool, width int64) {
	b.t.Helper()
	b.size(width, 844)
	command(b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: !scripts})
}

// retype replaces the text in the form for a post.
func (b *tab) retype(text string) {
	b.t.Helper()
	eval[bool](b, fmt.Sprintf(`(() => { const s = document.getElementById("w-source"); s.value = %q; s.dispatchEvent(new Event("input", { bubbles: true })); return true; })()`, text))
}

func TestTwoBrowsersEditOnePostWithoutLoss(t *testing.T) {
	t.Parallel()
	p, one := newWriter(t)
	two := newTab(t, p.base)
	two.signIn("/write")
	one.expect("409")
	two.expect("409")
	c, draft := &client.Client{Base: p.admin}, "draft"
	bothSides(t, func(t *testing.T, scripts bool, width int64) {
		text := "first line\nsecond line\nlast line"
		post, err := c.CreatePost(t.Context(), "alice", client.PostChange{Source: &text, State: &draft}, "")
		if err != nil {
			t.Fatal(err)
		}
		path := fmt.Sprintf("/write/%d", post.ID)
		for _, b := range []*tab{one, two} {
			b.with(scripts, width)
			b.open(path)
			b.until("the post is in the form", `document.getElementById("w-source").value.startsWith("first line")`)
		}
		one.retype("first line\nfrom the first browser\nlast line")
		one.click("#write [value=draft]:not(.sr)")
		one.until("the first browser saves", `/did=kept/.test(location.search)`)

		two.retype("first line\nfrom the second browser\nlast line")
		two.click("#write [value=draft]:not(.sr)")
		two.until("the second browser shows both texts", `document.querySelector(".theirs")?.textContent.includes("from the first browser") && document.getElementById("w-source").value.includes("from the second browser")`)
		two.holds("the difference is marked", `[...document.querySelectorAll(".differences ins")].some((e) => e.textContent.includes("second")) && document.querySelector(".differences del")`)
		two.holds("nothing is wider than the window", `document.documentElement.scrollWidth <= innerWidth`)
		if now, err := c.Post(t.Context(), "alice", post.ID); err != nil || strings.Contains(now.Source, "second browser") {
			t.Errorf("it was overwritten: %q, %v", now.Source, err)
		}
		two.click(".theirs [value=merge]")
		two.until("both texts are in the box", `document.getElementById("w-source").value.trim() === "first line\nfrom the first browser\nfrom the second browser\nlast line"`)
		two.click("#write [value=draft]:not(.sr)")
		two.until("the second browser saves", `/did=kept/.test(location.search)`)
		now, err := c.Post(t.Context(), "alice", post.ID)
		if err != nil || now.Source != "first line\nfrom the first browser\nfrom the second browser\nlast line" {
			t.Errorf("the post is %q, %v", now.Source, err)
		}

		// The first browser has an outdated text. Its user selects the text that the second
		// browser saved.
		one.retype("the first browser again")
		one.click("#write [value=draft]:not(.sr)")
		one.until("both are shown here too", `document.querySelector(".theirs")?.textContent.includes("from the second browser")`)
		one.click(".theirs [value=theirs]")
		one.until("the saved text is in the form", `/did=theirs/.test(location.search) && document.getElementById("w-source").value.includes("from the second browser")`)

		// All saved texts are listed as earlier versions. The user restores the first version.
		one.open(path + "/versions")
		one.holds("nothing is wider than the window", `document.documentElement.scrollWidth <= innerWidth`)
		if got := strings.Join(one.texts(".versions pre"), " | "); got != "first line from the first browser last line | first line second line last line" {
			t.Errorf("the versions are %s", got)
		}
		one.click(".versions li:last-child form button")
		one.until("it is restored", `/did=restored/.test(location.search) && document.getElementById("w-source").value.trim() === "first line\nsecond line\nlast line"`)
	})
}

func TestComposerShowsLimitHashtagsAndLinkPreview(t *testing.T) {
	t.Parallel()
	p, b := newWriter(t)
	b.expect("400")
	page := newFeedServer(t).put("/lamp.html", "text/html", `<!doctype html><title>The lamp</title><meta property="og:description" content="Lit each evening">`)
	bothSides(t, func(t *testing.T, scripts bool, width int64) {
		b.with(scripts, width)
		b.open("/write/settings")
		b.click("#r-enforce")
		b.click("main form button")
		b.until("the rule is saved", `/done=saved/.test(location.search) && document.getElementById("r-enforce").checked`)
		b.open("/write")
		b.holds("the rule is in sight", `document.querySelector(".rule").textContent === "Short posts: 140 characters, enforce"`)
		b.retype("On #Walks " + page + " " + strings.Repeat("x", 140))
		if scripts {
			b.until("the counter counts what is over", `/^\d+ over$/.test(document.getElementById("w-count").textContent) && document.querySelector(".count.over")`)
		}
		b.click("#w-go")
		b.until("it is not published", `document.getElementById("w-source-wrong").textContent.includes("Shorten it")`)
		b.retype("On #Walks " + page)
		b.click(`label[for="ask-card"]`)
		if !scripts {
			b.click("[value=card]")
		}
		b.until("the link preview is shown", `document.querySelector("#w-card .linkcard strong")?.textContent === "The lamp"`)
		b.holds("the button is pressed", `document.getElementById("ask-card").checked`)
		b.click("#w-look")
		b.until("the preview has the hashtag and the card", `document.querySelector('#look-text a[href="/alice/category/walks/"]') && document.querySelector("#look-text .linkcard")`)
		b.holds("nothing is wider than the window", `document.documentElement.scrollWidth <= innerWidth`)
		b.click("#w-go")
		b.until("it is published", `document.querySelector(".undo")`)
		b.click(".undo a")
		b.until("its page is what the preview was", `document.querySelector('.e-content a[href="/alice/category/walks/"]') && document.querySelector(".linkcard strong").textContent === "The lamp"`)
	})
	if doc := get(t, p.base+"/alice/category/walks/rss.xml"); strings.Count(doc, "<item>") != 4 || !strings.Contains(doc, "<category>Walks</category>") {
		t.Errorf("the feed of the category is %s", doc)
	}
}

func TestPostTextIsConvertedToAnOutlineAndBack(t *testing.T) {
	t.Parallel()
	_, b := newWriter(t)
	b.retype("One\nTwo\n  below")
	b.click(`label[for="ask-outline"]`)
	b.until("the text became headlines", `document.querySelectorAll(".outline textarea").length === 3 && document.getElementById("w-source").value === ""`)
	b.holds("the text box is away", `document.getElementById("w-source").offsetParent === null`)
	b.click(`label[for="ask-outline"]`)
	b.until("the headlines became the text", `document.getElementById("w-source").value === "- One\n- Two\n  - below" && document.getElementById("outline").value === ""`)
	b.holds("the text box is back", `document.getElementById("w-source").offsetParent !== null`)
}
