package publishhttp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cloudburst/internal/account"
	"cloudburst/internal/author"
	"cloudburst/internal/endpoint"
	"cloudburst/internal/endpoint/publishhttp"
	"cloudburst/internal/fault"
	"cloudburst/internal/route"
	"cloudburst/internal/store/sqlite"
	"cloudburst/internal/store/sqlite/sqlitetest"
	"cloudburst/protocol/micropub"
)

// pubHarness is the Micropub endpoint on the real engine and store.
type pubHarness struct {
	*testing.T
	srv    *httptest.Server
	posts  *author.Posts
	api    *publishhttp.Micropub
	origin string

	mu    sync.Mutex
	at    time.Time
	files []author.File
}

func newPubHarness(t *testing.T) *pubHarness {
	t.Helper()
	w := &pubHarness{T: t, at: time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)}
	st, err := sqlite.Open(t.Context(), sqlite.Options{Dir: sqlitetest.Dir(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	w.posts = &author.Posts{Store: st, Feeds: &author.Feeds{Store: st, Now: w.now}, Origin: w.public, Now: w.now}
	w.api = &publishhttp.Micropub{Posts: w.posts, Accounts: pubTokens{}, Public: w.public, Path: w.path, Files: pubFiles{w}, ListFiles: w.list, Now: w.now}
	mux := http.NewServeMux()
	route.Mount(mux, w.api.Routes(), endpoint.Protect())
	w.srv = httptest.NewServer(mux)
	t.Cleanup(w.srv.Close)
	w.origin = w.srv.URL
	return w
}

func (w *pubHarness) public() string { return w.origin }

// path knows the origin of the server and the domain of alice.
func (w *pubHarness) path(raw string) (*url.URL, bool) {
	u, err := url.Parse(raw)
	if err == nil && u.Host == "alice.example" {
		u.Path = "/alice" + u.Path
		return u, true
	}
	return u, err == nil && u.Host != "" && strings.HasPrefix(raw, w.origin)
}

func (w *pubHarness) now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.at = w.at.Add(time.Second)
	return w.at
}

func (w *pubHarness) later(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.at = w.at.Add(d)
}

// pubTokens derives user and scopes from the text of a token: "alice:create,update".
type pubTokens struct{}

func (pubTokens) Token(_ context.Context, plain, _ string, _ account.Caller) (account.Token, error) {
	user, scopes, ok := strings.Cut(plain, ":")
	if !ok {
		return account.Token{}, fault.New(fault.Refused, "There is no such token, or it was revoked.")
	}
	return account.Token{User: user, Scopes: strings.Split(scopes, ",")}, nil
}

// Put implements publishhttp.Files.
func (w *pubHarness) Put(_ context.Context, user, name, kind string, r io.Reader) (author.File, error) {
	b, err := io.ReadAll(r)
	if err != nil {
		return author.File{}, err
	}
	if len(b) > 10 {
		return author.File{}, fault.New(fault.Invalid, "The file is larger than 10 bytes.")
	}
	f := author.File{User: user, Hash: fmt.Sprintf("%016x", b), Name: name, Type: kind, Size: int64(len(b)), AddedAt: w.now()}
	w.files = append([]author.File{f}, w.files...)
	return f, nil
}

// Get implements publishhttp.Files.
func (w pubFiles) Get(_ context.Context, _, hash string) (author.File, error) {
	for _, f := range w.files {
		if f.Hash == hash {
			return f, nil
		}
	}
	return author.File{}, fault.New(fault.NotFound, "There is no such file.")
}

// pubFiles makes the harness a publishhttp.Files.
type pubFiles struct{ *pubHarness }

// Path implements publishhttp.Files.
func (w *pubHarness) Path(f author.File) string {
	return "/" + f.User + "/media/" + f.Hash + "/" + f.Name
}

func (w *pubHarness) list(_ context.Context, _ string, after *author.File, limit int) ([]author.File, error) {
	list := w.files
	for i, f := range w.files {
		if after != nil && f.Hash == after.Hash {
			list = w.files[i+1:]
		}
	}
	return list[:min(limit, len(list))], nil
}

func (w *pubHarness) client(scopes string) *micropub.Client {
	return &micropub.Client{Endpoint: w.origin + "/micropub", Token: "alice:" + scopes, HTTP: w.srv.Client()}
}

// create creates a post from JSON properties and returns its URL and the stored post.
func (w *pubHarness) create(properties string) (string, author.Post) {
	w.Helper()
	at, err := w.tryCreate(properties)
	if err != nil {
		w.Fatal(err)
	}
	return at, w.newest()
}

// newest returns the post with the largest ID.
func (w *pubHarness) newest() author.Post {
	w.Helper()
	list, err := w.posts.List(w.Context(), author.PostQuery{User: "alice"})
	if err != nil || len(list) == 0 {
		w.Fatal(list, err)
	}
	p := list[0]
	for _, other := range list {
		if other.ID > p.ID {
			p = other
		}
	}
	return p
}

func (w *pubHarness) get(id int64) author.Post {
	w.Helper()
	p, err := w.posts.Get(w.Context(), "alice", id)
	if err != nil {
		w.Fatal(err)
	}
	return p
}

func (w *pubHarness) update(at, changes string) (string, error) {
	w.Helper()
	req, err := micropub.ParseJSON([]byte(`{"action":"update","url":"` + at + `",` + changes + `}`))
	if err != nil {
		w.Fatal(err)
	}
	return w.client("update").Update(w.Context(), req)
}

func TestMicropubPropertiesCreateAPost(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	for name, tt := range map[string]struct {
		properties string
		want       author.Content
		check      func(t *testing.T, at string, p author.Post)
	}{
		"a note in plain text": {`{"content":["a *b* <i>c</i>"]}`,
			author.Content{Source: "a *b* <i>c</i>", Format: author.Plain}, func(t *testing.T, _ string, p author.Post) {
				if strings.Contains(p.HTML, "<i>") || strings.Contains(p.HTML, "<em>") {
					t.Error(p.HTML)
				}
			}},
		"markup":   {`{"content":[{"html":"<p><b>a</b></p>"}]}`, author.Content{Source: "<p><b>a</b></p>", Format: author.HTML}, nil},
		"markdown": {`{"content":[{"markdown":"*a*"}]}`, author.Content{Source: "*a*", Format: author.Markdown}, nil},
		"an article": {`{"name":["Title"],"content":["a"],"category":["one","two"],"mp-slug":["my-words"],"published":["2026-11-20T12:00:00Z"]}`,
			author.Content{Title: "Title", Source: "a", Format: author.Plain, Categories: []string{"one", "two"}}, func(t *testing.T, at string, p author.Post) {
				if !strings.HasSuffix(at, "/alice/2026/11/20/my-words") || !p.PublishedAt.Equal(noon) {
					t.Error(at, p.PublishedAt)
				}
			}},
		"image on another server": {`{"photo":[{"value":"https://a.example/s.png","alt":"A sunset"}],"content":["a"]}`,
			author.Content{Source: "a", Format: author.Plain, Enclosures: []author.Enclosure{{URL: "https://a.example/s.png", Type: "image/png", Alt: "A sunset"}}}, nil},
		"audio of unknown type and length": {`{"audio":["https://a.example/s"]}`,
			author.Content{Format: author.Plain, Enclosures: []author.Enclosure{{URL: "https://a.example/s", Type: "audio/mpeg"}}}, nil},
		"own files are stored by path": {`{"photo":["ORIGIN/alice/media/0011/s.jpg"]}`,
			author.Content{Format: author.Plain, Enclosures: []author.Enclosure{{URL: "/alice/media/0011/s.jpg", Type: "image/jpeg"}}}, nil},
		"a reply": {`{"content":["yes"],"in-reply-to":[{"type":["h-cite"],"properties":{"url":["https://a.example/1"],"name":["One"]}}]}`,
			author.Content{Source: "yes", Format: author.Plain, Reply: &author.Reply{URL: "https://a.example/1", Title: "One"}}, nil},
		"a bookmark": {`{"bookmark-of":["https://a.example/1"],"name":["One"]}`,
			author.Content{Title: "One", Format: author.Plain, Link: "https://a.example/1"}, nil},
		"a like": {`{"like-of":[{"type":["h-cite"],"properties":{"url":["https://a.example/1"],"name":["One"]}}]}`,
			author.Content{Title: "One", Format: author.Plain, Link: "https://a.example/1"}, nil},
		"unknown property with fallback": {`{"weight":[{"type":["h-measure"],"properties":{"num":["70"]}}],"summary":["Weighed 70 kg"]}`,
			author.Content{Source: "Weighed 70 kg", Format: author.Plain,
				Properties: map[string]json.RawMessage{"weight": json.RawMessage(`[{"type":["h-measure"],"properties":{"num":["70"]}}]`)}}, nil},
		"a draft": {`{"content":["a"],"post-status":["draft"],"visibility":["public"]}`,
			author.Content{Source: "a", Format: author.Plain}, func(t *testing.T, at string, p author.Post) {
				if p.State != author.Draft || !strings.HasSuffix(at, fmt.Sprintf("/write/%d", p.ID)) {
					t.Error(p.State, at)
				}
			}},
		"future date": {`{"content":["a"],"published":["2027-01-01T00:00:00Z"]}`,
			author.Content{Source: "a", Format: author.Plain}, func(t *testing.T, _ string, p author.Post) {
				if p.State != author.Scheduled || p.DueAt.Year() != 2027 {
					t.Error(p.State, p.DueAt)
				}
			}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newPubHarness(t)
			at, p := w.create(strings.ReplaceAll(tt.properties, "ORIGIN", w.origin))
			got := p.Content
			got.HTML = ""
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Error(d)
			}
			if tt.check != nil {
				tt.check(t, at, p)
			} else if p.State != author.Published || at != w.posts.Address(p) {
				t.Error(p.State, at)
			}
		})
	}
}

