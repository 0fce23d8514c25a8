package clustertest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"cloudburst/client"
	"cloudburst/lab/outside"
	"cloudburst/lab/program"
)

const (
	lease    = 15 * time.Second // of a part; nobody can set it
	patience = 3 * time.Minute  // for what has to happen at some time
)

// Options of a cluster. Zero fields mean the default in brackets.
type Options struct {
	Binary   string   // the program
	Database string   // address of an empty PostgreSQL database
	Dir      string   // an empty folder
	Env      []string // further environment of the nodes
	Seed     uint64   // of everything random here [1]
	Log      func(string, ...any)
	// Patience is how long is waited for what has to happen; with planted bugs it may
	// never do so [3 min].
	Patience time.Duration
}

// Cluster is a cluster with its clients, feeds and callbacks. Make it with [New], and Close it.
type Cluster struct {
	Options
	ctx         context.Context
	history     *history
	feeds       *feeds
	subscribers *subscribers
	client      *http.Client // does not keep connections, which would reveal crashes
	rng         *outside.Random
	took        []time.Duration // from troubles to the first delivery by another node
	again       int             // deliveries that may be repeated
	away        atomic.Bool     // the database: all nodes may refuse
	withPending bool            // one callback always fails, so a delivery is pending at the end
	front       *node           // what clients ask in place of the nodes; nil: nothing stands there

	mu    sync.Mutex
	nodes []*node
	ways  []*proxy // to the database
}

// node is one machine of the cluster, which may have several lives.
type node struct {
	name     string
	dir      string
	database string
	listen   string // where it listens; "": anywhere

	mu      sync.Mutex
	process *program.Process // nil: it does not live
}

// New makes a cluster without nodes.
func New(ctx context.Context, o Options) (*Cluster, error) {
	if o.Patience == 0 {
		o.Patience = patience
	}
	w := &Cluster{Options: o, ctx: ctx, history: newHistory(), rng: outside.NewRandom(max(o.Seed, 1), 11),
		client: outside.Client(40 * time.Second)}
	var err error
	if w.feeds, err = newFeeds(); err != nil {
		return nil, err
	}
	if w.subscribers, err = newSubscribers(w.history); err != nil {
		_ = w.feeds.srv.Close() // there is nobody to answer
		return nil, err
	}
	return w, nil
}

// Close ends all nodes at once, and everything around them. More than once is fine.
func (w *Cluster) Close() {
	for _, n := range w.nodes {
		if p := n.gone(); p != nil {
			p.Kill()
		}
	}
	for _, p := range w.ways {
		p.close()
	}
	w.subscribers.close()
	_ = w.feeds.srv.Close() // there is nobody to answer
}

// node starts a node. database is the URL of its database; "": that of the cluster.
func (w *Cluster) node(name, database string) (*node, error) {
	if database == "" {
		database = w.Database
	}
	n := &node{name: name, dir: filepath.Join(w.Dir, name), database: database}
	if err := os.MkdirAll(n.dir, 0o700); err != nil {
		return nil, err
	}
	w.mu.Lock()
	w.nodes = append(w.nodes, n)
	w.mu.Unlock()
	return n, w.start(n, w.Binary)
}

// pair makes two nodes.
func (w *Cluster) pair() (a, b *node, err error) {
	if a, err = w.node("a", ""); err == nil {
		b, err = w.node("b", "")
	}
	return a, b, err
}

// start begins a life of a node with that program.
func (w *Cluster) start(n *node, binary string) error {
	args := []string{
		"--database", n.database, "--public-url", "http://" + n.name + ".example", "--accounts.secret-key", "the same for all nodes",
		"--hub.ping-interval", "10ms", "--hub.client-rate", "0", "--hub.host-rate", "0", "--river.public", "everyone",
		"--river.host-interval", "0s"}
	if n.listen != "" {
		args = append(args, "--listen", n.listen)
	}
	p, err := program.Start(w.ctx, program.Command{Binary: binary, Dir: n.dir, Env: w.Env, Args: args})
	if err != nil {
		return fmt.Errorf("node %s: %w", n.name, err)
	}
	n.mu.Lock()
	n.process = p
	n.mu.Unlock()
	return nil
}

