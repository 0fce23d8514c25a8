package api

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"cloudburst/client"
	"cloudburst/feed/polling"
	"cloudburst/internal/river"
	"cloudburst/internal/river/forward"
)

// serveRiver starts the operator's API with a river.
func serveRiver(t *testing.T, w *fakeRiver) (*client.Client, *httptest.Server) {
	t.Helper()
	api := New(Options{Hub: newFakeHub(), River: w, Accounts: newFakeAccounts("alice", "first"), ReaderOf: readerOf, Now: start, Heartbeat: time.Hour,
		PublicURL: "http://us.example", People: fakePeople{}, Threads: fakeThreads{}})
	api.listen = w.listen
	srv := httptest.NewServer(api.Handler())
	t.Cleanup(srv.Close)
	return &client.Client{Base: srv.URL, HTTP: srv.Client()}, srv
}

// readerOf assigns the server's own river to the user whose name is first.
func readerOf(user string) string {
	if user == "first" {
		return ""
	}
	return user
}

// fullRiver returns a river with one object of each kind.
func fullRiver() (w *fakeRiver, source, item string) {
	w = newFakeRiver()
	id := w.follow("", "http://a.example/", 3, func(f *river.Followed) {
		f.Title, f.Categories, f.Interval, f.ListID = "Mine", []string{"News"}, time.Hour, 5
		f.Source.Login = river.Login{Kind: river.LoginBasic, Name: "ann", Secret: "sealed-secret"}
		f.Source.State.Moves = []polling.Move{{From: "http://old.example/", To: "http://a.example/", At: start(), Why: "301"}}
		f.Source.State.Failure = &polling.Failure{Kind: polling.ErrStatus, Text: "404 Not Found"}
		f.Source.State.Failures = 2
	})
	w.follow("", "http://busy.example/", 0, func(f *river.Followed) { f.Source.Claim = 7 })
	w.entries[0].Content = river.Content{Title: "T", Link: "http://a.example/0", HTML: "<p>x</p>", Text: "x", Language: "en", Published: start(), Updated: start(), Authors: []string{"Ann"},
		Categories: []string{"c"}, Image: "http://a.example/i.png", Comments: "http://a.example/c", InReplyTo: "http://b.example/1", Via: "B", More: true,
		Enclosures: []river.Enclosure{{URL: "http://a.example/x.mp3", Type: "audio/mpeg", Length: 5, Duration: 61, Title: "Sound"}}, Nested: []river.Content{{Title: "Within", Published: start()}}}
	w.entries[0].EditedAt, w.entries[0].WithdrawnAt, w.entries[0].Source.Icon = start(), start(), "http://a.example/favicon.ico"
	w.cats = []river.Category{{Name: "News", Public: true, Sources: 1, Unread: 2}}
	w.lists = []river.ReadingList{{ID: 9, URL: "http://a.example/list.opml", Title: "L", Category: "News", Feeds: 3, ReadAt: start(), NextAt: start(), Problem: "It was away."}}
	w.forwardings = []forward.Forwarding{{ID: 1, SourceID: id, Category: "News", Via: forward.ViaWebhook, Target: "https://hook.example/", Secret: "hook-secret", CreatedAt: start(), Sent: 3,
		LastAt: start(), Failures: 1, Problem: "500", State: forward.ForwardingConfirmed, AskedAt: start(), DecidedAt: start()}}
	return w, fmt.Sprint(id), fmt.Sprint(w.entries[0].ID)
}