func TestMicropubUpdateChangesOnlyNamedProperties(t *testing.T) {
	t.Parallel()
	const before = `{"name":["Title"],"content":["Old"],"category":["one","two"],"in-reply-to":["https://a.example/1"],
		"photo":[{"value":"https://a.example/s.png","alt":"A sunset"}],"published":["2026-11-20T12:00:00Z"]}`
	for name, tt := range map[string]struct {
		changes string
		change  func(c *author.Content)
	}{
		"replace":                {`"replace":{"content":["New"]}`, func(c *author.Content) { c.Source = "New" }},
		"replace text with HTML": {`"replace":{"content":[{"html":"<p>New</p>"}]}`, func(c *author.Content) { c.Source, c.Format = "<p>New</p>", author.HTML }},
		"add":                    {`"add":{"category":["three"]}`, func(c *author.Content) { c.Categories = []string{"one", "two", "three"} }},
		"add a missing property": {`"add":{"bookmark-of":["https://b.example/"]}`, func(c *author.Content) { c.Link = "https://b.example/" }},
		"delete a value":         {`"delete":{"category":["one"]}`, func(c *author.Content) { c.Categories = []string{"two"} }},
		"delete a property":      {`"delete":["category","name","in-reply-to"]`, func(c *author.Content) { c.Categories, c.Title, c.Reply = nil, "", nil }},
		"delete an image":        {`"delete":{"photo":["https://a.example/s.png"]}`, func(c *author.Content) { c.Enclosures = nil }},
		"add an image": {`"add":{"photo":["https://a.example/t.gif"]}`, func(c *author.Content) {
			c.Enclosures = append(c.Enclosures, author.Enclosure{URL: "https://a.example/t.gif", Type: "image/gif"})
		}},
		"replace a property without a field": {`"replace":{"location":["geo:1,2"]}`, func(c *author.Content) {
			c.Properties = map[string]json.RawMessage{"location": json.RawMessage(`["geo:1,2"]`)}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newPubHarness(t)
			at, p := w.create(before)
			want := p.Content
			tt.change(&want)
			if now, err := w.update(at, tt.changes); err != nil || now != at {
				t.Fatal(now, err)
			}
			after := w.get(p.ID)
			want.HTML = after.HTML
			if d := cmp.Diff(want, after.Content); d != "" {
				t.Error(d)
			}
			if after.State != author.Published || !after.PublishedAt.Equal(p.PublishedAt) || after.Slug != p.Slug || after.GUID != p.GUID {
				t.Errorf("%+v", after)
			}
		})
	}
}

