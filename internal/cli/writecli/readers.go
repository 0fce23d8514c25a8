package writecli

import (
	"bufio"
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"cloudburst/client"
	"cloudburst/internal/cli/shell"
	"cloudburst/internal/text"
)

const readersFields = `user, at, window_days, readers; services, programs, push, private
(of which readers is the sum); once, subscriptions, browsers, robots, partial;
service_list, program_list, push_list, formats, days`

func (p *commands) feedReaders() *cobra.Command {
	var w feedSelector
	var days int
	var asJSON bool
	c := shell.ServerFlags(&cobra.Command{
		Use:   "readers --user NAME",
		Short: "Estimate the number of readers of a user's feeds",
		Long: `Estimates the number of readers of a user's feeds, as a total and by kind: services
that report their number of subscribers, programs with one user each, other
subscriptions to notifications, and used secrets of the private feed. Browsers and
robots are not counted. The names are those that programs send as User-Agent.

--json prints an object: ` + readersFields + `.`,
		Args: shell.Between(0, 0, ""),
		RunE: func(c *cobra.Command, _ []string) error {
			if days < 1 {
				return shell.Usagef("invalid value %d for --days: must be at least 1", days)
			}
			return p.WithServer(c, false, func(ctx context.Context, s *shell.Connection) error {
				r, err := s.Readers(ctx, w.user, days)
				if err != nil {
					return err
				}
				if asJSON {
					return shell.JSONLines(p.Out).Encode(r)
				}
				return printReaders(p.Out, r)
			})
		},
	})
	w.userFlag(c)
	c.Flags().IntVar(&days, "days", 30, "number of `days` of history in the output of --json")
	c.Flags().BoolVar(&asJSON, "json", false, "print a JSON object")
	return c
}

// printReaders prints the total number of readers, the numbers it consists of, and the names of the
// feed readers.
func printReaders(w io.Writer, r client.Readers) error {
	out := bufio.NewWriter(w)
	more := ""
	if r.Partial {
		more = ", or more"
	}
	fmt.Fprintf(out, "%s in the last %s%s\n", text.Plural(int(r.Count), "reader"), text.Plural(r.WindowDays, "day"), more)
	row := func(depth int, n int64, what string) {
		fmt.Fprintf(out, "%*s%8d  %s\n", 2*depth, "", n, shell.Clean(what))
	}
	row(0, r.Services, "by services with many users")
	for _, s := range r.ServiceList {
		row(1, s.Subscribers, s.Name)
	}
	row(0, r.Programs, "by programs with one user")
	for _, n := range r.ProgramList {
		row(1, n.Count, n.Name)
	}
	row(0, r.Push, fmt.Sprintf("by notifications only, to %s", text.Plural(int(r.Subscriptions), "subscription")))
	for _, n := range r.PushList {
		row(1, n.Count, n.Name)
	}
	row(0, r.Private, "of the private feed")
	if m := r.Mail; m.Each+m.Daily+m.Weekly+m.Waiting > 0 {
		fmt.Fprintf(out, "By e-mail, not counted above: %d with each post, %d daily, %d weekly, %d not confirmed.\n", m.Each, m.Daily, m.Weekly, m.Waiting)
	}
	fmt.Fprintf(out, "Not counted: %s, %s.\n", text.Plural(int(r.Browsers), "browser"), text.Plural(int(r.Robots), "robot"))
	return out.Flush()
}
