package crashtest

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Process is one life of the program. Start it with [Start].
type Process struct {
	Base, Admin string // where its two listeners are: http://HOST:PORT

	cmd  *exec.Cmd
	done chan struct{}
}

// Command is how the program is started.
type Command struct {
	Binary string
	Dir    string   // gets its data folder "data" and its log "log"
	Data   string   // the data folder, if it is another one
	Args   []string // of serve, beside those that put it on free ports of loopback
	Env    []string // NAME=value, beside our own

	Strike <-chan struct{} // closed when it is to be killed before it is ready: ErrStruck
}

// ErrStruck is that a process was killed while it started, as was asked for.
var ErrStruck = errors.New("killed while it started")

const dataFolder = "data"

// Start starts the program and waits until it says that it is ready. Where the machine
// has no port left for a moment, the program is right to end, and is started again. It
// is killed when ctx ends.
func Start(ctx context.Context, c Command) (*Process, error) {
	for left := 20; ; left-- {
		p, err := c.start(ctx)
		if err == nil || left == 0 || !strings.Contains(err.Error(), syscall.EADDRINUSE.Error()) {
			return p, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(500 * time.Millisecond):
		}
	}
}

// start starts it once.
func (c Command) start(ctx context.Context) (*Process, error) {
	data := c.Data
	if data == "" {
		data = filepath.Join(c.Dir, dataFolder)
	}
	args := append([]string{"serve", "--listen", "127.0.0.1:0", "--admin.listen", "127.0.0.1:0", "--data", data,
		"--egress.allow-fetch", "127.0.0.0/8", "--egress.allow-callback", "127.0.0.0/8", "--log.level", "error"}, c.Args...)
	for _, name := range []string{"admin.addr", "listen.addr"} {
		if err := os.Remove(filepath.Join(data, name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			select {
			case <-c.Strike: // the disk stopped at this removal
				return nil, ErrStruck
			default:
				return nil, err
			}
		}
	}
	log, err := os.OpenFile(filepath.Join(c.Dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	before, _ := log.Seek(0, io.SeekEnd) // what earlier lives said
	cmd := exec.CommandContext(ctx, c.Binary, args...)
	cmd.Env = append(os.Environ(), c.Env...)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &Process{cmd: cmd, done: make(chan struct{})}
	go func() { _ = cmd.Wait(); close(p.done) }() // killed, so it always ends with an error
	if err := p.ready(data, c.Strike); err != nil {
		select {
		case <-c.Strike: // it may have ended of that by itself
			p.Kill()
			return nil, ErrStruck
		default:
		}
		if ended := p.Ended(); ended {
			text, _ := os.ReadFile(filepath.Join(c.Dir, "log"))
			return nil, fmt.Errorf("the program ended by itself; its last words: %s", tail(string(text[min(before, int64(len(text))):])))
		}
		p.Kill()
		return nil, err
	}
	return p, nil
}

// ready waits until it listens, and is ready to work.
func (p *Process) ready(data string, strike <-chan struct{}) error {
	client := &http.Client{Timeout: patience, Transport: &http.Transport{DisableKeepAlives: true}}
	for end := time.Now().Add(startsIn); time.Now().Before(end); {
		select {
		case <-strike:
			return ErrStruck
		case <-p.done:
			return errors.New("it ended")
		case <-time.After(5 * time.Millisecond):
		}
		p.Base, p.Admin = readAddr(data, "listen.addr"), readAddr(data, "admin.addr")
		if p.Base == "" || p.Admin == "" {
			continue
		}
		if res, err := client.Get(p.Base + "/readyz"); err == nil {
			res.Body.Close()
			if res.StatusCode == http.StatusOK {
				return nil
			}
		}
	}
	return fmt.Errorf("not ready within %s", startsIn)
}

// Signal sends it a signal.
func (p *Process) Signal(s os.Signal) error { return p.cmd.Process.Signal(s) }

// Ended reports that it has ended, by itself or not.
func (p *Process) Ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// Kill ends it at once, and waits until it is gone.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill() // it may have ended by itself: start says so
	<-p.done
}

// Stop asks it to end (SIGTERM) and waits until it did, in good order.
func (p *Process) Stop() error {
	if err := p.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case <-p.done:
	case <-time.After(stopsIn):
		return fmt.Errorf("asked to end, it goes on after %s", stopsIn)
	}
	if !p.cmd.ProcessState.Success() {
		return fmt.Errorf("asked to end, it ended with %s", p.cmd.ProcessState)
	}
	return nil
}

// start starts the program and waits until it is ready. With strike it may be killed
// before, and is started again.
func (r *runner) start(ctx context.Context, strike bool) (*Process, error) {
	for {
		if r.struck = nil; strike && r.Strike != nil {
			r.struck = r.Strike()
		}
		p, err := r.startOnce(ctx)
		if !errors.Is(err, ErrStruck) {
			return p, err
		}
		r.history.now(func(l *life, at time.Time) { l.died = at })
		if err := r.dead(); err != nil {
			return nil, err
		}
		strike = false
	}
}

func (r *runner) startOnce(ctx context.Context) (*Process, error) {
	r.history.born()
	p, err := Start(ctx, Command{Binary: r.Binary, Dir: r.Dir, Data: r.Data, Strike: r.struck, Env: r.Env, Args: append([]string{
		"--public-url", publicURL,
		"--hub.retry", "100ms,200ms,400ms,400ms,400ms,400ms,400ms,400ms", // what comes after is hours away in WebSub
		"--hub.max-errors", "1000", "--hub.ping-interval", "20ms",
		"--hub.callback-timeout", "6s",
		"--hub.source-rate", "0", "--hub.host-rate", "0"}, r.Args...)})
	if err != nil {
		return nil, err
	}
	r.history.now(func(l *life, at time.Time) { l.ready = at })
	if r.Alive != nil {
		if err := r.Alive(ctx, p.Base, p.Admin); err != nil {
			p.Kill()
			return nil, err
		}
	}
	// Before anybody saves again: what the dead one left.
	r.readAll(p.Base, slices.Concat(r.owners, r.fresh), asSaved)
	r.fresh = nil
	r.mu.Lock()
	r.base, r.admin = p.Base, p.Admin
	r.mu.Unlock()
	return p, nil
}

func tail(s string) string { return s[max(0, len(s)-2000):] }

func readAddr(data, name string) string {
	b, err := os.ReadFile(filepath.Join(data, name))
	if err != nil || !strings.HasSuffix(string(b), "\n") {
		return ""
	}
	return "http://" + strings.TrimSpace(string(b))
}

func (r *runner) gone() {
	r.mu.Lock()
	r.base, r.admin = "", ""
	r.mu.Unlock()
}

func (r *runner) where() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.base
}

