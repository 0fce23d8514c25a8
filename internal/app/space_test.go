package app_test

import (
	"bytes"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"cloudburst/client"
)

// logged is a log buffer that can be read while the program writes to it.
type logged struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logged) count(text string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.b.String(), text)
}

// TestNearlyFullDiskIsReportedWhileWritesContinue fills the disk so that less than an eighth of
// the space is free.
func TestNearlyFullDiskIsReportedWhileWritesContinue(t *testing.T) {
	t.Parallel()
	dir := tmpfs(t, "16m")
	log := &logged{}
	r := startWith(t, conf(t, dir), slog.New(slog.NewTextHandler(log, nil)))
	f, s := newFeed(t), newSubscriber(t)
	feed := f.URL + "/rss.xml"
	if code, body := get(t, r.admin+"/readyz"); code != http.StatusOK {
		t.Fatalf("before: %d %s", code, body)
	}
	ballast := filepath.Join(dir, "ballast")
	fill(t, ballast)
	info, err := os.Stat(ballast)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(ballast, info.Size()-1<<20); err != nil {
		t.Fatal(err)
	}
	for _, base := range []string{r.base, r.admin} {
		if code, body := get(t, base+"/readyz"); code != http.StatusServiceUnavailable || body != "the disk of the data folder is nearly full\n" {
			t.Errorf("%s/readyz: %d %s", base, code, body)
		}
		if code, _ := get(t, base+"/healthz"); code != http.StatusOK {
			t.Errorf("%s/healthz: %d", base, code)
		}
	}
	// The disk still has space for these requests, so the server accepts them.
	if code, body := post(t, r.base+"/rsscloud/pleaseNotify", s.form(feed, "yes")); code != 200 || !strings.Contains(body, `success="true"`) {
		t.Errorf("pleaseNotify: %d %s", code, body)
	}
	if !accepted(r.base, feed) {
		t.Error("a ping was refused")
	}
	s.wait(t, "the change")
	if _, body := get(t, r.base+"/status"); !strings.Contains(body, "nearly full") || !strings.Contains(body, "disk.min-free") {
		t.Error("the status page has no warning")
	}
	if _, body := get(t, r.admin+"/metrics"); !strings.Contains(body, "cloudburst_disk_free_bytes ") {
		t.Error("there is no metric of the free space")
	}
	found, err := (&client.Client{Base: r.admin}).Installation(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	problem := false
	for _, of := range found.Findings {
		problem = problem || of.ID == "data-space" && of.Level == "problem" && strings.Contains(of.Text, "disk.min-free")
	}
	if !problem {
		t.Errorf("the doctor finds %+v", found.Findings)
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	if code, body := get(t, r.base+"/readyz"); code != http.StatusOK {
		t.Errorf("afterwards: %d %s", code, body)
	}
	if n, m := log.count("nearly full"), log.count("enough free space again"); n != 1 || m != 1 {
		t.Errorf("the log has its begin %d times and its end %d times", n, m)
	}
}
