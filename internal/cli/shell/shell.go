// Package shell contains the parts that all commands share: the streams and the settings
// of one run, errors and exit codes, tables and progress, reading inputs, and the
// connection to the server.
//
// Commands call the server by package client only. If no server is running, they call the
// handlers of the program in their own process.
package shell

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

// App is the program that commands open if no server is running. *app.App implements App.
type App interface {
	Admin() http.Handler
	Close() error
}

// Shell is one run of a command, with its streams, environment and network.
type Shell struct {
	In       io.Reader
	Out, Err io.Writer
	Environ  []string
	Version  string
	HTTP     rsscloud.HTTPClient // client that reads feeds and calls hubs; nil: the network
	// Open opens the program with a configuration. The program does not listen on the network.
	Open func(ctx context.Context, cfg config.Config, log *slog.Logger) (App, error)
	// Serve runs the server until ctx ends. It prints its startup messages to out.
	Serve func(ctx context.Context, cfg config.Config, log *slog.Logger, out io.Writer) error

	warned bool // LoadConfig has printed its warnings
}

// Execute runs one command line of root, prints its error to errs and returns the exit code.
func Execute(ctx context.Context, root *cobra.Command, args []string, errs io.Writer) int {
	if len(args) > 0 && args[0] == "help" {
		args = append(slices.Clone(args[1:]), "--help")
	}
	if len(args) > 0 && (args[0] == cobra.ShellCompRequestCmd || args[0] == cobra.ShellCompNoDescRequestCmd) {
		plainUsage(root)
	}
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if help, ok := root.OutOrStdout().(helpWriter); ok && err == nil {
		err = help.failure()
	}
	switch {
	case err == nil:
		return ExitOK
	case errors.Is(err, ErrReported):
		return ExitFailure
	case errors.Is(err, context.Canceled) && ctx.Err() != nil:
		fmt.Fprintf(errs, "%s: interrupted\n", root.Name())
		return ExitFailure
	}
	if code, ok := errors.AsType[ExitCode](err); ok {
		return code.Code
	}
	if e, ok := errors.AsType[*fs.PathError](err); ok && e.Op == "write" && e.Path == os.Stdout.Name() {
		err = fmt.Errorf("the output cannot be written: %w", e.Err)
	}
	fmt.Fprintf(errs, "%s: %s\n", root.Name(), Sentence(err))
	if _, ok := errors.AsType[UsageError](err); ok {
		return ExitUsage
	}
	return ExitFailure
}

// Root returns the root command of a program, with the streams of p.
func (p *Shell) Root(name, short, long string) *cobra.Command {
	root := Group(name, short, long)
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SetIn(p.In)
	out := &output{w: p.Out}
	root.SetOut(helpWriter{out})
	if !IsTerminal(p.Out) { // commands ask whether p.Out is a terminal, and how wide
		p.Out = out
	}
	root.PersistentPreRunE = func(c *cobra.Command, _ []string) error { return checkLimit(c) }
	root.SetErr(p.Err)
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetHelpCommand(&cobra.Command{Hidden: true, Use: "no-help"})
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		if args := c.Flags().Args(); c.HasSubCommands() && len(args) > 0 {
			return c.RunE(c, args) // the unknown command is the cause: its flags would be known
		}
		if c.HasParent() && c.HasSubCommands() && flagless(c) {
			return Usagef("%s has no flags: write one of %s before the flags", c.CommandPath(), strings.Join(subcommands(c), ", "))
		}
		return AsUsageError(config.UnknownFlag(invalidFlag(err), c.Flags()))
	})
	return root
}

// LoadConfig reads the settings from the flags, the environment and the configuration file. It
// prints a warning for each setting with a former name.
func (p *Shell) LoadConfig(flags *pflag.FlagSet) (*config.Effective, error) {
	e, err := config.Load(config.Options{Flags: flags, Environ: p.Environ})
	if err != nil {
		return nil, AsUsageError(err)
	}
	renamed := e.Renamed
	if old := flags.Lookup("admin.listen"); old != nil && old.Hidden && old.Changed {
		renamed = append(renamed, config.Renamed{Old: "--admin.listen", New: "--server"})
	}
	if !p.warned {
		for _, r := range renamed {
			fmt.Fprintf(p.Err, "cloudburst: warning: %s\n", r)
		}
	}
	p.warned = true
	return e, nil
}

// UserAgent returns the User-Agent of requests that commands send.
func (p *Shell) UserAgent() string { return "Cloudburst/" + p.Version + " (command line)" }

// isLocked reports whether err means that another process uses the data folder.
func isLocked(err error) bool { return fault.CodeOf(err) == fault.Conflict }
