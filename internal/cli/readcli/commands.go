// Package readcli implements the commands for users who follow feeds: the river, its
// sources and lists, forwarding, and explanations of the polling schedule.
package readcli

import (
	"github.com/spf13/cobra"

	"cloudburst/internal/cli/shell"
)

// commands creates the commands of this package. All commands share one shell.
type commands struct{ *shell.Shell }

// Commands returns the commands of this package.
func Commands(s *shell.Shell) []*cobra.Command {
	p := &commands{s}
	return []*cobra.Command{p.people(), p.thread(), p.explain(), p.opml(), p.sources(), p.items(), p.river(), p.notices(), p.filters()}
}
