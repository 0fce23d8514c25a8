package shell

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
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

// choices joins names for a message: "a, b or c".
func choices(names []string) string {
	last := max(0, len(names)-1)
	if last == 0 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:last], ", ") + " or " + names[last]
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

// oneOf is the value of a flag that accepts a fixed list of words.
type oneOf struct {
	value *string
	words []string
}

func (o oneOf) String() string {
	if o.value == nil {
		return ""
	}
	return *o.value
}

func (o oneOf) Type() string { return "word" }

func (o oneOf) Set(text string) error {
	if slices.Contains(o.words, text) {
		*o.value = text
		return nil
	}
	if near := nearWord(text, o.words); near != "" {
		return fmt.Errorf("did you mean %s? valid values: %s", near, strings.Join(o.words, ", "))
	}
	return fmt.Errorf("must be one of %s", strings.Join(o.words, ", "))
}

// nearWord returns the word that the user probably meant: the newest version of a typed format name
// (rss20 for "rss"), otherwise the first word with that prefix, otherwise the word with the fewest
// edits; "": no word is similar.
func nearWord(typed string, words []string) string {
	typed = strings.ToLower(typed)
	first, newest := "", ""
	for _, w := range words {
		rest, ok := strings.CutPrefix(w, typed)
		switch {
		case !ok || typed == "":
		case strings.Trim(rest, "0123456789") == "":
			newest = w // words list older versions first
		case first == "":
			first = w
		}
	}
	return cmp.Or(newest, first, config.Nearest(typed, words))
}

// ChoiceFlag adds a flag that accepts a fixed list of words. Shell completion suggests the words.
func ChoiceFlag(c *cobra.Command, value *string, name, usage string, words ...string) {
	c.Flags().Var(oneOf{value, words}, name, usage+" (`word`: "+strings.Join(words, ", ")+")")
	// This cannot fail: the only error is that the flag does not exist, and the line above adds it.
	_ = c.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
}

// ExitCode is the exit code of another program that has already printed its error.
type ExitCode struct {
	Program string
	Code    int
}

// Error returns the name and the exit code of the program.
func (e ExitCode) Error() string { return fmt.Sprintf("%s ended with exit code %d", e.Program, e.Code) }
