// Package labcli implements the command line of the laboratory, the program cloudburst-lab. It
// measures the server, and calculates the machines that an installation needs from the measured
// costs.
//
// The measurements start this executable again, as the server and as the programs for comparison.
// Therefore "cloudburst-lab serve" runs the server of package cli. Start with [Main].
package labcli

import (
	"context"

	"github.com/spf13/cobra"

	"cloudburst/internal/cli"
	"cloudburst/internal/cli/shell"
	"cloudburst/lab/bench"
)

// Main runs the command of this process and returns its exit code.
func Main() int { return cli.RunProcess(cli.New(), run) }

// run runs one command line and returns its exit code. args does not contain the name of the
// program.
func run(ctx context.Context, p *shell.Shell, args []string) int {
	if len(args) > 0 && args[0] == "serve" {
		return cli.Run(ctx, p, args)
	}
	return shell.Execute(ctx, Root(p), args, p.Err)
}

// Root returns the root command with all subcommands.
func Root(p *shell.Shell) *cobra.Command {
	root := p.Root("cloudburst-lab", "Measure Cloudburst, and plan an installation of any size",
		`Measures the server on this machine, and computes from the result what a hub of any
size needs. This program belongs to the source: packages and containers have only
cloudburst, the server.

  cloudburst-lab bench fanout     one feed changes: how fast are all its subscribers notified?
  cloudburst-lab bench river      500 feeds, 100,000 items: how fast are pages, marks and pings?
  cloudburst-lab compare --yarr FILE   the same work by another program, next to this one
  cloudburst-lab simulate         how many machines does a hub of the whole web need?`)
	root.AddCommand(benchCommand(), compareCommand(), simulateCommand())
	return root
}

// benchCommand returns the parent command of all measurements.
func benchCommand() *cobra.Command {
	c := shell.Group("bench", "Measure this program on this machine's loopback addresses", `Each measurement starts processes of its own on a temporary folder, prints a table
(or one JSON document) and leaves nothing behind.`)
	c.AddCommand(bench.Commands()...)
	c.AddCommand(pagesCommand(), constantCommand())
	return c
}
