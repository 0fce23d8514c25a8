package cli

import "github.com/spf13/cobra"

// benchCommands are the measurements.
func benchCommands() []*cobra.Command { return nil }
