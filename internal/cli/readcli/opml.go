package readcli

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"cloudburst/feed/opml"
	"cloudburst/internal/cli/shell"
	"cloudburst/internal/sanitize"
	"cloudburst/internal/text"
)

func (p *commands) opml() *cobra.Command {
	c := shell.Group("opml", "Import, export and show OPML subscription lists",
		`These commands process subscription lists and other outlines in OPML. "opml import"
follows the feeds of a list; "opml export" writes the followed feeds to a list.`)
	c.AddCommand(p.opmlShow(), p.opmlImport(), p.opmlExport())
	return c
}

func (p *commands) opmlShow() *cobra.Command {
	s := outlineShow{p: p}
	c := &cobra.Command{
		Use:   "show FILE|URL|-…",
		Short: "Print the content of an OPML document",
		Long: `Reads OPML of any version and prints it as a tree: folders, subscriptions with the
URLs of their feeds, links, and included lists, which are not fetched.
- is standard input.

The parser repairs errors where possible; --problems lists them. --json prints one object
per line and input with all data of the document, see docs/reference/json.md. The exit status is 1
if an input is not OPML or cannot be read; the other inputs are still processed.`,
		Example: `  cloudburst opml show subscriptions.opml
  cloudburst opml show --json https://example.org/list.opml | jq -r '.. | .xmlUrl? // empty'`,
		Args: shell.Between(1, -1, "at least one FILE or URL, or - for standard input"),
		RunE: func(c *cobra.Command, names []string) error {
			if err := shell.CheckStdinOnce(names); err != nil {
				return err
			}
			return s.run(c.Context(), names)
		},
	}
	c.Flags().BoolVar(&s.problems, "problems", false, "list the repaired errors")
	c.Flags().BoolVar(&s.json, "json", false, "print one JSON object per line")
	return c
}

// outlineShow is one run of the command opml show.
type outlineShow struct {
	p              *commands
	problems, json bool
}

// outlineLine is a document as --json prints it.
type outlineLine struct {
	Input string `json:"input"`
	*opml.Document
	ProblemCount int            `json:"problemCount"`
	Problems     []opml.Problem `json:"problems,omitzero"` // problems of the document, only with --problems; hides opml.Document.Problems
}

func (s *outlineShow) run(ctx context.Context, names []string) error {
	failed := false
	from := s.p.Inputs()
	out := bufio.NewWriter(s.p.Out)
	for i, name := range names {
		d, failure := s.read(ctx, from, name)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		var err error
		switch {
		case failure != nil:
			failed = true
			err = s.fail(out, name, *failure)
		case s.json:
			line := outlineLine{Input: name, Document: d, ProblemCount: len(d.Problems)}
			if s.problems {
				line.Problems = append([]opml.Problem{}, d.Problems...)
			}
			err = shell.JSONLines(out).Encode(line)
		default:
			if i > 0 {
				fmt.Fprintln(out)
			}
			s.tree(out, name, d)
		}
		if flushed := out.Flush(); err == nil {
			err = flushed
		}
		if err != nil {
			return err
		}
	}
	if failed {
		return shell.ErrReported
	}
	return nil
}

// read reads and parses one input. If the input is not a valid document, it returns an InputError.
func (s *outlineShow) read(ctx context.Context, from *shell.Inputs, name string) (*opml.Document, *shell.InputError) {
	in, err := from.Read(ctx, name, nil)
	if err != nil {
		return nil, &shell.InputError{Message: shell.Sentence(err)}
	}
	d, err := opml.ParseBytes(in.Body, &opml.Options{ContentType: in.Header.Get("Content-Type")})
	if err == nil {
		return d, nil
	}
	failure := &shell.InputError{}
	what := strings.TrimPrefix(err.Error(), "opml: ")
	if no, ok := errors.AsType[*opml.NotOPMLError](err); ok {
		failure.Looks = no.Looks
		switch no.Looks {
		case "feed":
			what += `; "cloudburst parse" reads it`
		case "html":
			what += `; "cloudburst discover" finds its feeds`
		}
	}
	if name == "-" {
		name = "standard input"
	}
	failure.Message = shell.Clean(name + ": " + what)
	return nil, failure
}

