package doctest

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// A block of a guide says in the line that opens it what is done with it:
//
//	sh              it runs to its end, and must succeed
//	sh background   it runs until the guide is over
//	sh elsewhere    it cannot run here; elsewhere says why
//	go NAME         it is the file NAME, and runs as a program of this module
//	text NAME       it is the file NAME, which later blocks use
type block struct {
	kind, mode string
	line       int
	text       string
}

// elsewhere says why what a guide tells is not run, by the guide and the first word or words.
var elsewhere = map[string]string{
	"operations.md: install":          "it changes this machine's services",
	"operations.md: docker build":     "no engine for containers runs here; the image is checked in internal/packagetest",
	"operations.md: packaging":        "it installs on this machine; the package is checked in internal/packagetest",
	"README.md: make":                 "it is what runs this test",
	"json.md: cloudburst parse feeds": "it shows a pipe, with files of the reader's own",
	"json.md: cloudburst opml show":   "the same",
	"river-json.md: curl -H":          "its server is the reader's, and the second does not end",
}

// blocks are those of a guide that say what is done with them.
func blocks(t *testing.T, name, source string) []block {
	t.Helper()
	var all []block
	var b *block
	for i, line := range strings.SplitAfter(source, "\n") {
		info, fence := strings.CutPrefix(strings.TrimSpace(line), "```")
		switch {
		case b != nil && fence:
			if b.kind != "" {
				all = append(all, *b)
			}
			b = nil
		case fence:
			kind, mode, _ := strings.Cut(info, " ")
			if kind != "sh" && kind != "go" && (kind != "text" || mode == "") || kind == "go" && mode == "" {
				kind = ""
			}
			if kind == "sh" && mode != "" && mode != "background" && mode != "elsewhere" {
				t.Errorf("%s:%d: a block is %q, which nobody knows", name, i+1, info)
			}
			b = &block{kind: kind, mode: mode, line: i + 1}
		case b != nil:
			b.text += strings.TrimPrefix(line, "  ")
		}
	}
	return all
}

// place is where a guide runs: a folder with the program in it, and a server as make run
// starts it.
type place struct {
	t     *testing.T
	name  string
	dir   string
	ports *strings.Replacer
	env   []string
}

func TestTheGuidesDoWhatTheySay(t *testing.T) {
	t.Parallel()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(t.TempDir(), "cloudburst")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", bin, "cloudburst/cmd/cloudburst").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	pages, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil || len(pages) == 0 {
		t.Fatal(pages, err)
	}
	used := map[string]bool{}
	var mu sync.Mutex
	t.Run("guides", func(t *testing.T) {
		for _, page := range append(pages, filepath.Join(root, "README.md")) {
			source, err := os.ReadFile(page)
			if err != nil {
				t.Fatal(err)
			}
			all := blocks(t, filepath.Base(page), string(source))
			if len(all) == 0 {
				continue
			}
			t.Run(filepath.Base(page), func(t *testing.T) {
				t.Parallel()
				p := newPlace(t, filepath.Base(page), root, bin)
				for _, b := range all {
					p.do(b, func(reason string) { mu.Lock(); used[reason] = true; mu.Unlock() })
				}
			})
		}
	})
	for reason := range elsewhere {
		if !used[reason] {
			t.Errorf("nothing is excused by %q any more", reason)
		}
	}
}

