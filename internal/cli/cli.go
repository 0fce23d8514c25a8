// Package cli is the command line: one command for the server, one for authors,
// one for aggregators, and those by which an operator looks after a server.
//
// The operator's commands know the server by package client only, be it running
// somewhere or opened in this very process because none runs. Start with [Main]
// and [Program].
package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"cloudburst/internal/config"
	"cloudburst/internal/fault"
	"cloudburst/protocol/rsscloud"
)

// Exit codes.
const (
	exitOK      = 0
	exitFailure = 1 // it was tried and did not work
	exitUsage   = 2 // it was not understood, and nothing was tried
)

// App is the program as the commands use it without a server; *app.App is one.
type App interface {
	Admin() http.Handler
	Close() error
}

// Program is one run of the command with everything that it touches.
type Program struct {
	In       io.Reader
	Out, Err io.Writer
	Environ  []string
	Version  string
	HTTP     rsscloud.HTTPClient // reads feeds and calls hubs; nil: the network
	// Open makes the program from its configuration, without serving.
	Open func(ctx context.Context, cfg config.Config, log *slog.Logger) (App, error)
	// Serve runs the server until ctx ends. out gets what it prints for people at its start.
	Serve func(ctx context.Context, cfg config.Config, log *slog.Logger, out io.Writer) error
}

// Main runs the command of this process and returns its exit code.
func Main() int { return New().Main((*Program).Run) }

// New returns the program of this process.
func New() *Program {
	return &Program{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Environ: os.Environ(), Version: version, Open: openApp, Serve: serveApp}
}

// Main calls run with the command line of this process, until a signal ends the context.
func (p *Program) Main(run func(p *Program, ctx context.Context, args []string) int) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	return run(p, ctx, os.Args[1:])
}

// usageError is a mistake in the command line, as against a failure of what it asked for.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// UsageError marks err as a mistake in the command line.
func UsageError(err error) error { return usageError{err} }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// errSilent is a failure that has been told already.
var errSilent = errors.New("failed")

// Run runs one command line, without the program's name in front.
func (p *Program) Run(ctx context.Context, args []string) int {
	return Execute(ctx, p.root(), args, p.Err)
}

// Execute runs one command line of root, prints its error to errs and returns the exit code.
func Execute(ctx context.Context, root *cobra.Command, args []string, errs io.Writer) int {
	if len(args) > 0 && args[0] == "help" {
		args = append(slices.Clone(args[1:]), "--help")
	}
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errSilent):
		return exitFailure
	case errors.Is(err, context.Canceled) && ctx.Err() != nil:
		fmt.Fprintf(errs, "%s: interrupted\n", root.Name())
		return exitFailure
	}
	if code, ok := errors.AsType[exitCode](err); ok {
		return int(code)
	}
	if e, ok := errors.AsType[*fs.PathError](err); ok && e.Op == "write" && e.Path == os.Stdout.Name() {
		err = fmt.Errorf("the output cannot be written: %w", e.Err)
	}
	fmt.Fprintf(errs, "%s: %s\n", root.Name(), sentence(err))
	if _, ok := errors.AsType[usageError](err); ok {
		return exitUsage
	}
	return exitFailure
}

// sentence is an error on one line, fit for a terminal.
func sentence(err error) string {
	return clean(strings.Join(strings.Fields(err.Error()), " "))
}

// root makes the whole tree of commands, anew for each run.
func (p *Program) root() *cobra.Command {
	root := p.Root("cloudburst", "Read, write and share feeds, notified the moment they change",
		`Cloudburst is a server to read, write and share feeds. It shows new items of the
feeds that you follow as they arrive, publishes what you write in every feed
format, and is a hub for rssCloud, WebSub, CNWS and weblogs.com pings: when a
feed changes, it notifies every subscriber at once.

  cloudburst serve            starts the server
  cloudburst ping FEED        reports that a feed changed
  cloudburst publish TEXT     adds a post to a feed file, and pings
  cloudburst listen FEED      waits for changes of a feed and prints them
  cloudburst sources add URL  follows a feed; "opml import" follows a whole list
  cloudburst river            shows new items of the followed feeds, live
  cloudburst parse FEED       prints a feed of any format as JSON
  cloudburst convert FEED     writes a feed in another format
  cloudburst user add NAME    creates an account, with a page and a feed

Settings are flags, environment variables (--admin.listen is
CLOUDBURST_ADMIN_LISTEN) and keys of a TOML file (--config); "cloudburst config"
explains each and prints what is in force.`)
	root.AddCommand(p.serve(), p.config(), p.ping(), p.listen(), p.parse(), p.discover(), p.validate(), p.subscriptions(), p.topics(), p.log(),
		p.sweep(), p.backup(), p.restore(), p.migrate(), p.status(), p.healthcheck(), p.version(), p.completion(), p.man())
	root.AddCommand(p.explain(), p.opml(), p.doctor())
	root.AddCommand(p.websub(), p.changes())
	root.AddCommand(p.relay(), p.user(), p.feed(), p.convert(), p.politeness())
	root.AddCommand(p.sources(), p.items(), p.river(), p.notices())
	root.AddCommand(p.publishFile(), p.sinks(), p.testFeed())
	root.AddCommand(p.post(), p.posts())
	root.AddCommand(p.moved()...)
	return root
}

