package writecli

import (
	"cmp"
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"cloudburst/client"
	"cloudburst/internal/cli/shell"
)

// siteCommands creates the subcommands of "site".
type siteCommands struct{ *commands }

// site returns the command that manages the page of a user.
func (p *commands) site() *cobra.Command {
	c := shell.Group("site", "Change a user's page: style sheet, pages and domain",
		`These commands change the page of a user: its style sheet, its domain, and pages such as
About that are not posts. "user" names the user; it is optional if the server has only one.

Works on the running server, or on the data folder when none runs.`)
	s := siteCommands{p}
	c.AddCommand(s.siteStyle(), s.sitePages(), s.sitePage(), s.siteDelete(), s.siteDomain(), s.siteDomains())
	return c
}

func (p siteCommands) siteStyle() *cobra.Command {
	var user string
	var drop bool
	c := shell.ServerFlags(&cobra.Command{
		Use:   "style [FILE|-]",
		Short: "Print or set the style sheet of a user's page",
		Long: `Prints the style sheet of a user's page, or replaces it by the content of FILE; - reads
standard input. The rules apply to the content of the page only; body stands for all of
it. An error names the line and the property.`,
		Example: `  cloudburst site style --user alice style.css
  cloudburst site style --user alice --remove`,
		Args: shell.Between(0, 1, "a file"),
		RunE: p.forWriter(&user, func(ctx context.Context, s *shell.Connection, name string, args []string) error {
			if len(args) == 0 && !drop {
				style, err := siteOf(s, name).Style(ctx)
				if err == nil && style.CSS != "" {
					_, err = fmt.Fprintln(p.Out, style.CSS)
				}
				return err
			}
			var style client.Style
			var err error
			if len(args) > 0 {
				if style.CSS, err = p.readText(ctx, args[0]); err != nil {
					return err
				}
			}
			_, err = siteOf(s, name).SetStyle(ctx, style)
			return err
		}),
	})
	ofWriter(c, &user)
	c.Flags().BoolVar(&drop, "remove", false, "remove the style sheet")
	return c
}

func siteOf(s *shell.Connection, user string) client.Site {
	return client.Site{Client: s.Client, User: user}
}

func (p siteCommands) sitePages() *cobra.Command {
	var user string
	c := shell.ServerFlags(&cobra.Command{
		Use:   "pages",
		Short: "List the pages of a user that are not posts",
		Args:  shell.Between(0, 0, ""),
		RunE: p.forWriter(&user, func(ctx context.Context, s *shell.Connection, name string, _ []string) error {
			return shell.PrintList(p.Out, shell.Each(siteOf(s, name).Pages(ctx)), false, []string{"PAGE", "TITLE"}, func(one *client.Page) []string {
				return []string{one.Slug, one.Title}
			})
		}),
	})
	ofWriter(c, &user)
	return c
}

func (p siteCommands) sitePage() *cobra.Command {
	var user string
	var in client.Page
	var hidden bool
	c := shell.ServerFlags(&cobra.Command{
		Use:   "page NAME [FILE|-]",
		Short: "Print or save a page of a user",
		Long: `Prints the Markdown of a page, or saves the page with the text of FILE; - reads standard
input. NAME is the last part of the page's URL, such as about.`,
		Example: `  cloudburst site page --user alice about --title About about.md`,
		Args:    shell.Between(1, 2, "the name of a page"),
		RunE: func(c *cobra.Command, args []string) error {
			return p.WithServer(c, false, func(ctx context.Context, s *shell.Connection) error {
				name, err := writer(ctx, s, user)
				if err != nil {
					return err
				}
				if len(args) == 1 {
					one, err := siteOf(s, name).Page(ctx, args[0])
					if err == nil {
						_, err = fmt.Fprintln(p.Out, one.Source)
					}
					return err
				}
				if in.Source, err = p.readText(ctx, args[1]); err != nil {
					return err
				}
				in.InMenu = !hidden
				old, err := siteOf(s, name).Page(ctx, args[0])
				switch {
				case client.IsNotFound(err):
				case err != nil:
					return err
				default:
					in.Title = cmp.Or(in.Title, old.Title)
					if !c.Flags().Changed("place") {
						in.Place = old.Place
					}
					if !c.Flags().Changed("hidden") {
						in.InMenu = old.InMenu
					}
				}
				_, err = siteOf(s, name).SavePage(ctx, args[0], in)
				return err
			})
		},
	})
	ofWriter(c, &user)
	c.Flags().StringVarP(&in.Title, "title", "t", "", "`title` of the page")
	c.Flags().Int64Var(&in.Place, "place", 0, "`number` that orders the pages in the navigation")
	c.Flags().BoolVar(&hidden, "hidden", false, "leave the page out of the navigation")
	return c
}

func (p siteCommands) siteDelete() *cobra.Command {
	var user string
	c := shell.ServerFlags(&cobra.Command{
		Use:   "delete NAME",
		Short: "Delete a page of a user",
		Args:  shell.Between(1, 1, "the name of a page"),
		RunE: p.forWriter(&user, func(ctx context.Context, s *shell.Connection, name string, args []string) error {
			_, err := siteOf(s, name).DeletePage(ctx, args[0])
			return err
		}),
	})
	ofWriter(c, &user)
	return c
}