func TestRiverResponsesMatchSchema(t *testing.T) {
	t.Parallel()
	doc, err := document()
	if err != nil {
		t.Fatal(err)
	}
	w, id, item := fullRiver()
	busy := fmt.Sprint(river.SourceID("http://busy.example/"))
	_, srv := serveRiver(t, w)
	const js, xml = "application/json", "text/x-opml"
	const list = `<opml version="2.0"><head><title>T</title></head><body><outline text="A" xmlUrl="http://a.example/"/></body></opml>`
	for _, tt := range []struct {
		method, path, route, kind, body string
		status                          int
	}{
		{"GET", "/v1/river", "", "", "", 200},
		{"GET", "/v1/sources?limit=1&unread=true", "/v1/sources", "", "", 200},
		{"GET", "/v1/sources?broken=1&match=a&category=News&after=0", "/v1/sources", "", "", 200},
		{"GET", "/v1/sources?limit=10000", "/v1/sources", "", "", 200},
		{"GET", "/v1/sources?limit=10001", "/v1/sources", "", "", 400},
		{"GET", "/v1/sources?after=x", "/v1/sources", "", "", 400},
		{"GET", "/v1/sources?user=alice", "/v1/sources", "", "", 200},
		{"GET", "/v1/sources?user=nobody", "/v1/sources", "", "", 404},
		{"GET", "/v1/sources?user=alice&user=first", "/v1/sources", "", "", 400},
		{"GET", "/v1/source?url=http://a.example/", "/v1/source", "", "", 200},
		{"GET", "/v1/source?url=" + id, "/v1/source", "", "", 200},
		{"GET", "/v1/source", "", "", "", 400},
		{"GET", "/v1/sources/" + id, "/v1/sources/{id}", "", "", 200},
		{"GET", "/v1/sources/" + id + "?user=alice", "/v1/sources/{id}", "", "", 404},
		{"GET", "/v1/sources/x", "/v1/sources/{id}", "", "", 400},
		{"POST", "/v1/sources", "", js, `{"url":"http://b.example/rss","title":"B","categories":["x"],"interval_s":60,"login":{"kind":"token","secret":"the-token"}}`, 200},
		{"POST", "/v1/sources", "", js, `{"url":"http://page.example/"}`, 200},
		{"POST", "/v1/sources", "", js, `{"url":"http://page.example/","first":true}`, 200},
		{"POST", "/v1/sources", "", js, `{"url":"http://silent.example/"}`, 422},
		{"POST", "/v1/sources", "", js, `{"url":"http://secret-host/"}`, 403},
		{"POST", "/v1/sources", "", js, `{"url":""}`, 400},
		{"POST", "/v1/sources", "", js, `{"url":"http://b.example/","interval_s":-1}`, 400},
		{"POST", "/v1/sources", "", js, `{"url":"http://b.example/","login":{"kind":"key","secret":"x"}}`, 400},
		{"POST", "/v1/sources", "", js, `{"url":"http://b.example/","login":{"kind":"basic","secret":"x"}}`, 400},
		{"POST", "/v1/sources", "", js, `{"url":"http://b.example/","categories":[""]}`, 400},
		{"PATCH", "/v1/sources/" + id, "/v1/sources/{id}", js, `{"title":"","categories":["b","a","b"],"interval_s":0}`, 200},
		{"PATCH", "/v1/sources/" + id, "/v1/sources/{id}", js, `{"full_text":true}`, 200},
		{"PATCH", "/v1/sources/" + id, "/v1/sources/{id}", js, `{"full_text":true,"login":{"kind":""}}`, 400},
		{"PATCH", "/v1/sources/" + id, "/v1/sources/{id}", js, `{"login":{"kind":"basic","name":"ann","secret":"new-secret"}}`, 200},
		{"PATCH", "/v1/sources/" + id, "/v1/sources/{id}", js, `{"login":{"kind":""},"title":"x"}`, 400},
		{"PATCH", "/v1/sources/" + id, "/v1/sources/{id}", js, `{"cnws":"http://news.example/cnws"}`, 200},
		{"PATCH", "/v1/sources/" + id, "/v1/sources/{id}", js, `{"cnws":"","title":"x"}`, 400},
		{"PATCH", "/v1/sources/99", "/v1/sources/{id}", js, `{"title":"x"}`, 404},
		{"POST", "/v1/sources/" + id + "/refresh", "/v1/sources/{id}/refresh", "", "", 200},
		{"POST", "/v1/sources/" + busy + "/refresh", "/v1/sources/{id}/refresh", "", "", 429},
		{"POST", "/v1/sources/refresh", "", "", "", 200},
		{"POST", "/v1/sources/refresh?all=1", "/v1/sources/refresh", "", "", 400},
		{"POST", "/v1/sources/" + id + "/revive", "/v1/sources/{id}/revive", "", "", 200},
		{"POST", "/v1/sources/" + id + "/undo", "/v1/sources/{id}/undo", "", "", 200},
		{"POST", "/v1/sources/" + busy + "/undo", "/v1/sources/{id}/undo", "", "", 409},
		{"GET", "/v1/sources/" + id + "/explain", "/v1/sources/{id}/explain", "", "", 200},
		{"GET", "/v1/explain?url=http://a.example/", "/v1/explain", "", "", 200},
		{"GET", "/v1/explain?url=http://nowhere.example/", "/v1/explain", "", "", 404},
		{"GET", "/v1/people", "", "", "", 200},
		{"GET", "/v1/people?match=ann&limit=1&cursor=1", "/v1/people", "", "", 200},
		{"GET", "/v1/people?cursor=-1", "/v1/people", "", "", 400},
		{"GET", "/v1/people?user=nobody", "/v1/people", "", "", 404},
		{"GET", "/v1/thread?url=http://us.example/alice/2026/05/04/x", "/v1/thread", "", "", 200},
		{"GET", "/v1/thread?url=http://us.example/alice/2026/05/04/secret", "/v1/thread", "", "", 404},
		{"GET", "/v1/thread?url=x", "/v1/thread", "", "", 400},
		{"GET", "/v1/thread?url=http://us.example/&limit=101", "/v1/thread", "", "", 400},
		{"GET", "/v1/items?limit=1", "/v1/items", "", "", 200},
		{"GET", "/v1/items?source=" + id + "&category=News&starred=false&unread=1&q=Text&from=2026-01-01T00:00:00Z&to=2027-01-01T00:00:00Z&oldest=true", "/v1/items", "", "", 200},
		{"GET", "/v1/items?since=5", "/v1/items", "", "", 200},
		{"GET", "/v1/items?since=5&before=5.5", "/v1/items", "", "", 400},
		{"GET", "/v1/items?since=-5", "/v1/items", "", "", 400},
		{"GET", "/v1/items?before=5", "/v1/items", "", "", 400},
		{"GET", "/v1/items?source=http://nowhere.example/", "/v1/items", "", "", 404},
		{"GET", "/v1/items?category=Nowhere", "/v1/items", "", "", 404},
		{"GET", "/v1/items/stream?category=Nowhere", "/v1/items/stream", "", "", 404},
		{"GET", "/v1/items/" + item, "/v1/items/{id}", "", "", 200},
		{"GET", "/v1/items/1", "/v1/items/{id}", "", "", 404},
		{"GET", "/v1/items/x", "/v1/items/{id}", "", "", 400},
		{"GET", "/v1/items/stream?source=http://nowhere.example/", "/v1/items/stream", "", "", 404},
		{"POST", "/v1/items/mark", "", js, `{"ids":["` + item + `"],"read":true,"starred":true}`, 200},
		{"POST", "/v1/items/mark", "", js, `{"ids":["` + item + `"]}`, 400},
		{"POST", "/v1/items/mark", "", js, `{"ids":[5],"read":true}`, 400},
		{"POST", "/v1/items/mark", "", js, `{"ids":[],"read":true}`, 400},
		{"POST", "/v1/items/read", "", js, `{"source":"` + id + `","category":"News","to":"2026-05-04T03:00:00Z"}`, 200},
		{"POST", "/v1/items/read", "", js, `{"source":"99"}`, 404},
		{"GET", "/v1/categories?unread=true", "/v1/categories", "", "", 200},
		{"PUT", "/v1/categories?name=New", "/v1/categories", js, `{"public":true}`, 200},
		{"PUT", "/v1/categories?name=New", "/v1/categories", js, `{"name":"Newer"}`, 200},
		{"PUT", "/v1/categories?name=New", "/v1/categories", js, `{"name":"Newer","public":false}`, 400},
		{"PUT", "/v1/categories?name=Gone", "/v1/categories", js, `{"name":"Newer"}`, 404},
		{"PUT", "/v1/categories?name=Newer", "/v1/categories", js, `{"name":""}`, 400},
		{"PUT", "/v1/categories", "", js, `{}`, 400},
		{"DELETE", "/v1/categories?name=Newer", "/v1/categories", "", "", 200},
		{"DELETE", "/v1/categories?name=Newer", "/v1/categories", "", "", 404},
		{"POST", "/v1/opml", "", xml, list, 200},
		{"POST", "/v1/opml?category=x", "/v1/opml", xml, "hello", 400},
		{"POST", "/v1/opml?follow=1", "/v1/opml", xml, list, 400},
		{"POST", "/v1/opml?follow=1&url=http://a.example/list.opml", "/v1/opml", "", "", 200},
		{"POST", "/v1/opml?url=http://a.example/list.opml", "/v1/opml", xml, list, 400},
		{"POST", "/v1/opml?url=list.opml", "/v1/opml", "", "", 400},
		{"POST", "/v1/opml", "", js, `{}`, 400},
		{"GET", "/v1/lists", "", "", "", 200},
		{"DELETE", "/v1/lists/9?remove=true", "/v1/lists/{id}", "", "", 200},
		{"DELETE", "/v1/lists/9", "/v1/lists/{id}", "", "", 404},
		{"GET", "/v1/filters", "", "", "", 200},
		{"PUT", "/v1/filters", "", js, `{"conditions":[{"field":"title","op":"word","values":["rain","snow"]}],"hide":true,"source":"http://a.example/","apply":true}`, 200},
		{"PUT", "/v1/filters", "", js, `{"id":"9","conditions":[{"field":"title","op":"word","values":["rain"]}],"hide":true}`, 404},
		{"PUT", "/v1/filters", "", js, `{"conditions":[{"field":"title","op":"regexp","values":["a(b"]}],"hide":true}`, 400},
		{"POST", "/v1/filters/preview", "", js, `{"conditions":[{"field":"any","op":"contains","not":true,"values":["e"]}],"star":true}`, 200},
		{"POST", "/v1/filters/preview", "", js, `{"conditions":[]}`, 400},
		{"POST", "/v1/filters/1/move?to=later", "/v1/filters/{id}/move", "", "", 200},
		{"POST", "/v1/filters/1/move?to=first", "/v1/filters/{id}/move", "", "", 400},
		{"POST", "/v1/filters/7/move?to=earlier", "/v1/filters/{id}/move", "", "", 404},
		{"DELETE", "/v1/filters/1", "/v1/filters/{id}", "", "", 200},
		{"DELETE", "/v1/filters/7", "/v1/filters/{id}", "", "", 404},
		{"GET", "/v1/notices", "", "", "", 200},
		{"PUT", "/v1/notices", "", js, `{"via":"email","target":"ann@a.example","source":"http://a.example/","digest":"weekly"}`, 200},
		{"PUT", "/v1/notices", "", js, `{"id":"1","via":"webhook","target":"https://other.example/","paused":true}`, 200},
		{"PUT", "/v1/notices", "", js, `{"id":"9","via":"webhook","target":"https://other.example/"}`, 404},
		{"PUT", "/v1/notices", "", js, `{"via":"pigeon","target":"x"}`, 400},
		{"POST", "/v1/notices/1/try", "/v1/notices/{id}/try", "", "", 200},
		{"POST", "/v1/notices/2/try", "/v1/notices/{id}/try", "", "", 422},
		{"DELETE", "/v1/notices/1", "/v1/notices/{id}", "", "", 200},
		{"DELETE", "/v1/notices/7", "/v1/notices/{id}", "", "", 404},
		{"DELETE", "/v1/sources/" + id, "/v1/sources/{id}", "", "", 200},
		{"DELETE", "/v1/sources/" + id, "/v1/sources/{id}", "", "", 404},
	} {
		if tt.route == "" {
			tt.route = tt.path
		}
		res, body := do(t, srv, tt.method, tt.path, tt.kind, tt.body)
		if res.StatusCode != tt.status {
			t.Errorf("%s %s %s: %d %s", tt.method, tt.path, tt.body, res.StatusCode, body)
			continue
		}
		if err := checkAnswer(doc, tt.method, tt.route, res, body); err != nil {
			t.Errorf("%s %s: %v\n%s", tt.method, tt.path, err, body)
		}
		if strings.Contains(body, "-secret\"") || strings.Contains(body, "the-token") {
			t.Errorf("%s %s reveals a secret: %s", tt.method, tt.path, body)
		}
	}
	if n := w.forwardings[len(w.forwardings)-1]; n.Digest != forward.DigestWeekly {
		t.Errorf("the digest is %q", n.Digest)
	}
	if w.forwardings[0].Secret != "hook-secret" || w.forwardings[0].Target != "https://other.example/" || !w.forwardings[0].Paused {
		t.Errorf("the forwarding became %+v", w.forwardings[0])
	}
	if want := []string{"|" + id + "|News|03:00:00"}; !slices.Equal(w.read, want) {
		t.Errorf("read: %q", w.read)
	}
}

