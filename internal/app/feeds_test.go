package app_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"cloudburst/client"
	"cloudburst/internal/account"
	"cloudburst/internal/author"
	"cloudburst/internal/event"
	"cloudburst/internal/fulltest"
	"cloudburst/internal/hub"
	"cloudburst/internal/store"
	"cloudburst/protocol/rsscloud"
	"cloudburst/protocol/wsse"
)

const alicePassword = "correct horse battery"

// addAlice creates the user alice.
func (r *running) addAlice() *client.Client {
	r.t.Helper()
	admin := &client.Client{Base: r.admin}
	if _, err := admin.AddUser(r.t.Context(), "alice", alicePassword); err != nil {
		r.t.Fatal(err)
	}
	return admin
}

// rssOf returns an RSS document with one item.
func rssOf(item string) string {
	return "<?xml version=\"1.0\"?>\r\n<rss version=\"2.0\"><channel><title>Alice</title><link>https://alice.example/</link><description>x</description>\n" +
		"<item><title>" + item + "</title><guid>https://alice.example/" + item + "</guid><description>&lt;p&gt;x&lt;/p&gt;</description></item></channel></rss>\n"
}

// curl runs the command curl and returns the response's headers and body as one text.
func curl(t *testing.T, args ...string) string {
	t.Helper()
	fulltest.Needs(t, "curl")
	ctx, cancel := context.WithTimeout(t.Context(), maxWait)
	defer cancel()
	out, err := exec.CommandContext(ctx, "curl", append([]string{"-sSi", "--max-time", "290"}, args...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("curl %q: %v\n%s", args, err, out)
	}
	return strings.TrimPrefix(string(out), "HTTP/1.1 100 Continue\r\n\r\n")
}

func expectAnswer(t *testing.T, what, answer, status string, words ...string) {
	t.Helper()
	if !strings.HasPrefix(answer, "HTTP/1.1 "+status) {
		t.Errorf("%s: answered %.600s; want %s", what, answer, status)
	}
	for _, w := range words {
		if !strings.Contains(answer, w) {
			t.Errorf("%s: there is no %q in %.2000s", what, w, answer)
		}
	}
}

func TestSubscriberReceivesSavedFeedInTheSubscribedFormat(t *testing.T) {
	t.Parallel()
	w := newWebSubHub(t, nil)
	w.addAlice()
	public := strings.Replace(w.base, "127.0.0.1", "localhost", 1)
	file := filepath.Join(t.TempDir(), "rss.xml")
	put := func(item string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(rssOf(item)), 0o600); err != nil {
			t.Fatal(err)
		}
		expectAnswer(t, "put", curl(t, "-u", "alice:"+alicePassword, "-T", file, w.base+"/alice/rss.xml"), "20")
	}
	put("one")
	cloud := newSubscriber(t)
	if code, body := post(t, w.base+"/rsscloud/pleaseNotify", cloud.form(public+"/alice/rss.xml", "")); code != http.StatusOK || !strings.Contains(body, `success="true"`) {
		t.Fatalf("pleaseNotify: %d %s", code, body)
	}
	cloud.wait(t, "the test call")
	raw, json := newRecordingServer(t, nil), newRecordingServer(t, nil)
	w.subscribe(t, public+"/alice/rss.xml", raw.URL, "hub.secret", "s")
	w.subscribe(t, public+"/alice/feed.json", json.URL)
	put("two")
	w.rest(t)
	if got := cloud.wait(t, "the second version"); got != public+"/alice/rss.xml" {
		t.Errorf("the cloud's subscriber received %s", got)
	}
	d := raw.await(t, http.MethodPost, 1)[0]
	w.same(t, d, public+"/alice/rss.xml", "application/rss+xml; charset=utf-8", rssOf("two"))
	if d.Header.Get("X-Hub-Signature") != signatureOf("s", []byte(rssOf("two"))) {
		t.Errorf("signed %q", d.Header.Get("X-Hub-Signature"))
	}
	_, served := get(t, w.base+"/alice/feed.json")
	w.same(t, json.await(t, http.MethodPost, 1)[0], public+"/alice/feed.json", "application/feed+json; charset=utf-8", served)
	put("two")
	w.rest(t)
	if n := len(raw.got(http.MethodPost)); n != 1 {
		t.Errorf("the same bytes again were delivered: %d", n)
	}
}

