package clustertest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Rolled replaces the nodes one by one with nodes of another program while clients send requests.
// It checks that a node accepts every request. If refused is true, the new program has a newer
// schema, and the old program must refuse to start afterwards.
func (w *Cluster) Rolled(next string, refused bool) error {
	a, b, err := w.pair()
	if err != nil {
		return err
	}
	const feed = "rolled"
	if err := w.follow(a, feed, crew); err != nil {
		return err
	}
	stop := w.load()
	defer stop()
	for _, n := range []*node{a, b} {
		if err := w.notifyAll(feed, crew, n); err != nil {
			return err
		}
		// The node stops at a random time during the deliveries.
		p := w.ping(feed, []*node{n})
		if err := n.gone().Stop(); err != nil {
			return fmt.Errorf("node %s: %w", n.name, err)
		}
		if err := w.start(n, next); err != nil {
			return err
		}
		if err := w.wait("all subscribers were notified", func() bool { return w.history.notified(feed, p.state) == crew }); err != nil {
			return err
		}
		if refused {
			if err := w.refusesToStart(); err != nil {
				return err
			}
		}
	}
	if err := w.notifyAll(feed, crew, a); err != nil {
		return err
	}
	seen := map[string]bool{}
	w.history.do(func() {
		for _, r := range w.history.receipts {
			seen[r.version] = true
		}
	})
	w.Log("notified by versions %v", seen)
	return nil
}

// refusesToStart checks that the old program reports an error when it starts on the database of
// the newer program.
func (w *Cluster) refusesToStart() error {
	dir := filepath.Join(w.Dir, "old")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	cmd := exec.CommandContext(w.ctx, w.Binary, "serve", "--listen", "127.0.0.1:0", "--admin.listen", "127.0.0.1:0", "--data", dir, "--database", w.Database)
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "newer cloudburst") {
		w.history.wrong("not refused: an older program on the database of a newer one ended with %v, output %q", err, out)
	}
	return nil
}
