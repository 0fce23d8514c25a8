package hubcli

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cloudburst/internal/cli/shell"
	"cloudburst/protocol/websub"
)

// fakeHubs is an HTTP client that serves topics and their hubs.
type fakeHubs struct {
	mu    sync.Mutex
	asked map[string][]websub.Request // received requests; key: hub
	alone bool                        // hubs accept only one topic in a request
}

func (w *fakeHubs) Do(r *http.Request) (*http.Response, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	const page = `<html><head><link rel="hub" href="http://one.example/"></head></html>`
	switch r.URL.Host {
	case "feed.example":
		res := answer(page)
		switch r.URL.Path {
		case "/two":
			res.Header.Set("Link", `<http://one.example/>; rel="hub", <http://two.example/>; rel="hub", <http://feed.example/self>; rel="self"`)
		case "/none":
			res.Body = io.NopCloser(strings.NewReader("<rss/>"))
		case "/gone":
			res.StatusCode = http.StatusGone
		}
		return res, nil
	case "base.example": // the hub of this server is at /websub
		if r.URL.Path != "/websub" {
			res := answer("")
			res.StatusCode = http.StatusUnsupportedMediaType
			return res, nil
		}
	case "down.example":
		return nil, errors.New("connection refused")
	}
	q, err := websub.ReadRequest(r)
	if err != nil {
		return nil, err
	}
	res := answer("")
	res.StatusCode = http.StatusAccepted
	if w.alone && len(q.URLs) > 1 || len(q.URLs) == 1 && strings.HasSuffix(q.URLs[0], "/bad") || strings.HasSuffix(q.Subscription.Topic, "/bad") {
		res.StatusCode = http.StatusBadRequest
		res.Header.Set("Content-Type", "text/plain")
		res.Body = io.NopCloser(strings.NewReader("Not that.\n"))
		return res, nil
	}
	if w.asked == nil {
		w.asked = map[string][]websub.Request{}
	}
	w.asked[r.URL.String()] = append(w.asked[r.URL.String()], q)
	return res, nil
}

// command runs a websub command that uses w instead of the network.
func (w *fakeHubs) command(t *testing.T, args ...string) (code int, out, err string) {
	t.Helper()
	o, e := &locked{}, &locked{}
	p := inShell(shell.Shell{Out: o, Err: e, HTTP: w, Version: "test"})
	code = p.Run(t.Context(), append([]string{"websub"}, args...))
	return code, o.String(), e.String()
}

func TestTopicsOfOneHubShareARequest(t *testing.T) {
	t.Parallel()
	w := &fakeHubs{}
	code, out, errs := w.command(t, "publish", "--json", "http://feed.example/a", "http://feed.example/two", "http://feed.example/b", "http://feed.example/a")
	if code != 0 || errs != "" {
		t.Errorf("%d %s", code, errs)
	}
	want := map[string][]websub.Request{
		"http://one.example/": {{Mode: "publish", URLs: []string{"http://feed.example/a", "http://feed.example/self", "http://feed.example/b"}}},
		"http://two.example/": {{Mode: "publish", URLs: []string{"http://feed.example/self"}}},
	}
	if d := cmp.Diff(want, w.asked); d != "" {
		t.Error(d)
	}
	var rows []string
	for line := range strings.Lines(out) {
		var p published
		if err := json.Unmarshal([]byte(line), &p); err != nil || !p.Success {
			t.Fatalf("%v %s", err, line)
		}
		rows = append(rows, p.Topic+" "+p.Hub)
	}
	if d := cmp.Diff([]string{"http://feed.example/a http://one.example/", "http://feed.example/self http://one.example/", "http://feed.example/b http://one.example/",
		"http://feed.example/self http://two.example/"}, rows); d != "" {
		t.Error(d)
	}
}

func TestHubGivenByFlagIsPingedWithoutReadingTopics(t *testing.T) {
	t.Parallel()
	w := &fakeHubs{}
	args := []string{"publish", "--hub", "http://three.example/push"}
	for n := range websub.MaxURLs + 1 {
		args = append(args, "http://unread.example/"+strconv.Itoa(n))
	}
	code, out, errs := w.command(t, args...)
	if q := w.asked["http://three.example/push"]; code != 0 || len(q) != 2 || len(q[0].URLs) != websub.MaxURLs || len(q[1].URLs) != 1 {
		t.Errorf("%d %s\n%+v", code, errs, q)
	}
	if n := strings.Count(out, "The hub accepted the ping."); n != websub.MaxURLs+1 {
		t.Errorf("%d lines:\n%s", n, out)
	}
}

func TestRefusedRequestIsRepeatedForEachTopic(t *testing.T) {
	t.Parallel()
	w := &fakeHubs{alone: true}
	code, out, errs := w.command(t, "publish", "--hub", "http://one.example/", "http://feed.example/a", "http://feed.example/bad", "http://feed.example/b")
	if code != shell.ExitFailure || len(w.asked["http://one.example/"]) != 2 || strings.Count(out, "The hub accepted the ping.") != 2 {
		t.Errorf("%d\n%s\n%s", code, out, errs)
	}
	if want := "cloudburst: http://feed.example/bad: the hub at http://one.example/ rejected the request: The hub answered 400 Bad Request. Message: Not that\n"; errs != want {
		t.Errorf("%q\n%q", errs, want)
	}
}

