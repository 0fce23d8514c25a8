package metaweblog_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"cloudburst/protocol/metaweblog"
	"cloudburst/protocol/xmlrpc"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files")

func handler(s *site) *xmlrpc.Handler {
	return &xmlrpc.Handler{Methods: (&metaweblog.Server{Backend: s}).Methods()}
}

// TestRecordedCallsOfEditorsSucceed posts recorded calls of editors, in the order of their file
// names, to one weblog.
func TestRecordedCallsOfEditorsSucceed(t *testing.T) {
	t.Parallel()
	calls, err := filepath.Glob("testdata/calls/*.call.xml")
	if err != nil || len(calls) == 0 {
		t.Fatalf("%d calls: %v", len(calls), err)
	}
	h := handler(newSite())
	for _, name := range calls {
		call, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequest("POST", "/RPC2", bytes.NewReader(call))
		r.Header.Set("Content-Type", "text/xml")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		got := strings.ReplaceAll(strings.ReplaceAll(w.Body.String(), "<member>", "\n<member>"), "<array>", "\n<array>")
		golden := strings.TrimSuffix(name, ".call.xml") + ".answer.xml"
		if *update {
			if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(string(want), got); d != "" {
			t.Errorf("%s:\n%s", name, d)
		}
	}
}

// client returns a Client of a server in this process.
func client(t *testing.T, s *site) *metaweblog.Client {
	t.Helper()
	srv := httptest.NewServer(handler(s))
	t.Cleanup(srv.Close)
	return &metaweblog.Client{URL: srv.URL, Blog: "alice", Name: "alice", Password: "secret", UserAgent: "test"}
}

func TestClientReadsThePostItSaved(t *testing.T) {
	t.Parallel()
	s := newSite()
	c, ctx := client(t, s), t.Context()
	full := metaweblog.Edit{
		Title: new("Tschüß <&> 日本"), Description: new("<p>one\n & two</p>"), More: new("<p>more</p>"), Excerpt: new("short"),
		Link: new("https://a.example/?a=1&b=2"), Slug: new("tschuess"), Filter: new(metaweblog.FilterMarkdown),
		Categories: []string{"Café", "日本語"}, Keywords: []string{"a", "b c"}, Enclosure: &metaweblog.Enclosure{URL: "https://a.example/x.mp3", Type: "audio/mpeg", Length: 12},
		AllowComments: new(1), AllowPings: new(2), Created: time.Date(2026, 3, 1, 12, 0, 1, 0, time.UTC), Publish: new(true),
	}
	id, err := c.NewPost(ctx, full)
	if err != nil {
		t.Fatal(err)
	}
	p, err := c.Post(ctx, id)
	want := full
	want.Publish, want.Status = nil, metaweblog.StatusPublish
	if d := cmp.Diff(want, p.Edit()); err != nil || d != "" || p.ID != id || p.UserID != "alice" || p.PermaLink == "" {
		t.Errorf("%v\n%+v\n%s", err, p, d)
	}
	if err := c.EditPost(ctx, id, p.Edit()); err != nil {
		t.Error(err)
	}
	if again, err := c.Post(ctx, id); err != nil || !cmp.Equal(p, again) {
		t.Errorf("the echo changed it: %v\n%s", err, cmp.Diff(p, again))
	}
	if err := c.EditPost(ctx, id, metaweblog.Edit{Title: new("x"), Enclosure: &metaweblog.Enclosure{}}); err != nil {
		t.Error(err)
	}
	if p, err := c.Post(ctx, id); err != nil || p.Title != "x" || p.Description != *full.Description || p.Enclosure != nil || p.Status != metaweblog.StatusPublish {
		t.Errorf("%v %+v", err, p)
	}
}

func TestClientCallsEveryMethod(t *testing.T) {
	t.Parallel()
	s := newSite()
	c, ctx := client(t, s), t.Context()
	check := func(what string, err error, ok bool) {
		t.Helper()
		if err != nil || !ok {
			t.Errorf("%s: %v", what, err)
		}
	}
	blogs, err := c.Blogs(ctx)
	check("blogs", err, len(blogs) == 1 && blogs[0] == metaweblog.Blog{ID: "alice", Name: "Alice & friends", URL: "https://w.example/alice/", RPCURL: "https://w.example/RPC2"})
	user, err := c.User(ctx)
	check("user", err, user.ID == "alice" && user.FirstName == "Alice")
	filters, err := c.Filters(ctx)
	check("filters", err, len(filters) == 2 && filters[1] == metaweblog.Filter{Key: "markdown", Label: "Markdown"})
	id, err := c.NewPost(ctx, metaweblog.Edit{Title: new("a"), Categories: []string{"Über uns", "x"}})
	check("newPost", err, id == "1")
	check("draft", nil, s.posts[1].Status == metaweblog.StatusDraft)
	check("publish", c.Publish(ctx, id), true)
	check("published", nil, s.posts[1].Status == metaweblog.StatusPublish)
	cats, err := c.Categories(ctx)
	check("categories", err, len(cats) == 2 && cats[1].Name == "Über uns" && cats[1].ID == "über-uns" && strings.HasSuffix(cats[1].RSSURL, "/über-uns/rss.xml"))
	cats, err = c.PostCategories(ctx, id)
	check("post's", err, len(cats) == 2 && cats[0].Primary && !cats[1].Primary)
	check("set", c.SetPostCategories(ctx, id, "x", "y"), true)
	check("is set", nil, slices.Equal(s.posts[1].Categories, []string{"x", "y"}))
	list, err := c.RecentPosts(ctx, 5)
	check("recent", err, len(list) == 1 && list[0].ID == "1")
	list, err = c.RecentTitles(ctx, 5)
	check("titles", err, len(list) == 1 && list[0].Title == "a" && list[0].Description == "")
	f, err := c.Upload(ctx, metaweblog.Media{Name: "a b.png", Type: "image/png", Bits: []byte{0, 255}})
	check("upload", err, f.URL == "https://w.example/alice/media/a b.png" && bytes.Equal(s.files[0].Bits, []byte{0, 255}))
	check("delete", c.DeletePost(ctx, id), true)
	_, err = c.Post(ctx, id)
	if f, ok := errors.AsType[*xmlrpc.Fault](err); !ok || f.Code != metaweblog.CodeNotFound {
		t.Errorf("a deleted post: %v", err)
	}
	c.Password = "x"
	if _, err := c.Blogs(ctx); err == nil || !strings.Contains(err.Error(), "403") {
		t.Errorf("a wrong password: %v", err)
	}
}

func TestGetPostsFiltersAndSortsAsInWordPress(t *testing.T) {
	t.Parallel()
	s := newSite()
	for i, p := range []metaweblog.Post{
		{Title: "b", Slug: "z", Status: metaweblog.StatusDraft}, {Title: "C", Slug: "y", Status: metaweblog.StatusPublish},
		{Title: "a", Slug: "x", Status: metaweblog.StatusPublish}, {Title: "a", Slug: "w", Status: metaweblog.StatusFuture},
	} {
		p.ID, p.Created = strconv.Itoa(i+1), time.Date(2026, 1, i+1, 0, 0, 0, 0, time.UTC)
		p.Modified = p.Created.Add(-time.Duration(i) * 48 * time.Hour)
		s.posts[i+1] = p
	}
	srv := httptest.NewServer(handler(s))
	defer srv.Close()
	c := &xmlrpc.Client{URL: srv.URL}
	for _, tt := range []struct {
		filter map[string]any
		want   string
	}{
		{nil, "4321"},
		{map[string]any{"number": 2, "offset": 1}, "32"},
		{map[string]any{"post_status": "draft", "number": 1}, "1"}, // the post is not among the newest posts of all statuses
		{map[string]any{"post_status": []string{"publish", "future"}, "offset": 1}, "32"},
		{map[string]any{"post_status": "any", "number": 1}, "4"},
		{map[string]any{"post_status": "pending"}, ""},
		{map[string]any{"orderby": "date", "order": "ASC", "number": 3}, "123"},
		{map[string]any{"orderby": "title", "order": "ASC"}, "4312"},
		{map[string]any{"orderby": "post_title"}, "2143"},
		{map[string]any{"orderby": "title name", "order": "asc"}, "4312"},
		{map[string]any{"orderby": "name", "order": "ASC"}, "4321"},
		{map[string]any{"orderby": "modified", "order": "ASC"}, "4321"},
		{map[string]any{"orderby": "ID", "order": "ASC", "number": 1}, "1"},
		{map[string]any{"orderby": "author", "order": "ASC"}, "4321"},
		{map[string]any{"orderby": "what is that"}, "4321"},
	} {
		if tt.filter == nil {
			tt.filter = map[string]any{}
		}
		v, err := c.Call(t.Context(), "wp.getPosts", "alice", "alice", "secret", tt.filter, []string{"post_id"})
		list, _ := v.([]any)
		got := ""
		for _, p := range list {
			id, _ := p.(map[string]any)["post_id"].(string)
			got += id
		}
		if err != nil || got != tt.want {
			t.Errorf("%v: %q, want %q, %v", tt.filter, got, tt.want, err)
		}
	}
}

func TestMethodsRequireTheirAccessRights(t *testing.T) {
	t.Parallel()
	s := newSite()
	h := handler(s)
	in := []any{"b", "alice", "secret"}
	for method, c := range map[string]struct {
		want   metaweblog.Access
		params []any
	}{
		"blogger.getUsersBlogs": {metaweblog.List, in}, "metaWeblog.getUsersBlogs": {metaweblog.List, in}, "blogger.getUserInfo": {metaweblog.List, in},
		"metaWeblog.getCategories": {metaweblog.List, in}, "mt.getCategoryList": {metaweblog.List, in},
		"metaWeblog.getPost": {metaweblog.Read, in}, "metaWeblog.getRecentPosts": {metaweblog.Read, in}, "mt.getRecentPostTitles": {metaweblog.Read, in},
		"mt.getPostCategories": {metaweblog.Read, in}, "blogger.getPost": {metaweblog.Read, append([]any{""}, in...)}, "blogger.getRecentPosts": {metaweblog.Read, append([]any{""}, in...)},
		"metaWeblog.newPost": {metaweblog.Create, append(in[:3:3], map[string]any{})}, "blogger.newPost": {metaweblog.Create, append([]any{""}, append(in[:3:3], "x")...)},
		"metaWeblog.editPost": {metaweblog.Update, append(in[:3:3], map[string]any{})}, "blogger.editPost": {metaweblog.Update, append([]any{""}, append(in[:3:3], "x")...)},
		"mt.setPostCategories": {metaweblog.Update, append(in[:3:3], []any{})}, "mt.publishPost": {metaweblog.Update, in},
		"metaWeblog.deletePost": {metaweblog.Delete, append([]any{""}, in...)}, "blogger.deletePost": {metaweblog.Delete, append([]any{""}, in...)},
		"metaWeblog.newMediaObject": {metaweblog.Upload, append(in[:3:3], map[string]any{"bits": []byte("x")})},
	} {
		s.want = nil
		_, _ = h.Call(t.Context(), xmlrpc.Call{Method: method, Params: c.params}) // ignore the error: the post may not exist
		if !slices.Equal(s.want, []metaweblog.Access{c.want}) {
			t.Errorf("%s requires %v", method, s.want)
		}
	}
}

func TestMulticallStopsAtFailedLogin(t *testing.T) {
	t.Parallel()
	s := newSite()
	guess := func(password string) any {
		return map[string]any{"methodName": "blogger.getUsersBlogs", "params": []any{"", "alice", password}}
	}
	v, err := handler(s).Call(t.Context(), xmlrpc.Call{Method: "system.multicall", Params: []any{[]any{guess("secret"), guess("x"), guess("secret")}}})
	list, _ := v.([]any)
	if err != nil || len(list) != 3 || len(s.want) != 2 {
		t.Errorf("%v, %v, %v", v, err, s.want)
	}
}

func TestSupportedMethodsListsOnlyMethodsThatCanBeCalled(t *testing.T) {
	t.Parallel()
	h := handler(newSite())
	v, err := h.Call(t.Context(), xmlrpc.Call{Method: "mt.supportedMethods"})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range v.([]string) {
		if !slices.ContainsFunc(h.Methods, func(m xmlrpc.Method) bool { return m.Name == name && m.Do != nil && m.Help != "" && m.Signature != nil }) {
			t.Errorf("%s cannot be called", name)
		}
	}
	for _, name := range []string{"metaWeblog.newPost", "blogger.getUserInfo", "mt.getTrackbackPings", "mt.supportedMethods"} {
		if !slices.Contains(v.([]string), name) {
			t.Errorf("%s is missing", name)
		}
	}
}

func TestFaultNamesTheInvalidParameter(t *testing.T) {
	t.Parallel()
	h := handler(newSite())
	in := func(more ...any) []any { return append([]any{"alice", "alice", "secret"}, more...) }
	for _, c := range []struct {
		method string
		params []any
		says   string
	}{
		{"metaWeblog.newPost", nil, "4 to 5 parameters"},
		{"metaWeblog.newPost", in(), "4 to 5 parameters"},
		{"metaWeblog.newPost", in("x"), "must be a struct"},
		{"metaWeblog.newPost", in(map[string]any{}, "perhaps"), "publish"},
		{"metaWeblog.newPost", in(map[string]any{"title": []any{}}), `"title" must be a string, not an array`},
		{"metaWeblog.newPost", in(map[string]any{"description": map[string]any{}}), "a struct"},
		{"metaWeblog.newPost", in(map[string]any{"categories": []any{"a", []any{}}}), "list of strings"},
		{"metaWeblog.newPost", in(map[string]any{"dateCreated": "soon"}), "is not a date"},
		{"metaWeblog.newPost", in(map[string]any{"dateCreated": int64(5)}), "a number"},
		{"metaWeblog.newPost", in(map[string]any{"enclosure": int64(5)}), "url, type and length"},
		{"metaWeblog.newPost", in(map[string]any{"enclosure": map[string]any{"url": []any{}}}), `"url"`},
		{"metaWeblog.newPost", in(map[string]any{"mt_allow_comments": "some"}), "0, 1 or 2"},
		{"metaWeblog.newPost", []any{[]any{}, "alice", "secret", map[string]any{}}, "blogid"},
		{"metaWeblog.newPost", []any{"", true, "secret", map[string]any{}}, "user name"},
		{"metaWeblog.getPost", []any{[]any{}, "alice", "secret"}, "postid"},
		{"metaWeblog.getRecentPosts", in("many"), "number of posts"},
		{"blogger.newPost", append([]any{""}, in(map[string]any{})...), "content"},
		{"metaWeblog.newMediaObject", in("x"), "struct of name"},
		{"metaWeblog.newMediaObject", in(map[string]any{"name": "x"}), "bits"},
		{"metaWeblog.newMediaObject", in(map[string]any{"bits": "%%%"}), "base64"},
		{"mt.setPostCategories", in("x"), "array"},
		{"mt.setPostCategories", in([]any{map[string]any{}}), "categoryId"},
		{"mt.getTrackbackPings", nil, "1 parameters"},
	} {
		v, err := h.Call(t.Context(), xmlrpc.Call{Method: c.method, Params: c.params})
		f, ok := errors.AsType[*xmlrpc.Fault](err)
		if !ok || f.Code != xmlrpc.CodeParams || !strings.Contains(f.String, c.says) {
			t.Errorf("%s %v: %v, %v; want %q", c.method, c.params, v, err, c.says)
		}
	}
}

func TestParseEditAcceptsFieldsOfAnyTypeAndCase(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		what string
		in   map[string]any
		want metaweblog.Edit
	}{
		{"nothing", map[string]any{}, metaweblog.Edit{}},
		{"nil", map[string]any{"title": nil, "categories": nil, "dateCreated": ""}, metaweblog.Edit{}},
		{"a number for a title", map[string]any{"title": int64(1984)}, metaweblog.Edit{Title: new("1984")}},
		{"another case", map[string]any{"Title": "a", "DATECREATED": "2026-03-01T12:00:00Z"}, metaweblog.Edit{Title: new("a"), Created: noon}},
		{"two cases", map[string]any{"TITLE": "b", "title": "a"}, metaweblog.Edit{Title: new("a")}},
		{"base64", map[string]any{"description": []byte("<p>\x00</p>")}, metaweblog.Edit{Description: new("<p>\uFFFD</p>")}},
		{"one category", map[string]any{"categories": "a"}, metaweblog.Edit{Categories: []string{"a"}}},
		{"no categories", map[string]any{"categories": []any{}}, metaweblog.Edit{Categories: []string{}}},
		{"categories twice", map[string]any{"categories": []any{"a", " a ", "", int64(7)}}, metaweblog.Edit{Categories: []string{"a", "7"}}},
		{"keywords", map[string]any{"mt_keywords": "a, b c ,,a"}, metaweblog.Edit{Keywords: []string{"a", "b c"}}},
		{"tags", map[string]any{"mt_tags": "a,b"}, metaweblog.Edit{Keywords: []string{"a", "b"}}},
		{"UTC wins", map[string]any{"dateCreated": noon.Add(time.Hour), "date_created_gmt": noon}, metaweblog.Edit{Created: noon}},
		{"UTC wins, spelled otherwise", map[string]any{"dateCreated": noon.Add(time.Hour), "dateCreated_gmt": noon}, metaweblog.Edit{Created: noon}},
		{"a date with a zone", map[string]any{"dateCreated": "2026-03-01T13:00:00+01:00"}, metaweblog.Edit{Created: noon}},
		{"pubDate", map[string]any{"pubDate": "Sun, 01 Mar 2026 12:00:00 GMT"}, metaweblog.Edit{Created: noon}},
		{"enclosure", map[string]any{"enclosure": map[string]any{"url": "u", "length": "12", "Type": "t"}}, metaweblog.Edit{Enclosure: &metaweblog.Enclosure{URL: "u", Type: "t", Length: 12}}},
		{"enclosure without a length", map[string]any{"enclosure": map[string]any{"url": "u", "length": "big"}}, metaweblog.Edit{Enclosure: &metaweblog.Enclosure{URL: "u"}}},
		{"enclosure as a string", map[string]any{"enclosure": "u"}, metaweblog.Edit{Enclosure: &metaweblog.Enclosure{URL: "u"}}},
		{"an empty enclosure", map[string]any{"enclosure": []any{}}, metaweblog.Edit{Enclosure: &metaweblog.Enclosure{}}},
		{"comments", map[string]any{"mt_allow_comments": "open", "mt_allow_pings": false}, metaweblog.Edit{AllowComments: new(1), AllowPings: new(0)}},
		{"slug", map[string]any{"mt_basename": "x"}, metaweblog.Edit{Slug: new("x")}},
		{"unknown members", map[string]any{"wp_password": "x", "custom_fields": []any{}}, metaweblog.Edit{}},
	} {
		got, err := metaweblog.ParseEdit(c.in)
		if d := cmp.Diff(c.want, got); err != nil || d != "" {
			t.Errorf("%s: %v\n%s", c.what, err, d)
		}
	}
}

