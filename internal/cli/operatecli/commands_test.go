package operatecli

import (
	"context"

	"cloudburst/internal/cli/shell"
)

// inShell returns the commands of this package for a shell.
func inShell(s shell.Shell) *commands { return &commands{&s} }

// Run runs one command line as the program does.
func (p *commands) Run(ctx context.Context, args []string) int {
	root := p.Root("cloudburst", "", "")
	root.AddCommand(Commands(p.Shell)...)
	return shell.Execute(ctx, root, args, p.Err)
}
