package sqlite

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cloudburst/internal/fault"
	"cloudburst/internal/store/hubtest"
	"cloudburst/internal/store/storetest"
)

// firstFolder returns a data folder with the first schema.
func firstFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := earlierSchema(t.Context(), filepath.Join(dir, File), storetest.Migrations(t, 1), hubtest.FirstRows()); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestOlderSchemaIsKeptOnRequest(t *testing.T) {
	t.Parallel()
	dir := firstFolder(t)
	_, err := Open(t.Context(), Options{Dir: dir, KeepSchema: true})
	if fault.CodeOf(err) != fault.Unsupported || !strings.Contains(err.Error(), "has schema 1,") || !strings.Contains(err.Error(), "start the server") {
		t.Error(err)
	}
	hubtest.Migrated(t, open(t, Options{Dir: dir}))
}

func TestKeepSchemaCreatesAndOpensTheNewestSchema(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for range 2 {
		s, err := Open(t.Context(), Options{Dir: dir, KeepSchema: true})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestBackupOfAFolderKeepsItsSchema(t *testing.T) {
	t.Parallel()
	dir, file := firstFolder(t), filepath.Join(t.TempDir(), "copy.db")
	if err := BackupFolder(t.Context(), dir, file); err != nil {
		t.Fatal(err)
	}
	e, err := Examine(t.Context(), file)
	if err != nil || e.Schema != 1 || e.SHA256 == "" {
		t.Fatalf("%+v, %v", e, err)
	}
	if _, err := OpenCopy(t.Context(), file); err == nil || !strings.Contains(err.Error(), "restore it to a data folder") {
		t.Error(err)
	}
	if err := BackupFolder(t.Context(), dir, filepath.Join(t.TempDir(), "gone", "copy.db")); err == nil || strings.Contains(err.Error(), "was removed") {
		t.Error(err)
	}
	restored := t.TempDir()
	if _, err := Restore(t.Context(), file, restored, false, moment()); err != nil {
		t.Fatal(err)
	}
	hubtest.Migrated(t, open(t, Options{Dir: restored}))
	if err := BackupFolder(t.Context(), t.TempDir(), file+"2"); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("of an empty folder: %v", err)
	}
}

func TestErrorNamesTheFileOfAnotherUser(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can give a file to another user")
	}
	dir := t.TempDir()
	file := filepath.Join(dir, File)
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := folderFault(os.ErrPermission, dir); strings.Contains(err.Error(), "another user") {
		t.Error(err)
	}
	if err := os.Chown(file, 65534, 65534); err != nil {
		t.Skip(err)
	}
	if err := folderFault(os.ErrPermission, dir); !strings.Contains(err.Error(), file+" belongs to another user") {
		t.Error(err)
	}
}
