package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"cloudburst/client"
	"cloudburst/internal/app"
)

// server is a server of the program that runs in its own process.
type server struct {
	*process
	data          string
	listen, admin string // addresses of the public and the admin listener
	api           *client.Client
	ready         time.Duration // time from the start until /readyz first succeeds
}

// serverPlan contains the options of startServer.
type serverPlan struct {
	data, database string
	noFile         int
	extra          []string // additional command-line flags
	roots          string   // file with the trusted certificate authorities; "" selects the authorities of the system
}

func startServer(ctx context.Context, exe, dir string, p serverPlan) (*server, error) {
	args := []string{
		"serve", "--listen", "127.0.0.1:0", "--admin.listen", "127.0.0.1:0", "--data", p.data,
		"--egress.allow-fetch", "127.0.0.0/8", "--egress.allow-callback", "127.0.0.0/8",
		"--hub.client-rate", "0", "--hub.host-rate", "0", "--hub.ping-interval", "1ms", "--log.level", "warn",
	}
	if p.database != "" {
		args = append(args, "--database", p.database)
	}
	for _, name := range []string{app.AdminAddrFile, app.ListenAddrFile} {
		if err := os.Remove(filepath.Join(p.data, name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
	}
	args = append(args, p.extra...)
	if p.roots != "" {
		// env sets the variable and becomes the program, so the process ID stays the same.
		exe, args = "/usr/bin/env", append([]string{"SSL_CERT_FILE=" + p.roots, exe}, args...)
	}
	begin := time.Now()
	proc, err := start(dir, "server", p.noFile, exe, args...)
	if err != nil {
		return nil, err
	}
	go func() { _, _ = io.Copy(io.Discard, proc.stdout) }() // Copy returns when the process ends
	s := &server{process: proc, data: p.data}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	if err := s.await(ctx); err != nil {
		_ = proc.stop(time.Second)
		return nil, err
	}
	s.ready = time.Since(begin)
	s.api = &client.Client{Base: "http://" + s.admin}
	return s, nil
}

// await returns when /readyz reports that the server is ready.
func (s *server) await(ctx context.Context) error {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-s.ended:
			return s.gone()
		case <-ctx.Done():
			return fmt.Errorf("the server is not ready: %w; end of its standard error:\n%s", ctx.Err(), s.stderrTail())
		case <-tick.C:
		}
		s.admin, s.listen = s.addr(app.AdminAddrFile), s.addr(app.ListenAddrFile)
		if s.admin == "" || s.listen == "" {
			continue
		}
		resp, err := http.Get("http://" + s.admin + "/readyz")
		if err != nil {
			continue
		}
		resp.Body.Close()
		if resp.StatusCode == http.StatusOK {
			return nil
		}
	}
}