func TestPythonClientSavesFeeds(t *testing.T) {
	t.Parallel()
	fulltest.Needs(t, "another language")
	cfg := conf(t, t.TempDir())
	cfg.PublicURL = "https://hub.example"
	r := start(t, cfg)
	r.addAlice()
	ctx, cancel := context.WithTimeout(t.Context(), maxWait)
	defer cancel()
	out, err := exec.CommandContext(ctx, "python3", "../endpoint/publishhttp/testdata/clients/saverss_client.py", r.base, alicePassword).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if _, log := get(t, r.base+"/log"); !strings.Contains(log, "/alice/rss.xml") {
		t.Error("the log does not name the feed")
	}
}

func TestCurlSavesReadsAndEndsFeed(t *testing.T) {
	t.Parallel()
	r := start(t, conf(t, t.TempDir()))
	admin := r.addAlice()
	token, err := admin.NewToken(t.Context(), "alice", client.TokenRequest{Label: "curl", Scopes: []string{"create", "update", "delete"}})
	if err != nil {
		t.Fatal(err)
	}
	at, basic, bearer := r.base+"/alice/rss.xml", "alice:"+alicePassword, "Authorization: Bearer "+token.Token
	file := filepath.Join(t.TempDir(), "rss.xml")
	if err := os.WriteFile(file, []byte(rssOf("one")), 0o600); err != nil {
		t.Fatal(err)
	}
	first := curl(t, "-u", basic, "-T", file, at)
	expectAnswer(t, "put", first, "201", "Location: "+r.base+"/alice/rss.xml\r\n")
	tag := regexp.MustCompile(`(?i)etag: (\S+)`).FindStringSubmatch(first)[1]
	expectAnswer(t, "get", curl(t, at), "200", "\r\n\r\n"+rssOf("one"))
	expectAnswer(t, "get again", curl(t, "-H", "If-None-Match: "+tag, at), "304")
	expectAnswer(t, "by token", curl(t, "-H", bearer, "-X", "PUT", "--data-binary", rssOf("two"), at), "204")
	expectAnswer(t, "without a length", curl(t, "-H", bearer, "-H", "Transfer-Encoding: chunked", "-T", file, at), "204")
	expectAnswer(t, "by token as password", curl(t, "-u", "alice:"+token.Token, "-X", "PUT", "-H", "Content-Type: application/xml", "--data-binary", rssOf("three"), at), "204")
	expectAnswer(t, "an old version", curl(t, "-H", bearer, "-H", "If-Match: "+tag, "-T", file, at), "412")
	expectAnswer(t, "a wrong password", curl(t, "-u", "alice:x", "-T", file, at), "401", "Www-Authenticate: Basic")
	expectAnswer(t, "a page", curl(t, "-H", bearer, "-X", "PUT", "-H", "Content-Type:", "--data-binary", "<html><title>x</title></html>", at), "422", "This is an HTML page, not a feed.")
	expectAnswer(t, "packed", curl(t, "--compressed", r.base+"/alice/feed.html"), "200")
	expectAnswer(t, "converted", curl(t, "-G", "--data-urlencode", "url="+r.base+"/alice/rss.xml", "--data", "to=csv", r.base+"/convert"), "200", "three")
	expectAnswer(t, "another version", curl(t, "-H", bearer, "-X", "PUT", "-H", "Content-Type:", "--data-binary", rssOf("three and four"), at), "204")
	wait(t, "each version is listed by the title of the feed", func() bool {
		_, list := tryGet(r.base + "/changes.xml")
		return strings.Count(list, `<weblog name="Alice"`) > 2 && strings.Count(list, "<weblog ") == strings.Count(list, `<weblog name="Alice"`)
	})
	expectAnswer(t, "converted at once", curl(t, "-G", "--data-urlencode", "url="+r.base+"/alice/rss.xml", "--data", "to=csv", r.base+"/convert"), "200", "three and four")
	for _, more := range []string{"?x=1", "?format=atom&x=1", "#x"} { // a cache would store each of these URLs separately
		expectAnswer(t, "converted by another spelling", curl(t, "-G", "--data-urlencode", "url="+r.base+"/alice/rss.xml"+more, "--data", "to=csv", r.base+"/convert"), "404")
	}
	expectAnswer(t, "the page", curl(t, r.base+"/alice/"), "200", "application/atom", "three")
	expectAnswer(t, "the end", curl(t, "-H", bearer, "-X", "DELETE", at), "204")
	expectAnswer(t, "ended", curl(t, r.base+"/alice/feed.atom"), "410", "<newLocation/>")
	if _, err := admin.RestoreFeed(t.Context(), "alice", "rss"); err != nil {
		t.Fatal(err)
	}
	if _, err := admin.MoveFeed(t.Context(), "alice", "rss", "https://b.example/feed"); err != nil {
		t.Fatal(err)
	}
	expectAnswer(t, "moved", curl(t, at), "301", "https://b.example/feed", "<newLocation>https://b.example/feed</newLocation>")
	if _, err := admin.DisableUser(t.Context(), "alice", true); err != nil {
		t.Fatal(err)
	}
	expectAnswer(t, "a disabled user", curl(t, "-u", basic, "-T", file, at), "401")
	expectAnswer(t, "a disabled user's token", curl(t, "-H", bearer, "-T", file, at), "401")
}

