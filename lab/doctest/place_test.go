package doctest

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"cloudburst/internal/nettest"
)

// place is the environment of a guide. It consists of a folder with the program, a server that
// "make run" would start, and a network with the example hosts.
type place struct {
	t       *testing.T
	page    page
	dir     string
	names   *strings.Replacer // replaces names in the guide by actual ones
	back    *strings.Replacer // replaces actual names by names in the guide
	env     []string
	printed string // output of the last block
	harness *harness
}

func newPlace(t *testing.T, page page, root, bin string) *place {
	t.Helper()
	p := &place{t: t, page: page, dir: t.TempDir()}
	if err := os.MkdirAll(filepath.Join(p.dir, "bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"cloudburst", "cloudburst-lab"} {
		if err := os.Symlink(filepath.Join(bin, name), filepath.Join(p.dir, "bin", name)); err != nil {
			t.Fatal(err)
		}
	}
	// This link represents a clone of the repository, for programs in a separate module.
	if err := os.Symlink(root, filepath.Join(p.dir, "cloudburst")); err != nil {
		t.Fatal(err)
	}
	// These files represent the files that a user already has.
	if err := os.CopyFS(p.dir, os.DirFS("testdata/have")); err != nil {
		t.Fatal(err)
	}
	// curl must fail for an error response.
	if err := os.WriteFile(filepath.Join(p.dir, ".curlrc"), []byte("fail\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ports := map[string]string{}
	for _, port := range []string{"5337", "5338", "5347", "5348", "8000", "8088"} {
		ports[port] = freePort(t)
	}
	p.harness = newHarness(p, ports["5337"])
	p.name(ports)
	p.env = slices.DeleteFunc(os.Environ(), func(s string) bool { return strings.HasPrefix(s, "CLOUDBURST_") })
	p.env = append(p.env, "HOME="+p.dir, "CURL_HOME="+p.dir, "GOCACHE="+goEnv(t, "GOCACHE"), "GOMODCACHE="+goEnv(t, "GOMODCACHE"),
		"PATH="+filepath.Join(p.dir, "bin")+":"+os.Getenv("PATH"), "CLOUDBURST_DATA=data", "CLOUDBURST_ADMIN_LISTEN=127.0.0.1:"+ports["5338"])
	if page.file() != "operator.md" {
		public := ""
		if strings.Contains(page.text, "cloud.example.org") || strings.Contains(page.text, "hub.example") {
			public = " --public-url http://127.0.0.1:5337"
		}
		p.background(block{text: "exec bin/cloudburst serve --listen 127.0.0.1:5337 --admin.listen 127.0.0.1:5338 --data data" +
			" --egress.allow-fetch 127.0.0.0/8,::1/128 --egress.allow-callback 127.0.0.0/8,::1/128 --hub.ping-interval 1ms" + public + "\n"})
	}
	if strings.Contains(page.text, "alice") && !strings.Contains(page.text, "user add alice") {
		p.run("the account that the guide speaks of", "echo PASSWORD | bin/cloudburst user add alice")
	}
	if strings.Contains(page.text, "mastodon.zip") {
		p.writeMastodonArchive()
	}
	return p
}

// writeMastodonArchive writes a Mastodon archive with one post, which the guide imports.
func (p *place) writeMastodonArchive() {
	p.t.Helper()
	const ann = "https://m.example/users/ann"
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	f, err := w.Create("outbox.json")
	if err == nil {
		_, err = fmt.Fprintf(f, `{"orderedItems":[{"id":"%s/statuses/1/activity","type":"Create","actor":"%[1]s","published":"2023-05-01T10:00:00Z",
"to":["https://www.w3.org/ns/activitystreams#Public"],"object":{"id":"%[1]s/statuses/1","type":"Note","url":"https://m.example/@ann/1",
"published":"2023-05-01T10:00:00Z","content":"<p>Hello</p>"}}]}`, ann)
	}
	if err == nil {
		err = w.Close()
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(p.dir, "mastodon.zip"), b.Bytes(), 0o600)
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

// name sets the replacements for the names and ports in the guides.
func (p *place) name(ports map[string]string) {
	hub := "127.0.0.1:" + ports["5337"]
	pairs := append(p.harness.names(), "https://cloud.example.org", "http://"+hub, "http://cloud.example.org:5337", "http://"+hub, "PASSWORD", "correct horse battery")
	for port, free := range ports {
		for _, form := range []string{":%s", "%%3A%s", `port="%s"`, "http.server %s"} {
			pairs = append(pairs, fmt.Sprintf(form, port), fmt.Sprintf(form, free))
		}
	}
	var back []string
	for i := 0; i < len(pairs); i += 2 {
		back = append(back, pairs[i+1], pairs[i])
	}
	p.names, p.back = strings.NewReplacer(pairs...), strings.NewReplacer(back...)
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
	port, err := nettest.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	return strconv.Itoa(port)
}

func (p *place) do(b block) {
	p.t.Helper()
	at := fmt.Sprintf("%s:%d", b.page, b.line)
	switch {
	case b.kind == "http":
		p.exchange(b)
	case b.mode == "background":
		p.background(b)
	case b.kind == "sh":
		p.run(at, "set -euo pipefail\n[ -f .vars ] && . ./.vars\nset -a\ntrap 'export -p >.vars' EXIT\n"+b.text)
	case b.kind == "output":
		if want := p.names.Replace(b.text); !alike(strings.TrimSpace(p.printed), strings.TrimSpace(want)) {
			p.t.Errorf("%s: the output is\n%s", at, p.back.Replace(p.printed))
		}
	default:
		p.file(b)
	}
}

// file writes a block to its file, and runs the file if it is a Python program. It discards
// earlier requests to the reader, because they belong to an earlier file.
func (p *place) file(b block) {
	p.t.Helper()
	p.harness.forget()
	name := filepath.Join(p.dir, b.mode)
	if err := os.WriteFile(name, []byte(p.names.Replace(b.text)), 0o600); err != nil {
		p.t.Fatal(err)
	}
	at := fmt.Sprintf("%s:%d", b.page, b.line)
	if b.kind == "python" {
		p.run(at, "[ -f .vars ] && . ./.vars\npython3 "+name)
	}
}

// run runs a shell script to its end, and fails the test if the script fails.
func (p *place) run(at, script string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-c", p.names.Replace(script))
	cmd.Dir, cmd.Env = p.dir, p.env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		p.t.Fatalf("%s: %v\n%s\n%s%s", at, err, script, &out, &errs)
	}
	p.printed = out.String()
	p.t.Logf("%s\n%s%s%s", at, script, &out, &errs)
}

// background starts a block, waits for its first line of output, and stops it at the end of the
// guide.
func (p *place) background(b block) {
	p.t.Helper()
	cmd := exec.Command("bash", "-c", "[ -f .vars ] && . ./.vars\n"+p.names.Replace(b.text)) // the cleanup below kills the process
	cmd.Dir, cmd.Env = p.dir, p.env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	output := &first{came: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = output, output
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait() // the process is killed, so the error has no meaning
		close(ended)
	}()
	p.t.Cleanup(func() {
		select {
		case <-ended:
			p.t.Errorf("%s:%d ended by itself:\n%s\n%s", p.page.file(), b.line, b.text, output)
		default:
		}
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // an error means that the process has just ended
		<-ended
	})
	select {
	case <-output.came:
	case <-ended:
	case <-time.After(time.Minute):
		p.t.Fatalf("%s:%d prints nothing:\n%s", p.page.file(), b.line, b.text)
	}
}

// first collects the output of a process. It closes came at the first line.
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
