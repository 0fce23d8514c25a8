package hubcli

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"cloudburst/client"
	"cloudburst/internal/cli/shell"
	"cloudburst/internal/text"
)

func (p *commands) subscriptions() *cobra.Command {
	c := shell.Group("subscriptions", "List, move and remove subscriptions",
		"Works on the running server, or on the data folder when none runs.")
	c.AddCommand(p.subscriptionsList(), p.subscriptionsExport(), p.subscriptionsImport(), p.subscriptionsRemove())
	return c
}

func (p *commands) subscriptionsList() *cobra.Command {
	var q client.SubscriptionQuery
	var asJSON bool
	c := shell.ServerFlags(&cobra.Command{
		Use:   "list",
		Short: "List subscriptions",
		Long: `Lists subscriptions, grouped by feed, with complete URLs.

--json prints one object per line: topic, protocol, callback, procedure, created_at,
renewed_at, expires_at (the end of 9999: never), topic_id, id, and after failed
deliveries failures, tries, next_at, last_error, last_error_at.`,
		Args: shell.Between(0, 0, ""),
		RunE: p.OnServer(func(ctx context.Context, s *shell.Connection, _ []string) error {
			return p.printSubscriptions(s.Subscriptions(ctx, q), asJSON)
		}),
	})
	f := c.Flags()
	f.StringVar(&q.Topic, "topic", "", "only subscriptions to the feed with this `URL`")
	f.StringVar(&q.Match, "match", "", "only subscriptions with this `text` in the feed URL or the callback")
	shell.ChoiceFlag(c, &q.Protocol, "protocol", "only subscriptions by this protocol", "http-post", "https-post", "xml-rpc", "soap", "websub", "cnws")
	f.IntVar(&q.Limit, "limit", 0, "at most this `number`; 0 means all")
	f.BoolVar(&asJSON, "json", false, "print one JSON object per line")
	return c
}

func (p *commands) printSubscriptions(list func(func(client.Subscription, error) bool), asJSON bool) error {
	return shell.PrintList(p.Out, list, asJSON, []string{"FEED", "PROTOCOL", "CALLBACK", "EXPIRES", "ERRORS", "LAST ERROR"}, func(s *client.Subscription) []string {
		return []string{s.Topic, s.Protocol, s.Callback, ending(s.ExpiresAt), fmt.Sprint(s.Failures), s.LastError}
	})
}

// ending formats the expiry of a subscription. The server represents a subscription without an
// expiry by the end of the year 9999.
//
// spec:cnws-2003#no-expiry
func ending(at time.Time) string {
	if at.Year() >= 9999 {
		return "never"
	}
	return shell.FormatTime(&at)
}

func (p *commands) subscriptionsRemove() *cobra.Command {
	var q client.RemoveQuery
	var asJSON bool
	c := shell.ServerFlags(&cobra.Command{
		Use:   "remove",
		Short: "Remove subscriptions",
		Long: `Removes the subscriptions that match the given feed, callback and protocol exactly,
and prints them. At least --topic or --callback is required. The hub sends WebSub
subscribers a denial and does not notify the others. All of them may subscribe again.`,
		Example: "  cloudburst subscriptions remove --callback http://192.0.2.7:5339/notify",
		Args:    shell.Between(0, 0, ""),
		RunE: func(c *cobra.Command, _ []string) error {
			if q.Topic == "" && q.Callback == "" {
				return shell.Usagef("missing filter: set --topic URL, --callback URL or both")
			}
			return p.WithServer(c, false, func(ctx context.Context, s *shell.Connection) error {
				gone, err := s.Remove(ctx, q)
				if err != nil {
					return err
				}
				fmt.Fprintf(p.Err, "Removed %s.\n", text.Plural(len(gone), "subscription"))
				return p.printSubscriptions(shell.Each(gone, nil), asJSON)
			})
		},
	})
	c.Flags().StringVar(&q.Topic, "topic", "", "subscriptions to the feed with this `URL`")
	c.Flags().StringVar(&q.Callback, "callback", "", "subscriptions with this callback `URL`")
	shell.ChoiceFlag(c, &q.Protocol, "protocol", "subscriptions by this protocol", "http-post", "https-post", "xml-rpc", "soap", "websub", "cnws")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object per line")
	return c
}