// lines is a writer that collects log lines.
type lines struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(b)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func TestPrivateFeedIsNotDisclosed(t *testing.T) {
	t.Parallel()
	var log lines
	r := startWith(t, conf(t, t.TempDir()), slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})))
	admin := r.addAlice()
	secret, err := admin.NewSecret(t.Context(), "alice", "Bob the reader")
	if err != nil {
		t.Fatal(err)
	}
	const word = "unheard-of"
	expectAnswer(t, "put", curl(t, "-u", "alice:"+alicePassword, "-X", "PUT", "--data-binary", rssOf(word), r.base+"/alice/private/rss.xml"), "201")
	plain := secret.Access.Password
	path := "/alice/private/" + secret.Selector + "." + plain + "/rss.xml"
	if !strings.HasSuffix(secret.Access.URL, path) {
		t.Errorf("reported URL: %s", secret.Access.URL)
	}
	expectAnswer(t, "by address", curl(t, r.base+path), "200", word, "private, no-store", "no-referrer")
	expectAnswer(t, "by Basic", curl(t, "-u", secret.Access.Name+":"+plain, r.base+"/alice/private/feed.atom"), "200", word)
	header := "X-WSSE: " + wsse.Header(secret.Selector, plain, time.Now(), nil)
	expectAnswer(t, "by WSSE", curl(t, "-H", header, r.base+"/alice/private/feed.json"), "200", word)
	expectAnswer(t, "by the same WSSE", curl(t, "-H", header, r.base+"/alice/private/feed.json"), "401", "WSSE", "Basic")
	expectAnswer(t, "by a wrong address", curl(t, r.base+"/alice/private/"+secret.Selector+".x/rss.xml"), "404")
	expectAnswer(t, "by nobody", curl(t, r.base+"/alice/private/rss.xml"), "401")

	public := strings.Replace(r.base, "127.0.0.1", "localhost", 1)
	cloud := newSubscriber(t)
	for _, topic := range []string{public + path, r.base + path, public + "/alice/private/rss.xml", strings.Replace(public, "localhost", "LOCALHOST", 1) + path,
		strings.Replace(public, "localhost", "localhost.", 1) + path,
		public + "/alice/./private" + strings.TrimPrefix(path, "/alice/private"), public + strings.Replace(path, "private", "%70rivate", 1), "http://another.name.example" + path} {
		for _, form := range []url.Values{{"url": {topic}}, {"hub.mode": {"publish"}, "hub.url": {topic}}, {"hub.mode": {"subscribe"}, "hub.topic": {topic}, "hub.callback": {cloud.URL}}} {
			post(t, r.base+"/ping", form)
			post(t, r.base+"/hub", form)
		}
		get(t, r.base+"/pingSiteForm?name=x&url="+url.QueryEscape(topic))
		if _, body := post(t, r.base+"/rsscloud/pleaseNotify", cloud.form(topic, "")); strings.Contains(body, `success="true"`) {
			t.Errorf("%s can be followed", topic)
		}
		expectAnswer(t, "convert", curl(t, "-G", "--data-urlencode", "url="+topic, "--data", "to=csv", r.base+"/convert"), "404")
	}
	for _, page := range []string{"/", "/log", "/changes.xml", "/topics", "/status", "/alice/", "/alice/rss.xml", "/alice/feed.json"} {
		_, body := tryGet(r.base + page)
		for _, s := range []string{word, plain, "Bob the reader"} {
			if strings.Contains(body, s) {
				t.Errorf("%s has %q", page, s)
			}
		}
	}
	events, err := r.app.Hub().Store.Events(t.Context(), hub.EventQuery{Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		if strings.Contains(e.Text+e.Topic, word) || e.Kind == event.KindSave {
			t.Errorf("the event %+v contains it", e)
		}
	}
	if _, err := admin.NewSecret(t.Context(), "zoe", "x"); err == nil {
		t.Error("an unknown user has a river")
	}
	if err := admin.RevokeSecret(t.Context(), "alice", secret.Selector); err != nil {
		t.Fatal(err)
	}
	expectAnswer(t, "by a revoked address", curl(t, r.base+path), "404")
	for _, s := range []string{plain, secret.Selector + ".", word, alicePassword} {
		if strings.Contains(log.String(), s) {
			t.Errorf("the log has %q:\n%s", s, log.String())
		}
	}
}

