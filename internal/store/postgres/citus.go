package postgres

import (
	"context"
	"database/sql"
	"slices"

	"cloudburst/internal/fault"
	"cloudburst/internal/store/sqldb"
)

// isDistributed reports whether the program's tables are distributed over a Citus cluster.
func isDistributed(ctx context.Context, q querier) (bool, error) {
	tables, err := distributed(ctx, q)
	return slices.Contains(tables, "topic"), err
}

// distributed returns the program's tables that Citus distributes.
func distributed(ctx context.Context, q querier) ([]string, error) {
	installed, err := collect(ctx, q, `SELECT extname FROM pg_extension WHERE extname = 'citus'`)
	if err != nil || len(installed) == 0 {
		return nil, err
	}
	return collect(ctx, q, `SELECT c.relname FROM pg_dist_partition AS d JOIN pg_class AS c ON c.oid = d.logicalrelid
		JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE n.nspname = current_schema()`)
}

func collect(ctx context.Context, q querier, text string) ([]string, error) {
	rows, err := q.QueryContext(ctx, text)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []string
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, rows.Err()
}

// distribute distributes the tables of [sqldb.Placements] that are not distributed yet. Several
// processes may call it at the same time.
func distribute(ctx context.Context, db *sql.DB) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, `SELECT pg_advisory_lock($1)`, distributeLock); err != nil {
		return err
	}
	defer conn.ExecContext(context.WithoutCancel(ctx), `SELECT pg_advisory_unlock($1)`, distributeLock)
	have, err := distributed(ctx, conn)
	if err != nil {
		return err
	}
	for _, p := range sqldb.Placements() {
		if p.Local() || slices.Contains(have, p.Table) {
			continue
		}
		for _, text := range p.Before {
			if _, err := conn.ExecContext(ctx, text); err != nil {
				return err
			}
		}
		text, args := `SELECT create_distributed_table($1, $2, colocate_with => $3)`, []any{p.Table, p.Column, "topic"}
		switch {
		case p.Copied:
			text, args = `SELECT create_reference_table($1)`, []any{p.Table}
		case p.Table == "topic":
			args[2] = "none"
		}
		if _, err := conn.ExecContext(ctx, text, args...); err != nil {
			return err
		}
	}
	return nil
}

// distributeLock is the advisory lock for the distribution of tables.
const distributeLock = useLock + 1

// needCluster rejects a database that cannot be distributed.
func needCluster(ctx context.Context, db *sql.DB, where string) error {
	installed, err := collect(ctx, db, `SELECT extname FROM pg_extension WHERE extname = 'citus'`)
	if err != nil {
		return err
	}
	if len(installed) == 0 {
		return fault.New(fault.Invalid, "The database %s is not a Citus cluster: run CREATE EXTENSION citus in it on each node, and add the workers with citus_add_node.", where)
	}
	workers, err := collect(ctx, db, `SELECT nodename FROM pg_dist_node WHERE isactive AND noderole = 'primary' AND shouldhaveshards`)
	if err == nil && len(workers) == 0 {
		err = fault.New(fault.Invalid, "The Citus cluster %s has no worker: add the workers with citus_add_node.", where)
	}
	return err
}
