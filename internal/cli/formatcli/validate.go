package formatcli

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"cloudburst/feed"
	"cloudburst/internal/advice"
	"cloudburst/internal/cli/shell"
	"cloudburst/internal/text"
	"cloudburst/protocol/rsscloud"
)

func (p *commands) validate() *cobra.Command {
	v := validation{p: p}
	c := &cobra.Command{
		Use:   "validate FILE|URL|-…",
		Short: "Check feeds for errors and explain how to fix them",
		Long: `Checks feeds for their authors: the document against the rules of its format, its
effect in common feed readers and, for a URL, the response of the server (type, charset,
compression, conditional requests).

Each finding is an error (some readers reject the feed or lose items), a warning (readers
handle it differently) or advice (valid, but can be improved). It states the lines, the
effect in readers and the fix. --json prints one object per line and input, described in
docs/reference/json.md.

The exit status is 0 if no input has errors, 1 if an input has errors, is not a feed or
cannot be read, and 2 for an invalid command line. --strict treats warnings as errors.`,
		Example: "  cloudburst validate https://example.org/rss.xml\n  cloudburst validate --strict public/*.xml",
		Args:    shell.Between(1, -1, "at least one FILE or URL, or - for standard input"),
		RunE: func(c *cobra.Command, args []string) error {
			return v.run(c.Context(), args)
		},
	}
	c.Flags().BoolVar(&v.strict, "strict", false, "fail on warnings too")
	c.Flags().BoolVar(&v.quiet, "no-advice", false, "omit advice")
	c.Flags().BoolVar(&v.json, "json", false, "print one JSON object per line")
	return c
}

// validation is one run of the command validate.
type validation struct {
	p                   *commands
	strict, quiet, json bool
}

// report is the JSON line of one input.
type report struct {
	Input    string            `json:"input"`
	URL      string            `json:"url,omitempty"` // URL after redirects
	Valid    bool              `json:"valid"`
	Error    *shell.InputError `json:"error,omitempty"`
	Format   feed.Format       `json:"format,omitempty"`
	Version  string            `json:"version,omitempty"`
	Variant  string            `json:"variant,omitempty"`
	Encoding string            `json:"encoding,omitempty"`
	Title    string            `json:"title,omitempty"`
	Items    int               `json:"items"`
	Errors   int               `json:"errors"` // number of findings with the level error; a finding with several places counts once
	Warnings int               `json:"warnings"`
	Advice   int               `json:"advice"`
	Findings []advice.Finding  `json:"findings"`
}

func (v *validation) run(ctx context.Context, names []string) error {
	if err := shell.CheckStdinOnce(names); err != nil {
		return err
	}
	failed := false
	for i, name := range names {
		r, err := v.check(ctx, name)
		if err != nil {
			return err
		}
		failed = failed || !r.Valid
		if err := v.print(r, i > 0); err != nil {
			return err
		}
	}
	if failed {
		return shell.ErrReported
	}
	return nil
}

// check reads and validates one input. It returns an error only if ctx ends.
func (v *validation) check(ctx context.Context, name string) (*report, error) {
	r := &report{Input: name, Findings: []advice.Finding{}}
	in := v.p.Inputs()
	wire := &observer{http: in.HTTP}
	in.HTTP = wire
	doc, err := in.Read(ctx, name, nil)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		r.Error = &shell.InputError{Message: shell.Sentence(err)}
		return r, nil
	}
	r.URL = doc.URL
	// KeepRelative makes the parser report relative URLs instead of resolving them, so that the
	// author can fix them.
	o := &feed.Options{URL: doc.URL, Header: doc.Header, KeepRelative: true}
	f, err := feed.ParseBytes(doc.Body, o)
	if err != nil {
		e := shell.NotFeed(name, err)
		r.Error = &e
		return r, nil
	}
	d := &advice.Delivery{Document: doc.Body, URL: doc.URL, Header: doc.Header, Now: time.Now()}
	if doc.Header != nil {
		d.Compressed = wire.compressed
		d.Revalidated = wire.revalidate(ctx, v.p.UserAgent(), doc)
	}
	r.Format, r.Version, r.Variant, r.Encoding = f.Format, f.Version, f.Variant, f.Encoding
	r.Title, r.Items = shell.TidyTitle(f.Title.Value), len(f.Items)
	for _, a := range advice.On(f, d) {
		switch a.Level {
		case advice.LevelError:
			r.Errors++
		case advice.LevelWarning:
			r.Warnings++
		default:
			if r.Advice++; v.quiet {
				continue
			}
		}
		r.Findings = append(r.Findings, a)
	}
	r.Valid = r.Errors == 0 && (!v.strict || r.Warnings == 0)
	return r, ctx.Err()
}