func TestOPMLIsExported(t *testing.T) {
	t.Parallel()
	w, _, _ := fullRiver()
	c, srv := serveRiver(t, w)
	var b strings.Builder
	if err := c.River("first").ExportOPML(t.Context(), "", &b); err != nil || !strings.Contains(b.String(), `xmlUrl="http://a.example/"`) {
		t.Error(b.String(), err)
	}
	res, _ := do(t, srv, "GET", "/v1/opml", "", "")
	if got := res.Header.Get("Content-Type"); got != "text/x-opml; charset=utf-8" {
		t.Error(got)
	}
}

func TestOPMLImportReportsProgressAndResult(t *testing.T) {
	t.Parallel()
	c, _ := serveRiver(t, newFakeRiver())
	var opmlProgress []string
	o := client.OPMLOptions{Progress: func(done, total int) { opmlProgress = append(opmlProgress, fmt.Sprintf("%d of %d", done, total)) }}
	got, err := c.River("").ImportOPML(t.Context(), strings.NewReader(`<opml version="2.0"><head><title>Mine</title></head><body/></opml>`), o)
	if err != nil || got.Title != "Mine" || got.Added != 2 || len(got.Problems) != 1 || !slices.Equal(opmlProgress, []string{"1 of 2"}) {
		t.Errorf("%+v %v %q", got, err, opmlProgress)
	}
	got, err = c.River("").ImportOPML(t.Context(), strings.NewReader(`<opml version="2.0"><head><title>too many</title></head><body/></opml>`), o)
	if err == nil || err.Error() != "That is too many." || got.Found != 2 || got.Added != 1 || got.OverLimit != 1 || got.Limit != 1 {
		t.Errorf("%+v %v", got, err)
	}
	got, err = c.River("").ImportOPML(t.Context(), nil, client.OPMLOptions{URL: "http://a.example/list.opml", Follow: true})
	if err != nil || got.Lists != 1 {
		t.Errorf("%+v %v", got, err)
	}
}

