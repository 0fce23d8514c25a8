package cli

import (
	"os"
	"path/filepath"
	"testing"

	"cloudburst/internal/app"
)

func TestTemporaryFilesAreInTheDataFolderUnlessTMPDIRIsSet(t *testing.T) {
	data := t.TempDir()
	t.Setenv("TMPDIR", "")
	keepTemporaryFiles(data)
	if got, want := os.TempDir(), filepath.Join(data, app.TemporaryFolder); got != want {
		t.Errorf("without TMPDIR, temporary files are in %s, want %s", got, want)
	}
	t.Setenv("TMPDIR", data)
	keepTemporaryFiles(t.TempDir())
	if got := os.TempDir(); got != data {
		t.Errorf("with TMPDIR, temporary files are in %s, want %s", got, data)
	}
}
