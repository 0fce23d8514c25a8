package labcli

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"cloudburst/internal/cli/shell"
	"cloudburst/lab/compare"
)

func compareCommand() *cobra.Command {
	o := compare.Options{}
	var asJSON bool
	c := &cobra.Command{
		Use:   "compare",
		Short: "Run other programs on the same work, in turn, and compare the figures",
		Long: `Starts this server and each program that you name, in turn and on empty folders, gives
both the same work over HTTP, and prints the medians next to each other. A hub registers
the subscribers of one feed and notifies them of changes. A reader follows feeds, and
reads them new, unchanged, and with one new item each.

The command downloads nothing. Build the other programs first:

  cloudburst-lab compare --rsscloud-server "node /srv/rsscloud-server/apps/server/app.js"
  cloudburst-lab compare --yarr /usr/local/bin/yarr
  cloudburst-lab compare --miniflux /usr/bin/miniflux --miniflux-database postgres://…

The CPU time of Miniflux does not contain that of its database. Between two readings the
command waits a minute, because this server checks a feed at a user's request once a minute.
Miniflux gets a request for each feed, this server and yarr get one for all.`,
		Args: cobra.NoArgs,
	}
	f := c.Flags()
	f.StringVar(&o.RSSCloudServer, "rsscloud-server", "", "command that starts rsscloud-server")
	f.StringVar(&o.Yarr, "yarr", "", "executable file of yarr")
	f.StringVar(&o.Miniflux, "miniflux", "", "executable file of Miniflux")
	f.StringVar(&o.MinifluxDatabase, "miniflux-database", "", "PostgreSQL database for Miniflux (postgres://…), made for this; one for each round, separated by spaces")
	f.IntVar(&o.Subscribers, "subscribers", 500, "subscribers of the feed, each on its own loopback address, 1 to 5000")
	f.IntVar(&o.Pings, "pings", 5, "measured changes of the feed in each round, 1 to 1000")
	f.IntVar(&o.Feeds, "feeds", 200, "feeds that are followed, 1 to 5000")
	f.IntVar(&o.Items, "items", 20, "items of each feed, 1 to 200")
	f.IntVar(&o.Size, "size", 45_000, "approximate bytes of each feed, 1000 to 1000000")
	f.IntVar(&o.Rounds, "rounds", 3, "rounds of each program, 1 to 100")
	f.BoolVar(&asJSON, "json", false, "print one JSON document")
	c.RunE = func(c *cobra.Command, _ []string) error {
		return printComparison(c, asJSON, func(exe string) (*compare.Report, error) {
			o.Exe, o.Progress = exe, c.ErrOrStderr()
			return o.Run(c.Context())
		})
	}
	return c
}

// printComparison calls run with the path of this executable, and prints the report.
func printComparison(c *cobra.Command, asJSON bool, run func(exe string) (*compare.Report, error)) error {
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	report, err := run(exe)
	var invalid *compare.InvalidError
	if errors.As(err, &invalid) {
		return shell.AsUsageError(err)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", c.Name(), err)
	}
	return report.Write(c.OutOrStdout(), asJSON)
}
