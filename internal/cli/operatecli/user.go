package operatecli

import (
	"context"

	"github.com/spf13/cobra"

	"cloudburst/client"
	"cloudburst/internal/account"
	"cloudburst/internal/cli/shell"
)

func (p *commands) user() *cobra.Command {
	c := shell.Group("user", "Add, invite, list, disable and delete users, and manage tokens of their programs",
		`A user has a page, a public feed and a private feed, and signs in with a password.
Programs of a user can have tokens with limited permissions.

Works on the running server, or on the data folder when none runs.`)
	c.AddCommand(p.userAdd(), p.userList(), p.userPasswd(), p.userDisable(), p.userEnable(), p.userDelete(),
		p.userInvite(), p.userPromote(), p.userDemote(), p.registration(),
		p.userToken(), p.userTokens(), p.userRevoke(), p.userExport(), p.userImport())
	return c
}

const userFields = `name, created_at, password_at, seen_at, disabled, administrator`

func (p *commands) userAdd() *cobra.Command {
	var file string
	c := shell.ServerFlags(&cobra.Command{
		Use:   "add NAME",
		Short: "Add a user",
		Long: `Adds a user. NAME consists of at most 32 lowercase letters, digits, - and _, and is
part of the URL of their page.

` + shell.PasswordHelp,
		Example: "  cloudburst user add alice\n  cloudburst user add alice --password-file /run/secrets/alice",
		Args:    shell.Between(1, 1, "the NAME of one user"),
		RunE: func(c *cobra.Command, args []string) error {
			// Check the name before the prompt for the password.
			if err := account.CheckName(args[0]); err != nil {
				return shell.AsUsageError(err)
			}
			password, err := p.NewPassword(c.Context(), args[0], file)
			if err != nil {
				return err
			}
			return p.WithServer(c, true, func(ctx context.Context, s *shell.Connection) error {
				u, err := s.AddUser(ctx, args[0], password)
				return p.ReportSuccess(err, "Added %s.\n", u.Name)
			})
		},
	})
	shell.PasswordFileFlag(c, &file)
	return c
}

func (p *commands) userPasswd() *cobra.Command {
	var file string
	c := shell.ServerFlags(&cobra.Command{
		Use:   "passwd NAME",
		Short: "Set a user's password",
		Long: `Sets a new password for a user and ends their sessions. Their tokens and the secrets of
their readers stay valid.

` + shell.PasswordHelp,
		Args: shell.Between(1, 1, "the NAME of one user"),
		RunE: func(c *cobra.Command, args []string) error {
			password, err := p.NewPassword(c.Context(), args[0], file)
			if err != nil {
				return err
			}
			return p.WithServer(c, false, func(ctx context.Context, s *shell.Connection) error {
				u, err := s.SetPassword(ctx, args[0], password)
				return p.ReportSuccess(err, "%s has a new password; their sessions have ended.\n", u.Name)
			})
		},
	})
	shell.PasswordFileFlag(c, &file)
	return c
}

func (p *commands) userList() *cobra.Command {
	var limit int
	var asJSON bool
	c := shell.ServerFlags(&cobra.Command{
		Use:   "list",
		Short: "List the users",
		Long:  "Lists the users, ordered by name.\n\n--json prints one object per line: " + userFields + ".",
		Args:  shell.Between(0, 0, ""),
		RunE: p.OnServer(func(ctx context.Context, s *shell.Connection, _ []string) error {
			return shell.PrintList(p.Out, s.Users(ctx, limit), asJSON, []string{"NAME", "STATE", "CREATED", "SEEN", "ROLE"}, func(u *client.User) []string {
				return []string{u.Name, stateOf(*u), shell.FormatTime(&u.CreatedAt), shell.FormatTime(u.SeenAt), roleOf(*u)}
			})
		}),
	})
	c.Flags().IntVar(&limit, "limit", 0, "at most this `number`; 0 means all")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object per line")
	return c
}

func stateOf(u client.User) string {
	if u.Disabled {
		return "disabled"
	}
	return "active"
}

func roleOf(u client.User) string {
	if u.Administrator {
		return "administrator"
	}
	return "user"
}

func (p *commands) userDisable() *cobra.Command {
	var undo bool
	c := shell.ServerFlags(&cobra.Command{
		Use:   "disable NAME",
		Short: "Disable a user",
		Long: `Disables a user: the password, tokens and secrets of readers stop working, sessions end,
and the user cannot save anything. Their public feed is still served. --undo or "user
enable" enables the user again.`,
		Args: shell.Between(1, 1, "the NAME of one user"),
		RunE: func(c *cobra.Command, args []string) error { return p.disable(c, args[0], !undo) },
	})
	c.Flags().BoolVar(&undo, "undo", false, "enable the user again")
	return c
}

func (p *commands) userEnable() *cobra.Command {
	return shell.ServerFlags(&cobra.Command{
		Use:   "enable NAME",
		Short: "Enable a disabled user",
		Long:  "Reverts \"user disable\". Ended sessions stay ended.",
		Args:  shell.Between(1, 1, "the NAME of one user"),
		RunE:  func(c *cobra.Command, args []string) error { return p.disable(c, args[0], false) },
	})
}

func (p *commands) disable(c *cobra.Command, name string, disabled bool) error {
	return p.WithServer(c, false, func(ctx context.Context, s *shell.Connection) error {
		u, err := s.DisableUser(ctx, name, disabled)
		return p.ReportSuccess(err, "%s is %s.\n", u.Name, stateOf(u))
	})
}
