package browsertest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"

	"cloudburst/client"
	"cloudburst/lab/outside"
)

// newRepliers starts a website with replies to the post at target. The page /NAME is a reply by
// NAME, or a like if NAME begins with "like".
func newRepliers(t *testing.T, target *string) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, class := strings.Trim(r.URL.Path, "/"), "u-in-reply-to"
		if strings.HasPrefix(name, "like") {
			class = "u-like-of"
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprintf(w, `<div class="h-entry"><a class="p-author h-card" href="/by/%s">%s</a><a class="%s" href="%s">x</a><p class="e-content">Words of %s</p></div>`, name, name, class, *target, name)
	}))
	t.Cleanup(s.Close)
	return s
}

// decides opens the pending replies and clicks a button of the reply by name.
func (b *tab) decides(name, button string) {
	b.t.Helper()
	b.open("/write/replies")
	row := fmt.Sprintf(`[...document.querySelectorAll(".replylist > li")].find((li) => li.textContent.includes(%q))`, "Words of "+name)
	b.until("the reply waits", row+" !== undefined")
	b.holds("its buttons are large enough", `[...document.querySelectorAll(".decide button")].every((x) => x.getBoundingClientRect().height >= 24)`)
	b.click(fmt.Sprintf(`.replylist > li:nth-child(%d) button[value=%s]`, b.placeOf(name), button))
	b.until("undo is offered", `document.querySelector(".undo button") !== null`)
	b.holds("it does not wait any more", row+" === undefined")
}

// placeOf returns the position of a person's reply in the list, starting at 1.
func (b *tab) placeOf(name string) int {
	b.t.Helper()
	for i, text := range b.texts(".replylist > li") {
		if strings.Contains(text, "Words of "+name) {
			return i + 1
		}
	}
	b.t.Fatalf("no reply of %s is listed", name)
	return 0
}

func TestRepliesAreModeratedWithAndWithoutScripts(t *testing.T) {
	t.Parallel()
	p, b := newWriter(t)
	admin, state := &client.Client{Base: p.admin}, "published"
	mine := client.Conversation{Client: admin, User: "alice"}
	for _, c := range []struct {
		scripts bool
		width   int64
		who     string
	}{{true, 1280, "Ann"}, {false, 390, "Bea"}} {
		command(b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: !c.scripts})
		b.size(c.width, 900)
		text := "A post for " + c.who
		post, err := admin.CreatePost(t.Context(), "alice", client.PostChange{Source: &text, State: &state}, "")
		if err != nil {
			t.Fatal(err)
		}
		site := newRepliers(t, &post.URL)
		names := []string{c.who, c.who + "Spam", "like" + c.who}
		for _, name := range names {
			res, err := http.PostForm(p.base+"/webmention", url.Values{"source": {site.URL + "/" + name}, "target": {post.URL}})
			if err != nil {
				t.Fatal(err)
			}
			res.Body.Close()
			if res.StatusCode != http.StatusAccepted {
				t.Fatalf("%s is answered %d", name, res.StatusCode)
			}
		}
		outside.Until(t, "all replies wait", func() bool {
			n := 0
			for r, err := range mine.Replies(t.Context(), client.ReplyQuery{State: "waiting"}) {
				if err == nil && r.Post == post.ID {
					n++
				}
			}
			return n == len(names)
		})
		b.decides(c.who+"Spam", "reject")
		b.click(".undo button")
		b.until("the undo is done", `document.body.textContent.includes("Undone.")`)
		b.decides(c.who+"Spam", "block-author")
		b.decides(c.who, "approve")
		b.decides("like"+c.who, "trust")
		b.open("/write/replies?show=rejected")
		b.holds("the rejected reply is listed", fmt.Sprintf(`document.querySelector(".replylist").textContent.includes("Words of %sSpam")`, c.who))
		b.open("/write/replies?show=authors")
		b.holds("the trusted author is listed", fmt.Sprintf(`document.querySelector("ul.rows").textContent.includes("like%s")`, c.who))
		path := strings.TrimPrefix(post.URL, p.base)
		b.open(path)
		b.holds("the approved reply is public", fmt.Sprintf(`document.body.textContent.includes("Words of %s")`, c.who))
		b.holds("the like is one short line", fmt.Sprintf(`document.querySelector(".replies .others").textContent.includes("Liked by like%s")`, c.who))
		b.holds("the rejected one is not public", `!document.body.textContent.includes("Spam")`)
		b.holds("nothing is wider than the window", `document.documentElement.scrollWidth <= innerWidth`)
	}
	b.open("/write/replies?show=settings")
	b.click("#r-send")
	b.click("button[value=settings]")
	b.until("the settings are stored", `document.body.textContent.includes("Saved.")`)
	if s, err := mine.Settings(t.Context()); err != nil || !s.Receive || s.Send {
		t.Errorf("stored: %+v, %v", s, err)
	}
}
