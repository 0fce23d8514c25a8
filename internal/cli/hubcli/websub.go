package hubcli

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"cloudburst/internal/cli/hubclient"
	"cloudburst/internal/cli/shell"
	"cloudburst/protocol/websub"
)

func (p *commands) websub() *cobra.Command {
	c := shell.Group("websub", "Subscribe, unsubscribe and publish at WebSub hubs",
		`Sends the requests of WebSub subscribers and publishers to any WebSub hub.

The hub and the canonical URL of a topic are those in its Link headers with rel="hub"
and rel="self", or else those in its links.`)
	c.AddCommand(p.websubRequest(websub.ModeSubscribe), p.websubRequest(websub.ModeUnsubscribe), p.websubPublish())
	return c
}

// subscriptionRequest is one run of the command websub subscribe or unsubscribe.
type subscriptionRequest struct {
	p                         *commands
	mode                      string
	callback, hub             string
	lease, secret, secretFile string
	json                      bool
}

func (p *commands) websubRequest(mode string) *cobra.Command {
	a := &subscriptionRequest{p: p, mode: mode}
	c := &cobra.Command{
		Use:   mode + " TOPIC",
		Args:  shell.Between(1, 1, "the URL of one TOPIC"),
		Short: "Subscribe a callback to a topic",
		Long: `Requests that a hub sends the content of TOPIC to a callback after each change. The hub
then verifies the callback: the callback must confirm, and the subscription must be
renewed before the lease ends. "cloudburst listen --via websub" does all of this.

Without --hub the command reads TOPIC and sends the request, with the canonical URL of
the topic, to its hubs in order until one accepts. With --hub it does not read TOPIC.

--json prints one object: mode, topic, hub, callback, success, msg, took_ms.`,
		Example: "  cloudburst websub subscribe --callback https://reader.example.org/push/7f3a https://example.org/feed.xml",
		RunE: func(c *cobra.Command, args []string) error {
			return a.run(c.Context(), args[0])
		},
	}
	f := c.Flags()
	f.StringVar(&a.callback, "callback", "", "callback `URL`, to which the hub sends the content")
	f.StringVar(&a.hub, "hub", "", "`URL` of the hub, or of its server (default: the hubs that the topic names)")
	f.BoolVar(&a.json, "json", false, "print one JSON object")
	if mode == websub.ModeUnsubscribe {
		c.Short = "Unsubscribe a callback from a topic"
		c.Long = `Requests that a hub ends the subscription of a callback to TOPIC. The hub then verifies
the callback, which must confirm.

Without --hub the command reads TOPIC and sends the request, with the canonical URL of
the topic, to its hubs in order until one accepts. With --hub it does not read TOPIC.

--json prints one object: mode, topic, hub, callback, success, msg, took_ms.`
		c.Example = "  cloudburst websub unsubscribe --callback https://reader.example.org/push/7f3a https://example.org/feed.xml"
		return c
	}
	f.StringVar(&a.lease, "lease", "", "`time` to subscribe for, such as 10d, 12h or a number of seconds (default: the hub decides)")
	f.StringVar(&a.secret, "secret", "", "secret `text` for the hub's signatures; other users of this machine may see it here")
	f.StringVar(&a.secretFile, "secret-file", "", "`file` with the secret")
	return c
}

// requestResult is the result of a request, as --json prints it.
type requestResult struct {
	Mode     string  `json:"mode"`
	Topic    string  `json:"topic"`
	Hub      string  `json:"hub,omitempty"`
	Callback string  `json:"callback,omitempty"`
	Success  bool    `json:"success"`
	Msg      string  `json:"msg"`
	TookMS   float64 `json:"took_ms"`
}

func (a *subscriptionRequest) run(ctx context.Context, topic string) error {
	s, err := a.read(topic)
	if err != nil {
		return err
	}
	client := a.p.WebSubClient()
	hubs := namedHub(a.hub)
	if a.hub == "" {
		d, err := a.p.FindHubs(ctx, topic)
		if err != nil {
			return a.end(ctx, requestResult{Mode: a.mode, Topic: topic, Callback: a.callback}, err)
		}
		hubs, s.Topic = d.Hubs, d.Topic()
		if s.Topic != topic {
			fmt.Fprintf(a.p.Err, "The canonical URL of %s is %s; the request uses that URL.\n", shell.Clean(topic), shell.Clean(s.Topic))
		}
	}
	var out requestResult
	for _, hub := range hubs {
		out = requestResult{Mode: a.mode, Topic: s.Topic, Hub: hub, Callback: s.Callback}
		begun := time.Now()
		if a.mode == websub.ModeSubscribe {
			err = client.Subscribe(ctx, hub, s)
		} else {
			err = client.Unsubscribe(ctx, hub, s)
		}
		out.TookMS = float64(time.Since(begun).Microseconds()) / 1000
		other := a.hub == "" || hubclient.IsNoHub(err)
		if err = hubclient.WebSubError(hub, err); err == nil || ctx.Err() != nil || !other {
			break
		}
	}
	return a.end(ctx, out, err)
}

// read returns the subscription that the command line describes.
func (a *subscriptionRequest) read(topic string) (websub.Subscription, error) {
	s := websub.Subscription{Topic: topic, Callback: a.callback, Secret: a.secret}
	if a.callback == "" {
		return s, shell.Usagef("missing callback: set --callback URL")
	}
	err := cmp.Or(hubclient.CheckURL("The topic", topic), hubclient.CheckURL("--callback", a.callback))
	if err == nil && a.hub != "" {
		err = hubclient.CheckURL("--hub", a.hub)
	}
	if err != nil {
		return s, err
	}
	if a.secret != "" && a.secretFile != "" {
		return s, shell.Usagef("--secret and --secret-file are both set: use one of them")
	}
	if s.Lease, err = parseLease(a.lease); err != nil {
		return s, err
	}
	if a.secretFile != "" {
		in, err := shell.ReadFile(a.secretFile, nil)
		if err != nil {
			return s, err
		}
		if s.Secret = strings.TrimRight(string(in.Body), "\r\n"); s.Secret == "" {
			return s, fmt.Errorf("--secret-file %s is empty", a.secretFile)
		}
	}
	if n := len(s.Secret); n > websub.MaxSecret {
		return s, shell.Usagef("the secret is %d bytes long: WebSub allows at most %d", n, websub.MaxSecret)
	}
	return s, nil
}

// end prints the result of the request.
func (a *subscriptionRequest) end(ctx context.Context, out requestResult, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	out.Success, out.Msg = err == nil, "accepted; the hub will now verify the callback"
	if err != nil {
		out.Msg = shell.Sentence(err)
	}
	switch {
	case a.json:
		if err := shell.JSONLines(a.p.Out).Encode(out); err != nil {
			return err
		}
	case err == nil:
		fmt.Fprintf(a.p.Out, "%s  %s  (%s by %s)\n", shell.Clean(out.Topic), out.Msg, shell.FormatDuration(time.Duration(out.TookMS*float64(time.Millisecond))), shell.Clean(out.Hub))
	default:
		fmt.Fprintf(a.p.Err, "cloudburst: %s\n", out.Msg)
	}
	if err != nil {
		return shell.ErrReported
	}
	return nil
}

// namedHub returns the endpoints to try for --hub: the URL itself and, if the URL has no path, the
// usual endpoint on that server.
func namedHub(hub string) []string {
	if u, err := url.Parse(hub); err == nil && u.Host != "" && strings.Trim(u.Path, "/") == "" && u.RawQuery == "" {
		return []string{hub, u.Scheme + "://" + u.Host + "/websub"}
	}
	return []string{hub}
}
