package publishhttp

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"cloudburst/internal/author"
)

// FuzzHostedFeedURL checks for all requests that private content needs the secret, that changes
// need the password, and that nothing panics.
func FuzzHostedFeedURL(f *testing.F) {
	d := newHarness(f)
	d.Hit = nil
	for name, item := range map[string]string{author.Public: "for-all", author.Private: "for-bob-alone"} {
		if _, err := d.authors.Save(f.Context(), "alice", name, []byte("<rss version='2.0'><channel><title>"+item+"</title></channel></rss>"), "test"); err != nil {
			f.Fatal(err)
		}
	}
	f.Add("GET", "/alice/rss.xml", "format=atom", "*/*", "", "")
	f.Add("GET", "/alice/feed", "", "text/html,application/xml;q=0.9,*/*;q=0.8", "", "")
	f.Add("GET", "/alice/private/sel1.x/rss.xml", "", "", "", "")
	f.Add("GET", "/alice/private/rss.xml", "", "", "Basic Ym9iOng=", "")
	f.Add("HEAD", "/alice/private/feed.json", "", "", "WSSE profile=\"UsernameToken\"", "UsernameToken Username=\"bob\", PasswordDigest=\"x\", Nonce=\"x\", Created=\"2026-03-01T12:00:00Z\"")
	f.Add("PUT", "/alice/rss.xml", "", "", "Bearer cb_x", "")
	f.Add("DELETE", "/alice/private/rss.xml", "", "", "Basic YWxpY2U6eA==", "")
	f.Fuzz(func(t *testing.T, method, path, query, accept, authorization, header string) {
		all := path + query + authorization + header
		if strings.Contains(all, goodSecret) || strings.Contains(all, goodPassword) || strings.Contains(all, tokenAll) || strings.Contains(all, tokenDelete) {
			t.Skip("it knows a secret")
		}
		r := (&http.Request{
			Method: method, URL: &url.URL{Path: path, RawQuery: query}, Host: "x", RemoteAddr: "192.0.2.1:1", Body: http.NoBody,
			Header: http.Header{"Accept": {accept}, "Authorization": {authorization}, "X-Wsse": {header}},
		}).WithContext(t.Context())
		w := httptest.NewRecorder()
		d.ServeHTTP(w, r)
		if strings.Contains(w.Body.String(), "for-bob-alone") {
			t.Fatalf("%s %q reveals private content: %d %s", method, path, w.Code, w.Body)
		}
		if strings.Contains(w.Body.String(), "for-all") && w.Header().Get("X-Content-Type-Options") != "nosniff" {
			t.Fatalf("%s %q is served without its headers", method, path)
		}
		for _, name := range []string{author.Public, author.Private} {
			if now, err := d.authors.Feed(t.Context(), "alice", name); err != nil || now.Version != 1 || now.Gone {
				t.Fatalf("%s %q changed the feed: %+v %v", method, path, now, err)
			}
		}
	})
}
