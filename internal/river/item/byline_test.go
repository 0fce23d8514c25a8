package item

import (
	"slices"
	"testing"

	"cloudburst/feed"
)

// Planets repeat entries of other feeds, whose authors are in the source of the entry.
func TestAuthorsOfTheSourceApplyToTheItem(t *testing.T) {
	t.Parallel()
	entry := func(author, source string) *feed.Feed {
		f, err := feed.ParseBytes([]byte(`<feed xmlns="http://www.w3.org/2005/Atom"><title>Planet</title><author><name>Planet Bot</name></author><entry><id>urn:x-a:1</id><title>Post</title>`+
			author+`<source><title>S</title>`+source+`</source></entry></feed>`), nil)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	const alice, bob = `<author><name>Alice</name></author>`, `<author><name>Bob</name></author>`
	for _, c := range []struct {
		author, source string
		want           []string
	}{{"", alice, []string{"Alice"}}, {bob, alice, []string{"Bob"}}, {"", "", nil}} {
		f := entry(c.author, c.source)
		if got := NewConverter().Content(f, &f.Items[0]).Authors; !slices.Equal(got, c.want) {
			t.Errorf("authors %v, want %v", got, c.want)
		}
	}
	if hashOf(&entry("", alice).Items[0]) == hashOf(&entry("", bob).Items[0]) {
		t.Error("another author of the source is not an edit")
	}
}
