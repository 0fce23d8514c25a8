package app

import (
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestPanicOfAHandlerIsLoggedAndAnswered(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	next := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		switch r.URL.Path {
		case "/begun":
			_, _ = io.WriteString(w, "half") // the test sees a missing response
		case "/flushed":
			_ = http.NewResponseController(w).Flush() // the test sees a missing response
		case "/abort":
			panic(http.ErrAbortHandler)
		}
		panic("a bug")
	})
	h := recovering(slog.New(slog.NewTextHandler(&log, nil)), next)
	for path, want := range map[string]struct {
		status int
		logged bool
	}{
		"/page": {500, true}, "/begun": {0, true}, "/flushed": {0, true}, "/abort": {0, false},
	} {
		log.Reset()
		w := httptest.NewRecorder()
		status := func() (status int) {
			defer func() {
				if p, ok := recover().(error); ok && errors.Is(p, http.ErrAbortHandler) {
					status = 0
				}
			}()
			h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, http.NoBody))
			return w.Code
		}()
		if status != want.status {
			t.Errorf("%s: status %d, want %d", path, status, want.status)
		}
		if got := strings.Contains(log.String(), `panic="a bug"`) && strings.Contains(log.String(), "httperrors_internal_test.go"); got != want.logged {
			t.Errorf("%s: the log is %q", path, &log)
		}
		if status == 500 && w.Header().Get("Content-Type") != "text/plain; charset=utf-8" {
			t.Errorf("%s: the header is %v", path, w.Header())
		}
	}
}
