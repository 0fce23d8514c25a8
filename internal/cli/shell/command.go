package shell

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"cloudburst/internal/config"
)

// Exit codes.
const (
	ExitOK      = 0
	ExitFailure = 1 // the command failed
	ExitUsage   = 2 // the command line or the configuration is invalid
)

// UsageError is an error in the command line, not a failure of the command.
type UsageError struct{ error }

// Unwrap returns the wrapped error.
func (e UsageError) Unwrap() error { return e.error }

// AsUsageError marks err as an error in the command line.
func AsUsageError(err error) error { return UsageError{err} }

// Usagef returns a UsageError with a formatted message, like fmt.Errorf.
func Usagef(format string, args ...any) error { return AsUsageError(fmt.Errorf(format, args...)) }

// ErrReported means that the command has failed and has already printed the reason.
var ErrReported = errors.New("failed")

// Sentence returns the message of an error on one line, without control characters.
func Sentence(err error) string {
	return Clean(strings.Join(strings.Fields(err.Error()), " "))
}

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

// Between checks that a command has at least required and at most limit arguments. A negative limit
// allows any number. what describes the arguments in errors.
func Between(required, limit int, what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		switch {
		case len(args) < required:
			return Usagef("%s needs %s", c.CommandPath(), what)
		case limit == 0 && len(args) > 0:
			return Usagef("%s takes no arguments, but got %q", c.CommandPath(), args[0])
		case limit >= 0 && len(args) > limit:
			return Usagef("%s takes %s, but got %d arguments", c.CommandPath(), what, len(args))
		}
		return nil
	}
}

// ExitCode is the exit code of another program that has already printed its error.
type ExitCode struct {
	Program string
	Code    int
}

// Error returns the name and the exit code of the program.
func (e ExitCode) Error() string { return fmt.Sprintf("%s ended with exit code %d", e.Program, e.Code) }