func TestAPIClientReadsTheRiver(t *testing.T) {
	t.Parallel()
	w := newFakeRiver()
	for i := range 25 {
		w.follow("alice", fmt.Sprintf("http://a.example/%02d", i), 100)
	}
	c, _ := serveRiver(t, w)
	r := c.River("alice")
	n := 0
	for s, err := range r.Sources(t.Context(), client.SourceQuery{Limit: 20}) {
		if err != nil || s.URL != fmt.Sprintf("http://a.example/%02d", n) || s.State != "ok" || s.Unread != nil {
			t.Fatal(n, s, err)
		}
		n++
	}
	if n != 20 {
		t.Errorf("%d sources", n)
	}
	for _, q := range []client.ItemQuery{{}, {Since: 1}} {
		seen := map[int64]bool{}
		for it, err := range r.Items(t.Context(), q) {
			if err != nil {
				t.Fatal(err)
			}
			seen[it.ID] = true
		}
		if len(seen) != 2500 {
			t.Errorf("%+v: %d items", q, len(seen))
		}
	}
	for _, err := range c.River("").Items(t.Context(), client.ItemQuery{Source: "http://a.example/00"}) {
		if !client.IsNotFound(err) {
			t.Errorf("another's source: %v", err)
		}
	}
	yes := true
	id := w.entries[0].ID
	if n, err := r.Mark(t.Context(), client.MarkRequest{IDs: []client.ID{client.ID(id), 1}, Starred: &yes}); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	it, err := r.Item(t.Context(), id)
	if err != nil || !it.Starred || it.Read || it.Source.URL != "http://a.example/00" {
		t.Errorf("%+v %v", it, err)
	}
	st, err := r.Status(t.Context())
	if want := w.entries[2499].Seq; err != nil || st.Sources != 25 || st.Unread != 5 || st.Seq != want || st.Live.Reading != 3 || st.Counts.Sources != 7 {
		t.Errorf("%+v %v", st, err)
	}
}

