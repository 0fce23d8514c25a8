package app

import (
	"log"
	"log/slog"
	"strings"
)

// logWriter takes what net/http says of broken connections to the debug level:
// strangers can make it say anything, as often as they like.
type logWriter struct{ log *slog.Logger }

func (w *logWriter) Write(p []byte) (int, error) {
	w.log.Debug("http", "said", strings.TrimSpace(string(p)))
	return len(p), nil
}

func quiet(l *slog.Logger) *log.Logger { return log.New(&logWriter{l}, "", 0) }
