package hubcli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"cloudburst/internal/cli/hubclient"
	"cloudburst/internal/cli/shell"
	"cloudburst/protocol/rsscloud"
	"cloudburst/protocol/weblogs"
)

// changeReader is one run of the command changes.
type changeReader struct {
	p                *commands
	hub, match, when string
	once, hour, json bool
	endpoint         string // URL of the hub's changes.xml
	failed           error  // error of writing the output; nil: no error
	stop             context.CancelFunc
}

func (p *commands) changes() *cobra.Command {
	f := &changeReader{p: p}
	c := &cobra.Command{
		Use:   "changes URL",
		Short: "Follow the recent changes of another server and print new ones",
		Long: `Follows changes.xml, the recent changes of a server, and prints a line for each new
change: time, name of the site, its URL, and the URL of its feed if the server states
it. The command reads shortChanges.xml in the same folder every 5 minutes, and less
often after errors. URL may also be the URL of the server. Press Ctrl-C to stop.

--once prints the last hour, from changes.xml, and exits; --hour starts with the last
hour. With --hub the command pings that hub for each change that has a feed, or with
the site's URL if the feed is unknown.

--json prints one object per line: at, name, url, feed, and with --hub also door,
success and msg.`,
		Example: "  cloudburst changes http://rpc.example.com/changes.xml\n  cloudburst changes --match harbour --hub http://localhost:5337 http://rpc.example.com/changes.xml",
		Args:    shell.Between(1, 1, "the URL of a changes.xml"),
		RunE: func(c *cobra.Command, args []string) error {
			return f.run(c.Context(), args[0])
		},
	}
	c.Flags().StringVar(&f.hub, "hub", "", "`URL` of a hub to ping for each change")
	c.Flags().StringVar(&f.match, "match", "", "only changes with this `text` in the name, URL or feed; case is ignored")
	shell.ChoiceFlag(c, &f.when, "when", "unit of the attribute \"when\" in the list (default minutes)", "minutes", "seconds")
	c.Flags().BoolVar(&f.once, "once", false, "print the last hour and exit")
	c.Flags().BoolVar(&f.hour, "hour", false, "start with the last hour instead of the last minutes")
	c.Flags().BoolVar(&f.json, "json", false, "print one JSON object per line")
	return c
}

// listed is one change, as --json prints it.
type listed struct {
	At      time.Time `json:"at"`
	Name    string    `json:"name"`
	URL     string    `json:"url"`
	Feed    string    `json:"feed,omitempty"`
	Via     string    `json:"door,omitempty"`
	Success *bool     `json:"success,omitempty"`
	Msg     string    `json:"msg,omitempty"`
}

func (f *changeReader) run(ctx context.Context, address string) error {
	if err := shell.CheckURL(address); err != nil {
		return shell.AsUsageError(err)
	}
	if f.hub != "" {
		endpoint, err := rsscloud.PingEndpoint(rsscloud.HTTPPost, f.hub)
		if err != nil {
			return shell.Usagef("--hub is %q: it must be the URL of a hub, such as http://localhost:5337", f.hub)
		}
		f.endpoint = endpoint
	}
	if u, err := url.Parse(address); err == nil && (u.Path == "" || u.Path == "/") && u.RawQuery == "" {
		u.Path = "/changes.xml"
		address = u.String()
	}
	ctx, f.stop = context.WithCancel(ctx)
	defer f.stop()
	follower := weblogs.Follower{
		URL: address, HTTP: f.p.HTTP, UserAgent: f.p.UserAgent(), Backfill: f.hour || f.once, OnChange: f.take, OnError: f.reportFailure,
	}
	if f.when == "seconds" {
		follower.Unit = time.Second
	}
	var err error
	if f.once {
		if _, err = follower.Round(ctx); err != nil {
			err = changesError(err)
		}
	} else {
		// Ignore the error: Run ends on an interrupt, or when standard output is closed.
		_ = follower.Run(ctx)
	}
	if f.failed != nil {
		return f.failed
	}
	return err
}

// take prints one change and then pings the hub.
func (f *changeReader) take(ctx context.Context, w weblogs.Weblog) {
	if !f.wanted(w) || f.failed != nil {
		return
	}
	out := listed{At: w.When, Name: w.Name, URL: w.URL, Feed: w.RSSURL}
	if f.endpoint != "" {
		name := cmp.Or(w.RSSURL, w.URL)
		ok, msg := f.report(ctx, name)
		if ctx.Err() != nil {
			return
		}
		out.Via, out.Success, out.Msg = f.endpoint, &ok, msg
	}
	if err := f.print(out); err != nil {
		f.failed = err
		f.stop()
	}
}

func (f *changeReader) wanted(w weblogs.Weblog) bool {
	if f.match == "" {
		return true
	}
	text := strings.ToLower(f.match)
	for _, s := range []string{w.Name, w.URL, w.RSSURL} {
		if strings.Contains(strings.ToLower(s), text) {
			return true
		}
	}
	return false
}

func (f *changeReader) report(ctx context.Context, name string) (ok bool, msg string) {
	out := hubclient.TimePing(name, f.endpoint, func() (bool, string, error) {
		cloud := rsscloud.Client{HTTP: f.p.HTTP, UserAgent: f.p.UserAgent()}
		r, err := cloud.Ping(ctx, rsscloud.HTTPPost, f.endpoint, name)
		return r.Success, r.Msg, err
	})
	return out.Success, out.Msg
}

func (f *changeReader) print(out listed) error {
	if f.json {
		return shell.JSONLines(f.p.Out).Encode(out)
	}
	cells := []string{shell.FormatTime(&out.At), shell.OrDash(shell.Clip(shell.Clean(out.Name), 60)), shell.Clean(out.URL)}
	if out.Feed != "" {
		cells = append(cells, shell.Clean(out.Feed))
	}
	if out.Success != nil {
		cells = append(cells, shell.Clean(out.Msg))
	}
	_, err := fmt.Fprintln(f.p.Out, strings.Join(cells, "  "))
	return err
}

func (f *changeReader) reportFailure(err error, wait time.Duration) {
	fmt.Fprintf(f.p.Err, "cloudburst: %s; next attempt in %s\n", shell.Sentence(changesError(err)), shell.FormatDuration(wait))
}

// changesError returns the reason why changes.xml could not be read, as a sentence for users.
func changesError(err error) error {
	if e, ok := errors.AsType[*weblogs.StatusError](err); ok {
		return fmt.Errorf("%s cannot be read: the server returned %d %s", e.URL, e.Status, http.StatusText(e.Status))
	}
	if e, ok := errors.AsType[*url.Error](err); ok {
		return fmt.Errorf("%s cannot be read: %w", e.URL, shell.PlainNetError(e))
	}
	if e, ok := errors.AsType[*weblogs.ReadError](err); ok && errors.Is(err, weblogs.ErrNotChanges) {
		return fmt.Errorf("%s is not a list of changes in the format of changes.xml", e.URL)
	}
	return errors.New(strings.TrimPrefix(err.Error(), "weblogs: "))
}
