package shell

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"cloudburst/internal/config"
)

// choices joins names for a message: "a, b or c".
func choices(names []string) string {
	last := max(0, len(names)-1)
	if last == 0 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:last], ", ") + " or " + names[last]
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
