// Package operatecli implements the commands for the operator of a server: start, data,
// users and health.
package operatecli

import (
	"github.com/spf13/cobra"

	"cloudburst/internal/cli/shell"
)

// commands creates the commands of this package. All commands share one shell.
type commands struct{ *shell.Shell }

// Commands returns the commands of this package.
func Commands(s *shell.Shell) []*cobra.Command {
	p := &commands{s}
	return []*cobra.Command{p.serve(), p.config(), p.sweep(), p.backup(), p.restore(), p.migrate(), p.status(), p.healthcheck(), p.version(), p.doctor(), p.user(), p.block(), p.audit()}
}
