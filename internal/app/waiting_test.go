package app_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"cloudburst/internal/fulltest"
	"cloudburst/internal/store/storetest"
)

// node starts the program with a database, and waits until the program has written its addresses.
// The output of the program goes to log.
func node(t *testing.T, database string, log *lockedBuffer) *process {
	t.Helper()
	dir := t.TempDir()
	p := &process{cmd: command(t, dir, "--database", database, "--log.level", "info"), ended: make(chan struct{})}
	p.t = t
	p.cmd.Stderr = io.MultiWriter(log, t.Output())
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { _ = p.cmd.Wait(); close(p.ended) }() // the result is in ProcessState
	t.Cleanup(p.kill)
	p.base, p.admin = p.addr(dir, "listen.addr"), p.addr(dir, "admin.addr")
	return p
}

// wantWaiting checks the responses of a node that waits for its database. The log must contain
// reason.
func (p *process) wantWaiting(log *lockedBuffer, reason string) {
	p.t.Helper()
	t := p.t
	wait(t, "it logs that it waits", func() bool { return strings.Contains(log.String(), "waiting for the database") })
	for _, c := range []struct {
		url, want string
		code      int
	}{
		{p.base + "/healthz", "alive", http.StatusOK},
		{p.admin + "/healthz", "alive", http.StatusOK},
		{p.base + "/readyz", "waiting for its database", http.StatusServiceUnavailable},
		{p.admin + "/readyz", "waiting for its database", http.StatusServiceUnavailable},
		{p.base + "/", "waiting for its database", http.StatusServiceUnavailable},
		{p.base + "/rsscloud/ping", "waiting for its database", http.StatusServiceUnavailable},
		{p.admin + "/v1/status", `"code":"unavailable"`, http.StatusServiceUnavailable},
	} {
		res, err := http.Get(c.url)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		res.Body.Close()
		if err != nil || res.StatusCode != c.code || !strings.Contains(string(body), c.want) {
			t.Errorf("%s: %d %q (%v), want %d with %q", c.url, res.StatusCode, body, err, c.code, c.want)
		}
		if c.code != http.StatusOK && res.Header.Get("Retry-After") == "" {
			t.Errorf("%s: 503 without Retry-After", c.url)
		}
	}
	if !strings.Contains(log.String(), reason) || !strings.Contains(log.String(), "127.0.0.1:") || strings.Contains(log.String(), "geheim") {
		t.Errorf("the log needs the reason %q and the host, and no password:\n%s", reason, log)
	}
}

// wantReady waits until a node is ready, and checks that the node logged its wait.
func (p *process) wantReady(log *lockedBuffer) {
	p.t.Helper()
	wait(p.t, "it is ready", func() bool { code, _ := tryGet(p.base + "/readyz"); return code == http.StatusOK })
	if code, body := get(p.t, p.admin+"/v1/status"); code != http.StatusOK {
		p.t.Errorf("status: %d %s", code, body)
	}
	if n := strings.Count(log.String(), "waiting for the database"); n != 1 {
		p.t.Errorf("%d lines say that it waits, want 1:\n%s", n, log)
	}
	if n := strings.Count(log.String(), "the database is available"); n != 1 {
		p.t.Errorf("%d lines say that the database is available, want 1:\n%s", n, log)
	}
}

// wantCleanExit stops a node with SIGTERM and checks that its exit status is 0.
func (p *process) wantCleanExit() {
	p.t.Helper()
	p.signal(syscall.SIGTERM)
	if code := p.exit(); code != 0 {
		p.t.Errorf("after SIGTERM it exits with %d", code)
	}
}

// withPassword adds a password to the URL of a database, so that a test can search for this password
// in the log. The database server does not require a password.
func withPassword(address string) string {
	return strings.Replace(address, "cloudburst@", "cloudburst:geheim@", 1)
}

func TestServerStartsBeforeTheDatabaseIsAvailable(t *testing.T) {
	t.Parallel()
	fulltest.Needs(t, "PostgreSQL")
	cluster, err := storetest.StartCluster()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Stop)
	database, err := cluster.Database("hub")
	if err != nil {
		t.Fatal(err)
	}
	cluster.Halt()
	var logs [3]lockedBuffer
	a, b, stopped := node(t, withPassword(database), &logs[0]), node(t, withPassword(database), &logs[1]), node(t, withPassword(database), &logs[2])
	a.wantWaiting(&logs[0], "connection refused")
	b.wantWaiting(&logs[1], "connection refused")
	stopped.wantWaiting(&logs[2], "connection refused")
	stopped.wantCleanExit()
	if err := cluster.Start(); err != nil {
		t.Fatal(err)
	}
	// Both nodes create the tables at the same time.
	a.wantReady(&logs[0])
	b.wantReady(&logs[1])
	f, s := newFeed(t), newSubscriber(t)
	if code, body := post(t, a.base+"/rsscloud/pleaseNotify", s.form(f.URL+"/rss.xml", "yes")); code != 200 || !strings.Contains(body, `success="true"`) {
		t.Errorf("pleaseNotify: %d %s", code, body)
	}
	if !accepted(b.base, f.URL+"/rss.xml") {
		t.Error("the other node does not take a ping")
	}
	a.wantCleanExit()
	b.wantCleanExit()
}

