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

// longestWatch is one working day: whoever waits longer wants listen.
const longestWatch = 12 * time.Hour

func (p *commands) doctor() *cobra.Command {
	e := examination{p: p}
	c := shell.ServerFlags(&cobra.Command{
		Use:   "doctor [FEED]",
		Short: "Look at this installation; or at a feed: are people told of its changes?",
		Long: `Without FEED it looks at this installation, for the operator: the settings, whether
public-url leads back to this server, the data folder (room, permissions, how long a
write takes to be on disk), the database, its schema and the settings that keep it
safe, the clock, work that is late, errors of the last hour, the age of the last
backup. The running server looks, with its own eyes; when none runs, this command
does. Each finding says what it is, why that matters and what to do.
docs/doctor.md lists the checks.

With FEED it looks at a feed from outside, for the person who publishes it: whether it can be
read, over which redirects and as what; whether its bytes, its ETag and its
Last-Modified stay the same while it does; which <cloud> and which WebSub hubs it
names and whether they answer; which address it gives itself; whether its page leads
to it. Then its hubs are told of it, as after a change (--no-ping: they are not), and
what they answer is printed. FEED may be a page: the feed that it names is taken.

Each finding is ok, a note (good to know), a warning (it works, but later, dearer or
not for everybody) or a problem (somebody is not told, or cannot read the feed), with
what to do and, where that helps, lines to copy. --hub names the hub that the feed
should name: that one is told instead, and the lines to copy are made for it.

It asks at most two dozen times and registers nowhere. Hubs are tried with requests
that lack everything they need, which they refuse. docs/doctor.md lists the checks.

--watch waits at the end for the feed to change: change it meanwhile, and ping as you
always do. The feed is asked every few seconds whether it changed. Its rssCloud hub
is asked to tell this machine too, when it runs on this machine or when --callback
gives the name by which it can reach it; the registration is cancelled afterwards.
It is then said when the feed changed and whether, and when, the hub told.

--json prints one object, described in docs/doctor.md; without FEED one with findings
(a list of id, level, text, why, fix), problems and warnings. The exit status is 0 when
there is no problem, 1 when there is one, and 2 when the command line was not
understood. --strict counts warnings as problems.`,
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
	c.Flags().BoolVar(&e.noPing, "no-ping", false, "tell no hub of the feed")
	c.Flags().DurationVar(&e.watch, "watch", 0, "how long to wait for a change of the feed, such as 2m")
	c.Flags().StringVar(&e.callback, "callback", "", "`HOST[:PORT]` by which the hub can reach this machine during --watch")
	c.Flags().BoolVar(&e.strict, "strict", false, "fail on warnings too")
	return c
}

// examination is one run of the command.
type examination struct {
	p                    *commands
	json, noPing, strict bool
	hub, callback        string
	watch                time.Duration
	subject              string // of the last finding that was printed
}

func (e *examination) run(ctx context.Context, feed string) error {
	if err := shell.CheckURL(feed); err != nil {
		return shell.AsUsageError(err)
	}
	if e.hub != "" {
		if _, err := rsscloud.PingEndpoint(rsscloud.HTTPPost, e.hub); err != nil {
			return shell.Usagef("--hub is %q: it needs the URL of a hub, such as http://localhost:5337", e.hub)
		}
	}
	switch {
	case e.watch < 0 || e.watch > longestWatch:
		return shell.Usagef("--watch is %s: it needs up to %s, such as 2m", e.watch, "12h")
	case e.callback != "" && e.watch == 0:
		return shell.Usagef("--callback is for --watch: say how long to watch, such as --watch 2m")
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

// Columns of what is printed for people.
const (
	findingColumn = 11 // where the words begin
	findingWidth  = 80
)

// tell prints a finding at once, so that there is something to read meanwhile.
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
	_, _ = b.WriteTo(e.p.Out) // the summary tells when nothing can be written
}

// wrap writes a text in lines, behind what stands in the first already.
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

// end prints the summary, or everything for a program.
func (e *examination) end(r doctor.Report) error {
	if e.json {
		return shell.JSONLines(e.p.Out).Encode(r)
	}
	counts := text.Plural(r.Problems, "problem") + ", " + text.Plural(r.Warnings, "warning")
	verdict := "Nothing is wrong"
	switch {
	case r.Problems > 0:
		verdict = "Something is wrong"
	case r.Warnings > 0 && e.strict:
		verdict = "Something is wrong, for warnings count"
	case r.Warnings > 0:
		verdict = "It works, and could work better"
	}
	_, err := fmt.Fprintf(e.p.Out, "\n%s: %s.\n", verdict, counts)
	return err
}
