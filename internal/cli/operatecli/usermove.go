package operatecli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"cloudburst/client"
	"cloudburst/internal/cli/shell"
	"cloudburst/internal/text"
)

func (p *commands) userExport() *cobra.Command {
	return shell.ServerFlags(&cobra.Command{
		Use:   "export NAME FILE|-",
		Short: "Export all data of a user to one file",
		Long: `Writes all data of a user to a ZIP archive: posts and drafts as JSON, attached files,
the profile, and the published posts as RSS, Atom and JSON Feed. "user import" imports
the archive on any server. FILE is replaced only when the export is complete; - is
standard output.`,
		Example: "  cloudburst user export alice alice.zip",
		Args:    shell.Between(2, 2, "the NAME of one user and a FILE"),
		RunE: func(c *cobra.Command, args []string) error {
			return p.WithServer(c, false, func(ctx context.Context, s *shell.Connection) error {
				bar := shell.NewProgress(p.Err, "KiB exported")
				show := func(n int64) { bar.At(int(n>>10), 0) }
				if args[1] == "-" {
					_, err := s.ExportUser(ctx, args[0], p.Out, show)
					bar.End()
					return err
				}
				n, err := shell.WriteWhole(args[1], func(w io.Writer) (int64, error) { return s.ExportUser(ctx, args[0], w, show) })
				bar.End()
				if err == nil {
					fmt.Fprintf(p.Err, "Exported all data of %s to %s, %s.\n", args[0], args[1], bytesWords(n))
				}
				return err
			})
		},
	})
}

func bytesWords(n int64) string {
	switch {
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d bytes", n)
}

func (p *commands) userImport() *cobra.Command {
	var asJSON bool
	c := shell.ServerFlags(&cobra.Command{
		Use:   "import NAME FILE|-",
		Short: "Import posts from an export, from WordPress or from a feed",
		Long: `Imports posts: from an archive of "user export", of any server and any user; from an
export of WordPress (WXR); or from a feed in RSS, Atom or JSON. Posts keep their GUIDs,
dates and categories; drafts stay drafts. Subscribers are notified once, not for each
post.

The command checks the whole file before it changes anything. Existing posts stay
unchanged, so that you can import the same file again, also after an error.

--json prints an object: kind, found, added, had, left, files, profile, problems.`,
		Example: "  cloudburst user import alice alice.zip\n  cloudburst user import alice wordpress.2026-11-22.xml",
		Args:    shell.Between(2, 2, "the NAME of one user and a FILE (or - for standard input)"),
		RunE: func(c *cobra.Command, args []string) error {
			file, err := p.OpenInput(args[1])
			if err != nil {
				return err
			}
			defer file.Close()
			return p.WithServer(c, false, func(ctx context.Context, s *shell.Connection) error {
				bars := &phases{p: p}
				res, err := s.ImportUser(ctx, args[0], file, bars.at)
				bars.end()
				if err != nil {
					return fmt.Errorf("%s: %w", args[1], err)
				}
				return p.printMoved(args[0], res, asJSON)
			})
		},
	})
	c.Flags().BoolVar(&asJSON, "json", false, "print the result as a JSON object")
	return c
}

// phases shows the progress of each phase.
type phases struct {
	p    *commands
	name string
	bar  *shell.Progress
}

func (b *phases) at(phase string, done, total int) {
	if phase != b.name {
		b.end()
		b.name, b.bar = phase, shell.NewProgress(b.p.Err, phase)
	}
	b.bar.At(done, total)
}

func (b *phases) end() {
	if b.bar != nil {
		b.bar.End()
	}
}

func (p *commands) printMoved(user string, res client.MoveResult, asJSON bool) error {
	for _, problem := range res.Problems {
		fmt.Fprintf(p.Err, "cloudburst: %s\n", shell.Clean(problem))
	}
	if asJSON {
		return shell.JSONLines(p.Out).Encode(res)
	}
	line := fmt.Sprintf("%s has %s more; %d already existed", user, text.Plural(res.Added, "post"), res.Existing)
	if res.Skipped > 0 {
		line += fmt.Sprintf(", %d skipped", res.Skipped)
	}
	if res.Files > 0 {
		line += "; " + text.Plural(res.Files, "file") + " added"
	}
	_, err := fmt.Fprintln(p.Out, line+".")
	return err
}
