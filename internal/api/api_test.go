package api

import (
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"cloudburst/client"
	"cloudburst/internal/event"
	"cloudburst/internal/fault"
	"cloudburst/internal/hub"
)

func TestRoutesMatchOpenAPIPaths(t *testing.T) {
	t.Parallel()
	doc, err := document()
	if err != nil {
		t.Fatal(err)
	}
	var described, served []string
	for path, ops := range doc.doc["paths"].(map[string]any) {
		for method := range ops.(map[string]any) {
			described = append(described, strings.ToUpper(method)+" "+path)
		}
	}
	for _, r := range New(Options{}).operations() {
		served = append(served, r.method+" "+r.path)
	}
	slices.Sort(described)
	slices.Sort(served)
	if !slices.Equal(described, served) {
		t.Errorf("described %v\nserved    %v", described, served)
	}
}

func TestResponsesMatchSchema(t *testing.T) {
	t.Parallel()
	doc, err := document()
	if err != nil {
		t.Fatal(err)
	}
	w := newFakeHub()
	w.add("http://a.example/rss", hub.HTTPPost, "http://b.example/cb", "", start().Add(time.Hour))
	w.add("http://a.example/rss", hub.XMLRPC, "http://b.example/RPC2", "x.y", start().Add(time.Hour))
	w.happen(event.Event{Kind: event.KindPing, TopicID: 5, Topic: "http://a.example/rss", OK: true, Text: "Changed.", Took: time.Millisecond, Detail: json.RawMessage(`{"callback":"http://b/"}`)})
	_, srv := serve(t, w)
	id := "/v1/topics/" + jsonID(hub.TopicID("http://a.example/rss"))
	file, err := json.Marshal(map[string]string{"file": filepath.Join(t.TempDir(), "copy")})
	if err != nil {
		t.Fatal(err)
	}
	const js, nd = "application/json", "application/x-ndjson"
	tests := []struct {
		method, path, route, contentType, body string
		status                                 int
	}{
		{"GET", "/v1/version", "", "", "", 200},
		{"GET", "/v1/status", "", "", "", 200},
		{"GET", "/v1/minutes?since=2026-01-01T00:00:00Z", "/v1/minutes", "", "", 200},
		{"GET", "/v1/topics?limit=1", "/v1/topics", "", "", 200},
		{"GET", id, "/v1/topics/{id}", "", "", 200},
		{"GET", "/v1/topics/99", "/v1/topics/{id}", "", "", 404},
		{"GET", "/v1/topics/x", "/v1/topics/{id}", "", "", 400},
		{"GET", "/v1/topic?url=http://a.example/rss", "/v1/topic", "", "", 200},
		{"GET", "/v1/topic?url=http://c.example/", "/v1/topic", "", "", 404},
		{"GET", "/v1/topic", "", "", "", 400},
		{"GET", "/v1/subscriptions?limit=1", "/v1/subscriptions", "", "", 200},
		{"GET", "/v1/subscriptions?protocol=smoke", "/v1/subscriptions", "", "", 400},
		{"GET", "/v1/subscriptions/export", "", "", "", 200},
		{"POST", "/v1/subscriptions/import", "", nd, `{"topic":"http://d.example/","protocol":"http-post","callback":"http://e.example/","expires_at":"2030-01-01T00:00:00Z"}`, 200},
		{"POST", "/v1/subscriptions/import", "", nd, `{}`, 400},
		{"GET", "/v1/log?kind=ping,check&kind=error", "/v1/log", "", "", 200},
		{"GET", "/v1/log?kind=gossip", "/v1/log", "", "", 400},
		{"GET", "/v1/log?before=1:2", "/v1/log", "", "", 400},
		{"GET", "/v1/log?since=yesterday", "/v1/log", "", "", 400},
		{"POST", "/v1/ping", "", js, `{"url":"http://a.example/rss"}`, 200},
		{"POST", "/v1/ping", "", js, `{"url":"http://busy.example/rss"}`, 429},
		{"POST", "/v1/ping", "", js, `{"url":"ftp://a.example/rss"}`, 400},
		{"POST", "/v1/ping", "", js, `{"uri":"http://a.example/rss"}`, 400},
		{"POST", "/v1/ping", "", js, `{"url":"http://a.example/"} {}`, 400},
		{"POST", "/v1/ping", "", "text/plain", `{"url":"http://a.example/rss"}`, 400},
		{"POST", "/v1/sweep", "", "", "", 200},
		{"POST", "/v1/backup", "", js, string(file), 200},
		{"POST", "/v1/backup", "", js, string(file), 409},
		{"POST", "/v1/backup", "", js, `{"file":"relative"}`, 400},
		{"DELETE", "/v1/subscriptions?topic=http://a.example/rss&protocol=xml-rpc", "/v1/subscriptions", "", "", 200},
		{"DELETE", "/v1/subscriptions", "", "", "", 400},
		{"GET", "/v1/openapi.json", "", "", "", 200},
	}
	for _, tt := range tests {
		if tt.route == "" {
			tt.route = tt.path
		}
		res, body := do(t, srv, tt.method, tt.path, tt.contentType, tt.body)
		if res.StatusCode != tt.status {
			t.Errorf("%s %s: %d %s", tt.method, tt.path, res.StatusCode, body)
			continue
		}
		if err := checkAnswer(doc, tt.method, tt.route, res, body); err != nil {
			t.Errorf("%s %s: %v\n%s", tt.method, tt.path, err, body)
		}
	}
}

