package shell

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
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
