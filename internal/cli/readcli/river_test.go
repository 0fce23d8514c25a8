package readcli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cloudburst/client"
	"cloudburst/internal/cli/shell"
	"cloudburst/internal/config"
)

// canned is an App whose admin API returns prepared JSON responses by method and path, and
// 404 for other requests.
type canned struct {
	mu      sync.Mutex
	answers map[string]any
	asked   []string // received requests: method, path, query and body
}

func (c *canned) Run(context.Context) error { return nil }
func (c *canned) Admin() http.Handler       { return c }
func (c *canned) Close() error              { return nil }

func (c *canned) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	c.mu.Lock()
	c.asked = append(c.asked, strings.TrimSpace(r.Method+" "+r.URL.Path+"?"+r.URL.RawQuery+" "+string(body)))
	answer, ok := c.answers[r.Method+" "+r.URL.Path]
	c.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	switch a := answer.(type) {
	case func(http.ResponseWriter, *http.Request):
		a(w, r)
		return
	case *client.Error:
		w.WriteHeader(a.Status)
		answer = map[string]any{"error": a}
	default:
		if !ok {
			w.WriteHeader(http.StatusNotFound)
			answer = map[string]any{"error": client.Error{Code: "not-found", Message: "It is not followed."}}
		}
	}
	_ = json.NewEncoder(w).Encode(answer)
}

// runCanned runs one command without a running server. The command opens c as the App.
func runCanned(t *testing.T, c *canned, stdin string, args ...string) (out, stderr string, code int) {
	t.Helper()
	var o, e bytes.Buffer
	p := inShell(shell.Shell{In: strings.NewReader(stdin), Out: &o, Err: &e, Version: "test", Environ: []string{"CLOUDBURST_DATA=" + t.TempDir()}})
	p.Open = func(context.Context, config.Config, *slog.Logger) (shell.App, error) { return c, nil }
	code = p.Run(t.Context(), args)
	return o.String(), e.String(), code
}

// someItem returns an item whose fields contain control characters.
func someItem(id int64) client.Item {
	at := time.Date(2026, 5, 4, 10, 20, 0, 0, time.Local)
	return client.Item{ID: id, Seq: id, At: at, ReadAt: at, Source: client.ItemSource{ID: 7, Title: "Sly\x1b[2J\u202e Feed", URL: "http://a.example/"},
		Content: client.Content{Title: fmt.Sprintf("Item %d\x1b]0;x\a\u009b", id), Link: "http://a.example/" + "\x1b[1A", Text: "Words\r\nand\tmore \u2066words", Categories: []string{"x"},
			Enclosures: []client.Enclosure{{URL: "http://a.example/\x07.mp3"}}, Nested: []client.Content{{Title: "\x1bNested"}}}}
}

func noControls(t *testing.T, text string) {
	t.Helper()
	if strings.ContainsAny(text, "\x1b\x07\r\u009b\u202e\u2066") {
		t.Errorf("control characters in %q", text)
	}
}

func TestItemsArePrintedAsTableAndAsJSON(t *testing.T) {
	t.Parallel()
	untitled := someItem(2)
	untitled.Title, untitled.Text = "", strings.Repeat("word ", 100)
	c := &canned{answers: map[string]any{"GET /v1/items": map[string]any{"items": []client.Item{someItem(1), untitled}}}}
	out, stderr, code := runCanned(t, c, "", "items", "--user", "alice", "--category", "News", "--search", "a b", "--starred", "--unread", "--source", "http://a.example/", "--limit", "10")
	want := "2026-05-04 10:20\tSly[2J Feed\tItem 1]0;x\thttp://a.example/[1A\n2026-05-04 10:20\tSly[2J Feed\t" + strings.TrimSpace(strings.Repeat("word ", 20)) + "…\thttp://a.example/[1A\n"
	if diff := cmp.Diff(want, out); diff != "" || stderr != "" || code != 0 {
		t.Error(diff, stderr, code)
	}
	noControls(t, out)
	if want := "GET /v1/items?category=News&limit=10&q=a+b&source=http%3A%2F%2Fa.example%2F&starred=true&unread=true&user=alice"; c.asked[0] != want {
		t.Error(c.asked)
	}
	out, _, _ = runCanned(t, c, "", "items", "--json")
	if n := strings.Count(out, "\n"); n != 2 || !strings.HasPrefix(out, `{"id":"1","seq":"1","at":`) {
		t.Error(out)
	}
}

