package hubcli

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"strings"

	"cloudburst/feed"
	"cloudburst/internal/cli/hubclient"
	"cloudburst/internal/cli/shell"
	"cloudburst/internal/sanitize"
	"cloudburst/protocol/rsscloud"
	"cloudburst/protocol/weblogs"
	"cloudburst/protocol/websub"
)

// Values of ping --via in addition to those of rssCloud.
const (
	viaWeblogs  = "weblogs"
	viaExtended = "weblogs-extended"
	viaGet      = "http-get"
)

// pingsSite reports whether the protocol of --via pings for a site instead of a feed.
func (g *pinging) pingsSite() bool {
	return g.via == viaWeblogs || g.via == viaExtended || g.via == viaGet
}

// endpointBelow returns the endpoint of a hub for the protocol of --via. A URL with a path
// or a query is already the endpoint.
func (g *pinging) endpointBelow(hub string) (string, error) {
	path := ""
	switch g.via {
	case viaWeblogs, viaExtended:
		path = "/RPC2"
	case viaGet:
		path = "/pingSiteForm"
		if strings.Contains(hub, "{") {
			_, err := weblogs.PingURL(hub, weblogs.Ping{URL: "http://example.org/"})
			return hub, err
		}
	case viaWebSub:
		path = "/websub"
	default:
		return rsscloud.PingEndpoint(rsscloud.HTTPPost, hub)
	}
	if err := rsscloud.CheckFeedURL(hub); err != nil {
		return "", err
	}
	u, err := url.Parse(hub)
	if err != nil {
		return "", err
	}
	if u.Path == "" || u.Path == "/" && u.RawQuery == "" {
		u.Path = path
	}
	return u.String(), nil
}

// pingSite pings for the site of the feed called name.
func (g *pinging) pingSite(ctx context.Context, name string) hubclient.PingResult {
	doc, readErr := hubclient.Document{}, error(nil)
	if g.hub == "" || g.name == "" || g.site == "" {
		doc, readErr = g.p.ReadFeed(ctx, name)
	}
	endpoint, err := g.siteEndpoint(doc, readErr)
	if err != nil {
		return hubclient.PingResult{Feed: name, Msg: shell.Sentence(err), Failed: true}
	}
	p := g.siteOf(name, doc)
	if readErr != nil && ctx.Err() == nil && !g.json {
		fmt.Fprintf(g.p.Err, "cloudburst: %s; the ping names the site %s\n", shell.Sentence(readErr), shell.Clean(p.URL))
	}
	return g.timed(name, endpoint, func(h rsscloud.HTTPClient) (bool, string, error) {
		client := weblogs.Client{HTTP: h, UserAgent: g.p.UserAgent()}
		var r weblogs.Result
		var err error
		switch g.via {
		case viaGet:
			r, err = client.PingByGET(ctx, endpoint, p)
		case viaExtended:
			r, err = client.ExtendedPing(ctx, endpoint, p)
		default:
			r, err = client.Ping(ctx, endpoint, p)
		}
		return err == nil && !r.Err, r.Message, err
	})
}

// siteEndpoint returns the endpoint in --hub, otherwise the endpoint on the host of the feed's
// cloud.
func (g *pinging) siteEndpoint(doc hubclient.Document, readErr error) (string, error) {
	if g.hub != "" {
		return g.endpointBelow(g.hub)
	}
	if readErr != nil {
		return "", readErr
	}
	cloud, err := doc.Cloud()
	if err != nil {
		return "", fmt.Errorf("%w: set the hub with --hub", err)
	}
	register, err := cloud.RegisterURL()
	if err != nil {
		return "", err
	}
	u, err := url.Parse(register)
	if err != nil {
		return "", err
	}
	return g.endpointBelow(u.Scheme + "://" + u.Host)
}

// siteOf returns the site to ping for. The site is in the flags, otherwise in the feed, otherwise
// it is the URL of the feed.
func (g *pinging) siteOf(name string, doc hubclient.Document) weblogs.Ping {
	p := weblogs.Ping{Name: g.name, URL: g.site}
	if f, err := feed.ParseBytes(doc.Body, &feed.Options{URL: doc.Final}); err == nil {
		if p.Name == "" {
			p.Name = sanitize.Text(f.Title.Value)
			if f.Title.Type == "text/plain" {
				p.Name = f.Title.Value
			}
		}
		if p.URL == "" && rsscloud.CheckFeedURL(f.Link) == nil {
			p.URL = f.Link
		}
	}
	p.URL = cmp.Or(p.URL, name)
	p.Name = strings.Join(strings.Fields(shell.Clean(p.Name)), " ")
	if g.via == viaExtended {
		p.FeedURL, p.Tags = name, weblogs.ParseTags(g.tags)
	}
	return p
}

// pingWebSub pings the hub in --hub, or all hubs that the feed names.
func (g *pinging) pingWebSub(ctx context.Context, name string) []hubclient.PingResult {
	hubs, topic := []string{}, name
	if g.hub != "" {
		endpoint, err := g.endpointBelow(g.hub)
		if err != nil {
			return []hubclient.PingResult{{Feed: name, Msg: shell.Sentence(err), Failed: true}}
		}
		hubs = append(hubs, endpoint)
	} else {
		d, err := g.p.FindHubs(ctx, name)
		if err != nil {
			return []hubclient.PingResult{{Feed: name, Msg: shell.Sentence(err), Failed: true}}
		}
		hubs, topic = d.Hubs, d.Topic()
	}
	return g.publish(ctx, hubs, topic)
}

// publish pings each hub for the topic.
func (g *pinging) publish(ctx context.Context, hubs []string, topic string) []hubclient.PingResult {
	var out []hubclient.PingResult
	for _, hub := range hubs {
		out = append(out, g.timed(topic, hub, func(h rsscloud.HTTPClient) (bool, string, error) {
			client := websub.Client{HTTP: h, UserAgent: g.p.UserAgent()}
			err := client.Publish(ctx, hub, topic)
			return err == nil, "The hub accepted the ping.", hubclient.WebSubError(hub, err)
		}))
	}
	return out
}
