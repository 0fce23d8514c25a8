package config

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"
)

func TestServerHasTheSameDataOnlyWithTheSameFolderOrDatabase(t *testing.T) {
	t.Parallel()
	folder := func(id string) string {
		dir := t.TempDir()
		if id == "" {
			return dir
		}
		if err := os.WriteFile(filepath.Join(dir, ServerIDFile), []byte(id+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	const url = "postgres://u:secret@db.example/hub"
	server, withDatabase := Config{}.ServerHeader("1"), Config{Database: url}.ServerHeader("1")
	for _, tt := range []struct {
		name    string
		server  http.Header
		command Config
		want    bool
	}{
		{"same folder", server, Config{Data: folder("1")}, true},
		{"folder of another server", server, Config{Data: folder("2")}, false},
		{"folder without a server", server, Config{Data: folder("")}, false},
		{"missing folder", server, Config{Data: filepath.Join(folder(""), "none")}, false},
		{"folder of a server with a database", withDatabase, Config{Data: folder("1")}, true},
		{"server of an older version", http.Header{}, Config{Data: folder("")}, true},
		{"another program", http.Header{}, Config{Data: folder("1")}, false},
		{"same database", withDatabase, Config{Database: url}, true},
		{"same database in another spelling", withDatabase, Config{Database: "postgresql://u:other@DB.example:5432/hub?sslmode=disable"}, true},
		{"other database", withDatabase, Config{Data: folder("1"), Database: "postgres://u@db.example/other"}, false},
		{"other user of the database", withDatabase, Config{Database: "postgres://v@db.example/hub"}, false},
		{"database and a server without one", server, Config{Data: folder("1"), Database: url}, false},
	} {
		if got := tt.command.SameData(tt.server); got != tt.want {
			t.Errorf("%s: %v; %v", tt.name, got, tt.server)
		}
	}
}
