package program

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// These are the packages of the program, and of the program with planted bugs in its store.
const (
	Real    = "cloudburst/cmd/cloudburst"
	Planted = "cloudburst/lab/planted"
)

// Builds builds programs and caches the executables, one for each package and list of flags. The
// zero value is ready to use. Builds is safe for concurrent use.
type Builds struct {
	mu  sync.Mutex
	dir string
	bin map[string]string // key: package and flags; value: path of the executable
}

// Build builds the program in package pkg if necessary, and returns the path of the executable.
func (b *Builds) Build(ctx context.Context, pkg string, flags ...string) (string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	args := append(slices.Clone(flags), pkg)
	key := strings.Join(args, " ")
	if b.bin[key] != "" {
		return b.bin[key], nil
	}
	if b.dir == "" {
		dir, err := os.MkdirTemp("", "cloudburst-built-*")
		if err != nil {
			return "", err
		}
		b.dir, b.bin = dir, map[string]string{}
	}
	bin := filepath.Join(b.dir, fmt.Sprintf("%s-%d", path.Base(pkg), len(b.bin)))
	cmd := exec.CommandContext(ctx, "go", append([]string{"build", "-o", bin}, args...)...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build: %w\n%s", err, out)
	}
	b.bin[key] = bin
	return bin, nil
}

// Remove deletes all built executables.
func (b *Builds) Remove() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.dir == "" {
		return nil
	}
	return os.RemoveAll(b.dir)
}
