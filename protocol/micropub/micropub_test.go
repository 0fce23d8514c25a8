package micropub

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestClientCreatesUpdatesAndDeletesPosts(t *testing.T) {
	t.Parallel()
	s, srv := newSite(t)
	c := &Client{Endpoint: srv.URL + "/micropub?x=y", Token: "alice:create,update,delete,media", HTTP: srv.Client()}
	ctx := t.Context()
	conf, err := c.Config(ctx)
	if err != nil || conf.MediaEndpoint != srv.URL+"/media" {
		t.Fatal(conf, err)
	}
	file, err := c.Upload(ctx, conf.MediaEndpoint, &Upload{Name: `odd "name".png`, Type: "image/png", Reader: strings.NewReader("PNG")})
	if err != nil || s.files[file] != "image/png PNG" {
		t.Fatal(file, err)
	}
	at, err := c.Create(ctx, &Request{Properties: Properties{"content": {HTML("<p>A</p>")}, "photo": {{Text: file, Alt: "An image"}}},
		Commands: Properties{"mp-slug": {Text("end")}}})
	if err != nil || at != srv.URL+"/alice/end" {
		t.Fatal(at, err)
	}
	if moved, err := c.Update(ctx, &Request{URL: at, Add: Properties{"category": {Text("one")}}, RemoveAll: []string{"photo"}}); err != nil || moved != at {
		t.Fatal(moved, err)
	}
	got, err := c.Source(ctx, at)
	want := Object{Type: []string{"h-entry"}, Properties: Properties{"content": {HTML("<p>A</p>")}, "category": {Text("one")}, "url": {Text(at)}}}
	if d := cmp.Diff(want, got); err != nil || d != "" {
		t.Error(err, d)
	}
	list, err := c.Posts(ctx, ListQuery{Limit: 5, Properties: []string{"url"}})
	if err != nil || len(list) != 1 || list[0].Properties.Text("url") != at {
		t.Error(list, err)
	}
	if names, err := c.Categories(ctx, "go"); err != nil || len(names) != 1 {
		t.Error(names, err)
	}
	if err := c.Delete(ctx, at); err != nil || !s.gone[at] {
		t.Error(err)
	}
	if back, err := c.Undelete(ctx, at); err != nil || back != at || s.gone[at] {
		t.Error(back, err)
	}
	c.Token = "alice:read"
	_, err = c.Create(ctx, &Request{Properties: Properties{"content": {Text("A")}}})
	if e, ok := errors.AsType[*Error](err); !ok || e.Code != InsufficientScope || e.Scope != "create" {
		t.Error(err)
	}
}

func TestPostAcceptedForLaterReturnsStatus202(t *testing.T) {
	t.Parallel()
	_, srv := newSite(t)
	got := ask(t, "POST", srv.URL+"/micropub", "content=A&post-status=later", "Content-Type", formType, "Authorization", "Bearer alice:create")
	if got.status != 202 || got.header.Get("Location") == "" {
		t.Errorf("%+v", got)
	}
}

func TestCORSAllowsAnyOrigin(t *testing.T) {
	t.Parallel()
	_, srv := newSite(t)
	got := ask(t, "OPTIONS", srv.URL+"/micropub", "", "Origin", "https://app.example", "Access-Control-Request-Headers", "authorization")
	if got.status != 204 || got.header.Get("Access-Control-Allow-Origin") != "*" || !strings.Contains(got.header.Get("Access-Control-Allow-Headers"), "Authorization") {
		t.Errorf("%+v", got)
	}
	got = ask(t, "POST", srv.URL+"/micropub", "content=A", "Content-Type", formType, "Authorization", "Bearer alice:create")
	if !strings.Contains(got.header.Get("Access-Control-Expose-Headers"), "Location") {
		t.Errorf("%+v", got)
	}
}

func TestInternalErrorIsNotDisclosed(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	s := &site{broken: errBroken}
	w := httptest.NewRecorder()
	r := httptest.NewRequest("GET", "/?q=config", nil)
	r.Header.Set("Authorization", "Bearer alice:create")
	(&Handler{Backend: s, Log: slog.New(slog.NewTextHandler(&log, nil))}).ServeHTTP(w, r)
	if w.Code != 500 || strings.Contains(w.Body.String(), "sda1") || !strings.Contains(log.String(), "sda1") {
		t.Error(w.Code, w.Body, log.String())
	}
}