func TestRiverRequestsReturn501WithoutRiver(t *testing.T) {
	t.Parallel()
	_, srv := serve(t, newFakeHub())
	for _, to := range riverRoutes() {
		res, body := do(t, srv, to.method, strings.ReplaceAll(to.path, "{id}", "1"), "application/json", "{}")
		if res.StatusCode != 501 || !strings.Contains(body, "has no feed reader") {
			t.Errorf("%s %s: %d %s", to.method, to.path, res.StatusCode, body)
		}
	}
}

// TestEveryListAcceptsACursor checks that every list has the parameter cursor, which requests the next
// page, and the parameters after and before, which are former names of cursor.
func TestEveryListAcceptsACursor(t *testing.T) {
	t.Parallel()
	doc, err := document()
	if err != nil {
		t.Fatal(err)
	}
	lists := 0
	for path, ops := range doc.doc["paths"].(map[string]any) {
		get, ok := ops.(map[string]any)["get"].(map[string]any)
		if !ok {
			continue
		}
		text, err := json.Marshal(get["responses"].(map[string]any)["200"])
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), `"next":{`) {
			continue
		}
		lists++
		var names []string
		for _, p := range get["parameters"].([]any) {
			name, _ := p.(map[string]any)["name"].(string)
			names = append(names, name)
		}
		for _, want := range []string{"cursor", "after", "before", "limit"} {
			if !slices.Contains(names, want) {
				t.Errorf("%s has no parameter %s", path, want)
			}
		}
	}
	if lists < 11 {
		t.Errorf("%d lists are described", lists)
	}
}

