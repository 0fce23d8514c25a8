package writecli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"cloudburst/client"
	"cloudburst/internal/cli/shell"
)

func (p *commands) feedSecret() *cobra.Command {
	c := shell.Group("secret", "Add and revoke secrets of private feeds",
		`Each group of a user has a private feed, and each reader of that feed has their own secret, so that you can revoke one secret
without affecting other readers.

Works on the running server, or on the data folder when none runs.`)
	c.AddCommand(p.secretAdd(), p.secretList(), p.secretRevoke())
	return c
}

const secretFields = `selector, user, group, reader, created_at, used_at`

func (p *commands) secretAdd() *cobra.Command {
	var w feedSelector
	var group string
	var asJSON bool
	c := shell.ServerFlags(&cobra.Command{
		Use:   "add --user NAME READER",
		Short: "Create a secret for one reader",
		Long: `Creates a secret for one reader of the private feed of a group and prints two ways to use it:
a URL that contains the secret, for programs without support for passwords, and a plain
URL with a name and a password, for programs with Basic or WSSE authentication. The
secret is printed only this once. READER is the user's name for the reader.

--json prints an object: ` + secretFields + `, and ways with url,
address, name, password.`,
		Example: "  cloudburst feed secret add --user alice \"Bob's phone\"",
		Args:    shell.Between(1, 1, "the name of one READER"),
		RunE: p.OnServer(func(ctx context.Context, s *shell.Connection, args []string) error {
			secret, err := client.Groups{Client: s.Client, User: w.user}.NewSecret(ctx, group, args[0])
			if err != nil {
				return err
			}
			fmt.Fprintf(p.Err, "Secret %s for %s; it is shown only once:\n", secret.Selector, shell.Clean(secret.Reader))
			return p.printWays(secret, asJSON)
		}),
	})
	w.userFlag(c)
	c.Flags().StringVar(&group, "group", "", "`slug` of the group; without it, the default group private")
	c.Flags().BoolVar(&asJSON, "json", false, "print a JSON object")
	return c
}

// printWays prints the URLs of a new secret and its password.
func (p *commands) printWays(s client.Secret, asJSON bool) error {
	if asJSON {
		return shell.JSONLines(p.Out).Encode(s)
	}
	if s.Access == nil {
		return fmt.Errorf("the server created the secret %s without a URL: revoke it and try again", s.Selector)
	}
	_, err := fmt.Fprintf(p.Out, `secret URL  %s
URL         %s
name        %s
password    %s
`, s.Access.URL, s.Access.Address, s.Access.Name, s.Access.Password)
	return err
}

func (p *commands) secretList() *cobra.Command {
	var w feedSelector
	var asJSON bool
	c := shell.ServerFlags(&cobra.Command{
		Use:   "list --user NAME",
		Short: "List the secrets of private feeds",
		Long:  "Lists the secrets of the private feeds of a user's groups, without URLs and passwords.\n\n--json prints one object per line: " + secretFields + ".",
		Args:  shell.Between(0, 0, ""),
		RunE: p.OnServer(func(ctx context.Context, s *shell.Connection, _ []string) error {
			list := shell.Each(s.Secrets(ctx, w.user))
			return shell.PrintList(p.Out, list, asJSON, []string{"SELECTOR", "GROUP", "READER", "CREATED", "USED"}, func(s *client.Secret) []string {
				return []string{s.Selector, s.Group, s.Reader, shell.FormatTime(&s.CreatedAt), shell.FormatTime(s.UsedAt)}
			})
		}),
	})
	w.userFlag(c)
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object per line")
	return c
}

func (p *commands) secretRevoke() *cobra.Command {
	var w feedSelector
	c := shell.ServerFlags(&cobra.Command{
		Use:   "revoke --user NAME SELECTOR",
		Short: "Revoke a secret",
		Long:  "Revokes a secret: it no longer opens the feed. \"feed secret list\" prints the selectors.",
		Args:  shell.Between(1, 1, "the SELECTOR of one secret"),
		RunE: p.OnServer(func(ctx context.Context, s *shell.Connection, args []string) error {
			return p.ReportSuccess(s.RevokeSecret(ctx, w.user, args[0]), "Secret %s is revoked.\n", args[0])
		}),
	})
	w.userFlag(c)
	return c
}
