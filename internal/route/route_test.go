package route

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func answer(text string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(text)) })
}

func TestMountAppliesTheAccessProtectionOfEachRoute(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	Mount(mux, []Route{
		{Method: "GET", Path: "/open", Handler: answer("open")},
		{Method: "GET", Path: "/mine", Handler: answer("mine"), Protection: Session},
		{Path: "/any", Handler: answer("any")},
	}, map[Protection]func(http.Handler) http.Handler{
		Session: func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = w.Write([]byte("session, "))
				next.ServeHTTP(w, r)
			})
		},
	})
	for _, c := range []struct {
		method, path string
		status       int
		want         string
	}{
		{"GET", "/open", 200, "open"},
		{"GET", "/mine", 200, "session, mine"},
		{"POST", "/mine", 405, "Method Not Allowed\n"},
		{"DELETE", "/any", 200, "any"},
	} {
		rec := httptest.NewRecorder()
		mux.ServeHTTP(rec, httptest.NewRequest(c.method, c.path, nil))
		if rec.Code != c.status || rec.Body.String() != c.want {
			t.Errorf("%s %s: %d %q, want %d %q", c.method, c.path, rec.Code, rec.Body, c.status, c.want)
		}
	}
}

func TestMountPanicsIfTheProtectionOfARouteIsMissing(t *testing.T) {
	t.Parallel()
	defer func() {
		if text, _ := recover().(string); !strings.Contains(text, "GET /mine has no wrapper for its protection token") {
			t.Errorf("Mount panicked with %q", text)
		}
	}()
	Mount(http.NewServeMux(), []Route{{Method: "GET", Path: "/mine", Handler: answer("mine"), Protection: Token}}, nil)
	t.Error("Mount did not panic")
}

func TestProtectionsArePrintedByName(t *testing.T) {
	t.Parallel()
	for p, want := range map[Protection]string{Public: "public", Session: "session", Token: "token", Admin: "admin", 9: "protection 9"} {
		if p.String() != want {
			t.Errorf("%d is %q, want %q", int(p), p, want)
		}
	}
}
