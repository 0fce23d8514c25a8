package transfer

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"cloudburst/internal/author"
	"cloudburst/internal/fault"
)

// pngOf returns a small PNG image. Images with different shades are different files.
func pngOf(t *testing.T, shade uint8) string {
	t.Helper()
	m := image.NewGray(image.Rect(0, 0, 4, 4))
	m.Set(1, 1, color.Gray{shade})
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func zipOf(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		f, err := w.Create(name)
		if err == nil {
			_, err = io.WriteString(f, files[name])
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func tarOf(t *testing.T, files map[string]string, more ...*tar.Header) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		more = append(more, &tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o644, Size: int64(len(files[name]))})
	}
	for _, h := range more {
		err := w.WriteHeader(h)
		if err == nil {
			_, err = io.WriteString(w, files[h.Name])
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func (s *testServer) with(opts Options, b []byte) Result {
	s.t.Helper()
	res, err := s.Import(s.t.Context(), "alice", bytes.NewReader(b), int64(len(b)), opts, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	return res
}

const mastodonBase = "https://m.example/users/ann"

// toot returns an activity of an outbox. more is added to the note.
func toot(id int, content, more string) string {
	return fmt.Sprintf(`{"id":"%s/statuses/%d/activity","type":"Create","actor":"%[1]s","published":"2023-05-0%dT10:00:00Z","to":["https://www.w3.org/ns/activitystreams#Public"],"cc":[],
"object":{"id":"%[1]s/statuses/%[2]d","type":"Note","url":"https://m.example/@ann/%[2]d","published":"2023-05-0%[3]dT10:00:00Z","content":%q%s}}`, mastodonBase, id, id%9+1, content, more)
}

func mastodonFiles(t *testing.T) map[string]string {
	toots := []string{
		toot(1, "<p>Hello <script>alert(1)</script>fish</p>", `,"summary":null,"tag":[{"type":"Hashtag","name":"#Fish"}],"contentMap":{"en":"x"},"attachment":[{"type":"Document","mediaType":"image/png","url":"/media_attachments/files/1/a.png","name":"A fish"}]`),
		toot(2, "<p>Second of a thread</p>", `,"inReplyTo":"`+mastodonBase+`/statuses/1"`),
		toot(3, "<p>To Bob</p>", `,"inReplyTo":"https://else.example/bob/9"`),
		toot(4, "<p>More to Bob</p>", `,"inReplyTo":"`+mastodonBase+`/statuses/3"`),
		`{"id":"` + mastodonBase + `/statuses/5/activity","type":"Announce","actor":"` + mastodonBase + `","published":"2023-05-06T10:00:00Z","object":"https://else.example/bob/10"}`,
		strings.Replace(toot(6, "<p>Secret</p>", ""), "https://www.w3.org/ns/activitystreams#Public", mastodonBase+"/followers", 1),
		strings.ReplaceAll(toot(7, "<p>No date</p>", ""), "2023-05-08T10:00:00Z", "the day after"),
		`{"id":5}`,
	}
	return map[string]string{
		"actor.json":                         `{"id":"` + mastodonBase + `","name":"Ann","summary":"<p>Fishes.</p>","url":"https://m.example/@ann"}`,
		"outbox.json":                        `{"@context":"https://www.w3.org/ns/activitystreams","id":"outbox.json","type":"OrderedCollection","totalItems":8,"orderedItems":[` + strings.Join(toots, ",\n") + `]}`,
		"media_attachments/files/1/a.png":    pngOf(t, 1),
		"media_attachments/files/1/rest.png": pngOf(t, 2),
	}
}

func TestMastodonArchiveIsImported(t *testing.T) {
	t.Parallel()
	for name, file := range map[string][]byte{"zip": zipOf(t, mastodonFiles(t)), "tar.gz": tarOf(t, mastodonFiles(t))} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newTestServer(t, "https://one.example")
			pre := s.with(Options{Preview: true}, file)
			if pre.Kind != "mastodon" || pre.Found != 8 || pre.Added != 3 || pre.Drafts != 1 || pre.Replies != 2 || pre.Boosts != 1 || pre.Files != 1 || pre.Skipped != 5 || pre.From.Day() != 2 || pre.To.Day() != 3 {
				t.Errorf("preview: %+v", pre)
			}
			if len(s.all("alice")) != 0 {
				t.Error("the preview stored posts")
			}
			if files, err := s.files.List(t.Context(), "alice", nil, 0); err != nil || len(files) != 0 {
				t.Errorf("the preview stored files: %v, %v", files, err)
			}
			res := s.with(Options{}, file)
			if res.Added != pre.Added || res.Files != 1 || !res.Profile || fmt.Sprint(res.Omitted) != fmt.Sprint(pre.Omitted) || len(res.Omitted) != 4 {
				t.Errorf("%+v", res)
			}
			all := byGUID(s.all("alice"))
			p := all["https://m.example/@ann/1"]
			if p.HTML != "<p>Hello fish</p>" || p.Language != "en" || !slices.Equal(p.Categories, []string{"Fish"}) || len(p.Enclosures) != 1 || p.Enclosures[0].Alt != "A fish" || !strings.HasPrefix(p.Enclosures[0].URL, "/alice/media/") || p.Slug != "1" || p.PublishedAt.Day() != 2 {
				t.Errorf("%+v", p)
			}
			if p := all["https://m.example/@ann/2"]; p.Reply == nil || p.Reply.URL != "https://one.example/alice/2023/05/02/1" {
				t.Errorf("thread: %+v", p.Reply)
			}
			if p := all["<p>No date</p>"]; p.State != author.Draft {
				t.Errorf("a post without date: %+v", p)
			}
			if want := []Moved{{"https://m.example/@ann/1", "https://one.example/alice/2023/05/02/1"}, {"https://m.example/@ann/2", "https://one.example/alice/2023/05/03/2"}}; !slices.Equal(res.Moved, want) {
				t.Errorf("%v", res.Moved)
			}
			again := s.with(Options{}, file)
			if again.Added != 0 || again.Existing != 3 || again.Files != 0 || len(s.all("alice")) != 3 || !slices.Equal(again.Moved, res.Moved) {
				t.Errorf("again: %+v", again)
			}
			more := s.with(Options{Replies: true, Boosts: true}, file)
			if more.Added != 3 || len(more.Omitted) != 2 {
				t.Errorf("with replies and boosts: %+v", more)
			}
			for _, p := range s.all("alice") {
				if strings.Contains(p.Source, "Secret") {
					t.Error("a post for followers was imported")
				}
			}
		})
	}
}

func TestTwitterArchiveIsImported(t *testing.T) {
	t.Parallel()
	tweets := `window.YTD.tweets.part0 = [
{"tweet":{"id_str":"30","full_text":"more of it","created_at":"Wed Oct 10 20:20:24 +0000 2018","in_reply_to_status_id_str":"20","in_reply_to_user_id_str":"7","in_reply_to_screen_name":"ann","entities":{}}},
{"tweet":{"id_str":"20","full_text":"Fish &amp; chips @bob https://t.co/a #food https://t.co/m\n\n<b>","created_at":"Wed Oct 10 20:19:24 +0000 2018","lang":"en",
 "entities":{"hashtags":[{"text":"food"}],"urls":[{"url":"https://t.co/a","expanded_url":"https://a.example/x?b=c&d=e"}]},
 "extended_entities":{"media":[{"url":"https://t.co/m","media_url_https":"https://pbs.example/media/AbC.png","ext_alt_text":"a plate"}]}}},
{"tweet":{"id_str":"21","full_text":"RT @bob: hi","created_at":"Wed Oct 10 20:19:24 +0000 2018","entities":{}}},
{"tweet":{"id_str":"22","full_text":"@bob no","created_at":"Wed Oct 10 20:19:24 +0000 2018","in_reply_to_status_id_str":"1","in_reply_to_user_id_str":"8","entities":{}}}
]`
	file := zipOf(t, map[string]string{
		"data/tweets.js": tweets, "data/account.js": `window.YTD.account.part0 = [ {"account":{"accountId":"7","username":"ann","accountDisplayName":"Ann"}} ]`,
		"data/tweets_media/20-AbC.png": pngOf(t, 3), "Your archive.html": "<html>",
	})
	s := newTestServer(t, "https://one.example")
	res := s.with(Options{}, file)
	if res.Kind != "twitter" || res.Added != 2 || res.Replies != 1 || res.Boosts != 1 || res.Files != 1 {
		t.Errorf("%+v", res)
	}
	all := byGUID(s.all("alice"))
	p := all["https://twitter.com/ann/status/20"]
	if !strings.Contains(p.Source, `<a href="https://a.example/x?b=c&amp;d=e">https://a.example/x?b=c&amp;d=e</a> #food`) || !strings.Contains(p.Source, "&lt;b&gt;") || strings.Contains(p.Source, "t.co") {
		t.Error(p.Source)
	}
	if len(p.Enclosures) != 1 || p.Enclosures[0].Alt != "a plate" || p.Categories[0] != "food" {
		t.Errorf("%+v", p)
	}
	if p := all["https://twitter.com/ann/status/30"]; p.Reply == nil || p.Reply.URL != "https://one.example/alice/2018/10/10/20" {
		t.Errorf("%+v", p.Reply)
	}
	if again := s.with(Options{}, file); again.Added != 0 || again.Existing != 2 {
		t.Errorf("again: %+v", again)
	}
}

// longTweets returns an archive of X with one tweet, and with notes unless notes is "".
func longTweets(t *testing.T, text, notes string) []byte {
	t.Helper()
	files := map[string]string{
		"data/tweets.js": fmt.Sprintf(`window.YTD.tweets.part0 = [{"tweet":{"id_str":"20","full_text":%q,"created_at":"Wed Oct 04 20:19:24 +0000 2023","entities":{"hashtags":[],"urls":[]}}}]`, text),
	}
	if notes != "" {
		files["data/note-tweet.js"] = notes
	}
	return zipOf(t, files)
}

func TestLongPostsOfXAreImportedWhole(t *testing.T) {
	t.Parallel()
	const other = `{"noteTweet":{"noteTweetId":"1","createdAt":"2023-10-04T20:19:24.000Z","core":{"text":"Another post of this second"}}}`
	const note = `{"noteTweet":{"noteTweetId":"2","createdAt":"2023-10-04T20:19:24.567Z","core":{"text":"Fish & chips are\n\nfine. https://t.co/a #food","urls":[{"shortUrl":"https://t.co/a","expandedUrl":"https://a.example/x"}],"hashtags":[{"text":"food"}],"mentions":"?"}}}`
	const whole, begin = `<p>Fish &amp; chips are</p>` + "\n" + `<p>fine. <a href="https://a.example/x">https://a.example/x</a> #food</p>`, `<p>Fish &amp; chips are`
	for name, one := range map[string]struct{ text, notes, want string }{
		"ellipsis":      {"Fish &amp; chips are…", "window.YTD.note_tweet.part0 = [" + other + "," + note + "]", whole},
		"link":          {"Fish &amp; chips are\n\nfi… https://t.co/self", "[" + note + "]", whole},
		"damaged after": {"Fish &amp; chips are…", "[" + note + ",{", whole},
		"other time":    {"Fish &amp; chips are…", "[" + strings.Replace(note, ":24.567", ":25.567", 1) + "]", begin + "…</p>"},
		"other text":    {"Fish &amp; chips are…", "[" + other + "]", begin + "…</p>"},
		"only a link":   {"https://t.co/a", "[" + note + "]", `<p><a href="https://t.co/a">https://t.co/a</a></p>`},
		"damaged":       {"Fish &amp; chips are…", `window.YTD.note_tweet.part0 = [{"noteTweet":[` + note, begin + "…</p>"},
		"no list":       {"Fish &amp; chips are…", "window", begin + "…</p>"},
		"missing":       {"Fish &amp; chips are…", "", begin + "…</p>"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newTestServer(t, "https://one.example")
			res := s.with(Options{}, longTweets(t, one.text, one.notes))
			all := s.all("alice")
			if res.Kind != "twitter" || len(all) != 1 {
				t.Fatalf("%+v", res)
			}
			if all[0].Source != one.want || (one.want == whole) != slices.Equal(all[0].Categories, []string{"food"}) {
				t.Errorf("%q, categories %q", all[0].Source, all[0].Categories)
			}
		})
	}
}

