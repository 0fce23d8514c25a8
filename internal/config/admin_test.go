package config

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"
)

func TestServerHasTheSameDataOnlyWithTheSameFolderOrDatabase(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	folder, link := filepath.Join(dir, "a ü"), filepath.Join(dir, "link")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(folder, link); err != nil {
		t.Fatal(err)
	}
	in := func(data, database string) Config { return Config{Data: data, Database: database} }
	const url = "postgres://u:secret@db.example/hub"
	for _, tt := range []struct {
		name            string
		server, command Config
		want            bool
	}{
		{"same folder", in(folder, ""), in(folder, ""), true},
		{"same folder by another path", in(folder, ""), in(link, ""), true},
		{"other folder", in(folder, ""), in(dir, ""), false},
		{"missing folder", in(folder, ""), in(filepath.Join(dir, "none"), ""), false},
		{"folder of a server with a database", in(folder, url), in(folder, ""), true},
		{"same database", in(folder, url), in(dir, url), true},
		{"same database with another password", in(folder, url), in(dir, "postgres://u:other@db.example/hub"), true},
		{"other database", in(folder, url), in(folder, "postgres://u@db.example/other"), false},
		{"database and a server without one", in(folder, ""), in(folder, url), false},
	} {
		if got := tt.command.SameData(tt.server.DataHeader()); got != tt.want {
			t.Errorf("%s: %v; %v", tt.name, got, tt.server.DataHeader())
		}
	}
	if in(dir, "").SameData(http.Header{}) {
		t.Error("another program counts as a server with the same data")
	}
}
