package web

import (
	"context"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"cloudburst/internal/author"
)

func TestPreviewIsSanitizedAndCountsCharacters(t *testing.T) {
	t.Parallel()
	x := newWriteHarness(t).as("alice")
	a, _ := x.ask("/write/preview", "look", "1", "source", "**Hi** <script>alert(1)</script><img src=x onerror=alert(1)> ![a](/alice/media/0123456789abcdef/a.png) [x](javascript:alert(1))")
	if got := string(a.HTML); !strings.Contains(got, "<strong>Hi</strong>") || strings.Contains(got, "script") || strings.Contains(got, "onerror") || !strings.Contains(got, `src="/alice/media/0123456789abcdef/a.png"`) {
		t.Errorf("it looks like %s", got)
	}
	if b, _ := x.ask("/write/preview", "source", "**Hi**"); b.Characters != 2 || b.Limit != 140 || b.HTML != "" {
		t.Errorf("it counts %+v", b)
	}
}

func TestCharacterCountOfPreviewExcludesTheLinkURL(t *testing.T) {
	t.Parallel()
	x := newWriteHarness(t).as("alice")
	const link = "https://example.com/page"
	source := "Hi " + link
	for given, want := range map[string]int{link: 2, "": 27, "https://example.com/other": 27, "javascript:alert(1)": 27} {
		if a, _ := x.ask("/write/preview", "source", source, "link", given); a.Characters != want || a.Limit != 140 {
			t.Errorf("with the link %q: %+v, want %d characters", given, a, want)
		}
	}
}

// lookAlike returns the HTML of a post. It removes the expected differences between a preview and the page
// of the post, such as the level of the heading.
func lookAlike(t *testing.T, n *html.Node) string {
	t.Helper()
	var b strings.Builder
	if err := html.Render(&b, n); err != nil {
		t.Fatal(err)
	}
	s := strings.NewReplacer("<h1 ", "<h2 ", "</h1>", "</h2>").Replace(b.String())
	s = regexp.MustCompile(`<a class="u-url u-uid"[^>]*>(.*?)</a>`).ReplaceAllString(s, "$1") // remove the link from the post to its own page
	return strings.Join(strings.Fields(regexp.MustCompile(`^<article[^>]*>`).ReplaceAllString(s, "<article>")), " ")
}

func TestPreviewMatchesThePageOfThePost(t *testing.T) {
	t.Parallel()
	x := newWriteHarness(t).as("alice")
	hash := strings.Repeat("ab", 32)
	x.FileOf = func(context.Context, string, string) (author.File, error) {
		return author.File{User: "alice", Hash: hash, Type: "image/png", Width: 640, Height: 480}, nil
	}
	x.pages, x.author = x.Routes(), x.AuthorPage()
	fields := []string{
		"writer", "alice", "key", "k", "title", "A long <walk>", "source", "# Up\n\n## And down\n\n![far](https://elsewhere.example/far.png) *so*", "link", "https://example.com/page", "categories", "Walks, birds",
		"language", "de", "reply-of", "https://example.com/post", "reply-title", "Where to?", "reply", "https://example.com/post", "when", "2026-11-20T10:00", "offset", "0",
		"file", "/alice/media/" + hash[:16] + "/hill.png", "file-type", "image/png", "file-length", "1000", "file-title", "hill.png", "file-alt", "A hill",
		"file", "https://elsewhere.example/talk.mp3", "file-type", "audio/mpeg", "file-length", "160044", "file-title", "The talk", "file-alt", "",
		"outline", `[{"text":"One, see [two](https://example.com/2)","nodes":[{"text":"Within"}]}]`,
	}
	a, status := x.ask("/write/preview", append(fields, "look", "1")...)
	plain := check(t, x.send("/write", append(fields, "do", "preview")...))
	if to := x.location(x.send("/write", append(fields, "do", "publish")...)); to.Query().Get("did") != "published" {
		t.Fatalf("publishing leads to %s", to)
	}
	rec := httptest.NewRecorder()
	p := x.post("alice", 1)
	x.author(rec, httptest.NewRequest("GET", x.Posts.Path(p), nil), "alice")
	page := find(check(t, rec), "article", "alone")
	if len(page) != 1 {
		t.Fatalf("the page of the post: %d %s", rec.Code, rec.Body)
	}
	want := lookAlike(t, page[0])
	for _, part := range []string{`alt="A hill" width="640" height="480"`, "<audio", "In reply to", "example.com/page", "Walks", "A long &lt;walk&gt;", "Within", "20 November 2026"} {
		if !strings.Contains(want, part) {
			t.Errorf("the page of the post has no %s: %s", part, want)
		}
	}
	doc, err := html.Parse(strings.NewReader(string(a.HTML)))
	if err != nil || status != 200 {
		t.Fatal(status, a.Error, err)
	}
	for name, seen := range map[string][]*html.Node{"script": find(doc, "article", "alone"), "form": find(plain, "article", "alone")} {
		if len(seen) != 1 {
			t.Errorf("the %s shows %d posts", name, len(seen))
		} else if got := lookAlike(t, seen[0]); got != want {
			t.Errorf("the %s shows\n%s, not\n%s", name, got, want)
		}
	}
}
