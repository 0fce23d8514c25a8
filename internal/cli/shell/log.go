package shell

import (
	"log/slog"

	"cloudburst/internal/config"
)

// Logger returns a logger that writes to standard error.
func (p *Shell) Logger(l config.Log) *slog.Logger {
	o := &slog.HandlerOptions{Level: l.SlogLevel()}
	if l.Format == "json" {
		return slog.New(slog.NewJSONHandler(p.Err, o))
	}
	return slog.New(slog.NewTextHandler(p.Err, o))
}
