package app_test

import (
	"net/http"
	"strings"
	"testing"

	"cloudburst/client"
)

func TestRepliesStayWithAPostWhoseDateChanges(t *testing.T) {
	t.Parallel()
	w := newTalker(t, "alice", nil)
	first := w.publish("alice", "First", "").URL
	title, state := "Grüße", "published"
	moved, err := w.CreatePost(t.Context(), "alice", client.PostChange{Title: &title, State: &state}, "")
	if err != nil {
		t.Fatal(err)
	}
	old := moved.URL
	s := newSource(t, htmlPage(`<div class="h-entry"><a class="u-in-reply-to" href="`+old+`">x</a><p class="e-content">Approved text</p></div>`))
	w.mention(s.URL+"/one", old, http.StatusAccepted)
	if _, err := w.of("alice").Decide(t.Context(), w.reply("alice", "waiting").ID, "approve"); err != nil {
		t.Fatal(err)
	}
	at := moved.PublishedAt.AddDate(0, 0, -3)
	if moved, err = w.ChangePost(t.Context(), "alice", moved.ID, 0, client.PostChange{At: &at}); err != nil {
		t.Fatal(err)
	}
	if moved.URL == old {
		t.Fatal("the URL did not change")
	}
	if _, page := get(t, old); !strings.Contains(page, "Approved text") {
		t.Error("the page lost its reply")
	}
	if _, body := get(t, old+"/comments.rss"); !strings.Contains(body, "Approved text") {
		t.Errorf("the feed of replies lost its reply: %s", body)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, old+"/comments.rss", nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if to := res.Header.Get("Location"); res.StatusCode != http.StatusMovedPermanently || w.base+to != moved.URL+"/comments.rss" {
		t.Errorf("%d %s", res.StatusCode, to)
	}
	s.becomes(htmlPage(`<div class="h-entry"><a class="u-in-reply-to" href="` + old + `">x</a><p class="e-content">Changed text</p></div>`))
	w.mention(s.URL+"/one", old, http.StatusAccepted)
	wait(t, "the text changes", func() bool { return w.reply("alice", "waiting").Text == "Changed text" })
	w.mention(s.URL+"/one", strings.Replace(first, "/alice/2", "/alice/x", 1), http.StatusBadRequest)
}
