package operatecli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"cloudburst/client"
	"cloudburst/internal/app"
	"cloudburst/internal/cli/shell"
	"cloudburst/internal/config"
)

func (p *commands) serve() *cobra.Command {
	c := &cobra.Command{
		Use:   "serve",
		Short: "Start the server",
		Long: `Starts the server. SIGINT, SIGTERM or SIGHUP stops it; requests and deliveries
in progress then have up to 10 seconds to finish. A second SIGINT or SIGTERM stops
the server at once; the next start repeats unfinished deliveries.

At startup the server prints the URL of its pages and the <cloud> element for
feeds. The admin listener (--admin.listen) serves the JSON API, metrics and
profiles; every client that can connect to it controls the server.`,
		Example: "  cloudburst serve --data /var/lib/cloudburst --public-url https://hub.example.org",
		Args:    shell.Between(0, 0, ""),
		RunE: func(c *cobra.Command, _ []string) error {
			e, err := config.Load(config.Options{Flags: c.Flags(), Environ: p.Environ})
			if err != nil {
				return shell.AsUsageError(err)
			}
			if err := app.CheckSettings(e.Config); err != nil {
				return shell.AsUsageError(err)
			}
			log := p.Logger(e.Config.Log)
			for _, r := range e.Renamed {
				log.Warn("a setting has a new name; the old name still works", "old", r.Old, "new", r.New)
			}
			cfg := e.Config
			cfg.Values = e.Values
			return p.Serve(c.Context(), cfg, log, p.Out)
		},
	}
	config.AddFlags(c.Flags())
	return c
}

func (p *commands) config() *cobra.Command {
	var asJSON, secrets, running bool
	c := &cobra.Command{
		Use:   "config",
		Short: "Print all settings with values, meaning and origin",
		Long: `Prints every setting with its documentation, value and origin, as a TOML file for
--config. The command reads flags, variables and file as serve does, and fails if serve
would reject a value, so it checks a file before a restart. With --running it prints the
settings of the running server. It hides passwords unless you set --show-secrets, which
has no effect with --running.

Durations are written 250ms, 15s, 2m, 25h or 30d; sizes 500kB, 64MiB or 1.5GiB. An
empty variable counts as unset. CLOUDBURST_DATABASE_FILE names a file with the
value of --database.`,
		Example: "  cloudburst config --running\n  cloudburst config >cloudburst.toml",
		Args:    shell.Between(0, 0, ""),
		RunE: func(c *cobra.Command, _ []string) error {
			e, err := p.LoadConfig(c.Flags())
			switch {
			case err != nil:
				return err
			case running:
				secrets = false
				if e, err = p.running(c); err != nil {
					return err
				}
			default:
				if err := app.CheckSettings(e.Config); err != nil {
					return shell.AsUsageError(err)
				}
			}
			if asJSON {
				return e.WriteJSON(p.Out, secrets)
			}
			return e.WriteTOML(p.Out, secrets)
		},
	}
	var names []string // with the settings of commands, because --running needs --server
	for _, s := range config.Settings() {
		names = append(names, s.Name)
	}
	config.AddFlags(c.Flags(), names...)
	c.Flags().BoolVar(&running, "running", false, "print the settings of the running server")
	c.Flags().BoolVar(&asJSON, "json", false, "one JSON object per line: name, value, default, source, origin, env, doc")
	c.Flags().BoolVar(&secrets, "show-secrets", false, "print passwords")
	return c
}

// running returns the settings of the running server, with their sources.
func (p *commands) running(c *cobra.Command) (*config.Effective, error) {
	text, source, origin := map[string]string{}, map[string]string{}, map[string]string{}
	err := p.WithServer(c, false, func(ctx context.Context, s *shell.Connection) error {
		if !s.Running {
			return errors.New("no server is running here: start it with \"cloudburst serve\", or name its admin listener with --server")
		}
		all, err := client.Admin{Client: s.Client}.Config(ctx)
		for _, one := range all {
			text[one.Name], source[one.Name], origin[one.Name] = one.Value, one.Source, one.Origin
		}
		return err
	})
	return config.Of(text, source, origin), err
}
