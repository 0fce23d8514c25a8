package app

import (
	"context"
	"log/slog"
	"testing"

	"cloudburst/internal/config"
	"cloudburst/internal/store"
)

// countedSecrets counts how often the secrets are counted.
type countedSecrets struct {
	store.Store
	n int
}

func (c *countedSecrets) SecretKeys(ctx context.Context) (map[string]int64, error) {
	c.n++
	return c.Store.SecretKeys(ctx)
}

func TestCommandOnASharedDatabaseCountsSecretsOnce(t *testing.T) {
	t.Parallel()
	cfg := config.Default()
	cfg.Data, cfg.Accounts.SecretKey = t.TempDir(), "0123456789abcdef"
	a, err := OpenCommand(t.Context(), cfg, slog.New(slog.NewTextHandler(t.Output(), nil)))
	if err != nil {
		t.Fatal(err)
	}
	a.cfg.Database = "postgres://shared"
	st := &countedSecrets{Store: a.store.(store.Store)}
	if err := (hosting{a}).newHosted(t.Context(), st); err != nil {
		t.Error(err)
	}
	if st.n != 1 {
		t.Errorf("the secrets were counted %d times", st.n)
	}
	if err := a.Close(); err != nil {
		t.Error(err)
	}
}
