package operatecli

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"cloudburst/client"
	"cloudburst/internal/cli/shell"
)

func (p *commands) backup() *cobra.Command {
	var keep int
	var withKey, asJSON bool
	c := shell.ServerFlags(&cobra.Command{
		Use:   "backup FILE",
		Short: "Write a consistent copy of the database while the server runs",
		Long: `Writes a copy of the database, as of one moment, to FILE, which must not exist yet.
The server goes on meanwhile. The copy is an SQLite database, of PostgreSQL too, and
"cloudburst restore" puts it back into either. A file of this name is always whole;
one that ends in .part is what is left of a backup that was broken off. Its last line
has the SHA-256 of everything before it, which "restore" and "doctor" verify.

With --keep the name is that of a folder: the file's own name is the time, such as
cloudburst-20261122T030000Z.db, and when it is written, the oldest files with such
names are removed, so that N stay.

The key of the secrets by which private feeds are read is not in the copy: it is
the file secret.key in the data folder, unless accounts.secret-key is set. Copy it
once, to another place than the copies of the database; or say --with-key, which
copies it beside each, as FILE.key. Whoever finds both can read the secrets.

The running server writes the file, with its rights and on its machine.
--json prints an object: file, size, key, removed.`,
		Example: "  cloudburst backup before-the-upgrade.db\n  cloudburst backup --keep 14 --with-key /backup",
		Args:    shell.Between(1, 1, "the name of one FILE (with --keep, of a folder)"),
		RunE: func(c *cobra.Command, args []string) error {
			name, err := filepath.Abs(args[0])
			if err != nil {
				return fmt.Errorf("%s cannot be made an absolute path: %w", args[0], err)
			}
			o := client.BackupOptions{File: name, WithKey: withKey}
			if c.Flags().Changed("keep") {
				if keep < 1 {
					return shell.Usagef("--keep is %d: it needs how many backups stay, 1 or more", keep)
				}
				o = client.BackupOptions{Folder: name, Keep: keep, WithKey: withKey}
			}
			return p.WithServer(c, false, func(ctx context.Context, s *shell.Connection) error {
				b, err := s.BackupTo(ctx, o)
				if err != nil {
					return err
				}
				if asJSON {
					return shell.JSONLines(p.Out).Encode(b)
				}
				p.printBackup(b)
				return nil
			})
		},
	})
	c.Flags().IntVar(&keep, "keep", 0, "write into a folder, and keep the newest `N`")
	c.Flags().BoolVar(&withKey, "with-key", false, "copy the key of the readers' secrets beside it")
	c.Flags().BoolVar(&asJSON, "json", false, "the outcome as a JSON object")
	return c
}

func (p *commands) printBackup(b client.Backup) {
	fmt.Fprintf(p.Out, "Wrote %s (%d bytes).\n", shell.Clean(b.File), b.Size)
	for _, old := range b.Removed {
		fmt.Fprintf(p.Out, "Removed %s.\n", shell.Clean(old))
	}
	if b.Key != "" {
		fmt.Fprintf(p.Out, "The key of the readers' secrets is beside it: %s.\n", shell.Clean(b.Key))
		return
	}
	fmt.Fprintln(p.Err, "The key of the readers' secrets is not in it: keep a copy of secret.key in the data folder, too.")
}
