// Package database creates databases for measurements, on a PostgreSQL server or on a Citus cluster,
// and measures what their servers use.
package database

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"cloudburst/internal/cputime"
	"cloudburst/internal/store/postgres"
)

// Database is a PostgreSQL database that exists for one part of a measurement, on one server or
// distributed over a Citus cluster.
type Database struct {
	URL     string       // of the database, for the program that is measured
	Drop    func() error // deletes the database, also after its context is canceled
	servers []server     // one server; or the coordinator, then the workers
}

// server is a database server.
type server struct {
	conn       *pgx.Conn
	postmaster int // process ID of the main PostgreSQL process; 0 if the server runs on another machine
}

// Create creates a database on a PostgreSQL server, whose user needs the CREATEDB privilege. For a
// Citus cluster, address is an empty database on the coordinator, and Create distributes its tables.
func Create(ctx context.Context, address string, citus bool) (*Database, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" {
		return nil, fmt.Errorf("the database %q is no address of PostgreSQL: it looks like postgres://user@host/database", address)
	}
	if citus {
		return distribute(ctx, u)
	}
	name := "cloudburst_measured_" + strings.ToLower(rand.Text()[:12])
	admin := func(ctx context.Context, text string) error {
		conn, err := pgx.Connect(ctx, address)
		if err == nil {
			_, err = conn.Exec(ctx, text)
			_ = conn.Close(ctx) // the statement has ended
		}
		return err
	}
	if err := admin(ctx, "CREATE DATABASE "+name); err != nil {
		return nil, fmt.Errorf("create a database for the measurement: %w", err)
	}
	u.Path = "/" + name
	return connect(ctx, []string{u.String()}, func(ctx context.Context) error { return admin(ctx, "DROP DATABASE "+name+" WITH (FORCE)") })
}

// distribute creates the tables of the program in an empty database of a Citus cluster. Drop leaves
// empty tables that the program calls incomplete, so that the next call of distribute replaces them.
func distribute(ctx context.Context, u *url.URL) (*Database, error) {
	fill := func(ctx context.Context, replace, spread bool) (*postgres.Whole, error) {
		return postgres.Fill(ctx, u.String(), replace, spread)
	}
	w, err := fill(ctx, false, true)
	if err == nil {
		err = errors.Join(w.Finish(ctx), w.Close())
	}
	if err != nil {
		return nil, err
	}
	addresses := []string{u.String()}
	conn, err := pgx.Connect(ctx, u.String())
	if err == nil {
		defer conn.Close(ctx)
		rows, _ := conn.Query(ctx, `SELECT nodename, nodeport FROM pg_dist_node WHERE shouldhaveshards ORDER BY nodeid`) // ForEachRow returns the error
		var name string
		var port int
		_, err = pgx.ForEachRow(rows, []any{&name, &port}, func() error {
			worker := *u
			worker.Host = net.JoinHostPort(name, strconv.Itoa(port))
			addresses = append(addresses, worker.String())
			return nil
		})
	}
	if err != nil {
		return nil, err
	}
	return connect(ctx, addresses, func(ctx context.Context) error {
		w, err := fill(ctx, true, false)
		if err == nil {
			err = w.Close()
		}
		return err
	})
}

// connect connects to the servers of a new database. After an error it deletes the database.
func connect(ctx context.Context, addresses []string, drop func(context.Context) error) (*Database, error) {
	d := &Database{URL: addresses[0]}
	d.Drop = func() error {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		for _, s := range d.servers {
			_ = s.conn.Close(ctx) // the connection is not needed any more
		}
		return drop(ctx)
	}
	for _, address := range addresses {
		conn, err := pgx.Connect(ctx, address)
		if err != nil {
			return nil, errors.Join(err, d.Drop())
		}
		d.servers = append(d.servers, server{conn: conn})
		var pid int
		if err := conn.QueryRow(ctx, "SELECT pg_backend_pid()").Scan(&pid); err != nil {
			return nil, errors.Join(err, d.Drop())
		}
		// If the server runs on another machine, pid is not the ID of a local PostgreSQL process.
		if name, parent := processOf(pid); name == "postgres" {
			d.servers[len(d.servers)-1].postmaster = parent
		}
	}
	return d, nil
}

// Local reports whether the processes of all servers are on this machine, so that their CPU time
// can be measured.
func (d *Database) Local() bool {
	return !slices.ContainsFunc(d.servers, func(n server) bool { return n.postmaster == 0 })
}

// Use is the total usage of database servers, including all their databases.
type Use struct {
	CPU    time.Duration
	Writes int64 // transactions that wrote data
	WAL    int64 // bytes written to the write-ahead log
}

// Use returns the usage of the server or of all workers, and the usage of the coordinator.
func (d *Database) Use(ctx context.Context) (all, coordinator Use, err error) {
	for i, n := range d.servers {
		u := Use{CPU: familyCPU(n.postmaster)}
		if err := n.conn.QueryRow(ctx, `SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint,
			(pg_current_wal_insert_lsn() - '0/0')::bigint`).Scan(&u.Writes, &u.WAL); err != nil {
			return all, coordinator, err
		}
		if i == 0 && len(d.servers) > 1 {
			coordinator = u
			continue
		}
		all = Use{all.CPU + u.CPU, all.Writes + u.Writes, all.WAL + u.WAL}
	}
	return all, coordinator, nil
}

// Size returns the bytes of a table with its indexes on all servers.
func (d *Database) Size(ctx context.Context, table string) (float64, error) {
	text := `SELECT pg_total_relation_size($1::regclass)::float8`
	if len(d.servers) > 1 {
		text = `SELECT CASE WHEN EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = $1::regclass)
			THEN citus_total_relation_size($1::regclass) ELSE pg_total_relation_size($1::regclass) END::float8`
	}
	return d.Number(ctx, text, table)
}

// Number runs a query that returns one number.
func (d *Database) Number(ctx context.Context, text string, args ...any) (v float64, err error) {
	err = d.servers[0].conn.QueryRow(ctx, text, args...).Scan(&v)
	return v, err
}

// processOf returns the name of a process and its parent's ID, or "" if there is no process pid.
func processOf(pid int) (name string, parent int) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return "", 0
	}
	from, to := strings.IndexByte(string(text), '('), strings.LastIndexByte(string(text), ')')
	if from < 0 || to < from {
		return "", 0
	}
	if f := strings.Fields(string(text[to+1:])); len(f) > 1 {
		parent, _ = strconv.Atoi(f[1])
	}
	return string(text[from+1 : to]), parent
}

// familyCPU returns the CPU time of a process and of its running and ended children.
func familyCPU(pid int) time.Duration {
	if pid == 0 {
		return 0
	}
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0
	}
	sum := cputime.OfStat(string(text)) + endedCPU(string(text))
	others, _ := filepath.Glob("/proc/[0-9]*/stat") // the pattern is valid
	for _, file := range others {
		child, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err != nil {
			continue
		}
		if _, parent := processOf(child); parent != pid {
			continue
		}
		if text, err := os.ReadFile(file); err == nil { // the child may have ended since the listing
			sum += cputime.OfStat(string(text))
		}
	}
	return sum
}

// endedCPU returns the CPU time of ended children from fields 16 and 17 of /proc/PID/stat.
func endedCPU(stat string) time.Duration {
	f := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	if len(f) < 15 {
		return 0
	}
	user, _ := strconv.ParseInt(f[13], 10, 64)
	system, _ := strconv.ParseInt(f[14], 10, 64)
	return time.Duration(user+system) * 10 * time.Millisecond
}
