package operatecli

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"cloudburst/internal/cli/shell"
	"cloudburst/internal/config"
	"cloudburst/internal/store"
	"cloudburst/internal/text"
)

const restoreHelp = `Restores FILE, written by "cloudburst backup", to the data folder (--data) or, with
--database, to PostgreSQL. The server must be stopped. You can restore a backup of either
kind to either kind. The command first verifies that FILE matches its SHA-256 and is a
database of this program in a known version. Backups of older versions have no SHA-256:
the command restores them too, checks their structure, and states that their content
cannot be verified. It prints what the backup contains.

The folder or database must be empty, unless you set --replace; an existing database in
a folder is renamed. The restore is complete or has no effect, and the data is on disk
when the command ends. After an interruption no server opens the incomplete data; run
the command again.

A key file FILE.key (see "cloudburst backup --with-key") is restored to the folder as
secret.key. With --database, copy it to the data folder of each server yourself.

--json prints an object: sha256 (missing when the content could not be verified),
schema, rows (an object), newest, aside, key.`

func (p *commands) restore() *cobra.Command {
	var replace, asJSON bool
	c := &cobra.Command{
		Use:     "restore FILE",
		Short:   "Restore a backup to a data folder or a PostgreSQL database",
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
			fmt.Fprintf(p.Out, "Restored to %s. You can start the server now.\n", place(to))
			p.printPlaced(r)
			if r.Key == "" {
				p.printMissingKey(args[0])
			}
			return nil
		},
	}
	config.AddFlags(c.Flags(), "data", "database")
	c.Flags().BoolVar(&replace, "replace", false, "replace existing data")
	c.Flags().BoolVar(&asJSON, "json", false, "print the result as a JSON object")
	return c
}

// printMissingKey prints where the key of a backup is that was restored without it.
func (p *commands) printMissingKey(file string) {
	key := file + store.KeySuffix
	if _, err := os.Stat(key); err == nil {
		fmt.Fprintf(p.Err, "The key of the readers' secrets is not in the database: unless accounts.secret-key is set, copy %s to the data folder of each server as %s.\n", shell.Clean(key), store.KeyFile)
		return
	}
	fmt.Fprintln(p.Err, "No key of the readers' secrets was restored: unless accounts.secret-key is set, copy secret.key of that time to the data folder.")
}

// restored is the output of restore --json.
type restored struct {
	SHA256 string           `json:"sha256,omitempty"` // SHA-256 of the content; "": the file does not contain one
	Schema int64            `json:"schema"`
	Rows   map[string]int64 `json:"rows"`
	Newest time.Time        `json:"newest,omitzero"` // time of the newest row of the log
	Aside  string           `json:"aside,omitempty"`
	Key    string           `json:"key,omitempty"`
}

// printHeld prints what a backup contains.
func (p *commands) printHeld(file string, x *store.Examined) {
	var parts []string
	for _, of := range [][2]string{{"account", "account"}, {"post", "post"}, {"saved", "saved feed"}, {"topic", "topic"}, {"subscription", "subscription"},
		{"source", "followed feed"}, {"item", "item"}, {"event", "event"}} {
		n, ok := x.Rows[of[0]]
		switch {
		case !ok:
		case of[0] == "source" && n != 1:
			parts = append(parts, fmt.Sprintf("%d followed feeds", n))
		default:
			parts = append(parts, text.Plural(int(n), of[1]))
		}
	}
	newest := "; its log is empty"
	if !x.Newest.IsZero() {
		newest = "; the newest event is of " + shell.FormatTime(&x.Newest)
	}
	verdict := "is intact: its SHA-256 is " + x.SHA256
	if x.SHA256 == "" {
		verdict = "has no SHA-256 (earlier versions wrote none): its content cannot be verified; its structure is valid"
	}
	fmt.Fprintf(p.Out, "%s %s.\nIt contains %s%s.\n", shell.Clean(file), verdict, strings.Join(parts, ", "), newest)
}
