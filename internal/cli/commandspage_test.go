package cli

import (
	"bytes"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"cloudburst/internal/cli/shell"
	"cloudburst/internal/config"
)

var update = flag.Bool("update", false, "write docs/reference/commands.md")

func TestCommandsPageContainsTheHelpOfAllCommands(t *testing.T) {
	t.Parallel()
	const file = "../../docs/reference/commands.md"
	want := commandsPage((&program{New()}).root())
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != want {
		t.Errorf("%s is outdated (%v): go test ./internal/cli -run CommandsPage -update", file, err)
	}
}

func TestEveryCommandIsInAGroup(t *testing.T) {
	t.Parallel()
	listed := map[string]bool{}
	for _, g := range groups() {
		for _, name := range g.commands {
			listed[name] = true
		}
	}
	for _, c := range (&program{New()}).root().Commands() {
		if c.IsAvailableCommand() && !listed[c.Name()] {
			t.Errorf("%s is in no group of the help", c.Name())
		}
		delete(listed, c.Name())
	}
	for name := range listed {
		t.Errorf("the group of %s names a command that does not exist", name)
	}
}

func TestProgramWithoutCommandPrintsThreeFirstSteps(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	s := New()
	s.Out = &out
	if code := Run(t.Context(), s, nil); code != shell.ExitOK || !strings.Contains(out.String(), "3. ") || strings.Count(out.String(), "\n") > 10 {
		t.Errorf("%d:\n%s", code, out.String())
	}
	out.Reset()
	if code := Run(t.Context(), s, []string{"help"}); code != shell.ExitOK {
		t.Error(code)
	}
	for _, name := range []string{"Read:", "Write:", "Hub:", "Operate:", "Formats:"} {
		if !strings.Contains(out.String(), name) {
			t.Errorf("the help does not have %s", name)
		}
	}
	for _, s := range firstSettings() {
		if !slices.ContainsFunc(config.Settings(), func(is config.Setting) bool { return is.Name == s[0] }) {
			t.Errorf("%s is not a setting", s[0])
		}
	}
}
