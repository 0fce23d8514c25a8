// Package formatcli has the commands about documents and programs, which need no server:
// reading, checking and converting feeds, finding them, and scoring readers.
package formatcli

import (
	"github.com/spf13/cobra"

	"cloudburst/internal/cli/shell"
)

// commands makes the commands of this package, which run in one shell.
type commands struct{ *shell.Shell }

// Commands are the commands of this package.
func Commands(s *shell.Shell) []*cobra.Command {
	p := &commands{s}
	return []*cobra.Command{p.parse(), p.discover(), p.validate(), p.convert(), p.politeness()}
}
