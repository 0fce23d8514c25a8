package app_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"cloudburst/client"
	"cloudburst/protocol/greader"
)

// The feed limit of a user applies in each interface. The operator may exceed the limit.
func TestFeedLimitAppliesInEachInterface(t *testing.T) {
	t.Parallel()
	feeds := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, `<rss version="2.0"><channel><title>%s</title><item><title>One</title></item></channel></rss>`, r.URL.Path)
	}))
	t.Cleanup(feeds.Close)
	list := func(from, to int) string {
		var b strings.Builder
		b.WriteString(`<opml version="2.0"><body>`)
		for i := from; i < to; i++ {
			fmt.Fprintf(&b, `<outline text="%d" xmlUrl="%s/%d"/>`, i, feeds.URL, i)
		}
		return b.String() + `</body></opml>`
	}
	cfg := conf(t, t.TempDir())
	cfg.River.MaxFeeds = 3
	r := start(t, cfg)
	admin := &client.Client{Base: r.admin}
	if _, err := admin.AddUser(t.Context(), "olga", "a password of olga"); err != nil {
		t.Fatal(err)
	}
	if _, err := admin.AddUser(t.Context(), "alice", "a password of alice"); err != nil {
		t.Fatal(err)
	}
	token, err := admin.NewToken(t.Context(), "alice", client.TokenRequest{Label: "app", Scopes: []string{"read", "create", "update"}})
	if err != nil {
		t.Fatal(err)
	}
	alice := (&client.Client{Base: r.base, Token: token.Token}).River("")
	got, err := alice.ImportOPML(t.Context(), strings.NewReader(list(0, 5)), client.OPMLOptions{})
	if err != nil || got.Found != 5 || got.Added != 3 || got.OverLimit != 2 || got.Limit != 3 || !strings.Contains(strings.Join(got.Problems, " "), "river.max-feeds") {
		t.Errorf("an import: %+v, %v", got, err)
	}
	over := func(what string, err error) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), "river.max-feeds") {
			t.Errorf("%s: %v", what, err)
		}
	}
	_, err = alice.AddSource(t.Context(), client.SourceRequest{URL: feeds.URL + "/9"})
	over("a single feed", err)
	app := &greader.Client{Base: r.base, Auth: token.Token}
	over("an import of an app", app.Import(t.Context(), []byte(list(0, 5))))
	_, err = app.QuickAdd(t.Context(), feeds.URL+"/9")
	over("a feed of an app", err)
	if n := r.sources("alice"); n != 3 {
		t.Errorf("alice follows %d feeds", n)
	}
	got, err = admin.River("alice").ImportOPML(t.Context(), strings.NewReader(list(0, 5)), client.OPMLOptions{})
	if err != nil || got.Added != 2 || got.Existing != 3 || got.OverLimit != 0 {
		t.Errorf("an import of the operator: %+v, %v", got, err)
	}
	if _, err := admin.River("alice").AddSource(t.Context(), client.SourceRequest{URL: feeds.URL + "/9"}); err != nil {
		t.Errorf("a feed that the operator adds: %v", err)
	}
	if n := r.sources("alice"); n != 6 {
		t.Errorf("alice follows %d feeds", n)
	}
}
