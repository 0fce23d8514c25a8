package fetch

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestSizeAndTypeOfAFileAreReadWithoutItsBody(t *testing.T) {
	t.Parallel()
	big := strings.Repeat("x", 1<<20)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		head := w.Header()
		switch r.URL.Path {
		case "/plain.mp3":
			head.Set("Content-Type", "audio/mpeg")
			http.ServeContent(w, r, "", time.Time{}, strings.NewReader(big))
		case "/vague", "/from":
			if r.Header.Get("Accept-Encoding") != "identity" {
				t.Error("the request accepts a compressed body, which has another size")
			}
			if r.URL.Path == "/from" {
				http.Redirect(w, r, "/vague", http.StatusFound)
				return
			}
			head.Set("Content-Type", "application/octet-stream")
			http.ServeContent(w, r, "", time.Time{}, strings.NewReader(big))
		case "/nohead":
			if r.Method == http.MethodHead {
				w.WriteHeader(http.StatusMethodNotAllowed)
				return
			}
			head.Set("Content-Type", "image/png")
			head.Set("Content-Length", strconv.Itoa(len(big)))
			_, _ = w.Write([]byte(big)) // the client stops reading early
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(srv.Close)
	c := New(Options{Guard: &Guard{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}, Bucket: -1})
	t.Cleanup(c.CloseIdle)
	for path, want := range map[string]About{
		"/plain.mp3": {URL: "/plain.mp3", Status: 200, Type: "audio/mpeg", Length: 1 << 20},
		"/vague":     {URL: "/vague", Status: 206, Type: "application/octet-stream", Length: 1 << 20, Head: []byte(big[:AboutHead])},
		"/from":      {URL: "/vague", Status: 206, Type: "application/octet-stream", Length: 1 << 20, Head: []byte(big[:AboutHead])},
		"/nohead":    {URL: "/nohead", Status: 200, Type: "image/png", Length: 1 << 20, Head: []byte(big[:AboutHead])},
		"/none":      {URL: "/none", Status: 404, Type: "text/plain; charset=utf-8", Length: 19, Head: []byte("404 page not found\n")},
	} {
		got, err := c.About(t.Context(), srv.URL+path)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		got.URL = strings.TrimPrefix(got.URL, srv.URL)
		if diff := cmp.Diff(want, *got); diff != "" {
			t.Errorf("%s: %s", path, diff)
		}
	}
	guarded := New(Options{Bucket: -1})
	if _, err := guarded.About(t.Context(), srv.URL+"/plain.mp3"); KindOf(err) != Refused {
		t.Errorf("forbidden address: %v", err)
	}
}
