package fetch

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestValidatorsAreSentOnlyToTheirURL(t *testing.T) {
	t.Parallel()
	got := map[string]string{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got[r.URL.Path] = r.Header.Get("If-None-Match") + "|" + r.Header.Get("Referer") + "|" + r.Header.Get("Cookie") + "|" + r.UserAgent() + "|" + r.Header.Get("Accept-Encoding")
		if r.URL.Path == "/old" {
			w.Header().Set("Set-Cookie", "a=b")
			http.Redirect(w, r, "/new", http.StatusFound)
			return
		}
		w.WriteHeader(http.StatusNotModified)
	}))
	t.Cleanup(srv.Close)
	const rest = "|||Tester/1|gzip, br, deflate"
	for of, want := range map[string]string{"": `"x"` + rest + " " + `"x"` + rest, "/old": `"x"` + rest + " " + rest, "/new": rest + " " + `"x"` + rest} {
		r := Request{URL: srv.URL + "/old", ETag: `"x"`, UserAgent: "Tester/1"}
		if of != "" {
			r.ValidatorsURL = srv.URL + of
		}
		res, err := newTestClient(t, Options{UserAgent: "Other"}).Get(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		if s := got["/old"] + " " + got["/new"]; s != want || res.NotModified != (of != "/old") {
			t.Errorf("validators of %q: sent %s, not modified %v", of, s, res.NotModified)
		}
	}
}

func TestTraceRecordsRequestsWithoutSecrets(t *testing.T) {
	t.Parallel()
	var private []string
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		private = append(private, r.Header.Get("X-Key"))
		w.Header().Set("X-Long", strings.Repeat("long ", 1000)+"\xff")
	}))
	t.Cleanup(other.Close)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		private = append(private, r.Header.Get("X-Key"))
		w.Header().Set("Set-Cookie", "hidden=1")
		http.Redirect(w, r, other.URL+"/there", http.StatusFound)
	}))
	t.Cleanup(srv.Close)
	var tr Trace
	u := strings.Replace(srv.URL, "http://", "http://me:hidden@", 1) + "/feed?x=y"
	_, err := newTestClient(t, Options{}).Get(t.Context(), Request{URL: u, ETag: `"v"`, Private: http.Header{"x-key": {"hidden"}}, Trace: &tr})
	if err != nil {
		t.Fatal(err)
	}
	if len(private) != 2 || private[0] != "hidden" || private[1] != "" {
		t.Errorf("the hops saw %q", private)
	}
	for _, want := range []string{"GET /feed?x=y HTTP/1.1\nHost: ", "Authorization: …", "X-Key: …", `If-None-Match: "v"`, "\n\nGET /there"} {
		if !strings.Contains(tr.Sent, want) {
			t.Errorf("sent lacks %q:\n%s", want, tr.Sent)
		}
	}
	for _, want := range []string{"302 Found", "Set-Cookie: …", "HTTP/1.1 200 OK"} {
		if !strings.Contains(tr.Received, want) {
			t.Errorf("received lacks %q:\n%s", want, tr.Received)
		}
	}
	if strings.Contains(tr.Sent+tr.Received, "hidden") || len(tr.Sent) > maxTrace || len(tr.Received) > maxTrace {
		t.Errorf("%s\n%s", tr.Sent, tr.Received)
	}
}
