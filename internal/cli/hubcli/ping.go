package hubcli

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	"github.com/spf13/cobra"

	"cloudburst/internal/cli/hubclient"
	"cloudburst/internal/cli/shell"
	"cloudburst/protocol/rsscloud"
)

// viaProtocol turns a word of ping --via into the name on the wire.
func viaProtocol(via string) string {
	if via == "rest" {
		return rsscloud.HTTPPost
	}
	return via
}

// pinging is one run of the command.
type pinging struct {
	p                          *commands
	hub, via, name, site, tags string
	json                       bool
}

func (p *commands) ping() *cobra.Command {
	g := &pinging{p: p}
	c := &cobra.Command{
		Use:   "ping FEED…",
		Short: "Tell a hub that a feed changed",
		Long: `Tells a hub that feeds changed, as an author's tool does after saving them. Without
--hub each feed is read, and the hub of its own <cloud> element is told; where it has
none, the WebSub hubs that it names are.

rest, xml-rpc and soap are rssCloud's. weblogs and weblogs-extended are the pings of
weblogs.com over XML-RPC, http-get the same as a GET: they tell of the site that the
feed belongs to, whose name and home page are in the feed; --name and --site give
others. For http-get --hub may hold {0} and {1}, where name and address go. websub
tells all hubs that the feed names by rel="hub".

The hub's own sentence comes first. A hub of this kind also says whether the feed had
changed, how many subscribers are notified, and which page to look at.

--json prints one object a line: feed, door, success, msg, took_ms, and where the hub
says them outcome (changed, unchanged, pending, nobody, checking, listed), subscribers
and page.`,
		Example: "  cloudburst ping http://example.org/rss.xml\n  cloudburst ping --hub http://localhost:5337 --via xml-rpc http://example.org/rss.xml\n  cloudburst ping --hub 'http://rpc.example.com/ping?u={1}' --via http-get http://example.org/rss.xml",
		Args:    shell.Between(1, -1, "the URL of at least one FEED"),
		RunE: func(c *cobra.Command, feeds []string) error {
			return g.run(c.Context(), feeds)
		},
	}
	c.Flags().StringVar(&g.hub, "hub", "", "`URL` of the hub, or of its ping door (default: the feed's own <cloud>)")
	shell.ChoiceFlag(c, &g.via, "via", "how to tell it (default: as the <cloud> says, websub where there is none; rest with --hub)", "rest", "xml-rpc", "soap", viaWeblogs, viaExtended, viaGet, viaWebSub)
	c.Flags().StringVar(&g.name, "name", "", "`text`: name of the site, for pings of sites (default: the feed's title)")
	c.Flags().StringVar(&g.site, "site", "", "`URL` of its home page, for pings of sites (default: the feed's link)")
	c.Flags().StringVar(&g.tags, "tags", "", "`list` of what the site is about, with | between, for weblogs-extended")
	c.Flags().BoolVar(&g.json, "json", false, "one JSON object a line")
	return c
}

func (g *pinging) run(ctx context.Context, feeds []string) error {
	if err := g.check(feeds); err != nil {
		return err
	}
	failed := false
	for _, feed := range feeds {
		for _, out := range g.one(ctx, feed) {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			failed = failed || !out.Success
			if err := g.p.PrintPing(out, g.json); err != nil {
				return err
			}
		}
	}
	if failed {
		return shell.ErrReported
	}
	return nil
}

// check says what is wrong with the command line.
func (g *pinging) check(feeds []string) error {
	if g.hub != "" {
		if _, err := g.endpointBelow(g.hub); err != nil {
			return shell.Usagef("--hub is %q: it needs the URL of a hub, such as http://localhost:5337", g.hub)
		}
	}
	for _, feed := range feeds {
		if err := rsscloud.CheckFeedURL(feed); err != nil {
			return shell.Usagef("%q is not the URL of a feed: it needs http:// or https:// and a host", feed)
		}
	}
	if !g.pingsSite() && (g.name != "" || g.site != "") {
		return shell.Usagef("--name and --site are for pings of sites: --via %s, %s or %s", viaWeblogs, viaExtended, viaGet)
	}
	if g.tags != "" && g.via != viaExtended {
		return shell.Usagef("--tags is for --via %s", viaExtended)
	}
	if g.site != "" && rsscloud.CheckFeedURL(g.site) != nil {
		return shell.Usagef("--site is %q: it needs http:// or https:// and a host", g.site)
	}
	return nil
}

// one pings for a feed: once, or once for each of its hubs.
func (g *pinging) one(ctx context.Context, feed string) []hubclient.PingResult {
	switch {
	case g.pingsSite():
		return []hubclient.PingResult{g.pingSite(ctx, feed)}
	case g.via == viaWebSub:
		return g.pingWebSub(ctx, feed)
	}
	protocol, endpoint, err := g.p.pingEndpoint(ctx, feed, g.hub, g.via)
	if errors.Is(err, rsscloud.ErrNoCloud) && g.via == "" {
		if d, none := g.p.FindHubs(ctx, feed); none == nil {
			return g.publish(ctx, d.Hubs, d.Topic())
		}
	}
	if err != nil {
		return []hubclient.PingResult{{Feed: feed, Msg: shell.Sentence(err), Failed: true}}
	}
	return []hubclient.PingResult{g.timed(feed, endpoint, func(h rsscloud.HTTPClient) (bool, string, error) {
		cloud := rsscloud.Client{HTTP: h, UserAgent: g.p.UserAgent()}
		res, err := cloud.Ping(ctx, protocol, endpoint, feed)
		return res.Success, res.Msg, err
	})}
}

// pingDoor finds out where to ping and in which protocol.
func (p *commands) pingEndpoint(ctx context.Context, feed, hub, via string) (protocol, endpoint string, err error) {
	protocol = viaProtocol(via)
	if hub != "" {
		if protocol == "" {
			protocol = rsscloud.HTTPPost
		}
		endpoint, err = rsscloud.PingEndpoint(protocol, hub)
		return protocol, endpoint, err
	}
	doc, err := p.ReadFeed(ctx, feed)
	if err != nil {
		return "", "", err
	}
	cloud, err := doc.Cloud()
	if err != nil {
		return "", "", fmt.Errorf("%w: name the hub with --hub", err)
	}
	if protocol == "" {
		if protocol = cloud.Protocol; protocol == rsscloud.HTTPSPost {
			protocol = rsscloud.HTTPPost
		}
		endpoint, err = cloud.PingURL()
		if err != nil {
			err = fmt.Errorf("the <cloud> of %s does not say where to ping: name the hub with --hub (%w)", feed, err)
		}
		return protocol, endpoint, err
	}
	register, err := cloud.RegisterURL()
	if err != nil {
		return "", "", err
	}
	u, err := url.Parse(register)
	if err != nil {
		return "", "", err
	}
	endpoint, err = rsscloud.PingEndpoint(protocol, u.Scheme+"://"+u.Host)
	return protocol, endpoint, err
}
