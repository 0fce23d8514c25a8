package publishhttp_test

import (
	"fmt"
	"slices"
	"testing"

	"cloudburst/internal/author"
)

func TestMicropubVisibilitySelectsReaderGroups(t *testing.T) {
	t.Parallel()
	w := newPubHarness(t)
	if _, err := (author.Groups{Posts: w.posts}).AddGroup(t.Context(), "alice", author.Group{Name: "Family"}); err != nil {
		t.Fatal(err)
	}
	is := func(what string, p author.Post, state author.State, groups ...string) {
		t.Helper()
		if p.State != state || !slices.Equal(p.Groups, groups) {
			t.Errorf("%s: the post is %s for %q", what, p.State, p.Groups)
		}
	}
	at, p := w.create(`{"content":["a"],"visibility":["private"],"audience":["family"]}`)
	is("private for an audience", p, author.ForGroups, "family")
	if want := fmt.Sprint(w.origin, "/write/", p.ID); at != want {
		t.Errorf("the URL of a private post is %s", at)
	}
	o, err := w.client("update").Source(t.Context(), at)
	if err != nil || o.Properties.Text("visibility") != "private" || o.Properties.Text("audience") != "family" || o.Properties.Text("post-status") != "published" {
		t.Errorf("the source is %+v, %v", o.Properties, err)
	}
	for _, c := range []struct {
		what, changes string
		state         author.State
		groups        []string
	}{
		{"another text", `"replace":{"content":["b"]}`, author.ForGroups, []string{"family"}},
		{"another audience", `"replace":{"audience":["private"]}`, author.ForGroups, []string{"private"}},
		{"no audience", `"delete":["audience"]`, author.ForGroups, []string{"private"}},
	} {
		if _, err := w.update(at, c.changes); err != nil {
			t.Fatal(c.what, err)
		}
		is(c.what, w.get(p.ID), c.state, c.groups...)
	}
	public, err := w.update(at, `"replace":{"visibility":["public"]}`)
	if err != nil || public == "" {
		t.Error(public, err)
	}
	is("public", w.get(p.ID), author.Published)
	if _, err := w.update(public, `"replace":{"visibility":["private"]}`); err != nil {
		t.Error(err)
	}
	is("private again", w.get(p.ID), author.ForGroups, "private")
	if _, err := w.update(at, `"replace":{"audience":["neighbours"]}`); err == nil {
		t.Error("an unknown group was accepted")
	}
	is("after an error", w.get(p.ID), author.ForGroups, "private")
}