func TestPlainTextUpdateKeepsMarkdownFormatOfAPost(t *testing.T) {
	t.Parallel()
	w := newPubHarness(t)
	at, p := w.create(`{"content":[{"markdown":"*a*"}]}`)
	got, err := w.client("update").Source(t.Context(), at, "content")
	if err != nil || got.Properties.First("content").Text != "*a*" {
		t.Fatal(got, err)
	}
	if _, err := w.update(at, `"replace":{"content":["*b*"]}`); err != nil {
		t.Fatal(err)
	}
	if p = w.get(p.ID); p.Format != author.Markdown || !strings.Contains(p.HTML, "<em>b</em>") {
		t.Errorf("%+v", p)
	}
}

func TestDraftReceivesURLWhenPublished(t *testing.T) {
	t.Parallel()
	w := newPubHarness(t)
	at, p := w.create(`{"content":["a"],"post-status":["draft"]}`)
	now, err := w.update(at, `"replace":{"post-status":["published"]}`)
	if p = w.get(p.ID); err != nil || p.State != author.Published || now != w.posts.Address(p) || now == at {
		t.Fatal(now, err, p.State)
	}
	// The old URL of the post still works.
	if _, err := w.update(at, `"replace":{"content":["b"]}`); err != nil || w.get(p.ID).Source != "b" {
		t.Error(err)
	}
}

