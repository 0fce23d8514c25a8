package publishhttp

import (
	"bytes"
	"context"
	"html"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"cloudburst/feed/render"
	"cloudburst/internal/author"
	"cloudburst/internal/endpoint/endpointtest"
	"cloudburst/internal/fault"
	"cloudburst/internal/fulltest"
	"cloudburst/protocol/metaweblog"
	"cloudburst/protocol/xmlrpc"

	"github.com/google/go-cmp/cmp"
)

// TestPostsOfAnEditorAreReadBackAndAppearInEveryFormat is the main test of the interface.
func TestPostsOfAnEditorAreReadBackAndAppearInEveryFormat(t *testing.T) {
	t.Parallel()
	w := newWeblog(t)
	c, ctx := w.as("alice", "test"), t.Context()
	var titles []string
	for i, e := range []metaweblog.Edit{
		{Title: new("Plain HTML"), Description: new("<p>Tea &amp; <b>cake</b></p>")},
		{Title: new("Tschüß <&> 日本 \U0001F600"), Description: new("<p>ü 日本 \U0001F600</p>"), Categories: []string{"Küche", "日本語", "C++"}},
		{Title: new("With a file"), Description: new("<p>listen</p>"), Enclosure: &metaweblog.Enclosure{URL: "https://a.example/x.mp3?a=1&b=2", Type: "audio/mpeg", Length: 1234}},
		{Title: new("Markdown"), Description: new("# One\n\n* two *three*"), Filter: new(metaweblog.FilterMarkdown)},
		{Title: new("More"), Description: new("<p>first</p>"), More: new("<p>second</p>"), Excerpt: new("in short")},
		{Title: new("Markdown with more"), Description: new("*first*"), More: new("second"), Filter: new(metaweblog.FilterMarkdown)},
		{Title: new("Dated"), Description: new("<p>old</p>"), Created: time.Date(2004, 2, 1, 10, 0, 0, 0, time.UTC), Slug: new("an-old-one")},
		{Title: new("A link"), Description: new("<p>look</p>"), Link: new("https://a.example/page?x=1&y=2")},
	} {
		e.Publish = new(true)
		w.now = w.now.Add(time.Minute)
		id := must[string](t)(c.NewPost(ctx, e))
		p := must[metaweblog.Post](t)(c.Post(ctx, id))
		if id != strconv.Itoa(i+1) || p.ID != id || p.UserID != "alice" || p.Status != metaweblog.StatusPublish {
			t.Errorf("post %q: %+v", id, p)
		}
		got := p.Edit()
		for what, differs := range map[string]bool{
			"title": *e.Title != *got.Title, "description": *e.Description != *got.Description, "more": e.More != nil && *e.More != *got.More,
			"excerpt": e.Excerpt != nil && *e.Excerpt != *got.Excerpt, "link": e.Link != nil && *e.Link != *got.Link, "slug": e.Slug != nil && *e.Slug != *got.Slug,
			"filter": e.Filter != nil && *e.Filter != *got.Filter, "categories": !slices.Equal(e.Categories, p.Categories),
			"enclosure": !cmp.Equal(e.Enclosure, got.Enclosure), "date": !e.Created.IsZero() && !e.Created.Equal(p.Created),
			"its page": !strings.HasPrefix(p.PermaLink, public+"/alice/"),
		} {
			if differs {
				t.Errorf("%s: the %s has changed: %+v", *e.Title, what, p)
			}
		}
		titles = append(titles, *e.Title)
		echo(t, w, c, id)
	}
	for _, format := range render.Formats() {
		a := w.do(t, "GET", "/alice/feed?format="+format.Name+"&callback=f", "")
		if a.StatusCode != http.StatusOK {
			t.Errorf("%s: status %d", format.Name, a.StatusCode)
		}
		body := readable(a.body)
		for _, title := range titles {
			if !strings.Contains(title, "<") && !strings.Contains(body, title) {
				t.Errorf("%s has no %q:\n%.2000s", format.Name, title, a.body)
			}
		}
	}
	a := w.do(t, "GET", "/alice/rss.xml", "")
	for _, title := range titles {
		if !strings.Contains(html.UnescapeString(a.body), title) {
			t.Errorf("there is no %q:\n%s", title, a.body)
		}
	}
}

