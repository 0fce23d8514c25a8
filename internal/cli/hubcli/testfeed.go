package hubcli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"cloudburst/internal/cli/shell"
)

func (p *commands) testFeed() *cobra.Command {
	c := shell.Group("testfeed", "Have the test feed change",
		`The server has a feed of its own at /test/rss.xml that changes every quarter of an hour,
for those who write programs that want to be told of changes.`)
	var asJSON bool
	tick := shell.ServerFlags(&cobra.Command{
		Use:   "tick",
		Short: "Have the test feed change now",
		Long: `Adds an item to the test feed of the running server, and has all who follow the feed
told. The items of the quarters of an hour come besides.

--json prints an object: at, url.`,
		Args: shell.Between(0, 0, ""),
		RunE: func(c *cobra.Command, _ []string) error {
			return p.WithServer(c, false, func(ctx context.Context, s *shell.Connection) error {
				t, err := s.TickTestFeed(ctx)
				switch {
				case err != nil:
				case asJSON:
					err = shell.JSONLines(p.Out).Encode(t)
				default:
					_, err = fmt.Fprintf(p.Out, "%s changed at %s.\n", t.URL, t.At.Format("15:04:05.000 MST"))
				}
				return err
			})
		},
	})
	tick.Flags().BoolVar(&asJSON, "json", false, "as a JSON object")
	c.AddCommand(tick)
	return c
}
