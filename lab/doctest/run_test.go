package doctest

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"cloudburst/internal/fulltest"
)

// excused records which excuses are still needed.
type excused struct {
	mu   sync.Mutex
	seen map[string]bool
}

// by reports whether e has an excuse for b.
func (x *excused) by(e excuse, b block) bool {
	name := e.of(b)
	x.mu.Lock()
	defer x.mu.Unlock()
	x.seen[name] = true
	return name != ""
}

func TestCommandsInTheDocumentationRun(t *testing.T) {
	t.Parallel()
	fulltest.Needs(t, "a build of the program")
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", bin, "cloudburst/cmd/cloudburst", "cloudburst/cmd/cloudburst-lab").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	x := &excused{seen: map[string]bool{}}
	t.Run("guides", func(t *testing.T) {
		for _, p := range pages(t) {
			todo := x.check(t, p)
			if !slices.ContainsFunc(todo, block.runs) {
				continue
			}
			t.Run(p.file(), func(t *testing.T) {
				t.Parallel()
				place := newPlace(t, p, root, bin)
				for _, b := range todo {
					place.do(b)
				}
			})
		}
	})
	for _, list := range []excuse{elsewhere(), held()} {
		for name := range list {
			if !x.seen[name] {
				t.Errorf("the excuse %q is no longer needed", name)
			}
		}
	}
}

// check checks the blocks that need no execution. It returns the blocks to execute.
func (x *excused) check(t *testing.T, p page) []block {
	t.Helper()
	var todo []block
	for _, b := range p.blocks {
		switch {
		case slices.Contains([]string{"xml", "json", "toml", "yaml"}, b.kind):
			b.read(t)
			if b.mode != "" {
				todo = append(todo, b)
			} else {
				x.by(held(), b) // the page can also have an entry in held for such blocks
			}
		case b.kind == "sh" && (b.mode == "" || b.mode == "background"), b.kind == "output" && b.mode == "", b.kind == "http" && b.mode == "",
			slices.Contains([]string{"text", "go", "python"}, b.kind) && b.mode != "":
			todo = append(todo, b)
		case b.kind == "" || b.kind == "sh" && b.mode == "elsewhere":
			if !x.by(elsewhere(), b) && (b.kind != "" || !x.by(held(), b)) {
				t.Errorf("%s:%d: this block does not run: make it \"sh\", or give a reason in excuse_test.go:\n%s", b.page, b.line, b.text)
			}
		default:
			if !x.by(held(), b) {
				t.Errorf("%s:%d: unknown kind of block: %q", b.page, b.line, strings.TrimSpace(b.kind+" "+b.mode))
			}
		}
	}
	return todo
}

// runs reports whether the block is a command, a request or a program.
func (b block) runs() bool {
	return b.kind == "sh" || b.kind == "http" || b.kind == "go" || b.kind == "python"
}
