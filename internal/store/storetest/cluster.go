package storetest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"cloudburst/internal/nettest"
)

// Cluster is a PostgreSQL server in a temporary folder, on a free loopback port. All durability
// settings are on unless a test switches them off.
type Cluster struct {
	dir, bin string
	port     int
	attr     *syscall.SysProcAttr
	settings []string // additional settings, which override the defaults

	process *os.Process
	ended   chan struct{} // closed when the process has ended
}

// install explains how to install PostgreSQL.
const install = "PostgreSQL's programs (initdb, postgres) were not found: install the postgresql package (apt-get install postgresql); these tests are never skipped"

// StartCluster creates and starts a cluster. The caller must stop it. Settings have the form
// NAME=VALUE, as in the server's configuration file, and override the defaults.
func StartCluster(settings ...string) (_ *Cluster, err error) {
	bin, err := findPostgres()
	if err != nil {
		return nil, err
	}
	dir, err := tempDir()
	if err != nil {
		return nil, err
	}
	c := &Cluster{dir: dir, bin: bin, settings: settings}
	defer func() {
		if err != nil {
			c.Stop()
		}
	}()
	if c.attr, err = asPostgres(dir); err != nil {
		return nil, err
	}
	initdb := exec.Command(filepath.Join(bin, "initdb"), "--pgdata="+filepath.Join(dir, "data"), "--auth=trust",
		"--username=cloudburst", "--encoding=UTF8", "--locale=C", "--no-sync")
	initdb.SysProcAttr, initdb.Dir = c.attr, dir
	if out, err := initdb.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("initdb: %w\n%s", err, out)
	}
	for range 5 { // another program may take the free port first
		if c.port, err = nettest.FreePort(); err != nil {
			return nil, err
		}
		if err = c.Start(); err == nil {
			return c, nil
		}
	}
	return nil, err
}

func tempDir() (string, error) { return os.MkdirTemp("", "cloudburst-pg-") }

// findPostgres returns the folder with initdb and postgres.
func findPostgres() (string, error) {
	dirs, _ := filepath.Glob("/usr/lib/postgresql/*/bin") // the pattern is well-formed
	slices.Sort(dirs)
	slices.Reverse(dirs)
	if out, err := exec.Command("pg_config", "--bindir").Output(); err == nil {
		dirs = append(dirs, strings.TrimSpace(string(out)))
	}
	if initdb, err := exec.LookPath("initdb"); err == nil {
		dirs = append(dirs, filepath.Dir(initdb))
	}
	for _, dir := range dirs {
		_, err1 := os.Stat(filepath.Join(dir, "initdb"))
		_, err2 := os.Stat(filepath.Join(dir, "postgres"))
		if err1 == nil && err2 == nil {
			return dir, nil
		}
	}
	return "", errors.New(install)
}

// asPostgres gives the folder to the user postgres if the process runs as root: PostgreSQL refuses
// to run as root.
func asPostgres(dir string) (*syscall.SysProcAttr, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", install, err)
	}
	uid, err1 := strconv.Atoi(u.Uid)
	gid, err2 := strconv.Atoi(u.Gid)
	if err := errors.Join(err1, err2, os.Chown(dir, uid, gid)); err != nil {
		return nil, err
	}
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}, nil
}

// Start starts the server, which must not be running, and waits until it accepts connections.
func (c *Cluster) Start() error {
	log, err := os.OpenFile(filepath.Join(c.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	server := exec.Command(filepath.Join(c.bin, "postgres"), "-D", filepath.Join(c.dir, "data"), "-p", strconv.Itoa(c.port),
		"-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories="+c.dir,
		"-c", "fsync=on", "-c", "full_page_writes=on", "-c", "synchronous_commit=on",
		"-c", "max_connections=200", "-c", "shared_buffers=64MB")
	for _, s := range c.settings {
		server.Args = append(server.Args, "-c", s)
	}
	server.Dir, server.Stdout, server.Stderr = c.dir, log, log
	server.SysProcAttr = dieWithUs(c.attr)
	c.ended = make(chan struct{})
	started := make(chan error)
	go func() {
		// Pdeathsig takes effect when the thread ends that starts the process, so keep that thread.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer close(c.ended)
		err := server.Start()
		started <- err
		if err == nil {
			_ = server.Wait() // the exit status is in its log
		}
	}()
	if err := <-started; err != nil {
		return err
	}
	c.process = server.Process
	if err := c.await(); err != nil {
		c.signal(syscall.SIGQUIT)
		tail, _ := os.ReadFile(log.Name())
		return fmt.Errorf("PostgreSQL does not start: %w\n%s", err, tail[max(0, len(tail)-2000):])
	}
	return nil
}

// startsIn is the maximum time that a server may take to start, on a very busy machine.
const startsIn = 5 * time.Minute

// await waits until the server accepts connections.
func (c *Cluster) await() error {
	deadline := time.NewTimer(startsIn)
	defer deadline.Stop()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		ctx, cancel := context.WithTimeout(context.Background(), startsIn)
		conn, err := pgx.Connect(ctx, c.URL("postgres"))
		if err == nil {
			err = errors.Join(conn.Ping(ctx), conn.Close(ctx))
		}
		cancel()
		if err == nil {
			return nil
		}
		select {
		case <-tick.C:
		case <-c.ended:
			return errors.New("the server ended")
		case <-deadline.C:
			return fmt.Errorf("no answer within %s: %w", startsIn, err)
		}
	}
}

// Crash ends the server immediately, like a crash. Start starts it again.
func (c *Cluster) Crash() { c.signal(syscall.SIGQUIT) }

// Halt shuts the server down without waiting for clients. Start starts it again.
func (c *Cluster) Halt() { c.signal(os.Interrupt) }

func (c *Cluster) signal(s os.Signal) {
	if c.process == nil {
		return
	}
	_ = c.process.Signal(s) // the process may have ended already
	<-c.ended
	c.process = nil
}

// Stop ends the server and deletes its folder.
func (c *Cluster) Stop() {
	c.signal(os.Interrupt)
	os.RemoveAll(c.dir)
}

// URL returns the URL of a database of the cluster.
func (c *Cluster) URL(database string) string {
	return fmt.Sprintf("postgres://cloudburst@127.0.0.1:%d/%s?sslmode=disable", c.port, database)
}

// Database creates an empty database and returns its URL.
func (c *Cluster) Database(name string) (string, error) {
	return makeDatabase(c.URL("postgres"), name)
}
