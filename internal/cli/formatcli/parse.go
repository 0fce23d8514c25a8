package formatcli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"cloudburst/feed"
	"cloudburst/internal/cli/shell"
	"cloudburst/internal/sanitize"
)

func (p *commands) parse() *cobra.Command {
	f := parseFlags{}
	c := &cobra.Command{
		Use:   "parse [FILE|URL|-]…",
		Short: "Parse feeds of any format and print them as JSON",
		Long: `Reads feeds (RSS of every version, RDF, Atom, JSON Feed, CDF, scriptingNews, MCF)
and prints one JSON object per line, in the order of the inputs. Without an input, or
for -, it reads standard input. docs/reference/json.md explains every field.

The parser repairs errors where possible: problemCount is the number of repairs, and
--problems lists them. If an input is not a feed or cannot be read, its object has
"error" instead of a feed, and the exit status is 1 after all other inputs.

The command sanitizes HTML in texts and resolves relative URLs, unless you set
--no-sanitize and --no-resolve. A file has no URL: --base sets one. --content-type and
--header set HTTP headers of the document and override those of the server.`,
		Example: `  cloudburst parse http://example.org/rss.xml
  cloudburst parse --base http://example.org/rss.xml rss.xml
  cloudburst parse feeds/*.xml | jq -r '.items[]?.title.value'`,
		RunE: func(c *cobra.Command, args []string) error {
			r, err := p.parseRun(f, args)
			if err != nil {
				return err
			}
			return r.run(c.Context())
		},
	}
	c.Flags().StringVar(&f.base, "base", "", "`URL` of the document, for relative URLs (default: the URL it was read from)")
	c.Flags().StringVar(&f.contentType, "content-type", "", "media `type` of the document with its charset, like the HTTP header")
	c.Flags().StringArrayVar(&f.header, "header", nil, "a header `field` of the response, such as 'Content-Location: http://example.org/'; can be repeated")
	c.Flags().BoolVar(&f.raw, "no-sanitize", false, "keep HTML unchanged: not safe to display")
	c.Flags().BoolVar(&f.relative, "no-resolve", false, "keep relative URLs unchanged")
	f.itemLimit(c)
	c.Flags().BoolVar(&f.problems, "problems", false, "list the repaired errors")
	return c
}

// parseFlags has the values of the command's flags.
type parseFlags struct {
	base, contentType       string
	header                  []string
	raw, relative, problems bool
	maxItems                int
}

// itemLimit adds the flag --max-items.
func (f *parseFlags) itemLimit(c *cobra.Command) {
	c.Flags().IntVar(&f.maxItems, "max-items", 1000, "read at most `N` items of a document; 0 reads all")
}

// parseRun is one run of the command parse.
type parseRun struct {
	p      *commands
	inputs *shell.Inputs
	names  []string
	flags  parseFlags
	header http.Header        // header fields that flags set
	bodies chan []byte        // unused buffers for inputs
	lines  chan *bytes.Buffer // unused buffers for lines
	failed bool
	bar    *shell.Progress
}

// parsed is the result for one input: a line to print, and a message if the input is not a feed.
type parsed struct {
	line     *bytes.Buffer
	complain string
}

func (p *commands) parseRun(f parseFlags, names []string) (*parseRun, error) {
	r := &parseRun{p: p, inputs: p.Inputs(), names: names, flags: f, header: http.Header{}}
	if len(names) == 0 {
		r.names = []string{"-"}
	}
	if err := shell.CheckStdinOnce(r.names); err != nil {
		return nil, err
	}
	if u, err := url.Parse(f.base); err != nil || f.base != "" && !u.IsAbs() {
		return nil, shell.Usagef("--base is %q: it must be an absolute URL, such as http://example.org/rss.xml", f.base)
	}
	if f.maxItems < 0 {
		return nil, shell.Usagef("--max-items is %d: it must be 0 or positive", f.maxItems)
	}
	for _, field := range f.header {
		name, value, ok := strings.Cut(field, ":")
		if name = strings.TrimSpace(name); !ok || name == "" || strings.ContainsAny(name, " \t") {
			return nil, shell.Usagef("--header is %q: it must have a name, a colon and a value, such as 'Content-Language: en'", field)
		}
		r.header.Add(name, strings.TrimSpace(value))
	}
	if f.contentType != "" {
		r.header.Set("Content-Type", f.contentType)
	}
	return r, nil
}

