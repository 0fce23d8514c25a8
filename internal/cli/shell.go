package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"cloudburst/internal/config"
	"cloudburst/internal/fault"
	"cloudburst/protocol/rsscloud"
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
		return code.code
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
		return UsageError(config.UnknownFlag(err, c.Flags()))
	})
	return root
}

// load reads the settings that the command's flags, the environment and the file give.
func (p *Program) load(flags *pflag.FlagSet) (*config.Effective, error) {
	e, err := config.Load(config.Options{Flags: flags, Environ: p.Environ})
	if err != nil {
		return nil, UsageError(err)
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

func (p *Program) agent() string { return "Cloudburst/" + p.Version + " (command line)" }

// isLocked reports that another process uses the data folder.
func isLocked(err error) bool { return fault.CodeOf(err) == fault.Conflict }