// readable returns a document with all ways of escaping markup made equal.
func readable(s string) string {
	s = strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&", `\x3c`, "<").Replace(s)
	return html.UnescapeString(html.UnescapeString(s))
}

// echo sends a post back as the editor received it, and checks that the stored post does not
// change.
func echo(t *testing.T, w *weblog, c *metaweblog.Client, id string) {
	t.Helper()
	before := w.saved(t, id)
	p := must[metaweblog.Post](t)(c.Post(t.Context(), id))
	ok(t, c.EditPost(t.Context(), id, p.Edit()))
	after := w.saved(t, id)
	if d := cmp.Diff(before.Content, after.Content); d != "" || before.State != after.State || !before.PublishedAt.Equal(after.PublishedAt) || before.Slug != after.Slug {
		t.Errorf("the echo of post %s changed it:\n%s", id, d)
	}
}

// rich creates a post of alice with content that MetaWeblog cannot express.
func (w *weblog) rich(t *testing.T, format author.Format, source string) string {
	t.Helper()
	p := must[author.Post](t)(w.posts.Save(t.Context(), author.Edit{User: "alice", To: author.Published, Via: "test", Change: func(c *author.Content) error {
		*c = author.Content{
			Title: "Rich", Source: source, Format: format, Language: "de", Categories: []string{"Küche"}, Link: "https://a.example/about",
			Enclosures: []author.Enclosure{{URL: "/alice/media/0123456789abcdef/a.jpg", Type: "image/jpeg", Length: 5, Alt: "a cloud"}, {URL: "https://a.example/b.mp3", Type: "audio/mpeg", Duration: 7}},
			Reply:      &author.Reply{URL: "https://b.example/1", Title: "B"},
			Outline:    []author.Node{{Text: "one *1*", Nodes: []author.Node{{Text: "two"}}}},
		}
		return nil
	}}))
	return strconv.FormatInt(p.ID, 10)
}

const liveWriter = "Mozilla/4.0 (compatible; MSIE 9.11; Windows NT 10.0; Open Live Writer 1.0)"

func TestPostSentBackByAnEditorIsUnchanged(t *testing.T) {
	t.Parallel()
	for _, agent := range []string{"MarsEdit/5.1.2", liveWriter, "Python-xmlrpc/3.12"} {
		w := newWeblog(t)
		c := w.as("alice", agent)
		for format, source := range map[author.Format]string{
			author.Markdown: "# Tea\n\n* one\n* two & <b>three</b>\n\n<!--more-->\n\nand *more*", author.HTML: "<p>a</p>\n<!--more--><p>b</p>", author.Plain: "1 < 2 & 3\nhttps://a.example/",
		} {
			id := w.rich(t, format, source)
			echo(t, w, c, id)
			// Some programs know fewer fields and therefore send fewer.
			p := must[metaweblog.Post](t)(c.Post(t.Context(), id))
			before := w.saved(t, id)
			for _, e := range []metaweblog.Edit{
				{Publish: new(true)},
				{Title: &p.Title, Description: &p.Description, Categories: p.Categories},
				{Title: &p.Title, Description: new(strings.ReplaceAll(p.Description, "\n", "\r\n") + "\n"), More: &p.More},
			} {
				ok(t, c.EditPost(t.Context(), id, e))
				if d := cmp.Diff(before.Content, w.saved(t, id).Content); d != "" {
					t.Errorf("%s, %s: %s", agent, format, d)
				}
			}
		}
	}
}

