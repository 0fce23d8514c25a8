package app

import (
	"log"
	"log/slog"
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
