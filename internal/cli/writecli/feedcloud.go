package writecli

import (
	"context"

	"github.com/spf13/cobra"

	"cloudburst/client"
	"cloudburst/internal/cli/shell"
)

func (p *commands) feedCloud() *cobra.Command {
	var w whose
	var asJSON bool
	c := shell.ServerFlags(&cobra.Command{
		Use:   "cloud --user NAME [on|off]",
		Short: "Add the server's cloud to a saved feed that names none",
		Long: `Switches on or off that the public feed of a user is served with the <cloud> of this
server, its WebSub hub and its own URL, where the saved document names neither a cloud
nor a hub. They stand right behind the start of the channel; every other byte is as it
was saved, and "off" serves the document as it is. Without on or off, prints how it is.

RSS 0.92 to 0.94 get the <cloud>, RSS 1.0 the hub, RSS 2.0, Atom and JSON Feed both.
Other formats have no place for either, and are served as they are.

--json prints an object: ` + feedFields + `.`,
		Example: "  cloudburst feed cloud --user alice on",
		Args:    shell.Between(0, 1, "on or off"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := w.check(c); err != nil {
				return err
			}
			if len(args) > 0 && args[0] != "on" && args[0] != "off" {
				return shell.Usagef("invalid argument %q for %s: it needs on or off", args[0], c.CommandPath())
			}
			return p.WithServer(c, false, func(ctx context.Context, s *shell.Connection) error {
				if len(args) == 0 {
					f, err := s.Feed(ctx, w.user, client.PublicFeed)
					return p.printed(f, err, asJSON)
				}
				f, err := s.AddCloud(ctx, w.user, args[0] == "on")
				return p.printed(f, err, asJSON)
			})
		},
	})
	w.userFlag(c)
	c.Flags().BoolVar(&asJSON, "json", false, "as a JSON object")
	return c
}
