package app

import (
	"log"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"
)

// logWriter logs the errors of net/http at debug level, because clients can cause any number of
// them.
type logWriter struct{ log *slog.Logger }

func (w *logWriter) Write(p []byte) (int, error) {
	w.log.Debug("HTTP server", "message", strings.TrimSpace(string(p)))
	return len(p), nil
}

func quiet(l *slog.Logger) *log.Logger { return log.New(&logWriter{l}, "", 0) }

// recovering returns a handler that logs a panic of next with its stack, and answers 500. If the
// response has begun, the connection is closed instead, so that the client does not take a part of
// the response for the whole.
func recovering(l *slog.Logger, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		out := &begunWriter{ResponseWriter: w}
		defer func() {
			p := recover()
			switch {
			case p == nil:
				return
			case p != http.ErrAbortHandler:
				l.Error("a request failed because of a bug", "method", r.Method, "path", r.URL.Path, "panic", p, "stack", string(debug.Stack()))
			}
			if out.begun || p == http.ErrAbortHandler {
				panic(http.ErrAbortHandler)
			}
			clear(w.Header())
			respond(w, http.StatusInternalServerError, "This request failed because of a bug in the server. The log of the server has the details.\n")
		}()
		next.ServeHTTP(out, r)
	})
}

// begunWriter records whether a response has begun.
type begunWriter struct {
	http.ResponseWriter
	begun bool
}

// Unwrap returns the underlying writer, as http.ResponseController requires.
func (w *begunWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *begunWriter) WriteHeader(status int) {
	w.begun = w.begun || status >= http.StatusOK
	w.ResponseWriter.WriteHeader(status)
}

func (w *begunWriter) Write(p []byte) (int, error) {
	w.begun = true
	return w.ResponseWriter.Write(p)
}

// FlushError sends the header and what was written, as http.ResponseController requires.
func (w *begunWriter) FlushError() error {
	w.begun = true
	return http.NewResponseController(w.ResponseWriter).Flush()
}