func TestFieldsUnsupportedByAnEditorAreKept(t *testing.T) {
	t.Parallel()
	w := newWeblog(t)
	c, ctx := w.as("alice", "test"), t.Context()
	id := w.rich(t, author.Markdown, "old *text*")
	p := must[metaweblog.Post](t)(c.Post(ctx, id))
	if p.Enclosure == nil || p.Enclosure.URL != public+"/alice/media/0123456789abcdef/a.jpg" || p.Link != "https://a.example/about" || p.Filter != metaweblog.FilterMarkdown {
		t.Errorf("%+v", p)
	}
	before := w.saved(t, id)
	ok(t, c.EditPost(ctx, id, metaweblog.Edit{Title: new("New"), Description: new("new *text*"), Keywords: []string{"extra"}}))
	want := before.Content
	want.Title, want.Source, want.HTML, want.Categories = "New", "new *text*", "<p>new <em>text</em></p>", []string{"Küche", "extra"}
	want.Keywords = []string{"extra"}
	if d := cmp.Diff(want, w.saved(t, id).Content); d != "" {
		t.Error(d)
	}
	for _, c2 := range []struct {
		e    metaweblog.Enclosure
		want []author.Enclosure
	}{
		{metaweblog.Enclosure{URL: p.Enclosure.URL, Type: "image/jpeg", Length: 6}, []author.Enclosure{{URL: "/alice/media/0123456789abcdef/a.jpg", Type: "image/jpeg", Length: 6, Alt: "a cloud"}, before.Enclosures[1]}},
		{metaweblog.Enclosure{URL: "https://c.example/c.ogg", Type: "audio/ogg"}, []author.Enclosure{{URL: "https://c.example/c.ogg", Type: "audio/ogg"}, before.Enclosures[1]}},
		{metaweblog.Enclosure{}, before.Enclosures[1:]},
	} {
		ok(t, c.EditPost(ctx, id, metaweblog.Edit{Enclosure: &c2.e}))
		if d := cmp.Diff(c2.want, w.saved(t, id).Enclosures); d != "" {
			t.Error(d)
		}
	}
}

func TestTextFilterFieldDeterminesPostFormat(t *testing.T) {
	t.Parallel()
	w := newWeblog(t)
	ctx := t.Context()
	for _, c := range []struct {
		what   string
		agent  string
		was    author.Format
		e      metaweblog.Edit
		format author.Format
		source string
	}{
		{"HTML stays HTML", "x", author.HTML, metaweblog.Edit{Description: new("<p>new</p>")}, author.HTML, "<p>new</p>"},
		{"Markdown stays Markdown", "x", author.Markdown, metaweblog.Edit{Description: new("new *one*")}, author.Markdown, "new *one*"},
		{"HTML for Markdown is HTML", "x", author.Markdown, metaweblog.Edit{Description: new("<p>new</p>")}, author.HTML, "<p>new</p>"},
		{"HTML of a visual editor", liveWriter, author.Markdown, metaweblog.Edit{Description: new("new")}, author.HTML, "new"},
		{"plain text becomes HTML", "x", author.Plain, metaweblog.Edit{Description: new("new")}, author.HTML, "new"},
		{"markdown", "x", author.HTML, metaweblog.Edit{Description: new("new *one*"), Filter: new("markdown")}, author.Markdown, "new *one*"},
		{"none", "x", author.Markdown, metaweblog.Edit{Description: new("new"), Filter: new("0")}, author.HTML, "new"},
		{"breaks", "x", author.HTML, metaweblog.Edit{Description: new("a\nb\n\n<ul>\n<li>c</li>\n</ul>\n\n<em>d</em>"), Filter: new("__default__")}, author.HTML,
			"<p>a<br />\nb</p>\n\n<ul>\n<li>c</li>\n</ul>\n\n<p><em>d</em></p>"},
		{"existing line breaks", "x", author.HTML, metaweblog.Edit{Description: new("old"), Filter: new("1")}, author.HTML, "old"},
		{"filter without text", "x", author.HTML, metaweblog.Edit{Filter: new("markdown")}, author.Markdown, "old"},
		{"text_more without text", "x", author.Markdown, metaweblog.Edit{More: new("more")}, author.Markdown, "old\n\n<!--more-->\n\nmore"},
		{"nothing", "x", author.Markdown, metaweblog.Edit{Description: new("")}, author.Markdown, ""},
	} {
		id := w.rich(t, c.was, "old")
		ok(t, w.as("alice", c.agent).EditPost(ctx, id, c.e))
		if p := w.saved(t, id); p.Format != c.format || p.Source != c.source {
			t.Errorf("%s: %s %q", c.what, p.Format, p.Source)
		}
	}
	_, err := w.as("alice", "x").NewPost(ctx, metaweblog.Edit{Description: new("h1. x"), Filter: new("textile_2")})
	if !isFault(err, xmlrpc.CodeParams) || !strings.Contains(err.Error(), "textile_2") {
		t.Errorf("an unknown filter: %v", err)
	}
}

