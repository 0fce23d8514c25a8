package readcli

import (
	"bytes"
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"cloudburst/internal/cli/shell"
)

func (p *commands) opmlExport() *cobra.Command {
	var user, category string
	c := shell.ServerFlags(&cobra.Command{
		Use:   "export [FILE]",
		Short: "Export the followed feeds as OPML",
		Long: `Writes the followed feeds as OPML 2.0 to FILE or to standard output. Other feed readers
can import this format. Categories become folders. FILE is replaced only when the export
is complete.`,
		Example: "  cloudburst opml export subscriptions.opml\n  cloudburst opml export --category News | cloudburst opml show -",
		Args:    shell.Between(0, 1, "at most one FILE"),
		RunE: p.OnServer(func(ctx context.Context, s *shell.Connection, args []string) error {
			var doc bytes.Buffer
			if err := s.River(user).ExportOPML(ctx, category, &doc); err != nil {
				return err
			}
			if len(args) == 0 || args[0] == "-" {
				_, err := p.Out.Write(doc.Bytes())
				return err
			}
			if err := shell.ReplaceFile(args[0], doc.Bytes()); err != nil {
				return fmt.Errorf("%s cannot be written: %w", args[0], shell.PlainPathError(err))
			}
			return nil
		}),
	})
	ofReader(c, &user)
	c.Flags().StringVar(&category, "category", "", "only the category with this `name`")
	return c
}
