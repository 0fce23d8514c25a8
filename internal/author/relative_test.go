package author_test

import (
	"strings"
	"testing"
	"time"

	"cloudburst/internal/author"
)

func TestRelativeURLsInPostsAreResolvedAgainstThePage(t *testing.T) {
	t.Parallel()
	p := &author.Posts{Origin: func() string { return "https://cloud.test" }}
	post := author.Post{User: "alice", Slug: "hello", GUID: "urn:x", PublishedAt: time.Date(2026, 11, 22, 8, 0, 0, 0, time.UTC)}
	post.HTML = `<p><img src="pic.png" alt=""><a href="note">n</a><a href="/rel">r</a><a href="#s">s</a><a href="https://h.example/x">x</a></p>`
	post.Outline = []author.Node{{HTML: `<a href="deep">d</a>`}}
	it := p.Item(post)
	for _, want := range []string{`src="https://cloud.test/alice/2026/11/22/pic.png"`, `href="https://cloud.test/alice/2026/11/22/note"`,
		`href="https://cloud.test/rel"`, `href="https://cloud.test/alice/2026/11/22/hello#s"`, `href="https://h.example/x"`} {
		if !strings.Contains(it.Summary.Value, want) {
			t.Errorf("%s is missing in %s", want, it.Summary.Value)
		}
	}
	const deep = `href="https://cloud.test/alice/2026/11/22/deep"`
	if got := it.Items[0].Summary.Value; !strings.Contains(got, deep) {
		t.Errorf("%s is missing in the item %s", deep, got)
	}
	if got := it.Content[0].Value; !strings.Contains(got, deep) {
		t.Errorf("%s is missing in the list %s", deep, got)
	}
}