func checkAnswer(doc schema, method, route string, res *http.Response, body string) error {
	op := doc.doc["paths"].(map[string]any)[route].(map[string]any)[strings.ToLower(method)].(map[string]any)
	code := jsonID(int64(res.StatusCode))
	described, ok := op["responses"].(map[string]any)[code].(map[string]any)
	if !ok {
		return errors.New("status " + code + " is not described")
	}
	described, err := doc.resolve(described)
	if err != nil {
		return err
	}
	media, ok := described["content"].(map[string]any)[res.Header.Get("Content-Type")].(map[string]any)
	if !ok {
		return errors.New("type " + res.Header.Get("Content-Type") + " is not described")
	}
	dec := json.NewDecoder(strings.NewReader(body))
	for dec.More() {
		var v any
		if err := dec.Decode(&v); err != nil {
			return err
		}
		if err := doc.check(media["schema"].(map[string]any), v, "answer"); err != nil {
			return err
		}
	}
	return nil
}

func jsonID(n int64) string {
	b, _ := json.Marshal(n)
	return string(b)
}

func TestIDsAreStringsInJSON(t *testing.T) {
	t.Parallel()
	w := newFakeHub()
	w.add("http://a.example/rss", hub.HTTPPost, "http://b.example/cb", "", start().Add(time.Hour))
	_, srv := serve(t, w)
	_, body := do(t, srv, "GET", "/v1/subscriptions", "", "")
	want := `"topic_id":"` + jsonID(hub.TopicID("http://a.example/rss")) + `"`
	if !strings.Contains(body, want) {
		t.Errorf("%s\nhas no %s", body, want)
	}
}

func TestClientReadsListsOfSeveralPages(t *testing.T) {
	t.Parallel()
	w := newFakeHub()
	for i := range 2345 {
		w.add("http://a.example/"+jsonID(int64(i%7)), hub.HTTPPost, "http://b.example/"+jsonID(int64(i)), "", start().Add(time.Hour))
	}
	c, _ := serve(t, w)
	seen := map[string]bool{}
	for s, err := range c.Subscriptions(t.Context(), client.SubscriptionQuery{}) {
		if err != nil {
			t.Fatal(err)
		}
		seen[s.Callback] = true
	}
	if len(seen) != 2345 {
		t.Errorf("saw %d of 2345", len(seen))
	}
	n := 0
	for range c.Subscriptions(t.Context(), client.SubscriptionQuery{Limit: 1500}) {
		n++
	}
	if n != 1500 {
		t.Errorf("Limit 1500: %d results", n)
	}
	n = 0
	for topic, err := range c.Topics(t.Context(), client.TopicQuery{}) {
		if err != nil || topic.Subscribers == 0 {
			t.Fatal(topic, err)
		}
		n++
	}
	if n != 7 {
		t.Errorf("%d topics", n)
	}
	topic, err := c.Topic(t.Context(), "http://a.example/3")
	if err != nil || topic.Subscribers != 335 {
		t.Errorf("%+v %v", topic, err)
	}
	if _, err := c.Topic(t.Context(), "http://a.example/nowhere"); !client.IsNotFound(err) {
		t.Error(err)
	}
}

func TestRemovedSubscriptionsMatchTheGivenValuesExactly(t *testing.T) {
	t.Parallel()
	w := newFakeHub()
	for _, cb := range []string{"http://b.example/cb", "http://b.example/cb2", "http://b.example/"} {
		w.add("http://a.example/rss", hub.HTTPPost, cb, "", start().Add(time.Hour))
		w.add("http://a.example/other", hub.HTTPPost, cb, "", start().Add(time.Hour))
	}
	c, _ := serve(t, w)
	gone, err := c.Remove(t.Context(), client.RemoveQuery{Callback: "http://b.example/cb"})
	if err != nil || len(gone) != 2 || gone[0].Callback != "http://b.example/cb" || gone[0].Topic == "" {
		t.Errorf("%+v %v", gone, err)
	}
	gone, err = c.Remove(t.Context(), client.RemoveQuery{Topic: "http://a.example/rss", Callback: "http://b.example/"})
	if err != nil || len(gone) != 1 || len(w.subs) != 3 {
		t.Errorf("%+v %v, %d left", gone, err, len(w.subs))
	}
}

