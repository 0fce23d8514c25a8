package app_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"cloudburst/client"
	"cloudburst/internal/app"
	"cloudburst/internal/fulltest"
	"cloudburst/internal/store/storetest"
)

// tmpfs mounts a file system of the given size on a new folder.
func tmpfs(t *testing.T, size string) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		t.Fatalf("a small file system is needed for this and cannot be mounted (%v): run the tests as root", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// fill writes to a file until the file system is full.
func fill(t *testing.T, file string) {
	t.Helper()
	f, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for size := 64 << 10; size > 0; {
		if _, err := f.Write(make([]byte, size)); errors.Is(err, syscall.ENOSPC) {
			size /= 2
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

// protocolCall is one request to the hub. status is the status of a refusal.
type protocolCall struct {
	path, contentType, body string
	status                  int
	accepted, refused       string // accepted: text of a response that accepts the request; refused: text of a refusal
}

// confirmingCallback returns a callback that confirms every verification and ignores notifications.
func confirmingCallback(t *testing.T) (base string) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c := r.URL.Query().Get("hub.challenge"); c != "" {
			io.WriteString(w, c)
			return
		}
		w.Header().Set("Content-Type", "text/xml")
		io.WriteString(w, cnwsDocument("<result><status>true</status></result>"))
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func cnwsDocument(action string) string {
	return `<notification xmlns="http://www.owlfish.com/thoughts/cnws-2003-04-08.html" version="1.0">` + action + `</notification>`
}

func cnwsSubscribe(topic, callback string) string {
	return cnwsDocument("<subscribe><resourceID>" + topic + "</resourceID><notificationURL>" + callback + "</notificationURL></subscribe>")
}

func soapEnvelope(call string) string {
	return `<e:Envelope xmlns:e="http://schemas.xmlsoap.org/soap/envelope/"><e:Body>` + call + `</e:Body></e:Envelope>`
}

// rpcCall returns an XML-RPC call with string parameters.
func rpcCall(method string, params ...string) string {
	body := "<methodCall><methodName>" + method + "</methodName><params>"
	for _, p := range params {
		body += "<param><value>" + p + "</value></param>"
	}
	return body + "</params></methodCall>"
}

func websubForm(mode, topic, callback string) url.Values {
	return url.Values{"hub.mode": {mode}, "hub.callback": {callback}, "hub.topic": {topic}, "hub.secret": {"x"}}
}

// otherCalls returns calls of the protocols that the type subscriber does not implement. other is
// the base URL of their callbacks.
func otherCalls(feed, other string) map[string]protocolCall {
	const form, xml = "application/x-www-form-urlencoded", "text/xml"
	websub := func(mode string) string { return websubForm(mode, feed, other+"/websub").Encode() }
	const flerror, away = "<name>flerror</name><value><boolean>", " server"
	return map[string]protocolCall{
		"a WebSub request":                {"/websub", form, websub("subscribe"), 503, "202 ", away},
		"a WebSub request at /hub":        {"/hub", form, websub("subscribe"), 503, "202 ", away},
		"a WebSub request to end":         {"/websub", form, websub("unsubscribe"), 503, "202 ", away},
		"a WebSub publisher's ping":       {"/websub", form, url.Values{"hub.mode": {"publish"}, "hub.url": {feed}}.Encode(), 503, "204 ", away},
		"a CNWS subscription":             {"/cnws", xml, cnwsSubscribe(feed, other+"/cnws"), 503, "<status>true<", away},
		"a site's ping from a form":       {"/pingSiteForm", form, url.Values{"name": {"A site"}, "url": {feed}}.Encode(), 503, "Thanks for the ping", away},
		"a site's ping over XML-RPC":      {"/RPC2", xml, rpcCall("weblogUpdates.ping", "A site", feed), 200, flerror + "0<", flerror + "1<"},
		"a site's long ping over XML-RPC": {"/RPC2", xml, rpcCall("weblogUpdates.extendedPing", "A site", "http://a.test/", "", feed), 200, flerror + "0<", flerror + "1<"},
		"a site's ping over SOAP": {"/weblogUpdates", xml, soapEnvelope(`<ping xmlns="http://www.weblogs.com/"><weblogname>A site</weblogname><weblogurl>` + feed + `</weblogurl></ping>`),
			200, ">false</flerror>", ">true</flerror>"},
	}
}

// protocolCalls returns the calls that ping a feed and that register s for the feed. For
// protocols that s does not implement, other is the base URL of the callbacks.
func protocolCalls(feed string, s *subscriber, other string) map[string]protocolCall {
	const form, xml = "application/x-www-form-urlencoded", "text/xml"
	u, _ := url.Parse(s.URL) // httptest created the URL, so it is valid
	ping := url.Values{"url": {feed}}.Encode()
	register := func(path string) string {
		f := s.form(feed, "yes")
		f.Set("path", path)
		return f.Encode()
	}
	all := otherCalls(feed, other)
	maps.Copy(all, map[string]protocolCall{
		"a ping over REST":         {"/rsscloud/ping", form, ping, 503, `success="true"`, `success="false"`},
		"a ping over XML-RPC":      {"/RPC2", xml, `<methodCall><methodName>rssCloud.ping</methodName><params><param><value>` + feed + `</value></param></params></methodCall>`, 200, "<boolean>1<", "<int>4<"},
		"a ping over SOAP":         {"/soap", xml, soapEnvelope(`<ping xmlns="http://rsscloud.org/"><url>` + feed + `</url></ping>`), 500, ">true<", ":Server<"},
		"a registration over REST": {"/rsscloud/pleaseNotify", form, register("/rest"), 503, `success="true"`, `success="false"`},
		"a registration over XML-RPC": {"/RPC2", xml, `<methodCall><methodName>rssCloud.pleaseNotify</methodName><params><param><value></value></param><param><value><int>` + u.Port() +
			`</int></value></param><param><value>/rpc</value></param><param><value>http-post</value></param><param><value><array><data><value>` + feed +
			`</value></data></array></value></param><param><value>` + u.Hostname() + `</value></param></params></methodCall>`, 200, "<boolean>1<", "<int>4<"},
		"a cancel over REST": {"/rsscloud/cancel", form, register("/notify"), 503, `success="true"`, `success="false"`},
	})
	return all
}

// send sends the request once. ok reports whether the hub accepted it.
func (d protocolCall) send(t *testing.T, base string) (ok bool, answer string) {
	t.Helper()
	res, err := http.Post(base+d.path, d.contentType, strings.NewReader(d.body))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	answer = fmt.Sprintf("%d %s", res.StatusCode, body)
	if strings.Contains(answer, d.accepted) {
		return true, answer
	}
	if res.StatusCode != d.status || !strings.Contains(answer, d.refused) {
		t.Errorf("refused as %s; want status %d and %q", answer, d.status, d.refused)
	}
	return false, answer
}

// wantRefused checks that each protocol refuses its call in its own format. It also checks that
// /readyz reports 503 and that /healthz reports 200.
func wantRefused(t *testing.T, r *running, list map[string]protocolCall) {
	t.Helper()
	for name, d := range list {
		if ok, answer := d.send(t, r.base); ok {
			t.Errorf("%s was accepted: %s", name, answer)
		}
	}
	if code, body := get(t, r.base+"/readyz"); code != http.StatusServiceUnavailable {
		t.Errorf("readyz answers %d %s", code, body)
	}
	if code, body := get(t, r.base+"/healthz"); code != http.StatusOK {
		t.Errorf("healthz answers %d %s", code, body)
	}
}

func TestServerReportsFullDiskByEveryProtocolAndRecovers(t *testing.T) {
	t.Parallel()
	dir := tmpfs(t, "8m")
	cfg := conf(t, dir)
	cfg.Hub.PingInterval = time.Millisecond
	r := start(t, cfg)
	f, s, other := newFeed(t), newSubscriber(t), confirmingCallback(t)
	feed := f.URL + "/rss.xml"
	if code, body := post(t, r.base+"/rsscloud/pleaseNotify", s.form(feed, "yes")); code != 200 || !strings.Contains(body, `success="true"`) {
		t.Fatalf("pleaseNotify: %d %s", code, body)
	}
	if !accepted(r.base, feed) {
		t.Fatal("the first ping was refused")
	}
	s.wait(t, "the first change")
	ballast := filepath.Join(dir, "ballast")
	fill(t, ballast)
	// The database may still have free space in its own files, so the first pings may succeed.
	wait(t, "the full disk is reported by a ping and by readyz", func() bool {
		if accepted(r.base, feed) {
			return false
		}
		code, _ := tryGet(r.base + "/readyz")
		return code == http.StatusServiceUnavailable
	})
	before, err := r.app.Hub().Store.Counts(t.Context(), time.Now())
	if err != nil {
		t.Fatalf("a full disk can still be read: %v", err)
	}
	listed, err := r.app.Hub().Store.CountChanges(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	f.set("<rss><channel><title>two</title></channel></rss>")
	wantRefused(t, r, protocolCalls(feed, s, other))
	after, err := r.app.Hub().Store.Counts(t.Context(), time.Now())
	if err != nil || after != before {
		t.Errorf("a request was partially applied: %+v became %+v, %v", before, after, err)
	}
	if n, err := r.app.Hub().Store.CountChanges(t.Context()); err != nil || n != listed {
		t.Errorf("%d changes are listed, which were %d: %v", n, listed, err)
	}
	if n := len(s.received); n != 0 {
		t.Errorf("%d notifications of a change that is not on disk", n)
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	wait(t, "it is ready again", func() bool { code, _ := tryGet(r.base + "/readyz"); return code == http.StatusOK })
	if !accepted(r.base, feed) {
		t.Error("a ping is refused when there is room again")
	}
	if got := s.wait(t, "the change, when there is room again"); got != feed {
		t.Errorf("notified of %q", got)
	}
	for name, d := range protocolCalls(feed, s, other) {
		if ok, answer := d.send(t, r.base); !ok {
			t.Errorf("%s when there is room again: %s", name, answer)
		}
	}
}

// edit changes the database in dir with an SQL statement, without the program.
func edit(t *testing.T, dir, text string) {
	t.Helper()
	out, err := exec.Command("python3", "-c", "import sqlite3,sys\nc=sqlite3.connect(sys.argv[1]); c.execute(sys.argv[2]); c.commit(); c.close()",
		filepath.Join(dir, "cloudburst.db"), text).CombinedOutput()
	if err != nil {
		t.Fatalf("python3: %v\n%s", err, out)
	}
}

// usedFolder returns a data folder that the program has already used.
func usedFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	a, err := app.Open(t.Context(), conf(t, dir), slog.New(slog.DiscardHandler))
	if err == nil {
		err = a.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestFailedStartPrintsOneSentenceAsError(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(t *testing.T, dir string) (use string, args, want []string){
		"read-only folder": func(t *testing.T, _ string) (string, []string, []string) {
			dir := tmpfs(t, "4m")
			if err := syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
				t.Fatal(err)
			}
			return dir, nil, []string{dir, "--data"}
		},
		"full disk": func(t *testing.T, _ string) (string, []string, []string) {
			dir := tmpfs(t, "64k")
			fill(t, filepath.Join(dir, "ballast"))
			return dir, nil, []string{dir, "is full", "--data"}
		},
		"folder that is a file": func(t *testing.T, dir string) (string, []string, []string) {
			file := filepath.Join(dir, "file")
			if err := os.WriteFile(file, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			return file, nil, []string{file, "--data"}
		},
		"second process": func(t *testing.T, dir string) (string, []string, []string) {
			spawn(t, dir)
			return dir, nil, []string{dir, "Another cloudburst", "Stop it"}
		},
		"newer schema": func(t *testing.T, dir string) (string, []string, []string) {
			edit(t, dir, "INSERT INTO goose_db_version (version_id, is_applied) VALUES (9999, 1)")
			return dir, nil, []string{dir, "9999", "newer"}
		},
		"damaged file": func(t *testing.T, dir string) (string, []string, []string) {
			file := filepath.Join(dir, "cloudburst.db")
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, content[:len(content)/2], 0o600); err != nil {
				t.Fatal(err)
			}
			return dir, nil, []string{file, "damaged", "backup"}
		},
		"emptied file": func(t *testing.T, dir string) (string, []string, []string) {
			file := filepath.Join(dir, "cloudburst.db")
			if err := os.Truncate(file, 0); err != nil {
				t.Fatal(err)
			}
			return dir, nil, []string{file, "damaged", "backup"}
		},
		"address in use": func(t *testing.T, dir string) (string, []string, []string) {
			other := httptest.NewServer(http.NotFoundHandler())
			t.Cleanup(other.Close)
			addr := other.Listener.Addr().String()
			return dir, []string{"--listen", addr}, []string{addr, "another server"}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, args, want := prepare(t, usedFolder(t))
			cmd := command(t, dir, args...)
			var said bytes.Buffer
			cmd.Stderr = &said
			err := cmd.Run()
			exit, _ := errors.AsType[*exec.ExitError](err)
			if exit == nil || exit.ExitCode() != 1 {
				t.Fatalf("ended with %v; want exit status 1; output: %s", err, &said)
			}
			for _, w := range want {
				if !strings.Contains(said.String(), w) {
					t.Errorf("%q is missing in: %s", w, &said)
				}
			}
			if strings.Count(said.String(), "\n") != 1 || strings.Contains(said.String(), "secret") {
				t.Errorf("want one line without secrets, got: %s", &said)
			}
			t.Log(said.String())
		})
	}
}

// numbered is a feed whose content is a number.
type numbered struct {
	*feed
	n int
}

func (f *numbered) raise() {
	f.n++
	f.set(fmt.Sprintf("<rss><channel><title>%d</title></channel></rss>", f.n))
}

// TestServerRecoversFromDatabaseCrashUnderLoad makes the database server crash twice while the
// program is under load.
func TestServerRecoversFromDatabaseCrashUnderLoad(t *testing.T) {
	t.Parallel()
	fulltest.Needs(t, "PostgreSQL")
	cluster, err := storetest.StartCluster()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Stop)
	cfg := conf(t, t.TempDir())
	if cfg.Database, err = cluster.Database("away"); err != nil {
		t.Fatal(err)
	}
	cfg.Hub.PingInterval, cfg.Hub.CallbackTimeout = time.Millisecond, 5*time.Second
	r := start(t, cfg)
	s, other := newSubscriber(t), confirmingCallback(t)
	var last sync.Map // key: URL of the feed; value: time of its last notification
	var mu sync.Mutex
	var good, bad int
	ctx, stop := context.WithCancel(t.Context())
	var authors sync.WaitGroup
	go func() {
		for url := range s.received {
			last.Store(url, time.Now())
		}
	}()
	changed := map[string]time.Time{} // key: URL of the feed; value: time of its last acknowledged change
	var feeds []*numbered
	for range 4 {
		f := &numbered{feed: newFeed(t)}
		if code, body := post(t, r.base+"/rsscloud/pleaseNotify", s.form(f.URL+"/rss.xml", "yes")); code != 200 || !strings.Contains(body, `success="true"`) {
			t.Fatalf("pleaseNotify: %d %s", code, body)
		}
		feeds = append(feeds, f)
	}
	for _, f := range feeds {
		authors.Go(func() {
			for ctx.Err() == nil {
				f.raise()
				at := time.Now()
				ok := accepted(r.base, f.URL+"/rss.xml")
				mu.Lock()
				if ok {
					good++
					changed[f.URL+"/rss.xml"] = at
				} else {
					bad++
				}
				mu.Unlock()
				if !ok {
					<-time.After(20 * time.Millisecond) // refusals are fast, so a loop without a pause would use all processor time
				}
			}
		})
	}
	counted := func(n *int, more int) func() bool {
		mu.Lock()
		until := *n + more
		mu.Unlock()
		return func() bool { mu.Lock(); defer mu.Unlock(); return *n >= until }
	}
	for range 2 {
		wait(t, "pings are acknowledged", counted(&good, 50))
		cluster.Crash()
		wait(t, "pings are refused", counted(&bad, 20))
		wantRefused(t, r, protocolCalls(feeds[0].URL+"/rss.xml", s, other))
		if err := cluster.Start(); err != nil {
			t.Fatal(err)
		}
		wait(t, "it is ready again", func() bool { code, _ := tryGet(r.base + "/readyz"); return code == http.StatusOK })
	}
	wait(t, "pings are acknowledged again", counted(&good, 50))
	stop()
	authors.Wait()
	for url, at := range changed {
		wait(t, "each feed's last acknowledged change is delivered", func() bool {
			when, ok := last.Load(url)
			return ok && when.(time.Time).After(at)
		})
	}
	wait(t, "no work is pending", r.idle)
	t.Logf("%d pings acknowledged, %d refused", good, bad)
}

func TestBackupToAReadOnlyFolderNamesTheCause(t *testing.T) {
	t.Parallel()
	dir := tmpfs(t, "4m")
	if err := syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	r := start(t, conf(t, t.TempDir()))
	_, err := (&client.Client{Base: r.admin}).BackupTo(t.Context(), client.BackupOptions{File: filepath.Join(dir, "copy.db")})
	if err == nil || !strings.Contains(err.Error(), "open "+dir) || !strings.Contains(err.Error(), "read-only") || strings.Contains(err.Error(), "remove "+dir) {
		t.Error(err)
	}
}