func newPlace(t *testing.T, name, root, bin string) *place {
	t.Helper()
	p := &place{t: t, name: name, dir: t.TempDir()}
	if err := os.MkdirAll(filepath.Join(p.dir, "bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(bin, filepath.Join(p.dir, "bin", "cloudburst")); err != nil {
		t.Fatal(err)
	}
	// An answer that says no is a failure, as a reader would take it.
	if err := os.WriteFile(filepath.Join(p.dir, ".curlrc"), []byte("fail\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var pairs []string
	for _, port := range []string{"5337", "5338", "5347", "5348", "8000"} {
		free := freePort(t)
		for _, form := range []string{":%s", `port="%s"`, "http.server %s"} {
			pairs = append(pairs, fmt.Sprintf(form, port), fmt.Sprintf(form, free))
		}
	}
	p.ports = strings.NewReplacer(pairs...)
	p.env = append(os.Environ(), "HOME="+p.dir, "CURL_HOME="+p.dir, "ROOT="+root, "GOCACHE="+goEnv(t, "GOCACHE"), "GOMODCACHE="+goEnv(t, "GOMODCACHE"))
	p.env = slices.DeleteFunc(p.env, func(s string) bool { return strings.HasPrefix(s, "CLOUDBURST_") })
	if name != "start-operator.md" {
		p.background(block{line: 0, text: "exec bin/cloudburst serve --listen 127.0.0.1:5337 --admin.listen 127.0.0.1:5338 --data data --egress.allow-fetch 127.0.0.0/8,::1/128 --egress.allow-callback 127.0.0.0/8,::1/128\n"})
	}
	return p
}

func goEnv(t *testing.T, name string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "env", name).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}

func (p *place) do(b block, excused func(string)) {
	p.t.Helper()
	at := fmt.Sprintf("%s:%d", p.name, b.line)
	switch {
	case b.mode == "elsewhere":
		for reason := range elsewhere {
			page, begin, _ := strings.Cut(reason, ": ")
			if page == p.name && strings.HasPrefix(strings.TrimSpace(b.text), begin) {
				excused(reason)
				return
			}
		}
		p.t.Errorf("%s: nobody says why this does not run:\n%s", at, b.text)
	case b.mode == "background":
		p.background(b)
	case b.kind == "sh":
		p.run(at, "set -euo pipefail\n"+b.text)
	case b.kind == "text":
		if err := os.WriteFile(filepath.Join(p.dir, b.mode), []byte(p.ports.Replace(b.text)), 0o600); err != nil {
			p.t.Fatal(err)
		}
	case b.kind == "go":
		file := filepath.Join(p.dir, b.mode)
		if err := os.WriteFile(file, []byte(b.text), 0o600); err != nil {
			p.t.Fatal(err)
		}
		p.run(at, "cd \"$ROOT\" && go run "+file)
	}
}

// run runs a block to its end.
func (p *place) run(at, script string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-c", p.ports.Replace(script))
	cmd.Dir, cmd.Env = p.dir, p.env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	out, err := cmd.CombinedOutput()
	if err != nil {
		p.t.Fatalf("%s: %v\n%s\n%s", at, err, script, out)
	}
	p.t.Logf("%s\n%s%s", at, script, out)
}

// background starts a block, waits for its first line, and ends it with the guide.
func (p *place) background(b block) {
	p.t.Helper()
	cmd := exec.Command("bash", "-c", p.ports.Replace(b.text)) // the cleanup below ends it
	cmd.Dir, cmd.Env = p.dir, p.env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	said := &first{came: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = said, said
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait() // it is killed
		close(ended)
	}()
	p.t.Cleanup(func() {
		select {
		case <-ended:
			p.t.Errorf("%s:%d ended by itself:\n%s\n%s", p.name, b.line, b.text, said)
		default:
		}
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // it may have ended just now
		<-ended
	})
	select {
	case <-said.came:
	case <-ended:
	case <-time.After(30 * time.Second):
		p.t.Fatalf("%s:%d says nothing:\n%s", p.name, b.line, b.text)
	}
}

// first is what a process says; came is closed when it has said a line.
type first struct {
	mu   sync.Mutex
	text bytes.Buffer
	once sync.Once
	came chan struct{}
}

func (f *first) Write(b []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if bytes.IndexByte(b, '\n') >= 0 {
		f.once.Do(func() { close(f.came) })
	}
	return f.text.Write(b)
}

func (f *first) String() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.text.String()
}
