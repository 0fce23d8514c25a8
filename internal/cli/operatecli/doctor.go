package operatecli

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"cloudburst/internal/cli/shell"
	"cloudburst/internal/doctor"
	"cloudburst/internal/text"
	"cloudburst/protocol/rsscloud"
)

// longestWatch is the maximum value of --watch, about one working day. The command listen can watch
// for a longer time.
const longestWatch = 12 * time.Hour

func (p *commands) doctor() *cobra.Command {
	e := examination{p: p}
	c := shell.ServerFlags(&cobra.Command{
		Use:   "doctor [FEED]",
		Short: "Check this installation, or check a feed and its notifications",
		Long: `Without FEED the command checks this installation for the operator: the settings,
whether public-url leads back to this server, the data folder (free space, permissions,
write latency), the database, its schema and its safety settings, the clock, late work,
errors of the last hour, and the age of the last backup. The running server performs the
checks; if no server is running, this command performs them. Each finding states a
result, why it matters and what to do. docs/reference/doctor.md lists the checks.

With FEED the command checks a feed from outside, for its author: whether it can be
read, its redirects and its type; whether its bytes, ETag and Last-Modified are the same
in two reads; which <cloud> and WebSub hubs it names and whether they respond; its own
URL; whether its page links to it. The command then pings the hubs as after a change
(unless you set --no-ping) and prints their answers. FEED may be a page: the command
checks the feed that the page names.

Each finding is ok, a note (information), a warning (it works, but late, inefficiently or
only for some subscribers) or a problem (a subscriber gets no notifications or cannot
read the feed). It states what to do and, if useful, lines to copy. --hub names the hub
that the feed should name: the command pings that hub, and the lines are for it.

The command sends at most 24 requests and does not subscribe. It tests hubs with
incomplete requests, which hubs reject. docs/reference/doctor.md lists the checks.

--watch waits for a change of the feed after the checks: change the feed and ping as
usual. The command polls the feed every few seconds. It also registers this machine at
the rssCloud hub, if the hub runs on this machine or --callback names a host that the hub
can reach, and cancels the registration at the end. It prints when the feed changed, and
whether and when the hub sent a notification.

--json prints one object, described in docs/reference/doctor.md; without FEED the object has
findings (a list of id, level, text, why, fix), problems and warnings. The exit status is
0 without problems, 1 with a problem, and 2 for an invalid command line. --strict treats
warnings as problems.`,
		Example: "  cloudburst doctor\n  cloudburst doctor https://example.org/rss.xml\n  cloudburst doctor --hub https://hub.example.org --watch 2m https://example.org/",
		Args:    shell.Between(0, 1, "nothing, or the URL of one FEED or of its page"),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return e.installation(c)
			}
			return e.run(c.Context(), args[0])
		},
	})
	c.Flags().BoolVar(&e.json, "json", false, "print one JSON object")
	c.Flags().StringVar(&e.hub, "hub", "", "`URL` of the hub that the feed should name (default: the feed's own)")
	c.Flags().BoolVar(&e.noPing, "no-ping", false, "do not ping the hubs")
	c.Flags().DurationVar(&e.watch, "watch", 0, "`time` to wait for a change of the feed, such as 2m")
	c.Flags().StringVar(&e.callback, "callback", "", "`HOST[:PORT]` by which the hub can reach this machine during --watch")
	c.Flags().BoolVar(&e.strict, "strict", false, "fail on warnings too")
	return c
}

// examination is one run of the command doctor.
type examination struct {
	p                    *commands
	json, noPing, strict bool
	hub, callback        string
	watch                time.Duration
	subject              string // subject of the last printed finding
}

func (e *examination) run(ctx context.Context, feed string) error {
	if err := shell.CheckURL(feed); err != nil {
		return shell.AsUsageError(err)
	}
	if e.hub != "" {
		if _, err := rsscloud.PingEndpoint(rsscloud.HTTPPost, e.hub); err != nil {
			return shell.Usagef("--hub is %q: it must be the URL of a hub, such as http://localhost:5337", e.hub)
		}
	}
	switch {
	case e.watch < 0 || e.watch > longestWatch:
		return shell.Usagef("invalid value %s for --watch: must be a time up to %s, such as 2m", e.watch, "12h")
	case e.callback != "" && e.watch == 0:
		return shell.Usagef("--callback needs --watch with a time, such as --watch 2m")
	}
	d := &doctor.Doctor{HTTP: e.p.SingleHopClient(), UserAgent: e.p.UserAgent(), Plain: shell.PlainNetError,
		Hub: e.hub, NoPing: e.noPing, Watch: e.watch, Callback: e.callback}
	r, err := d.Examine(ctx, feed, e.report)
	if err != nil {
		return err
	}
	if err := e.end(r); err != nil {
		return err
	}
	if r.Problems > 0 || e.strict && r.Warnings > 0 {
		return shell.ErrReported
	}
	return nil
}

// Columns of the text output.
const (
	findingColumn = 11 // column at which the texts of findings begin
	findingWidth  = 80
)

// report prints a finding at once, so that the user sees the progress.
func (e *examination) report(c doctor.Check) {
	if e.json {
		return
	}
	var b bytes.Buffer
	if c.Subject != e.subject {
		if e.subject != "" {
			b.WriteByte('\n')
		}
		e.subject = c.Subject
		fmt.Fprintf(&b, "%s\n", strings.ToUpper(c.Subject))
	}
	text := c.Text
	if c.Level != doctor.OK {
		text += " [" + c.ID + "]"
	}
	fmt.Fprintf(&b, "  %-*s", findingColumn-2, string(c.Level))
	wrap(&b, text)
	do, paste, _ := strings.Cut(c.Fix, "\n")
	if do != "" {
		fmt.Fprintf(&b, "%*s", findingColumn, "")
		wrap(&b, "What to do: "+do)
	}
	for line := range strings.SplitSeq(paste, "\n") {
		if line != "" {
			fmt.Fprintf(&b, "%*s%s\n", findingColumn+4, "", shell.Clean(line))
		}
	}
	_, _ = b.WriteTo(e.p.Out) // ignore the error: printing the summary reports write errors
}

// wrap writes a text in lines of limited width. The first line continues the last line in b.
func wrap(b *bytes.Buffer, text string) {
	at := findingColumn
	for i, word := range strings.Fields(shell.Clean(text)) {
		n := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case at+1+n > findingWidth:
			fmt.Fprintf(b, "\n%*s", findingColumn, "")
			at = findingColumn
		default:
			b.WriteByte(' ')
			at++
		}
		b.WriteString(word)
		at += n
	}
	b.WriteByte('\n')
}

// end prints the summary or, with --json, the complete result.
func (e *examination) end(r doctor.Report) error {
	if e.json {
		return shell.JSONLines(e.p.Out).Encode(r)
	}
	counts := text.Plural(r.Problems, "problem") + ", " + text.Plural(r.Warnings, "warning")
	verdict := "Passed"
	switch {
	case r.Problems > 0:
		verdict = "Failed"
	case r.Warnings > 0 && e.strict:
		verdict = "Failed (--strict)"
	case r.Warnings > 0:
		verdict = "Passed with warnings"
	}
	_, err := fmt.Fprintf(e.p.Out, "\n%s: %s.\n", verdict, counts)
	return err
}
