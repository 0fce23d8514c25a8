package clustertest

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"cloudburst/internal/nettest"
	"cloudburst/lab/program"
)

// notices is the time that a balancer with the documented configuration needs to detect that a
// node left or returned.
const notices = 6 * time.Second

// Balancer describes a load balancer program in front of the nodes.
type Balancer struct {
	Name string
	// Config returns the configuration of a balancer that listens on addr and forwards to nodes.
	// The balancer can write its files to dir.
	Config func(dir, addr string, nodes [2]string) string
	// Args returns the command-line arguments of the balancer. dir is its folder, and file
	// contains its configuration.
	Args func(dir, file string) []string
}

// front is a running load balancer.
type front struct {
	base string
	cmd  *exec.Cmd
	log  string
}

// stand starts a load balancer in front of two nodes.
func (w *Cluster) stand(b Balancer, nodes [2]string) (*front, error) {
	dir := filepath.Join(w.Dir, b.Name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	port, err := nettest.FreePort()
	if err != nil {
		return nil, err
	}
	addr := fmt.Sprintf("127.0.0.1:%d", port)
	file := filepath.Join(dir, "config")
	if err := os.WriteFile(file, []byte(b.Config(dir, addr, nodes)), 0o600); err != nil {
		return nil, err
	}
	out, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		return nil, err
	}
	defer out.Close()
	f := &front{base: "http://" + addr, log: out.Name()}
	program, err := exec.LookPath(b.Name)
	if err != nil {
		program = "/usr/sbin/" + b.Name // some PATHs lack this folder
	}
	f.cmd = exec.CommandContext(w.ctx, program, b.Args(dir, file)...)
	f.cmd.Stdout, f.cmd.Stderr = out, out
	// Killing nginx would leave its worker processes running, so send SIGTERM.
	f.cmd.Cancel, f.cmd.WaitDelay = func() error { return f.cmd.Process.Signal(syscall.SIGTERM) }, 5*time.Second
	if err := f.cmd.Start(); err != nil {
		return nil, fmt.Errorf("%s: %w: install the Debian package %s, or run packaging/setup-tests.sh", b.Name, err, b.Name)
	}
	err = w.wait(b.Name+" answers", func() bool {
		res, err := w.client.Get(f.base + "/readyz")
		if err != nil {
			return false
		}
		res.Body.Close()
		return res.StatusCode == http.StatusOK
	})
	if err != nil {
		text, _ := os.ReadFile(f.log)
		f.end()
		return nil, fmt.Errorf("%w; output %q", err, text)
	}
	return f, nil
}

func (f *front) end() {
	_ = f.cmd.Process.Signal(syscall.SIGTERM) // an error means that the process has already ended
	_ = f.cmd.Wait()                          // the exit status does not matter
}

// Balanced replaces the nodes one by one behind a load balancer while clients send requests. It
// checks that no request fails, and that live pages work through the balancer.
func (w *Cluster) Balanced(b Balancer) error {
	a, c, err := w.pair()
	if err != nil {
		return err
	}
	var addrs [2]string
	for i, n := range []*node{a, c} {
		u, err := url.Parse(n.current().Base)
		if err != nil {
			return err
		}
		n.listen, addrs[i] = u.Host, u.Host // the node keeps its address after a restart
	}
	f, err := w.stand(b, addrs)
	if err != nil {
		return err
	}
	defer f.end()
	w.front = &node{name: b.Name, dir: filepath.Join(w.Dir, b.Name), process: &program.Process{Base: f.base}}
	const feed = "balanced"
	if err := w.follow(a, feed, 100); err != nil {
		return err
	}
	stop := w.load()
	defer stop()
	page, err := w.listen(f.base+"/log/stream", "")
	if err != nil {
		return err
	}
	defer page.close()
	if err := w.notifyAll(feed, 100, w.front); err != nil {
		return err
	}
	if err := w.wait("the change is seen on a page behind the balancer", func() bool { return page.has(`"ping"`, feed) }); err != nil {
		w.history.wrong("not live: %v", err)
	}
	for _, n := range []*node{a, c} {
		if err := n.gone().Stop(); err != nil {
			return fmt.Errorf("node %s: %w", n.name, err)
		}
		if err := w.start(n, w.Binary); err != nil {
			return err
		}
		if err := w.sleep(notices); err != nil { // the balancer needs this time to use the node again
			return err
		}
		if err := w.notifyAll(feed, 100, w.front); err != nil {
			return err
		}
	}
	stop()
	for _, answer := range w.answers(b.Name) {
		if !answer.ok {
			w.history.wrong("bad answer: %s at %s had the status %d through %s", answer.what, answer.To.Format(clock), answer.Status, b.Name)
		}
	}
	return nil
}

// answers returns the responses of a node to clients so far.
func (w *Cluster) answers(node string) (out []answer) {
	w.history.do(func() {
		for _, a := range w.history.answers {
			if a.node == node {
				out = append(out, a)
			}
		}
	})
	return out
}

// Swap replaces parts of a text. pairs contains old and new parts in turn. It returns an error if
// an old part does not occur.
func Swap(text string, pairs ...string) (string, error) {
	for i := 0; i+1 < len(pairs); i += 2 {
		if !strings.Contains(text, pairs[i]) {
			return "", fmt.Errorf("no %q in the text", pairs[i])
		}
		text = strings.ReplaceAll(text, pairs[i], pairs[i+1])
	}
	return text, nil
}
