package bench

import (
	"cloudburst/internal/cputime"
	"context"
	"crypto/rand"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// costDatabase is a PostgreSQL database that exists for one part of a measurement.
type costDatabase struct {
	server, name, address string
	conn                  *pgx.Conn
	postmaster            int // process ID of the main PostgreSQL process; 0 if the server runs on another machine
}

// makeDatabase creates a database. The user in the address needs the CREATEDB privilege.
func makeDatabase(ctx context.Context, address string) (*costDatabase, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" {
		return nil, fmt.Errorf("the database %q is no address of PostgreSQL: it looks like postgres://user@host/database", address)
	}
	d := &costDatabase{server: address, name: "cloudburst_costs_" + strings.ToLower(rand.Text()[:12])}
	if err := d.admin(ctx, "CREATE DATABASE "+d.name); err != nil {
		return nil, fmt.Errorf("a database for the measurement cannot be made: %w", err)
	}
	u.Path = "/" + d.name
	d.address = u.String()
	if d.conn, err = pgx.Connect(ctx, d.address); err != nil {
		return nil, err
	}
	var pid int
	if err := d.conn.QueryRow(ctx, "SELECT pg_backend_pid()").Scan(&pid); err != nil {
		return nil, err
	}
	// If the server runs on another machine, pid is not the ID of a local PostgreSQL process.
	if name, parent := processOf(pid); name == "postgres" {
		d.postmaster = parent
	}
	return d, nil
}

func (d *costDatabase) admin(ctx context.Context, text string) error {
	conn, err := pgx.Connect(ctx, d.server)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, text)
	return err
}

// drop deletes the database, even if the measurement was canceled.
func (d *costDatabase) drop() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	_ = d.conn.Close(ctx) // the next statement deletes the database even if this fails
	return d.admin(ctx, "DROP DATABASE "+d.name+" WITH (FORCE)")
}

// databaseUse is the total usage of the database server, including all its databases.
type databaseUse struct {
	cpu    time.Duration
	writes int64 // transactions that wrote data
	wal    int64 // bytes written to the write-ahead log
}

func (d *costDatabase) use(ctx context.Context) (u databaseUse, err error) {
	err = d.conn.QueryRow(ctx, `SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint, (pg_current_wal_insert_lsn() - '0/0')::bigint`).
		Scan(&u.writes, &u.wal)
	u.cpu = familyCPU(d.postmaster)
	return u, err
}

// number runs a query that returns one number.
func (d *costDatabase) number(ctx context.Context, text string) (v float64, err error) {
	err = d.conn.QueryRow(ctx, text).Scan(&v)
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
