package operatecli

import (
	"fmt"

	"github.com/spf13/cobra"

	"cloudburst/internal/api"
	"cloudburst/internal/cli/shell"
)

func (p *commands) version() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "version",
		Short: "Print the version of this program",
		Args:  shell.Between(0, 0, ""),
		RunE: func(*cobra.Command, []string) error {
			v := api.BuildVersion(p.Version)
			if asJSON {
				return shell.JSONLines(p.Out).Encode(v)
			}
			fmt.Fprintf(p.Out, "cloudburst %s (%s, %s)\n", v.Version, v.Go, v.Platform)
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "a JSON object: version, revision, go, platform")
	return c
}