func TestRiverPrintsLinesIfOutputIsNotATerminal(t *testing.T) {
	t.Parallel()
	c := &canned{answers: map[string]any{
		"GET /v1/river": client.RiverStatus{Seq: 5},
		"GET /v1/items": map[string]any{"items": []client.Item{someItem(2), someItem(1)}},
	}}
	out, stderr, code := runCanned(t, c, "", "river")
	rows := strings.Split(out, "\n")
	if len(rows) != 3 || !strings.Contains(rows[0], "Item 1") || !strings.Contains(rows[1], "Item 2") || code != 0 {
		t.Error(out, code)
	}
	if !strings.Contains(stderr, "No server is running, so no new items follow") {
		t.Error(stderr)
	}
	noControls(t, out)
	out, _, _ = runCanned(t, c, "", "river", "--json", "--once")
	if !strings.HasPrefix(out, `{"id":"1",`) || strings.Count(out, "\n") != 2 {
		t.Error(out)
	}
	out, _, _ = runCanned(t, c, "", "river", "--limit", "0", "--once")
	if out != "" {
		t.Error(out)
	}
}

func TestTerminalOutputIsGroupedAndFitsWidth(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	w := bufio.NewWriter(&b)
	s := &riverScreen{w: w, width: func() int { return 40 }}
	one, two, three := someItem(1), someItem(2), someItem(3)
	two.Text = strings.Repeat("many words ", 60) + "漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字"
	three.ReadAt = three.ReadAt.Add(time.Minute)
	three.At = three.At.Add(24 * time.Hour)
	three.Source.ID, three.Title = 8, strings.Repeat("x", 100)
	s.item("", &one)
	s.item("edited", &two)
	s.item("withdrawn", &three)
	w.Flush()
	noControls(t, b.String())
	for _, row := range strings.Split(b.String(), "\n") {
		if n := columns(row); n > 42 && !strings.Contains(row, "http") {
			t.Errorf("%d columns: %q", n, row)
		}
	}
	for text, times := range map[string]int{"──── Monday, 4 May 2026": 1, "──── Tuesday, 5 May 2026": 1, "Sly[2J Feed · 10:20": 2, "(edited) Item 2": 1, "(withdrawn)": 1, "+ Nested": 3, "♪ http://a.example/.mp3": 3} {
		if n := strings.Count(b.String(), text); n != times {
			t.Errorf("%q appears %d times, want %d:\n%s", text, n, times, b.String())
		}
	}
	if strings.Contains(b.String(), "漢") || !strings.Contains(b.String(), " …\n") {
		t.Errorf("a long text is not truncated:\n%s", b.String())
	}
}

func TestTextIsWrappedByDisplayWidth(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text string
		want []string
	}{
		{"", nil},
		{"one two three", []string{"one two", "three"}},
		{"abcdefghij", []string{"abcdefgh", "ij"}},
		{"漢字漢字漢字", []string{"漢字漢字", "漢字"}},
		{"e\u0301e\u0301e\u0301e\u0301e\u0301e\u0301e\u0301e\u0301", []string{"e\u0301e\u0301e\u0301e\u0301e\u0301e\u0301e\u0301e\u0301"}},
	} {
		if diff := cmp.Diff(tt.want, wrapped(tt.text, 8)); diff != "" {
			t.Errorf("%q: %s", tt.text, diff)
		}
	}
}

// running serves c like a running server does, and returns commands that use this server.
func running(t *testing.T, c *canned) *commands {
	t.Helper()
	c.answers["GET /v1/version"] = client.Version{Version: "test"}
	srv := httptest.NewServer(c)
	t.Cleanup(srv.Close)
	return inShell(shell.Shell{In: strings.NewReader(""), Version: "test", Environ: []string{"CLOUDBURST_ADMIN_LISTEN=" + srv.Listener.Addr().String()}})
}

