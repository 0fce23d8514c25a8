package cli

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"cloudburst/internal/cli/shell"
	"cloudburst/internal/config"
)

func (p *program) man() *cobra.Command {
	return &cobra.Command{
		Use:     "man [FILE]",
		Short:   "Print the manual page, or write it to a file",
		Long:    "Prints the manual page in roff. It has the same contents as the help of all commands.",
		Example: "  cloudburst man | man -l -",
		Args:    shell.Between(0, 1, "at most one FILE"),
		RunE: func(c *cobra.Command, args []string) error {
			page := manPage(c.Root(), p.Version)
			if len(args) == 0 {
				_, err := io.WriteString(p.Out, page)
				return err
			}
			if err := os.WriteFile(args[0], []byte(page), 0o644); err != nil {
				return fmt.Errorf("the manual page cannot be written: %w", err)
			}
			return nil
		},
	}
}

// manPage returns the manual page cloudburst(1) in the roff format. One page describes all
// commands.
func manPage(root *cobra.Command, version string) string {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH CLOUDBURST 1 \"\" \"cloudburst %s\" \"User Commands\"\n", roff(version))
	fmt.Fprintf(&b, ".SH NAME\ncloudburst \\- %s\n", roff(root.Short))
	b.WriteString(".SH SYNOPSIS\n.B cloudburst\n.I command\n[flags]\n")
	b.WriteString(".SH DESCRIPTION\n")
	paragraphs(&b, root.Long)
	b.WriteString(".SH COMMANDS\n")
	commands(&b, root)
	b.WriteString(".SH SETTINGS\n")
	b.WriteString("Each setting is a flag of \\fBserve\\fR and \\fBconfig\\fR, an environment variable, and a key of the TOML file.\n")
	for _, s := range config.Settings() {
		fmt.Fprintf(&b, ".TP\n\\fB\\-\\-%s\\fR, \\fB%s\\fR\n%s\n", roff(s.Name), roff(s.Env()), roff(s.Doc))
		if s.Default != "" {
			fmt.Fprintf(&b, "Default: %s.\n", roff(s.Default))
		}
		if s.Secret {
			fmt.Fprintf(&b, "\\fB%s\\fR names a file that holds the value.\n", roff(s.EnvFile()))
		}
	}
	b.WriteString(".SH ENVIRONMENT\n.TP\n\\fBCLOUDBURST_CONFIG\\fR\nPath of the TOML file with settings, like \\-\\-config.\n.PP\nThe variables of the settings are listed above. An empty variable counts as not set.\n")
	b.WriteString(".SH EXIT STATUS\n.TP\n0\nSuccess.\n.TP\n1\nThe command failed.\n.TP\n2\nThe command line or the configuration is invalid; the command did nothing.\n")
	return b.String()
}

func commands(b *strings.Builder, c *cobra.Command) {
	for _, sub := range c.Commands() {
		if !sub.IsAvailableCommand() {
			continue
		}
		if sub.HasAvailableSubCommands() {
			commands(b, sub)
			continue
		}
		fmt.Fprintf(b, ".SS %s\n", roff(strings.TrimPrefix(sub.UseLine(), c.Root().Name()+" ")))
		text := cmp.Or(sub.Long, sub.Short+".")
		paragraphs(b, text)
		if sub.Example != "" {
			fmt.Fprintf(b, ".PP\n.nf\n%s\n.fi\n", roff(sub.Example))
		}
		if sub.Name() == "serve" || sub.Name() == "config" {
			b.WriteString(".PP\nEvery setting below is also a flag of this command.\n")
		}
		flags(b, sub)
	}
}

// flags writes the flags of a command. It omits settings, because the manual has a section for
// settings.
func flags(b *strings.Builder, c *cobra.Command) {
	settings := map[string]bool{"help": true}
	for _, s := range config.Settings() {
		settings[s.Name] = true
	}
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if settings[f.Name] || f.Hidden {
			return
		}
		value, usage := pflag.UnquoteUsage(f)
		name := "\\fB\\-\\-" + roff(f.Name) + "\\fR"
		if f.Shorthand != "" {
			name = "\\fB\\-" + roff(f.Shorthand) + "\\fR, " + name
		}
		if value != "" {
			name += " \\fI" + roff(value) + "\\fR"
		}
		fmt.Fprintf(b, ".TP\n%s\n%s\n", name, roff(usage))
	})
}

// paragraphs writes a text. Empty lines separate paragraphs, and indented lines stay unchanged.
func paragraphs(b *strings.Builder, text string) {
	verbatim, afterEmpty := false, false
	for line := range strings.SplitSeq(text, "\n") {
		indented := strings.HasPrefix(line, "  ")
		switch {
		case indented && !verbatim && afterEmpty:
			b.WriteString(".nf\n")
		case indented && !verbatim:
			b.WriteString(".PP\n.nf\n")
		case !indented && verbatim:
			b.WriteString(".fi\n")
		}
		verbatim, afterEmpty = indented, line == ""
		if afterEmpty {
			b.WriteString(".PP\n")
			continue
		}
		b.WriteString(roff(line) + "\n")
	}
	if verbatim {
		b.WriteString(".fi\n")
	}
}

// roff escapes characters that have a meaning in roff.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "…", "...").Replace(text)
	rows := strings.Split(text, "\n")
	for i, row := range rows {
		if strings.HasPrefix(row, ".") || strings.HasPrefix(row, "'") {
			rows[i] = `\&` + row
		}
	}
	return strings.Join(rows, "\n")
}
