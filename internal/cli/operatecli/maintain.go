package operatecli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/spf13/cobra"

	"cloudburst/client"
	"cloudburst/internal/cli/shell"
	"cloudburst/internal/text"
)

func (p *commands) sweep() *cobra.Command {
	var asJSON bool
	c := shell.ServerFlags(&cobra.Command{
		Use:   "sweep",
		Short: "Run the hourly cleanup now",
		Long: `Removes expired subscriptions, and subscriptions with too many failed deliveries in a
row. The server does this automatically every hour.

--json prints an object: dropped, expired.`,
		Args: shell.Between(0, 0, ""),
		RunE: p.OnServer(func(ctx context.Context, s *shell.Connection, _ []string) error {
			r, err := s.Sweep(ctx)
			if err != nil {
				return err
			}
			if asJSON {
				return shell.JSONLines(p.Out).Encode(r)
			}
			fmt.Fprintf(p.Out, "Removed %s after errors and %d expired.\n", text.Plural(r.Dropped, "subscription"), r.Expired)
			return nil
		}),
	})
	c.Flags().BoolVar(&asJSON, "json", false, "print the result as a JSON object")
	return c
}

func (p *commands) status() *cobra.Command {
	var asJSON bool
	c := shell.ServerFlags(&cobra.Command{
		Use:   "status",
		Short: "Show the status of the server",
		Long: `Shows the state, the amount of data and the current work of the server.

--json prints one object, the same as /v1/status of the admin listener.`,
		Args: shell.Between(0, 0, ""),
		RunE: p.OnServer(func(ctx context.Context, s *shell.Connection, _ []string) error {
			st, err := s.Status(ctx)
			if err != nil {
				return err
			}
			if asJSON {
				return shell.JSONLines(p.Out).Encode(st)
			}
			p.printStatus(s, st)
			return nil
		}),
	})
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return c
}

func (p *commands) printStatus(s *shell.Connection, st client.Status) {
	if s.Running {
		fmt.Fprintf(p.Out, "Cloudburst %s is running at %s since %s.\n", st.Version.Version, s.Where, shell.FormatTime(&st.Started))
	} else {
		fmt.Fprintf(p.Out, "No server was found; this is the data of %s.\n", s.Where)
	}
	if st.Store != "ok" {
		fmt.Fprintf(p.Out, "The database cannot be used: %s\n", shell.Clean(st.Store))
	}
	if c := st.Counts; c != nil {
		fmt.Fprintf(p.Out, "%s, %s (%d failing), %s pending, %s due", text.Plural(int(c.Topics), "feed"),
			text.Plural(int(c.Subscriptions), "subscription"), c.Failing, text.Plural(int(c.Pending), "notification"), text.Plural(int(c.ChecksDue), "check"))
		if c.Requests > 0 {
			fmt.Fprintf(p.Out, ", %s undecided", text.Plural(int(c.Requests), "request"))
		}
		fmt.Fprintln(p.Out, ".")
	}
	if s.Running {
		t := st.Totals
		fmt.Fprintf(p.Out, "%s in progress, %d queued. Since the start: %s, %s, %d delivered, %d failed.\n",
			text.Plural(int(st.Live.InFlight), "notification"), st.Live.Queue, text.Plural(int(t.Pings), "ping"), text.Plural(int(t.Changes), "change"), t.Notified, t.Failed)
	}
	for _, w := range st.Warnings {
		fmt.Fprintf(p.Out, "Warning: %s\n", shell.Clean(w))
	}
}

// healthcheck returns a command that checks the server's health, for container images without curl.
func (p *commands) healthcheck() *cobra.Command {
	c := shell.ServerFlags(&cobra.Command{
		Use:   "healthcheck",
		Short: "Exit with 0 if the running server is ready",
		Long: `Requests /readyz of the admin listener, for container runtimes and scripts. The command
never opens the data folder itself.`,
		Args: shell.Between(0, 0, ""),
		RunE: func(c *cobra.Command, _ []string) error {
			e, err := p.LoadConfig(c.Flags())
			if err != nil {
				return err
			}
			addr, verify, err := shell.ServerAddress(e)
			if err != nil {
				return err
			}
			if addr == "" {
				return errors.New("no server is running")
			}
			ctx, cancel := context.WithTimeout(c.Context(), shell.ProbeTimeout)
			defer cancel()
			header, err := ready(ctx, shell.BaseURL(addr)+"/readyz")
			if header != nil && verify && !e.Config.SameData(header) {
				return fmt.Errorf("the server at %s uses other data", addr)
			}
			return err
		},
	})
	return c
}

// ready requests url and returns the header of the response; nil: there was no response.
func ready(ctx context.Context, url string) (http.Header, error) {
	req, err := http.NewRequestWithContext(ctx, "GET", url, nil)
	if err != nil {
		return nil, err
	}
	h := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := h.Do(req)
	if err != nil {
		return nil, fmt.Errorf("no server responds: %w", err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, 1024))
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("the server is not ready: %s", strings.TrimSpace(string(body)))
	}
	return res.Header, err
}
