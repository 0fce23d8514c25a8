package greader_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cloudburst/protocol/greader"
)

func TestHandlerServesTheClientAtAnyPathPrefix(t *testing.T) {
	t.Parallel()
	for _, prefix := range []string{"", "/greader", "/api/greader.php", "/a/b"} {
		t.Run("at "+prefix, func(t *testing.T) {
			t.Parallel()
			ctx, f := t.Context(), newFake(250)
			c := serve(t, f, prefix)
			if err := c.Login(ctx, "alice", "wrong"); !errors.Is(err, greader.ErrUnauthorized) {
				t.Fatal(err)
			}
			must(t, c.Login(ctx, "alice", "a+b&c=d% é"))
			u, err := c.UserInfo(ctx)
			must(t, err)
			if u.Name != "alice" {
				t.Errorf("%+v", u)
			}
			must(t, c.Subscribe(ctx, "http://feed.example/?a=1&b=2", "Mine & yours", "News", "Tech/Go"))
			added, err := c.QuickAdd(ctx, "page.example")
			must(t, err)
			if added.Results != 1 || added.Stream != "feed/2" || added.Query != "page.example" {
				t.Errorf("%+v", added)
			}
			if added, err = c.QuickAdd(ctx, "http://none.example"); err != nil || added.Results != 0 || added.Error != "There is no feed." {
				t.Errorf("%+v, %v", added, err)
			}
			list, err := c.Subscriptions(ctx)
			must(t, err)
			if len(list) != 2 {
				t.Errorf("%+v", list)
			}
			must(t, c.Edit(ctx, "feed/1", "New", []string{"A"}, []string{"B"}))
			must(t, c.Unsubscribe(ctx, "feed/1", "feed/http://x.example/"))
			must(t, c.RenameLabel(ctx, "News & more", "Old"))
			must(t, c.RemoveLabels(ctx, "Old", "Tech/Go"))
			tags, err := c.Tags(ctx)
			must(t, err)
			want := []greader.Tag{{ID: "user/-/state/com.google/starred"}, {ID: "user/-/label/News & more", Type: "folder"}, {ID: "user/-/label/Tech/Go", Type: "folder"}}
			if d := cmp.Diff(want, tags); d != "" {
				t.Error(d)
			}
			must(t, c.Mark(ctx, greader.Read, true, 250, 249))
			must(t, c.Mark(ctx, greader.Starred, true, 250))
			must(t, c.MarkAllRead(ctx, greader.Label("News"), time.UnixMicro(1_700_000_000_123_456)))
			counts, err := c.Unread(ctx)
			must(t, err)
			if counts["user/-/state/com.google/reading-list"] != 248 || !f.starred[250] {
				t.Errorf("%v, %v", counts, f.starred)
			}
			doc, err := c.Export(ctx)
			must(t, err)
			must(t, c.Import(ctx, doc))
			wantCalls := []string{
				`subscribe http://feed.example/?a=1&b=2 "Mine & yours" ["News" "Tech/Go"]`, `subscribe page.example "" []`,
				`edit feed/1 "New" +["A"] -["B"]`, `unsubscribe [feed/1 feed/http://x.example/]`, `rename "News & more" to "Old"`,
				`rename "Old" to ""`, `rename "Tech/Go" to ""`, "mark 2", "mark 1", "all read user/-/label/News 2023-11-14T22:13:20.123456Z",
			}
			if d := cmp.Diff(wantCalls, f.calls); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestStreamPagesAndItemIDsListEachItemOnce(t *testing.T) {
	t.Parallel()
	ctx, f := t.Context(), newFake(2345)
	c := serve(t, f, "")
	f.read[2000] = true
	var ids []greader.ItemID
	q := greader.Query{N: 1000, Exclude: []greader.Stream{greader.State(greader.Read)}}
	for {
		list, next, err := c.IDs(ctx, q)
		must(t, err)
		for _, ref := range list {
			ids = append(ids, ref.ID)
		}
		if q.Continuation = next; next == "" {
			break
		}
	}
	if len(ids) != 2344 || ids[0] != 2345 || ids[2343] != 1 {
		t.Fatalf("%d ids", len(ids))
	}
	items, err := c.Lookup(ctx, append(ids[:450:450], 99_999)...)
	must(t, err)
	if len(items) != 450 || items[0].ID != greader.ItemID(2345).Long() || items[449].ID != ids[449].Long() {
		t.Errorf("%d items, from %s to %s", len(items), items[0].ID, items[449].ID)
	}
	seen := map[string]bool{}
	for q = (greader.Query{Stream: greader.Feed("http://x.example/a?b=c/"), N: 700}); ; {
		list, next, err := c.Contents(ctx, q)
		must(t, err)
		for _, it := range list {
			seen[it.ID] = true
			if it.Has(greader.Read) != (it.ID == greader.ItemID(2000).Long()) {
				t.Errorf("%+v", it)
			}
		}
		if q.Continuation = next; next == "" {
			break
		}
	}
	if len(seen) != 2345 || f.query.Stream != q.Stream {
		t.Errorf("%d items of %v", len(seen), f.query.Stream)
	}
}

func TestResponseThatFailsHalfwayIsIncomplete(t *testing.T) {
	t.Parallel()
	f := newFake(1000)
	c := serve(t, f, "")
	f.failsAt = 3
	if _, _, err := c.Contents(t.Context(), greader.Query{N: 1000}); err == nil {
		t.Error("an incomplete response was accepted")
	}
	f.pages, f.failsAt = 0, 1
	var e *greader.Error
	if _, _, err := c.Contents(t.Context(), greader.Query{N: 1000}); !errors.As(err, &e) || e.Status != 500 || strings.Contains(e.Msg, "database") {
		t.Error(err)
	}
}

// ask sends a raw request and returns status, body and header.
func ask(t *testing.T, f *fake, method, target, body string, header ...string) (int, string, http.Header) {
	t.Helper()
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	r.Header.Set("Authorization", "GoogleLogin auth=alice/secret")
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	(&greader.Handler{Backend: f}).ServeHTTP(w, r)
	answer, _ := io.ReadAll(w.Body)
	return w.Code, string(answer), w.Header()
}

const api = "/reader/api/0/"

func TestClientLoginReturnsATokenOrAnError(t *testing.T) {
	t.Parallel()
	const right = "Email=alice&Passwd=a%2Bb%26c%3Dd%25%20%C3%A9"
	for name, c := range map[string]struct {
		method, target, body string
		status               int
		want                 string
	}{
		"by POST":             {"POST", "/accounts/ClientLogin", right + "&service=reader&source=x", 200, "SID=alice/secret\nLSID=alice/secret\nAuth=alice/secret\n"},
		"by GET":              {"GET", "/accounts/ClientLogin?" + right, "", 200, "SID=alice/secret\nLSID=alice/secret\nAuth=alice/secret\n"},
		"as JSON":             {"POST", "/greader/accounts/ClientLogin", right + "&output=json", 200, `{"Auth":"alice/secret","LSID":"alice/secret","SID":"alice/secret"}` + "\n"},
		"below the API":       {"POST", api + "accounts/ClientLogin", right, 200, "SID=alice/secret\nLSID=alice/secret\nAuth=alice/secret\n"},
		"with a wrong one":    {"POST", "/accounts/ClientLogin", "Email=alice&Passwd=x", 401, "Error=BadAuthentication\n"},
		"without a password":  {"POST", "/accounts/ClientLogin", "Email=alice", 400, "Error=BadAuthentication\n"},
		"with raw characters": {"POST", "/accounts/ClientLogin", "Email=alice&Passwd=a%2bb%26c%3dd% é", 200, "SID=alice/secret\nLSID=alice/secret\nAuth=alice/secret\n"},
		"too often":           {"POST", "/accounts/ClientLogin", "Email=busy&Passwd=x", 429, "Wait."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			status, body, head := ask(t, newFake(0), c.method, c.target, c.body)
			if status != c.status || body != c.want {
				t.Errorf("%d %q, want %d %q", status, body, c.status, c.want)
			}
			if after := head.Get("Retry-After"); status == 429 && after != "2" {
				t.Errorf("Retry-After %q", after)
			}
		})
	}
}

func TestRequestWithoutValidTokenIsUnauthorized(t *testing.T) {
	t.Parallel()
	for _, auth := range []string{"", "GoogleLogin", "GoogleLogin auth=", "GoogleLogin auth=alice/wrong", "Basic YWxpY2U6eA==", "Bearer x", "GoogleLogin auth=" + strings.Repeat("x", 20_000)} {
		for _, path := range []string{"token", "user-info", "subscription/list?output=json", "stream/contents/user/-/state/com.google/reading-list"} {
			status, body, head := ask(t, newFake(1), "GET", api+path, "", "Authorization", auth)
			if status != 401 || body != "Unauthorized" || head.Get("X-Reader-Google-Bad-Token") != "true" {
				t.Errorf("%q at %s: %d %q", auth, path, status, body)
			}
		}
	}
	for _, auth := range []string{"Bearer alice/secret", "bearer  alice/secret", "googlelogin auth=alice/secret", `GoogleLogin auth="alice/secret"`, "GoogleLogin service=reader, auth=alice/secret"} {
		if status, body, _ := ask(t, newFake(1), "GET", api+"user-info", "", "Authorization", auth); status != 200 {
			t.Errorf("%q: %d %s", auth, status, body)
		}
	}
}

func TestMissingEditTokenIsAcceptedAndWrongTokenIsRejected(t *testing.T) {
	t.Parallel()
	f := newFake(3)
	_, token, _ := ask(t, f, "GET", api+"token", "")
	if len(token) != 57 {
		t.Fatalf("%q", token)
	}
	for _, path := range []string{"edit-tag", "rename-tag", "disable-tag", "mark-all-as-read"} {
		body := "i=1&a=user/-/state/com.google/read&s=user/-/label/A&dest=user/-/label/B&T="
		for _, good := range []string{"", "x", token, token + "%0A", "alice/secret"} {
			if status, answer, _ := ask(t, f, "POST", api+path, body+good); status != 200 || answer != "OK" {
				t.Errorf("%s with %q: %d %q", path, good, status, answer)
			}
		}
		f.calls = nil
		if status, _, head := ask(t, f, "POST", api+path, body+"wrong"); status != 401 || head.Get("X-Reader-Google-Bad-Token") != "true" || f.calls != nil {
			t.Errorf("%s: %d, %q", path, status, f.calls)
		}
		if status, _, head := ask(t, f, "GET", api+path+"?"+body, ""); status != 405 || head.Get("Allow") != "POST" || f.calls != nil {
			t.Errorf("%s by GET: %d, %q", path, status, f.calls)
		}
	}
}

func TestSubscriptionChangeNeedsAPostWithoutAWrongEditToken(t *testing.T) {
	t.Parallel()
	f := newFake(1)
	_, token, _ := ask(t, f, "GET", api+"token", "")
	for _, change := range []string{"subscription/edit?ac=unsubscribe&s=feed/1", "subscription/quickadd?quickadd=http://x.example/"} {
		for _, good := range []string{"", "x", token} {
			f.calls = nil
			if status, answer, _ := ask(t, f, "POST", api+change, "T="+good); status != 200 || len(f.calls) != 1 {
				t.Errorf("%s with %q: %d %q", change, good, status, answer)
			}
		}
		f.calls = nil
		if status, _, head := ask(t, f, "POST", api+change, "T=wrong"); status != 401 || head.Get("X-Reader-Google-Bad-Token") != "true" || f.calls != nil {
			t.Errorf("%s with a wrong token: %d, %q", change, status, f.calls)
		}
		if status, _, head := ask(t, f, "GET", api+change, ""); status != 405 || head.Get("Allow") != "POST" || f.calls != nil {
			t.Errorf("%s by GET: %d, %q", change, status, f.calls)
		}
	}
}

func TestEditTagMarksItems(t *testing.T) {
	t.Parallel()
	const state = "user/-/state/com.google/"
	for body, want := range map[string]string{
		"i=1&a=" + state + "read":                                    "read",
		"i=1&a=user/12345/state/com.google/read":                     "read",
		"i=1&r=" + state + "read":                                    "unread",
		"i=1&a=" + state + "read&r=" + state + "kept-unread&ac=edit": "read",
		"i=1&r=" + state + "read&a=" + state + "kept-unread&a=" + state + "tracking-kept-unread&ac=edit": "unread",
		"i=1&a=" + state + "starred":                           "starred",
		"i=1&r=" + state + "starred":                           "unstarred",
		"i=1&a=" + state + "broadcast":                         "",
		"i=1&a=" + state + "like&r=":                           "",
		"i=1&r=" + state + "kept-unread":                       "",
		"a=" + state + "read":                                  "",
		"i=1&a=" + state + "read&r=" + state + "read":          "400",
		"i=1&a=user/-/label/Later":                             "400",
		"i=1&a=feed/1":                                         "400",
		"i=1&a=nothing at all":                                 "400",
		"i=x&a=" + state + "read":                              "400",
		"i=0&a=" + state + "read":                              "400",
		strings.Repeat("i=1&", 10_001) + "a=" + state + "read": "400",
		strings.Repeat("i=1&", 10_000) + "a=" + state + "read&T=x&output=json":    "read",
		strings.Repeat("i=12345678901234567890&", 50_000) + "a=" + state + "read": "413",
	} {
		f := newFake(1)
		f.read[1], f.starred[1] = strings.HasPrefix(want, "un"), strings.HasPrefix(want, "un")
		status, _, _ := ask(t, f, "POST", api+"edit-tag", body)
		got := ""
		switch {
		case status != 200:
			got = http.StatusText(status)
			if want = map[string]string{"400": "Bad Request", "413": "Request Entity Too Large"}[want]; f.calls != nil {
				t.Errorf("%.80s: refused but executed: %q", body, f.calls)
			}
		case f.calls == nil:
		case strings.Contains(want, "star"):
			got = map[bool]string{true: "starred", false: "unstarred"}[f.starred[1]]
		default:
			got = map[bool]string{true: "read", false: "unread"}[f.read[1]]
		}
		if got != want {
			t.Errorf("%.80s: %q, want %q", body, got, want)
		}
	}
}

func TestTimestampUnitIsDetectedByNumberOfDigits(t *testing.T) {
	t.Parallel()
	for ts, want := range map[string]string{
		"": "all", "0": "all", "1371645508": "2013-06-19T12:38:28Z", "1371645508123": "2013-06-19T12:38:28.123Z", "1371645508.9": "2013-06-19T12:38:28Z",
		"1371645508123456": "2013-06-19T12:38:28.123456Z", "1371645508123456789": "2013-06-19T12:38:28.123456789Z", "99999999999999999999999": "all",
	} {
		f := newFake(0)
		if status, _, _ := ask(t, f, "POST", api+"mark-all-as-read", "s=feed/12&ts="+ts); status != 200 || f.calls[0] != "all read feed/12 "+want {
			t.Errorf("%s: %d %q, want %s", ts, status, f.calls, want)
		}
	}
	for _, ts := range []string{"-1", "x", "1e9"} {
		f := newFake(0)
		if status, _, _ := ask(t, f, "POST", api+"mark-all-as-read", "s=feed/12&ts="+ts); status != 400 || f.calls != nil {
			t.Errorf("%s: %d %q", ts, status, f.calls)
		}
	}
	f := newFake(0)
	ask(t, f, "GET", api+"stream/items/ids?s=feed/1&ot=1371645508.123&nt=1371645509", "")
	if f.query.After.Unix() != 1371645508 || f.query.Before.Unix() != 1371645509 {
		t.Errorf("%+v", f.query)
	}
}

func TestInvalidRequestIsRejected(t *testing.T) {
	t.Parallel()
	for target, want := range map[string]int{
		"GET " + api + "nothing": 404, "GET /reader/": 404, "GET /": 404, "GET /greader/": 200, "GET /api/greader.php": 200,
		"GET /api/greader.php/check/compatibility": 200, "PUT " + api + "token": 405, "DELETE " + api + "subscription/edit": 405,
		"GET " + api + "subscription/list?output=xml": 501, "GET " + api + "stream/contents?output=atom": 501,
		"GET " + api + "stream/contents/label/x": 400, "GET " + api + "stream/items/ids?s=user/-/label/": 400,
		"POST " + api + "subscription/edit": 400, "POST " + api + "subscription/edit?ac=subscribe&s=user/-/label/x": 400,
		"POST " + api + "subscription/edit?ac=nothing&s=feed/1": 400, "POST " + api + "subscription/quickadd": 400,
		"POST " + api + "rename-tag?s=feed/1&dest=user/-/label/x": 400, "POST " + api + "disable-tag": 400,
		"POST " + api + "mark-all-as-read": 400, "GET " + api + "subscription/import": 405,
		"GET " + api + "preference/list": 200, "GET " + api + "preference/stream/list": 200, "GET " + api + "friend/list": 200,
		"GET " + api + "stream/items/ids?xt=" + strings.Repeat("x", 5000): 400,
		"GET " + api + "stream/items/ids?c=" + strings.Repeat("1", 101):   400,
	} {
		method, path, _ := strings.Cut(target, " ")
		f := newFake(1)
		if status, body, _ := ask(t, f, method, path, ""); status != want || f.calls != nil {
			t.Errorf("%s: %d %.100s, want %d", target, status, body, want)
		}
	}
	f := newFake(1)
	if status, _, _ := ask(t, f, "POST", api+"subscription/import", strings.Repeat("x", greader.MaxImport+1)); status != 413 {
		t.Errorf("a document without end: %d", status)
	}
	f.fails = errors.New("secret")
	if status, body, _ := ask(t, f, "GET", api+"unread-count", ""); status != 500 || strings.Contains(body, "secret") {
		t.Errorf("%d %s", status, body)
	}
}