func TestStatusPublishFlagAndDateDeterminePostState(t *testing.T) {
	t.Parallel()
	w := newWeblog(t)
	c, ctx := w.as("alice", "test"), t.Context()
	soon, past := w.now.Add(time.Hour).UTC(), w.now.Add(-time.Hour).UTC()
	text := new("<p>x</p>")
	id := must[string](t)(c.NewPost(ctx, metaweblog.Edit{Description: text}))
	state := func(what string, want author.State, status string, at time.Time) {
		t.Helper()
		p, docInfo := w.saved(t, id), must[metaweblog.Post](t)(c.Post(ctx, id))
		if p.State != want || docInfo.Status != status || !at.IsZero() && !docInfo.Created.Equal(at) {
			t.Errorf("%s: %s, %s, %s", what, p.State, docInfo.Status, docInfo.Created)
		}
	}
	edit := func(e metaweblog.Edit) {
		t.Helper()
		ok(t, c.EditPost(ctx, id, e))
	}
	state("not set", author.Draft, "draft", time.Time{})
	edit(metaweblog.Edit{Publish: new(false)})
	state("a draft", author.Draft, "draft", time.Time{})
	edit(metaweblog.Edit{Publish: new(true), Created: soon})
	state("date in an hour", author.Scheduled, "future", soon)
	edit(metaweblog.Edit{Publish: new(true), Title: new("y")})
	state("remains scheduled", author.Scheduled, "future", soon)
	edit(metaweblog.Edit{Publish: new(true), Created: soon})
	state("unchanged date sent back", author.Scheduled, "future", soon)
	edit(metaweblog.Edit{Publish: new(true), Created: past})
	state("date in the past", author.Published, "publish", past)
	w.now = w.now.Add(time.Minute)
	edit(metaweblog.Edit{Publish: new(true)})
	state("unchanged", author.Published, "publish", past)
	edit(metaweblog.Edit{Publish: new(false)})
	state("unpublished", author.Draft, "draft", past)
	edit(metaweblog.Edit{Status: "publish", Publish: new(false)})
	state("status rules", author.Published, "publish", past)
	edit(metaweblog.Edit{Status: "draft", Publish: new(true)})
	state("status rules", author.Draft, "draft", past)
	ok(t, c.Publish(ctx, id))
	state("published", author.Published, "publish", past)
	revision := w.saved(t, id).Revision
	ok(t, c.Publish(ctx, id))
	if got := w.saved(t, id).Revision; got != revision {
		t.Errorf("publishing a published post created revision %d after %d", got, revision)
	}
	id = must[string](t)(c.NewPost(ctx, metaweblog.Edit{Description: text, Created: soon, Publish: new(true)}))
	ok(t, c.Publish(ctx, id))
	state("scheduled post published", author.Published, "publish", w.now)
}

