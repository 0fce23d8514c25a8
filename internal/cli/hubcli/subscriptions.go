package hubcli

import (
	"bufio"
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
		Long: `Lists subscriptions, those of one feed together, with whole URLs.

--json prints one object a line: topic, protocol, callback, procedure, created_at,
renewed_at, expires_at (the end of 9999: no end), topic_id, id, and where there is
trouble failures, tries, next_at, last_error, last_error_at.`,
		Args: shell.Between(0, 0, ""),
		RunE: func(c *cobra.Command, _ []string) error {
			return p.WithServer(c, false, func(ctx context.Context, s *shell.Connection) error {
				return p.printSubscriptions(s.Subscriptions(ctx, q), asJSON)
			})
		},
	})
	f := c.Flags()
	f.StringVar(&q.Topic, "topic", "", "only those of the feed with this `URL`")
	f.StringVar(&q.Match, "match", "", "only those with this `text` in the feed's URL or the callback")
	shell.ChoiceFlag(c, &q.Protocol, "protocol", "only those told in this way", "http-post", "https-post", "xml-rpc", "soap", "websub", "cnws")
	f.IntVar(&q.Limit, "limit", 0, "at most this `number`; 0 is all")
	f.BoolVar(&asJSON, "json", false, "one JSON object a line")
	return c
}

func (p *commands) printSubscriptions(list func(func(client.Subscription, error) bool), asJSON bool) error {
	out := bufio.NewWriter(p.Out)
	enc := shell.JSONLines(out)
	t := shell.NewTable(p.Out, "FEED", "PROTOCOL", "CALLBACK", "EXPIRES", "ERRORS", "LAST ERROR")
	for s, err := range list {
		if err == nil && asJSON {
			err = enc.Encode(s)
		} else if err == nil {
			err = t.Row(s.Topic, s.Protocol, s.Callback, ending(s.ExpiresAt), fmt.Sprint(s.Failures), s.LastError)
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

// ending shows when a subscription ends. One that never does ends in the last year
// that a date of four digits can name.
//
// spec:cnws-2003#no-expiry
func ending(at time.Time) string {
	if at.Year() >= 9999 {
		return "no end"
	}
	return shell.FormatTime(&at)
}

func (p *commands) subscriptionsRemove() *cobra.Command {
	var q client.RemoveQuery
	var asJSON bool
	c := shell.ServerFlags(&cobra.Command{
		Use:   "remove",
		Short: "End subscriptions",
		Long: `Ends the subscriptions whose feed, callback and protocol are exactly the given
ones, and prints them. At least --topic or --callback is needed. Those
told by WebSub hear that their subscription is denied, the others nothing; each may
register again.`,
		Example: "  cloudburst subscriptions remove --callback http://192.0.2.7:5339/notify",
		Args:    shell.Between(0, 0, ""),
		RunE: func(c *cobra.Command, _ []string) error {
			if q.Topic == "" && q.Callback == "" {
				return shell.Usagef("say which: --topic URL, --callback URL or both")
			}
			return p.WithServer(c, false, func(ctx context.Context, s *shell.Connection) error {
				gone, err := s.Remove(ctx, q)
				if err != nil {
					return err
				}
				fmt.Fprintf(p.Err, "Removed %s.\n", text.Plural(len(gone), "subscription"))
				return p.printSubscriptions(func(yield func(client.Subscription, error) bool) {
					for _, sub := range gone {
						if !yield(sub, nil) {
							return
						}
					}
				}, asJSON)
			})
		},
	})
	c.Flags().StringVar(&q.Topic, "topic", "", "of the feed with this `URL`")
	c.Flags().StringVar(&q.Callback, "callback", "", "with this callback `URL`")
	shell.ChoiceFlag(c, &q.Protocol, "protocol", "told in this way", "http-post", "https-post", "xml-rpc", "soap", "websub", "cnws")
	c.Flags().BoolVar(&asJSON, "json", false, "one JSON object a line")
	return c
}

func (p *commands) subscriptionsExport() *cobra.Command {
	c := shell.ServerFlags(&cobra.Command{
		Use:   "export [FILE]",
		Short: "Write every live subscription as JSON Lines",
		Long: `Writes every live subscription, one JSON object a line, to FILE or to standard
output. Importing the file into an empty server and exporting again gives the
same bytes. A file is written beside its name and put in place when it is whole.`,
		Args: shell.Between(0, 1, "at most one FILE"),
		RunE: func(c *cobra.Command, args []string) error {
			return p.WithServer(c, false, func(ctx context.Context, s *shell.Connection) error {
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
			})
		},
	})
	return c
}

func (p *commands) subscriptionsImport() *cobra.Command {
	var o client.ImportOptions
	var asJSON bool
	c := shell.ServerFlags(&cobra.Command{
		Use:   "import FILE",
		Short: "Read subscriptions from an export, or from rsscloud-server's subscriptions.json",
		Long: `Reads subscriptions and adds them; those that exist already are renewed. Callbacks
are not asked: the file says that they agreed. FILE is what "subscriptions export"
wrote, or the data file of rsscloud-server (subscriptions.json, version 1 or 2);
"-" is standard input.

Expiry times are kept. Subscriptions that have run out are left out and counted.
A file with a bad line is refused whole, with the number of the line, unless
--skip-bad is given. Importing the same file again changes nothing.`,
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
	c.Flags().BoolVar(&o.SkipBad, "skip-bad", false, "leave bad lines out instead of refusing the file")
	c.Flags().BoolVar(&asJSON, "json", false, "the outcome as a JSON object: lines, imported, expired, bad, bad_lines")
	return c
}

func (p *commands) printImport(res client.ImportResult, asJSON bool) error {
	if asJSON {
		return shell.JSONLines(p.Out).Encode(res)
	}
	fmt.Fprintf(p.Out, "Imported %s.", text.Plural(res.Imported, "subscription"))
	if res.Expired > 0 {
		fmt.Fprintf(p.Out, " Left out %d that had run out.", res.Expired)
	}
	if res.Bad > 0 {
		fmt.Fprintf(p.Out, " Left out %d that could not be read.", res.Bad)
	}
	fmt.Fprintln(p.Out)
	for _, b := range res.BadLines {
		fmt.Fprintf(p.Err, "line %d: %s\n", b.Line, shell.Clean(b.Message))
	}
	return nil
}