func TestStatusIsReturnedWithoutTheDatabase(t *testing.T) {
	t.Parallel()
	w := newFakeHub()
	w.abort = fault.New(fault.Unavailable, "The database is away.")
	c, srv := serve(t, w)
	st, err := c.Status(t.Context())
	if err != nil || st.Store != "The database is away." || st.Counts != nil || st.Live.InFlight != 5 || st.Warnings[0] != "Mind the gap." {
		t.Errorf("%+v %v", st, err)
	}
	res, body := do(t, srv, "GET", "/v1/topics", "", "")
	if res.StatusCode != 503 || !strings.Contains(body, `"unavailable"`) {
		t.Error(res.StatusCode, body)
	}
	res, body = do(t, srv, "GET", "/metrics", "", "")
	if res.StatusCode != 200 || !strings.Contains(body, "cloudburst_store_up 0") || strings.Contains(body, "cloudburst_topics ") {
		t.Error(res.StatusCode, body)
	}
}

func TestMetricsIncludeHubAndRuntime(t *testing.T) {
	t.Parallel()
	w := newFakeHub()
	w.add("http://a.example/rss", hub.HTTPPost, "http://b.example/cb", "", start().Add(time.Hour))
	_, srv := serve(t, w)
	_, body := do(t, srv, "GET", "/metrics", "", "")
	for _, line := range []string{"cloudburst_store_up 1", "cloudburst_subscriptions 1", "cloudburst_notifications_total 9",
		"cloudburst_latency_p99_seconds 0.008", "cloudburst_page_cache_hits_total 0", `version="9.9"`, "go_goroutines "} {
		if !strings.Contains(body, line) {
			t.Errorf("no %s", line)
		}
	}
	if res, _ := do(t, srv, "GET", "/debug/pprof/", "", ""); res.StatusCode != 200 {
		t.Error(res.Status)
	}
}

func TestRetryAfterIsRoundedUp(t *testing.T) {
	t.Parallel()
	c, _ := serve(t, newFakeHub())
	_, err := c.Ping(t.Context(), "http://busy.example/")
	e, ok := errors.AsType[*client.Error](err)
	if !ok || e.RetryAfter != 2*time.Second || e.Code != "too-many" {
		t.Errorf("%+v", err)
	}
}

func TestCrossSiteRequestsAreRejected(t *testing.T) {
	t.Parallel()
	w := newFakeHub()
	_, srv := serve(t, w)
	host := func(h string) func(*http.Request) { return func(r *http.Request) { r.Host = h } }
	header := func(k, v string) func(*http.Request) { return func(r *http.Request) { r.Header.Set(k, v) } }
	for _, tt := range []struct {
		name, method, path string
		edit               func(*http.Request)
		status             int
	}{
		{"DNS rebinding", "GET", "/v1/version", host("evil.example"), 421},
		{"DNS rebinding with own port", "GET", "/metrics", host("evil.example:5338"), 421},
		{"name with the same suffix", "GET", "/v1/version", host("notlocalhost"), 421},
		{"profiles are guarded", "GET", "/debug/pprof/heap", host("evil.example"), 421},
		{"localhost", "GET", "/v1/version", host("localhost:5338"), 200},
		{"IPv6", "GET", "/v1/version", host("[::1]:5338"), 200},
		{"configured name", "GET", "/v1/version", host("Admin.Example:5338"), 200},
		{"cross-site post", "POST", "/v1/sweep", header("Sec-Fetch-Site", "cross-site"), 403},
		{"same-site post", "POST", "/v1/sweep", header("Sec-Fetch-Site", "same-site"), 403},
		{"other origin", "POST", "/v1/sweep", header("Origin", "http://evil.example"), 403},
		{"no origin", "DELETE", "/v1/subscriptions?topic=x", header("Origin", "null"), 403},
		{"command", "POST", "/v1/sweep", header("X", "y"), 200},
	} {
		res, body := do(t, srv, tt.method, tt.path, "", "", tt.edit)
		if res.StatusCode != tt.status {
			t.Errorf("%s: %d %s", tt.name, res.StatusCode, body)
		}
		if tt.status == 200 && res.Header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s: other sites may read it", tt.name)
		}
	}
}