// life is the living process of a node, or nil.
func (n *node) life() *program.Process {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.process
}

func (n *node) gone() *program.Process {
	n.mu.Lock()
	defer n.mu.Unlock()
	p := n.process
	n.process = nil
	return p
}

// kill ends a node's life as a power cut would.
func (w *Cluster) kill(n *node) { n.gone().Kill() }

// freeze stops a node in the middle of whatever it does. What is returned lets it go on.
func (w *Cluster) freeze(n *node) (thaw func() error, err error) {
	p := n.life()
	if err := p.Signal(syscall.SIGSTOP); err != nil {
		return nil, err
	}
	over := w.history.befalls("stood still", n.name)
	return func() error { over(); return p.Signal(syscall.SIGCONT) }, nil
}

// living are the nodes that live, in a random order.
func (w *Cluster) living() []*node {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []*node
	for _, n := range w.nodes {
		if n.life() != nil {
			out = append(out, n)
		}
	}
	w.rng.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

// lastWords are the ends of what the nodes have said.
func (w *Cluster) lastWords() string {
	var out strings.Builder
	for _, n := range w.nodes {
		text, err := os.ReadFile(filepath.Join(n.dir, "log"))
		fmt.Fprintf(&out, "node %s said last (%v):\n%s\n", n.name, err, text[max(0, len(text)-3000):])
	}
	return out.String()
}

// wait waits until done returns true; what describes the goal in the error of a timeout.
func (w *Cluster) wait(what string, done func() bool) error {
	for end := time.Now().Add(w.Patience); !done(); time.Sleep(25 * time.Millisecond) {
		if time.Now().After(end) {
			return fmt.Errorf("not within %s: %s", w.Patience, what)
		}
		if w.ctx.Err() != nil {
			return w.ctx.Err()
		}
	}
	return nil
}

// follow makes callbacks follow a feed, all at once, as an operator does who moves from
// another hub.
func (w *Cluster) follow(n *node, feed string, count int) error {
	var list bytes.Buffer
	for i := range count {
		fmt.Fprintf(&list, `{"topic":%q,"protocol":"websub","callback":%q,"expires_at":%q}`+"\n",
			w.feeds.url(feed), w.subscribers.callback(feed, i), time.Now().Add(24*time.Hour).UTC().Format(time.RFC3339))
	}
	admin := &client.Client{Base: n.life().Admin}
	if _, err := admin.Import(w.ctx, &list, client.ImportOptions{}); err != nil {
		return err
	}
	since := time.Now()
	w.history.do(func() {
		for i := range count {
			w.history.followers = append(w.history.followers, follower{w.subscribers.callback(feed, i), feed, true, since})
		}
	})
	return nil
}

// operator is the API of a node.
func (w *Cluster) operator(n *node) *client.Client {
	return &client.Client{Base: n.life().Admin, HTTP: w.client}
}

// idle waits until nothing is left to do, as a node counts it.
func (w *Cluster) idle(n *node) error {
	return w.wait("nothing is left to do", func() bool {
		left, err := outside.LeftAt(w.ctx, w.operator(n))
		return err == nil && left == outside.Left{}
	})
}

// export are the callbacks that the program says it has.
func (w *Cluster) export(n *node) (map[string]bool, error) {
	list, err := outside.Subscriptions(w.ctx, w.operator(n))
	if err != nil {
		return nil, fmt.Errorf("export of node %s: %w", n.name, err)
	}
	all := map[string]bool{}
	for _, s := range list {
		all[s.Callback] = true
	}
	return all, nil
}

// End waits until nothing is left to do, and checks what was promised.
func (w *Cluster) End() (Report, error) {
	n := w.living()[0]
	if !w.withPending {
		if err := w.idle(n); err != nil {
			w.history.wrong("no end: %v", err)
		}
	}
	var there map[string]bool
	var err error
	if in := w.wait("the export is whole", func() bool { there, err = w.export(n); return err == nil }); in != nil {
		return Report{}, errors.Join(in, err)
	}
	broken, r := w.history.check(there, w.again)
	r.Broken, r.Took = broken, w.took
	return r, nil
}