func TestFeedBelowTheFolderOfASiteIsNoBlogArchive(t *testing.T) {
	t.Parallel()
	const jsonFeed, outbox, post = `{"version":"https://jsonfeed.org/version/1","items":[]}`, `{"orderedItems":[]}`, "---\ntitle: A\ndate: 2020-01-02\n---\ntext"
	for name, one := range map[string]struct {
		files map[string]string
		kind  string
	}{
		"output of Hugo":        {map[string]string{"content/a.md": post, "public/feed.json": jsonFeed}, "markdown"},
		"output of Eleventy":    {map[string]string{"site/posts/a.md": post, "site/_site/feed/feed.json": jsonFeed, "site/x/outbox.json": outbox}, "markdown"},
		"Micro.blog, folder":    {map[string]string{"ann/feed.json": jsonFeed, "ann/uploads/a.md": post}, "microblog"},
		"Mastodon, with folder": {map[string]string{"archive/outbox.json": outbox, "archive/media/a.md": post}, "mastodon"},
	} {
		s := newTestServer(t, "https://one.example")
		if res := s.with(Options{Preview: true}, zipOf(t, one.files)); res.Kind != one.kind {
			t.Errorf("%s: %+v", name, res)
		}
	}
	newTestServer(t, "https://one.example").mustReject(zipOf(t, nil), "did not write it")
}

