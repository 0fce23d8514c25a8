package bench

import (
	"bufio"
	"bytes"
	"cloudburst/internal/cputime"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// process is a child process that the measurement started and must stop.
type process struct {
	name   string
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout *bufio.Reader
	stderr string // file with the standard error of the process
	ended  chan struct{}
	err    error // exit error; valid after ended is closed
}

// start starts exe with args. A nonzero noFile sets the limit of open files. The standard error
// is written to a file in dir.
func start(dir, name string, noFile int, exe string, args ...string) (*process, error) {
	if noFile > 0 {
		// The shell sets the limit and becomes the program, so the process ID stays the same.
		args = append([]string{"-c", `ulimit -n "$0" && exec "$@"`, strconv.Itoa(noFile), exe}, args...)
		exe = "/bin/sh"
	}
	p := &process{name: name, cmd: exec.Command(exe, args...), stderr: filepath.Join(dir, name+".log"), ended: make(chan struct{})}
	log, err := os.OpenFile(p.stderr, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	p.cmd.Stderr = log
	p.cmd.Dir = dir
	p.cmd.SysProcAttr = dieWithParent()
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.stdout = bufio.NewReader(out)
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the %s: %w", name, err)
	}
	go func() {
		state, err := p.cmd.Process.Wait()
		if err == nil && !state.Success() {
			err = errors.New(state.String())
		}
		p.err = err
		close(p.ended)
	}()
	return p, nil
}

func (p *process) pid() int { return p.cmd.Process.Pid }

// stop asks the process to end, and kills it after the timeout.
func (p *process) stop(within time.Duration) error {
	_ = p.stdin.Close() // a helper process ends when its input ends
	// An error means that the process has already ended.
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	timer := time.NewTimer(within)
	defer timer.Stop()
	select {
	case <-p.ended:
		return nil
	case <-timer.C:
		_ = p.cmd.Process.Kill()
		<-p.ended
		return fmt.Errorf("the %s did not end within %s and was killed", p.name, within)
	}
}

// kill kills the process and waits for its end.
func (p *process) kill() {
	_ = p.cmd.Process.Kill() // an error means that the process has already ended
	<-p.ended
}

// stderrTail returns the end of the process's standard error.
func (p *process) stderrTail() string {
	text, err := os.ReadFile(p.stderr)
	if err != nil {
		return ""
	}
	text = bytes.TrimSpace(text)
	if len(text) > 1500 {
		text = append([]byte("…"), text[len(text)-1500:]...)
	}
	return string(text)
}

// gone returns the error for a process that ended unexpectedly.
func (p *process) gone() error {
	return fmt.Errorf("the %s ended by itself (%v); end of its standard error:\n%s", p.name, p.err, p.stderrTail())
}

// usage is the resource usage of a process. A value is 0 if the system does not report it.
type usage struct {
	rss   int64 // resident memory in bytes
	files int   // number of open descriptors
	cpu   time.Duration
}

func (p *process) usage() usage {
	var u usage
	dir := "/proc/" + strconv.Itoa(p.pid())
	if text, err := os.ReadFile(dir + "/statm"); err == nil {
		if f := strings.Fields(string(text)); len(f) > 1 {
			pages, _ := strconv.ParseInt(f[1], 10, 64)
			u.rss = pages * int64(os.Getpagesize())
		}
	}
	u.cpu = cputime.OfProcess(p.pid())
	// Since Linux 6.2, the size of the folder fd is the number of open descriptors.
	if info, err := os.Stat(dir + "/fd"); err == nil {
		if u.files = int(info.Size()); u.files == 0 {
			list, _ := os.ReadDir(dir + "/fd")
			u.files = len(list)
		}
	}
	return u
}

// watch samples the usage of p until ctx ends. The returned function waits for the end and
// returns the maximum of each value.
func (p *process) watch(ctx context.Context) (peak func() usage) {
	out := make(chan usage, 1)
	go func() {
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		var top usage
		for {
			u := p.usage()
			top.rss, top.files = max(top.rss, u.rss), max(top.files, u.files)
			select {
			case <-ctx.Done():
				out <- top
				return
			case <-tick.C:
			}
		}
	}()
	return func() usage { return <-out }
}
