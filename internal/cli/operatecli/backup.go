package operatecli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"cloudburst/client"
	"cloudburst/internal/admin"
	"cloudburst/internal/app"
	"cloudburst/internal/cli/shell"
	"cloudburst/internal/fault"
	"cloudburst/internal/store"
)

func (p *commands) backup() *cobra.Command {
	var keep int
	var withKey, asJSON bool
	c := shell.ServerFlags(&cobra.Command{
		Use:   "backup FILE",
		Short: "Write a consistent copy of the database while the server runs",
		Long: `Writes a consistent copy of the database to FILE, which must not exist yet. The server
continues to run. The copy is an SQLite database, also of PostgreSQL, and "cloudburst
restore" restores it to either kind. FILE is always complete; a file name that ends in
.part is an interrupted backup. The last line of the file contains the SHA-256 of all
bytes before it, which "restore" and "doctor" verify.

With --keep, FILE is a folder. The name of each backup is its time, such as
cloudburst-20261122T030000Z.db. After writing it, the command deletes the oldest backups
in the folder, so that N remain.

The backup does not contain the key that encrypts the secrets of private feeds: the key
is the file secret.key in the data folder, unless accounts.secret-key is set. Copy the
key once to a different place than the backups, or set --with-key to copy it next to
each backup as FILE.key. Anyone with both files can read the secrets.

The running server writes the file, with its permissions and on its machine.
--json prints an object: file, size, key, removed.`,
		Example: "  cloudburst backup before-the-upgrade.db\n  cloudburst backup --keep 14 --with-key /backup",
		Args:    shell.Between(1, 1, "the name of one FILE (with --keep, of a folder)"),
		RunE: func(c *cobra.Command, args []string) error {
			if args[0] == "-" {
				return shell.Usagef("cloudburst backup cannot write to standard output (-): name a file (./- for a file with this name)")
			}
			name, err := filepath.Abs(args[0])
			if err != nil {
				return fmt.Errorf("making %s an absolute path failed: %w", args[0], err)
			}
			o := client.BackupOptions{File: name, WithKey: withKey}
			if c.Flags().Changed("keep") {
				if keep < 1 {
					return shell.Usagef("invalid value %d for --keep: must be at least 1 backup", keep)
				}
				o = client.BackupOptions{Folder: name, Keep: keep, WithKey: withKey}
			}
			b, err := p.backupTo(c, o)
			if err != nil {
				return err
			}
			if asJSON {
				return shell.JSONLines(p.Out).Encode(b)
			}
			p.printBackup(b)
			return nil
		},
	})
	c.Flags().IntVar(&keep, "keep", 0, "write into a folder and keep the newest `N` backups")
	c.Flags().BoolVar(&withKey, "with-key", false, "copy the key of the readers' secrets next to the backup")
	c.Flags().BoolVar(&asJSON, "json", false, "print the result as a JSON object")
	return c
}

// backupTo writes a backup through the server, or in this process.
func (p *commands) backupTo(c *cobra.Command, o client.BackupOptions) (b client.Backup, err error) {
	err = p.WithServer(c, false, func(ctx context.Context, s *shell.Connection) error {
		b, err = s.BackupTo(ctx, o)
		return err
	})
	if fault.CodeOf(err) == fault.Unsupported {
		return p.backupUnopened(c, o, err)
	}
	return b, err
}

// backupUnopened copies the database of a data folder whose schema is older or newer than that of
// this program, so that an operator can go back after an upgrade. cause is the error of opening it.
func (p *commands) backupUnopened(c *cobra.Command, o client.BackupOptions, cause error) (b client.Backup, err error) {
	e, err := p.LoadConfig(c.Flags())
	if err != nil {
		return b, err
	}
	if e.Config.Database != "" {
		return b, cause
	}
	if o.WithKey {
		if err = app.CheckKeyFile(e.Config); err != nil {
			return b, err
		}
	}
	now := time.Now()
	if b.File, err = admin.NewBackupFile(o.File, o.Folder, o.Keep, now); err != nil {
		return b, err
	}
	if err = store.BackupFolder(c.Context(), e.Config.Data, b.File); err != nil {
		return b, err
	}
	fmt.Fprintln(p.Err, "The database has the schema of another version of cloudburst; the backup has the same schema.")
	info, err := os.Stat(b.File)
	if err != nil {
		return b, err
	}
	b.Size = info.Size()
	if o.WithKey {
		if b.Key, err = store.BackupKey(e.Config.Data, b.File); err != nil {
			return b, err
		}
	}
	if failed := app.RecordBackup(e.Config.Data, b.File, b.Size, now); failed != nil {
		fmt.Fprintf(p.Err, "The backup could not be recorded for \"cloudburst doctor\": %s\n", shell.Clean(failed.Error()))
	}
	if o.Keep > 0 {
		b.Removed, err = admin.RemoveOldBackups(o.Folder, b.File, o.Keep)
	}
	return b, err
}

func (p *commands) printBackup(b client.Backup) {
	fmt.Fprintf(p.Out, "Wrote %s (%d bytes).\n", shell.Clean(b.File), b.Size)
	for _, old := range b.Removed {
		fmt.Fprintf(p.Out, "Removed %s.\n", shell.Clean(old))
	}
	if b.Key != "" {
		fmt.Fprintf(p.Out, "The key of the readers' secrets is in %s.\n", shell.Clean(b.Key))
		return
	}
	fmt.Fprintln(p.Err, "The backup does not contain the key of the readers' secrets: also keep a copy of secret.key from the data folder.")
}