func TestEditorsReceiveKnownFaultCodes(t *testing.T) {
	t.Parallel()
	w := newWeblog(t)
	c, ctx := w.as("alice", "test"), t.Context()
	id := must[string](t)(c.NewPost(ctx, metaweblog.Edit{Description: new("x"), Publish: new(true)}))
	deleted := must[string](t)(c.NewPost(ctx, metaweblog.Edit{Description: new("x"), Publish: new(true)}))
	ok(t, c.DeletePost(ctx, deleted))
	other := w.as("carol", "test")
	token := func(plain string) *metaweblog.Client {
		c := w.as("alice", "test")
		c.Password = plain
		return c
	}
	wrong := token("x")
	post := func(c *metaweblog.Client, id string) error {
		_, err := c.Post(ctx, id)
		return err
	}
	blog := func(name string) error {
		c := w.as("alice", "test")
		c.Blog = name
		_, err := c.RecentPosts(ctx, 1)
		return err
	}
	for what, f := range map[string]struct {
		err  error
		code int
	}{
		"a wrong password":                          {post(wrong, id), metaweblog.CodeLogin},
		"token of another user":                     {post(token(tokenOther), id), metaweblog.CodeLogin},
		"token without permission":                  {token(tokenDelete).EditPost(ctx, id, metaweblog.Edit{Publish: new(true)}), metaweblog.CodeNotAllowed},
		"no such post":                              {post(c, "77"), metaweblog.CodeNotFound},
		"post ID that is not a number":              {post(c, "abc"), metaweblog.CodeNotFound},
		"a negative number":                         {post(c, "-1"), metaweblog.CodeNotFound},
		"a deleted post":                            {post(c, deleted), metaweblog.CodeNotFound},
		"a deleted post, edited":                    {c.EditPost(ctx, deleted, metaweblog.Edit{Publish: new(true)}), metaweblog.CodeNotFound},
		"a deleted post, deleted":                   {c.DeletePost(ctx, deleted), metaweblog.CodeNotFound},
		"post of another user":                      {post(other, id), metaweblog.CodeNotFound},
		"post of another user, edited":              {other.EditPost(ctx, id, metaweblog.Edit{Title: new("mine"), Publish: new(true)}), metaweblog.CodeNotFound},
		"post of another user, deleted":             {other.DeletePost(ctx, id), metaweblog.CodeNotFound},
		"post of another user, published":           {other.Publish(ctx, id), metaweblog.CodeNotFound},
		"post of another user, categories":          {other.SetPostCategories(ctx, id, "x"), metaweblog.CodeNotFound},
		"weblog of another user":                    {blog("carol"), metaweblog.CodeNotFound},
		"empty post":                                {func() error { _, err := c.NewPost(ctx, metaweblog.Edit{Publish: new(true)}); return err }(), xmlrpc.CodeParams},
		"a title that is too long":                  {c.EditPost(ctx, id, metaweblog.Edit{Title: new(strings.Repeat("x", 301)), Publish: new(true)}), xmlrpc.CodeParams},
		"an invalid URL":                            {c.EditPost(ctx, id, metaweblog.Edit{Link: new("javascript:x"), Publish: new(true)}), xmlrpc.CodeParams},
		"upload with a token for deletion":          {func() error { _, err := token(tokenDelete).Upload(ctx, metaweblog.Media{}); return err }(), metaweblog.CodeNotAllowed},
		"a deletion with a token for other actions": {func() error { return w.as("alice", "").DeletePost(ctx, "0") }(), metaweblog.CodeNotFound},
	} {
		if !isFault(f.err, f.code) {
			t.Errorf("%s: %v, want %d", what, f.err, f.code)
		}
	}
	for _, name := range []string{"", "0", "1", "default", "alice"} {
		if err := blog(name); err != nil {
			t.Errorf("blogid %q: %v", name, err)
		}
	}
	if p := w.saved(t, id); p.Title != "" || p.State != author.Published {
		t.Errorf("%+v", p)
	}
	if err := post(token(tokenAll), id); err != nil {
		t.Errorf("a token: %v", err)
	}
	if err := token(tokenDelete).DeletePost(ctx, id); err != nil {
		t.Errorf("a token for deleting: %v", err)
	}
	w.accounts.fail = fault.New(fault.TooMany, "Too many tries.")
	if err := post(c, id); !isFault(err, metaweblog.CodeTooMany) {
		t.Errorf("after too many tries: %v", err)
	}
	if !slices.Contains(w.accounts.tried, "metaWeblog alice 127.0.0.1") {
		t.Errorf("tried were %q", w.accounts.tried)
	}
}

func TestEditorSetsCategoriesByName(t *testing.T) {
	t.Parallel()
	w := newWeblog(t)
	c, ctx := w.as("alice", "test"), t.Context()
	must[string](t)(c.NewPost(ctx, metaweblog.Edit{Description: new("x"), Categories: []string{"Süße Küche", "日本語"}, Publish: new(true)}))
	id := must[string](t)(c.NewPost(ctx, metaweblog.Edit{Description: new("y"), Publish: new(true)}))
	cats := must[[]metaweblog.Category](t)(c.Categories(ctx))
	want := metaweblog.Category{ID: "süße-küche", Name: "Süße Küche", HTMLURL: public + "/alice/category/s%C3%BC%C3%9Fe-k%C3%BCche/", RSSURL: public + "/alice/category/s%C3%BC%C3%9Fe-k%C3%BCche/rss.xml"}
	if len(cats) != 2 || !slices.Contains(cats, want) {
		t.Errorf("%+v", cats)
	}
	ok(t, c.SetPostCategories(ctx, id, cats[1].ID, cats[0].ID, "brand new"))
	got := must[[]metaweblog.Category](t)(c.PostCategories(ctx, id))
	if len(got) != 3 || got[0].Name != cats[1].Name || !got[0].Primary || got[1].Name != cats[0].Name || got[1].Primary || got[2].ID != "brand-new" {
		t.Errorf("%+v", got)
	}
	ok(t, c.SetPostCategories(ctx, id))
	if p := w.saved(t, id); len(p.Categories) != 0 || p.State != author.Published {
		t.Errorf("%+v", p)
	}
}

