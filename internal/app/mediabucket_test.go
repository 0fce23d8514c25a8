package app_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/rclone/gofakes3"
	"github.com/rclone/gofakes3/s3mem"

	"cloudburst/client"
	"cloudburst/protocol/micropub"
)

// TestUploadsAreStoredInTheBucket uploads one file to the database. It restarts the server with a
// bucket and uploads another file to the bucket. The server must serve both files, and an upload
// must fail while the storage fails.
func TestUploadsAreStoredInTheBucket(t *testing.T) {
	t.Parallel()
	backend := s3mem.New()
	if err := backend.CreateBucket(t.Context(), "files"); err != nil {
		t.Fatal(err)
	}
	server := gofakes3.New(backend, gofakes3.WithV4Auth(map[string]string{"key": "secret"})).Server()
	var broken atomic.Bool
	storage := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if broken.Load() {
			http.Error(w, "broken", http.StatusInternalServerError)
			return
		}
		server.ServeHTTP(w, r)
	}))
	t.Cleanup(storage.Close)
	stored := func() int {
		list, err := backend.ListBucket(t.Context(), "files", nil, gofakes3.ListBucketPage{})
		if err != nil {
			t.Fatal(err)
		}
		return len(list.Contents)
	}

	cfg := conf(t, t.TempDir())
	r := start(t, cfg)
	token, err := r.addAlice().NewToken(t.Context(), "alice", client.TokenRequest{Label: "phone", Scopes: []string{"create", "media"}})
	if err != nil {
		t.Fatal(err)
	}
	upload := func(content string) (path string, err error) {
		c := &micropub.Client{Endpoint: r.base + "/micropub", Token: token.Token}
		at, err := c.Upload(t.Context(), r.base+"/micropub/media", &micropub.Upload{Name: "note.txt", Type: "text/plain", Reader: strings.NewReader(content)})
		if err != nil {
			return "", err
		}
		u, err := url.Parse(at)
		if err != nil {
			return "", err
		}
		return u.Path, nil
	}
	first, err := upload("in the database")
	if err != nil {
		t.Fatal(err)
	}
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}

	cfg.Media.Bucket, cfg.Media.BucketKey, cfg.Media.BucketSecret = storage.URL+"/files", "key", "secret"
	r = start(t, cfg)
	large := strings.Repeat("0123456789", 250_000)
	second, err := upload(large)
	if err != nil {
		t.Fatal(err)
	}
	wait(t, "the check of the bucket ends", func() bool { return stored() == 1 })
	for path, want := range map[string]string{first: "in the database", second: large} {
		if code, body := get(t, r.base+path); code != http.StatusOK || body != want {
			t.Errorf("%s: %d, %d bytes", path, code, len(body))
		}
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, r.base+second, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Range", "bytes=1048570-1048589")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if part, err := io.ReadAll(res.Body); err != nil || res.StatusCode != http.StatusPartialContent || string(part) != "01234567890123456789" {
		t.Errorf("a range: %d %q %v", res.StatusCode, part, err)
	}

	finding := func() client.Finding {
		t.Helper()
		found, err := (&client.Client{Base: r.admin}).Installation(t.Context())
		i := slices.IndexFunc(found.Findings, func(f client.Finding) bool { return f.ID == "bucket" })
		if err != nil || i < 0 {
			t.Fatalf("%+v, %v", found, err)
		}
		return found.Findings[i]
	}
	if f := finding(); f.Level != "ok" {
		t.Errorf("%+v", f)
	}
	broken.Store(true)
	if f := finding(); f.Level != "problem" || !strings.Contains(f.Text, cfg.Media.Bucket+" is not usable: ") {
		t.Errorf("%+v", f)
	}
	if path, err := upload("lost"); err == nil || !strings.Contains(err.Error(), "The file storage is not available.") {
		t.Errorf("an upload to a broken storage: %q %v", path, err)
	}
}