func TestTagsOfJekyllAreSeparatedByWhiteSpace(t *testing.T) {
	t.Parallel()
	s := newTestServer(t, "https://one.example")
	s.with(Options{}, zipOf(t, map[string]string{
		"site/_posts/2020-01-02-a.md":  "---\ntitle: post\ncategories: sea food\ntags: fish  chips\n---\ntext",
		"site/_drafts/b.md":            "---\ntitle: draft\ntags: fish chips\n---\ntext",
		"site/_posts/2020-01-02-c.md":  "---\ntitle: commas\ntags: fresh fish, chips\ncategory: sea food\n---\ntext",
		"site/content/2020-01-02-d.md": "---\ntitle: elsewhere\ntags: fresh fish\n---\ntext",
		"site/_posts/2020-01-02-e.md":  "---\ntitle: list\ntags: [fresh fish]\n---\ntext",
	}))
	want := map[string][]string{"post": {"sea", "food", "fish", "chips"}, "draft": {"fish", "chips"}, "commas": {"sea food", "fresh fish", "chips"}, "elsewhere": {"fresh fish"}, "list": {"fresh fish"}}
	all := s.all("alice")
	if len(all) != len(want) {
		t.Errorf("%d posts", len(all))
	}
	for _, p := range all {
		if !slices.Equal(p.Categories, want[p.Title]) {
			t.Errorf("%s: %q", p.Title, p.Categories)
		}
	}
}

