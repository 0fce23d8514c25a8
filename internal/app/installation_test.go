package app

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cloudburst/client"
	"cloudburst/internal/account"
	"cloudburst/internal/config"
	"cloudburst/internal/hub/clock"
	"cloudburst/internal/route"
	"cloudburst/internal/store"
)

func TestServerRecognizesItselfAtItsPublicURL(t *testing.T) {
	t.Parallel()
	a := &App{cfg: config.Default()}
	mux := http.NewServeMux()
	route.Mount(mux, routing{a}.health(), nil)
	own := httptest.NewServer(mux)
	defer own.Close()
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer other.Close()
	broken := httptest.NewServer(http.NotFoundHandler())
	defer broken.Close()
	for _, tt := range []struct {
		url  string
		self bool
		err  string
	}{{own.URL, true, ""}, {other.URL, false, ""}, {broken.URL, false, "404"}, {"http://127.0.0.1:1", false, "refused"}} {
		a.cfg.PublicURL = tt.url
		r := examination{a}.reach(t.Context())
		if !r.Tried || r.Self != tt.self || (r.Err == "") != (tt.err == "") || !strings.Contains(r.Err, tt.err) || strings.Contains(r.Err, probeParam) {
			t.Errorf("%s: %+v", tt.url, r)
		}
	}
	if len(a.probes.sent) != 0 {
		t.Errorf("%d probes are remembered", len(a.probes.sent))
	}
	a.probes.arrive("an unknown token")
	if len(a.probes.sent) != 0 {
		t.Error("an unknown probe is remembered")
	}
}

func TestDataFolderCheckLeavesNoFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f := examineFolder(dir)
	if f.Err != "" || f.Sync <= 0 || f.Mode.Perm() == 0 {
		t.Errorf("%+v", f)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("%v %v", left, err)
	}
	if f := examineFolder(filepath.Join(dir, "gone")); !strings.Contains(f.Err, "no such file") {
		t.Errorf("%+v", f)
	}
}

func TestLastBackupIsStored(t *testing.T) {
	t.Parallel()
	a := &App{cfg: config.Config{Data: t.TempDir()}}
	if b := knownBackup(a.cfg.Data); !b.At.IsZero() {
		t.Errorf("%+v", b)
	}
	now := time.UnixMilli(1_790_000_000_123).UTC()
	a.backedUp("/backup/copy.db", 7, now)
	if b := knownBackup(a.cfg.Data); b != (lastBackup{"/backup/copy.db", 7, now}) {
		t.Errorf("%+v", b)
	}
}

func TestDoctorVerifiesTheLastBackup(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	st, err := store.Open(t.Context(), store.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	a := &App{cfg: config.Config{Data: dir}, clock: &clock.Steady{}}
	content := func() client.Finding {
		t.Helper()
		found, err := examination{a}.installation(t.Context(), st.(examiner))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range found.Findings {
			if f.ID == "backup-content" {
				return f
			}
		}
		return client.Finding{}
	}
	if f := content(); f.ID != "" {
		t.Errorf("without a backup: %+v", f)
	}
	file := filepath.Join(t.TempDir(), "copy.db")
	if err := st.Backup(t.Context(), file); err != nil {
		t.Fatal(err)
	}
	a.backedUp(file, 1, time.Now())
	if f := content(); f.Level != "ok" {
		t.Errorf("a good one: %+v", f)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text[len(text)/2] ^= 1
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if f := content(); f.Level != "problem" || !strings.Contains(f.Text, file) {
		t.Errorf("a damaged one: %+v", f)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if f := content(); f.Level != "note" || !strings.Contains(f.Text, file) {
		t.Errorf("one that was moved away: %+v", f)
	}
}

func TestReachabilityCheckRecognizesOtherNodesOfTheCluster(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		key  string
		self bool
	}{{"the same", true}, {"another", false}} {
		a := &App{cfg: config.Default(), hosted: hosted{accounts: &account.Accounts{Key: []byte("the same")}}}
		b := &App{cfg: config.Default(), hosted: hosted{accounts: &account.Accounts{Key: []byte(tt.key)}}}
		mux := http.NewServeMux()
		route.Mount(mux, (routing{b}).health(), nil)
		other := httptest.NewServer(mux)
		defer other.Close()
		a.cfg.PublicURL = other.URL
		if r := (examination{a}).reach(t.Context()); r.Self != tt.self || r.Err != "" {
			t.Errorf("with %s key: %+v", tt.key, r)
		}
	}
}
