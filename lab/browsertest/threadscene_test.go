package browsertest

import (
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cloudburst/lab/outside"
)

// replyTo publishes a reply to the post at the URL at.
func (b *tab) replyTo(at, text string) {
	b.t.Helper()
	b.open("/write?reply=" + url.QueryEscape(at))
	b.typeText(text)
	b.publish()
}

// newest returns the URL of the newest post of a user.
func (b *tab) newest(user string) string {
	b.t.Helper()
	b.open("/" + user + "/")
	return eval[string](b, `document.querySelector(".posts a.u-uid").href`)
}

// pathOf returns the path of a URL.
func pathOf(t *testing.T, address string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return u.EscapedPath()
}

// shows returns an expression: the thread on the page contains text.
func shows(text string) string {
	return `document.querySelector("#thread .replytree").textContent.includes("` + text + `")`
}

// TestRepliesAppearLiveInTheThreadOnBothServers follows a conversation between two servers. alice
// writes on one server, bob replies on the other, and both threads update live on open pages. A
// reply by eve, whom alice does not know, waits for approval.
//
// spec:cloudburst#thread-page
// spec:cloudburst#thread-moderation
func TestRepliesAppearLiveInTheThreadOnBothServers(t *testing.T) {
	t.Parallel()
	there, here := start(t, conf(t)), start(t, conf(t))
	alice, bob := there.author(t, "alice"), here.author(t, "bob")
	eve := here.author(t, "eve")
	alice.write("Good morning.")
	bob.write("Hello.")
	here.follow("", there.base+"/alice/rss.xml")
	there.follow("", here.base+"/bob/rss.xml")
	there.subscribed(there.base + "/alice/rss.xml")
	here.subscribed(here.base + "/bob/rss.xml")

	alice.write("The heron is back on the weir.")
	post := alice.newest("alice")
	visitor := newTab(t, there.base)
	visitor.size(720, 760)
	visitor.light("light", true)
	visitor.open(pathOf(t, post))
	visitor.holds("the thread is empty", `!document.querySelector(".noreplies").hidden`)
	eval[bool](visitor, `window.same = true`)

	// Bob replies to the post from his river.
	bob.open("/river")
	bob.until("the post arrives", `document.getElementById("days").textContent.includes("The heron is back")`)
	bob.open(eval[string](bob, `[...document.querySelectorAll("#days .item")].find((i) => i.textContent.includes("The heron is back")).querySelector("a.reply").getAttribute("href")`))
	bob.typeText("It does not mind the rain.")
	began := time.Now()
	bob.publish()
	visitor.until("the reply appears on the open page", shows("It does not mind the rain."))
	t.Logf("from the click at one server to the thread at another: %v", time.Since(began).Round(time.Millisecond))
	reply := bob.newest("bob")
	visitor.holds("the page was not loaded again", `window.same === true && document.getElementById("threadnews").textContent !== ""`)

	// The thread on both servers shows the new replies.
	second := newTab(t, here.base)
	second.size(720, 760)
	second.light("light", true)
	second.open(pathOf(t, reply))
	second.holds("the post above is shown", `document.querySelector(".above").textContent.includes("The heron is back")`)
	alice.open(pathOf(t, post))
	alice.holds("the reply has a link to answer", `document.querySelector("#thread li a.answer").getAttribute("href").includes(encodeURIComponent("`+reply+`"))`)
	alice.open("/write?reply=" + url.QueryEscape(reply))
	alice.typeText("Nor do I.")
	began = time.Now()
	alice.publish()
	second.until("the answer appears on the other server", shows("Nor do I."))
	t.Logf("and back: %v", time.Since(began).Round(time.Millisecond))
	visitor.until("the answer is below the reply", `document.querySelector("#thread .replytree > li > ol").textContent.includes("Nor do I.")`)

	if album := newAlbum(t); album != "" {
		scene(t, filepath.Join(string(album), "thread.png"), visitor.screenshot(), second.screenshot())
	}

	// The river names the post that a reply answers.
	alice.open("/river")
	alice.until("the river names the parent", `[...document.querySelectorAll("#days .to")].some((p) => p.textContent.includes("In reply to alice") && p.textContent.includes("The heron is back"))`)

	// Eve is unknown to alice, so her reply waits for approval.
	eve.replyTo(post, "Buy my umbrella.")
	waits := func(text string) {
		t.Helper()
		outside.Until(t, "the reply waits", func() bool {
			alice.open("/write/replies")
			return eval[bool](alice, `Boolean(document.querySelector(".replylist")?.textContent.includes("`+text+`"))`)
		})
	}
	waits("Buy my umbrella.")
	visitor.holds("it is not public", `!(`+shows("umbrella")+`)`)
	alice.click(`button[name="do"][value="approve"]`)
	visitor.until("the approved reply appears", shows("Buy my umbrella."))
	eve.replyTo(post, "Buy two.")
	waits("Buy two.")
	alice.click(`button[name="do"][value="block-author"]`)
	visitor.until("replies of the blocked author disappear", `!(`+shows("umbrella")+`)`)
	visitor.holds("the others stay", shows("It does not mind the rain.")+` && window.same === true`)
	if strings.Contains(eval[string](visitor, `document.body.textContent`), "Buy two.") {
		t.Error("a reply of a blocked author is public")
	}
}
