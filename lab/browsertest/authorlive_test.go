package browsertest

import (
	"testing"

	"cloudburst/client"
)

func TestAuthorPageAnnouncesAndShowsNewPostsWithoutReload(t *testing.T) {
	t.Parallel()
	p := start(t, conf(t))
	writes := &client.Client{Base: p.admin}
	if _, err := writes.AddUser(t.Context(), "alice", aPassword); err != nil {
		t.Fatal(err)
	}
	post := func(text string) {
		t.Helper()
		if _, err := writes.CreatePost(t.Context(), "alice", client.PostChange{Source: &text}, ""); err != nil {
			t.Fatal(err)
		}
	}
	post("The first one.")
	for _, path := range []string{"/alice/", "/everyone/"} {
		b := newTab(t, p.base)
		b.open(path)
		b.until("the page is there", `document.querySelectorAll(".posts > article").length > 0 && pill.hidden`)
		eval[bool](b, `window.stayed = true, window.before = document.querySelectorAll(".posts > article").length, true`)
		post("Another one.")
		b.until("the button announces the new item", `!pill.hidden && pill.textContent === "1 new post"`)
		b.holds("the title counts it", `document.title.startsWith("(1) ")`)
		b.holds("the live region announces it", `document.getElementById("news").textContent === "1 new post"`)
		b.holds("no post is inserted yet", `document.querySelectorAll(".posts > article").length === before`)
		post("And one more.")
		b.until("the button counts both posts", `pill.textContent === "2 new posts"`)
		b.click("#pill")
		b.until("the posts are shown, newest first", `document.querySelectorAll(".posts > article").length === before + 2 && document.querySelector(".posts > article").textContent.includes("And one more.")`)
		b.holds("the page was not reloaded", `window.stayed === true && pill.hidden && !document.title.startsWith("(")`)
		b.holds("the newest post has the focus", `document.activeElement === document.querySelector(".posts > article")`)
	}
}
