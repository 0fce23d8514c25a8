package shell

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"cloudburst/internal/config"
)

// Group returns a command that only has subcommands.
func Group(use, short, long string) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Long: long,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			names := subcommands(c)
			switch {
			case len(args) == 0 && !c.HasParent():
				return c.Help()
			case len(args) == 0:
				return Usagef("%s needs a command: %s", c.CommandPath(), choices(names))
			}
			if near := config.Nearest(args[0], names); near != "" {
				return Usagef("%s has no command %q: did you mean %s?", c.CommandPath(), args[0], near)
			}
			return Usagef("%s has no command %q: use %s", c.CommandPath(), args[0], choices(names))
		},
	}
}

// flagless reports whether a command has no flag except --help.
func flagless(c *cobra.Command) bool {
	some := false
	c.LocalFlags().VisitAll(func(f *pflag.Flag) { some = some || f.Name != "help" })
	return !some
}

// subcommands returns the names of the visible commands of a group.
func subcommands(c *cobra.Command) []string {
	var names []string
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, sub.Name())
		}
	}
	return names
}
