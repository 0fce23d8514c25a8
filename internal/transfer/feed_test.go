package transfer

import (
	"slices"
	"strings"
	"testing"
	"time"

	"cloudburst/internal/author"

	"github.com/google/go-cmp/cmp"
)

const oldFeed = `<rss version="2.0"><channel><title>Old</title><link>https://old.example/blog/</link><description>Salt &amp; &lt;i&gt;pepper&lt;/i&gt;</description><language>en</language>
<item><title>One</title><link>https://www.old.example/one</link><guid isPermaLink="false">1</guid><pubDate>Fri, 01 Mar 2024 09:30:00 GMT</pubDate><description>&lt;p&gt;&lt;img src="/i.png"&gt; &lt;a href="http://a.example/"&gt;a&lt;/a&gt;&lt;/p&gt;</description></item>
<item><title>Two</title><link>https://else.example/page</link><guid>https://old.example/two</guid><pubDate>Fri, 01 Mar 2024 08:30:00 GMT</pubDate></item>
<item><title>Three</title><guid>https://old.example/three</guid><pubDate>Fri, 01 Mar 2024 07:30:00 GMT</pubDate></item>
<item><title>Someday</title><link>https://old.example/four</link><guid isPermaLink="false">4</guid><pubDate>someday</pubDate></item>
<item><title>Never</title><description>no guid</description></item>
</channel></rss>`

func TestImportedFeedItemsMoveToTheirNewPages(t *testing.T) {
	t.Parallel()
	s := newTestServer(t, "https://two.example")
	const at = "https://two.example/alice/2024/03/01/"
	want := Result{Kind: "rss", Found: 5, Added: 5, Drafts: 2, Profile: true, From: time.Date(2024, 3, 1, 7, 30, 0, 0, time.UTC), To: time.Date(2024, 3, 1, 9, 30, 0, 0, time.UTC),
		Moved:    []Moved{{"https://www.old.example/one", at + "one"}, {"https://old.example/two", at + "two"}, {"https://old.example/three", at + "three"}},
		Problems: []string{"Posts without a valid date became drafts: 2."}}
	if diff := cmp.Diff(want, s.mustImport("alice", []byte(oldFeed))); diff != "" {
		t.Error(diff)
	}
	links := map[string]string{}
	for _, it := range s.feed("alice").Items {
		links[it.Title.Value] = strings.Replace(it.Link, "https://here.example/somebody/", "", 1)
	}
	if diff := cmp.Diff(map[string]string{"One": "2024/03/01/one", "Two": "https://else.example/page", "Three": "2024/03/01/three"}, links); diff != "" {
		t.Error(diff)
	}
	for _, p := range s.all("alice") {
		if undated := p.Title == "Someday" || p.Title == "Never"; (p.State == author.Draft) != undated || p.CreatedAt.Year() < 2024 || p.UpdatedAt.Year() < 2024 {
			t.Errorf("%+v", p)
		}
	}
	if again := s.mustImport("alice", []byte(oldFeed)); again.Added != 0 || again.Existing != 5 || !slices.Equal(again.Moved, want.Moved) {
		t.Errorf("second import: %+v", again)
	}
}

// Earlier versions stored a guid that is not a URL as a URL below the site.
func TestItemsImportedUnderFormerGUIDsAreNotImportedAgain(t *testing.T) {
	t.Parallel()
	s := newTestServer(t, "https://two.example")
	s.mustImport("alice", []byte(strings.NewReplacer(">1</guid>", ">https://old.example/blog/1</guid>", ">4</guid>", ">https://old.example/blog/4</guid>").Replace(oldFeed)))
	for _, preview := range []bool{true, false} {
		res, err := s.Import(t.Context(), "alice", strings.NewReader(oldFeed), int64(len(oldFeed)), Options{Preview: preview}, nil)
		if err != nil || res.Added != 0 || res.Existing != 5 || !preview && len(res.Moved) != 3 {
			t.Errorf("preview %t: %+v, %v", preview, res, err)
		}
	}
	if all := s.all("alice"); len(all) != 5 {
		t.Errorf("%d posts", len(all))
	}
}

func TestChannelOfAnImportedFeedBecomesTheProfile(t *testing.T) {
	t.Parallel()
	s := newTestServer(t, "https://two.example")
	s.mustImport("alice", []byte(strings.Replace(oldFeed, "<title>Old</title>", "<title>"+strings.Repeat("x", 400)+"</title>", 1)))
	w, err := s.posts.Writer(t.Context(), "alice")
	if err != nil || w.Blurb != "Salt & pepper" || w.Language != "en" || len(w.Title) != author.MaxTitle {
		t.Errorf("%+v, %v", w.Profile, err)
	}
}

func TestRelativeURLsInAnImportedFeedAreResolvedAgainstTheOldSite(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ doc, want string }{
		"channel": {`<rss version="2.0"><channel><title>Old</title><link>https://old.example/blog/</link><item><title>a</title><guid isPermaLink="false">1</guid><description>&lt;img src="../i.png"&gt;</description></item></channel></rss>`, `src="https://old.example/i.png"`},
		"item":    {`<rss version="2.0"><channel><title>Old</title><link>https://old.example/blog/</link><item><title>a</title><link>https://old.example/blog/2024/a/</link><description>&lt;img src="i.png"&gt;</description></item></channel></rss>`, `src="https://old.example/blog/2024/a/i.png"`},
		"self":    {`<feed xmlns="http://www.w3.org/2005/Atom"><title>Old</title><link rel="self" href="https://old.example/blog/atom.xml"/><id>x</id><entry><id>1</id><title>a</title><content type="html">&lt;img src="i.png"&gt;</content></entry></feed>`, `src="https://old.example/blog/i.png"`},
		"json":    {`{"version":"https://jsonfeed.org/version/1.1","title":"Old","home_page_url":"https://old.example/blog/","items":[{"id":"1","content_html":"<img src='/i.png'>"}]}`, `src="https://old.example/i.png"`},
		"none":    {`<rss version="2.0"><channel><title>Old</title><item><title>a</title><guid isPermaLink="false">1</guid><description>&lt;img src="/i.png"&gt;</description></item></channel></rss>`, `src="/i.png"`},
	} {
		s := newTestServer(t, "https://two.example")
		s.mustImport("alice", []byte(c.doc))
		if p := s.all("alice")[0]; !strings.Contains(p.HTML, c.want) {
			t.Errorf("%s: %s lacks %s", name, p.HTML, c.want)
		}
	}
}
