package cli

import (
	"bufio"
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"cloudburst/client"
)

func (p *Program) topics() *cobra.Command {
	c := Group("topics", "List feeds, or show one with its history",
		"Works on the running server, or on the data folder when none runs.")
	c.AddCommand(p.topicsList(), p.topicsShow())
	return c
}

func (p *Program) topicsList() *cobra.Command {
	var q client.TopicQuery
	var asJSON bool
	c := operator(&cobra.Command{
		Use:   "list",
		Short: "List the feeds that somebody subscribed to or pinged",
		Long: `Lists feeds in order of their URL.

--json prints one object a line: id, url, subscribers, version, hash, etag,
last_modified, content_type, size, checked_at, changed_at, pinged_at, failures, error,
verification.`,
		Args: between(0, 0, ""),
		RunE: func(c *cobra.Command, _ []string) error {
			return p.with(c, false, func(ctx context.Context, s *connection) error {
				out := bufio.NewWriter(p.Out)
				enc := lines(out)
				t := newTable(p.Out, "FEED", "SUBSCRIBERS", "CHANGES", "CHANGED", "CHECKED", "LAST ERROR")
				for topic, err := range s.Topics(ctx, q) {
					if err == nil && asJSON {
						err = enc.Encode(topic)
					} else if err == nil {
						err = t.row(topic.URL, fmt.Sprint(topic.Subscribers), fmt.Sprint(topic.Version),
							moment(topic.ChangedAt), moment(topic.CheckedAt), topic.Error)
					}
					if err != nil {
						return err
					}
				}
				if err := out.Flush(); err != nil {
					return err
				}
				return t.end()
			})
		},
	})
	c.Flags().StringVar(&q.Match, "match", "", "only those with this `text` in the URL")
	c.Flags().IntVar(&q.Limit, "limit", 0, "at most this `number`; 0 is all")
	c.Flags().BoolVar(&asJSON, "json", false, "one JSON object a line")
	return c
}

func (p *Program) topicsShow() *cobra.Command {
	var asJSON bool
	c := operator(&cobra.Command{
		Use:   "show URL",
		Short: "Show one feed: its state, and what happened to it lately",
		Long: `Shows what is known of the feed, and the newest events of its log: pings, checks
and why they changed nothing, registrations, notifications.

--json prints the feed as an object (see "topics list"), and then its events, one
a line (see "log").`,
		Args: between(1, 1, "the URL of one feed"),
		RunE: func(c *cobra.Command, args []string) error {
			return p.with(c, false, func(ctx context.Context, s *connection) error {
				topic, err := s.Topic(ctx, args[0])
				if err != nil {
					return err
				}
				events, err := newest(s.Log(ctx, client.LogQuery{Topic: args[0], Limit: 20}))
				if err != nil {
					return err
				}
				if asJSON {
					if err := lines(p.Out).Encode(topic); err != nil {
						return err
					}
				} else {
					p.printTopic(topic)
				}
				return p.printEvents(events, asJSON)
			})
		},
	})
	c.Flags().BoolVar(&asJSON, "json", false, "one JSON object a line")
	return c
}

func (p *Program) printTopic(t client.Topic) {
	row := func(name, value string) {
		if value != "" {
			fmt.Fprintf(p.Out, "%-12s  %s\n", name, clean(value))
		}
	}
	row("feed", t.URL)
	row("subscribers", fmt.Sprint(t.Subscribers))
	row("changes", fmt.Sprint(t.Version))
	row("changed", moment(t.ChangedAt))
	row("checked", moment(t.CheckedAt))
	if t.PingedAt != nil {
		row("pinged", moment(t.PingedAt)+", not checked yet")
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
		text := "a 304 counts: its ETag is proven"
		if v.Full {
			text = "read in full: " + v.Reason
		}
		row("after a ping", text)
		row("reads", fmt.Sprintf("%d in full (%s); %s", v.FullReads, size(v.FullBytes), plural(int(v.NotModified), "304")+" counted"))
		row("again", moment(v.AgainAt))
	}
	fmt.Fprintln(p.Out)
}
