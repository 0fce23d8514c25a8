package app_test

import (
	"context"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cloudburst/client"
	"cloudburst/internal/app"
	"cloudburst/internal/config"
	"cloudburst/internal/fault"
	"cloudburst/internal/store"
	"cloudburst/internal/store/storetest"
)

// inCommand opens the data as a command does without a server, and calls f.
func inCommand(t *testing.T, cfg config.Config, f func(c *client.Client)) {
	t.Helper()
	a, err := app.OpenCommand(t.Context(), cfg, slog.New(slog.NewTextHandler(t.Output(), nil)))
	if err != nil {
		t.Fatal(err)
	}
	api := httptest.NewServer(a.Admin())
	defer api.Close()
	f(&client.Client{Base: api.URL})
	if err := a.Close(); err != nil {
		t.Error(err)
	}
}

func wantError(t *testing.T, err error, text string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), text) {
		t.Errorf("error %v, want %q", err, text)
	}
}

func TestCommandsOnASharedDatabaseUseOnlyTheServersKey(t *testing.T) {
	t.Parallel()
	server := conf(t, t.TempDir())
	server.Database = storetest.Postgres(t)
	a, err := app.Open(t.Context(), server, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	inCommand(t, server, func(c *client.Client) {
		if _, err := c.AddUser(ctx, "alice", alicePassword); err != nil {
			t.Fatal(err)
		}
		if _, err := c.NewSecret(ctx, "alice", "the library"); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), "copy.db")
		b, err := c.BackupTo(ctx, client.BackupOptions{File: file, WithKey: true})
		if err != nil || b.Key != file+store.KeySuffix {
			t.Errorf("%+v, %v", b, err)
		}
	})

	keyless := server
	keyless.Data = filepath.Join(t.TempDir(), "none")
	other := server
	other.Data = t.TempDir()
	if err := os.WriteFile(filepath.Join(other.Data, store.KeyFile), []byte("MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, cfg := range map[string]config.Config{"no key": keyless, "another key": other} {
		t.Run(name, func(t *testing.T) {
			inCommand(t, cfg, func(c *client.Client) {
				if _, err := c.NewSecret(ctx, "alice", "the museum"); err == nil {
					t.Error("a secret was sealed with a key of this command")
				} else {
					wantError(t, err, "name the data folder of a server with --data")
				}
				file := filepath.Join(t.TempDir(), "copy.db")
				_, err := c.BackupTo(ctx, client.BackupOptions{File: file, WithKey: true})
				wantError(t, err, "the key of the readers' secrets is not known here")
				if left, err := os.ReadDir(filepath.Dir(file)); err != nil || len(left) != 0 {
					t.Errorf("%v, %v", left, err)
				}
				if _, err := c.BackupTo(ctx, client.BackupOptions{File: file + "2"}); err != nil {
					t.Error(err)
				}
				all, err := c.Secrets(ctx, "alice")
				if err != nil || len(all) != 1 {
					t.Errorf("%+v, %v", all, err)
				}
				found, err := c.Installation(ctx)
				if err != nil {
					t.Error(err)
				}
				for _, f := range found.Findings {
					if f.ID == "data-folder" && f.Level == "problem" || f.ID == "secret-key-fits" {
						t.Errorf("%+v", f)
					}
				}
			})
		})
	}
	if _, err := os.Stat(keyless.Data); err == nil {
		t.Error("the commands created a data folder")
	}
}

func TestCommandsDoNotUpdateTheSchema(t *testing.T) {
	t.Parallel()
	cfg := conf(t, t.TempDir())
	cfg.Database = storetest.Postgres(t)
	inCommand(t, cfg, func(*client.Client) {})
	storetest.Execute(t, cfg.Database, "DELETE FROM goose_db_version WHERE version_id > 30")
	_, err := app.OpenCommand(context.Background(), cfg, slog.New(slog.DiscardHandler))
	if fault.CodeOf(err) != fault.Unsupported || !strings.Contains(err.Error(), "has schema 30") {
		t.Error(err)
	}
}

func TestRunningSettingsContainChanges(t *testing.T) {
	t.Parallel()
	e, err := config.Load(config.Options{})
	if err != nil {
		t.Fatal(err)
	}
	cfg := conf(t, t.TempDir())
	cfg.Values = e.Values
	r := start(t, cfg)
	c := client.Admin{Client: &client.Client{Base: r.admin}}
	want := func(value, source, origin string) {
		t.Helper()
		all, err := c.Config(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(all, func(s client.Setting) bool { return s.Name == "accounts.registration" })
		if i < 0 || all[i].Value != value || all[i].Source != source || all[i].Origin != origin {
			t.Errorf("%d: %+v", i, all)
		}
	}
	want(cfg.Accounts.Registration, "default", "")
	if _, err := c.SetSetting(t.Context(), "accounts.registration", "open"); err != nil {
		t.Fatal(err)
	}
	want("open", "changed", "")
}
