// Package cli is the command line: one command for the server, one for authors,
// one for aggregators, and those by which an operator looks after a server.
//
// The operator's commands know the server by package client only, be it running
// somewhere or opened in this very process because none runs. Start with [Main]
// and [Program].
package cli

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"cloudburst/internal/store"
)

// Main runs the command of this process and returns its exit code.
func Main() int { return New().Main((*Program).Run) }

// New returns the program of this process.
func New() *Program {
	return &Program{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Environ: os.Environ(), Version: version, Open: openApp, Serve: ServeOn(store.Open)}
}

// Main calls run with the command line of this process, until a signal ends the context.
func (p *Program) Main(run func(p *Program, ctx context.Context, args []string) int) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	return run(p, ctx, os.Args[1:])
}

// Run runs one command line, without the program's name in front.
func (p *Program) Run(ctx context.Context, args []string) int {
	return Execute(ctx, p.root(), args, p.Err)
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
