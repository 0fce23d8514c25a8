package operatecli

import (
	"github.com/spf13/cobra"

	"cloudburst/internal/cli/shell"
	"cloudburst/internal/config"
)

func (p *commands) serve() *cobra.Command {
	c := &cobra.Command{
		Use:   "serve",
		Short: "Start the server",
		Long: `Starts the server and runs until it is told to stop (SIGINT or SIGTERM), then
lets what is under way end, for at most 10 seconds. A second signal ends it at
once; what was under way is then repeated at the next start.

At its start it prints where its pages are and the <cloud> element that a feed
needs. The operator's listener (--admin.listen) has the JSON API, metrics and
profiles; whoever can connect to it controls the server.`,
		Example: "  cloudburst serve --data /var/lib/cloudburst --public-url https://hub.example.org",
		Args:    shell.Between(0, 0, ""),
		RunE: func(c *cobra.Command, _ []string) error {
			e, err := p.LoadConfig(c.Flags())
			if err != nil {
				return err
			}
			return p.Serve(c.Context(), e.Config, p.Logger(e.Config.Log), p.Out)
		},
	}
	config.AddFlags(c.Flags())
	return c
}

func (p *commands) config() *cobra.Command {
	var asJSON, secrets bool
	c := &cobra.Command{
		Use:   "config",
		Short: "Print the settings in force, what they mean and where each comes from",
		Long: `Prints every setting with its documentation, its value and where that was set, as
a TOML file that can be given to --config. Flags, variables and file are read
just as serve reads them. Passwords are hidden unless asked for.

A time is written as 250ms, 15s, 2m, 25h or 30d. An empty variable counts as not
set. CLOUDBURST_DATABASE_FILE names a file that holds the value of --database.`,
		Args: shell.Between(0, 0, ""),
		RunE: func(c *cobra.Command, _ []string) error {
			e, err := p.LoadConfig(c.Flags())
			if err != nil {
				return err
			}
			if asJSON {
				return e.WriteJSON(p.Out, secrets)
			}
			return e.WriteTOML(p.Out, secrets)
		},
	}
	config.AddFlags(c.Flags())
	c.Flags().BoolVar(&asJSON, "json", false, "one JSON object a line: name, value, default, source, origin, env, doc")
	c.Flags().BoolVar(&secrets, "show-secrets", false, "print passwords as they are")
	return c
}