func TestBlogArchiveIsImported(t *testing.T) {
	t.Parallel()
	file := zipOf(t, map[string]string{
		"index.html": "<html>",
		"feed.json": `{"version":"https://jsonfeed.org/version/1","title":"Ann","items":[
{"id":"https://ann.example/2020/01/02/hi.html","url":"https://ann.example/2020/01/02/hi.html","content_text":"Look: ![a \"cat\"](uploads/2020/cat.png) and <img src=\"https://ann.example/uploads/2020/cat.png\" alt=\"again\">","content_html":"<p>x</p>","date_published":"2020-01-02T10:00:00+02:00","tags":["Cats"]},
{"id":"2","content_html":"<p>Unfinished</p>","date_published":"2020-01-03T10:00:00+00:00","_microblog":{"is_draft":true}}]}`,
		"uploads/2020/cat.png": pngOf(t, 4),
	})
	s := newTestServer(t, "https://one.example")
	res := s.with(Options{}, file)
	all := byGUID(s.all("alice"))
	p := all["https://ann.example/2020/01/02/hi.html"]
	if res.Kind != "microblog" || res.Added != 2 || res.Drafts != 1 || res.Files != 1 || strings.Count(p.Source, "/alice/media/") != 2 || strings.Contains(p.Source, "uploads") || p.Slug != "hi" || p.Categories[0] != "Cats" || p.PublishedAt.Hour() != 8 {
		t.Errorf("%+v, %+v", res, p)
	}
	if again := s.with(Options{}, file); again.Added != 0 || again.Existing != 2 {
		t.Errorf("again: %+v", again)
	}
}