func TestRecentPostsListDraftsAndPublishedPostsNewestFirst(t *testing.T) {
	t.Parallel()
	w := newWeblog(t)
	c, ctx := w.as("alice", "test"), t.Context()
	for i := range 130 {
		w.now = w.now.Add(time.Minute)
		e := metaweblog.Edit{Title: new(strconv.Itoa(i + 1)), Description: new("x"), Publish: new(i%10 != 0)}
		if i == 5 {
			e.Created = w.now.Add(500 * time.Hour)
		}
		must[string](t)(c.NewPost(ctx, e))
	}
	list := must[[]metaweblog.Post](t)(c.RecentPosts(ctx, 4))
	var titles []string
	for _, p := range list {
		titles = append(titles, p.Title+" "+p.Status)
	}
	if d := cmp.Diff([]string{"6 future", "130 publish", "129 publish", "128 publish"}, titles); d != "" {
		t.Error(d)
	}
	all := must[[]metaweblog.Post](t)(c.RecentTitles(ctx, 1000))
	if len(all) != 130 || !slices.IsSortedFunc(all, func(a, b metaweblog.Post) int { return b.Created.Compare(a.Created) }) {
		t.Errorf("%d titles", len(all))
	}
}

func TestUploadedFilesAreServed(t *testing.T) {
	t.Parallel()
	w := newWeblog(t)
	c, ctx := w.as("alice", "test"), t.Context()
	gif := []byte("GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff!\xf9\x04\x01\x00\x00\x00\x00,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;")
	f := must[metaweblog.File](t)(c.Upload(ctx, metaweblog.Media{Name: "2026/a cloud.gif", Type: "image/gif", Bits: gif}))
	if !strings.HasPrefix(f.URL, public+"/alice/media/") || f.Type != "image/gif" || strings.Contains(f.URL, " ") {
		t.Errorf("%+v", f)
	}
	again := must[metaweblog.File](t)(c.Upload(ctx, metaweblog.Media{Name: "another.gif", Type: "image/gif", Bits: gif}))
	if again.Name != "another.gif" || again.Type != "image/gif" || !strings.HasSuffix(again.URL, "/another.gif") || f.Name == again.Name {
		t.Errorf("the same bytes under another name are answered as %+v", again)
	}
	id := must[string](t)(c.NewPost(ctx, metaweblog.Edit{Title: new("a"), Enclosure: &metaweblog.Enclosure{URL: f.URL, Type: f.Type, Length: int64(len(gif))}, Publish: new(true)}))
	if p := w.saved(t, id); len(p.Enclosures) != 1 || !strings.HasPrefix(p.Enclosures[0].URL, "/alice/media/") {
		t.Errorf("%+v", p.Enclosures) // the stored URL does not depend on the name of the server
	}
	echo(t, w, c, id)
	w.do(t, "GET", "/alice/rss.xml", "").is(t, "the feed", http.StatusOK, `url="`+f.URL+`"`)
	w.editor.Files = nil
	if _, err := c.Upload(ctx, metaweblog.Media{Bits: gif}); !isFault(err, xmlrpc.CodeParams) {
		t.Errorf("without files: %v", err)
	}
}

