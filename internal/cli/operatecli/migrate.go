package operatecli

import (
	"fmt"
	"path/filepath"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"cloudburst/internal/cli/shell"
	"cloudburst/internal/config"
	"cloudburst/internal/store"
	"cloudburst/internal/text"
)

func (p *commands) migrate() *cobra.Command {
	var from, to string
	var replace, distributed, asJSON bool
	c := &cobra.Command{
		Use:   "migrate --from PLACE --to PLACE",
		Short: "Move all data between SQLite and PostgreSQL and verify the copy",
		Long: `Copies all data from one database to another. PLACE is a data folder with an SQLite
database, or the URL of a PostgreSQL database (postgres://…). Stop all servers that use
either database; none can start during the move.

The command copies each table, reads it again at the destination, and compares and prints
the number of rows and their hash. It does not change the source. The destination must be
empty, unless you set --replace: an existing SQLite database is renamed in its folder,
and the tables of a PostgreSQL database are deleted.

After an interruption no server opens the incomplete copy; run the command again to start
over. Both databases must have the schema of this program; a start of the server updates
an older schema.

The command rebuilds the search index last. If only this step is interrupted, the server
completes it. The key of the readers' secrets, secret.key, is copied from folder to
folder; with PostgreSQL the key stays in the data folders of the servers.

--json prints an object: tables (a list of table, rows, hash, mended), aside, key.`,
		Example: "  cloudburst migrate --from /var/lib/cloudburst --to postgres://cloudburst@db.example.org/cloudburst",
		Args:    shell.Between(0, 0, ""),
		RunE: func(c *cobra.Command, _ []string) error {
			if from == "" || to == "" {
				return shell.Usagef("cloudburst migrate needs --from and --to, each a data folder or a URL postgres://…")
			}
			for _, place := range []string{from, to} {
				if err := store.CheckLocation(place); err != nil {
					return shell.AsUsageError(err)
				}
			}
			bar := shell.NewProgress(p.Err, "")
			r, err := store.Move(c.Context(), store.MoveOptions{From: from, To: to, Replace: replace, Distribute: distributed, Now: time.Now(), OnProgress: stages(bar)})
			bar.End()
			if err != nil {
				return err
			}
			if asJSON {
				return shell.JSONLines(p.Out).Encode(r)
			}
			return p.printTables(from, to, r)
		},
	}
	c.Flags().StringVar(&from, "from", "", "source: a data `folder` or the URL of a PostgreSQL database")
	c.Flags().StringVar(&to, "to", "", "destination: a data `folder` or the URL of an empty PostgreSQL database")
	c.Flags().BoolVar(&replace, "replace", false, "replace existing data at the destination")
	c.Flags().BoolVar(&distributed, "distributed", false, "distribute the tables over the Citus cluster of the destination")
	c.Flags().BoolVar(&asJSON, "json", false, "print the result as a JSON object")
	return c
}

// place formats the location of the data: a folder, or a database URL without its password.
func place(s string) string {
	if store.IsDatabaseURL(s) {
		return config.Redact(s)
	}
	return shell.Clean(s)
}

func (p *commands) printTables(from, to string, r *store.Result) error {
	t := shell.NewTable(p.Out, "table", "rows", "hash on both sides")
	var rows, repaired int64
	for _, m := range r.Tables {
		if err := t.Row(m.Table, strconv.FormatInt(m.Rows, 10), m.Hash[:16]); err != nil {
			return err
		}
		rows, repaired = rows+m.Rows, repaired+m.Repaired
	}
	if err := t.End(); err != nil {
		return err
	}
	fmt.Fprintf(p.Err, "Moved %s in %s from %s to %s; each table is the same on both sides.\n", text.Plural(int(rows), "row"), text.Plural(len(r.Tables), "table"), place(from), place(to))
	if repaired > 0 {
		fmt.Fprintf(p.Err, "%s had bytes that PostgreSQL cannot store; each is replaced by U+FFFD.\n", text.Plural(int(repaired), "text"))
	}
	p.printPlaced(r)
	switch {
	case r.Key != "":
	case store.IsDatabaseURL(to) && !store.IsDatabaseURL(from):
		fmt.Fprintf(p.Err, "The key of the readers' secrets is not in the database: keep %s, and copy it into the data folder of each server (or set accounts.secret-key).\n", shell.Clean(filepath.Join(from, store.KeyFile)))
	case store.IsDatabaseURL(from) && !store.IsDatabaseURL(to):
		fmt.Fprintf(p.Err, "The key of the readers' secrets was not in the database: copy secret.key from the data folder of a server that used it to %s (or keep accounts.secret-key set).\n", shell.Clean(to))
	}
	return nil
}

// printPlaced prints where the old database and the key are now.
func (p *commands) printPlaced(r *store.Result) {
	if r.Aside != "" {
		fmt.Fprintf(p.Err, "The previous database is now %s.\n", shell.Clean(r.Aside))
	}
	if r.Key != "" {
		fmt.Fprintf(p.Err, "The key of the readers' secrets is %s.\n", shell.Clean(r.Key))
	}
}

// stages returns a function that displays the progress of a migration.
func stages(bar *shell.Progress) func(store.Progress) {
	return func(s store.Progress) {
		switch s.Stage {
		case "search":
			bar.What = "Indexing"
		case "check":
			bar.What = "Checking " + s.Table
		default:
			bar.What = "Copying " + s.Table
		}
		bar.At(int(s.Done), int(s.Total))
	}
}