const bloggerFeed = `<?xml version='1.0' encoding='utf-8'?><feed xmlns='http://www.w3.org/2005/Atom' xmlns:blogger='http://schemas.google.com/blogger/2018'><id>b</id><title>Ann's</title>
<entry><id>tag:blogger.com,1999:blog-1.post-2</id><blogger:type>POST</blogger:type><blogger:status>LIVE</blogger:status><title>Fish</title><content type='html'>&lt;p&gt;Text &lt;img src="https://blogger.googleusercontent.com/img/x/s320/fish.png" alt="f"/&gt;&lt;/p&gt;</content><published>2012-03-04T05:06:07Z</published><updated>2012-03-05T05:06:07Z</updated><category scheme='tag:blogger.com,1999:blog-1' term='Food'/><blogger:filename>/2012/03/fish.html</blogger:filename></entry>
<entry><id>tag:blogger.com,1999:blog-1.post-3</id><blogger:type>POST</blogger:type><blogger:status>DRAFT</blogger:status><title>Later</title><content type='html'>x</content><published>2012-03-04T05:06:07Z</published></entry>
<entry><id>tag:blogger.com,1999:blog-1.post-4</id><blogger:type>COMMENT</blogger:type><blogger:status>LIVE</blogger:status><content type='html'>hm</content></entry>
<entry><id>tag:blogger.com,1999:blog-1.page-5</id><blogger:type>PAGE</blogger:type><blogger:status>LIVE</blogger:status><title>About</title></entry>
</feed>`

const bloggerExport = `<?xml version='1.0' encoding='UTF-8'?><feed xmlns='http://www.w3.org/2005/Atom' xmlns:app='http://purl.org/atom/app#'><title>Ann's</title>
<entry><id>s</id><category scheme='http://schemas.google.com/g/2005#kind' term='http://schemas.google.com/blogger/2008/kind#settings'/></entry>
<entry><id>p1</id><published>2012-03-04T05:06:07.000-08:00</published><category scheme='http://schemas.google.com/g/2005#kind' term='http://schemas.google.com/blogger/2008/kind#post'/><category scheme='http://www.blogger.com/atom/ns#' term='Food'/><title>Fish</title><content type='html'>text</content><link rel='alternate' href='http://ann.blogspot.example/2012/03/fish.html'/></entry>
<entry><id>p2</id><app:control><app:draft>yes</app:draft></app:control><published>2012-03-04T05:06:07.000-08:00</published><category scheme='http://schemas.google.com/g/2005#kind' term='http://schemas.google.com/blogger/2008/kind#post'/><title>Later</title><content type='html'>text</content></entry>
<entry><id>c1</id><category scheme='http://schemas.google.com/g/2005#kind' term='http://schemas.google.com/blogger/2008/kind#comment'/><title>hm</title></entry>
</feed>`

func TestBloggerExportsAreImported(t *testing.T) {
	t.Parallel()
	takeout := zipOf(t, map[string]string{"Takeout/Blogger/Blogs/Ann/feed.atom": bloggerFeed, "Takeout/Blogger/Albums/Ann/fish.png": pngOf(t, 5)})
	for name, one := range map[string]struct {
		file             []byte
		guid, old        string
		files, omissions int
	}{
		"Takeout": {takeout, "tag:blogger.com,1999:blog-1.post-2", "/2012/03/fish.html", 1, 2},
		"export":  {[]byte(bloggerExport), "p1", "http://ann.blogspot.example/2012/03/fish.html", 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newTestServer(t, "https://one.example")
			res := s.with(Options{}, one.file)
			p := byGUID(s.all("alice"))[one.guid]
			if res.Kind != "blogger" || res.Added != 2 || res.Drafts != 1 || res.Files != one.files || len(res.Omitted) != one.omissions || p.Title != "Fish" || p.Slug != "fish" || p.Categories[0] != "Food" || strings.Count(p.Source, "/alice/media/") != one.files {
				t.Errorf("%+v, %+v", res, p)
			}
			if len(res.Moved) != 1 || res.Moved[0] != (Moved{one.old, "https://one.example/alice/2012/03/04/fish"}) {
				t.Errorf("%v", res.Moved)
			}
			if again := s.with(Options{}, one.file); again.Added != 0 || again.Existing != 2 {
				t.Errorf("again: %+v", again)
			}
		})
	}
}

