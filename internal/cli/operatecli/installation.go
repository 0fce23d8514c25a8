package operatecli

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"cloudburst/client"
	"cloudburst/internal/app"
	"cloudburst/internal/checkup"
	"cloudburst/internal/cli/shell"
	"cloudburst/internal/text"
)

// installation checks the installation: the running server, or the data folder.
func (e *examination) installation(c *cobra.Command) error {
	for _, name := range []string{"hub", "no-ping", "watch", "callback"} {
		if c.Flags().Changed(name) {
			return shell.Usagef("--%s needs a FEED, as in cloudburst doctor https://example.org/rss.xml", name)
		}
	}
	found, where, err := e.p.lookAtInstallation(c)
	if err != nil {
		return err
	}
	if e.json {
		err = shell.JSONLines(e.p.Out).Encode(found)
	} else {
		err = e.printInstallation(found, where)
	}
	if err != nil {
		return err
	}
	if found.Problems > 0 || e.strict && found.Warnings > 0 {
		return shell.ErrReported
	}
	return nil
}

// lookAtInstallation asks the running server for the checks, or runs the checks in this process. If
// the store cannot be opened, that is a finding, and the other checks still run.
func (p *commands) lookAtInstallation(c *cobra.Command) (found client.Installation, where string, err error) {
	err = p.WithServer(c, false, func(ctx context.Context, s *shell.Connection) error {
		if where = "the server at " + s.Where; !s.Running {
			where = s.Where + " (no server is running)"
		}
		found, err = s.Installation(ctx)
		return err
	})
	if err == nil || errors.As(err, new(shell.UsageError)) || errors.As(err, new(shell.NoFolderError)) || c.Context().Err() != nil {
		return found, where, err
	}
	e, loading := p.LoadConfig(c.Flags())
	if loading != nil {
		return found, where, loading
	}
	found = client.Installation{}
	for _, f := range checkup.Check(app.FolderOnly(e.Config, err)) {
		found.Findings = append(found.Findings, client.Finding{ID: f.ID, Level: string(f.Level), Text: f.Text, Why: f.Why, Fix: f.Fix})
		switch f.Level {
		case checkup.Problem:
			found.Problems++
		case checkup.Warning:
			found.Warnings++
		}
	}
	return found, place(e.Config.Data), nil
}

// printInstallation prints the findings as text.
func (e *examination) printInstallation(found client.Installation, where string) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "Checking %s.\n\n", shell.Clean(where))
	for _, f := range found.Findings {
		text := f.Text
		if f.Level != string(checkup.OK) {
			text += " [" + f.ID + "]"
		}
		fmt.Fprintf(&b, "  %-*s", findingColumn-2, f.Level)
		wrap(&b, text)
		for _, more := range [][2]string{{"", f.Why}, {"What to do: ", f.Fix}} {
			if more[1] != "" {
				fmt.Fprintf(&b, "%*s", findingColumn, "")
				wrap(&b, more[0]+more[1])
			}
		}
	}
	verdict := "Passed"
	switch {
	case found.Problems > 0:
		verdict = "Failed"
	case found.Warnings > 0:
		verdict = "Passed with warnings"
	}
	fmt.Fprintf(&b, "\n%s: %s, %s.\n", verdict, text.Plural(found.Problems, "problem"), text.Plural(found.Warnings, "warning"))
	_, err := b.WriteTo(e.p.Out)
	return err
}
