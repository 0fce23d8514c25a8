package app_test

import (
	"context"
	"net/http"
	"os/exec"
	"strings"
	"testing"

	"cloudburst/client"
	"cloudburst/internal/fulltest"
	"cloudburst/protocol/micropub"
)

func TestMicropubPostNotifiesSubscribers(t *testing.T) {
	t.Parallel()
	w := newWebSubHub(t, nil)
	token, err := w.addAlice().NewToken(t.Context(), "alice", client.TokenRequest{Label: "phone", Scopes: []string{"create", "update", "delete", "media"}})
	if err != nil {
		t.Fatal(err)
	}
	c := &micropub.Client{Endpoint: w.base + "/micropub", Token: token.Token}
	conf, err := c.Config(t.Context())
	if err != nil || conf.MediaEndpoint == "" {
		t.Fatal(conf, err)
	}
	at, err := c.Create(t.Context(), &micropub.Request{Properties: micropub.Properties{"content": {micropub.Text("First")}}})
	if err != nil {
		t.Fatal(err)
	}
	public, _, _ := strings.Cut(at, "/alice/")
	here := func(address string) string { return strings.Replace(address, public, w.base, 1) }
	cloud := newSubscriber(t)
	if code, body := post(t, w.base+"/rsscloud/pleaseNotify", cloud.form(public+"/alice/rss.xml", "")); code != http.StatusOK || !strings.Contains(body, `success="true"`) {
		t.Fatalf("pleaseNotify: %d %s", code, body)
	}
	cloud.wait(t, "the test call")
	image, err := c.Upload(t.Context(), here(conf.MediaEndpoint), &micropub.Upload{Name: "note.txt", Type: "text/plain", Reader: strings.NewReader("Some words.")})
	if err != nil {
		t.Fatal(err)
	}
	if code, body := get(t, here(image)); code != http.StatusOK || body != "Some words." {
		t.Errorf("the file: %d %s", code, body)
	}
	if _, err := c.Update(t.Context(), &micropub.Request{URL: at, Replace: micropub.Properties{"content": {micropub.HTML("<p>Second</p>")}}}); err != nil {
		t.Fatal(err)
	}
	if got := cloud.wait(t, "the update"); got != public+"/alice/rss.xml" {
		t.Errorf("notified of %s", got)
	}
	if code, page := get(t, here(at)); code != http.StatusOK || !strings.Contains(page, "Second") {
		t.Errorf("its page: %d %.500s", code, page)
	}
	if err := c.Delete(t.Context(), at); err != nil {
		t.Fatal(err)
	}
	cloud.wait(t, "the deletion")
	if code, _ := get(t, here(at)); code != http.StatusGone {
		t.Errorf("a deleted post is answered %d", code)
	}
	if _, err := c.Undelete(t.Context(), at); err != nil {
		t.Fatal(err)
	}
	if _, doc := get(t, w.base+"/alice/feed.json"); !strings.Contains(doc, "Second") {
		t.Errorf("the feed: %.500s", doc)
	}
}

func TestPythonMicropubClientPublishesPosts(t *testing.T) {
	t.Parallel()
	fulltest.Needs(t, "another language")
	cfg := conf(t, t.TempDir())
	cfg.PublicURL = "https://hub.example"
	r := start(t, cfg)
	token, err := r.addAlice().NewToken(t.Context(), "alice", client.TokenRequest{Label: "app", Scopes: []string{"create", "update", "delete", "media"}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), maxWait)
	defer cancel()
	out, err := exec.CommandContext(ctx, "python3", "../endpoint/publishhttp/testdata/clients/micropub_client.py", r.base, token.Token).CombinedOutput()
	if err != nil || strings.TrimSpace(string(out)) != "ok" {
		t.Fatalf("%v\n%s", err, out)
	}
}

func TestPostsAreCreatedThroughTheAPIOnBothListeners(t *testing.T) {
	t.Parallel()
	w := newWebSubHub(t, nil)
	operator := w.addAlice()
	token, err := operator.NewToken(t.Context(), "alice", client.TokenRequest{Label: "script", Scopes: []string{"create"}})
	if err != nil {
		t.Fatal(err)
	}
	words := func(s string) *string { return &s }
	if _, err := operator.CreatePost(t.Context(), "alice", client.PostChange{Source: words("by the operator")}, ""); err != nil {
		t.Fatal(err)
	}
	own := &client.Client{Base: w.base, Token: token.Token}
	p, err := own.CreatePost(t.Context(), "alice", client.PostChange{Source: words("by a script")}, "1")
	if err != nil || p.URL == "" {
		t.Fatal(p, err)
	}
	if _, doc := get(t, w.base+"/alice/feed.json"); !strings.Contains(doc, "by the operator") || !strings.Contains(doc, "by a script") {
		t.Errorf("the feed: %.500s", doc)
	}
	if _, err := own.DeletePost(t.Context(), "alice", p.ID, 0); err == nil {
		t.Error("a token that may make posts deleted one")
	}
}
