package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"cloudburst/internal/cli/shell"
)

// laboratory is the name of the program for benchmarks and simulation.
const laboratory = "cloudburst-lab"

// stopLab is the maximum time in which the laboratory program must stop its processes after a
// signal.
const stopLab = time.Minute

// moved returns the commands that have moved to the laboratory program. Each command runs the
// laboratory program if it is in the folder of this program.
func (p *program) moved() []*cobra.Command {
	var list []*cobra.Command
	for _, name := range []string{"bench", "simulate"} {
		list = append(list, &cobra.Command{
			Use: name, Hidden: true, DisableFlagParsing: true,
			Short: "Moved to " + laboratory + " " + name,
			RunE: func(c *cobra.Command, args []string) error {
				self, err := os.Executable()
				if err != nil {
					return err
				}
				return p.runLab(c.Context(), filepath.Join(filepath.Dir(self), laboratory), append([]string{name}, args...))
			},
		})
	}
	return list
}

// runLab runs the laboratory program in the file, with the streams of p.
func (p *program) runLab(ctx context.Context, file string, args []string) error {
	if info, err := os.Stat(file); err != nil || info.IsDir() || info.Mode()&0o111 == 0 {
		return shell.Usagef("%[2]q is a command of %[1]s, the program for measurements. "+
			"There is no executable file %[3]s: run make build in the source, and then bin/%[1]s %[4]s", laboratory, args[0], file, strings.Join(args, " "))
	}
	fmt.Fprintf(p.Err, "cloudburst: %q is a command of %s now; running %s\n", args[0], laboratory, file)
	cmd := exec.CommandContext(ctx, file, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = p.In, p.Out, p.Err
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = stopLab
	err := cmd.Run()
	if e, ok := errors.AsType[*exec.ExitError](err); ok && e.Exited() {
		return shell.ExitCode{Program: laboratory, Code: e.ExitCode()}
	}
	return err
}