func (p *commands) subscriptionsExport() *cobra.Command {
	c := shell.ServerFlags(&cobra.Command{
		Use:   "export [FILE]",
		Short: "Export all active subscriptions as JSON Lines",
		Long: `Writes all active subscriptions, one JSON object per line, to FILE or to standard
output. If you import the file into an empty server and export again, both files are
identical. FILE is replaced only when the export is complete.`,
		Args: shell.Between(0, 1, "at most one FILE"),
		RunE: p.OnServer(func(ctx context.Context, s *shell.Connection, args []string) error {
			bar := shell.NewProgress(p.Err, "exported")
			show := func(n int) { bar.At(n, 0) }
			if len(args) == 0 || args[0] == "-" {
				_, err := s.Export(ctx, p.Out, show)
				bar.End()
				return err
			}
			n, err := shell.WriteWhole(args[0], func(w io.Writer) (int, error) { return s.Export(ctx, w, show) })
			bar.End()
			if err == nil {
				fmt.Fprintf(p.Err, "Exported %s to %s.\n", text.Plural(n, "subscription"), args[0])
			}
			return err
		}),
	})
	return c
}

func (p *commands) subscriptionsImport() *cobra.Command {
	var o client.ImportOptions
	var asJSON bool
	c := shell.ServerFlags(&cobra.Command{
		Use:   "import FILE",
		Short: "Import subscriptions from an export or from rsscloud-server's subscriptions.json",
		Long: `Adds the subscriptions of a file, and renews existing ones. The server does not verify
the callbacks again. FILE is the output of "subscriptions export" or the data file of
rsscloud-server (subscriptions.json, version 1 or 2); "-" is standard input.

Expiry times stay the same. Expired subscriptions are skipped and counted. If a line is
invalid, the import fails with the number of the line and changes nothing, unless you
set --skip-bad. You can import the same file again without any effect.`,
		Example: "  cloudburst subscriptions import old.jsonl\n  cloudburst subscriptions import --skip-bad /srv/rsscloud-server/data/subscriptions.v2.json",
		Args:    shell.Between(1, 1, "one FILE (or - for standard input)"),
		RunE: func(c *cobra.Command, args []string) error {
			file, err := p.OpenInput(args[0])
			if err != nil {
				return err
			}
			defer file.Close()
			src, err := readImport(file)
			if err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			return p.WithServer(c, true, func(ctx context.Context, s *shell.Connection) error {
				bar := shell.NewProgress(p.Err, "imported")
				o.Progress = bar.At
				res, err := s.Import(ctx, src, o)
				bar.End()
				if err != nil {
					return fmt.Errorf("%s: %w", args[0], src.explain(err))
				}
				return p.printImport(src.merge(res), asJSON)
			})
		},
	})
	c.Flags().BoolVar(&o.SkipBad, "skip-bad", false, "skip invalid lines instead of rejecting the file")
	c.Flags().BoolVar(&asJSON, "json", false, "print the result as a JSON object: lines, imported, expired, bad, bad_lines")
	return c
}

func (p *commands) printImport(res client.ImportResult, asJSON bool) error {
	if asJSON {
		return shell.JSONLines(p.Out).Encode(res)
	}
	fmt.Fprintf(p.Out, "Imported %s.", text.Plural(res.Imported, "subscription"))
	if res.Expired > 0 {
		fmt.Fprintf(p.Out, " Skipped %d expired.", res.Expired)
	}
	if res.Bad > 0 {
		fmt.Fprintf(p.Out, " Skipped %d invalid.", res.Bad)
	}
	fmt.Fprintln(p.Out)
	for _, b := range res.BadLines {
		fmt.Fprintf(p.Err, "line %d: %s\n", b.Line, shell.Clean(b.Message))
	}
	return nil
}
