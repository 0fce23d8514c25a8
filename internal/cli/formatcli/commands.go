// Package formatcli implements the commands that need no server: parse, validate, convert
// and discover feeds, and score feed readers.
package formatcli

import (
	"github.com/spf13/cobra"

	"cloudburst/internal/cli/shell"
)

// commands creates the commands of this package. All commands share one shell.
type commands struct{ *shell.Shell }

// Commands returns the commands of this package.
func Commands(s *shell.Shell) []*cobra.Command {
	p := &commands{s}
	return []*cobra.Command{p.parse(), p.discover(), p.validate(), p.convert(), p.politeness()}
}