// Root makes the command above all others of a program, on the input and outputs of p.
func (p *Program) Root(name, short, long string) *cobra.Command {
	root := Group(name, short, long)
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SetIn(p.In)
	root.SetOut(p.Out)
	root.SetErr(p.Err)
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetHelpCommand(&cobra.Command{Hidden: true, Use: "no-help"})
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		if c.HasParent() && c.HasSubCommands() && flagless(c) {
			return usagef("%s has no flags of its own: behind it comes one of %s, and then the flags", c.CommandPath(), strings.Join(below(c), ", "))
		}
		return usageError{config.UnknownFlag(err, c.Flags())}
	})
	return root
}

// Group makes a command that only has others below it.
func Group(use, short, long string) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Long: long,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			names := below(c)
			switch {
			case len(args) == 0 && !c.HasParent():
				return c.Help()
			case len(args) == 0:
				return usagef("%s needs one of %s behind it", c.CommandPath(), strings.Join(names, ", "))
			}
			if near := config.Nearest(args[0], names); near != "" {
				return usagef("%s has no command %q: did you mean %s?", c.CommandPath(), args[0], near)
			}
			return usagef("%s has no command %q: there are %s", c.CommandPath(), args[0], strings.Join(names, ", "))
		},
	}
}

func flagless(c *cobra.Command) bool {
	some := false
	c.LocalFlags().VisitAll(func(f *pflag.Flag) { some = some || f.Name != "help" })
	return !some
}

// below names the commands of a group.
func below(c *cobra.Command) []string {
	var names []string
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, sub.Name())
		}
	}
	return names
}

// between checks the number of arguments and says what they are. most < 0 means any number.
func between(least, most int, what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return usagef("%s needs %s", c.CommandPath(), what)
		case most == 0 && len(args) > 0:
			return usagef("%s takes nothing behind it, not %q", c.CommandPath(), args[0])
		case most >= 0 && len(args) > most:
			return usagef("%s takes %s, not %d of them", c.CommandPath(), what, len(args))
		}
		return nil
	}
}

// load reads the settings that the command's flags, the environment and the file give.
func (p *Program) load(flags *pflag.FlagSet) (*config.Effective, error) {
	e, err := config.Load(config.Options{Flags: flags, Environ: p.Environ})
	if err != nil {
		return nil, usageError{err}
	}
	return e, nil
}

func (p *Program) logger(l config.Log) *slog.Logger {
	o := &slog.HandlerOptions{Level: l.SlogLevel()}
	if l.Format == "json" {
		return slog.New(slog.NewJSONHandler(p.Err, o))
	}
	return slog.New(slog.NewTextHandler(p.Err, o))
}

// oneOf is a flag value with a fixed choice of words.
type oneOf struct {
	value *string
	words []string
}

func (o oneOf) String() string {
	if o.value == nil {
		return ""
	}
	return *o.value
}

func (o oneOf) Type() string { return "word" }

func (o oneOf) Set(text string) error {
	for _, w := range o.words {
		if w == text {
			*o.value = text
			return nil
		}
	}
	if near := nearWord(text, o.words); near != "" {
		return fmt.Errorf("did you mean %s? it needs one of %s", near, strings.Join(o.words, ", "))
	}
	return fmt.Errorf("it needs one of %s", strings.Join(o.words, ", "))
}

// nearWord is the word that was probably meant: the newest version of what was typed
// ("rss": rss20), else the first that begins with it, else the one that differs least;
// "": none.
func nearWord(typed string, words []string) string {
	typed = strings.ToLower(typed)
	first, newest := "", ""
	for _, w := range words {
		rest, ok := strings.CutPrefix(w, typed)
		switch {
		case !ok || typed == "":
		case strings.Trim(rest, "0123456789") == "":
			newest = w // versions are in order
		case first == "":
			first = w
		}
	}
	return cmp.Or(newest, first, config.Nearest(typed, words))
}

// choose adds a flag with a fixed choice of words, which completion offers.
func choose(c *cobra.Command, value *string, name, usage string, words ...string) {
	c.Flags().Var(oneOf{value, words}, name, usage+" (`word`: "+strings.Join(words, ", ")+")")
	// The error says that the flag does not exist; it was added a line above.
	_ = c.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
}

// wait ends early with the context.
func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// isLocked reports that another process uses the data folder.
func isLocked(err error) bool { return fault.CodeOf(err) == fault.Conflict }
