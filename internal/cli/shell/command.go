package shell

import (
	"cmp"
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
	ExitFailure = 1 // it was tried and did not work
	ExitUsage   = 2 // it was not understood, and nothing was tried
)

// UsageError is a mistake in the command line, as against a failure of what it asked for.
type UsageError struct{ error }

// Unwrap returns the mistake.
func (e UsageError) Unwrap() error { return e.error }

// AsUsageError marks err as a mistake in the command line.
func AsUsageError(err error) error { return UsageError{err} }

// Usagef makes a mistake in the command line from a format, as fmt.Errorf does.
func Usagef(format string, args ...any) error { return AsUsageError(fmt.Errorf(format, args...)) }

// ErrReported is a failure that was already printed.
var ErrReported = errors.New("failed")

// Sentence is an error on one line, fit for a terminal.
func Sentence(err error) string {
	return Clean(strings.Join(strings.Fields(err.Error()), " "))
}

// Group makes a command that only has others below it.
func Group(use, short, long string) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Long: long,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			names := below(c)
			switch {
			case len(args) == 0 && !c.HasParent():
				return c.Help()
			case len(args) == 0:
				return Usagef("%s needs one of %s behind it", c.CommandPath(), strings.Join(names, ", "))
			}
			if near := config.Nearest(args[0], names); near != "" {
				return Usagef("%s has no command %q: did you mean %s?", c.CommandPath(), args[0], near)
			}
			return Usagef("%s has no command %q: there are %s", c.CommandPath(), args[0], strings.Join(names, ", "))
		},
	}
}

func flagless(c *cobra.Command) bool {
	some := false
	c.LocalFlags().VisitAll(func(f *pflag.Flag) { some = some || f.Name != "help" })
	return !some
}

// below names the commands of a group.
func below(c *cobra.Command) []string {
	var names []string
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, sub.Name())
		}
	}
	return names
}

// Between checks the number of arguments and says what they are. most < 0 means any number.
func Between(least, most int, what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return Usagef("%s needs %s", c.CommandPath(), what)
		case most == 0 && len(args) > 0:
			return Usagef("%s takes nothing behind it, not %q", c.CommandPath(), args[0])
		case most >= 0 && len(args) > most:
			return Usagef("%s takes %s, not %d of them", c.CommandPath(), what, len(args))
		}
		return nil
	}
}

// oneOf is a flag value with a fixed choice of words.
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
	for _, w := range o.words {
		if w == text {
			*o.value = text
			return nil
		}
	}
	if near := nearWord(text, o.words); near != "" {
		return fmt.Errorf("did you mean %s? it needs one of %s", near, strings.Join(o.words, ", "))
	}
	return fmt.Errorf("it needs one of %s", strings.Join(o.words, ", "))
}

// nearWord is the word that was probably meant: the newest version of what was typed
// ("rss": rss20), else the first that begins with it, else the one that differs least;
// "": none.
func nearWord(typed string, words []string) string {
	typed = strings.ToLower(typed)
	first, newest := "", ""
	for _, w := range words {
		rest, ok := strings.CutPrefix(w, typed)
		switch {
		case !ok || typed == "":
		case strings.Trim(rest, "0123456789") == "":
			newest = w // versions are in order
		case first == "":
			first = w
		}
	}
	return cmp.Or(newest, first, config.Nearest(typed, words))
}

// ChoiceFlag adds a flag with a fixed choice of words, which completion offers.
func ChoiceFlag(c *cobra.Command, value *string, name, usage string, words ...string) {
	c.Flags().Var(oneOf{value, words}, name, usage+" (`word`: "+strings.Join(words, ", ")+")")
	// The error says that the flag does not exist; it was added a line above.
	_ = c.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
}

// ExitCode is the exit code of another program, which has already printed what went wrong.
type ExitCode struct {
	Program string
	Code    int
}

// Error names the program and its code.
func (e ExitCode) Error() string { return fmt.Sprintf("%s ended with exit code %d", e.Program, e.Code) }
