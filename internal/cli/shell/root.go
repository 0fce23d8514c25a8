package shell

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// output is the output of a command. It stores the first error, so that a command fails if a part of
// its output is lost.
type output struct {
	w   io.Writer
	err atomic.Pointer[error]
}

// Write writes to the output.
func (o *output) Write(p []byte) (int, error) {
	n, err := o.w.Write(p)
	if err != nil {
		o.err.CompareAndSwap(nil, &err)
	}
	return n, err
}

// failure returns the first error; nil: everything is written.
func (o *output) failure() error {
	if err := o.err.Load(); err != nil {
		return *err
	}
	return nil
}

// helpWriter is the output of cobra, which prints help and completions and ignores errors.
type helpWriter struct{ *output }

// Write never fails, because cobra would print the error.
func (h helpWriter) Write(p []byte) (int, error) {
	_, _ = h.output.Write(p) // Execute reports the error
	return len(p), nil
}

// invalidFlag describes an invalid value of a flag, without the text of the package that parsed it.
func invalidFlag(err error) error {
	e, ok := errors.AsType[*pflag.InvalidValueError](err)
	if !ok {
		return err
	}
	why := e.Unwrap()
	switch typ := e.GetFlag().Value.Type(); {
	case errors.Is(why, strconv.ErrRange):
		why = errors.New("must have at most 18 digits")
	case typ == "int" || typ == "int64":
		why = errors.New("must be a whole number")
	case typ == "float64":
		why = errors.New("must be a number")
	case typ == "bool":
		why = errors.New("must be true or false")
	case typ == "duration":
		why = errors.New("must be a time such as 30s, 5m or 1h")
	}
	return fmt.Errorf("invalid value %q for --%s: %w", e.GetValue(), e.GetFlag().Name, why)
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
