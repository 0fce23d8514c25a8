package hubcli

import (
	"context"
	"fmt"
	"iter"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"cloudburst/client"
	"cloudburst/internal/cli/shell"
	"cloudburst/internal/text"
	"cloudburst/protocol/rsscloud"
)

func (p *commands) relay() *cobra.Command {
	c := shell.Group("relay", "Subscribe to feeds at other hubs and forward their notifications",
		`The server subscribes to a feed at the feed's hub. When that hub announces a change,
the server reads the feed itself and notifies its own subscribers. The server renews
its registrations while it runs, and registers again after an outage.

Works on the running server, or on the data folder when none runs.`)
	c.AddCommand(p.relayAdd(), p.relayList(), p.relayRemove())
	return c
}

const (
	relayPatience = 5 * time.Second // maximum wait for the hub's reply; then the command prints the state "pending"
	relayLook     = 100 * time.Millisecond
)

// relayEndpoint appends the usual path of the endpoint to the URL of a hub without a path. It
// leaves WebSub URLs unchanged, because a WebSub endpoint may be at the root.
func relayEndpoint(via, hub string) string {
	base := strings.TrimRight(hub, "/")
	switch u, err := url.Parse(base); {
	case err != nil || u.Host == "" || u.Path != "" || u.RawQuery != "":
		return hub
	case via == "cnws":
		return cnwsEndpoint(base)
	case via == "rsscloud":
		if endpoint, err := rsscloud.CloudAt(base).RegisterURL(); err == nil {
			return endpoint
		}
	}
	return hub
}

func relayVias() []string { return []string{"rsscloud", "websub", "cnws"} }

const relayFields = `feed, via, hub, topic, state, for, created_at, requested_at,
confirmed_at, heard_at, expires_at, next_at, failures, rejected, last_error,
last_error_at`

func (p *commands) relayAdd() *cobra.Command {
	var r client.RelayRequest
	var asJSON bool
	c := shell.ServerFlags(&cobra.Command{
		Use:   "add FEED",
		Short: "Subscribe to a feed at its hub",
		Long: `Subscribes to a feed at its hub, or renews the subscription. The feed names its hub; a
WebSub hub is preferred to the <cloud> of rssCloud. --via selects the protocol. --hub
names a hub that the feed does not name; CNWS always needs it, because feeds do not name
CNWS hubs.

The command prints the hub's answer, or "pending" after five seconds without an answer.

--json prints an object: ` + relayFields + `.`,
		Example: "  cloudburst relay add https://example.com/rss.xml\n  cloudburst relay add --via cnws --hub http://news.example/cnws http://news.example/rss.xml",
		Args:    shell.Between(1, 1, "the URL of one FEED"),
		RunE: func(c *cobra.Command, args []string) error {
			r.Feed = args[0]
			if r.Hub != "" && r.Via == "" {
				return shell.Usagef("--hub needs --via: rsscloud, websub or cnws")
			}
			r.Hub = relayEndpoint(r.Via, r.Hub)
			return p.WithServer(c, true, func(ctx context.Context, s *shell.Connection) error {
				relay, err := s.AddRelay(ctx, r)
				if err != nil {
					return err
				}
				if s.Running {
					if relay, err = answeredRelay(ctx, s, relay); err != nil {
						return err
					}
				}
				return p.printRelays(shell.Each([]client.Relay{relay}, nil), asJSON)
			})
		},
	})
	shell.ChoiceFlag(c, &r.Via, "via", "the protocol (default: the best that the feed offers)", relayVias()...)
	c.Flags().StringVar(&r.Hub, "hub", "", "`URL` of the hub's endpoint (default: the one that the feed names)")
	c.Flags().BoolVar(&asJSON, "json", false, "print a JSON object")
	return c
}

