package operatecli

import (
	"bufio"
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"cloudburst/client"
	"cloudburst/internal/account"
	"cloudburst/internal/cli/shell"
)

func (p *commands) user() *cobra.Command {
	c := shell.Group("user", "Add, list and shut out those who publish here, and give their programs tokens",
		`A user has a page, a public feed and a private one, and logs in with a password; a
program of theirs may have a token instead, which does not open everything.

Works on the running server, or on the data folder when none runs.`)
	c.AddCommand(p.userAdd(), p.userList(), p.userPasswd(), p.userDisable(), p.userEnable(),
		p.userToken(), p.userTokens(), p.userRevoke(), p.userExport(), p.userImport())
	return c
}

const userFields = `name, created_at, password_at, seen_at, disabled`

func (p *commands) userAdd() *cobra.Command {
	var file string
	c := shell.ServerFlags(&cobra.Command{
		Use:   "add NAME",
		Short: "Add a user",
		Long: `Adds a user. NAME is of small letters, digits, - and _, at most 32, and becomes the
address of their page.

` + shell.PasswordHelp,
		Example: "  cloudburst user add alice\n  cloudburst user add alice --password-file /run/secrets/alice",
		Args:    shell.Between(1, 1, "the NAME of one user"),
		RunE: func(c *cobra.Command, args []string) error {
			// Before anybody is asked for a password.
			if err := account.CheckName(args[0]); err != nil {
				return shell.AsUsageError(err)
			}
			password, err := p.NewPassword(c.Context(), args[0], file)
			if err != nil {
				return err
			}
			return p.WithServer(c, true, func(ctx context.Context, s *shell.Connection) error {
				u, err := s.AddUser(ctx, args[0], password)
				if err != nil {
					return err
				}
				_, err = fmt.Fprintf(p.Out, "Added %s.\n", u.Name)
				return err
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
		Short: "Give a user another password",
		Long: `Gives a user another password and ends their sessions. Their tokens and the secrets
of their readers stay.

` + shell.PasswordHelp,
		Args: shell.Between(1, 1, "the NAME of one user"),
		RunE: func(c *cobra.Command, args []string) error {
			password, err := p.NewPassword(c.Context(), args[0], file)
			if err != nil {
				return err
			}
			return p.WithServer(c, false, func(ctx context.Context, s *shell.Connection) error {
				u, err := s.SetPassword(ctx, args[0], password)
				if err != nil {
					return err
				}
				_, err = fmt.Fprintf(p.Out, "%s has a new password; their sessions have ended.\n", u.Name)
				return err
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
		Long:  "Lists the users in order of their names.\n\n--json prints one object a line: " + userFields + ".",
		Args:  shell.Between(0, 0, ""),
		RunE: func(c *cobra.Command, _ []string) error {
			return p.WithServer(c, false, func(ctx context.Context, s *shell.Connection) error {
				out := bufio.NewWriter(p.Out)
				enc := shell.JSONLines(out)
				t := shell.NewTable(p.Out, "NAME", "STATE", "CREATED", "SEEN")
				for u, err := range s.Users(ctx, limit) {
					if err == nil && asJSON {
						err = enc.Encode(u)
					} else if err == nil {
						err = t.Row(u.Name, stateOf(u), shell.FormatTime(&u.CreatedAt), shell.FormatTime(u.SeenAt))
					}
					if err != nil {
						return err
					}
				}
				if err := out.Flush(); err != nil {
					return err
				}
				return t.End()
			})
		},
	})
	c.Flags().IntVar(&limit, "limit", 0, "at most this `number`; 0 is all")
	c.Flags().BoolVar(&asJSON, "json", false, "one JSON object a line")
	return c
}

func stateOf(u client.User) string {
	if u.Disabled {
		return "disabled"
	}
	return "active"
}

func (p *commands) userDisable() *cobra.Command {
	var undo bool
	c := shell.ServerFlags(&cobra.Command{
		Use:   "disable NAME",
		Short: "Shut every door to a user",
		Long: `Shuts every door to a user: password, tokens and the secrets of their readers open
nothing, sessions end, and nothing new is saved. Their public feed is served as
before. --undo, or "user enable", opens the doors again.`,
		Args: shell.Between(1, 1, "the NAME of one user"),
		RunE: func(c *cobra.Command, args []string) error { return p.disable(c, args[0], !undo) },
	})
	c.Flags().BoolVar(&undo, "undo", false, "open the doors again")
	return c
}

func (p *commands) userEnable() *cobra.Command {
	return shell.ServerFlags(&cobra.Command{
		Use:   "enable NAME",
		Short: "Open the doors to a user again",
		Long:  "Takes back \"user disable\". Sessions that had ended stay so.",
		Args:  shell.Between(1, 1, "the NAME of one user"),
		RunE:  func(c *cobra.Command, args []string) error { return p.disable(c, args[0], false) },
	})
}

func (p *commands) disable(c *cobra.Command, name string, disabled bool) error {
	return p.WithServer(c, false, func(ctx context.Context, s *shell.Connection) error {
		u, err := s.DisableUser(ctx, name, disabled)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(p.Out, "%s is %s.\n", u.Name, stateOf(u))
		return err
	})
}
