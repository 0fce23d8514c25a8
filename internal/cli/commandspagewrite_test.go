package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"cloudburst/internal/config"
)

// commandsPage returns the content of docs/reference/commands.md: the help of all commands, sorted
// by group.
func commandsPage(root *cobra.Command) string {
	var b strings.Builder
	b.WriteString(`# Commands

The help of all commands. A command talks to the running server, or to the data folder when no server
runs, if it has the flag ` + "`--server`" + `; [operations.md](../guides/operations.md#which-server-a-command-calls) states
which server. Lists take ` + "`--json`" + ` for one object per line; [json.md](json.md) explains
the fields. Exit status: 0 success, 1 failure, 2 invalid command line or configuration.
`)
	for _, g := range groups() {
		fmt.Fprintf(&b, "\n## %s\n\n| command | does |\n| --- | --- |\n", g.title)
		for _, c := range root.Commands() {
			if c.GroupID == g.id && c.IsAvailableCommand() {
				fmt.Fprintf(&b, "| [`%s`](#%s) | %s |\n", c.CommandPath(), anchor(c), cell(c.Short))
			}
		}
		for _, c := range root.Commands() {
			if c.GroupID == g.id && c.IsAvailableCommand() {
				commandSections(&b, c)
			}
		}
	}
	return b.String()
}

// anchor returns the ID of the heading for a command.
func anchor(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "-") }

// cell escapes a text for a cell of a Markdown table.
func cell(text string) string {
	return strings.NewReplacer("|", "\\|", "<", "&lt;", "\n", " ", "*", "\\*").Replace(text)
}

func commandSections(b *strings.Builder, c *cobra.Command) {
	fmt.Fprintf(b, "\n### %s\n\n", c.CommandPath())
	if c.HasAvailableSubCommands() {
		b.WriteString("| command | does |\n| --- | --- |\n")
		for _, sub := range c.Commands() {
			if sub.IsAvailableCommand() {
				fmt.Fprintf(b, "| [`%s`](#%s) | %s |\n", strings.ReplaceAll(strings.TrimSuffix(sub.UseLine(), " [flags]"), "|", "\\|"), anchor(sub), cell(sub.Short))
			}
		}
		for _, sub := range c.Commands() {
			if sub.IsAvailableCommand() {
				commandSections(b, sub)
			}
		}
		return
	}
	text := c.Long
	if text == "" {
		text = c.Short + "."
	}
	fmt.Fprintf(b, "```\n%s\n\nUsage: %s\n", text, c.UseLine())
	if c.Example != "" {
		fmt.Fprintf(b, "\n%s\n", c.Example)
	}
	b.WriteString("```\n")
	flagTable(b, c)
}

// flagTable lists the flags of a command that are not settings.
func flagTable(b *strings.Builder, c *cobra.Command) {
	settings := map[string]bool{"help": true, "config": true}
	for _, s := range config.Settings() {
		settings[s.Name] = true
	}
	head, server := false, false
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if server = server || f.Name == "server"; settings[f.Name] || f.Hidden {
			return
		}
		if !head {
			b.WriteString("\n| flag | meaning |\n| --- | --- |\n")
			head = true
		}
		value, usage := pflag.UnquoteUsage(f)
		name := strings.TrimSpace("--" + f.Name + " " + value)
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		fmt.Fprintf(b, "| `%s` | %s |\n", name, cell(usage))
	})
	switch {
	case c.Name() == "serve" || c.Name() == "config":
		b.WriteString("\nEach [setting](settings.md) is also a flag.\n")
	case server:
		b.WriteString("\nAlso `--server`, `--data` and `--database` ([settings](settings.md)).\n")
	}
}
