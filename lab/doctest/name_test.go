package doctest

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"cloudburst/internal/cli"
	"cloudburst/internal/cli/shell"
	"cloudburst/internal/config"
	"cloudburst/lab/labcli"
)

// manual returns the flags of each command, by program and command. A command is for example
// "user add".
func manual(t *testing.T) map[string]map[string][]string {
	t.Helper()
	var out, errs bytes.Buffer
	p := shell.Shell{Out: &out, Err: &errs, In: strings.NewReader("")}
	return map[string]map[string][]string{"cloudburst": manualPage(t, &p, &out, &errs), "cloudburst-lab": labCommands(t, &p)}
}

// labCommands returns the flags of the laboratory's commands. The laboratory has no manual page,
// so the test uses its help.
func labCommands(t *testing.T, p *shell.Shell) map[string][]string {
	t.Helper()
	commands := map[string][]string{}
	flag := regexp.MustCompile(`(?m)^ +(?:-(\w), )?--([\w.-]+)`)
	for _, c := range labcli.Root(p).Commands() {
		for _, sub := range append(c.Commands(), c) {
			if sub.HasSubCommands() || sub.Hidden {
				continue
			}
			name := strings.TrimPrefix(sub.CommandPath(), "cloudburst-lab ")
			commands[name] = []string{"help"}
			for _, m := range flag.FindAllStringSubmatch(sub.LocalFlags().FlagUsages(), -1) {
				commands[name] = append(commands[name], slices.DeleteFunc(m[1:], func(s string) bool { return s == "" })...)
			}
		}
	}
	if !slices.Contains(commands["bench costs"], "database") || !slices.Contains(commands["simulate"], "chart") {
		t.Fatalf("cannot parse the commands of the laboratory: %v", commands)
	}
	return commands
}

// manualPage returns the flags of the server's commands from the manual page.
func manualPage(t *testing.T, p *shell.Shell, out, errs *bytes.Buffer) map[string][]string {
	t.Helper()
	if code := cli.Run(t.Context(), p, []string{"man"}); code != 0 {
		t.Fatal(code, errs.String())
	}
	commands := map[string][]string{}
	name := ""
	flag := regexp.MustCompile(`^\\fB(?:-(\w)\\fR, \\fB)?--([\w.-]+)\\fR|^\\fB-(\w), --([\w.-]+)`)
	for line := range strings.Lines(strings.ReplaceAll(out.String(), `\-`, "-")) {
		if usage, ok := strings.CutPrefix(line, ".SS "); ok {
			var words []string
			for _, w := range strings.Fields(usage) {
				if strings.ToLower(w) != w || strings.HasPrefix(w, "-") || strings.HasPrefix(w, "[") {
					break
				}
				words = append(words, w)
			}
			name = strings.Join(words, " ")
			commands[name] = []string{"help"}
		}
		if m := flag.FindStringSubmatch(line); m != nil && name != "" {
			commands[name] = append(commands[name], slices.DeleteFunc(m[1:], func(s string) bool { return s == "" })...)
		}
	}
	if len(commands) < 60 || !slices.Contains(commands["user token"], "scope") {
		t.Fatalf("cannot parse the manual page: %d commands, %v", len(commands), commands["user token"])
	}
	return commands
}

// commandLine matches a command line: the name of a program and its arguments.
var commandLine = regexp.MustCompile(`(?m)(?:^|[|(;&]|exec )\s*(?:bin/)?(cloudburst(?:-lab)?)((?: +[^\s|;&()<>#]+)+)`)

// mentioned returns the words of each command line in a text. The first word is the program.
func mentioned(text string) [][]string {
	var all [][]string
	for _, m := range commandLine.FindAllStringSubmatch(strings.ReplaceAll(text, "\\\n", " "), -1) {
		all = append(all, append([]string{m[1]}, strings.Fields(m[2])...))
	}
	return all
}

// known returns the name of the command in a command line. wrong describes an error in the
// command line, or is "".
func known(commands map[string][]string, settings map[string]bool, words []string) (name, wrong string) {
	begins := func(with string) bool {
		return commands[with] != nil || slices.ContainsFunc(slices.Collect(maps.Keys(commands)), func(c string) bool { return strings.HasPrefix(c, with+" ") })
	}
	for len(words) > 0 && begins(strings.TrimSpace(name+" "+words[0])) {
		name, words = strings.TrimSpace(name+" "+words[0]), words[1:]
	}
	if name == "" {
		if strings.HasPrefix(words[0], "-") {
			return "", ""
		}
		return "", "no command " + words[0]
	}
	if commands[name] == nil && len(words) > 0 && !strings.HasPrefix(words[0], "-") {
		return name, fmt.Sprintf("%s has no command %s", name, words[0])
	}
	for _, w := range words {
		flag, _, _ := strings.Cut(strings.TrimRight(w, ".,:'\""), "=")
		long, isLong := strings.CutPrefix(flag, "--")
		switch {
		case w == "--" || !strings.HasPrefix(w, "-") || w == "-" || strings.HasPrefix(w, "-…"):
		case isLong && !settings[long] && !slices.Contains(commands[name], long) && commands[name] != nil:
			return name, fmt.Sprintf("%s has no flag %s", name, flag)
		case !isLong && commands[name] != nil && !slices.Contains(commands[name], flag[1:2]):
			return name, fmt.Sprintf("%s has no flag %s", name, flag)
		}
	}
	return name, ""
}

