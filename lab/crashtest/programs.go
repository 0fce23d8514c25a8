package crashtest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"sync"
)

// The packages of the program, and of the one whose store has faults.
const (
	Real    = "cloudburst/cmd/cloudburst"
	Planted = "cloudburst/lab/planted"
)

// Programs are programs that were built, once each. The zero value is ready; it is safe for
// concurrent use.
type Programs struct {
	mu  sync.Mutex
	dir string
	bin map[string]string
}

// Build makes the program of a package, where it was not made before, and returns its file.
func (p *Programs) Build(ctx context.Context, pkg string) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bin[pkg] != "" {
		return p.bin[pkg], nil
	}
	if p.dir == "" {
		dir, err := os.MkdirTemp("", "cloudburst-built-*")
		if err != nil {
			return "", err
		}
		p.dir, p.bin = dir, map[string]string{}
	}
	bin := filepath.Join(p.dir, path.Base(pkg))
	cmd := exec.CommandContext(ctx, "go", "build", "-o", bin, pkg)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build: %w\n%s", err, out)
	}
	p.bin[pkg] = bin
	return bin, nil
}

// Remove removes all that was built.
func (p *Programs) Remove() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.dir == "" {
		return nil
	}
	return os.RemoveAll(p.dir)
}
