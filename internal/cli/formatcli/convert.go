package formatcli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"cloudburst/feed"
	"cloudburst/feed/render"
	"cloudburst/internal/cli/shell"
	"cloudburst/internal/sanitize"
)

// conversion is one run of the command convert.
type conversion struct {
	p                    *commands
	to, output           string
	callback, self       string
	sanitize, quiet, all bool
	parse                parseFlags
}

func (p *commands) convert() *cobra.Command {
	f := &conversion{p: p}
	c := &cobra.Command{
		Use:   "convert --to FORMAT FILE|URL|-",
		Short: "Write a feed in another format",
		Long: `Reads a feed of any format, as parse does, and writes it in the format that --to
names: feeds of every version, tables, serialized data and the source code of
programs. --list prints the formats; docs/reference/formats.md shows an example of each. For -
it reads standard input.

Warnings on standard error, one per line, report data that the format does not support,
data that readers may reject, and skipped data of a large or broken document. --quiet
hides the warnings. The output is valid even with warnings.

The command keeps HTML in texts unchanged, unless you set --sanitize; for the format html
it always sanitizes. Relative URLs are resolved; a file has no URL: --base sets one.`,
		Example: `  cloudburst convert --to atom http://example.org/rss.xml
  cloudburst convert --to jsonfeed --self https://example.org/feed.json --output feed.json rss.xml
  cloudburst convert --to csv --quiet - <rss.xml`,
		RunE: func(c *cobra.Command, args []string) error {
			if f.all {
				return f.list(args)
			}
			if err := f.check(c, args); err != nil {
				return err
			}
			return f.run(c.Context(), args[0])
		},
	}
	shell.ChoiceFlag(c, &f.to, "to", "the format to write", formatNames()...)
	c.Flags().StringVar(&f.output, "output", "", "`file` to write instead of standard output; an existing file is replaced")
	c.Flags().StringVar(&f.callback, "callback", "", "`name` of the function that jsonp calls (default feedCallback)")
	c.Flags().StringVar(&f.self, "self", "", "`URL` at which the output will be published (default: the URL that the feed declares)")
	c.Flags().StringVar(&f.parse.base, "base", "", "`URL` of the input, for relative URLs (default: the URL it was read from)")
	c.Flags().StringVar(&f.parse.contentType, "content-type", "", "media `type` of the input with its charset, like the HTTP header")
	f.parse.itemLimit(c)
	c.Flags().BoolVar(&f.sanitize, "sanitize", false, "sanitize HTML, so that it is safe to display")
	c.Flags().BoolVar(&f.quiet, "quiet", false, "hide the warnings")
	c.Flags().BoolVar(&f.all, "list", false, "print the formats: name, title, extension and media type")
	return c
}

// formatNames returns the names of all output formats.
func formatNames() (names []string) {
	for _, f := range render.Formats() {
		names = append(names, f.Name)
	}
	return names
}

// list prints the output formats.
func (f *conversion) list(args []string) error {
	if len(args) > 0 {
		return shell.Usagef("--list takes no arguments, but got %q", args[0])
	}
	t := shell.NewTable(f.p.Out, "NAME", "TITLE", "EXTENSION", "TYPE")
	for _, r := range render.Formats() {
		if err := t.Row(r.Name, r.Title, r.Ext, r.Type); err != nil {
			return err
		}
	}
	return t.End()
}

// check validates the command line.
func (f *conversion) check(c *cobra.Command, args []string) error {
	switch {
	case f.to == "":
		return shell.Usagef("%s needs --to: one of %s", c.CommandPath(), strings.Join(formatNames(), ", "))
	case len(args) != 1:
		return shell.Between(1, 1, "one FILE or URL, or - for standard input")(c, args)
	case f.callback != "" && f.to != "jsonp":
		return shell.Usagef("--callback applies only to the format jsonp, not to %s", f.to)
	}
	if u, err := url.Parse(f.self); err != nil || f.self != "" && (!u.IsAbs() || u.Host == "") {
		return shell.Usagef("--self is %q: it must be an absolute URL, such as http://example.org/rss.xml", f.self)
	}
	return nil
}

func (f *conversion) run(ctx context.Context, name string) error {
	f.parse.raw = !f.sanitize
	r, err := f.p.parseRun(f.parse, []string{name})
	if err != nil {
		return err
	}
	in, err := r.inputs.Read(ctx, name, nil)
	if err != nil {
		return err
	}
	doc, err := feed.ParseBytes(in.Body, r.options(in))
	if err != nil {
		return errors.New(shell.NotFeed(name, err).Message)
	}
	o := &render.Options{Self: f.self, Callback: f.callback, Sanitize: sanitize.HTML, Strict: true}
	if t, err := http.ParseTime(in.Header.Get("Last-Modified")); err == nil {
		o.Updated = t
	}
	out, warnings, err := render.Append(nil, doc, f.to, o)
	if err != nil {
		return shell.AsUsageError(errors.New(strings.TrimPrefix(err.Error(), "render: ")))
	}
	if err := f.write(out); err != nil {
		return err
	}
	if f.quiet {
		return nil
	}
	for _, b := range doc.Problems {
		// Report data that the parser skipped. Do not report what it repaired.
		if b.Kind == feed.ProblemLimit || b.Kind == feed.ProblemTruncated {
			f.warn(render.Warning{Rule: b.Kind, Path: b.Path, Text: b.Message})
		}
	}
	for _, w := range warnings {
		f.warn(w)
	}
	return nil
}

// warn prints a warning on one line.
func (f *conversion) warn(w render.Warning) {
	where := ""
	if w.Path != "" {
		where = w.Path + ": "
	}
	fmt.Fprintf(f.p.Err, "warning: %s\n", shell.Sentence(fmt.Errorf("%s%s [%s]", where, w.Text, w.Rule)))
}

// write writes the document to standard output, or replaces the output file atomically.
func (f *conversion) write(doc []byte) error {
	if f.output == "" || f.output == "-" {
		_, err := f.p.Out.Write(doc)
		return err
	}
	if err := shell.ReplaceFile(f.output, doc); err != nil {
		return fmt.Errorf("%s cannot be written: %w", f.output, shell.PlainPathError(err))
	}
	return nil
}
