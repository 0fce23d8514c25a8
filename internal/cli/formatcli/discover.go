package formatcli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"cloudburst/feed/discover"
	"cloudburst/internal/cli/shell"
)

func (p *commands) discover() *cobra.Command {
	d := discovery{p: p}
	c := &cobra.Command{
		Use:   "discover URL|FILE|-…",
		Short: "Find the feeds of web pages",
		Long: `Finds the feeds of web pages: in Link headers, in link elements, and in ordinary links
that look like feeds. The first result is the main feed; comment feeds, OPML lists and
guesses are last. If the input itself is a feed, it is the first result.

If a page at a URL declares no feed, the command requests the guessed URLs and then the
usual paths of feeds (/feed, /rss.xml, …), with at most 12 requests. --no-probe disables
these requests. A file has no URL: --base sets one for its relative links.

The command prints a table: number, kind (feed, comments, outline), format, title, URL
and place; a question mark after the place marks a guess. --json prints one object per
line and input, described in docs/reference/json.md. The exit status is 1 if an input has no feed.`,
		Example: "  cloudburst discover https://example.org/\n  cloudburst discover --base https://example.org/ index.html",
		Args:    shell.Between(1, -1, "at least one URL or FILE, or - for standard input"),
		RunE: func(c *cobra.Command, args []string) error {
			return d.run(c.Context(), args)
		},
	}
	c.Flags().StringVar(&d.base, "base", "", "`URL` of the page, if the input is a file")
	c.Flags().BoolVar(&d.noProbe, "no-probe", false, "request only the page itself")
	c.Flags().BoolVar(&d.json, "json", false, "print one JSON object per line")
	return c
}

// discovery is one run of the command discover.
type discovery struct {
	p             *commands
	base          string
	noProbe, json bool
	inputs        *shell.Inputs
	table         *shell.Table
	many          bool // the command has several inputs, so each row contains the name of its input
}

// discovered is the JSON output for one input.
type discovered struct {
	Input string            `json:"input"`
	Error *shell.InputError `json:"error,omitempty"`
	discover.Result
}

func (d *discovery) run(ctx context.Context, names []string) error {
	if d.base != "" && !shell.IsURL(d.base) {
		return shell.Usagef("--base is %q: it must be an http or https URL with a host", d.base)
	}
	if err := shell.CheckStdinOnce(names); err != nil {
		return err
	}
	d.inputs, d.many = d.p.Inputs(), len(names) > 1
	heading := []string{"#", "KIND", "FORMAT", "TITLE", "URL", "FROM"}
	if d.many {
		heading = append([]string{"INPUT"}, heading...)
	}
	d.table = shell.NewTable(d.p.Out, heading...)
	failed := false
	for _, name := range names {
		r, err := d.find(ctx, name)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err == nil && len(r.Links) == 0 {
			err = d.notFound(name, r)
		}
		failed = failed || err != nil
		if err := d.print(name, r, err); err != nil {
			return err
		}
	}
	if err := d.table.End(); err != nil {
		return err
	}
	if failed {
		return shell.ErrReported
	}
	return nil
}

func (d *discovery) find(ctx context.Context, name string) (discover.Result, error) {
	if shell.IsURL(name) {
		f := discover.Finder{HTTP: d.inputs.HTTP, UserAgent: d.p.UserAgent(), MaxBytes: shell.MaxInput, Timeout: shell.FeedTimeout}
		if d.noProbe {
			f.MaxProbes = -1
		}
		r, err := f.Find(ctx, name)
		if e, ok := errors.AsType[*discover.StatusError](err); ok {
			return r, fmt.Errorf("%s cannot be read: the server returned %d %s", name, e.Status, http.StatusText(e.Status))
		}
		if bad := shell.CheckURL(name); bad != nil && errors.Is(err, discover.ErrURL) {
			return r, bad
		}
		if inner := errors.Unwrap(err); inner != nil {
			return r, fmt.Errorf("%s cannot be read: %w", name, shell.PlainNetError(inner))
		}
		if err != nil {
			return r, errors.New(strings.TrimPrefix(err.Error(), "discover: "))
		}
		return r, nil
	}
	in, err := d.inputs.Read(ctx, name, nil)
	if err != nil {
		return discover.Result{}, err
	}
	return discover.HTML(in.Body, d.base, in.Header), nil
}

// notFound returns the error for a page without feeds. It lists the URLs where the command searched
// and makes a suggestion.
func (d *discovery) notFound(name string, r discover.Result) error {
	page := name
	if name == "-" {
		page = "standard input"
	}
	places := "in its link elements and links"
	try := "if you know the URL of the site, use it instead of the file"
	if shell.IsURL(name) {
		places = "in its Link headers, link elements and links, and has no feed at the usual paths (/feed, /rss.xml, …)"
		try = "try a page of the site that lists posts"
		if d.noProbe {
			places = "in its Link headers, link elements and links"
			try = "omit --no-probe to try the usual paths too"
		}
		if r.URL != "" && r.URL != name {
			page += " (redirected to " + r.URL + ")"
		}
	}
	return fmt.Errorf("%s names no feed %s; %s", page, places, try)
}

func (d *discovery) print(name string, r discover.Result, failure error) error {
	if d.json {
		out := discovered{Input: name, Result: r}
		if out.Links == nil {
			out.Links = []discover.Link{}
		}
		if failure != nil {
			out.Error = &shell.InputError{Message: shell.Sentence(failure)}
			fmt.Fprintf(d.p.Err, "cloudburst: %s\n", out.Error.Message)
		}
		return shell.JSONLines(d.p.Out).Encode(out)
	}
	if failure != nil {
		fmt.Fprintf(d.p.Err, "cloudburst: %s\n", shell.Sentence(failure))
		return nil
	}
	for i, l := range r.Links {
		from := string(l.From)
		if l.Guess {
			from += "?"
		}
		row := []string{strconv.Itoa(i + 1), string(l.Kind), shell.OrDash(string(l.Format)), shell.OrDash(shell.Clip(l.Title, 60)), shell.OrDash(l.URL), from}
		if d.many {
			row = append([]string{name}, row...)
		}
		if err := d.table.Row(row...); err != nil {
			return err
		}
	}
	return nil
}