func TestSubscribeUsesCanonicalURLOfTopic(t *testing.T) {
	t.Parallel()
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("tide\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	w := &fakeHubs{}
	code, out, errs := w.command(t, "subscribe", "http://feed.example/two", "--callback", "http://me.example/x?y=1", "--lease", "10d", "--secret-file", secret)
	if code != 0 || !strings.Contains(out, "http://feed.example/self  accepted; the hub will now verify the callback") || !strings.Contains(errs, "The canonical URL of http://feed.example/two is http://feed.example/self") {
		t.Errorf("%d\n%s\n%s", code, out, errs)
	}
	code, out, errs = w.command(t, "unsubscribe", "--json", "http://feed.example/a", "--callback", "http://me.example/x", "--hub", "http://two.example/")
	if code != 0 || errs != "" || !strings.HasPrefix(out, `{"mode":"unsubscribe","topic":"http://feed.example/a","hub":"http://two.example/","callback":"http://me.example/x","success":true,"msg":`) {
		t.Errorf("%d\n%s\n%s", code, out, errs)
	}
	want := map[string][]websub.Request{
		"http://one.example/": {{Mode: "subscribe", Subscription: websub.Subscription{Callback: "http://me.example/x?y=1", Topic: "http://feed.example/self", Lease: 240 * 3600e9, Secret: "tide"}}},
		"http://two.example/": {{Mode: "unsubscribe", Subscription: websub.Subscription{Callback: "http://me.example/x", Topic: "http://feed.example/a"}}},
	}
	if d := cmp.Diff(want, w.asked); d != "" {
		t.Error(d)
	}
}

func TestWebSubErrorsArePrintedAsOneSentence(t *testing.T) {
	t.Parallel()
	const callback = "--callback=http://me.example/"
	for _, tt := range []struct {
		args string
		code int
		want string
	}{
		{"publish http://feed.example/none", 1, `http://feed.example/none names no hub: its Link headers and links contain no rel="hub"; set one with --hub`},
		{"publish http://feed.example/gone", 1, "http://feed.example/gone cannot be read: the server returned 410 Gone"},
		{"publish http://down.example/", 1, "http://down.example/ cannot be read: connection refused"},
		{"publish --hub http://down.example/ http://feed.example/a", 1, "http://feed.example/a: the request to the hub at http://down.example/ failed: connection refused"},
		{"publish", 2, "needs the URL of at least one TOPIC"},
		{"publish feed.xml", 2, `The topic is "feed.xml"; it must be a whole URL`},
		{"publish --hub nonsense http://feed.example/a", 2, `--hub is "nonsense"; it must be a whole URL`},
		{"subscribe http://feed.example/none " + callback, 1, "names no hub"},
		{"subscribe http://feed.example/bad " + callback, 1, "the hub at http://one.example/ rejected the request: The hub answered 400 Bad Request. Message: Not that"},
		{"subscribe http://feed.example/a", 2, "missing callback: set --callback URL"},
		{"subscribe http://feed.example/a --callback ftp://me.example/", 2, `--callback is "ftp://me.example/"; it must be`},
		{"subscribe http://feed.example/a --lease soon " + callback, 2, `--lease is "soon"`},
		{"subscribe http://feed.example/a --secret a --secret-file b " + callback, 2, "--secret and --secret-file are both set"},
		{"subscribe http://feed.example/a --secret-file no/such " + callback, 1, "no/such cannot be read: there is no such file"},
		{"subscribe http://feed.example/a --secret " + strings.Repeat("x", 200) + " " + callback, 2, "the secret is 200 bytes long: WebSub allows at most 199"},
		{"unsubscribe http://feed.example/a --lease 1h " + callback, 2, "--lease is unknown"},
		{"subscribe", 2, "needs the URL of one TOPIC"},
		{"", 2, "needs a command: publish, subscribe or unsubscribe"},
		{"--lease 1h", 2, "websub has no flags: write one of publish, subscribe, unsubscribe before the flags"},
	} {
		code, out, errs := (&fakeHubs{}).command(t, strings.Fields(tt.args)...)
		if code != tt.code || out != "" || !strings.Contains(errs, tt.want) || strings.Count(errs, "\n") != 1 {
			t.Errorf("%s: %d %s\n%s", tt.args, code, out, errs)
		}
	}
}

func TestDefaultEndpointIsTriedIfTheRootHasNoHub(t *testing.T) {
	t.Parallel()
	const base, endpoint, topic, callback = "http://base.example", "http://base.example/websub", "http://feed.example/", "http://reader.example/cb"
	for _, hub := range []string{base, base + "/"} {
		for _, args := range [][]string{
			{"publish", "--hub", hub, topic},
			{"subscribe", "--hub", hub, "--callback", callback, topic},
			{"unsubscribe", "--hub", hub, "--callback", callback, topic},
		} {
			w := &fakeHubs{}
			code, out, errs := w.command(t, args...)
			if code != 0 || len(w.asked[endpoint]) != 1 || !strings.Contains(out, endpoint) || errs != "" {
				t.Errorf("%v: %d %s%s%+v", args, code, out, errs, w.asked)
			}
		}
	}
	// After a hub has rejected a request, the command tries no other endpoint.
	w := &fakeHubs{}
	if code, _, errs := w.command(t, "subscribe", "--hub", "http://root.example", "--callback", callback, topic+"bad"); code != 1 || !strings.Contains(errs, "http://root.example rejected the request") || !strings.Contains(errs, "Not that") {
		t.Errorf("%d %s", code, errs)
	}
}
