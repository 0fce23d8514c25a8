package operatecli

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cloudburst/internal/cli/shell"
	"cloudburst/internal/config"
	"cloudburst/internal/fault"
	"cloudburst/internal/store"
)

func TestBackupCopiesAFolderWithTheSchemaOfAnotherVersion(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, err := store.Open(t.Context(), store.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, store.KeyFile), []byte("the key\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	run := func(args ...string) int {
		out.Reset()
		errs.Reset()
		p := inShell(shell.Shell{Out: &out, Err: &errs, Open: func(context.Context, config.Config, *slog.Logger) (shell.App, error) {
			return nil, fault.New(fault.Unsupported, "The database has schema 1.")
		}})
		return p.Run(t.Context(), append([]string{"backup", "--with-key"}, args...))
	}
	folder := t.TempDir()
	file := filepath.Join(folder, "copy.db")
	if code := run("--data", dir, file); code != shell.ExitOK || !strings.Contains(out.String(), "Wrote "+file) || !strings.Contains(errs.String(), "the schema of another version") {
		t.Errorf("exit code %d: %s%s", code, out.String(), errs.String())
	}
	if sum, err := store.VerifyBackup(t.Context(), file); err != nil || sum == "" {
		t.Errorf("%q, %v", sum, err)
	}
	if key, err := os.ReadFile(file + store.KeySuffix); err != nil || string(key) != "the key\n" {
		t.Errorf("%q, %v", key, err)
	}
	if b, err := os.ReadFile(filepath.Join(dir, "backup.json")); err != nil || !strings.Contains(string(b), file) {
		t.Errorf("the backup is not recorded: %s, %v", b, err)
	}
	old := filepath.Join(folder, "cloudburst-20200101T000000Z.db")
	if err := os.WriteFile(old, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if code := run("--data", dir, "--keep", "1", folder); code != shell.ExitOK || !strings.Contains(out.String(), "Removed "+old) {
		t.Errorf("exit code %d: %s%s", code, out.String(), errs.String())
	}
	if code := run("--data", dir, "--database", "postgres://u@127.0.0.1:1/d", "--server", "", file+"2"); code != shell.ExitFailure || !strings.Contains(errs.String(), "has schema 1") {
		t.Errorf("of PostgreSQL: exit code %d: %s%s", code, out.String(), errs.String())
	}
	if err := os.Remove(filepath.Join(dir, store.KeyFile)); err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(t.TempDir(), "keyless.db")
	if code := run("--data", dir, file); code != shell.ExitFailure || !strings.Contains(errs.String(), store.KeyFile) {
		t.Errorf("without a key: exit code %d: %s%s", code, out.String(), errs.String())
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("a backup without the key was written")
	}
}

func TestRestoreNamesTheKeyNextToTheBackup(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "copy.db")
	var errs bytes.Buffer
	p := inShell(shell.Shell{Err: &errs})
	p.printMissingKey(file)
	if !strings.HasPrefix(errs.String(), "No key ") {
		t.Errorf("without a key: %s", errs.String())
	}
	if err := os.WriteFile(file+".key", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	errs.Reset()
	p.printMissingKey(file)
	if !strings.Contains(errs.String(), "copy "+file+".key to the data folder of each server as secret.key") {
		t.Error(errs.String())
	}
}