func settingNames() map[string]bool {
	names := map[string]bool{"config": true}
	for _, s := range config.Settings() {
		names[s.Name] = true
		if s.Old != "" {
			names[s.Old] = true
		}
	}
	return names
}

// Every command line in the documentation must name existing commands and flags. The
// documentation must mention every command.
func TestDocumentedCommandsExist(t *testing.T) {
	t.Parallel()
	programs, settings := manual(t), settingNames()
	notified := map[string]bool{}
	for _, p := range pages(t) {
		var group string // for example "topics" in `cloudburst topics list`, `topics show URL`
		line := 0
		for _, b := range slices.Concat(p.spans, p.blocks) {
			if !slices.Contains([]string{"", "sh", "output"}, b.kind) {
				continue
			}
			for _, words := range mentioned(b.text) {
				name, wrong := known(programs[words[0]], settings, words[1:])
				if wrong != "" && p.file() != "commands.md" { // commands.md is generated
					t.Errorf("%s:%d: %s: %s", p.name, b.line, strings.Join(words, " "), wrong)
				}
				notified[name] = true
				group, line = strings.Join(slices.Clip(strings.Fields(name)[:max(0, len(strings.Fields(name))-1)]), " "), b.line
			}
			// The same row of a table can name more commands without the name of the program.
			if b.line == line {
				for _, name := range []string{b.text, group + " " + b.text} {
					for n := len(strings.Fields(name)); n > 0; n-- {
						notified[strings.Join(strings.Fields(name)[:n], " ")] = true
					}
				}
			}
		}
	}
	for program, commands := range programs {
		for name := range commands {
			if !notified[name] {
				t.Errorf("no page describes %s %s", program, name)
			}
		}
	}
}

// Every code span in the documentation that looks like a setting must be an existing setting.
func TestDocumentedSettingsExist(t *testing.T) {
	t.Parallel()
	settings := settingNames()
	tables := map[string]bool{}
	for name := range settings {
		if table, _, ok := strings.Cut(name, "."); ok {
			tables[table] = true
		}
	}
	// WebSub parameters and file names look like settings.
	other := regexp.MustCompile(`^hub\.(mode|url|topic|callback|secret|lease|challenge|reason)$|\.(xml|go|md|jsonl?|txt|js|html|opml)$`)
	like := regexp.MustCompile(`^(?:--)?(([a-z]+)\.[a-z-]+)(?:$|[ =_])`)
	n := 0
	for _, p := range pages(t) {
		for _, s := range p.spans {
			m := like.FindStringSubmatch(s.text)
			if m == nil || !tables[m[2]] || other.MatchString(m[1]) {
				continue
			}
			n++
			if !settings[strings.TrimSuffix(m[1], "-file")] {
				t.Errorf("%s:%d: %s is not a setting", p.name, s.line, s.text)
			}
		}
	}
	if n < 60 {
		t.Errorf("only %d settings were found", n)
	}
}

var update = flag.Bool("update", false, "rewrite docs/reference/settings.md")

// The reference page of all settings must equal the tables generated from the program.
func TestSettingsPageIsComplete(t *testing.T) {
	t.Parallel()
	const file = "../../docs/reference/settings.md"
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	head, _, _ := strings.Cut(string(got), "\n## ")
	want := head + settingsTables()
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if string(got) != want {
		t.Error("docs/reference/settings.md is outdated: go test ./lab/doctest -run Settings -update")
	}
}

// settingsTables returns the tables of all settings in Markdown, one for each section of the
// configuration file.
func settingsTables() string {
	titles := map[string]string{
		"": "Server", "admin": "Admin listener", "disk": "Disk", "egress": "Outgoing requests", "tls": "TLS", "hub": "Hub", "websub": "WebSub", "cnws": "CNWS",
		"changes": "Recent changes", "accounts": "Accounts", "feeds": "Hosted feeds", "ping": "Ping targets", "write": "Writing",
		"media": "Uploaded files", "river": "Reader", "smtp": "Mail", "log": "Log", "trace": "Traces",
	}
	var b strings.Builder
	table := "none yet"
	for _, s := range config.Settings() {
		in, _, ok := strings.Cut(s.Name, ".")
		if !ok {
			in = ""
		}
		if in != table {
			table = in
			fmt.Fprintf(&b, "\n## %s\n\n| setting | default | meaning |\n| --- | --- | --- |\n", cmp.Or(titles[in], in))
		}
		value := ""
		if s.Default != "" {
			value = "`" + s.Default + "`"
		}
		doc := s.Doc
		if len(s.Choices) > 0 {
			doc += " One of `" + strings.Join(s.Choices, "`, `") + "`."
		}
		if s.Min != "" && s.Max != "" {
			doc += fmt.Sprintf(" From %s to %s.", s.Min, s.Max)
		}
		if s.Secret {
			doc += " `" + s.EnvFile() + "` can name a file with the value."
		}
		if s.Old != "" {
			doc += " Former name: `" + s.Old + "`."
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", s.Name, value, strings.NewReplacer("|", "\\|", "<", "&lt;").Replace(doc))
	}
	return b.String()
}
