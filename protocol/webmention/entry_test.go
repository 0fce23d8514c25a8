package webmention_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cloudburst/protocol/webmention"
)

func TestWebmentionEntryIsReadFromMicroformats(t *testing.T) {
	t.Parallel()
	card := `<a class="p-author h-card" href="/me"><img class="u-photo" src="x.png" alt="">Ann  Lee</a>`
	for name, tt := range map[string]struct {
		doc  string
		want webmention.Entry
	}{
		"reply": {`<div class="h-entry">` + card + `<p class="e-content">Well <b>said</b>.<script>no()</script></p><a class="u-in-reply-to" href="https://me.example/post">x</a><time class="dt-published" datetime="2026-11-28T10:00:00+01:00"></time></div>`,
			webmention.Entry{Kind: "reply", AuthorName: "Ann Lee", AuthorURL: "https://you.example/me", Text: "Well said.", Published: time.Date(2026, 11, 28, 9, 0, 0, 0, time.UTC)}},
		"reply to a cite": {`<div class="h-entry"><div class="u-in-reply-to h-cite"><a class="u-url" href="https://me.example/post">x</a><p class="p-name e-content">Theirs</p></div><p class="p-name e-content">Mine</p></div>`,
			webmention.Entry{Kind: "reply", Text: "Mine"}},
		"like": {`<div class="h-entry"><div class="p-author h-card"><span class="p-name">Bob</span><a class="u-url" href="javascript:alert(1)">x</a></div><a class="u-like-of" href="https://me.example/post">liked</a></div>`,
			webmention.Entry{Kind: "like", AuthorName: "Bob"}},
		"repost":   {`<div class="h-entry"><data class="u-repost-of" value="https://me.example/post"></data></div>`, webmention.Entry{Kind: "repost"}},
		"bookmark": {`<div class="h-entry"><a class="u-bookmark-of" href="https://me.example/post">x</a></div>`, webmention.Entry{Kind: "bookmark"}},
		"reply to another page": {`<div class="h-entry"><a class="u-in-reply-to" href="https://other.example/">x</a><h1 class="p-name">Title</h1><p class="e-content"><a href="https://me.example/post">See</a></p></div>`,
			webmention.Entry{Kind: "mention", Title: "Title", Text: "See"}},
		"second entry": {`<div class="h-entry"><p class="e-content">A</p></div><div class="h-entry"><p class="e-content">B</p><a class="u-like-of" href="https://me.example/post">x</a></div>`,
			webmention.Entry{Kind: "like", Text: "B"}},
		"no entry":   {`<title> A  page </title><a href="https://me.example/post">x</a>`, webmention.Entry{Kind: "mention", Title: "A page"}},
		"too nested": {strings.Repeat("<div>", 100_000) + `<div class="h-entry">`, webmention.Entry{Kind: "mention"}},
	} {
		if d := cmp.Diff(tt.want, webmention.ReadEntry([]byte(tt.doc), "text/html", "https://you.example/reply", target)); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
	long := webmention.ReadEntry([]byte(`<div class="h-entry"><p class="e-content">`+strings.Repeat("ä ", 10_000)+`</p></div>`), "text/html", "https://you.example/", target)
	if n := len([]rune(long.Text)); n != webmention.MaxText {
		t.Errorf("a long text has %d characters", n)
	}
}