func TestServerWaitsForMigratingNode(t *testing.T) {
	t.Parallel()
	fulltest.Needs(t, "PostgreSQL")
	cluster, err := storetest.StartCluster("max_prepared_transactions=1")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Stop)
	database, err := cluster.Database("hub")
	if err != nil {
		t.Fatal(err)
	}
	cfg := conf(t, t.TempDir())
	cfg.Database = database
	if err := start(t, cfg).stop(); err != nil {
		t.Fatal(err)
	}
	// Until this transaction ends, it locks the table that contains the version of the tables.
	storetest.Execute(t, database, "BEGIN; LOCK TABLE goose_db_version IN ACCESS EXCLUSIVE MODE; PREPARE TRANSACTION 'migration'")
	var log, stopped lockedBuffer
	p, q := node(t, withPassword(database), &log), node(t, withPassword(database), &stopped)
	p.wantWaiting(&log, "another node is migrating its tables")
	q.wantWaiting(&stopped, "another node is migrating its tables")
	q.wantCleanExit()
	storetest.Execute(t, database, "COMMIT PREPARED 'migration'")
	p.wantReady(&log)
	p.wantCleanExit()
}

// stalling is a proxy for a database. It forwards nothing until the test opens it.
type stalling struct {
	net.Listener
	open chan struct{}
}

func newStalling(t *testing.T, database string) (s *stalling, through string) {
	t.Helper()
	u, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s = &stalling{l, make(chan struct{})}
	var group sync.WaitGroup
	carry := func(to, from net.Conn) {
		defer to.Close()
		select {
		case <-s.open:
		case <-t.Context().Done():
		}
		_, _ = io.Copy(to, from) // copy until one side closes its connection
	}
	target := u.Host
	group.Go(func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return // the listener is closed
			}
			far, err := net.Dial("tcp", target)
			if err != nil {
				near.Close()
				continue
			}
			group.Go(func() { carry(far, near) })
			group.Go(func() { carry(near, far) })
		}
	})
	t.Cleanup(func() { l.Close() })
	u.Host = l.Addr().String()
	return s, u.String()
}

func TestServerWaitsForStalledDatabase(t *testing.T) {
	t.Parallel()
	s, through := newStalling(t, storetest.Postgres(t))
	var log, stopped lockedBuffer
	p, q := node(t, through, &log), node(t, through, &stopped)
	p.wantWaiting(&log, "it does not answer")
	q.wantWaiting(&stopped, "it does not answer")
	q.wantCleanExit()
	close(s.open)
	p.wantReady(&log)
	p.wantCleanExit()
}

func TestInvalidDatabaseURLStopsTheServer(t *testing.T) {
	t.Parallel()
	fulltest.Needs(t, "PostgreSQL")
	hba := filepath.Join(os.TempDir(), fmt.Sprintf("cloudburst-hba-%d", os.Getpid()))
	if err := os.WriteFile(hba, []byte("host all alice 127.0.0.1/32 scram-sha-256\nhost all all 127.0.0.1/32 trust\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Remove(hba) })
	cluster, err := storetest.StartCluster("hba_file=" + hba)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Stop)
	database, err := cluster.Database("hub")
	if err != nil {
		t.Fatal(err)
	}
	other, err := cluster.Database("other")
	if err != nil {
		t.Fatal(err)
	}
	storetest.Execute(t, database, "CREATE ROLE alice LOGIN PASSWORD 'right'")
	storetest.Execute(t, other, "CREATE TABLE topic (name TEXT)")
	for name, c := range map[string]struct{ database, want string }{
		"wrong password":    {strings.Replace(database, "cloudburst@", "alice:geheim@", 1), "check the user and the password"},
		"unknown user":      {strings.Replace(database, "cloudburst@", "nobody@", 1), "check the user and the password"},
		"no such database":  {cluster.URL("missing"), "does not exist on that server"},
		"no such schema":    {database + "&search_path=nowhere", "create the schema that search_path names"},
		"tables of another": {other, "its tables belong to another program or were changed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := command(t, t.TempDir(), "--database", c.database)
			out, err := cmd.CombinedOutput()
			if code := cmd.ProcessState.ExitCode(); code != 1 || !strings.Contains(string(out), c.want) || strings.Contains(string(out), "geheim") {
				t.Errorf("exit status %d (%v), want 1 and %q without the password:\n%s", code, err, c.want, out)
			}
		})
	}
}
