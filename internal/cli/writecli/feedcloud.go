package writecli

import (
	"context"

	"github.com/spf13/cobra"

	"cloudburst/client"
	"cloudburst/internal/cli/shell"
)

func (p *commands) feedCloud() *cobra.Command {
	var w feedSelector
	var asJSON bool
	c := shell.ServerFlags(&cobra.Command{
		Use:   "cloud --user NAME [on|off]",
		Short: "Add the <cloud> of the server to a saved feed without one",
		Long: `With "on", the server adds its <cloud>, its WebSub hub and the feed's URL to the public
feed of a user, if the saved document names neither a cloud nor a hub. It adds them
after the start of the channel and changes no other byte. With "off", the server serves
the document unchanged. Without an argument the command prints the current state.

RSS 0.92 to 0.94 get the <cloud>, RSS 1.0 the hub, RSS 2.0, Atom and JSON Feed both.
Other formats support neither and are served unchanged.

--json prints an object: ` + feedFields + `.`,
		Example: "  cloudburst feed cloud --user alice on",
		Args:    shell.Between(0, 1, "on or off"),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 0 && args[0] != "on" && args[0] != "off" {
				return shell.Usagef("invalid argument %q for %s: must be on or off", args[0], c.CommandPath())
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
	c.Flags().BoolVar(&asJSON, "json", false, "print a JSON object")
	return c
}