func TestOlderCursorNamesAreAccepted(t *testing.T) {
	t.Parallel()
	w := newFakeRiver()
	for i := range 9 {
		w.follow("", fmt.Sprintf("http://a.example/%02d", i), 1)
	}
	_, srv := serveRiver(t, w)
	for _, list := range []string{"/v1/items?limit=3", "/v1/sources?limit=3", "/v1/items?since=5&limit=3"} {
		page := func(more string) (body string, next string) {
			res, body := do(t, srv, "GET", list+more, "", "")
			var a struct{ Next string }
			if err := json.Unmarshal([]byte(body), &a); err != nil || res.StatusCode != 200 || a.Next == "" {
				t.Fatalf("%s: %d %s %v", list+more, res.StatusCode, body, err)
			}
			return body, a.Next
		}
		first, next := page("")
		second, _ := page("&cursor=" + next)
		if second == first {
			t.Errorf("%s: the second page is the first", list)
		}
		for _, name := range []string{"after", "before"} {
			if got, _ := page("&" + name + "=" + next); got != second {
				t.Errorf("%s with %s=%s: %s; want %s", list, name, next, got, second)
			}
		}
		if res, body := do(t, srv, "GET", list+"&after="+next+"&before=1", "", ""); res.StatusCode != 400 || !strings.Contains(body, "send cursor alone") {
			t.Errorf("%s with two cursors: %d %s", list, res.StatusCode, body)
		}
	}
}
