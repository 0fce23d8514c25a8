package cli

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"

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
		keepTemporaryFiles(cfg.Data)
		a := app.New(cfg, log)
		a.Out, a.Service, a.OpenStore = out, service, open
		return errors.Join(a.Run(ctx), a.Close())
	}
}

// keepTemporaryFiles makes this process create temporary files in the data folder, unless TMPDIR is
// set. Uploads can be larger than /tmp, which is in memory on many systems.
func keepTemporaryFiles(data string) {
	dir, err := filepath.Abs(filepath.Join(data, app.TemporaryFolder))
	if os.Getenv("TMPDIR") == "" && err == nil {
		_ = os.Setenv("TMPDIR", dir) // if this fails, the files are in the folder of the system
	}
}

// openApp implements [shell.Shell.Open].
func openApp(ctx context.Context, cfg config.Config, log *slog.Logger) (shell.App, error) {
	a, err := app.OpenCommand(ctx, cfg, log)
	if err != nil {
		return nil, err
	}
	return a, nil
}
