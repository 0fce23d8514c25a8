package app

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"cloudburst/internal/author"
)

func TestExtendedPingListsChangedPostAndCategories(t *testing.T) {
	t.Parallel()
	got := make(chan string, 10)
	target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		got <- string(body)
		io.WriteString(w, `<methodResponse><params><param><value><struct><member><name>flerror</name><value><boolean>0</boolean></value></member></struct></value></param></params></methodResponse>`)
	}))
	defer target.Close()
	a := program(t)
	write := signUp(t, a, "alice")
	if _, err := a.posts.SetProfile(t.Context(), "alice", func(p *author.Profile) error {
		p.Title, p.PingTargets = "Walks", []string{"weblogs-extended " + target.URL + "/RPC2"}
		return nil
	}, "test"); err != nil {
		t.Fatal(err)
	}
	home := a.names.Public() + "/alice/"
	pinged := func(params ...string) {
		t.Helper()
		select {
		case body := <-got:
			from := 0
			for _, p := range append([]string{"weblogUpdates.extendedPing"}, params...) {
				at := strings.Index(body[from:], ">"+p+"<")
				if at < 0 {
					t.Fatalf("the ping does not have %q in its place:\n%s", p, body)
				}
				from += at + len(p)
			}
			if n := strings.Count(body, "<param>"); n != len(params) {
				t.Errorf("the ping has %d parameters:\n%s", n, body)
			}
		case <-time.After(time.Minute):
			t.Fatal("no ping received")
		}
	}
	post := write("alice", "one", "Go", "Fun | stuff")
	pinged("Walks", home, a.posts.Address(post), home+"rss.xml", "Go|Fun / stuff")
	post = write("alice", "two")
	pinged("Walks", home, a.posts.Address(post), home+"rss.xml")
}
