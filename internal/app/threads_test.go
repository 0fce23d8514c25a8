package app_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"cloudburst/client"
	"cloudburst/internal/conversation"
)

// threadBlocks returns the documents in the guide on threads. It replaces the two origins in these
// documents with the origins chat and you.
func threadBlocks(t *testing.T, chat, you string) []string {
	t.Helper()
	text, err := os.ReadFile("../../docs/guides/threads.md")
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, m := range regexp.MustCompile("(?s)```xml\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		all = append(all, strings.NewReplacer("https://chat.example", chat, "https://you.example", you).Replace(m[1]))
	}
	if len(all) != 4 {
		t.Fatalf("the guide has %d documents", len(all))
	}
	return all
}

// hasLines checks that a document contains all lines of item, in any order.
func hasLines(t *testing.T, what, document, item string) {
	t.Helper()
	for line := range strings.Lines(item) {
		if line = strings.TrimSpace(line); !strings.Contains(document, line) {
			t.Errorf("%s has no %s:\n%s", what, line, document)
		}
	}
}

// TestExamplesOfThreadsGuideMatchTheProgram repeats the exchange in the guide with a server that
// behaves like rss.chat.
//
// spec:source-namespace#comments
func TestExamplesOfThreadsGuideMatchTheProgram(t *testing.T) {
	t.Parallel()
	var blocks atomic.Pointer[[]string]
	chat := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		all := *blocks.Load()
		w.Header().Set("Content-Type", "application/rss+xml")
		switch r.URL.Path {
		case "/dave/rss.xml":
			_, _ = w.Write([]byte(all[0]))
		case "/dave/comments/204.xml":
			_, _ = w.Write([]byte(all[2]))
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(chat.Close)
	r := start(t, conf(t, t.TempDir()))
	all := threadBlocks(t, chat.URL, r.base)
	blocks.Store(&all)
	c := r.addAlice()
	b := r.appBrowser(t)
	if code, to, body := b.send(r.base+"/feeds/add", url.Values{"url": {chat.URL + "/dave/rss.xml"}}); code != http.StatusSeeOther {
		t.Fatalf("following is answered %d %s %.500s", code, to, body)
	}
	wait(t, "the post arrives", func() bool {
		_, _, body := b.send(r.base+"/river", nil)
		return strings.Contains(body, "The heron is back")
	})
	text, slug, at := "I saw it too.", "heron", time.Date(2026, 11, 28, 9, 2, 0, 0, time.UTC)
	p, err := c.CreatePost(t.Context(), "alice", client.PostChange{Source: &text, Slug: &slug, At: &at, Reply: &client.PostReply{URL: chat.URL + "/?id=204"}}, "")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(p.URL, "/alice/2026/11/28/heron") {
		t.Fatalf("the reply is at %s", p.URL)
	}
	_, own := get(t, r.base+"/alice/rss.xml")
	hasLines(t, "the author's feed", own, all[1])
	var id []string
	wait(t, "the answer waits for a decision", func() bool {
		_, _, body := b.send(r.base+"/write/replies", nil)
		id = regexp.MustCompile(`name="id" value="(\d+)"`).FindStringSubmatch(body)
		return id != nil
	})
	page := func() string { _, body := get(t, p.URL); return body }
	if got := page(); strings.Contains(got, "Both of you are right") || !strings.Contains(got, "The heron is back on the weir.") {
		t.Errorf("the page before the decision:\n%s", got)
	}
	if code, _, body := b.send(r.base+"/write/replies", url.Values{"id": {id[1]}, "do": {string(conversation.Approve)}}); code != http.StatusSeeOther {
		t.Fatalf("the decision is answered %d %.500s", code, body)
	}
	if got := page(); !strings.Contains(got, "Both of you are right") {
		t.Errorf("the page after the decision:\n%s", got)
	}
	_, comments := get(t, p.URL+"/comments.rss")
	hasLines(t, "the feed of comments", comments, all[3])
}
