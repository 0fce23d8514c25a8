package hubcli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"cloudburst/internal/cli/shell"
)

func (p *commands) testFeed() *cobra.Command {
	c := shell.Group("testfeed", "Change the test feed",
		`The server has a test feed at /test/rss.xml that changes every 15 minutes, for
developers of subscribers.`)
	var asJSON bool
	tick := shell.ServerFlags(&cobra.Command{
		Use:   "tick",
		Short: "Change the test feed now",
		Long: `Adds an item to the test feed of the running server and notifies its subscribers. The
regular items every 15 minutes are not affected.

--json prints an object: at, url.`,
		Args: shell.Between(0, 0, ""),
		RunE: p.OnServer(func(ctx context.Context, s *shell.Connection, _ []string) error {
			t, err := s.TickTestFeed(ctx)
			switch {
			case err != nil:
			case asJSON:
				err = shell.JSONLines(p.Out).Encode(t)
			default:
				_, err = fmt.Fprintf(p.Out, "%s changed at %s.\n", t.URL, t.At.Format("15:04:05.000 MST"))
			}
			return err
		}),
	})
	tick.Flags().BoolVar(&asJSON, "json", false, "print a JSON object")
	c.AddCommand(tick)
	return c
}