func TestRiverReconnectsAndPrintsEachItemOnce(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var mu sync.Mutex
	var from []string
	event := func(w io.Writer, kind string, it client.Item) {
		data, _ := json.Marshal(it)
		fmt.Fprintf(w, "id: %d\nevent: %s\ndata: %s\n\n", it.Seq, kind, data)
	}
	edited := someItem(1)
	edited.Seq = 9
	stream := func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		from = append(from, r.Header.Get("Last-Event-ID"))
		w.Header().Set("Content-Type", "text/event-stream")
		switch len(from) {
		case 1:
			event(w, "new", someItem(2)) // an item that the command has already printed
			event(w, "new", someItem(3)) // an older item that --limit has excluded
			event(w, "new", someItem(7))
		case 2:
			event(w, "new", someItem(7)) // the same item again
			event(w, "edited", edited)
			event(w, "new", someItem(10))
		default:
			go cancel()
		}
	}
	c := &canned{answers: map[string]any{
		"GET /v1/river":        client.RiverStatus{Seq: 5},
		"GET /v1/items":        map[string]any{"items": []client.Item{someItem(2), someItem(1)}},
		"GET /v1/items/stream": stream,
	}}
	p := running(t, c)
	var out, stderr bytes.Buffer
	p.Out, p.Err = &out, &stderr
	if code := p.Run(ctx, []string{"river", "--json", "--limit", "2"}); code != 0 {
		t.Error(code, stderr.String())
	}
	var got []string
	for line := range strings.Lines(out.String()) {
		var l riverLine
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintf("%s%d", l.Event, l.ID))
	}
	if diff := cmp.Diff([]string{"1", "2", "new7", "edited1", "new10"}, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"5", "7", "10"}, from); diff != "" {
		t.Error(diff)
	}
}

func TestSourcesAddReportsResultOfEachURL(t *testing.T) {
	t.Parallel()
	c := &canned{answers: map[string]any{}}
	added := client.AddedSource{New: true, Source: &client.Source{ID: 7, URL: "http://a.example/rss", Title: "A\x1b[2J", Items: 3}}
	c.answers["POST /v1/sources"] = added
	out, stderr, code := runCanned(t, c, "the secret\n", "sources", "add", "http://a.example/", "--category", "x", "--category", "y, z", "--interval", "1h", "--title", "T", "--login", "basic:ann")
	if out != "Added A[2J <http://a.example/rss>, 3 items.\n" || stderr != "" || code != 0 {
		t.Error(out, stderr, code)
	}
	if want := `POST /v1/sources? {"url":"http://a.example/","title":"T","categories":["x","y, z"],"interval_s":3600,"login":{"kind":"basic","name":"ann","secret":"the secret"}}`; c.asked[0] != want {
		t.Error(c.asked[0])
	}
	c.answers["POST /v1/sources"] = client.AddedSource{Choices: []client.Choice{{URL: "http://a.example/1", Title: "One", Kind: "feed"}, {URL: "http://a.example/2"}}}
	out, stderr, code = runCanned(t, c, "", "sources", "add", "http://a.example/")
	if !strings.HasPrefix(out, "http://a.example/1\tOne\t\tfeed\n") || !strings.Contains(stderr, "http://a.example/ has 2 feeds; none was added: use the URL of one feed, or add the first with --first") || code != 1 {
		t.Error(out, stderr, code)
	}
	c.answers["POST /v1/sources"] = &client.Error{Status: 422, Code: "unreadable", Message: "It says nothing."}
	out, stderr, code = runCanned(t, c, "", "sources", "add", "--json", "http://a.example/", "http://b.example/")
	if strings.Count(out, "\n") != 2 || !strings.HasPrefix(out, `{"input":"http://a.example/","new":false,"error":{"message":"http://a.example/: It says nothing."}}`) || strings.Count(stderr, "It says nothing.") != 2 || code != 1 {
		t.Error(out, stderr, code)
	}
	if out, stderr, _ = runCanned(t, c, "", "sources", "add", "--json", "https://ann:hush@a.example/"); strings.Contains(out+stderr, "hush") {
		t.Error("a password is printed:", out, stderr)
	}
	for _, args := range [][]string{
		{"add"}, {"add", "--interval", "soon", "http://a.example/"}, {"add", "--login", "basic", "http://a.example/"}, {"add", "--login", "basic:ann:secret:x", "--secret-file", "x", "http://a.example/", "--interval", "0s"},
		{"add", "--secret-file", "x", "http://a.example/"}, {"refresh"}, {"refresh", "--all", "http://a.example/"}, {"set", "http://a.example/"}, {"set", "7", "--category", "x", "--no-category"},
		{"categories", "--public", "x", "--private", "y"}, {"categories", "--rename", "x"}, {"remove"},
	} {
		if _, stderr, code := runCanned(t, c, "", append([]string{"sources"}, args...)...); code != 2 || !strings.HasPrefix(stderr, "cloudburst: ") {
			t.Errorf("%q: %d %s", args, code, stderr)
		}
	}
}

