package operatecli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"cloudburst/client"
	"cloudburst/internal/cli/shell"
)

func (p *commands) userPromote() *cobra.Command {
	return p.userRole("promote NAME", "Make a user an administrator",
		"Makes a user an administrator, who can manage the server on the pages below /admin. The\nfirst user is an administrator from the beginning.", true)
}

func (p *commands) userDemote() *cobra.Command {
	return p.userRole("demote NAME", "Remove a user as administrator", "Takes the role of administrator away from a user.", false)
}

func (p *commands) userRole(use, short, long string, on bool) *cobra.Command {
	return shell.ServerFlags(&cobra.Command{
		Use: use, Short: short, Long: long,
		Args: shell.Between(1, 1, "the NAME of one user"),
		RunE: p.OnServer(func(ctx context.Context, s *shell.Connection, args []string) error {
			u, err := client.Admin{Client: s.Client}.SetAdministrator(ctx, args[0], on)
			if err != nil {
				return err
			}
			words := "%s is no longer an administrator.\n"
			if on {
				words = "%s is an administrator.\n"
			}
			_, err = fmt.Fprintf(p.Out, words, u.Name)
			return err
		}),
	})
}

func (p *commands) userDelete() *cobra.Command {
	var sure bool
	c := shell.ServerFlags(&cobra.Command{
		Use:   "delete NAME",
		Short: "Delete a user with everything that they stored",
		Long: `Deletes a user with their posts, files, private feeds, followed feeds, tokens and
sessions. This cannot be undone, and nobody can take the name again. Run "user export"
first to keep the posts and files. "user disable" locks a user out and deletes nothing.
The first user cannot be deleted.

The command needs --yes.`,
		Example: "  cloudburst user export bob bob.zip\n  cloudburst user delete bob --yes",
		Args:    shell.Between(1, 1, "the NAME of one user"),
		RunE: func(c *cobra.Command, args []string) error {
			if !sure {
				return shell.Usagef("deleting %s cannot be undone: add --yes to confirm", shell.Clean(args[0]))
			}
			return p.WithServer(c, false, func(ctx context.Context, s *shell.Connection) error {
				return p.ReportSuccess(client.Admin{Client: s.Client}.DeleteUser(ctx, args[0]), "Deleted %s.\n", shell.Clean(args[0]))
			})
		},
	})
	c.Flags().BoolVar(&sure, "yes", false, "confirm the deletion")
	return c
}

func (p *commands) userInvite() *cobra.Command {
	var note string
	var days int
	c := shell.ServerFlags(&cobra.Command{
		Use:   "invite",
		Short: "Print a link with which one person can create an account",
		Long: `Prints a link with which one person can create an account, also while registration is
closed. The person chooses their name and password. The link works once.`,
		Example: "  cloudburst user invite --note \"for Bob\" --days 14",
		Args:    shell.Between(0, 0, ""),
		RunE: func(c *cobra.Command, _ []string) error {
			if days < 1 || days > 90 {
				return shell.Usagef("invalid value %d for --days: must be a number from 1 to 90", days)
			}
			return p.WithServer(c, false, func(ctx context.Context, s *shell.Connection) error {
				i, err := client.Admin{Client: s.Client}.Invite(ctx, note, days)
				if err != nil {
					return err
				}
				_, err = fmt.Fprintln(p.Out, i.URL)
				return err
			})
		},
	})
	c.Flags().StringVar(&note, "note", "", "`text` for administrators, such as the name of the person")
	c.Flags().IntVar(&days, "days", 7, "`number` of days for which the link is valid, at most 90")
	return c
}

func (p *commands) registration() *cobra.Command {
	return shell.ServerFlags(&cobra.Command{
		Use:   "registration [open|closed|configured]",
		Short: "Show or change who can create an account, while the server runs",
		Long: `Without an argument the command prints whether registration is open or closed.
open and closed change accounts.registration while the server runs; the change survives
a restart and has priority over the flag, the variable and the file. configured undoes
the change.`,
		Example: "  cloudburst user registration open",
		Args:    shell.Between(0, 1, "nothing, or open, closed or configured"),
		RunE: p.OnServer(func(ctx context.Context, s *shell.Connection, args []string) error {
			return p.changeRegistration(ctx, client.Admin{Client: s.Client}, args)
		}),
	})
}

func (p *commands) changeRegistration(ctx context.Context, a client.Admin, args []string) error {
	const name = "accounts.registration"
	var now client.ChangedSetting
	var err error
	switch {
	case len(args) == 0:
		var all []client.ChangedSetting
		all, err = a.Settings(ctx)
		for _, one := range all {
			if one.Name == name {
				now = one
			}
		}
	case args[0] == "configured":
		now, err = a.ResetSetting(ctx, name)
	default:
		now, err = a.SetSetting(ctx, name, args[0])
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.Out, "Registration is %s (configured: %s).\n", now.Value, now.Configured)
	return err
}
