package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// about is the description of the program.
const about = `Cloudburst is a server to read, write and share feeds. It shows new items of the
feeds that you follow as they arrive, publishes what you write in every feed
format, and is a hub for rssCloud, WebSub, CNWS and weblogs.com pings: when a
feed changes, it notifies every subscriber at once.
`

// begin is the text that the program prints if the command line has no command.
const begin = `Cloudburst reads, writes and shares feeds. Do these three things first:

  1. cloudburst serve                     start the server
  2. open the set-up link that it prints  create your account in the browser
  3. cloudburst sources add URL           follow a feed; new items appear at /river

"cloudburst help" lists all commands and the most important settings.
`

// first returns a function that prints the first steps if there is no command, and otherwise calls
// run.
func (p *program) first(run func(*cobra.Command, []string) error) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			_, err := io.WriteString(p.Out, begin)
			return err
		}
		return run(c, args)
	}
}

// firstSettings returns the settings that most users need, with a short description of each.
func firstSettings() [][2]string {
	return [][2]string{
		{"listen", "address of the server (:5337)"},
		{"public-url", "URL by which others reach the server"},
		{"data", "folder for all data (cloudburst-data)"},
		{"database", "PostgreSQL URL, in place of SQLite in the data folder"},
		{"tls.domains", "host names for certificates from Let's Encrypt"},
		{"accounts.registration", "closed: you create accounts; open: every visitor can"},
	}
}

// settingsFirst returns the help text about the settings that most users need.
func settingsFirst() string {
	var b strings.Builder
	b.WriteString("\nSix settings that most people need; \"cloudburst config\" explains all:\n\n")
	for _, s := range firstSettings() {
		fmt.Fprintf(&b, "  --%-22s %s\n", s[0], s[1])
	}
	b.WriteString(`
A setting is a flag, an environment variable (--admin.listen is
CLOUDBURST_ADMIN_LISTEN) or a key of a TOML file (--config).`)
	return b.String()
}

// group is a group of commands in the help.
type group struct {
	id, title string
	commands  []string
}

// groups lists all groups of commands by audience. A command that is in no group appears under
// "more".
func groups() []group {
	return []group{
		{"read", "Read", []string{"sources", "river", "items", "people", "thread", "explain", "opml", "filters", "notices"}},
		{"write", "Write", []string{"post", "posts", "publish", "feed", "group", "site", "replies"}},
		{"hub", "Hub", []string{"ping", "listen", "relay", "topics", "subscriptions", "changes", "websub", "log", "sinks", "testfeed"}},
		{"operate", "Operate", []string{"serve", "config", "status", "doctor", "user", "block", "audit", "backup", "restore", "migrate", "sweep", "healthcheck"}},
		{"formats", "Formats", []string{"parse", "convert", "discover", "validate", "politeness"}},
		{"more", "More", []string{"completion", "man", "version"}},
	}
}

// inGroups assigns each command of root to its group, and sorts the commands by group.
func inGroups(root *cobra.Command) {
	for _, g := range groups() {
		root.AddGroup(&cobra.Group{ID: g.id, Title: g.title + ":"})
	}
	root.SetHelpCommandGroupID("more")
	for _, c := range root.Commands() {
		c.GroupID = groupOf(c.Name())
	}
}

func groupOf(name string) string {
	for _, g := range groups() {
		if slices.Contains(g.commands, name) {
			return g.id
		}
	}
	return "more"
}
