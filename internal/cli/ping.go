package cli

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/spf13/cobra"

	"cloudburst/rsscloud"
)

// viaProtocol turns a word of ping --via into the name on the wire.
func viaProtocol(via string) string {
	if via == "rest" {
		return rsscloud.HTTPPost
	}
	return via
}

func (p *Program) ping() *cobra.Command {
	var hub, via string
	var asJSON bool
	c := &cobra.Command{
		Use:   "ping FEED…",
		Short: "Tell a hub that a feed changed",
		Long: `Tells a hub that feeds changed, as an author's tool does after saving them. Without
--hub each feed is read, and the hub of its own <cloud> element is told.

--json prints one object a line: feed, door, success, msg, took_ms.`,
		Example: "  cloudburst ping http://example.org/rss.xml\n  cloudburst ping --hub http://localhost:5337 --via xml-rpc http://example.org/rss.xml",
		Args:    between(1, -1, "the URL of at least one FEED"),
		RunE: func(c *cobra.Command, feeds []string) error {
			if hub != "" {
				if _, err := rsscloud.PingDoor(rsscloud.HTTPPost, hub); err != nil {
					return usagef("--hub is %q: it needs the URL of a hub, such as http://localhost:5337", hub)
				}
			}
			for _, feed := range feeds {
				if err := rsscloud.CheckFeedURL(feed); err != nil {
					return usagef("%q is not the URL of a feed: it needs http:// or https:// and a host", feed)
				}
			}
			failed := false
			for _, feed := range feeds {
				ok, err := p.pingOne(c.Context(), feed, hub, via, asJSON)
				if err != nil {
					return err
				}
				failed = failed || !ok
			}
			if failed {
				return errSilent
			}
			return nil
		},
	}
	c.Flags().StringVar(&hub, "hub", "", "`URL` of the hub, or of its ping door (default: the feed's own <cloud>)")
	choose(c, &via, "via", "how to tell it (default: as the <cloud> says, else rest)", "rest", "xml-rpc", "soap")
	c.Flags().BoolVar(&asJSON, "json", false, "one JSON object a line")
	return c
}

// pinged is what became of one ping, as --json prints it.
type pinged struct {
	Feed    string  `json:"feed"`
	Door    string  `json:"door,omitempty"`
	Success bool    `json:"success"`
	Msg     string  `json:"msg"`
	TookMS  float64 `json:"took_ms"`
}

// pingOne pings and prints. Only an interruption is an error.
func (p *Program) pingOne(ctx context.Context, feed, hub, via string, asJSON bool) (bool, error) {
	out := pinged{Feed: feed}
	protocol, door, err := p.pingDoor(ctx, feed, hub, via)
	if err == nil {
		out.Door = door
		var res rsscloud.Result
		begun := time.Now()
		cloud := rsscloud.Client{HTTP: p.HTTP, UserAgent: p.agent()}
		res, err = cloud.Ping(ctx, protocol, door, feed)
		out.TookMS = float64(time.Since(begun).Microseconds()) / 1000
		out.Success, out.Msg = res.Success, res.Msg
	}
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	switch {
	case err != nil:
		out.Msg = sentence(hubError(door, err))
	case out.Success && out.Msg == "":
		out.Msg = "The hub took the ping." // over xml-rpc and soap it only says true
	}
	switch {
	case asJSON:
		return out.Success, lines(p.Out).Encode(out)
	case out.Success:
		fmt.Fprintf(p.Out, "%s  %s  (%s by %s)\n", clean(feed), clean(out.Msg), span(time.Duration(out.TookMS*float64(time.Millisecond))), clean(door))
	case err != nil:
		fmt.Fprintf(p.Err, "cloudburst: %s\n", out.Msg)
	default:
		fmt.Fprintf(p.Err, "cloudburst: %s refused the ping of %s: %s\n", clean(door), clean(feed), clean(out.Msg))
	}
	return out.Success, nil
}

// hubError says what went wrong between us and a hub.
func hubError(door string, err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		return fmt.Errorf("the hub at %s cannot be reached: %w", door, e.Err)
	}
	if e, ok := errors.AsType[*rsscloud.Error](err); ok {
		if e.RetryAfter > 0 {
			return fmt.Errorf("the hub at %s answers %d: %s (try again in %s)", door, e.Status, e.Msg, span(e.RetryAfter))
		}
		return fmt.Errorf("the hub at %s answers %d: %s", door, e.Status, e.Msg)
	}
	if errors.Is(err, rsscloud.ErrAnswer) {
		return fmt.Errorf("%s does not answer like an rssCloud hub", door)
	}
	return err
}

// pingDoor finds out where to ping and in which protocol.
func (p *Program) pingDoor(ctx context.Context, feed, hub, via string) (protocol, door string, err error) {
	protocol = viaProtocol(via)
	if hub != "" {
		if protocol == "" {
			protocol = rsscloud.HTTPPost
		}
		door, err = rsscloud.PingDoor(protocol, hub)
		return protocol, door, err
	}
	doc, err := p.readFeed(ctx, feed)
	if err != nil {
		return "", "", err
	}
	cloud, err := doc.cloud()
	if err != nil {
		return "", "", fmt.Errorf("%w: name the hub with --hub", err)
	}
	if protocol == "" {
		if protocol = cloud.Protocol; protocol == rsscloud.HTTPSPost {
			protocol = rsscloud.HTTPPost
		}
		door, err = cloud.PingURL()
		if err != nil {
			err = fmt.Errorf("the <cloud> of %s does not say where to ping: name the hub with --hub (%w)", feed, err)
		}
		return protocol, door, err
	}
	register, err := cloud.RegisterURL()
	if err != nil {
		return "", "", err
	}
	u, err := url.Parse(register)
	if err != nil {
		return "", "", err
	}
	door, err = rsscloud.PingDoor(protocol, u.Scheme+"://"+u.Host)
	return protocol, door, err
}