const (
	urlsAtOnce = 8       // minimum number of concurrent workers if some inputs are URLs
	maxReused  = 8 << 20 // maximum size in bytes of a buffer that is reused
	gcPercent  = 400     // growth of the heap in percent before a garbage collection
)

func (r *parseRun) run(ctx context.Context) error {
	// The heap is small, and most of it soon becomes garbage. A garbage collection each time the
	// heap has doubled would cost a fifth of the running time.
	defer debug.SetGCPercent(debug.SetGCPercent(gcPercent))
	workers := runtime.GOMAXPROCS(0)
	if slices.ContainsFunc(r.names, shell.IsURL) {
		workers = max(workers, urlsAtOnce)
	}
	r.bodies = make(chan []byte, workers)
	r.lines = make(chan *bytes.Buffer, (shell.AheadPerWorker+1)*workers)
	r.bar = shell.NewProgress(r.p.Err, "parsing")
	// If output goes to a terminal, it already shows the progress.
	watched := len(r.names) > 1 && !(shell.IsTerminal(r.p.Out) && r.bar.Human)
	idle := func(taken int) {
		if watched {
			r.bar.At(taken, len(r.names))
		}
	}
	err := shell.InOrder[parsed]{
		N: len(r.names), Workers: workers, Work: r.one, Idle: idle,
		Take: func(i int, one parsed) error {
			err := r.print(one)
			idle(i + 1)
			return err
		},
	}.Run(ctx)
	r.bar.End()
	switch {
	case err != nil:
		return err
	case r.failed:
		return shell.ErrReported
	}
	return nil
}

// print prints the line and the message of one result.
func (r *parseRun) print(one parsed) error {
	if one.complain != "" {
		r.failed = true
		r.bar.End()
		fmt.Fprintf(r.p.Err, "cloudburst: %s\n", one.complain)
	}
	if _, err := r.p.Out.Write(one.line.Bytes()); err != nil {
		return err
	}
	if one.line.Cap() <= maxReused {
		one.line.Reset()
		putBack(r.lines, one.line)
	}
	return nil
}

// one reads and parses one input.
func (r *parseRun) one(ctx context.Context, i int) (out parsed) {
	name := r.names[i]
	out.line = take(r.lines, &bytes.Buffer{})
	fail := func(failure shell.InputError) {
		failure.Message = shell.Sentence(errors.New(failure.Message))
		out.complain = failure.Message
		printFailure(out.line, name, failure)
	}
	// A panic in the parser must not stop the processing of other documents.
	defer func() {
		if v := recover(); v != nil {
			fail(shell.InputError{Message: fmt.Sprintf("%s caused an internal error; please report it: %v", name, v)})
		}
	}()
	in, err := r.inputs.Read(ctx, name, take(r.bodies, nil))
	if err != nil {
		fail(shell.InputError{Message: err.Error()})
		return out
	}
	f, err := feed.ParseBytes(in.Body, r.options(in))
	if err != nil {
		fail(shell.NotFeed(name, err))
	} else if err := printFeed(out.line, name, f, r.flags.problems); err != nil {
		fail(shell.InputError{Message: fmt.Sprintf("%s cannot be written as JSON: %v", name, err)})
	}
	if cap(in.Body) <= maxReused {
		putBack(r.bodies, in.Body) // the line is complete, so nothing refers to the memory of the document
	}
	return out
}

// options returns the parse options for one input.
func (r *parseRun) options(in shell.Input) *feed.Options {
	o := &feed.Options{URL: in.URL, Header: in.Header, KeepRelative: r.flags.relative}
	if o.Limits.Items = r.flags.maxItems; o.Limits.Items == 0 {
		o.Limits.Items = -1
	}
	if r.flags.base != "" {
		o.URL = r.flags.base
	}
	if len(r.header) > 0 {
		o.Header = http.Header{}
		maps.Copy(o.Header, in.Header)
		maps.Copy(o.Header, r.header)
	}
	if !r.flags.raw {
		o.Sanitize = sanitize.HTML
	}
	return o
}

// take returns a value from store; fallback if the store is empty.
func take[T any](store <-chan T, fallback T) T {
	select {
	case v := <-store:
		return v
	default:
		return fallback
	}
}

// putBack puts v into store, unless the store is full.
func putBack[T any](store chan<- T, v T) {
	select {
	case store <- v:
	default:
	}
}