// observer is a client that records whether a response was compressed.
type observer struct {
	http       rsscloud.HTTPClient
	compressed bool
}

func (o *observer) Do(r *http.Request) (*http.Response, error) {
	res, err := o.http.Do(r)
	if err == nil {
		o.compressed = res.Uncompressed || res.Header.Get("Content-Encoding") != ""
	}
	return res, err
}

// revalidate repeats the request for a document with its validators, as feed readers do. It returns
// the status of the response; 0: the document has no validators, or the server sent no response.
func (o *observer) revalidate(ctx context.Context, agent string, doc shell.Input) int {
	tag, modified := doc.Header.Get("ETag"), doc.Header.Get("Last-Modified")
	if tag == "" && modified == "" {
		return 0
	}
	ctx, cancel := context.WithTimeout(ctx, shell.FeedTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, "GET", doc.URL, nil)
	if err != nil {
		return 0
	}
	req.Header.Set("User-Agent", agent)
	if tag != "" {
		req.Header.Set("If-None-Match", tag)
	}
	if modified != "" {
		req.Header.Set("If-Modified-Since", modified)
	}
	res, err := o.http.Do(req)
	if err != nil {
		return 0
	}
	defer res.Body.Close()
	// Read a short body, so that the connection can be reused.
	_, _ = io.CopyN(io.Discard, res.Body, 64<<10)
	return res.StatusCode
}

func (v *validation) print(r *report, further bool) error {
	if v.json {
		if r.Error != nil {
			fmt.Fprintf(v.p.Err, "cloudburst: %s\n", shell.Clean(r.Error.Message))
		}
		return shell.JSONLines(v.p.Out).Encode(r)
	}
	if r.Error != nil {
		fmt.Fprintf(v.p.Err, "cloudburst: %s\n", shell.Clean(r.Error.Message))
		return nil
	}
	var b strings.Builder
	if further {
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "%s: %s\n", shell.Clean(r.Input), r.title())
	level := advice.Level("")
	for _, a := range r.Findings {
		if a.Level != level {
			level = a.Level
			fmt.Fprintf(&b, "\n%s\n", headingOf(level))
		}
		writeFinding(&b, a)
	}
	fmt.Fprintf(&b, "\n%s\n", r.summary(v.strict))
	_, err := io.WriteString(v.p.Out, b.String())
	return err
}

// title describes the feed in one line.
func (r *report) title() string {
	s := shell.FormatName(r.Format, r.Version, r.Variant)
	if r.Encoding != "" {
		s += " in " + r.Encoding
	}
	s += ", " + text.Plural(r.Items, "item")
	if r.Title != "" {
		s += ": " + r.Title
	}
	return s
}

func headingOf(l advice.Level) string {
	switch l {
	case advice.LevelError:
		return "ERRORS: some readers reject the feed or lose items"
	case advice.LevelWarning:
		return "WARNINGS: readers handle the feed differently"
	}
	return "ADVICE: the feed is valid and can be improved"
}

func writeFinding(b *strings.Builder, a advice.Finding) {
	times := ""
	if a.Count > 1 {
		times = fmt.Sprintf(" (%d times)", a.Count)
	}
	fmt.Fprintf(b, "  %s%s [%s]\n", shell.Clean(a.Problem), times, a.Rule)
	for _, p := range a.Places {
		var parts []string
		if p.Line > 0 {
			parts = append(parts, fmt.Sprintf("line %d", p.Line))
		}
		for _, s := range []string{p.Path, p.Text} {
			if s != "" {
				parts = append(parts, shell.Clip(shell.Clean(s), 160))
			}
		}
		fmt.Fprintf(b, "    %s\n", strings.Join(parts, "  "))
	}
	if more := a.Count - len(a.Places); more > 0 && len(a.Places) > 0 {
		fmt.Fprintf(b, "    and %d more\n", more)
	}
	fmt.Fprintf(b, "    What happens: %s\n    What to do: %s\n", shell.Clean(a.Effect), shell.Clean(a.Fix))
}

func advicePieces(n int) string {
	if n == 1 {
		return "1 piece of advice"
	}
	return fmt.Sprintf("%d pieces of advice", n)
}

func (r *report) summary(strict bool) string {
	counts := text.Plural(r.Errors, "error") + ", " + text.Plural(r.Warnings, "warning") + ", " + advicePieces(r.Advice)
	switch {
	case r.Errors > 0:
		return "Needs attention: " + counts + "."
	case strict && r.Warnings > 0:
		return "Needs attention (--strict): " + counts + "."
	case r.Warnings > 0:
		return "Valid for readers, with problems to fix: " + counts + "."
	}
	return "Valid for readers: " + counts + "."
}
