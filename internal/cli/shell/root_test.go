package shell

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// execute runs a program with the command "feed list", which has the flags --limit and --user.
func execute(t *testing.T, p *Shell, args ...string) (code int, errs string) {
	t.Helper()
	var b bytes.Buffer
	p.Err = &b
	root := p.Root("cloudburst", "", "")
	feed := Group("feed", "Hosted feeds", "")
	list := &cobra.Command{Use: "list", Short: "List", RunE: func(*cobra.Command, []string) error {
		fmt.Fprintln(p.Out, "the list") // as commands do that leave write errors to Execute
		return nil
	}}
	list.Flags().Int("limit", 0, "at most this `number`; 0 means all")
	list.Flags().BoolP("json", "j", false, "")
	list.Flags().Duration("every", 0, "")
	list.Flags().Float64("share", 0, "")
	list.Flags().String("user", "", "only this `user`")
	feed.AddCommand(list)
	root.AddCommand(feed)
	code = Execute(t.Context(), root, args, &b)
	return code, b.String()
}

// full is an output without space.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

func TestCommandsFailIfTheirOutputCannotBeWritten(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"help"}, {}, {"feed", "list", "--help"}, {"feed", "list"}} {
		if code, errs := execute(t, &Shell{Out: full{}}, args...); code != ExitFailure || errs != "cloudburst: no space left on device\n" {
			t.Errorf("%q: exit %d, %q", args, code, errs)
		}
	}
}

func TestNegativeLimitIsRejected(t *testing.T) {
	t.Parallel()
	if code, errs := execute(t, &Shell{Out: &bytes.Buffer{}}, "feed", "list", "--limit", "-1"); code != ExitUsage || errs != "cloudburst: invalid value -1 for --limit: must be 0 or more\n" {
		t.Errorf("exit %d, %q", code, errs)
	}
	if code, errs := execute(t, &Shell{Out: &bytes.Buffer{}}, "feed", "list", "--limit", "0"); code != ExitOK || errs != "" {
		t.Errorf("exit %d, %q", code, errs)
	}
}

func TestInvalidValuesOfFlagsNameWhatIsValid(t *testing.T) {
	t.Parallel()
	for arg, want := range map[string]string{
		"--limit=x":                    `"x" for --limit: must be a whole number`,
		"--limit=1.5":                  `"1.5" for --limit: must be a whole number`,
		"--limit=":                     `"" for --limit: must be a whole number`,
		"--limit=99999999999999999999": `"99999999999999999999" for --limit: must have at most 18 digits`,
		"--json=x":                     `"x" for --json: must be true or false`,
		"-j=x":                         `"x" for --json: must be true or false`,
		"--every=x":                    `"x" for --every: must be a time such as 30s, 5m or 1h`,
		"--share=x":                    `"x" for --share: must be a number`,
	} {
		if code, errs := execute(t, &Shell{Out: &bytes.Buffer{}}, "feed", "list", arg); code != ExitUsage || errs != "cloudburst: invalid value "+want+"\n" {
			t.Errorf("%s: exit %d, %q; want %q", arg, code, errs, want)
		}
	}
}

func TestUnknownCommandIsReportedBeforeItsFlags(t *testing.T) {
	t.Parallel()
	for want, args := range map[string][]string{
		`cloudburst feed has no command "end": use list`:                   {"feed", "end", "--user", "x"},
		`cloudburst feed has no flags: write one of list before the flags`: {"feed", "--user", "x"},
		`cloudburst has no command "fed": did you mean feed?`:              {"fed", "--user", "x"},
	} {
		if code, errs := execute(t, &Shell{Out: &bytes.Buffer{}}, args...); code != ExitUsage || errs != "cloudburst: "+want+"\n" {
			t.Errorf("%q: exit %d, %q; want %q", args, code, errs, want)
		}
	}
}

func TestCompletionOfFlagsHasNoBackquotes(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	code, _ := execute(t, &Shell{Out: &out}, cobra.ShellCompRequestCmd, "feed", "list", "--")
	if text := out.String(); code != ExitOK || !strings.Contains(text, "--limit\tat most this number; 0 means all\n") || strings.Contains(text, "`") {
		t.Errorf("exit %d: %s", code, text)
	}
}