// left is the program's own count of what it has still to do.
type left struct {
	Owed      int64 `json:"owed"`
	PartsDue  int64 `json:"parts_due"`
	ChecksDue int64 `json:"checks_due"`
	Requests  int64 `json:"requests"`
}

// stored is a subscription in the program's own words.
type stored struct{ Topic, Callback, Protocol, Secret string }

// settle waits until the program has nothing left to do; false: it always had.
func (r *runner) settle(ctx context.Context) (bool, error) {
	return r.until(ctx, func(l left) bool { return l == left{} })
}

// until waits until done says so, for a while on end.
func (r *runner) until(ctx context.Context, done func(left) bool) (bool, error) {
	calm, began, last := 0, time.Now(), left{Owed: -1}
	for end := began.Add(r.Settle); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		var now left
		if err := r.rest(ctx, &now); err != nil {
			return false, err
		}
		if now != last {
			r.Log(fmt.Sprintf("after %s there is left: %+v", time.Since(began).Round(time.Millisecond), now))
		}
		if last = now; !done(now) {
			calm = 0
		} else if calm++; calm >= 5 {
			return true, nil
		}
	}
	return false, nil
}

// rest reads what is left to do from the store's own numbers.
func (r *runner) rest(ctx context.Context, to any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.admin+"/v1/status", nil)
	if err != nil {
		return err
	}
	res, err := r.client.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	var status struct {
		Counts json.RawMessage `json:"counts"`
	}
	if err := json.NewDecoder(res.Body).Decode(&status); err != nil {
		return err
	}
	return json.Unmarshal(status.Counts, to)
}

// export is what the program says it has.
func (r *runner) export(ctx context.Context) (map[pair]stored, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.admin+"/v1/subscriptions/export", nil)
	if err != nil {
		return nil, err
	}
	res, err := r.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	all := map[pair]stored{}
	lines := bufio.NewScanner(res.Body)
	for lines.Scan() {
		var s stored
		if err := json.Unmarshal(lines.Bytes(), &s); err != nil {
			return nil, err
		}
		all[pair{s.Topic, s.Callback}] = s
	}
	return all, lines.Err()
}