func TestSaveNotAnnouncedBeforeStopIsAnnouncedAfterStart(t *testing.T) {
	t.Parallel()
	cfg := conf(t, t.TempDir())
	cfg.PublicURL = "http://hub.example"
	r := start(t, cfg)
	admin := r.addAlice()
	if _, err := admin.SaveFeed(t.Context(), "alice", author.Public, "", []byte(rssOf("one"))); err != nil {
		t.Fatal(err)
	}
	recordingServer := newSubscriber(t)
	if _, body := post(t, r.base+"/rsscloud/pleaseNotify", recordingServer.form("http://hub.example/alice/rss.xml", "")); !strings.Contains(body, `success="true"`) {
		t.Fatal(body)
	}
	recordingServer.wait(t, "the test call")
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	// This is the state after a crash that happens directly after the feed was saved to disk.
	s, err := store.Open(t.Context(), store.Options{Dir: cfg.Data})
	if err != nil {
		t.Fatal(err)
	}
	hash := sha256.Sum256([]byte(rssOf("two")))
	_, _, err = s.SaveDocument(t.Context(), author.Saving{
		User: "alice", Name: author.Public, At: time.Now(), Type: "application/rss+xml", Bytes: []byte(rssOf("two")), Hash: hash[:],
	})
	if cerr := s.Close(); err != nil || cerr != nil {
		t.Fatal(err, cerr)
	}
	start(t, cfg)
	if got := recordingServer.wait(t, "the notification of the version"); got != "http://hub.example/alice/rss.xml" {
		t.Errorf("received %s", got)
	}
}

