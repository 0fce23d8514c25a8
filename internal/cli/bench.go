package cli

import (
	"github.com/spf13/cobra"

	"cloudburst/lab/bench"
)

// benchCommands are the measurements.
func benchCommands() []*cobra.Command {
	c := group("bench", "Measure this program on this machine's loopback addresses", `Each measurement starts processes of its own on a temporary folder, prints a table
(or one JSON document) and leaves nothing behind.`)
	c.AddCommand(bench.Commands()...)
	return []*cobra.Command{c}
}
