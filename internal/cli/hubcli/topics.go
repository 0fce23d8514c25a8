package hubcli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"cloudburst/client"
	"cloudburst/internal/cli/shell"
	"cloudburst/internal/text"
)

func (p *commands) topics() *cobra.Command {
	c := shell.Group("topics", "List feeds, or show one with its history",
		"Works on the running server, or on the data folder when none runs.")
	c.AddCommand(p.topicsList(), p.topicsShow())
	return c
}

func (p *commands) topicsList() *cobra.Command {
	var q client.TopicQuery
	var asJSON bool
	c := shell.ServerFlags(&cobra.Command{
		Use:   "list",
		Short: "List the feeds with subscriptions or pings",
		Long: `Lists feeds, ordered by URL.

--json prints one object per line: id, url, subscribers, version, hash, etag,
last_modified, content_type, size, checked_at, changed_at, pinged_at, failures, error,
verification.`,
		Args: shell.Between(0, 0, ""),
		RunE: p.OnServer(func(ctx context.Context, s *shell.Connection, _ []string) error {
			return shell.PrintList(p.Out, s.Topics(ctx, q), asJSON, []string{"FEED", "SUBSCRIBERS", "CHANGES", "CHANGED", "CHECKED", "LAST ERROR"}, func(t *client.Topic) []string {
				return []string{t.URL, fmt.Sprint(t.Subscribers), fmt.Sprint(t.Version), shell.FormatTime(t.ChangedAt), shell.FormatTime(t.CheckedAt), t.Error}
			})
		}),
	})
	c.Flags().StringVar(&q.Match, "match", "", "only feeds with this `text` in the URL")
	c.Flags().IntVar(&q.Limit, "limit", 0, "at most this `number`; 0 means all")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object per line")
	return c
}

func (p *commands) topicsShow() *cobra.Command {
	var asJSON bool
	c := shell.ServerFlags(&cobra.Command{
		Use:   "show URL",
		Short: "Show the state and the recent events of one feed",
		Long: `Shows the state of the feed and the newest events of its log: pings, checks and their
results, registrations and notifications.

--json prints the feed as an object (see "topics list"), followed by its events, one
per line (see "log").`,
		Args: shell.Between(1, 1, "the URL of one feed"),
		RunE: p.OnServer(func(ctx context.Context, s *shell.Connection, args []string) error {
			topic, err := s.Topic(ctx, args[0])
			if err != nil {
				return err
			}
			events, err := newest(s.Log(ctx, client.LogQuery{Topic: args[0], Limit: 20}))
			if err != nil {
				return err
			}
			if asJSON {
				if err := shell.JSONLines(p.Out).Encode(topic); err != nil {
					return err
				}
			} else {
				p.printTopic(topic)
			}
			return p.printEvents(events, asJSON)
		}),
	})
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object per line")
	return c
}

func (p *commands) printTopic(t client.Topic) {
	row := func(name, value string) {
		if value != "" {
			fmt.Fprintf(p.Out, "%-12s  %s\n", name, shell.Clean(value))
		}
	}
	row("feed", t.URL)
	row("subscribers", fmt.Sprint(t.Subscribers))
	row("changes", fmt.Sprint(t.Version))
	row("changed", shell.FormatTime(t.ChangedAt))
	row("checked", shell.FormatTime(t.CheckedAt))
	if t.PingedAt != nil {
		row("pinged", shell.FormatTime(t.PingedAt)+", not checked yet")
	}
	if t.Failures > 0 {
		row("failing", fmt.Sprintf("%d times in a row: %s", t.Failures, t.Error))
	}
	row("size", fmt.Sprintf("%d bytes", t.Size))
	row("type", t.ContentType)
	row("hash", t.Hash)
	row("etag", t.ETag)
	row("modified", t.LastModified)
	if v := t.Verification; v != nil {
		how := "a 304 is trusted: its ETag is reliable"
		if v.Full {
			how = "read in full: " + v.Reason
		}
		row("after a ping", how)
		row("reads", fmt.Sprintf("%d in full (%s); %s", v.FullReads, shell.FormatSize(v.FullBytes), text.Plural(int(v.NotModified), "304")+" trusted"))
		row("next full", shell.FormatTime(v.AgainAt))
	}
	fmt.Fprintln(p.Out)
}
