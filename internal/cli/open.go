package cli

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"

	"cloudburst/internal/app"
	"cloudburst/internal/cli/shell"
	"cloudburst/internal/config"
	"cloudburst/internal/store"
	"cloudburst/internal/systemd"
)

const version = app.Version

// ServeOn returns a function for [shell.Shell.Serve] that opens the store with open.
func ServeOn(open func(ctx context.Context, o store.Options) (store.Store, error)) func(context.Context, config.Config, *slog.Logger, io.Writer) error {
	return func(ctx context.Context, cfg config.Config, log *slog.Logger, out io.Writer) error {
		service, err := systemd.FromEnviron(os.Environ(), os.Getpid())
		if err != nil {
			return err
		}
		a := app.New(cfg, log)
		a.Out, a.Service, a.OpenStore = out, service, open
		return errors.Join(a.Run(ctx), a.Close())
	}
}

// openApp implements [shell.Shell.Open].
func openApp(ctx context.Context, cfg config.Config, log *slog.Logger) (shell.App, error) {
	a, err := app.Open(ctx, cfg, log)
	if err != nil {
		return nil, err
	}
	return a, nil
}