// addr returns the address in a file, or "" until the file contains a complete line.
func (s *server) addr(file string) string {
	text, err := os.ReadFile(filepath.Join(s.data, file))
	if err != nil || !bytes.HasSuffix(text, []byte("\n")) {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// settle waits until no work is in progress and the number of writes is stable, and returns the
// status. It fails after two minutes.
func (s *server) settle(ctx context.Context) (client.Status, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	writes, same := int64(-1), 0
	for {
		st, err := s.api.Status(ctx)
		if err != nil {
			return st, err
		}
		if st.Live.Queue == 0 && st.Live.Checks == 0 && st.Live.Writes == writes {
			if same++; same == 4 {
				return st, nil
			}
		} else {
			same = 0
		}
		writes = st.Live.Writes
		select {
		case <-s.ended:
			return st, s.gone()
		case <-ctx.Done():
			return st, fmt.Errorf("the server does not come to rest: %d deliveries in memory: %w", st.Live.Queue, ctx.Err())
		case <-tick.C:
		}
	}
}

// profile writes a CPU profile of n seconds to file. wait returns when the file is complete.
func (s *server) profile(ctx context.Context, file string, seconds int) (wait func() error) {
	done := make(chan error, 1)
	go func() { done <- s.save(ctx, file, "/debug/pprof/profile?seconds="+strconv.Itoa(seconds)) }()
	return func() error { return <-done }
}

func (s *server) save(ctx context.Context, file, path string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.admin+path, nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := io.Copy(f, resp.Body); err != nil {
		return err
	}
	return f.Close()
}

// registration is the subscription of a callback to a feed. secret is only used by WebSub.
type registration struct{ feed, callback, via, secret string }

// importAll imports registrations 0 ≤ i < n, without verification of the callbacks.
func (s *server) importAll(ctx context.Context, n int, of func(i int) registration, notify func(done, total int)) error {
	pr, pw := io.Pipe()
	go func() { pw.CloseWithError(writeLines(pw, n, of)) }()
	res, err := s.api.Import(ctx, pr, client.ImportOptions{Progress: notify})
	_ = pr.CloseWithError(errors.New("the import is over"))
	if err != nil {
		return err
	}
	if res.Imported != n {
		return fmt.Errorf("%d of %d registrations were imported", res.Imported, n)
	}
	return nil
}

func writeLines(w io.Writer, n int, of func(i int) registration) error {
	now := time.Now().UTC()
	tail := `","created_at":"` + now.Format(time.RFC3339) + `","renewed_at":"` + now.Format(time.RFC3339) +
		`","expires_at":"` + now.Add(25*time.Hour).Format(time.RFC3339) + "\"}\n"
	b := make([]byte, 0, 64<<10)
	for i := range n {
		r := of(i)
		protocol := "http-post"
		if r.via == ViaWebSub {
			protocol = "websub"
		}
		b = append(append(append(b, `{"protocol":"`...), protocol...), `","topic":"`...)
		b = append(append(append(b, r.feed...), `","callback":"`...), r.callback...)
		if r.secret != "" {
			b = append(append(b, `","secret":"`...), r.secret...)
		}
		b = append(b, tail...)
		if len(b) > 60<<10 || i == n-1 {
			if _, err := w.Write(b); err != nil {
				return err
			}
			b = b[:0]
		}
	}
	return nil
}

// registerAll creates n registrations through the REST endpoint, with the given number of
// concurrent clients. The receiver answers the challenges.
func (s *server) registerAll(ctx context.Context, n, clients int, of func(i int) registration, notify func(done, total int)) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	web := &http.Client{Timeout: time.Minute, Transport: &http.Transport{MaxIdleConnsPerHost: clients, Protocols: onlyHTTP1()}}
	defer web.CloseIdleConnections()
	var next, done atomic.Int64
	var group sync.WaitGroup
	for range clients {
		group.Go(func() {
			for i := int(next.Add(1)) - 1; i < n && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				if err := s.register(ctx, web, of(i)); err != nil {
					cancel(err)
					return
				}
				done.Add(1)
			}
		})
	}
	ended := make(chan struct{})
	go func() { group.Wait(); close(ended) }()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ended:
			return context.Cause(ctx)
		case <-tick.C:
			notify(int(done.Load()), n)
		}
	}
}

func (s *server) register(ctx context.Context, web *http.Client, r registration) error {
	if r.via == ViaWebSub {
		return s.subscribe(ctx, web, r)
	}
	u, err := url.Parse(r.callback)
	if err != nil {
		return err
	}
	form := url.Values{
		"domain": {u.Hostname()}, "port": {u.Port()}, "path": {u.Path}, "protocol": {"http-post"},
		"notifyProcedure": {""}, "registerProcedure": {""}, "url1": {r.feed},
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+s.listen+"/rsscloud/pleaseNotify", strings.NewReader(form.Encode()))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Accept", "application/json")
	return success(web.Do(req))
}

// subscribe sends a request to the WebSub endpoint. The hub verifies the callback later.
func (s *server) subscribe(ctx context.Context, web *http.Client, r registration) error {
	form := url.Values{"hub.mode": {"subscribe"}, "hub.topic": {r.feed}, "hub.callback": {r.callback}}
	if r.secret != "" {
		form.Set("hub.secret", r.secret)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.websub(), strings.NewReader(form.Encode()))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	resp, err := web.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, 4<<10))
	if err == nil && resp.StatusCode != http.StatusAccepted {
		err = fmt.Errorf("the hub answered %s: %s", resp.Status, text)
	}
	return err
}

// websub returns the URL of the WebSub endpoint.
func (s *server) websub() string { return "http://" + s.listen + "/websub" }

// confirmed waits until the server has n subscriptions. It fails after two minutes.
func (s *server) confirmed(ctx context.Context, n int, notify func(done, total int)) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		have := 0
		for _, err := range s.api.Subscriptions(ctx, client.SubscriptionQuery{}) {
			if err != nil {
				return err
			}
			have++
		}
		if notify(have, n); have >= n {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%d of %d subscriptions were confirmed: %w", have, n, ctx.Err())
		case <-tick.C:
		}
	}
}
