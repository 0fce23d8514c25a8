// Package writecli implements the commands for authors: posts, feeds in files, hosted
// feeds and their ping targets.
package writecli

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
	return []*cobra.Command{p.feed(), p.publishFile(), p.targets(), p.post(), p.posts(), p.site(), p.group(), p.replies()}
}
