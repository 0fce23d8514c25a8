package cli

import (
	"context"
	"io"
	"log/slog"

	"cloudburst/internal/app"
	"cloudburst/internal/config"
)

const version = app.Version

func openApp(ctx context.Context, cfg config.Config, log *slog.Logger, out io.Writer) (App, error) {
	a, err := app.Open(ctx, cfg, log)
	if err != nil {
		return nil, err
	}
	a.Out = out
	return a, nil
}