func TestSourceCommandsChangeOnlyTheGivenSources(t *testing.T) {
	t.Parallel()
	src := client.Source{ID: 7, URL: "http://a.example/rss", Title: "A"}
	c := &canned{answers: map[string]any{"GET /v1/source": src, "PATCH /v1/sources/7": src, "DELETE /v1/sources/7": map[string]any{"removed": src}, "POST /v1/sources/7/revive": src,
		"POST /v1/sources/7/undo":    &client.Error{Status: 409, Code: "conflict", Message: "It was not moved."},
		"POST /v1/sources/7/refresh": client.Check{Text: "One new item.", Outcome: "changed"},
		"GET /v1/sources":            map[string]any{"sources": []client.Source{src, {ID: 8, URL: "http://b.example/", State: "failing", Problem: "404"}, {ID: 9, State: "gone"}}}}}
	for _, tt := range []struct {
		args        string
		out, stderr string
		code        int
	}{
		{"remove 7", "Removed A <http://a.example/rss>.\n", "", 0},
		{"revive http://a.example/rss", "A <http://a.example/rss> will be read again.\n", "", 0},
		{"undo 7", "", "cloudburst: 7: It was not moved.\n", 1},
		{"refresh 7", "http://a.example/rss  One new item.\n", "", 0},
		{"refresh --all", "http://a.example/rss  One new item.\n", "cloudburst: http://b.example/: It is not followed.\nRead 1 feed: 0 new items; 1 failed.\n", 1},
		{"set 7 --no-category --interval none --login none", "Changed A <http://a.example/rss>.\n", "", 0},
		{"set 7 --full-text", "Changed A <http://a.example/rss>.\n", "", 0},
		{"list", "\tA\t\t0\t-\t-\thttp://a.example/rss\t\nfailing\t\t\t0\t-\t-\thttp://b.example/\t404\ngone\t\t\t0\t-\t-\t\t\n", "", 0},
		{"categories --rename a --to b", "", "cloudburst: It is not followed.\n", 1},
	} {
		out, stderr, code := runCanned(t, c, "", append([]string{"sources"}, strings.Fields(tt.args)...)...)
		if out != tt.out || stderr != tt.stderr || code != tt.code {
			t.Errorf("%s: %q %q %d", tt.args, out, stderr, code)
		}
	}
	asked := strings.Join(c.asked, "\n")
	for _, want := range []string{`PATCH /v1/sources/7? {"categories":[],"interval_s":0}`, `PATCH /v1/sources/7? {"login":{"kind":""}}`, `PATCH /v1/sources/7? {"full_text":true}`, `PUT /v1/categories?name=a {"name":"b"}`} {
		if !strings.Contains(asked, want) {
			t.Errorf("no request %s in\n%s", want, asked)
		}
	}
}

func TestOPMLImportPrintsResultAndNextCommand(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "list.opml")
	if err := os.WriteFile(file, []byte("<opml/>"), 0o600); err != nil {
		t.Fatal(err)
	}
	steps := func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(w, `{"done":1,"total":2}`)
		fmt.Fprintln(w, `{"result":{"title":"L\u001b[2J","found":3,"added":2,"had":1,"lists":0,"skipped":1,"problems":["No address.\u001b[2J"]}}`)
	}
	c := &canned{answers: map[string]any{"POST /v1/opml": steps, "GET /v1/status": client.Status{PublicURL: "http://pub.example"},
		"GET /v1/sources": map[string]any{"sources": []client.Source{{State: "ok"}}}}}
	out, stderr, code := runCanned(t, c, "", "opml", "import", file, "--category", "x")
	if out != "Found 3 feeds in “L[2J”: 2 new, 1 already followed, 1 without a usable URL.\n" || code != 0 || !strings.Contains(stderr, "No server is running: the next start") {
		t.Error(out, stderr, code)
	}
	noControls(t, out+stderr)
	if c.asked[0] != "POST /v1/opml?category=x <opml/>" {
		t.Error(c.asked)
	}
	p := running(t, c)
	var o, e bytes.Buffer
	p.Out, p.Err = &o, &e
	if code := p.Run(t.Context(), []string{"opml", "import", "--wait", "--follow", "--user", "alice", "http://a.example/list.opml"}); code != 0 {
		t.Error(code, e.String())
	}
	if !strings.HasSuffix(e.String(), "Watch them arrive: cloudburst river --user alice, or http://pub.example/river\n") || !strings.Contains(o.String(), "; changes of the list are followed.\n") {
		t.Error(o.String(), e.String())
	}
	if !strings.Contains(strings.Join(c.asked, "\n"), "POST /v1/opml?follow=true&url=http%3A%2F%2Fa.example%2Flist.opml&user=alice") {
		t.Error(c.asked)
	}
	_, stderr, code = runCanned(t, c, "", "opml", "import", "--follow", file)
	if code != 2 || !strings.Contains(stderr, "--follow needs a URL") {
		t.Error(stderr, code)
	}
}