func TestDeletedPostsCanBeRestored(t *testing.T) {
	t.Parallel()
	for _, wait := range []time.Duration{0, time.Hour} {
		w := newPubHarness(t)
		at, p := w.create(`{"name":["Title"],"content":["a"],"published":["2026-11-20T12:00:00Z"]}`)
		c := w.client("delete")
		for range 2 {
			if err := c.Delete(t.Context(), at); err != nil || w.get(p.ID).State != author.Deleted {
				t.Fatal(err)
			}
		}
		if _, err := w.update(at, `"replace":{"content":["b"]}`); err == nil {
			t.Error("a deleted post was changed")
		}
		w.later(wait)
		if _, err := c.Undelete(t.Context(), at); err == nil || w.get(p.ID).State != author.Deleted {
			t.Fatal("a token that only deletes brought a post back")
		}
		c = w.client("update")
		for range 2 {
			now, err := c.Undelete(t.Context(), at)
			back := w.get(p.ID)
			if err != nil || now != at || back.State != author.Published || back.Source != "a" || !back.PublishedAt.Equal(p.PublishedAt) || back.GUID != p.GUID {
				t.Fatalf("%s %v %+v", now, err, back)
			}
		}
	}
}

func TestMicropubSourceQueryReturnsPostAsWritten(t *testing.T) {
	t.Parallel()
	w := newPubHarness(t)
	at, _ := w.create(`{"name":["Title"],"content":[{"html":"<p>a</p>"}],"category":["one"],"mp-slug":["words"],
		"photo":[{"value":"https://a.example/s.png","alt":"A sunset"}],"in-reply-to":["https://a.example/1"],"published":["2026-11-20T12:00:00Z"]}`)
	got, err := w.client("update").Source(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	delete(got.Properties, "updated")
	b, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"type":["h-entry"],"properties":{"category":["one"],"content":[{"html":"<p>a</p>"}],"in-reply-to":["https://a.example/1"],"mp-slug":["words"],` +
		`"name":["Title"],"photo":[{"value":"https://a.example/s.png","alt":"A sunset"}],"post-status":["published"],"published":["2026-11-20T12:00:00Z"],"url":["` + at + `"]}}`
	if d := cmp.Diff(want, strings.NewReplacer(`\u003c`, "<", `\u003e`, ">").Replace(string(b))); d != "" {
		t.Error(d)
	}
	w.create(`{"content":["b"],"category":["One more"]}`)
	w.create(`{"content":["c"],"post-status":["draft"]}`)
	for _, tt := range []struct {
		q    micropub.ListQuery
		want string
	}{
		{micropub.ListQuery{PostStatus: "published", Limit: 5}, "b, <p>a</p>"},
		{micropub.ListQuery{PostStatus: "published", Limit: 5, Offset: 1}, "<p>a</p>"},
		{micropub.ListQuery{PostStatus: "published", Limit: 1}, "b"},
		{micropub.ListQuery{PostStatus: "published", Limit: 1, Offset: 7}, ""},
		{micropub.ListQuery{PostStatus: "draft", Limit: 5}, "c"},
		{micropub.ListQuery{Category: "ONE", Limit: 5}, "<p>a</p>"},
	} {
		list, err := w.client("update").Posts(t.Context(), tt.q)
		var texts []string
		for _, o := range list {
			texts = append(texts, o.Properties.Text("content"))
		}
		if s := strings.Join(texts, ", "); err != nil || s != tt.want {
			t.Errorf("%+v: %s %v", tt.q, s, err)
		}
	}
	names, err := w.client("create").Categories(t.Context(), "more")
	if err != nil || len(names) != 1 || names[0] != "One more" {
		t.Error(names, err)
	}
}

func TestMicropubErrorsAreReadable(t *testing.T) {
	t.Parallel()
	w := newPubHarness(t)
	at, _ := w.create(`{"content":["a"]}`)
	bobs := strings.Replace(at, "/alice/", "/bob/", 1)
	for name, tt := range map[string]struct {
		body   string
		status int
		code   string
		words  string
	}{
		"unsupported visibility": {`{"properties":{"content":["a"],"visibility":["unlisted"]}}`, 400, "invalid_request", "nothing was published"},
		"an invalid date":        {`{"properties":{"content":["a"],"published":["soon"]}}`, 400, "invalid_request", "soon"},
		"an invalid status":      {`{"properties":{"content":["a"],"post-status":["secret"]}}`, 400, "invalid_request", "secret"},
		"an empty post":          {`{"properties":{"weight":["1"]}}`, 400, "invalid_request", "nothing in the post"},
		"too long post":          {`{"properties":{"content":["` + strings.Repeat("a", author.MaxSource+1) + `"]}}`, 400, "invalid_request", "256 KiB"},
		"no such post":           {`{"action":"delete","url":"` + at + `x"}`, 400, "invalid_request", "no post of yours"},
		"post of another user":   {`{"action":"delete","url":"` + bobs + `"}`, 400, "invalid_request", "no post of yours"},
		"invalid URL":            {`{"action":"delete","url":"x"}`, 400, "invalid_request", "no post of yours"},
		"URL of another site":    {`{"action":"delete","url":"https://a.example/alice/2026/11/22/100002"}`, 400, "invalid_request", "no post of yours"},
	} {
		r, err := http.NewRequestWithContext(t.Context(), "POST", w.origin+"/micropub/", strings.NewReader(tt.body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Authorization", "Bearer alice:create,update,delete")
		res, err := w.srv.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		b, _ := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if res.StatusCode != tt.status || !strings.Contains(string(b), `"`+tt.code+`"`) || !strings.Contains(string(b), tt.words) {
			t.Errorf("%s: %d %s", name, res.StatusCode, b)
		}
	}
	list, err := w.posts.List(t.Context(), author.PostQuery{User: "alice"})
	if err != nil || len(list) != 1 {
		t.Error(len(list), err)
	}
}

func TestFilesAreUploadedToMediaEndpointOrWithPost(t *testing.T) {
	t.Parallel()
	w := newPubHarness(t)
	c := w.client("create,media")
	conf, err := c.Config(t.Context())
	if err != nil || conf.MediaEndpoint != w.origin+"/micropub/media" || len(conf.PostTypes) == 0 {
		t.Fatal(conf, err)
	}
	at, err := c.Upload(t.Context(), conf.MediaEndpoint, &micropub.Upload{Name: "a.png", Type: "image/png", Reader: strings.NewReader("PNG")})
	if err != nil || !strings.HasPrefix(at, w.origin+"/alice/media/") {
		t.Fatal(at, err)
	}
	if _, err := c.Upload(t.Context(), conf.MediaEndpoint, &micropub.Upload{Name: "b.png", Reader: strings.NewReader("much too large")}); err == nil || !strings.Contains(err.Error(), "larger than 10") {
		t.Error(err)
	}
	res, err := http.DefaultClient.Do(pubGet(t, conf.MediaEndpoint+"?q=last"))
	if err != nil {
		t.Fatal(err)
	}
	b, _ := io.ReadAll(res.Body)
	_ = res.Body.Close()
	if !strings.Contains(string(b), at) {
		t.Errorf("%s", b)
	}
	body := "--b\r\nContent-Disposition: form-data; name=\"photo\"; filename=\"c.jpg\"\r\nContent-Type: image/jpeg\r\n\r\nJPEG\r\n--b--\r\n"
	r, err := http.NewRequestWithContext(t.Context(), "POST", w.origin+"/micropub", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "multipart/form-data; boundary=b")
	r.Header.Set("Authorization", "Bearer alice:create")
	res, err = http.DefaultClient.Do(r)
	if err != nil || res.StatusCode != 201 {
		t.Fatal(res, err)
	}
	_ = res.Body.Close()
	if p := w.newest(); len(p.Enclosures) != 1 || !strings.HasPrefix(p.Enclosures[0].URL, "/alice/media/") || p.Enclosures[0].Type != "image/jpeg" {
		t.Errorf("%+v", p.Enclosures)
	}
}

func pubGet(t *testing.T, at string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "GET", at, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer alice:media")
	return r
}
