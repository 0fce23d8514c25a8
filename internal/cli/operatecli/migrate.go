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
	var replace, asJSON bool
	c := &cobra.Command{
		Use:   "migrate --from PLACE --to PLACE",
		Short: "Move everything between SQLite and PostgreSQL, and check that it arrived",
		Long: `Copies everything from one database to another. A PLACE is a data folder, whose
database is SQLite, or the address of a PostgreSQL database (postgres://…). Both
must be stopped: no server may use either meanwhile, and none can.

Every table is copied, and then read again on the other side: the number of its rows
and a hash of them are compared and printed. The place that is read stays as it is.
The other one must be empty, or --replace said: the SQLite database that was there
stays beside the new one, the tables of a PostgreSQL database are removed.

When it is broken off, no server opens what is half there; run it again, and it
begins anew. Both must have the schema of this program, which a start brings about.

What is searched by is made anew at the end. When only that is broken off the server
does the rest. The key of the readers' secrets, secret.key, is copied from folder to
folder; with PostgreSQL it stays in the data folders of the servers.

--json prints an object: tables (a list of table, rows, hash, mended), aside, key.`,
		Example: "  cloudburst migrate --from /var/lib/cloudburst --to postgres://cloudburst@db.example.org/cloudburst",
		Args:    shell.Between(0, 0, ""),
		RunE: func(c *cobra.Command, _ []string) error {
			if from == "" || to == "" {
				return shell.Usagef("cloudburst migrate needs --from and --to, each a data folder or postgres://…")
			}
			bar := shell.NewProgress(p.Err, "")
			r, err := store.Move(c.Context(), store.MoveOptions{From: from, To: to, Replace: replace, Now: time.Now(), OnProgress: stages(bar)})
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
	c.Flags().StringVar(&from, "from", "", "data `folder`, or address of a PostgreSQL database, to read")
	c.Flags().StringVar(&to, "to", "", "data `folder`, or address of an empty PostgreSQL database, to fill")
	c.Flags().BoolVar(&replace, "replace", false, "what is in the place to fill may go")
	c.Flags().BoolVar(&asJSON, "json", false, "the outcome as a JSON object")
	return c
}

// place is a folder or an address without its password.
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
		fmt.Fprintf(p.Err, "%s had bytes that PostgreSQL cannot hold; a replacement character (U+FFFD) stands for each of them now.\n", text.Plural(int(repaired), "text"))
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

// printPlaced says what was put where besides.
func (p *commands) printPlaced(r *store.Result) {
	if r.Aside != "" {
		fmt.Fprintf(p.Err, "The database that was there before is %s now.\n", shell.Clean(r.Aside))
	}
	if r.Key != "" {
		fmt.Fprintf(p.Err, "The key of the readers' secrets is %s.\n", shell.Clean(r.Key))
	}
}

// stages shows how far a move is.
func stages(bar *shell.Progress) func(store.Progress) {
	return func(s store.Progress) {
		switch s.Stage {
		case "search":
			bar.What = "Making searchable"
		case "check":
			bar.What = "Checking " + s.Table
		default:
			bar.What = "Copying " + s.Table
		}
		bar.At(int(s.Done), int(s.Total))
	}
}