func TestPostStatusOverridesPublishParameter(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status  string
		publish *bool
		want    *bool
	}{
		{"", nil, nil}, {"", new(true), new(true)}, {"", new(false), new(false)}, {"publish", new(false), new(true)}, {"future", nil, new(true)},
		{"draft", new(true), new(false)}, {"private", nil, new(true)}, {"pending", nil, new(false)},
	} {
		if got := (metaweblog.Edit{Status: c.status, Publish: c.publish}).Public(); !cmp.Equal(got, c.want) {
			t.Errorf("%q %v: %v", c.status, c.publish, got)
		}
	}
	s := newSite()
	h := handler(s)
	for i, publish := range []any{true, int64(1), "1", "true", int64(5)} {
		if _, err := h.Call(t.Context(), xmlrpc.Call{Method: "metaWeblog.newPost", Params: []any{"", "alice", "secret", map[string]any{}, publish}}); err != nil || s.posts[i+1].Status != "publish" {
			t.Errorf("%v: %v, %+v", publish, err, s.posts[i+1])
		}
	}
}

func TestTitleIsReadFromTitleTagInBloggerContent(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		content string
		title   *string
		text    string
	}{
		{"<p>x</p>", nil, "<p>x</p>"},
		{"<title>A &amp; B</title><p>x</p>", new("A & B"), "<p>x</p>"},
		{" <TITLE>A</TITLE><category>1,2</category>x", new("A"), "x"},
		{"<title></title><title>x</title>", new(""), "<title>x</title>"},
		{"<title>A", nil, "<title>A"},
	} {
		title, text := metaweblog.ParseBloggerContent(c.content)
		if !cmp.Equal(title, c.title) || text != c.text {
			t.Errorf("%q: %v, %q", c.content, title, text)
		}
	}
	for _, c := range [][2]string{{"", "x"}, {"a <b> & c", "x"}, {"", "<title>x</title>"}, {"a", "<title>x"}} {
		title, text := metaweblog.ParseBloggerContent(metaweblog.BloggerContent(c[0], c[1]))
		got := ""
		if title != nil {
			got = *title
		}
		if got != c[0] || text != c[1] {
			t.Errorf("%q: %q, %q", c, got, text)
		}
	}
}

