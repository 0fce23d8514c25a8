package storetest

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"cloudburst/internal/nettest"
)

// Standby creates a second server that replicates c. From then on c acknowledges only data that is
// on the disks of both servers. The caller must stop the second server. Promote makes it the
// primary.
func (c *Cluster) Standby() (_ *Cluster, err error) {
	dir, err := tempDir()
	if err != nil {
		return nil, err
	}
	s := &Cluster{dir: dir, bin: c.bin, settings: c.settings}
	defer func() {
		if err != nil {
			s.Stop()
		}
	}()
	if s.attr, err = asPostgres(dir); err != nil {
		return nil, err
	}
	backup := exec.Command(filepath.Join(c.bin, "pg_basebackup"), "-h", "127.0.0.1", "-p", strconv.Itoa(c.port), "-U", "cloudburst",
		"-D", filepath.Join(dir, "data"), "-R", "-X", "stream", "-c", "fast", "--no-sync")
	backup.SysProcAttr, backup.Dir = s.attr, dir
	if out, err := backup.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("pg_basebackup: %w\n%s", err, out)
	}
	if s.port, err = nettest.FreePort(); err != nil {
		return nil, err
	}
	if err = s.Start(); err != nil {
		return nil, err
	}
	return s, c.sync()
}

// sync makes commits of c wait for the standby, and returns when the standby is connected.
func (c *Cluster) sync() error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, c.URL("postgres"))
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	for _, statement := range []string{"ALTER SYSTEM SET synchronous_standby_names = '*'", "SELECT pg_reload_conf()"} {
		if _, err := conn.Exec(ctx, statement); err != nil {
			return err
		}
	}
	for {
		var n int
		if err := conn.QueryRow(ctx, "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync' AND state = 'streaming'").Scan(&n); err != nil {
			return fmt.Errorf("the standby does not replicate: %w", err)
		}
		if n > 0 {
			return nil
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// Promote makes a standby the primary.
func (c *Cluster) Promote() error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, c.URL("postgres"))
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	var done bool
	err = conn.QueryRow(ctx, "SELECT pg_promote(true, 25)").Scan(&done)
	if err == nil && !done {
		err = fmt.Errorf("the standby was not promoted within 25 s")
	}
	return err
}

// Either returns the URL of a database on the first of two servers that accepts writes.
func Either(a, b *Cluster, database string) string {
	host := func(c *Cluster) string { return "127.0.0.1:" + strconv.Itoa(c.port) }
	return strings.Replace(a.URL(database), host(a), host(a)+","+host(b), 1) + "&target_session_attrs=read-write"
}
