package writecli

import (
	"bufio"
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"cloudburst/client"
	"cloudburst/internal/cli/shell"
	"cloudburst/internal/text"
)

const targetFields = `kind, url, user, topic, state, version, told, last_at, last, ok,
tries, next_at`

func (p *commands) targets() *cobra.Command {
	var q client.PingTargetQuery
	var asJSON bool
	c := shell.ServerFlags(&cobra.Command{
		Use:   "sinks",
		Short: "List the other servers that are told of what is saved here",
		Long: `Lists the servers that are told when a feed is saved here, besides this server's own
hub: those of the setting ping.targets, and those that authors have. Each line is a sink
and a feed, with what it said the last time and when it is told again.

A sink is told when it has heard of the newest version, owed while it has not, and
given-up when it said no three times or could not be reached for a week; the next
change, or "cloudburst sinks retry", begins anew.

Works on the running server, or on the data folder when none runs.

--json prints one object a line: ` + targetFields + `.`,
		Args: shell.Between(0, 0, ""),
		RunE: func(c *cobra.Command, _ []string) error {
			return p.WithServer(c, false, func(ctx context.Context, s *shell.Connection) error { return p.listTargets(ctx, s, q, asJSON) })
		},
	})
	c.Flags().StringVar(&q.User, "user", "", "only of the feed of this user, a `name`")
	c.Flags().BoolVar(&q.Pending, "owing", false, "only those that have not heard of the newest version")
	c.Flags().IntVar(&q.Limit, "limit", 0, "at most this `number`; 0 is all")
	c.Flags().BoolVar(&asJSON, "json", false, "one JSON object a line")
	c.AddCommand(p.targetsRetry())
	return c
}

func (p *commands) listTargets(ctx context.Context, s *shell.Connection, q client.PingTargetQuery, asJSON bool) error {
	out := bufio.NewWriter(p.Out)
	enc := shell.JSONLines(out)
	t := shell.NewTable(p.Out, "SINK", "KIND", "FEED", "STATE", "LAST", "SAID", "NEXT")
	for one, err := range s.PingTargets(ctx, q) {
		switch {
		case err != nil:
		case asJSON:
			err = enc.Encode(one)
		default:
			err = t.Row(one.URL, one.Kind, one.Topic, one.State, shell.FormatTime(one.LastAt), one.Last, shell.FormatTime(one.NextAt))
		}
		if err != nil {
			return err
		}
	}
	if err := out.Flush(); err != nil {
		return err
	}
	return t.End()
}

func (p *commands) targetsRetry() *cobra.Command {
	return shell.ServerFlags(&cobra.Command{
		Use:   "retry [URL]",
		Short: "Tell those at once that have not heard of the newest version",
		Long: `Has the sinks told at once that have not heard of the newest version, also those that
were given up: all of them, or the one with this URL. Without a running server they are
told when one starts.`,
		Args: shell.Between(0, 1, "the URL of one sink, or nothing"),
		RunE: func(c *cobra.Command, args []string) error {
			return p.WithServer(c, false, func(ctx context.Context, s *shell.Connection) error {
				n, err := s.RetryPingTargets(ctx, append(args, "")[0])
				if err == nil {
					_, err = fmt.Fprintf(p.Out, "%s will be told now.\n", text.Plural(n, "sink"))
				}
				return err
			})
		},
	})
}