// fail prints the error of an invalid input to standard error and, with --json, as JSON.
func (s *outlineShow) fail(out *bufio.Writer, name string, failure shell.InputError) error {
	fmt.Fprintf(s.p.Err, "cloudburst: %s\n", failure.Message)
	if !s.json {
		return nil
	}
	return shell.JSONLines(out).Encode(shell.FailureLine{Input: name, Error: failure})
}

// tree prints a document as text. The caller checks write errors by flushing out.
func (s *outlineShow) tree(out *bufio.Writer, name string, d *opml.Document) {
	fmt.Fprintln(out, outlineTitle(name, d))
	if by := ownerOf(&d.Head); by != "" {
		fmt.Fprintln(out, "by "+by)
	}
	for _, date := range []struct {
		what string
		at   opml.Date
	}{{"created", d.Head.DateCreated}, {"changed", d.Head.DateModified}} {
		if at, ok := date.at.Time(); ok {
			fmt.Fprintf(out, "%s %s\n", date.what, shell.FormatTime(&at))
		}
	}
	if len(d.Outlines) > 0 {
		fmt.Fprintln(out)
	}
	for path, o := range d.All() {
		fmt.Fprintln(out, strings.Repeat("  ", len(path))+outlineText(o))
	}
	switch n := len(d.Problems); {
	case n == 0:
	case !s.problems:
		fmt.Fprintf(out, "\n%s repaired: --problems lists the details.\n", text.Plural(n, "error"))
	default:
		fmt.Fprintln(out)
		for _, p := range d.Problems {
			fmt.Fprintln(out, problemLine(p))
		}
	}
}

// outlineTitle returns the first line of the output: the title and the number of entries.
func outlineTitle(name string, d *opml.Document) string {
	title := shell.Clip(shell.Clean(sanitize.Text(d.Head.Title)), 200)
	title = cmp.Or(title, shell.Clean(name))
	feeds, lists, all := 0, 0, 0
	for range d.Feeds() {
		feeds++
	}
	for range d.Includes() {
		lists++
	}
	for range d.All() {
		all++
	}
	what := "OPML"
	if d.Version != "" {
		what += " " + shell.Clip(shell.Clean(d.Version), 20)
	}
	what += ", " + text.Plural(feeds, "feed")
	if lists > 0 {
		what += ", " + text.Plural(lists, "included list")
	}
	if others := all - feeds - lists; others > 0 {
		what += ", " + text.Plural(others, "other outline")
	}
	return title + " (" + what + ")"
}

func ownerOf(h *opml.Head) string {
	by := shell.Clean(h.OwnerName)
	for _, more := range []string{h.OwnerEmail, h.OwnerID} {
		if more = shell.Clean(more); more != "" {
			by = strings.TrimSpace(by + " <" + more + ">")
		}
	}
	return by
}

// outlineText returns the text of one outline on one line.
func outlineText(o *opml.Outline) string {
	text := shell.Clip(shell.Clean(sanitize.Text(o.Text)), 200)
	text = cmp.Or(text, "(no text)")
	switch feed, list := o.FeedURL(), o.IncludeURL(); {
	case feed != "":
		text += "  " + shell.Clean(feed)
	case list != "":
		text += "  includes " + shell.Clean(list)
	case o.URL != "":
		text += "  " + shell.Clean(o.URL)
	case o.Type != "" && !strings.EqualFold(o.Type, "folder"):
		text += "  [" + shell.Clip(shell.Clean(o.Type), 40) + "]"
	}
	if o.IsComment {
		text += "  (commented out)"
	}
	return text
}

func problemLine(p opml.Problem) string {
	where := ""
	if p.Line > 0 {
		where = fmt.Sprintf("line %d", p.Line)
	}
	if p.Path != "" {
		where = strings.TrimPrefix(where+", "+p.Path, ", ")
	}
	if where != "" {
		where += ": "
	}
	return shell.Clean(where+p.Message) + " [" + p.Kind + "]"
}
