// Package program builds the real program, and starts and ends it as a process of its own,
// for the harnesses that look at it from outside. Start with [Builds] and [Start].
package program

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	startsIn = 5 * time.Minute // on any machine, however busy
	stopsIn  = 2 * time.Minute
	patience = 10 * time.Second // for an answer to a probe
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
	Dir    string   // gets its data folder [DataFolder] and its log [LogFile]
	Data   string   // the data folder, if it is another one
	Args   []string // of serve, in addition to free loopback ports
	Env    []string // NAME=value, in addition to the own environment
	Reach  string   // addresses that it may read and call back [127.0.0.0/8]
	Files  int      // limit of its open files; 0: ours

	Strike <-chan struct{} // closed when it is to be killed before it is ready: ErrStruck
}

// ErrStruck is that a process was killed while it started, as was asked for.
var ErrStruck = errors.New("killed while it started")

// Names in [Command.Dir].
const (
	DataFolder = "data"
	LogFile    = "log"
)

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
		data = filepath.Join(c.Dir, DataFolder)
	}
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
	log, err := os.OpenFile(filepath.Join(c.Dir, LogFile), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	before, _ := log.Seek(0, io.SeekEnd) // what earlier lives said
	cmd := c.command(ctx, data)
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
			text, _ := os.ReadFile(filepath.Join(c.Dir, LogFile))
			return nil, fmt.Errorf("the program ended by itself; its last words: %s", tail(string(text[min(before, int64(len(text))):])))
		}
		p.Kill()
		return nil, err
	}
	return p, nil
}

// command is serve on a data folder.
func (c Command) command(ctx context.Context, data string) *exec.Cmd {
	reach := cmp.Or(c.Reach, "127.0.0.0/8")
	args := append([]string{"serve", "--listen", "127.0.0.1:0", "--admin.listen", "127.0.0.1:0", "--data", data,
		"--egress.allow-fetch", reach, "--egress.allow-callback", reach, "--log.level", "error"}, c.Args...)
	if c.Files == 0 {
		return exec.CommandContext(ctx, c.Binary, args...)
	}
	// The shell sets the limit and becomes the program: same process id.
	return exec.CommandContext(ctx, "sh", append([]string{"-c", `ulimit -n "$0" && exec "$@"`, strconv.Itoa(c.Files), c.Binary}, args...)...)
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

// ID is the process's id.
func (p *Process) ID() int { return p.cmd.Process.Pid }

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

func tail(s string) string { return s[max(0, len(s)-2000):] }

func readAddr(data, name string) string {
	b, err := os.ReadFile(filepath.Join(data, name))
	if err != nil || !strings.HasSuffix(string(b), "\n") {
		return ""
	}
	return "http://" + strings.TrimSpace(string(b))
}
