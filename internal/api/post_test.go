package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cloudburst/client"
	"cloudburst/internal/author"
	"cloudburst/internal/event"
	"cloudburst/internal/fault"
	"cloudburst/internal/store/sqlite"
	"cloudburst/internal/store/sqlite/sqlitetest"
)

// grouped is another name for author.Groups. An embedded field named Groups would hide the method Groups.
type grouped = author.Groups

// postHarness stores posts in a real store, and files in memory.
type postHarness struct {
	grouped
	mu    sync.Mutex
	at    time.Time
	files []author.File
}

func newPostHarness(t *testing.T) *postHarness {
	t.Helper()
	st, err := sqlite.Open(t.Context(), sqlite.Options{Dir: sqlitetest.Dir(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	w := &postHarness{at: start()}
	w.grouped.Posts = &author.Posts{Store: st, Feeds: &author.Feeds{Store: st, Now: w.now}, Origin: func() string { return "https://here.example" }, Now: w.now}
	return w
}

func (w *postHarness) now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.at = w.at.Add(time.Second)
	return w.at
}

// postFiles manages the files of a postHarness.
type postFiles struct{ *postHarness }

func (f postFiles) Put(_ context.Context, user, name, kind string, r io.Reader) (author.File, error) {
	b, err := io.ReadAll(r)
	if err != nil {
		return author.File{}, err
	}
	if len(b) == 0 {
		return author.File{}, fault.New(fault.Invalid, "The file is empty.")
	}
	file := author.File{User: user, Hash: fmt.Sprintf("%016x", b), Name: name, Type: kind, Size: int64(len(b)), AddedAt: f.now()}
	f.files = append([]author.File{file}, f.files...)
	return file, nil
}

func (postFiles) Path(f author.File) string { return "/" + f.User + "/media/" + f.Hash + "/" + f.Name }

func (f postFiles) List(_ context.Context, _ string, after *author.File, limit int) ([]author.File, error) {
	list := f.files
	for i, one := range f.files {
		if after != nil && one.Hash == after.Hash && one.AddedAt.Equal(after.AddedAt) {
			list = f.files[i+1:]
		}
	}
	return list[:min(limit, len(list))], nil
}

func (f postFiles) Remove(_ context.Context, _, hash string, sure bool) error {
	for i, one := range f.files {
		if one.Hash != hash {
			continue
		}
		if !sure {
			return fault.New(fault.Conflict, "%s is used.", one.Name)
		}
		f.postHarness.files = append(f.files[:i:i], f.files[i+1:]...)
		return nil
	}
	return fault.New(fault.NotFound, "There is no such file.")
}

func (postFiles) Describe(_ context.Context, address string) (author.Enclosure, error) {
	if !strings.HasSuffix(address, ".mp3") {
		return author.Enclosure{}, fault.New(fault.Unreadable, "Nobody answers.")
	}
	return author.Enclosure{URL: address, Type: "audio/mpeg", Length: 7}, nil
}

func TestPostResponsesMatchSchema(t *testing.T) {
	t.Parallel()
	const all, one = "/v1/users/{user}/posts", "/v1/users/{user}/posts/{id}"
	w := newPostHarness(t)
	o := Options{Accounts: newFakeAccounts("alice"), Posts: w, Files: postFiles{w}}
	body := checkResponses(t, o, []expectation{
		{"POST", "/v1/users/alice/posts", all, `{"title":"One","source":"*a*","categories":["News"],"enclosures":[{"url":"https://a.example/1.mp3","alt":"x","title":"y","duration_s":1.5}],` +
			`"reply":{"url":"https://b.example/","title":"B"},"link":"https://c.example/","language":"en","slug":"one",` +
			`"outline":[{"text":"n","created_at":"2026-01-01T00:00:00Z","categories":["x"],"folded":true,"attrs":[{"name":"q","value":"r"}],"nodes":[{"text":"m"}]}]}`, 201},
		{"POST", "/v1/users/alice/posts", all, `{"source":"draft","state":"draft"}`, 201},
		{"POST", "/v1/users/alice/posts", all, `{"source":"later","at":"2027-01-01T00:00:00Z"}`, 201},
		{"POST", "/v1/users/alice/posts", all, `{"title":"` + strings.Repeat("a", 400) + `"}`, 400},
		{"POST", "/v1/users/alice/posts", all, `{"text":"a"}`, 400},
		{"POST", "/v1/users/alice/posts", all, `{}`, 400},
		{"POST", "/v1/users/alice/posts", all, `{"source":"a","state":"gone"}`, 400},
		{"POST", "/v1/users/nobody/posts", all, `{"source":"a"}`, 404},
		{"GET", "/v1/users/alice/posts?limit=1", all, "", 200},
		{"GET", "/v1/users/alice/posts?state=draft", all, "", 200},
		{"GET", "/v1/users/alice/posts?category=news&match=a", all, "", 200},
		{"GET", "/v1/users/alice/posts?category=news&state=draft", all, "", 400},
		{"GET", "/v1/users/alice/posts?category=-", all, "", 400},
		{"GET", "/v1/users/alice/posts?state=gone", all, "", 400},
		{"GET", "/v1/users/alice/posts?after=1", all, "", 400},
		{"GET", "/v1/users/alice/posts?after=1.2.x", all, "", 400},
		{"GET", "/v1/users/alice/posts?since=2026-01-01T00:00:00Z&before=2027-01-01T00:00:00Z", all, "", 200},
		{"GET", "/v1/users/alice/posts/1", one, "", 200},
		{"GET", "/v1/users/alice/posts/9", one, "", 404},
		{"GET", "/v1/users/alice/posts/x", one, "", 400},
		{"PATCH", "/v1/users/alice/posts/1", one, `{"title":"Two","reply":{"url":""}}`, 200},
		{"PATCH", "/v1/users/alice/posts/2", one, `{"state":"published"}`, 200},
		{"POST", "/v1/users/alice/posts/2/undo", one + "/undo", "", 200},
		{"POST", "/v1/users/alice/posts/2/undo", one + "/undo", "", 409},
		{"POST", "/v1/users/alice/posts/preview", all + "/preview", `{"source":"` + strings.Repeat("a", 150) + `"}`, 200},
		{"POST", "/v1/users/alice/posts/preview", all + "/preview", `{"outline":[{"text":"*b*"}]}`, 200},
		{"POST", "/v1/users/alice/posts/preview", all + "/preview", `{"link":"x"}`, 400},
		{"DELETE", "/v1/users/alice/posts/1", one, "", 200},
		{"PATCH", "/v1/users/alice/posts/1", one, `{"title":"Two"}`, 410},
		{"PATCH", "/v1/users/alice/posts/1", one, `{"state":"published"}`, 200},
		{"GET", "/v1/users/alice/profile", "/v1/users/{user}/profile", "", 200},
		{"PUT", "/v1/users/alice/profile", "/v1/users/{user}/profile", `{"title":"Alice's","accent":"#112233"}`, 200},
		{"PUT", "/v1/users/alice/profile", "/v1/users/{user}/profile", `{"accent":"pink"}`, 400},
		{"PUT", "/v1/users/alice/profile", "/v1/users/{user}/profile", `{"hints":{"ttl":120,"skip_hours":[1],"skip_days":["Sunday"],"update_period":"daily","update_frequency":2,"update_base":"2026-01-01T12:00:00Z"}}`, 200},
		{"PUT", "/v1/users/alice/profile", "/v1/users/{user}/profile", `{"hints":{"ttl":-120}}`, 400},
		{"PUT", "/v1/users/alice/profile", "/v1/users/{user}/profile", `{"title":"Kept"}`, 200},
		{"POST", "/v1/users/alice/media?name=a.txt", "/v1/users/{user}/media", "bytes", 201},
		{"POST", "/v1/users/alice/media?name=b.txt", "/v1/users/{user}/media", "other", 201},
		{"POST", "/v1/users/alice/media", "/v1/users/{user}/media", "", 400},
		{"GET", "/v1/users/alice/media?limit=1", "/v1/users/{user}/media", "", 200},
		{"GET", "/v1/users/alice/media?after=x", "/v1/users/{user}/media", "", 400},
		{"DELETE", "/v1/users/alice/media/0000006279746573", "/v1/users/{user}/media/{hash}", "", 409},
		{"DELETE", "/v1/users/alice/media/0000006279746573?sure=true", "/v1/users/{user}/media/{hash}", "", 200},
		{"DELETE", "/v1/users/alice/media/0000006279746573", "/v1/users/{user}/media/{hash}", "", 404},
		{"POST", "/v1/users/alice/posts", all, `{"source":"` + strings.Repeat("b", 160) + `"}`, 201},
	})
	for _, want := range []string{`"url":"https://here.example/alice/2026/05/04/one"`, `"length":7`, `"type":"audio/mpeg"`, `"over":true`, `"state":"scheduled"`,
		`"next":"`, `"html":"<p><em>a</em></p>`, `"title":"Alice's"`, `"hints":{"ttl":120,"skip_hours":[1],"skip_days":["Sunday"],"update_period":"daily","update_frequency":2,"update_base":"2026-01-01T12:00:00Z"}`, `"title":"Kept"`, `"path":"/alice/media/`,
		`"warning":"The post has 160 characters; short posts have at most 140 here. It is published anyway."`} {
		if !strings.Contains(body, want) {
			t.Errorf("nowhere %s", want)
		}
	}
}

func TestPostRequestsReturn501WithoutPosts(t *testing.T) {
	t.Parallel()
	checkResponses(t, Options{Accounts: newFakeAccounts("alice")}, []expectation{
		{"GET", "/v1/users/alice/posts", "/v1/users/{user}/posts", "", 501},
	})
	checkResponses(t, Options{Accounts: newFakeAccounts("alice"), Posts: newPostHarness(t)}, []expectation{
		{"GET", "/v1/users/alice/media", "/v1/users/{user}/media", "", 501},
	})
}

func TestClientCreatesAndChangesPosts(t *testing.T) {
	t.Parallel()
	w := newPostHarness(t)
	c, _ := serveWith(t, Options{Hub: newFakeHub(), Bus: event.NewBus(1), Accounts: newFakeAccounts("alice"), Posts: w, Files: postFiles{w}})
	ctx := t.Context()
	text := func(s string) *string { return &s }
	// Two calls with the same key return the same post.
	var first client.Post
	for i := range 2 {
		p, err := c.CreatePost(ctx, "alice", client.PostChange{Source: text("a")}, "key-1")
		if err != nil || i == 1 && p.ID != first.ID {
			t.Fatal(p, err)
		}
		first = p
	}
	changed, err := c.ChangePost(ctx, "alice", first.ID, first.Revision, client.PostChange{Title: text("T")})
	if err != nil || changed.Title != "T" || changed.Source != "a" || changed.Revision <= first.Revision {
		t.Fatal(changed, err)
	}
	for _, do := range []func() error{
		func() error {
			_, err := c.ChangePost(ctx, "alice", first.ID, first.Revision, client.PostChange{Title: text("U")})
			return err
		},
		func() error { _, err := c.DeletePost(ctx, "alice", first.ID, first.Revision); return err },
	} {
		if e, ok := errors.AsType[*client.Error](do()); !ok || e.Status != 412 || e.Code != "conflict" {
			t.Error(e)
		}
	}
	for i := range 7 {
		if _, err := c.CreatePost(ctx, "alice", client.PostChange{Source: text(fmt.Sprint(i))}, ""); err != nil {
			t.Fatal(err)
		}
	}
	var seen []string
	for p, err := range c.Posts(ctx, "alice", client.PostQuery{State: "published"}) {
		if err != nil {
			t.Fatal(err)
		}
		seen = append(seen, p.Source)
	}
	if d := cmp.Diff([]string{"6", "5", "4", "3", "2", "1", "0", "a"}, seen); d != "" {
		t.Error(d)
	}
	f, err := c.Upload(ctx, "alice", "a b.txt", "text/plain", 5, strings.NewReader("bytes"))
	if err != nil || f.Name != "a b.txt" || f.Type != "text/plain" || f.URL != f.Path {
		t.Fatal(f, err)
	}
	n := 0
	for _, err := range c.Files(ctx, "alice", 0) {
		if n++; err != nil {
			t.Fatal(err)
		}
	}
	if err := c.RemoveFile(ctx, "alice", f.Hash, true); err != nil || n != 1 {
		t.Error(n, err)
	}
	p, err := c.SetProfile(ctx, "alice", client.Profile{Title: "Alice's", PingTargets: []string{}})
	if err != nil || p.Title != "Alice's" || p.Posts != 8 || !p.Written {
		t.Error(p, err)
	}
	if seen, err := c.PreviewPost(ctx, "alice", client.PostChange{Source: text("*b*")}); err != nil || seen.HTML != "<p><em>b</em></p>" && seen.HTML != "<p><em>b</em></p>\n" {
		t.Errorf("%q %v", seen.HTML, err)
	}
	if _, err := c.DeletePost(ctx, "alice", first.ID, 0); err != nil {
		t.Error(err)
	}
	if p, err := c.UndoPost(ctx, "alice", first.ID); err != nil || p.State != "published" {
		t.Error(p, err)
	}
}

func TestPostPreconditionsCompareEntityTags(t *testing.T) {
	t.Parallel()
	w := newPostHarness(t)
	srv := httptest.NewServer(newRiver(Options{River: newFakeRiver(), Tokens: fakeTokens{}, Posts: w}))
	t.Cleanup(srv.Close)
	const one = "/v1/users/alice/posts/1"
	send := func(method, path, body, header, value string) (*http.Response, string) {
		t.Helper()
		return do(t, srv, method, path, "application/json", body, bearerOf("alice:create,update"), func(r *http.Request) {
			if header != "" {
				r.Header.Set(header, value)
			}
		})
	}
	res, body := send("POST", "/v1/users/alice/posts", `{"source":"a","state":"draft","slug":"My words"}`, "", "")
	if tag := res.Header.Get("ETag"); tag != `"1"` || !strings.Contains(body, `"slug":"my-words"`) {
		t.Errorf("created: %s %s", tag, body)
	}
	for value, want := range map[string]int{`"1"`: 304, `W/"1"`: 304, `"0", "1"`: 304, "*": 304, `"2"`: 200, `"x"`: 200} {
		res, body := send("GET", one, "", "If-None-Match", value)
		if res.StatusCode != want || res.Header.Get("ETag") != `"1"` || (body == "") != (want == 304) {
			t.Errorf("GET with If-None-Match %s: %d %s", value, res.StatusCode, body)
		}
		if res, _ := send("HEAD", one, "", "If-None-Match", value); res.StatusCode != want {
			t.Errorf("HEAD with If-None-Match %s: %d", value, res.StatusCode)
		}
	}
	for _, tt := range []struct {
		value string
		want  int
	}{{`W/"1"`, 412}, {"W/", 412}, {",", 412}, {`"0"`, 412}, {`"x"`, 412}, {`"0", "2"`, 412}, {`"0", W/"1"`, 412}, {`"1"`, 200}, {`"0", "1", "2"`, 200}, {"3", 200}, {"*", 200}} {
		if res, body := send("PATCH", one, fmt.Sprintf(`{"title":%q}`, tt.value), "If-Match", tt.value); res.StatusCode != tt.want {
			t.Errorf("PATCH with If-Match %s: %d %s", tt.value, res.StatusCode, body)
		}
	}
}

func TestPagesOfPostListContainEachPostOnce(t *testing.T) {
	t.Parallel()
	w := newPostHarness(t)
	srv := httptest.NewServer(newRiver(Options{River: newFakeRiver(), Tokens: fakeTokens{}, Posts: w}))
	t.Cleanup(srv.Close)
	for i := range 5 {
		to := author.Published
		if i%2 == 1 {
			to = author.Draft
		}
		if _, err := w.Save(t.Context(), author.Edit{User: "alice", To: to, Change: func(c *author.Content) error { c.Source = fmt.Sprint("p", i); return nil }}); err != nil {
			t.Fatal(err)
		}
	}
	seen, after := map[string]int{}, ""
	for range 10 {
		var page struct {
			Posts []client.Post `json:"posts"`
			Next  string        `json:"next"`
		}
		_, body := do(t, srv, "GET", "/v1/users/alice/posts?limit=1&after="+after, "", "", bearerOf("alice:create"))
		if err := jsonTo(body, &page); err != nil {
			t.Fatal(err, body)
		}
		for _, p := range page.Posts {
			seen[p.Source]++
		}
		if after = page.Next; after == "" {
			break
		}
	}
	if d := cmp.Diff(map[string]int{"p0": 1, "p1": 1, "p2": 1, "p3": 1, "p4": 1}, seen); d != "" {
		t.Error(d)
	}
}

func TestTokensAreLimitedToOwnerAndScopes(t *testing.T) {
	t.Parallel()
	w := newPostHarness(t)
	srv := httptest.NewServer(newRiver(Options{River: newFakeRiver(), Tokens: fakeTokens{}, Posts: w, Files: postFiles{w}}))
	t.Cleanup(srv.Close)
	for _, tt := range []struct {
		method, path, body, token string
		status                    int
		want                      string
	}{
		{"POST", "/v1/users/alice/posts", `{"source":"a"}`, "", 401, "scope create"},
		{"POST", "/v1/users/alice/posts", `{"source":"a"}`, "wrong", 401, "no such token"},
		{"POST", "/v1/users/alice/posts", `{"source":"a"}`, "bob:create", 403, "does not belong to alice"},
		{"POST", "/v1/users/alice/posts", `{"source":"a"}`, "alice:read,update", 403, "needs create"},
		{"POST", "/v1/users/alice/posts", `{"source":"a"}`, "alice:create", 201, `"id":"1"`},
		{"GET", "/v1/users/alice/posts", "", "alice:read", 403, "needs create or update or delete"},
		{"GET", "/v1/users/alice/posts", "", "alice:update", 200, `"source":"a"`},
		{"GET", "/v1/users/alice/posts/1", "", "bob:update", 403, ""},
		{"PATCH", "/v1/users/alice/posts/1", `{"title":"b"}`, "alice:create", 403, "needs update"},
		{"PATCH", "/v1/users/alice/posts/1", `{"title":"b"}`, "alice:update", 200, `"title":"b"`},
		{"DELETE", "/v1/users/alice/posts/1", "", "alice:update", 403, "needs delete"},
		{"DELETE", "/v1/users/alice/posts/1", "", "alice:delete", 200, `"state":"deleted"`},
		{"POST", "/v1/users/alice/posts/1/undo", "", "alice:delete", 403, "needs create or update"},
		{"POST", "/v1/users/alice/posts/1/undo", "", "alice:create", 200, `"state":"published"`},
		{"PUT", "/v1/users/alice/profile", `{"title":"x"}`, "alice:create", 403, ""},
		{"POST", "/v1/users/alice/media", "bytes", "alice:create", 403, "needs media"},
		{"POST", "/v1/users/alice/media", "bytes", "alice:media", 201, `"hash"`},
		{"POST", "/v1/users/alice/posts/preview", `{"source":"*a*"}`, "alice:create", 200, "<em>a</em>"},
	} {
		res, body := do(t, srv, tt.method, tt.path, "application/json", tt.body, bearerOf(tt.token))
		if res.StatusCode != tt.status || !strings.Contains(body, tt.want) {
			t.Errorf("%s %s as %s: %d %s", tt.method, tt.path, tt.token, res.StatusCode, body)
		}
	}
}

func bearerOf(token string) func(*http.Request) {
	return func(r *http.Request) {
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
	}
}

func jsonTo(body string, v any) error { return json.Unmarshal([]byte(body), v) }

func TestPostErrorNamesTheInvalidField(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 400)
	w := newPostHarness(t)
	h := New(Options{Accounts: newFakeAccounts("alice"), Posts: w, Files: postFiles{w}}).Handler()
	for body, want := range map[string]string{
		`{"title":"` + long + `"}`:                                                  "title",
		`{"source":"a","format":"rtf"}`:                                             "format",
		`{"source":"a","link":"javascript:x"}`:                                      "link",
		`{"source":"a","categories":["a","!"]}`:                                     "categories[1]",
		`{"source":"a","enclosures":[{"url":"/a"},{"url":"nope"}]}`:                 "enclosures[1].url",
		`{"source":"a","enclosures":[{"url":"/a","duration_s":-1}]}`:                "enclosures[0].duration_s",
		`{"source":"a","reply":{"url":"data:x"}}`:                                   "reply.url",
		`{"source":"a","language":"!"}`:                                             "language",
		`{"outline":[{"text":"a"},{"text":"b","nodes":[{"text":"c","link":"x"}]}]}`: "outline[1].nodes[0].link",
		`{"source":"a","state":"gone"}`:                                             "state",
		`{"source":"a","state":"scheduled"}`:                                        "at",
		`{"source":"a","at":"tomorrow"}`:                                            "at",
		`{}`:                                                                        "source",
		`{"text":"a"}`:                                                              "text",
		`{"source":5}`:                                                              "source",
		`{"enclosures":[{"length":"large"}]}`:                                       "enclosures.length",
		`{"source":`:                                                                "",
	} {
		r := httptest.NewRequest("POST", "http://127.0.0.1/v1/users/alice/posts", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, r)
		var got struct{ Error client.Error }
		if err := json.Unmarshal(rec.Body.Bytes(), &got); err != nil || rec.Code != 400 || got.Error.Field != want {
			t.Errorf("%.80s: %d %s; want the field %q", body, rec.Code, rec.Body, want)
		}
	}
}