// TestRouteNamesAreReservedUserNames checks that no user can have the name of a route, because
// such a route takes precedence over the pages and feeds of the user.
func TestRouteNamesAreReservedUserNames(t *testing.T) {
	t.Parallel()
	literal := regexp.MustCompile("[\"`](?:(?:GET|POST|HEAD|PUT) )?/([a-z0-9_-]{1,32})[\"`/?{]")
	found := 0
	for _, dir := range []string{".", "../web", "../endpoint", "../endpoint/hubhttp", "../endpoint/publishhttp", "../endpoint/readhttp", "../../protocol/rsscloud", "../../protocol/weblogs", "../../protocol/cnws", "../../protocol/websub"} {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatal(dir, err)
		}
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range literal.FindAllSubmatch(text, -1) {
				found++
				if slices.Contains([]string{"sched", "2006", "feedupdated"}, string(m[1])) {
					continue // not a route, but a metric, a year, or a callback path in an example
				}
				if !slices.Contains(account.Reserved(), string(m[1])) {
					t.Errorf("%s: /%s is not reserved", name, m[1])
				}
			}
		}
	}
	if found < 20 {
		t.Errorf("only %d addresses were found", found)
	}
}

// TestSavedFeedContainsCloudElement saves a feed without a <cloud> element, and checks that the
// server adds its own. A subscriber then registers at this <cloud>.
func TestSavedFeedContainsCloudElement(t *testing.T) {
	t.Parallel()
	w := newWebSubHub(t, nil)
	admin := w.addAlice()
	public := strings.Replace(w.base, "127.0.0.1", "localhost", 1)
	save := func(item string) {
		t.Helper()
		if _, err := admin.SaveFeed(t.Context(), "alice", client.PublicFeed, "", []byte(rssOf(item))); err != nil {
			t.Fatal(err)
		}
		w.rest(t)
	}
	add := func(on bool) client.SavedFeed {
		t.Helper()
		f, err := admin.AddCloud(t.Context(), "alice", on)
		if err != nil {
			t.Fatal(err)
		}
		w.rest(t)
		return f
	}
	if _, err := admin.AddCloud(t.Context(), "alice", true); !client.IsNotFound(err) {
		t.Errorf("before anything was saved: %v", err)
	}
	save("one")
	follower := newRecordingServer(t, nil)
	w.subscribe(t, public+"/alice/rss.xml", follower.URL)
	if f := add(true); !f.AddCloud || f.Warning != "" || f.Version != 2 {
		t.Errorf("switched on: %+v", f)
	}
	_, served := get(t, w.base+"/alice/rss.xml")
	w.same(t, follower.await(t, http.MethodPost, 1)[0], public+"/alice/rss.xml", "application/rss+xml; charset=utf-8", served)
	cloud, err := rsscloud.FindCloud([]byte(served), public+"/alice/rss.xml")
	if err != nil {
		t.Fatalf("%v in %s", err, served)
	}
	at, err := cloud.RegisterURL()
	if err != nil {
		t.Fatal(err)
	}
	s := newSubscriber(t)
	if code, body := post(t, at, s.form(public+"/alice/rss.xml", "yes")); code != http.StatusOK || !strings.Contains(body, `success="true"`) {
		t.Fatalf("pleaseNotify at %s: %d %s", at, code, body)
	}
	save("two")
	if got := s.wait(t, "the new version"); got != public+"/alice/rss.xml" {
		t.Errorf("notified of %s", got)
	}
	add(true)
	save("two")
	if n := len(follower.got(http.MethodPost)); n != 2 {
		t.Errorf("what changes nothing was delivered: %d deliveries", n)
	}
	add(false)
	pushed := follower.await(t, http.MethodPost, 3)
	w.same(t, pushed[2], public+"/alice/rss.xml", "application/rss+xml; charset=utf-8", rssOf("two"))
}
