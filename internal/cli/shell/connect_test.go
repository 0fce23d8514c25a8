package shell

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"cloudburst/internal/config"
	"cloudburst/internal/fault"
)

// adminListener imitates the admin listener of a server with a configuration. It returns its address.
func adminListener(t *testing.T, c config.Config) string {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for name, values := range c.ServerHeader(c.Data) {
			w.Header()[name] = values
		}
		fmt.Fprint(w, `{"version":"1"}`)
	}))
	t.Cleanup(srv.Close)
	return strings.TrimPrefix(srv.URL, "http://")
}

// folder returns a new data folder that contains the address of a server, unless addr is "".
func folder(t *testing.T, addr string) string {
	t.Helper()
	dir := t.TempDir()
	if addr == "" {
		return dir
	}
	for name, text := range map[string]string{adminFile: addr, config.ServerIDFile: dir} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

var errOpened = errors.New("the command opens the data itself")

// connected returns the address of the server that a command with these flags calls; the error is
// errOpened if the command calls no server.
func connected(t *testing.T, environ []string, open error, args ...string) (string, error) {
	t.Helper()
	p := &Shell{Err: io.Discard, Environ: environ, Open: func(context.Context, config.Config, *slog.Logger) (App, error) { return nil, open }}
	var where string
	c := ServerFlags(&cobra.Command{RunE: func(c *cobra.Command, _ []string) error {
		s, err := p.Connect(c, true)
		if err == nil {
			where = s.Where
		}
		return err
	}})
	c.SilenceErrors, c.SilenceUsage = true, true
	c.SetArgs(args)
	return where, c.ExecuteContext(t.Context())
}

func TestCommandCallsOnlyAServerWithItsData(t *testing.T) {
	t.Parallel()
	const url = "postgres://u:secret@db.example/hub"
	mine := t.TempDir()
	own := adminListener(t, config.Config{Data: mine})
	for name, text := range map[string]string{adminFile: own, config.ServerIDFile: mine} {
		if err := os.WriteFile(filepath.Join(mine, name), []byte(text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	other := adminListener(t, config.Config{Data: t.TempDir()})
	database := adminListener(t, config.Config{Data: t.TempDir(), Database: url})
	crashed := folder(t, other)
	for _, tt := range []struct {
		name    string
		environ []string
		args    []string
		want    string // address of the server; "": none
	}{
		{"running server", nil, []string{"--data", mine}, own},
		{"address that another server uses now", nil, []string{"--data", crashed}, ""},
		{"folder without an address", nil, []string{"--data", folder(t, "")}, ""},
		{"listener of another server in a variable", []string{"CLOUDBURST_ADMIN_LISTEN=" + other}, []string{"--data", folder(t, "")}, ""},
		{"listener of another server, own server runs", []string{"CLOUDBURST_ADMIN_LISTEN=" + other}, []string{"--data", mine}, own},
		{"listener in a variable, nothing names the data", []string{"CLOUDBURST_ADMIN_LISTEN=" + other}, nil, other},
		{"named server", nil, []string{"--data", crashed, "--server", other}, other},
		{"server by the former name of the flag", nil, []string{"--data", crashed, "--admin.listen", other}, other},
		{"server in a variable", []string{"CLOUDBURST_SERVER=" + other}, nil, other},
		{"server and folder in variables", []string{"CLOUDBURST_SERVER=" + other, "CLOUDBURST_DATA=" + mine}, nil, other},
		{"server in a variable, folder by flag", []string{"CLOUDBURST_SERVER=" + other}, []string{"--data", mine}, own},
		{"database of a running server", nil, []string{"--data", folder(t, database), "--database", url}, database},
		{"database, and a server without one", nil, []string{"--data", mine, "--database", url}, ""},
		{"database in a variable, and a server without one", []string{"CLOUDBURST_DATABASE=" + url}, []string{"--data", mine}, ""},
		{"other database", nil, []string{"--data", folder(t, database), "--database", "postgres://u:secret@db.example/other"}, ""},
	} {
		got, err := connected(t, tt.environ, errOpened, tt.args...)
		if got != tt.want || tt.want == "" != errors.Is(err, errOpened) {
			t.Errorf("%s: the command calls %q, want %q; %v", tt.name, got, tt.want, err)
		}
	}
	if b, err := os.ReadFile(filepath.Join(crashed, adminFile)); err != nil || string(b) != other+"\n" {
		t.Errorf("the address in the folder changed: %q, %v", b, err)
	}
}

func TestOnlyALockedFolderCountsAsUsedByAnotherProcess(t *testing.T) {
	t.Parallel()
	other := adminListener(t, config.Config{Data: t.TempDir()})
	dir := folder(t, other)
	_, err := connected(t, nil, fault.New(fault.Conflict, "locked"), "--data", dir)
	if want := "the server at " + other + " uses other data, but another cloudburst process uses the data folder " + dir; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
	newer := fault.New(fault.Unsupported, "The database has schema 9999: a newer cloudburst wrote it.")
	if _, err := connected(t, nil, newer, "--data", dir); !errors.Is(err, newer) || err.Error() != newer.Msg {
		t.Errorf("%v, want %v", err, newer)
	}
}
