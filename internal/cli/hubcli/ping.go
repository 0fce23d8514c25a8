package hubcli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"

	"github.com/spf13/cobra"

	"cloudburst/internal/cli/hubclient"
	"cloudburst/internal/cli/shell"
	"cloudburst/protocol/rsscloud"
)

// viaProtocol maps a value of ping --via to the protocol name.
func viaProtocol(via string) string {
	if via == "rest" {
		return rsscloud.HTTPPost
	}
	return via
}

// pinging is one run of the command ping.
type pinging struct {
	p                          *commands
	hub, via, name, site, tags string
	json                       bool
}

func (p *commands) ping() *cobra.Command {
	g := &pinging{p: p}
	c := &cobra.Command{
		Use:   "ping FEED…",
		Short: "Notify a hub that a feed changed",
		Long: `Pings a hub for each feed, as an author's program does after it saves a feed. Without
--hub the command reads each feed and pings the hub in its <cloud> element, or the
WebSub hubs that the feed names if it has no <cloud>.

rest, xml-rpc and soap are protocols of rssCloud. weblogs and weblogs-extended are the
pings of weblogs.com over XML-RPC; http-get is the same ping as a GET request. These
three name the site of the feed: name and home page come from the feed, or from --name
and --site. For http-get, {0} and {1} in --hub stand for the name and the URL. websub
notifies all hubs that the feed names with rel="hub".

The output starts with the hub's own message. A Cloudburst hub also reports whether the
feed changed, how many subscribers it notifies, and the URL of a page with details.

--json prints one object per line: feed, door, success, msg, took_ms, and if the hub
reports them outcome (changed, unchanged, pending, nobody, checking, listed), subscribers
and page.`,
		Example: "  cloudburst ping http://example.org/rss.xml\n  cloudburst ping --hub http://localhost:5337 --via xml-rpc http://example.org/rss.xml\n  cloudburst ping --hub 'http://rpc.example.com/ping?u={1}' --via http-get http://example.org/rss.xml",
		Args:    shell.Between(1, -1, "the URL of at least one FEED"),
		RunE: func(c *cobra.Command, feeds []string) error {
			return g.run(c.Context(), feeds)
		},
	}
	c.Flags().StringVar(&g.hub, "hub", "", "`URL` of the hub, or of its ping endpoint (default: the <cloud> of the feed)")
	shell.ChoiceFlag(c, &g.via, "via", "protocol of the ping (default: the one of the <cloud>, websub without a <cloud>; rest with --hub)", "rest", "xml-rpc", "soap", viaWeblogs, viaExtended, viaGet, viaWebSub)
	c.Flags().StringVar(&g.name, "name", "", "`name` of the site, for pings of sites (default: the feed's title)")
	c.Flags().StringVar(&g.site, "site", "", "`URL` of the home page of the site, for pings of sites (default: the feed's link)")
	c.Flags().StringVar(&g.tags, "tags", "", "`list` of topics of the site, separated by |, for weblogs-extended")
	c.Flags().BoolVar(&g.json, "json", false, "print one JSON object per line")
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

// check validates the command line.
func (g *pinging) check(feeds []string) error {
	if g.hub != "" {
		if _, err := g.endpointBelow(g.hub); err != nil {
			return shell.Usagef("--hub is %q: it must be the URL of a hub, such as http://localhost:5337", g.hub)
		}
	}
	for _, feed := range feeds {
		if err := rsscloud.CheckFeedURL(feed); err != nil {
			return shell.Usagef("%q is not the URL of a feed: it must be an http or https URL with a host", feed)
		}
	}
	if !g.pingsSite() && (g.name != "" || g.site != "") {
		return shell.Usagef("--name and --site need a ping for a site: --via %s, %s or %s", viaWeblogs, viaExtended, viaGet)
	}
	if g.tags != "" && g.via != viaExtended {
		return shell.Usagef("--tags needs --via %s", viaExtended)
	}
	if g.site != "" && rsscloud.CheckFeedURL(g.site) != nil {
		return shell.Usagef("--site is %q: it must be an http or https URL with a host", g.site)
	}
	return nil
}

// one pings for one feed. If the protocol allows several hubs, it pings each hub of the feed.
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

// pingEndpoint returns the URL to ping and its protocol.
func (p *commands) pingEndpoint(ctx context.Context, feed, hub, via string) (protocol, endpoint string, err error) {
	protocol = viaProtocol(via)
	if hub != "" {
		protocol = cmp.Or(protocol, rsscloud.HTTPPost)
		endpoint, err = rsscloud.PingEndpoint(protocol, hub)
		return protocol, endpoint, err
	}
	doc, err := p.ReadFeed(ctx, feed)
	if err != nil {
		return "", "", err
	}
	cloud, err := doc.Cloud()
	if err != nil {
		return "", "", fmt.Errorf("%w: set the hub with --hub", err)
	}
	if protocol == "" {
		if protocol = cloud.Protocol; protocol == rsscloud.HTTPSPost {
			protocol = rsscloud.HTTPPost
		}
		endpoint, err = cloud.PingURL()
		if err != nil {
			err = fmt.Errorf("%s: %w with --hub", feed, err)
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