func TestUnknownPathsMethodsAndParametersAreRejected(t *testing.T) {
	t.Parallel()
	_, srv := serve(t, newFakeHub())
	for _, tt := range []struct {
		method, path string
		status       int
		want         string
	}{
		{"GET", "/v1/nothing", 404, "/v1/openapi.json lists"},
		{"POST", "/v1/status", 405, "does not accept the method POST"},
		{"GET", "/v1/ping", 405, "does not accept the method GET"},
		{"GET", "/v1/subscriptions?tpoic=x", 400, `\"tpoic\" is unknown`},
		{"GET", "/v1/status?x=1", 400, `\"x\" is unknown; this endpoint accepts no parameters."`},
		{"GET", "/v1/subscriptions?topic=x&topic=y", 400, "may occur only once"},
		{"GET", "/v1/subscriptions?limit=0", 400, "from 1 to 1000"},
		{"GET", "/v1/subscriptions?limit=1001", 400, "from 1 to 1000"},
		{"GET", "/v1/subscriptions?after=1", 400, "in the previous page"},
		{"GET", "/v1/subscriptions?%zz", 400, "cannot be read"},
		{"POST", "/v1/subscriptions/import?skip-bad=maybe", 400, "true or false"},
	} {
		res, body := do(t, srv, tt.method, tt.path, "", "")
		if res.StatusCode != tt.status || !strings.Contains(body, tt.want) || res.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s %s: %d %s", tt.method, tt.path, res.StatusCode, body)
		}
	}
	res, _ := do(t, srv, "PUT", "/v1/subscriptions", "", "")
	if allow := res.Header.Values("Allow"); !slices.Equal(allow, []string{"GET", "DELETE"}) {
		t.Error(allow)
	}
}

func TestBackupIsWrittenToTheGivenFile(t *testing.T) {
	t.Parallel()
	c, _ := serve(t, newFakeHub())
	file := filepath.Join(t.TempDir(), "copy.db")
	b, err := c.Backup(t.Context(), file)
	if err != nil || b.Size != 4 || b.File != file {
		t.Errorf("%+v %v", b, err)
	}
	if _, err := c.Backup(t.Context(), file); err == nil || !strings.Contains(err.Error(), "already exists") {
		t.Error(err)
	}
	if _, err := c.Backup(t.Context(), filepath.Join(t.TempDir(), "gone", "copy.db")); err == nil || !strings.Contains(err.Error(), "does not exist") {
		t.Error(err)
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != "copy" {
		t.Error(string(got), err)
	}
}

func TestBackupWithAnUnknownKeyWritesNothing(t *testing.T) {
	t.Parallel()
	unknown := func() error { return fault.New(fault.Unsupported, "The key is not known here.") }
	copied := func(string) (string, error) {
		t.Error("the key was copied")
		return "", nil
	}
	for _, o := range []Options{{}, {CheckKey: unknown, BackupKey: copied}} {
		var log strings.Builder
		h := newFakeHub()
		o.Hub, o.Store, o.Now, o.Log = h, store{h}, start, slog.New(slog.NewTextHandler(&log, nil))
		srv := httptest.NewServer(New(o).Handler())
		defer srv.Close()
		dir := t.TempDir()
		_, err := (&client.Client{Base: srv.URL}).BackupTo(t.Context(), client.BackupOptions{Folder: dir, Keep: 1, WithKey: true})
		if err == nil || !strings.Contains(err.Error(), "key") {
			t.Error(err)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
			t.Errorf("%v, %v", left, err)
		}
		if log.Len() != 0 {
			t.Errorf("a rejected request is logged: %s", log.String())
		}
	}
}

func TestOldestTimestampedBackupsAreRemoved(t *testing.T) {
	t.Parallel()
	w := newFakeHub()
	c, _ := serve(t, w)
	dir := t.TempDir()
	for _, name := range []string{"cloudburst-20200101T000000Z.db", "cloudburst-20200101T000000Z.db.key", "cloudburst-20200102T000000Z.db",
		"cloudburst-20200103T000000Z.db", "cloudburst-20990101T000000Z.db.part", "mine.db"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b, err := c.BackupTo(t.Context(), client.BackupOptions{Folder: dir, Keep: 2})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{filepath.Join(dir, "cloudburst-20200101T000000Z.db"), filepath.Join(dir, "cloudburst-20200102T000000Z.db")}
	if !slices.Equal(b.Removed, want) {
		t.Errorf("removed %q", b.Removed)
	}
	left, _ := filepath.Glob(filepath.Join(dir, "*"))
	if len(left) != 4 || !slices.Contains(left, filepath.Join(dir, "mine.db")) || !slices.Contains(left, b.File) {
		t.Errorf("left %q", left)
	}
	for _, o := range []client.BackupOptions{{}, {File: "/a", Folder: "/b"}, {File: dir + "/x", Keep: 2}, {Folder: dir, Keep: -1}, {Folder: dir, WithKey: true}} {
		if _, err := c.BackupTo(t.Context(), o); err == nil {
			t.Errorf("%+v was accepted", o)
		}
	}
}
