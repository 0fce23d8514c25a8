package writecli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"cloudburst/client"
	"cloudburst/internal/cli/shell"
)

func (p siteCommands) siteDomain() *cobra.Command {
	var user string
	var verify, remove bool
	c := shell.ServerFlags(&cobra.Command{
		Use:   "domain [NAME]",
		Short: "Print, set, verify or remove the domain of a user's page",
		Long: `Prints the domain of a user's page, or stores NAME as the domain. Let the DNS record of
the domain lead to this server, and verify it: the server then reads a token at the domain
and shows the page, the feeds and the files of the user there. Old URLs of pages redirect.`,
		Example: `  cloudburst site domain --user alice blog.example.org
  cloudburst site domain --user alice --verify`,
		Args: shell.Between(0, 1, "a domain"),
		RunE: p.forWriter(&user, func(ctx context.Context, s *shell.Connection, name string, args []string) error {
			site := siteOf(s, name)
			var d client.Domain
			var err error
			switch {
			case remove:
				_, err = site.RemoveDomain(ctx)
				return err
			case len(args) > 0:
				if d, err = site.SetDomain(ctx, args[0]); err == nil && verify {
					d, err = site.VerifyDomain(ctx)
				}
			case verify:
				d, err = site.VerifyDomain(ctx)
			default:
				d, err = site.Domain(ctx)
			}
			if err != nil {
				return err
			}
			return p.printDomain(d)
		}),
	})
	ofWriter(c, &user)
	c.Flags().BoolVar(&verify, "verify", false, "check that the domain leads to this server, and use it")
	c.Flags().BoolVar(&remove, "remove", false, "remove the domain")
	c.MarkFlagsMutuallyExclusive("verify", "remove")
	return c
}

func (p siteCommands) printDomain(d client.Domain) error {
	if d.VerifiedAt != nil {
		_, err := fmt.Fprintf(p.Out, "%s is in use%s\n", d.Name, certificateText(d.Certificate))
		return err
	}
	_, err := fmt.Fprintf(p.Out, "%s is not in use yet\nLet its DNS record lead to this server, so that %s returns %s; then add --verify.\n", d.Name, d.ProofURL, d.Token)
	return err
}

// certificateText describes the certificate of a domain. The text begins with a comma and continues
// a sentence.
func certificateText(c *client.Certificate) string {
	switch {
	case c == nil:
		return ""
	case c.ExpiresAt != nil:
		return ", certificate until " + c.ExpiresAt.UTC().Format("2006-01-02 15:04 UTC")
	case c.Error != "":
		return ", no certificate: " + shell.Clean(c.Error)
	}
	return ", certificate pending"
}

func (p siteCommands) siteDomains() *cobra.Command {
	return shell.ServerFlags(&cobra.Command{
		Use:   "domains",
		Short: "List the domains of all users",
		Args:  shell.Between(0, 0, ""),
		RunE: p.OnServer(func(ctx context.Context, s *shell.Connection, _ []string) error {
			list := shell.Each(client.Domains(ctx, s.Client))
			return shell.PrintList(p.Out, list, false, []string{"DOMAIN", "USER", "STATE"}, func(d *client.Domain) []string {
				state := "not verified"
				if d.VerifiedAt != nil {
					state = "in use" + certificateText(d.Certificate)
				}
				return []string{d.Name, d.User, state}
			})
		}),
	})
}