func TestClientSendsFormUnlessJSONIsNeeded(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		r    Request
		want string
	}{
		"words":        {Request{Properties: Properties{"content": {Text("a b")}, "category": {Text("x"), Text("y")}}}, "category%5B%5D=x&category%5B%5D=y&content=a+b&h=entry"},
		"markup":       {Request{Properties: Properties{"content": {HTML("<p>a")}}}, ""},
		"alt":          {Request{Properties: Properties{"photo": {{Text: "https://a.example/", Alt: "a"}}}}, ""},
		"odd names":    {Request{Properties: Properties{"action": {Text("delete")}}}, ""},
		"odd brackets": {Request{Properties: Properties{"a[]": {Text("b")}}}, ""},
		"odd part":     {Request{Properties: Properties{"content[html]": {Text("b")}}}, ""},
		"a deletion":   {Request{Action: Delete, URL: "https://a.example/"}, "action=delete&url=https%3A%2F%2Fa.example%2F"},
		"an update":    {Request{Action: Update, URL: "https://a.example/", RemoveAll: []string{"x"}}, ""},
	} {
		v, ok := tt.r.Form()
		if got := v.Encode(); ok != (tt.want != "") || ok && got != tt.want {
			t.Errorf("%s: %t %s", name, ok, got)
		}
	}
}

func FuzzJSON(f *testing.F) {
	f.Add([]byte(`{"type":["h-entry"],"properties":{"content":[{"html":"<b>"}],"photo":[{"value":"u","alt":"a"}],"mp-slug":["x"],"n":[1,true,null]}}`))
	f.Add([]byte(`{"action":"update","url":"u","replace":{"a":[]},"add":{"b":["c"]},"delete":["d"]}`))
	f.Add([]byte(`{"action":"update","url":"u","delete":{"d":[{"type":["h-card"],"properties":{"name":["x"]}}]},"mp-x":["y"]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		req, err := ParseJSON(b)
		if err != nil {
			if e, ok := errors.AsType[*Error](err); !ok || e.Status/100 != 4 {
				t.Fatal(err)
			}
			return
		}
		roundTrip(t, req)
	})
}

func TestJSONThatIsNotAnObjectIsRejected(t *testing.T) {
	t.Parallel()
	for _, s := range []string{`[]`, `"x"`, `1`} {
		if _, err := ParseJSON([]byte(s)); err == nil || !strings.Contains(err.Error(), "The JSON must be an object") {
			t.Errorf("%s: %v", s, err)
		}
	}
}

// roundTrip writes a request and reads it back.
func roundTrip(t *testing.T, req *Request) {
	t.Helper()
	b, err := json.Marshal(req)
	if err != nil {
		t.Fatal(err)
	}
	back, err := ParseJSON(b)
	if err != nil {
		t.Fatalf("%s: %v", b, err)
	}
	c, err := json.Marshal(back)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(b, c) {
		t.Errorf("%s\nbecomes %s", b, c)
	}
}

func FuzzForm(f *testing.F) {
	f.Add("h=entry&content=a&category[]=b&category[]=c&mp-slug=d&access_token=e")
	f.Add("action=delete&url=http://a.example/")
	f.Add("h=&content=&a[]=&[]=x")
	f.Add("content[html]=<p>a&content[value]=a&photo[]=&photo[]=b&mp-photo-alt[]=&mp-photo-alt[]=c")
	f.Fuzz(func(t *testing.T, s string) {
		v, err := url.ParseQuery(s)
		if err != nil {
			return
		}
		req, _, err := ParseForm(v)
		if err != nil {
			return
		}
		roundTrip(t, req)
	})
}

func FuzzRequest(f *testing.F) {
	f.Add(partType, []byte(parts("h=entry", "content=a", "photo:a.jpg:image/jpeg=b")))
	f.Add(formType, []byte("content=a"))
	f.Add(jsonType, []byte(`{"properties":{"content":["a"]}}`))
	f.Fuzz(func(t *testing.T, kind string, body []byte) {
		r := httptest.NewRequestWithContext(context.Background(), "POST", "/", bytes.NewReader(body))
		r.Header.Set("Content-Type", kind)
		req, _, err := ReadRequest(r, func(*Upload) (string, error) { return "http://a.example/file", nil })
		if err == nil {
			roundTrip(t, req)
		}
	})
}
