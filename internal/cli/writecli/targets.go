package writecli

import (
	"context"

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
		Use: "sinks", Aliases: []string{"targets"},
		Short: "List the ping targets: other servers to notify about saved feeds",
		Long: `Lists the ping targets: the servers that this server pings after a save of a feed, in
addition to its own hub. Targets come from the setting ping.targets and from authors.
Each line is one target and one feed, with the last answer and the time of the next
ping. The states:

  told      the target accepted a ping for the newest version
  owed      a ping for the newest version is pending
  telling   a ping is in progress
  given-up  the target refused three times or was unreachable for a week; the next
            change of the feed or "cloudburst sinks retry" pings it again

Works on the running server, or on the data folder when none runs.

--json prints one object per line: ` + targetFields + `.`,
		Args: shell.Between(0, 0, ""),
		RunE: p.OnServer(func(ctx context.Context, s *shell.Connection, _ []string) error {
			return p.listTargets(ctx, s, q, asJSON)
		}),
	})
	c.Flags().StringVar(&q.User, "user", "", "only targets of the feed of the user with this `name`")
	c.Flags().BoolVar(&q.Pending, "owing", false, "only targets with a pending ping")
	c.Flags().IntVar(&q.Limit, "limit", 0, "at most this `number`; 0 means all")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object per line")
	c.AddCommand(p.targetsRetry())
	return c
}

func (p *commands) listTargets(ctx context.Context, s *shell.Connection, q client.PingTargetQuery, asJSON bool) error {
	return shell.PrintList(p.Out, s.PingTargets(ctx, q), asJSON, []string{"TARGET", "KIND", "FEED", "STATE", "LAST", "ANSWER", "NEXT"}, func(o *client.PingTarget) []string {
		return []string{o.URL, o.Kind, o.Topic, o.State, shell.FormatTime(o.LastAt), o.Last, shell.FormatTime(o.NextAt)}
	})
}

func (p *commands) targetsRetry() *cobra.Command {
	return shell.ServerFlags(&cobra.Command{
		Use:   "retry [URL]",
		Short: "Ping the targets with pending pings now",
		Long: `Sends all pending pings now, including those in the state given-up, or only the pings
to the target with this URL. If no server is running, it sends them at its next start.`,
		Args: shell.Between(0, 1, "the URL of one target, or nothing"),
		RunE: p.OnServer(func(ctx context.Context, s *shell.Connection, args []string) error {
			n, err := s.RetryPingTargets(ctx, append(args, "")[0])
			return p.ReportSuccess(err, "%s will be pinged now.\n", text.Plural(n, "target"))
		}),
	})
}
