package operatecli

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"cloudburst/internal/cli/shell"
	"cloudburst/internal/config"
	"cloudburst/internal/store"
	"cloudburst/internal/text"
)

const restoreHelp = `Looks over FILE, which "cloudburst backup" wrote: whether its content has the SHA-256
that it carries, is a database of this program, and of a version that it knows. A
backup of a version that wrote no SHA-256 is restored too, and the output states that
its content cannot be verified; damage to its structure is still found. Says what it
holds, and puts it into the data folder (--data) or, with --database, into PostgreSQL.
The server must be stopped. A backup of either kind can be restored to either.

A folder or database with something in it is refused, unless --replace says that it
may go: in a folder the old database stays beside the new one, under another name.
It is put in place whole or not at all, and is on disk when this command ends. When it
is broken off, no server opens what is half there; run it again.

A key beside the backup, FILE.key (see "cloudburst backup --with-key"), is put into
the folder too, as secret.key.

--json prints an object: sha256 (missing when the content could not be verified),
schema, rows (an object), newest, aside, key.`

func (p *commands) restore() *cobra.Command {
	var replace, asJSON bool
	c := &cobra.Command{
		Use:     "restore FILE",
		Short:   "Put a backup back, into a data folder or a PostgreSQL database",
		Long:    restoreHelp,
		Example: "  cloudburst restore --data /var/lib/cloudburst /backup/cloudburst-20261122T030000Z.db",
		Args:    shell.Between(1, 1, "the name of one FILE"),
		RunE: func(c *cobra.Command, args []string) error {
			e, err := p.LoadConfig(c.Flags())
			if err != nil {
				return err
			}
			to := e.Config.Data
			if e.Config.Database != "" {
				to = e.Config.Database
			}
			bar := shell.NewProgress(p.Err, "")
			var holds *store.Examined
			r, err := store.Restore(c.Context(), store.RestoreOptions{File: args[0], To: to, Replace: replace, Now: time.Now(), OnProgress: stages(bar),
				Found: func(x *store.Examined) error {
					if holds = x; !asJSON {
						p.printHeld(args[0], x)
					}
					return nil
				}})
			bar.End()
			if err != nil {
				return err
			}
			if asJSON {
				return shell.JSONLines(p.Out).Encode(restored{SHA256: holds.SHA256, Schema: holds.Schema, Rows: holds.Rows, Newest: holds.Newest, Aside: r.Aside, Key: r.Key})
			}
			fmt.Fprintf(p.Out, "Restored to %s. Start the server on it.\n", place(to))
			p.printPlaced(r)
			if r.Key == "" {
				fmt.Fprintln(p.Err, "No key of the readers' secrets was restored: unless accounts.secret-key is set, secret.key in the data folder has to be the one of that time.")
			}
			return nil
		},
	}
	config.AddFlags(c.Flags(), "data", "database")
	c.Flags().BoolVar(&replace, "replace", false, "what is there already may go")
	c.Flags().BoolVar(&asJSON, "json", false, "the outcome as a JSON object")
	return c
}

// restored is what restore prints for programs.
type restored struct {
	SHA256 string           `json:"sha256,omitempty"` // of the content; "": the file carries none
	Schema int64            `json:"schema"`
	Rows   map[string]int64 `json:"rows"`
	Newest time.Time        `json:"newest,omitzero"` // of the log
	Aside  string           `json:"aside,omitempty"`
	Key    string           `json:"key,omitempty"`
}

// printHeld says what a backup holds.
func (p *commands) printHeld(file string, x *store.Examined) {
	var parts []string
	for _, of := range [][2]string{{"account", "account"}, {"post", "post"}, {"saved", "saved feed"}, {"topic", "topic"}, {"subscription", "subscription"},
		{"source", "feed that is read"}, {"item", "item"}, {"event", "event"}} {
		n, ok := x.Rows[of[0]]
		switch {
		case !ok:
		case of[0] == "source" && n != 1:
			parts = append(parts, fmt.Sprintf("%d feeds that are read", n))
		default:
			parts = append(parts, text.Plural(int(n), of[1]))
		}
	}
	newest := "; its log is empty"
	if !x.Newest.IsZero() {
		newest = "; the newest event is of " + shell.FormatTime(&x.Newest)
	}
	verdict := "has the content that was written: its SHA-256 is " + x.SHA256
	if x.SHA256 == "" {
		verdict = "carries no SHA-256 (earlier versions wrote none), so its content cannot be verified; its structure is sound"
	}
	fmt.Fprintf(p.Out, "%s %s.\nIt holds %s%s.\n", shell.Clean(file), verdict, strings.Join(parts, ", "), newest)
}
