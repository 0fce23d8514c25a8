package app_test

import (
	"net/http"
	"slices"
	"testing"

	"cloudburst/internal/testfeed"
)

// The test feed is served like all other feeds: developers try their programs with it.
func TestTestFeedIsServedLikeOtherFeeds(t *testing.T) {
	t.Parallel()
	r := start(t, conf(t, t.TempDir()))
	send := func(method string, header ...string) *http.Response {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), method, r.base+testfeed.Path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		for pair := range slices.Chunk(header, 2) {
			req.Header.Add(pair[0], pair[1])
		}
		res, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		return res
	}
	first := send("GET", "Accept-Encoding", "gzip")
	if h := first.Header; first.StatusCode != http.StatusOK || h.Get("Content-Encoding") != "gzip" || h.Get("Vary") != "Accept-Encoding" || h.Get("Accept-Ranges") != "none" {
		t.Errorf("%d %v", first.StatusCode, h)
	}
	if res := send("GET", "If-None-Match", `"other"`, "If-None-Match", first.Header.Get("ETag")); res.StatusCode != http.StatusNotModified {
		t.Errorf("a request with two lists of tags: %d", res.StatusCode)
	}
	if res := send("OPTIONS", "Origin", "https://a.example", "Access-Control-Request-Method", "GET", "Access-Control-Request-Headers", "if-none-match"); res.StatusCode != http.StatusNoContent || res.Header.Get("Access-Control-Allow-Headers") == "" {
		t.Errorf("a preflight: %d %v", res.StatusCode, res.Header)
	}
	if res := send("DELETE"); res.StatusCode != http.StatusMethodNotAllowed || res.Header.Get("Allow") == "" {
		t.Errorf("DELETE: %d %v", res.StatusCode, res.Header)
	}
}
