package operatecli

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"time"

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
		RunE: p.OnServer(func(ctx context.Context, s *shell.Connection, args []string) error {
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
				fmt.Fprintf(p.Err, "Exported all data of %s to %s, %s.\n", args[0], args[1], text.SizeWords(n))
			}
			return err
		}),
	})
}

const userImportHelp = `Imports posts. The content of FILE decides what it is, not its name:

  - an archive of "user export", of any server and any user
  - an archive of Mastodon (ZIP or tar.gz) or X, formerly Twitter (ZIP)
  - a blog archive of Micro.blog (.bar)
  - an export of Blogger: the Atom file, or the ZIP archive of Google Takeout
  - an export of WordPress (WXR)
  - a ZIP archive of Markdown files with front matter, as for Hugo, Jekyll or Eleventy
  - a feed in RSS, Atom or JSON

Posts keep their GUIDs, dates and categories; drafts stay drafts. Images and other files
of the archive become files of the posts, with their alternative texts. Subscribers are
notified once, not for each post. Replies to other people and boosts are left out, unless
--replies or --boosts is set. Threads of own posts are kept; posts that were not public
are always left out.

--preview stores nothing: it prints how many posts, drafts and files an import would add,
and what it would leave out. --urls writes the old URL of each post with its new URL as
CSV, for redirects at the old place.

The command checks the whole file before it changes anything. Existing posts stay
unchanged, so that you can import the same file again, also after an error.

--json prints an object: kind, found, added, had, left, files, profile, problems, preview,
drafts, replies, boosts, fileBytes, from, to, omitted, moved.`

func (p *commands) userImport() *cobra.Command {
	var asJSON bool
	var urls string
	var o client.ImportUserOptions
	c := shell.ServerFlags(&cobra.Command{
		Use:     "import NAME FILE|-",
		Short:   "Import posts from an export of this or another program, or from a feed",
		Long:    userImportHelp,
		Example: "  cloudburst user import alice mastodon.zip --preview\n  cloudburst user import alice mastodon.zip --urls urls.csv",
		Args:    shell.Between(2, 2, "the NAME of one user and a FILE (or - for standard input)"),
		RunE: func(c *cobra.Command, args []string) error {
			file, err := p.OpenInput(args[1])
			if err != nil {
				return err
			}
			defer file.Close()
			return p.WithServer(c, false, func(ctx context.Context, s *shell.Connection) error {
				bars := &phases{p: p}
				o.Progress = bars.at
				res, err := s.ImportUser(ctx, args[0], file, o)
				bars.end()
				if err != nil {
					return fmt.Errorf("%s: %w", args[1], err)
				}
				if urls != "" && !res.Preview {
					if err := p.writeMoved(urls, res.Moved); err != nil {
						return err
					}
				}
				return p.printMoved(args[0], res, asJSON)
			})
		},
	})
	c.Flags().BoolVar(&asJSON, "json", false, "print the result as a JSON object")
	c.Flags().BoolVar(&o.Preview, "preview", false, "print what an import would do; store nothing")
	c.Flags().BoolVar(&o.Replies, "replies", false, "also import replies to other people")
	c.Flags().BoolVar(&o.Boosts, "boosts", false, "also import boosts of other people's posts")
	c.Flags().StringVar(&urls, "urls", "", "write old and new URLs of the posts to this CSV `file`; - is standard output")
	return c
}

// writeMoved writes the old and the new URLs as CSV with a header line.
func (p *commands) writeMoved(name string, moved []client.MovedURL) error {
	write := func(w io.Writer) (int64, error) {
		out := csv.NewWriter(w)
		rows := [][]string{{"old", "new"}}
		for _, m := range moved {
			rows = append(rows, []string{m.From, m.To})
		}
		return int64(len(moved)), out.WriteAll(rows)
	}
	if name == "-" {
		_, err := write(p.Out)
		return err
	}
	_, err := shell.WriteWhole(name, write)
	return err
}

// phases displays the progress of each phase of an import.
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
	if !asJSON {
		for _, o := range res.Omitted {
			fmt.Fprintf(p.Err, "cloudburst: Left out: %s: %d.\n", shell.Clean(o.Reason), o.Count)
		}
	}
	if asJSON {
		return shell.JSONLines(p.Out).Encode(res)
	}
	if res.Preview {
		return p.printPreview(user, res)
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

// printPreview prints what an import would do.
func (p *commands) printPreview(user string, res client.MoveResult) error {
	line := fmt.Sprintf("Nothing was stored. From this file (%s), %s would get %s", shell.Clean(res.Kind), user, text.Plural(res.Added, "post"))
	if res.Drafts > 0 {
		line += fmt.Sprintf(", with drafts: %d", res.Drafts)
	}
	if res.Files > 0 {
		line += fmt.Sprintf(", and %s of %s", text.Plural(res.Files, "file"), text.SizeWords(res.FileBytes))
	}
	line += fmt.Sprintf("; %d already exist", res.Existing)
	if res.Skipped > 0 {
		line += fmt.Sprintf(", %d would be skipped", res.Skipped)
	}
	if !res.From.IsZero() {
		line += fmt.Sprintf(". The posts are from %s to %s", res.From.Format(time.DateOnly), res.To.Format(time.DateOnly))
	}
	_, err := fmt.Fprintln(p.Out, line+".")
	return err
}