func TestMarkdownFolderIsImported(t *testing.T) {
	t.Parallel()
	file := zipOf(t, map[string]string{
		"site/content/posts/fish/index.md":   "---\ntitle: \"Fish: a story\"\ndate: 2021-02-03T04:05:06+01:00\ntags: [food, 7]\ncategories:\n  - Sea\nurl: /old/fish/\naliases: [/older]\ncover: fish.png\n---\n\nLook ![a fish](fish.png \"title\") {{< figure src=\"/img/b.png\" alt=\"b\" >}}\n",
		"site/content/posts/fish/fish.png":   pngOf(t, 6),
		"site/static/img/b.png":              pngOf(t, 7),
		"site/content/posts/_index.md":       "---\ntitle: Posts\n---\n",
		"site/_posts/2020-01-02-other.md":    "---\ntitle: J\npublished: false\n---\ntext\n",
		"site/_posts/2020-01-03-jekyll.md":   "---\r\ntitle: K\r\n---\r\ntext\r\n",
		"site/content/posts/toml.md":         "+++\ntitle = 'T'\ndate = 2022-01-01\ndraft = true\ntags = ['x']\n+++\ntext",
		"site/content/posts/nodate.md":       "# Only text",
		"site/content/posts/bad.md":          "---\ntitle: [\n---\ntext",
		"site/node_modules/x/README.md":      "# no",
		"site/content/posts/readme/notes.md": "---\ntitle: N\ndate: someday\n---\nx",
	})
	s := newTestServer(t, "https://one.example")
	res := s.with(Options{}, file)
	if res.Kind != "markdown" || res.Added != 6 || res.Drafts != 4 || res.Files != 2 || len(res.Omitted) != 2 {
		t.Errorf("%+v", res)
	}
	all := map[string]author.Post{}
	for _, p := range s.all("alice") {
		all[p.Title] = p
	}
	p := all["Fish: a story"]
	if p.Slug != "fish" || !slices.Equal(p.Categories, []string{"Sea", "food", "7"}) || strings.Count(p.Source, "/alice/media/") != 2 || len(p.Enclosures) != 0 || !strings.Contains(p.HTML, `alt="b"`) || p.PublishedAt.Hour() != 3 {
		t.Errorf("%+v", p)
	}
	if p := all["K"]; p.State != author.Published || p.PublishedAt != time.Date(2020, 1, 3, 0, 0, 0, 0, time.UTC) || p.Slug != "jekyll" {
		t.Errorf("%+v", p)
	}
	if len(res.Moved) != 2 || res.Moved[0] != (Moved{"/old/fish/", "https://one.example/alice/2021/02/03/fish"}) {
		t.Errorf("%v", res.Moved)
	}
	if again := s.with(Options{}, file); again.Added != 0 || again.Existing != 6 {
		t.Errorf("again: %+v", again)
	}
}

