package app_test

import (
	"context"
	"net/http"
	"os/exec"
	"strings"
	"testing"

	"cloudburst/client"
	"cloudburst/internal/fulltest"
	"cloudburst/protocol/metaweblog"
)

func TestPythonMetaWeblogClientPublishesPosts(t *testing.T) {
	t.Parallel()
	fulltest.Needs(t, "another language")
	cfg := conf(t, t.TempDir())
	cfg.PublicURL = "https://hub.example"
	r := start(t, cfg)
	if _, err := r.addAlice().AddUser(t.Context(), "carol", alicePassword); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), maxWait)
	defer cancel()
	out, err := exec.CommandContext(ctx, "python3", "../endpoint/publishhttp/testdata/clients/metaweblog_client.py", r.base, alicePassword).CombinedOutput()
	if err != nil || strings.TrimSpace(string(out)) != "ok" {
		t.Fatalf("%v\n%s", err, out)
	}
}

func TestXMLRPCEditorPostsAndSubscribersAreNotified(t *testing.T) {
	t.Parallel()
	w := newWebSubHub(t, nil)
	token, err := w.addAlice().NewToken(t.Context(), "alice", client.TokenRequest{Label: "editor", Scopes: []string{"create", "update", "delete", "media"}})
	if err != nil {
		t.Fatal(err)
	}
	code, doc := get(t, w.base+"/alice/rsd.xml")
	d, ok := metaweblog.ParseRSD([]byte(doc), w.base+"/alice/rsd.xml", "")
	if code != http.StatusOK || !ok {
		t.Fatalf("rsd: %d %s", code, doc)
	}
	api, ok := d.API("MetaWeblog")
	if !ok || !api.Preferred {
		t.Fatalf("%+v", d)
	}
	if code, _ := get(t, w.base+"/nobody/rsd.xml"); code != http.StatusNotFound {
		t.Errorf("RSD of an unknown user: %d", code)
	}
	c := &metaweblog.Client{URL: api.Link, Blog: api.BlogID, Name: "alice", Password: token.Token}
	id, err := c.NewPost(t.Context(), metaweblog.Edit{Title: new("First"), Description: new("<p>x</p>"), Publish: new(true)})
	if err != nil {
		t.Fatal(err)
	}
	public := strings.TrimSuffix(d.Home, "/alice/")
	cloud := newSubscriber(t)
	if code, body := post(t, w.base+"/rsscloud/pleaseNotify", cloud.form(public+"/alice/rss.xml", "")); code != http.StatusOK || !strings.Contains(body, `success="true"`) {
		t.Fatalf("pleaseNotify: %d %s", code, body)
	}
	cloud.wait(t, "the test call")
	if err := c.EditPost(t.Context(), id, metaweblog.Edit{Title: new("Second"), Publish: new(true)}); err != nil {
		t.Fatal(err)
	}
	if got := cloud.wait(t, "the edit"); got != public+"/alice/rss.xml" {
		t.Errorf("notified of %s", got)
	}
	for _, form := range []string{"rss.xml", "feed.atom", "feed.json", "feed.opml", "feed.html", "feed.csv", "feed.txt"} {
		if code, doc := get(t, w.base+"/alice/"+form); code != http.StatusOK || !strings.Contains(doc, "Second") {
			t.Errorf("%s: %d %.500s", form, code, doc)
		}
	}
	p, err := c.Post(t.Context(), id)
	if err != nil || p.Title != "Second" || p.Description != "<p>x</p>" {
		t.Errorf("%v %+v", err, p)
	}
	if code, page := get(t, strings.Replace(p.PermaLink, public, w.base, 1)); code != http.StatusOK || !strings.Contains(page, "Second") {
		t.Errorf("its page: %d %.500s", code, page)
	}
}
