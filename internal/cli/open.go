package cli

import (
	"context"
	"io"
	"log/slog"
	"os"

	"cloudburst/internal/app"
	"cloudburst/internal/config"
	"cloudburst/internal/systemd"
)

const version = app.Version

func openApp(ctx context.Context, cfg config.Config, log *slog.Logger, out io.Writer) (App, error) {
	service, err := systemd.FromEnviron(os.Environ(), os.Getpid())
	if err != nil {
		return nil, err
	}
	a, err := app.Open(ctx, cfg, log)
	if err != nil {
		return nil, err
	}
	a.Out, a.Service = out, service
	return a, nil
}