func TestDamagedArchiveOfAnotherServiceChangesNothing(t *testing.T) {
	t.Parallel()
	s := newTestServer(t, "https://one.example")
	files := mastodonFiles(t)
	outbox := files["outbox.json"]
	files["outbox.json"] = outbox[:len(outbox)-100]
	s.mustReject(zipOf(t, files), "near byte")
	s.mustReject(tarOf(t, files), "after 6 entries")
	files["outbox.json"] = strings.Replace(outbox, `"type":"Announce"`, `"type":Announce`, 1)
	s.mustReject(zipOf(t, files), "after 4 entries")
	files["outbox.json"] = `{"orderedItems":[{"id":"` + strings.Repeat("x", 2*maxValue) + `"}]}`
	s.mustReject(tarOf(t, files), "near byte")
	files["outbox.json"] = outbox
	whole := tarOf(t, files)
	s.mustReject(whole[:len(whole)/2], "damaged or incomplete")
	s.mustReject(tarOf(t, map[string]string{"outbox.json": outbox, "../../evil": "x"}), "leads out of the archive")
	s.mustReject(zipOf(t, map[string]string{"outbox.json": outbox, "../evil": "x"}), "leads out of the archive")
	s.mustReject(zipOf(t, map[string]string{"outbox.json": outbox, "bomb": strings.Repeat("\x00", packedFrom+1<<20)}), "compressed by a factor")
	s.mustReject(tarOf(t, map[string]string{"outbox.json": outbox, "bomb": strings.Repeat("\x00", tarFrom+1<<21)}), "implausible")
	s.mustReject(tarOf(t, map[string]string{"x.txt": "x"}), "not one of Mastodon")
	s.mustReject([]byte(bloggerExport[:len(bloggerExport)-40]), "cannot be read beyond line")
}

func TestImportReportsLinksAndRejectedFiles(t *testing.T) {
	t.Parallel()
	s := newTestServer(t, "https://one.example")
	files := mastodonFiles(t)
	files["media_attachments/files/1/a.png"] = "MZ no image"
	res := s.with(Options{}, tarOf(t, files, &tar.Header{Name: "media_attachments/passwd", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"}))
	if text := strings.Join(res.Problems, " "); res.Added != 3 || res.Files != 0 || !strings.Contains(text, "a.png was left out") || !strings.Contains(text, "Links in the archive were left out: 1.") {
		t.Errorf("%+v", res)
	}
}

func TestImportOverTheQuotaStoresOnlyCompletePosts(t *testing.T) {
	t.Parallel()
	s := newTestServer(t, "https://one.example")
	files := mastodonFiles(t)
	s.files.Quota = int64(len(files["media_attachments/files/1/a.png"])) + 10
	files["outbox.json"] = strings.Replace(files["outbox.json"], `"inReplyTo":"`+mastodonBase+`/statuses/1"`, `"attachment":[{"url":"/media_attachments/files/1/rest.png"}]`, 1)
	b := zipOf(t, files)
	res, err := s.Import(t.Context(), "alice", bytes.NewReader(b), int64(len(b)), Options{}, nil)
	if fault.CodeOf(err) != fault.TooMany || res.Added != 1 || res.Files != 1 || len(s.all("alice")) != 1 {
		t.Errorf("%+v, %v", res, err)
	}
	s.files.Quota = -1
	if res := s.with(Options{}, b); res.Added != 2 || res.Existing != 1 || res.Files != 1 {
		t.Errorf("after the quota was raised: %+v", res)
	}
}

// Of a long archive, the import keeps only the IDs of posts in memory.
func TestLongArchiveIsImportedInBatches(t *testing.T) {
	t.Parallel()
	s := newTestServer(t, "https://one.example")
	s.batchSize = 0 // the default size
	n := 100_000
	if testing.Short() {
		n = 1500
	}
	var b strings.Builder
	b.WriteString(`{"orderedItems":[`)
	for i := range n {
		if i > 0 {
			b.WriteString(",")
		}
		b.WriteString(strings.ReplaceAll(toot(1000+i, "<p>Number "+fmt.Sprint(i)+"</p>", ""), "\n", ""))
	}
	b.WriteString("]}")
	res := s.with(Options{}, zipOf(t, map[string]string{"outbox.json": b.String()}))
	if res.Added != n || len(res.Moved) != n {
		t.Errorf("%d added, %d moved", res.Added, len(res.Moved))
	}
	months, err := s.posts.Counts(t.Context(), "alice", author.ByMonth, "", 12)
	if err != nil || len(months) != 1 || months[0].Posts != int64(n) {
		t.Errorf("the archive lists %+v, %v; want %d posts in a month", months, err, n)
	}
}
