package browsertest

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"cloudburst/client"
	"cloudburst/internal/app"
	"cloudburst/internal/config"
	"cloudburst/internal/fulltest"
	"cloudburst/lab/outside"
)

// running is a program that runs in the test process, with its own data folder.
type running struct {
	t           *testing.T
	base, admin string
	stop        func()
	printed     printed // output at startup, for the operator
}

// printed records the standard output of the program.
type printed struct {
	mu   sync.Mutex
	text strings.Builder
}

func (p *printed) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.Write(b)
}

func (p *printed) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.String()
}

// conf returns a configuration that uses free ports and allows requests to loopback addresses.
func conf(t *testing.T) config.Config {
	t.Helper()
	cfg := config.Default()
	cfg.Listen, cfg.Admin.Listen, cfg.Data = "127.0.0.1:0", "127.0.0.1:0", t.TempDir()
	loop := []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	cfg.Egress.AllowFetch, cfg.Egress.AllowCallback = loop, loop
	cfg.Hub.PingInterval, cfg.River.HostInterval = 10*time.Millisecond, 0
	return cfg
}

func start(t *testing.T, cfg config.Config) *running {
	t.Helper()
	fulltest.Needs(t, "a browser")
	for _, name := range []string{app.ListenAddrFile, app.AdminAddrFile} {
		_ = os.Remove(filepath.Join(cfg.Data, name)) // remove the address file of an earlier program
	}
	a, err := app.Open(t.Context(), cfg, slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn})))
	if err != nil {
		t.Fatal(err)
	}
	p := &running{t: t}
	a.Out = &p.printed
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	p.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("stop: %v", err)
		}
		if err := a.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	t.Cleanup(p.stop)
	p.base, p.admin = p.addr(cfg.Data, app.ListenAddrFile), p.addr(cfg.Data, app.AdminAddrFile)
	outside.Until(t, "the program is ready", func() bool {
		res, err := http.Get(p.base + "/readyz")
		if err != nil {
			return false
		}
		res.Body.Close()
		return res.StatusCode == http.StatusOK
	})
	return p
}

// addr waits until the program has written the file name with its address in dir, and returns the
// base URL.
func (p *running) addr(dir, name string) (base string) {
	p.t.Helper()
	outside.Until(p.t, name+" is written", func() bool {
		b, err := os.ReadFile(filepath.Join(dir, name))
		base = "http://" + strings.TrimSpace(string(b))
		return err == nil && bytes.HasSuffix(b, []byte("\n"))
	})
	return base
}

// river returns a client of the admin API for the river of a user, or for the river of the server
// if user is "".
func (p *running) river(user string) *client.River {
	return (&client.Client{Base: p.admin}).River(user)
}

// ping sends a ping for feed to the hub of the program.
func (p *running) ping(feed string) {
	p.t.Helper()
	res, err := http.PostForm(p.base+"/rsscloud/ping", url.Values{"url": {feed}})
	if err != nil {
		p.t.Fatal(err)
	}
	defer res.Body.Close()
	if body, err := io.ReadAll(res.Body); err != nil || !strings.Contains(string(body), `success="true"`) {
		p.t.Fatalf("ping: %d %s %v", res.StatusCode, body, err)
	}
}

// proxy forwards connections to a program. It can close the connections and forward new connections
// to another program. The address of the proxy stays the same.
type proxy struct {
	net.Listener
	mu    sync.Mutex
	to    string // host:port of the program; if "", new connections are closed
	conns []net.Conn
}

func newProxy(t *testing.T) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &proxy{Listener: l}
	t.Cleanup(func() { _ = l.Close(); w.connect("") })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go w.carry(c)
		}
	}()
	return w
}

func (w *proxy) url() string { return "http://" + w.Addr().String() }

// connect closes all connections. It then forwards new connections to the program at base, or
// closes them if base is "".
func (w *proxy) connect(base string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.to = strings.TrimPrefix(base, "http://")
	for _, c := range w.conns {
		_ = c.Close()
	}
	w.conns = nil
}

func (w *proxy) carry(near net.Conn) {
	defer near.Close()
	w.mu.Lock()
	to := w.to
	w.mu.Unlock()
	if to == "" {
		return
	}
	far, err := net.Dial("tcp", to)
	if err != nil {
		return
	}
	defer far.Close()
	w.mu.Lock()
	w.conns = append(w.conns, near, far)
	w.mu.Unlock()
	go func() { _, _ = io.Copy(far, near); _ = far.Close() }()
	_, _ = io.Copy(near, far)
}
