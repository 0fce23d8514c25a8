package compare

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"cloudburst/internal/cputime"
)

const (
	readyWithin = 2 * time.Minute
	stopWithin  = 15 * time.Second
	tick        = 5 * time.Millisecond
)

// program is a running server. The end of the context passed to launch kills the server.
type program struct {
	name  string
	base  string // http: // base URL in the form http://127.0.0.1:PORT
	cmd   *exec.Cmd
	log   string // file with the standard output and standard error of the server
	ended chan struct{}
}

// launch starts a server in its own folder, and waits until the server answers HTTP requests at
// base.
func launch(ctx context.Context, name, dir, base string, env []string, argv ...string) (*program, error) {
	p := &program{name: name, base: base, log: filepath.Join(dir, "output.log"), ended: make(chan struct{})}
	out, err := os.Create(p.log)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	p.cmd = exec.CommandContext(ctx, argv[0], argv[1:]...)
	p.cmd.Dir, p.cmd.Env, p.cmd.Stdout, p.cmd.Stderr = dir, append(os.Environ(), env...), out, out
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	go func() {
		defer close(p.ended)
		_ = p.cmd.Wait() // the log file states why the server ended
	}()
	ctx, cancel := context.WithTimeout(ctx, readyWithin)
	defer cancel()
	err = poll(ctx, tick, func() (bool, error) {
		select {
		case <-p.ended:
			return false, fmt.Errorf("%s ended by itself:\n%s", name, p.output())
		default:
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/", nil)
		if err != nil {
			return false, err
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			return false, nil // the server does not listen yet
		}
		return true, res.Body.Close()
	})
	if err != nil {
		p.stop()
		return nil, fmt.Errorf("%s does not answer at %s: %w", name, base, err)
	}
	return p, nil
}

// stop terminates the program, and kills it if it still runs after stopWithin.
func (p *program) stop() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM) // an error means that the process has already ended
	select {
	case <-p.ended:
	case <-time.After(stopWithin):
		_ = p.cmd.Process.Kill()
		<-p.ended
	}
}

func (p *program) output() string {
	text, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	return string(text[max(0, len(text)-1500):])
}

// cpu returns the CPU time of the process, without the CPU time of a database server.
func (p *program) cpu() time.Duration { return cputime.OfProcess(p.cmd.Process.Pid) }

// poll calls done repeatedly until done returns true or an error, or ctx ends.
func poll(ctx context.Context, every time.Duration, done func() (bool, error)) error {
	t := time.NewTicker(every)
	defer t.Stop()
	for {
		if ok, err := done(); ok || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-t.C:
		}
	}
}

// freePort returns a TCP port of 127.0.0.1 that is currently free. Another process can still take
// the port.
func freePort(ctx context.Context) (string, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return strconv.Itoa(l.Addr().(*net.TCPAddr).Port), l.Close()
}

// request sends one HTTP request, and returns the response body. kind is the Content-Type; header
// contains pairs of names and values. A status other than 2xx is an error.
func request(ctx context.Context, by *http.Client, method, url, kind string, body []byte, header ...string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	if kind != "" {
		req.Header.Set("Content-Type", kind)
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := by.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, 64<<20))
	if err == nil && res.StatusCode/100 != 2 {
		err = fmt.Errorf("%s %s: %s: %.300s", method, url, res.Status, text)
	}
	return text, err
}

// inFolder calls do with a new temporary folder, and removes the folder afterwards.
func inFolder(do func(dir string) error) error {
	dir, err := os.MkdirTemp("", "cloudburst-compare-")
	if err != nil {
		return err
	}
	return errors.Join(do(dir), os.RemoveAll(dir))
}
