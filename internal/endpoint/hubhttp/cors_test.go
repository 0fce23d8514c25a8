package hubhttp

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"cloudburst/internal/route"
)

func TestEveryEndpointAnswersPreflightRequests(t *testing.T) {
	t.Parallel()
	mux, _ := listRoutes(t, &fakeChanges{}, nil)
	for path, methods := range map[string]string{
		"/":                   "GET, HEAD, POST, OPTIONS",
		"/RPC2":               "POST, OPTIONS",
		"/xmlrpc.php":         "POST, OPTIONS",
		"/alice/xmlrpc.php":   "POST, OPTIONS",
		"/soap":               "POST, OPTIONS",
		"/soap?wsdl":          "GET, HEAD, POST, OPTIONS",
		"/weblogUpdates":      "POST, OPTIONS",
		"/weblogUpdates?WSDL": "GET, HEAD, POST, OPTIONS",
		"/cnws":               "POST, OPTIONS",
		"/websub":             "GET, HEAD, POST, OPTIONS",
		"/ping":               "GET, POST, OPTIONS",
		"/rsscloud/ping":      "POST, OPTIONS",
		"/pingSiteForm":       "GET, HEAD, POST, OPTIONS",
		"/changes.xml":        "GET, HEAD, OPTIONS",
		"/2026/03/29/11.xml":  "GET, HEAD, OPTIONS",
	} {
		head := ask(mux, "OPTIONS", path, "Origin", "https://page.example", "Access-Control-Request-Method", "POST").Header()
		if head.Get("Allow") != methods || head.Get("Access-Control-Allow-Methods") != methods || head.Get("Access-Control-Allow-Origin") != "*" {
			t.Errorf("OPTIONS %s: %s, want %s", path, head, methods)
		}
		if !strings.Contains(head.Get("Access-Control-Allow-Headers"), "Prefer") {
			t.Errorf("OPTIONS %s: %s", path, head)
		}
		if path == "/" || strings.HasPrefix(path, "/2026/") || strings.HasPrefix(path, "/alice/") { // http.ServeMux rejects other methods
			continue
		}
		for _, method := range []string{"GET", "HEAD", "PUT"} {
			if w := ask(mux, method, path); w.Code == http.StatusMethodNotAllowed && w.Header().Get("Allow") != methods {
				t.Errorf("%s %s: Allow is %q, want %q", method, path, w.Header().Get("Allow"), methods)
			}
		}
	}
}

func TestWebPagesMayReadRetryTimesOutcomesAndValidators(t *testing.T) {
	t.Parallel()
	mux, _ := listRoutes(t, &fakeChanges{}, nil)
	for path, want := range map[string]string{"/RPC2": "Retry-After", "/websub": "X-Hub-Outcome", "/changes.xml": "ETag", "/2026/03/29/11.xml": "ETag"} {
		if got := ask(mux, "GET", path).Header().Get("Access-Control-Expose-Headers"); !strings.Contains(got, want) {
			t.Errorf("%s exposes %q, want %s", path, got, want)
		}
	}
	allowed := ask(mux, "OPTIONS", "/changes.xml").Header().Get("Access-Control-Allow-Headers")
	for _, want := range []string{"If-None-Match", "If-Modified-Since"} {
		if !strings.Contains(allowed, want) {
			t.Errorf("the request header %s is not allowed: %s", want, allowed)
		}
	}
	bare := http.NewServeMux()
	route.Mount(bare, (&Endpoints{Hub: &fakeHub{}}).Routes(), nil)
	w := httptest.NewRecorder()
	bare.ServeHTTP(w, httptest.NewRequest("POST", "/", strings.NewReader("no call")))
	if w.Code != http.StatusUnsupportedMediaType || w.Header().Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("a rejected POST to the root: %d %s", w.Code, w.Header())
	}
}
