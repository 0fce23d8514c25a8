// Package program builds the real program, and runs it as a separate process for the harnesses
// that test it from outside. Start with [Builds] and [Start].
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
	startsIn     = 5 * time.Minute // timeout for the start, long enough for a slow machine
	stopsIn      = 2 * time.Minute
	probeTimeout = 10 * time.Second // timeout for a request to /readyz
)

// Process is a running process of the program. Create it with [Start].
type Process struct {
	Base, Admin string // URLs of the public and the admin listener, in the form http://HOST:PORT

	cmd  *exec.Cmd
	done chan struct{}
}

// Command contains the options for a process.
type Command struct {
	Binary string
	Dir    string   // folder that contains the data folder [DataFolder] and the log [LogFile]
	Data   string   // path of the data folder, if it is not in Dir
	Args   []string // additional arguments of "serve"
	Env    []string // additional environment variables in the form NAME=value
	Reach  string   // addresses that the program may fetch from and notify [127.0.0.0/8]
	Files  int      // limit of open files; 0 keeps the limit of this process

	CrashSignal <-chan struct{} // if the channel is closed before the program is ready, Start kills the program and returns ErrCrashed
}

// ErrCrashed means that CrashSignal was closed before the process was ready.
var ErrCrashed = errors.New("killed during its start")

// These are names in [Command.Dir].
const (
	DataFolder = "data"
	LogFile    = "log"
)

// Start starts the program and waits until it is ready. If a port is in use, Start repeats the
// attempt up to 20 times. The end of ctx kills the process.
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

// start executes one attempt of Start.
func (c Command) start(ctx context.Context) (*Process, error) {
	data := c.Data
	if data == "" {
		data = filepath.Join(c.Dir, DataFolder)
	}
	for _, name := range []string{"admin.addr", "listen.addr"} {
		if err := os.Remove(filepath.Join(data, name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			select {
			case <-c.CrashSignal: // the simulated disk has stopped before this removal
				return nil, ErrCrashed
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
	before, _ := log.Seek(0, io.SeekEnd) // the output of earlier processes ends here
	cmd := c.command(ctx, data)
	cmd.Env = append(os.Environ(), c.Env...)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &Process{cmd: cmd, done: make(chan struct{})}
	go func() { _ = cmd.Wait(); close(p.done) }() // a killed process always ends with an error
	if err := p.ready(data, c.CrashSignal); err != nil {
		select {
		case <-c.CrashSignal: // the simulated disk may have ended the process
			p.Kill()
			return nil, ErrCrashed
		default:
		}
		if ended := p.Ended(); ended {
			return nil, fmt.Errorf("the program ended by itself; end of its log: %s", LogTail(c.Dir, before))
		}
		p.Kill()
		return nil, err
	}
	return p, nil
}

// command returns the command that runs the server on a data folder.
func (c Command) command(ctx context.Context, data string) *exec.Cmd {
	reach := cmp.Or(c.Reach, "127.0.0.0/8")
	args := append([]string{"serve", "--listen", "127.0.0.1:0", "--admin.listen", "127.0.0.1:0", "--data", data,
		"--egress.allow-fetch", reach, "--egress.allow-callback", reach, "--log.level", "error"}, c.Args...)
	if c.Files == 0 {
		return exec.CommandContext(ctx, c.Binary, args...)
	}
	// The shell sets the limit and then replaces itself with the program, so the process ID stays
	// the same.
	return exec.CommandContext(ctx, "sh", append([]string{"-c", `ulimit -n "$0" && exec "$@"`, strconv.Itoa(c.Files), c.Binary}, args...)...)
}

// ready waits until the process listens and /readyz returns status 200.
func (p *Process) ready(data string, crash <-chan struct{}) error {
	client := &http.Client{Timeout: probeTimeout, Transport: &http.Transport{DisableKeepAlives: true}}
	for end := time.Now().Add(startsIn); time.Now().Before(end); {
		select {
		case <-crash:
			return ErrCrashed
		case <-p.done:
			return errors.New("the process ended")
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

// ID returns the process ID.
func (p *Process) ID() int { return p.cmd.Process.Pid }

// Signal sends a signal to the process.
func (p *Process) Signal(s os.Signal) error { return p.cmd.Process.Signal(s) }

// Ended reports whether the process has ended.
func (p *Process) Ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// Kill kills the process and waits for its end.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill() // an error means that the process has already ended
	<-p.done
}

// Stop sends SIGTERM and waits for the end of the process. It fails after a timeout, or if the
// exit status is not 0.
func (p *Process) Stop() error {
	if err := p.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case <-p.done:
	case <-time.After(stopsIn):
		return fmt.Errorf("the process still runs %s after SIGTERM", stopsIn)
	}
	if !p.cmd.ProcessState.Success() {
		return fmt.Errorf("after SIGTERM the process ended with %s", p.cmd.ProcessState)
	}
	return nil
}

// LogTail returns the last 2,000 bytes of the log in the folder dir, without its first skip bytes. It
// returns "" if the log cannot be read, because the text is only shown to help.
func LogTail(dir string, skip int64) string {
	text, _ := os.ReadFile(filepath.Join(dir, LogFile))
	text = text[min(skip, int64(len(text))):]
	return string(text[max(0, len(text)-2000):])
}

func readAddr(data, name string) string {
	b, err := os.ReadFile(filepath.Join(data, name))
	if err != nil || !strings.HasSuffix(string(b), "\n") {
		return ""
	}
	return "http://" + strings.TrimSpace(string(b))
}
