package hubcli

import (
	"bufio"
	"context"
	"fmt"
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
	c := shell.Group("relay", "Follow feeds at other hubs and pass on what they announce",
		`The server subscribes to the feed at its hub; when the hub says that it changed,
the server reads the feed itself and tells its own subscribers. Registrations are
renewed by the server as long as it runs, and anew after it was away.

Works on the running server, or on the data folder when none runs.`)
	c.AddCommand(p.relayAdd(), p.relayList(), p.relayRemove())
	return c
}

const (
	relayPatience = 5 * time.Second // for the hub's answer, before "pending" is told
	relayLook     = 100 * time.Millisecond
)

// relayDoor is the door of a hub that may be named without its path. WebSub hubs at
// the root exist, so those are taken as they are.
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
		Short: "Follow a feed at its hub",
		Long: `Follows a feed, or asks its hub anew. The feed says where its hub is: one of WebSub
is taken before the <cloud> of rssCloud. --via chooses, and --hub names a hub that
the feed does not; CNWS, of which feeds say nothing, always needs it.

Prints what the hub answered, or that it has not answered within five seconds.

--json prints an object: ` + relayFields + `.`,
		Example: "  cloudburst relay add https://example.com/rss.xml\n  cloudburst relay add --via cnws --hub http://news.example/cnws http://news.example/rss.xml",
		Args:    shell.Between(1, 1, "the URL of one FEED"),
		RunE: func(c *cobra.Command, args []string) error {
			r.Feed = args[0]
			if r.Hub != "" && r.Via == "" {
				return shell.Usagef("--hub needs --via behind it: rsscloud, websub or cnws")
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
				return p.printRelays([]client.Relay{relay}, asJSON)
			})
		},
	})
	shell.ChoiceFlag(c, &r.Via, "via", "the protocol; without it, the best that the feed offers", relayVias()...)
	c.Flags().StringVar(&r.Hub, "hub", "", "the `URL` of the hub's door; without it, the one that the feed names")
	c.Flags().BoolVar(&asJSON, "json", false, "as a JSON object")
	return c
}

// answeredRelay waits for the hub's answer for a while.
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
			if fresh && (r.LastError != "" || r.State == "active" && !r.ConfirmedAt.Before(*r.RequestedAt)) {
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
		Short: "List the feeds that are followed at other hubs",
		Long: `Lists the feeds that the server follows at other hubs, in order of their URL.

A feed is pending while its hub has not said yes, active when it has, refused when
it said no, lost when it ended what it had promised, and ending while the hub is
being told that nobody wants it any more.

--json prints one object a line: ` + relayFields + `.`,
		Args: shell.Between(0, 0, ""),
		RunE: func(c *cobra.Command, _ []string) error {
			return p.WithServer(c, false, func(ctx context.Context, s *shell.Connection) error {
				var list []client.Relay
				for r, err := range s.Relays(ctx, q) {
					if err != nil {
						return err
					}
					list = append(list, r)
				}
				return p.printRelays(list, asJSON)
			})
		},
	})
	c.Flags().StringVar(&q.Match, "match", "", "only those with this `text` in the feed's or the hub's URL")
	shell.ChoiceFlag(c, &q.Via, "via", "only those of this protocol", relayVias()...)
	shell.ChoiceFlag(c, &q.State, "state", "only those in this state", "pending", "active", "refused", "lost", "ending")
	c.Flags().IntVar(&q.Limit, "limit", 0, "at most this `number`; 0 is all")
	c.Flags().BoolVar(&asJSON, "json", false, "one JSON object a line")
	return c
}

func (p *commands) relayRemove() *cobra.Command {
	var via string
	var asJSON bool
	c := shell.ServerFlags(&cobra.Command{
		Use:   "remove FEED",
		Short: "Follow a feed no more",
		Long:  "Ends following a feed, by every protocol or by the one that --via names. The hub is\ntold where its protocol has a way to.",
		Args:  shell.Between(1, 1, "the URL of one FEED"),
		RunE: func(c *cobra.Command, args []string) error {
			return p.WithServer(c, false, func(ctx context.Context, s *shell.Connection) error {
				gone, err := s.RemoveRelay(ctx, args[0], via)
				if err != nil {
					return err
				}
				fmt.Fprintf(p.Err, "Removed %s.\n", text.Plural(len(gone), "relay"))
				return p.printRelays(gone, asJSON)
			})
		},
	})
	shell.ChoiceFlag(c, &via, "via", "by this protocol only", relayVias()...)
	c.Flags().BoolVar(&asJSON, "json", false, "one JSON object a line")
	return c
}

func (p *commands) printRelays(list []client.Relay, asJSON bool) error {
	out := bufio.NewWriter(p.Out)
	enc := shell.JSONLines(out)
	t := shell.NewTable(p.Out, "FEED", "VIA", "STATE", "HUB", "HEARD", "EXPIRES", "LAST ERROR")
	for _, r := range list {
		var err error
		if asJSON {
			err = enc.Encode(r)
		} else {
			err = t.Row(r.Feed, r.Via, r.State, r.Hub, shell.FormatTime(r.PushedAt), shell.FormatTime(r.ExpiresAt), r.LastError)
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
