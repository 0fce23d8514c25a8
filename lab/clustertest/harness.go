package clustertest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
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
	lease        = 15 * time.Second // duration of a shard's lease; not configurable
	eventTimeout = 3 * time.Minute  // timeout for an expected event
)

// Options are the options of a cluster. A zero value means the default in brackets.
type Options struct {
	Binary   string   // path of the program's executable
	Database string   // URL of an empty PostgreSQL database
	Dir      string   // path of an empty folder
	Env      []string // additional environment variables of the nodes
	Seed     uint64   // seed of all random choices [1]
	Log      func(string, ...any)
	// EventTimeout is the timeout for an expected event. With planted bugs, an expected event may
	// never occur [3 min].
	EventTimeout time.Duration
}

// Cluster is a cluster with its clients, feeds and callbacks. Create a cluster with [New], and
// call Close at the end.
type Cluster struct {
	Options
	ctx         context.Context
	history     *history
	feeds       *feeds
	subscribers *subscribers
	client      *http.Client // opens a new connection for each request, because a broken connection would reveal a crash
	rng         *outside.Random
	took        []time.Duration // times from each fault until another node takes over
	again       int             // maximum number of repeated deliveries
	away        atomic.Bool     // true while the database is down, so that all nodes may reject requests
	withPending bool            // one callback always fails, so a delivery stays pending at the end
	front       *node           // load balancer that receives all requests; nil if clients send requests to the nodes

	mu    sync.Mutex
	nodes []*node
	ways  []*proxy // proxies between nodes and the database
}

// node is a machine of the cluster. The harness can stop and restart its process.
type node struct {
	name     string
	dir      string
	database string
	listen   string // address of the public listener; "" selects a free port

	mu      sync.Mutex
	process *program.Process // running process; nil if there is none
}

// New returns a cluster without nodes.
func New(ctx context.Context, o Options) (*Cluster, error) {
	if o.EventTimeout == 0 {
		o.EventTimeout = eventTimeout
	}
	w := &Cluster{Options: o, ctx: ctx, history: newHistory(), rng: outside.NewRandom(max(o.Seed, 1), 11),
		client: outside.Client(40 * time.Second)}
	var err error
	if w.feeds, err = newFeeds(); err != nil {
		return nil, err
	}
	if w.subscribers, err = newSubscribers(w.history); err != nil {
		_ = w.feeds.srv.Close() // no request is in progress, so an error has no consequence
		return nil, err
	}
	return w, nil
}

// Close kills all nodes and stops the servers of the cluster. Repeated calls have no effect.
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
	_ = w.feeds.srv.Close() // no request is in progress, so an error has no consequence
}

// node starts a new node. database is the URL of its database, or "" for the database of the
// cluster.
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

// pair starts two nodes, a and b.
func (w *Cluster) pair() (a, b *node, err error) {
	if a, err = w.node("a", ""); err == nil {
		b, err = w.node("b", "")
	}
	return a, b, err
}

// start starts the process of a node from the executable binary.
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

// current returns the running process of a node, or nil.
func (n *node) current() *program.Process {
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

// kill kills the process of a node.
func (w *Cluster) kill(n *node) { n.gone().Kill() }

// freeze pauses the process of a node. The caller calls thaw to resume the process.
func (w *Cluster) freeze(n *node) (thaw func() error, err error) {
	p := n.current()
	if err := p.Signal(syscall.SIGSTOP); err != nil {
		return nil, err
	}
	over := w.history.startFault("paused", n.name)
	return func() error { over(); return p.Signal(syscall.SIGCONT) }, nil
}

// runningNodes returns the nodes with a running process, in random order.
func (w *Cluster) runningNodes() []*node {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []*node
	for _, n := range w.nodes {
		if n.current() != nil {
			out = append(out, n)
		}
	}
	w.rng.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

// logTails returns the last lines of the logs of all nodes and of the load balancer.
func (w *Cluster) logTails() string {
	var out strings.Builder
	all := w.nodes
	if w.front != nil {
		all = append(slices.Clone(all), w.front)
	}
	for _, n := range all {
		text, err := os.ReadFile(filepath.Join(n.dir, "log"))
		fmt.Fprintf(&out, "end of the log of node %s (%v):\n%s\n", n.name, err, text[max(0, len(text)-3000):])
	}
	return out.String()
}

// wait waits until done returns true. The error after a timeout contains what, which describes
// the condition.
func (w *Cluster) wait(what string, done func() bool) error {
	for end := time.Now().Add(w.EventTimeout); !done(); time.Sleep(25 * time.Millisecond) {
		if time.Now().After(end) {
			return fmt.Errorf("not within %s: %s", w.EventTimeout, what)
		}
		if w.ctx.Err() != nil {
			return w.ctx.Err()
		}
	}
	return nil
}

// follow subscribes callbacks to a feed by one import, as in a migration from another hub.
func (w *Cluster) follow(n *node, feed string, count int) error {
	var list bytes.Buffer
	for i := range count {
		fmt.Fprintf(&list, `{"topic":%q,"protocol":"websub","callback":%q,"expires_at":%q}`+"\n",
			w.feeds.url(feed), w.subscribers.callback(feed, i), time.Now().Add(24*time.Hour).UTC().Format(time.RFC3339))
	}
	admin := &client.Client{Base: n.current().Admin}
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

// operator returns a client of the admin API of a node.
func (w *Cluster) operator(n *node) *client.Client {
	return &client.Client{Base: n.current().Admin, HTTP: w.client}
}

// idle waits until a node reports no pending work.
func (w *Cluster) idle(n *node) error {
	return w.wait("no pending work", func() bool {
		left, err := outside.PendingWorkAt(w.ctx, w.operator(n))
		return err == nil && left == outside.PendingWork{}
	})
}

// export returns the callbacks in the export of a node.
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

// End waits until no work is pending, checks the guarantees and returns the report.
func (w *Cluster) End() (Report, error) {
	n := w.runningNodes()[0]
	if !w.withPending {
		if err := w.idle(n); err != nil {
			w.history.wrong("no end: %v", err)
		}
	}
	var there map[string]bool
	var err error
	if in := w.wait("a complete export", func() bool { there, err = w.export(n); return err == nil }); in != nil {
		return Report{}, errors.Join(in, err)
	}
	broken, r := w.history.check(there, w.again)
	r.Broken, r.Took = broken, w.took
	return r, nil
}
