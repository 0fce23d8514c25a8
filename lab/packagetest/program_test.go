package packagetest

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"cloudburst/internal/fulltest"
)

const top = "../.."

var built struct {
	sync.Once
	dir, file string
	err       error
	out       []byte
}

func TestMain(m *testing.M) {
	code := m.Run()
	os.RemoveAll(built.dir)
	os.Exit(code)
}

// program builds the program with the flags of a release, and returns the path of the executable.
func program(t *testing.T) string {
	t.Helper()
	fulltest.Needs(t, "a build of the program")
	built.Do(func() {
		if built.dir, built.err = os.MkdirTemp("", "cloudburst-package-"); built.err != nil {
			return
		}
		built.file = filepath.Join(built.dir, "cloudburst")
		cmd := exec.Command("packaging/build.sh", built.file)
		cmd.Dir = top
		built.out, built.err = cmd.CombinedOutput()
	})
	if built.err != nil {
		t.Fatalf("%v\n%s", built.err, built.out)
	}
	return built.file
}

// run runs a command in the folder of the project and returns its standard output.
func run(t *testing.T, env []string, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir, cmd.Env = top, append(os.Environ(), env...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s%s", name, strings.Join(args, " "), err, out, errs.Bytes())
	}
	return string(out)
}

func read(t *testing.T, name string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(top, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}
