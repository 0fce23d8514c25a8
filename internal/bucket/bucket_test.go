package bucket_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/rclone/gofakes3"
	"github.com/rclone/gofakes3/s3mem"

	"cloudburst/internal/bucket"
	"cloudburst/internal/fault"
)

const keyID, secret = "AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"

// storage starts an S3 server in memory that verifies signatures, with an empty bucket "files", and
// returns the URL of the bucket. before receives each request first and reports whether it has answered
// the request; nil: the server answers all.
func storage(t *testing.T, before func(w http.ResponseWriter, r *http.Request) bool) string {
	t.Helper()
	backend := s3mem.New()
	if err := backend.CreateBucket(t.Context(), "files"); err != nil {
		t.Fatal(err)
	}
	server := gofakes3.New(backend, gofakes3.WithV4Auth(map[string]string{keyID: secret})).Server()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if before == nil || !before(w, r) {
			server.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL + "/files"
}

func open(t *testing.T, o bucket.Options) *bucket.Bucket {
	t.Helper()
	if o.KeyID == "" {
		o.KeyID, o.Secret = keyID, secret
	}
	b, err := bucket.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func put(t *testing.T, b *bucket.Bucket, key, content string) error {
	t.Helper()
	sum := sha256.Sum256([]byte(content))
	return b.Put(t.Context(), key, "text/plain", int64(len(content)), hex.EncodeToString(sum[:]), func() io.Reader { return strings.NewReader(content) })
}

func TestObjectIsReadInRangesUntilItIsDeleted(t *testing.T) {
	t.Parallel()
	b := open(t, bucket.Options{URL: storage(t, nil)})
	content := strings.Repeat("0123456789", 100_000)
	if err := put(t, b, "ABC-1/x", content); err != nil {
		t.Fatal(err)
	}
	for _, r := range [][2]int{{0, 10}, {999_990, 10}, {5, 500_000}, {0, len(content)}} {
		got, err := b.Read(t.Context(), "ABC-1/x", int64(r[0]), r[1])
		if err != nil || !bytes.Equal(got, []byte(content[r[0]:r[0]+r[1]])) {
			t.Errorf("%d bytes from %d: %d bytes, %v", r[1], r[0], len(got), err)
		}
	}
	if _, err := b.Read(t.Context(), "ABC-1/x", 999_995, 10); fault.CodeOf(err) != fault.Unavailable {
		t.Errorf("beyond the end: %v", err)
	}
	for range 2 {
		if err := b.Delete(t.Context(), "ABC-1/x"); err != nil {
			t.Errorf("delete: %v", err)
		}
	}
	if _, err := b.Read(t.Context(), "ABC-1/x", 0, 1); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("a deleted object: %v", err)
	}
	if err := b.Check(t.Context()); err != nil {
		t.Errorf("check: %v", err)
	}
}

func TestStorageErrorIsReportedOnlyToTheOperator(t *testing.T) {
	t.Parallel()
	at := storage(t, nil)
	for name, o := range map[string]bucket.Options{
		"SignatureDoesNotMatch": {URL: at, KeyID: keyID, Secret: "wrong"},
		"InvalidAccessKeyId":    {URL: at, KeyID: "UNKNOWN", Secret: secret},
		"NoSuchBucket":          {URL: strings.TrimSuffix(at, "files") + "absent"},
	} {
		err := put(t, open(t, o), "x", "content")
		e, ok := errors.AsType[*fault.Error](err)
		if !ok || e.Code != fault.Unavailable || strings.Contains(e.Msg, "127.0.0.1") || e.Err == nil || !strings.Contains(e.Err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestStorageVerifiesTheHashOfAnUpload(t *testing.T) {
	t.Parallel()
	// The server in memory does not compare the hash with the content, so this test compares it.
	var sent atomic.Value
	b := open(t, bucket.Options{URL: storage(t, func(_ http.ResponseWriter, r *http.Request) bool {
		sent.Store(r.Header.Get("X-Amz-Content-Sha256"))
		return false
	})})
	if err := put(t, b, "x", "content"); err != nil {
		t.Fatal(err)
	}
	if sum := sha256.Sum256([]byte("content")); sent.Load() != hex.EncodeToString(sum[:]) {
		t.Errorf("the signed hash is %v", sent.Load())
	}
}

func TestFailedRequestIsRepeatedOnce(t *testing.T) {
	t.Parallel()
	for failures, want := range map[int32]fault.Code{1: -1, 2: fault.Unavailable} {
		var left atomic.Int32
		left.Store(failures)
		b := open(t, bucket.Options{URL: storage(t, func(w http.ResponseWriter, r *http.Request) bool {
			if left.Add(-1) < 0 {
				return false
			}
			_, _ = io.Copy(io.Discard, r.Body)
			http.Error(w, "slow down", http.StatusServiceUnavailable)
			return true
		})})
		err := put(t, b, "x", "content")
		if want == -1 && err != nil || want != -1 && fault.CodeOf(err) != want {
			t.Errorf("%d failures: %v", failures, err)
		}
	}
}

func TestErrorNamesTheInvalidBucketOption(t *testing.T) {
	t.Parallel()
	for _, o := range []bucket.Options{
		{URL: "", KeyID: "a", Secret: "b"}, {URL: "s3.example.org/files", KeyID: "a", Secret: "b"}, {URL: "ftp://s3.example.org/files", KeyID: "a", Secret: "b"},
		{URL: "https://u:p@s3.example.org/files", KeyID: "a", Secret: "b"}, {URL: "https://s3.example.org/files"},
	} {
		if _, err := bucket.New(o); err == nil {
			t.Errorf("%+v was accepted", o)
		}
	}
}