func TestOPMLExportWritesFileOrStandardOutput(t *testing.T) {
	t.Parallel()
	c := &canned{answers: map[string]any{"GET /v1/opml": func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<opml/>\n") }}}
	out, _, code := runCanned(t, c, "", "opml", "export", "--category", "x")
	if out != "<opml/>\n" || code != 0 || c.asked[0] != "GET /v1/opml?category=x" {
		t.Error(out, code, c.asked)
	}
	file := filepath.Join(t.TempDir(), "list.opml")
	out, _, code = runCanned(t, c, "", "opml", "export", file)
	if got, err := os.ReadFile(file); string(got) != "<opml/>\n" || err != nil || out != "" || code != 0 {
		t.Error(string(got), err, out, code)
	}
}

func TestForwardingsAreAddedTestedAndRemoved(t *testing.T) {
	t.Parallel()
	n := client.Forwarding{ID: 4, Via: "email", Target: "ann@a.example", Category: "News", State: "waiting", Digest: "daily"}
	c := &canned{answers: map[string]any{"PUT /v1/notices": n, "GET /v1/notices": map[string]any{"notices": []client.Forwarding{n}}, "DELETE /v1/notices/4": map[string]any{},
		"POST /v1/notices/4/try": &client.Error{Status: 422, Code: "unreadable", Message: "Nobody takes mail there."}}}
	for _, tt := range []struct {
		args        string
		out, stderr string
		code        int
	}{
		{"add ann@a.example --category News --digest weekly", "Forwarding 4 will send new items to ann@a.example by email after the recipient gives consent.\n", "No server is running: the next start (cloudburst serve) requests the consent of the recipient.\n", 0},
		{"add https://hook.example/@x --secret-file -", "Forwarding 4 will send new items to ann@a.example by email after the recipient gives consent.\n", "No server is running: the next start (cloudburst serve) requests the consent of the recipient.\n", 0},
		{"list", "4\temail\tann@a.example\tNews\twaiting\t0\t-\t\tdaily\n", "", 0},
		{"set 4 --digest none", "Forwarding 4 has the digest none.\n", "", 0},
		{"set 5 --digest daily", "", "cloudburst: There is no forwarding 5: \"notices list\" prints the IDs.\n", 1},
		{"set 4", "", "cloudburst: --digest is required\n", 2},
		{"try 4", "", "cloudburst: Nobody takes mail there.\n", 1},
		{"remove 4", "Forwarding 4 is removed.\n", "", 0},
		{"remove ann", "", "cloudburst: invalid forwarding ID \"ann\": \"notices list\" prints the IDs\n", 2},
	} {
		out, stderr, code := runCanned(t, c, "sh", append([]string{"notices"}, strings.Fields(tt.args)...)...)
		if out != tt.out || stderr != tt.stderr || code != tt.code {
			t.Errorf("%s: %q %q %d", tt.args, out, stderr, code)
		}
	}
	if want := `PUT /v1/notices? {"category":"News","via":"email","target":"ann@a.example","digest":"weekly"}`; c.asked[0] != want {
		t.Error(c.asked[0])
	}
	if want := `PUT /v1/notices? {"via":"webhook","target":"https://hook.example/@x","secret":"sh"}`; c.asked[1] != want {
		t.Error(c.asked[1])
	}
	if want := `PUT /v1/notices? {"id":"4","category":"News","via":"email","target":"ann@a.example","digest":""}`; !slices.Contains(c.asked, want) {
		t.Error(c.asked)
	}
}

func TestExplainOfFollowedFeedUsesStoredData(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 5, 4, 10, 20, 0, 0, time.Local)
	next := at.Add(4 * time.Hour)
	e := client.Explanation{
		Source: client.Source{ID: 7, URL: "http://127.0.0.1:1/rss", Title: "E\x1b[2J", Format: "RSS 2.0", Items: 3, Readers: 2, State: "failing", Problem: "404", Failures: 2, AddedAt: at, NextAt: &next,
			Moved: &client.Move{From: "http://old.example/", To: "http://127.0.0.1:1/rss", At: at}},
		Sentence: "next check 03:20: ttl 60", // time in the server's time zone
		Trust:    "All were pushed.", Notes: []string{"It moved.\x1b[2J"},
		Considered: []client.Consideration{{Rule: "ttl", Text: "ttl 60", Until: &at, Effect: "decides"}},
		Push:       []client.PushState{{Protocol: "rsscloud", Hub: "http://hub.example/", Own: true, State: "active", Since: &at, LastError: "It hesitated."}},
		Checks: []client.Check{{At: at, TookMS: 12, Cause: "push", Via: "ping", Asked: "full", AskedWhy: "its ETag is weak", Status: 200, Text: "One new item.", Bytes: 2500, Sent: "GET / HTTP/1.1\r\nAccept: */*\r\n\x1b", Received: "HTTP/1.1 200 OK",
			Hops: []client.Hop{{Status: 302, To: "http://c.example/"}}}},
	}
	c := &canned{answers: map[string]any{"GET /v1/explain": e}}
	want := `http://127.0.0.1:1/rss
  feed        RSS 2.0, 3 items stored: E[2J
  followed    since 2026-05-04 10:20:00, by 2 users of this server
  state       failing: 404 (2 times in a row)
  moved       from http://old.example/ to http://127.0.0.1:1/rss, at 2026-05-04 10:20:00
  considered  ttl 60: decides, from 2026-05-04 10:20
  next check  2026-05-04 14:20: ttl 60
  push        rsscloud at http://hub.example/, which is this server: active since 2026-05-04 10:20:00; It hesitated.
  trust       All were pushed.
  note        It moved.[2J
  checks      2026-05-04 10:20:00  200 One new item. (push ping, in full, 12.0 ms, 2.5 kB)
                requested in full: its ETag is weak
                302 to http://c.example/
                > GET / HTTP/1.1
                > Accept: */*
                < HTTP/1.1 200 OK
`
	out, stderr, code := runCanned(t, c, "", "explain", "-v", "http://127.0.0.1:1/rss")
	if diff := cmp.Diff(want, out); diff != "" || stderr != "" || code != 0 {
		t.Error(diff, stderr, code)
	}
	out, _, _ = runCanned(t, c, "", "explain", "--json", "http://127.0.0.1:1/rss")
	if !strings.HasPrefix(out, `{"input":"http://127.0.0.1:1/rss","source":{"id":"7",`) {
		t.Error(out)
	}
	// The command reads the feed like an unknown feed if --stranger is set or if nobody follows the
	// feed.
	for _, args := range [][]string{{"explain", "--stranger", "http://127.0.0.1:1/rss"}, {"explain", "http://127.0.0.1:1/rss"}} {
		if len(args) == 2 {
			delete(c.answers, "GET /v1/explain")
		}
		if out, stderr, code = runCanned(t, c, "", args...); code != 1 || !strings.Contains(stderr, "cannot be read") || strings.Contains(out, "followed") {
			t.Error(args, out, stderr, code)
		}
	}
	// If --user is set and the user does not follow the feed, the command fails.
	if out, stderr, code = runCanned(t, c, "", "explain", "--user", "alice", "http://127.0.0.1:1/rss"); code != 1 || out != "" || stderr != "cloudburst: It is not followed.\n" {
		t.Error(out, stderr, code)
	}
	c.answers["GET /v1/explain"] = &client.Error{Status: 503, Code: "unavailable", Message: "The database is away."}
	if _, stderr, code = runCanned(t, c, "", "explain", "http://127.0.0.1:1/rss"); code != 1 || stderr != "cloudburst: The database is away.\n" {
		t.Error(stderr, code)
	}
}

func TestExplainWithoutServerCreatesNoDataFolder(t *testing.T) {
	t.Parallel()
	none := filepath.Join(t.TempDir(), "none")
	var out, stderr bytes.Buffer
	p := inShell(shell.Shell{In: strings.NewReader(""), Out: &out, Err: &stderr, Version: "test", Environ: []string{"CLOUDBURST_DATA=" + none}})
	p.Open = func(context.Context, config.Config, *slog.Logger) (shell.App, error) {
		t.Error("explain opened the data folder")
		return nil, io.EOF
	}
	if code := p.Run(t.Context(), []string{"explain", "http://127.0.0.1:1/"}); code != 1 || !strings.Contains(stderr.String(), "cannot be read") {
		t.Error(code, stderr.String())
	}
	if _, err := os.Stat(none); !os.IsNotExist(err) {
		t.Error(err)
	}
}
