// Package hubcli implements the commands for hubs: pings, subscriptions, notifications,
// and the state of topics.
package hubcli

import (
	"github.com/spf13/cobra"

	"cloudburst/internal/cli/hubclient"
	"cloudburst/internal/cli/shell"
)

// commands creates the commands of this package. All commands share one shell.
type commands struct{ hubclient.Client }

// Commands returns the commands of this package.
func Commands(s *shell.Shell) []*cobra.Command {
	p := &commands{hubclient.Client{Shell: s}}
	return []*cobra.Command{p.ping(), p.listen(), p.subscriptions(), p.topics(), p.log(), p.websub(), p.changes(), p.relay(), p.testFeed()}
}
