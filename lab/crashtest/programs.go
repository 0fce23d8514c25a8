package crashtest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
)

// Programs are the program as it was built, once for each list of build tags. The zero
// value is ready; it is safe for concurrent use.
type Programs struct {
	mu  sync.Mutex
	dir string
	bin map[string]string
}

// Build makes the program with tags, separated by commas, where it was not made before, and
// returns its file.
func (p *Programs) Build(ctx context.Context, tags string) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bin[tags] != "" {
		return p.bin[tags], nil
	}
	if p.dir == "" {
		dir, err := os.MkdirTemp("", "cloudburst-built-*")
		if err != nil {
			return "", err
		}
		p.dir, p.bin = dir, map[string]string{}
	}
	bin := filepath.Join(p.dir, "cloudburst-"+tags)
	cmd := exec.CommandContext(ctx, "go", "build", "-tags", tags, "-o", bin, "cloudburst/cmd/cloudburst")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build: %w\n%s", err, out)
	}
	p.bin[tags] = bin
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
