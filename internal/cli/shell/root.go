package shell

import (
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// helpWriter is the output of cobra, which prints help and completions and ignores errors. It stores
// the first error for Execute.
type helpWriter struct {
	w   io.Writer
	err error
}

// Write never fails, because cobra would print the error.
func (h *helpWriter) Write(p []byte) (int, error) {
	if h.err == nil {
		_, h.err = h.w.Write(p)
	}
	return len(p), nil
}

// checkLimit rejects a negative --limit of any command.
func checkLimit(c *cobra.Command) error {
	if f := c.Flags().Lookup("limit"); f != nil && strings.HasPrefix(f.Value.String(), "-") {
		return Usagef("invalid value %s for --limit: must be 0 or more", f.Value)
	}
	return nil
}

// plainUsage removes the backquotes from the usage texts of all flags, because completions show
// these texts unchanged.
func plainUsage(c *cobra.Command) {
	c.LocalFlags().VisitAll(func(f *pflag.Flag) { _, f.Usage = pflag.UnquoteUsage(f) })
	for _, sub := range c.Commands() {
		plainUsage(sub)
	}
}