func TestXMLRPCCallsThatContainFileOrTextCanBeLarge(t *testing.T) {
	t.Parallel()
	fulltest.SkipUnderRace(t)
	w := newWeblog(t)
	c, ctx := w.as("alice", "test"), t.Context()
	w.editor.Files = nil // the test checks only that the call arrives
	for size, want := range map[int]int{200 << 10: xmlrpc.CodeParams, 1 << 20: xmlrpc.CodeParams, 16 << 20: xmlrpc.CodeParams} {
		if _, err := c.Upload(ctx, metaweblog.Media{Bits: bytes.Repeat([]byte{7}, size)}); !isFault(err, want) || !strings.Contains(err.Error(), "does not support files") {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
	if _, err := c.Upload(ctx, metaweblog.Media{Bits: bytes.Repeat([]byte{7}, 20<<20)}); err == nil {
		t.Error("20 MiB were accepted")
	}
	text := strings.Repeat("<p>&</p>", author.MaxSource/8)
	id := must[string](t)(c.NewPost(ctx, metaweblog.Edit{Description: &text}))
	if p := must[metaweblog.Post](t)(c.Post(ctx, id)); p.Description != text {
		t.Errorf("%d of %d bytes came back", len(p.Description), len(text))
	}
	err := c.EditPost(ctx, id, metaweblog.Edit{Description: new(text + "x"), Publish: new(false)})
	if !isFault(err, xmlrpc.CodeParams) || !strings.Contains(err.Error(), "256 KiB") {
		t.Errorf("a longer text: %v", err)
	}
}

func TestRSDListsTheEndpoints(t *testing.T) {
	t.Parallel()
	w := newWeblog(t)
	w.editor.Known = func(_ context.Context, user string) error {
		if user != "alice" {
			return fault.New(fault.NotFound, "There is no user %s.", user)
		}
		return nil
	}
	w.do(t, "GET", "/bob/rsd.xml", "").is(t, "unknown user", http.StatusNotFound)
	a := w.do(t, "GET", "/alice/rsd.xml", "")
	a.is(t, "rsd", http.StatusOK, "<rsd ")
	a.has(t, "rsd", "Content-Type", "application/rsd+xml; charset=utf-8")
	d, isRSD := metaweblog.ParseRSD([]byte(a.body), public+"/alice/rsd.xml", "")
	if !isRSD || d.Home != public+"/alice/" {
		t.Fatalf("%+v", d)
	}
	for name, link := range map[string]string{"MetaWeblog": "/RPC2", "Blogger": "/RPC2", "MovableType": "/RPC2", "WordPress": "/RPC2", "Micropub": "/micropub"} {
		if api, there := d.API(name); !there || api.Link != public+link || api.BlogID != "alice" || api.Preferred != (name == "MetaWeblog") {
			t.Errorf("%s: %+v", name, api)
		}
	}
	w.do(t, "POST", "/alice/rsd.xml", "x").is(t, "POST", http.StatusMethodNotAllowed)
	w.do(t, "OPTIONS", "/alice/rsd.xml", "").is(t, "OPTIONS", http.StatusNoContent)
	w.Feeds.RSD = nil
	w.do(t, "GET", "/alice/rsd.xml", "").is(t, "without a handler", http.StatusTeapot)
}

func TestPythonPerlAndPHPClientsPublishPosts(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"python3", "testdata/clients/metaweblog_client.py"}, {"perl", "testdata/clients/metaweblog_client.pl"}, {"php", "testdata/clients/metaweblog_client.php"},
		{"python3", "testdata/clients/wordpress_client.py"},
	} {
		t.Run(args[0], func(t *testing.T) {
			t.Parallel()
			w := newWeblog(t)
			if out := endpointtest.Run(t, args[0], args[1], w.srv.URL, goodPassword); strings.TrimSpace(out) != "ok" {
				t.Errorf("%s", out)
			}
		})
	}
}

func TestParagraphConversionIsIdempotent(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"": "", "a": "<p>a</p>", "a\r\nb": "<p>a<br />\nb</p>", "<pre>a\nb</pre>": "<pre>a\nb</pre>", "<b>x</b>": "<p><b>x</b></p>", "<div>": "<div>",
		"<HR/>": "<HR/>", "<!-- c -->": "<!-- c -->", "</div>": "</div>", "<pr": "<p><pr</p>", "<": "<p><</p>", "\n\n\na\n\n\n\nb": "<p>a</p>\n\n<p>b</p>",
	} {
		got := paragraphs(in)
		if got != want || paragraphs(got) != got {
			t.Errorf("%q: %q, %q", in, got, paragraphs(got))
		}
	}
}