func TestBackendErrorIsReturnedAsFault(t *testing.T) {
	t.Parallel()
	s := newSite()
	s.fail = errBoom
	server := &metaweblog.Server{Backend: s, Fault: func(_ context.Context, method string, err error) error {
		return &xmlrpc.Fault{Code: 7, String: method + " " + err.Error()}
	}}
	h := &xmlrpc.Handler{Methods: server.Methods()}
	for method, params := range map[string][]any{
		"blogger.getUsersBlogs": {"", "alice", "secret"}, "blogger.getUserInfo": {"", "alice", "secret"}, "metaWeblog.getCategories": {"", "alice", "secret"},
		"metaWeblog.getRecentPosts": {"", "alice", "secret"}, "metaWeblog.newPost": {"", "alice", "secret", map[string]any{}},
		"metaWeblog.newMediaObject": {"", "alice", "secret", map[string]any{"bits": []byte{}}},
	} {
		_, err := h.Call(t.Context(), xmlrpc.Call{Method: method, Params: params})
		if f, ok := errors.AsType[*xmlrpc.Fault](err); !ok || f.Code != 7 || f.String != method+" boom" {
			t.Errorf("%s: %v", method, err)
		}
	}
}

func TestResponsesOfOtherServersAreParsed(t *testing.T) {
	t.Parallel()
	byName := map[string]any{"News": map[string]any{"htmlUrl": "http://a.example/", "description": ""}, "Art": map[string]any{"description": "Art"}}
	got, err := metaweblog.ParseCategories(byName)
	if d := cmp.Diff([]metaweblog.Category{{Name: "Art"}, {Name: "News", HTMLURL: "http://a.example/"}}, got); err != nil || d != "" {
		t.Errorf("%v\n%s", err, d)
	}
	p, err := metaweblog.ParsePost(map[string]any{"postid": int64(7), "content": "<title>A</title>x<!--more-->y", "dateCreated": "20260301T12:00:00"})
	if err != nil || p.ID != "7" || p.Title != "A" || p.Description != "x" || p.More != "y" || p.Created.Hour() != 12 {
		t.Errorf("%v %+v", err, p)
	}
	for _, v := range []any{"x", []any{"x"}, map[string]any{"a": "x"}} {
		if _, err := metaweblog.ParseCategories(v); !errors.Is(err, metaweblog.ErrInvalidResponse) {
			t.Errorf("%v: %v", v, err)
		}
	}
	for _, v := range []any{"x", nil, map[string]any{"title": []any{}}} {
		if _, err := metaweblog.ParsePost(v); !errors.Is(err, metaweblog.ErrInvalidResponse) {
			t.Errorf("%v: %v", v, err)
		}
	}
}
