// Package cli is the command line of the program cloudburst. It joins the commands of
// packages readcli, writecli, hubcli, operatecli and formatcli to one tree, and adds the
// manual page and shell completion. Start with [Main] and [Run].
package cli

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"cloudburst/internal/cli/formatcli"
	"cloudburst/internal/cli/hubcli"
	"cloudburst/internal/cli/operatecli"
	"cloudburst/internal/cli/readcli"
	"cloudburst/internal/cli/shell"
	"cloudburst/internal/cli/writecli"
	"cloudburst/internal/store"
)

// Main runs the command of this process and returns its exit code.
func Main() int { return RunProcess(New(), Run) }

// New returns the shell of this process: its streams, environment and version.
func New() *shell.Shell {
	return &shell.Shell{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Environ: os.Environ(), Version: version, Open: openApp, Serve: ServeOn(store.Open)}
}

// RunProcess calls run with the command line of this process. A signal cancels the context.
func RunProcess(s *shell.Shell, run func(ctx context.Context, s *shell.Shell, args []string) int) int {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // nohup ignores SIGHUP
		signal.Notify(signals, syscall.SIGHUP)
	}
	go func() {
		<-signals
		signal.Ignore(syscall.SIGHUP) // the end of a terminal sends several
		signal.Stop(signals)          // stop before the context is canceled, so that a second signal ends the process at once
		cancel()
	}()
	return run(ctx, s, os.Args[1:])
}

// Run runs one command line; args does not include the name of the program.
func Run(ctx context.Context, s *shell.Shell, args []string) int {
	return shell.Execute(ctx, (&program{s}).root(), args, s.Err)
}

// program creates the command tree, whose commands share one shell.
type program struct{ *shell.Shell }

// root creates the whole command tree for one run.
func (p *program) root() *cobra.Command {
	root := p.Root("cloudburst", "Read, write and share feeds, notified the moment they change", about+settingsFirst())
	root.RunE = p.first(root.RunE)
	root.AddCommand(operatecli.Commands(p.Shell)...)
	root.AddCommand(hubcli.Commands(p.Shell)...)
	root.AddCommand(readcli.Commands(p.Shell)...)
	root.AddCommand(writecli.Commands(p.Shell)...)
	root.AddCommand(formatcli.Commands(p.Shell)...)
	root.AddCommand(p.completion(), p.man())
	root.AddCommand(p.moved()...)
	inGroups(root)
	return root
}
