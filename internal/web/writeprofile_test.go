package web

import (
	"fmt"
	"strings"
	"testing"
)

func TestProfileIsSavedAndErrorsAreNextToTheirFields(t *testing.T) {
	t.Parallel()
	x := newWriteHarness(t).as("alice")
	rec := x.postMultipart("/account/author", "me.png", "image/png", []byte("\x89PNG"), "title", "Alice writes", "blurb", "Walks\r\nand birds", "link", "https://a.example/", "tinted", "1", "accent", "#AA3300",
		"theme", "dark", "language", "de", "sinks", "websub https://hub.example/\r\n\r\n")
	if to := x.location(rec); to.String() != "/account/author?done=saved" {
		t.Errorf("leads to %s", to)
	}
	w, err := x.posts.Writer(t.Context(), "alice")
	if p := w.Profile; err != nil || p.Title != "Alice writes" || p.Blurb != "Walks\nand birds" || p.Accent != "#aa3300" || p.Theme != "dark" || !strings.HasSuffix(p.Avatar, "/me.png") || fmt.Sprint(p.PingTargets) != "[websub https://hub.example/]" {
		t.Errorf("%+v %v", p, err)
	}
	doc := check(t, x.open("/account/author?done=saved"))
	if x.field(doc, "title") != "Alice writes" || x.field(doc, "accent") != "#aa3300" || len(find(doc, "div", "portrait")) != 1 {
		t.Error("the page does not have it")
	}
	for _, c := range []struct{ name, value, at, words string }{
		{"link", "javascript:alert(1)", "p-link-wrong", "must begin with http"},
		{"language", "what language", "p-language-wrong", "is not a language"},
		{"title", strings.Repeat("x", 301), "p-title-wrong", "more than 300"},
		{"blurb", strings.Repeat("x", 2001), "p-blurb-wrong", "more than 2000"},
		{"sinks", "carrier pigeon", "p-sinks-wrong", "is not a ping target"},
	} {
		rec := x.send("/account/author", c.name, c.value)
		doc := check(t, rec)
		var message string
		for n := range doc.Descendants() {
			if attr(n, "id") == c.at {
				message = text(n)
			}
		}
		if rec.Code != 400 || !strings.Contains(message, c.words) {
			t.Errorf("%s: %d %q", c.name, rec.Code, message)
		}
	}
	if rec := x.postMultipart("/account/author", "me.txt", "text/plain", []byte("words")); rec.Code != 400 || !strings.Contains(text(check(t, rec)), "is not an image") {
		t.Errorf("a text as an image: %d", rec.Code)
	}
}
