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
	c := shell.Group("websub", "Ask WebSub hubs for deliveries, and tell them of changes",
		`Talks to hubs of WebSub, this program's or others, as subscribers and publishers do.

A topic's hub and its own URL are what its Link headers name as rel="hub" and
rel="self"; where they do not, its links do.`)
	c.AddCommand(p.websubAsk(websub.ModeSubscribe), p.websubAsk(websub.ModeUnsubscribe), p.websubPublish())
	return c
}

// asking is one run of websub subscribe or unsubscribe.
type asking struct {
	p                         *commands
	mode                      string
	callback, hub             string
	lease, secret, secretFile string
	json                      bool
}

func (p *commands) websubAsk(mode string) *cobra.Command {
	a := &asking{p: p, mode: mode}
	c := &cobra.Command{
		Use:   mode + " TOPIC",
		Args:  shell.Between(1, 1, "the URL of one TOPIC"),
		Short: "Ask a hub to send a topic's content to a callback",
		Long: `Asks a hub to send the content of TOPIC to a callback whenever it changes. The hub
then asks the callback whether it wants that; whoever serves the callback must say
yes, and renew before the lease ends. "cloudburst listen --via websub" does all of it.

Without --hub TOPIC is read, and the first of its hubs that takes the request is asked
for the URL that the topic calls its own. With --hub nothing is read.

--json prints one object: mode, topic, hub, callback, success, msg, took_ms.`,
		Example: "  cloudburst websub subscribe --callback https://reader.example.org/push/7f3a https://example.org/feed.xml",
		RunE: func(c *cobra.Command, args []string) error {
			return a.run(c.Context(), args[0])
		},
	}
	f := c.Flags()
	f.StringVar(&a.callback, "callback", "", "`URL` to which the hub sends")
	f.StringVar(&a.hub, "hub", "", "`URL` of the hub, or of its server (default: those that the topic names)")
	f.BoolVar(&a.json, "json", false, "one JSON object")
	if mode == websub.ModeUnsubscribe {
		c.Short = "Ask a hub to end what it sends to a callback"
		c.Long = `Asks a hub to end what it sends to a callback for TOPIC. The hub then asks the callback
whether that is so; whoever serves the callback must say yes.

Without --hub TOPIC is read, and the first of its hubs that takes the request is asked
for the URL that the topic calls its own. With --hub nothing is read.

--json prints one object: mode, topic, hub, callback, success, msg, took_ms.`
		c.Example = "  cloudburst websub unsubscribe --callback https://reader.example.org/push/7f3a https://example.org/feed.xml"
		return c
	}
	f.StringVar(&a.lease, "lease", "", "`time` to subscribe for, such as 10d, 12h or a number of seconds (default: what the hub gives)")
	f.StringVar(&a.secret, "secret", "", "`text` with which the hub signs what it sends; others on this machine may see it here")
	f.StringVar(&a.secretFile, "secret-file", "", "`file` that holds the secret")
	return c
}

// askedHub is what became of a request, as --json prints it.
type askedHub struct {
	Mode     string  `json:"mode"`
	Topic    string  `json:"topic"`
	Hub      string  `json:"hub,omitempty"`
	Callback string  `json:"callback,omitempty"`
	Success  bool    `json:"success"`
	Msg      string  `json:"msg"`
	TookMS   float64 `json:"took_ms"`
}

func (a *asking) run(ctx context.Context, topic string) error {
	s, err := a.read(topic)
	if err != nil {
		return err
	}
	client := a.p.WebSubClient()
	hubs := namedHub(a.hub)
	if a.hub == "" {
		d, err := a.p.FindHubs(ctx, topic)
		if err != nil {
			return a.end(ctx, askedHub{Mode: a.mode, Topic: topic, Callback: a.callback}, err)
		}
		hubs, s.Topic = d.Hubs, d.Topic()
		if s.Topic != topic {
			fmt.Fprintf(a.p.Err, "%s calls itself %s, which is what the hub is asked for.\n", shell.Clean(topic), shell.Clean(s.Topic))
		}
	}
	var out askedHub
	for _, hub := range hubs {
		out = askedHub{Mode: a.mode, Topic: s.Topic, Hub: hub, Callback: s.Callback}
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

// read makes a subscription of the command line.
func (a *asking) read(topic string) (websub.Subscription, error) {
	s := websub.Subscription{Topic: topic, Callback: a.callback, Secret: a.secret}
	if a.callback == "" {
		return s, shell.Usagef("say where the hub sends to: --callback URL")
	}
	err := cmp.Or(hubclient.CheckURL("The topic", topic), hubclient.CheckURL("--callback", a.callback))
	if err == nil && a.hub != "" {
		err = hubclient.CheckURL("--hub", a.hub)
	}
	if err != nil {
		return s, err
	}
	if a.secret != "" && a.secretFile != "" {
		return s, shell.Usagef("there can be one secret: either --secret or --secret-file")
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

// end prints what became of it.
func (a *asking) end(ctx context.Context, out askedHub, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	out.Success, out.Msg = err == nil, "accepted; the hub will now ask the callback"
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

// namedHub is where the hub of --hub takes requests: there, or, where only a server is
// named and has no hub at its root, at the usual door.
func namedHub(hub string) []string {
	if u, err := url.Parse(hub); err == nil && u.Host != "" && strings.Trim(u.Path, "/") == "" && u.RawQuery == "" {
		return []string{hub, u.Scheme + "://" + u.Host + "/websub"}
	}
	return []string{hub}
}
