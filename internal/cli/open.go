package cli

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"

	"cloudburst/internal/app"
	"cloudburst/internal/config"
	"cloudburst/internal/systemd"
)

const version = app.Version

// serveApp is [Program.Serve] of the real program.
func serveApp(ctx context.Context, cfg config.Config, log *slog.Logger, out io.Writer) error {
	service, err := systemd.FromEnviron(os.Environ(), os.Getpid())
	if err != nil {
		return err
	}
	a := app.New(cfg, log)
	a.Out, a.Service = out, service
	return errors.Join(a.Run(ctx), a.Close())
}

// openApp is [Program.Open] of the real program.
func openApp(ctx context.Context, cfg config.Config, log *slog.Logger) (App, error) {
	a, err := app.Open(ctx, cfg, log)
	if err != nil {
		return nil, err
	}
	return a, nil
}