// answered reports whether r contains the hub's reply to the last request. A hub's earlier error
// stays in r until the hub confirms a request. The server stores "did not verify" about the earlier
// request at the time of the new request, so an error at that time is no reply either.
func answered(r client.Relay) bool {
	failed := r.LastError != "" && r.LastErrorAt != nil && r.LastErrorAt.After(*r.RequestedAt)
	return failed || r.State == "active" && !r.ConfirmedAt.Before(*r.RequestedAt)
}

// answeredRelay waits for the hub's reply, at most relayPatience.
func answeredRelay(ctx context.Context, s *shell.Connection, r client.Relay) (client.Relay, error) {
	ctx, cancel := context.WithTimeout(ctx, relayPatience)
	defer cancel()
	asked := r.RequestedAt
	for {
		for now, err := range s.Relays(ctx, client.RelayQuery{Match: r.Feed, Via: r.Via}) {
			switch {
			case err != nil && ctx.Err() != nil:
				return r, nil
			case err != nil:
				return r, err
			case now.Feed != r.Feed:
				continue
			}
			r = now
			fresh := r.RequestedAt != nil && (asked == nil || r.RequestedAt.After(*asked))
			if fresh && answered(r) {
				return r, nil
			}
		}
		select {
		case <-ctx.Done():
			return r, nil
		case <-time.After(relayLook):
		}
	}
}

func (p *commands) relayList() *cobra.Command {
	var q client.RelayQuery
	var asJSON bool
	c := shell.ServerFlags(&cobra.Command{
		Use:   "list",
		Short: "List the subscriptions to other hubs",
		Long: `Lists the subscriptions of the server to other hubs, ordered by feed URL. The states:

  pending  the hub has not confirmed the subscription yet
  active   the hub confirmed it
  refused  the hub refused it
  lost     the hub ended it before it expired
  ending   the server is cancelling it at the hub

--json prints one object per line: ` + relayFields + `.`,
		Args: shell.Between(0, 0, ""),
		RunE: p.OnServer(func(ctx context.Context, s *shell.Connection, _ []string) error {
			return p.printRelays(s.Relays(ctx, q), asJSON)
		}),
	})
	c.Flags().StringVar(&q.Match, "match", "", "only feeds with this `text` in the URL of the feed or the hub")
	shell.ChoiceFlag(c, &q.Via, "via", "only subscriptions by this protocol", relayVias()...)
	shell.ChoiceFlag(c, &q.State, "state", "only subscriptions in this state", "pending", "active", "refused", "lost", "ending")
	c.Flags().IntVar(&q.Limit, "limit", 0, "at most this `number`; 0 means all")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object per line")
	return c
}

func (p *commands) relayRemove() *cobra.Command {
	var via string
	var asJSON bool
	c := shell.ServerFlags(&cobra.Command{
		Use:   "remove FEED",
		Short: "Unsubscribe from a feed",
		Long:  "Unsubscribes from a feed, in all protocols or only in that of --via. The server\ncancels the subscription at the hub if the protocol has a call for it.",
		Args:  shell.Between(1, 1, "the URL of one FEED"),
		RunE: p.OnServer(func(ctx context.Context, s *shell.Connection, args []string) error {
			gone, err := s.RemoveRelay(ctx, args[0], via)
			if err != nil {
				return err
			}
			fmt.Fprintf(p.Err, "Removed %s.\n", text.Plural(len(gone), "relay"))
			return p.printRelays(shell.Each(gone, nil), asJSON)
		}),
	})
	shell.ChoiceFlag(c, &via, "via", "only the subscription by this protocol", relayVias()...)
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object per line")
	return c
}

func (p *commands) printRelays(list iter.Seq2[client.Relay, error], asJSON bool) error {
	return shell.PrintList(p.Out, list, asJSON, []string{"FEED", "VIA", "STATE", "HUB", "LAST PUSH", "EXPIRES", "LAST ERROR"}, func(r *client.Relay) []string {
		return []string{r.Feed, r.Via, r.State, r.Hub, shell.FormatTime(r.PushedAt), shell.FormatTime(r.ExpiresAt), r.LastError}
	})
}
