package readcli

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"cloudburst/client"
	"cloudburst/internal/cli/shell"
	"cloudburst/internal/config"
	"cloudburst/internal/text"
)

func (p *commands) sources() *cobra.Command {
	c := shell.Group("sources", "Follow feeds and manage the followed feeds",
		`The feeds that this server reads for its own river or, with --user, for a user's river.
"cloudburst river" shows their items live, "cloudburst items" lists them.

Works on the running server, or on the data folder when none runs.`)
	c.AddCommand(p.sourcesAdd(), p.sourcesList(), p.sourcesRemove(), p.sourcesRefresh(), p.sourcesSet(), p.sourcesRevive(), p.sourcesUndo(), p.sourcesCategories())
	return c
}

const sourceFields = `id, url, title, own_title, feed_title, categories, interval_s,
full_text, list_id, login, private, description, home, icon, language, format, mended, state,
reading, push, problem, failures, moved, added_at, checked_at, changed_at,
newest_at, next_at, why, items, readers, unread; docs/reference/river-json.md describes them`

// ofReader adds the flag that selects the river.
func ofReader(c *cobra.Command, user *string) {
	c.Flags().StringVar(user, "user", "", "`name` of the river's owner (default: the server's own river)")
}

// sourceName returns the name of a source in messages.
func sourceName(s *client.Source) string {
	if s.Title == s.URL || s.Title == "" {
		return shell.Clean(s.URL)
	}
	return shell.Clip(shell.Clean(s.Title), 100) + " <" + shell.Clean(s.URL) + ">"
}

// addedLine is the output of --json for one URL.
type addedLine struct {
	Input string `json:"input"`
	client.AddedSource
	Error *shell.InputError `json:"error,omitempty"`
}

func (p *commands) sourcesAdd() *cobra.Command {
	var user, every, secretFile string
	var login loginFlag
	var q client.SourceRequest
	var asJSON bool
	c := shell.ServerFlags(&cobra.Command{
		Use:   "add URL…",
		Short: "Follow feeds",
		Long: `Follows feeds. Each URL is that of a feed or of a page that links to it. The server reads
a new feed immediately. If a page has several feeds, the command prints them and adds
none: use the URL of one feed, or add the first with --first.

--login is for feeds with authentication: basic:NAME and wsse:NAME for a user name with a
password, token for a token in Authorization: Bearer, header:NAME for a header with that
name.

` + secretHelp + `

--json prints one object per line and URL: input, new, and source, or choices, or error.`,
		Example: `  cloudburst sources add https://example.com/ --category News
  cloudburst sources add --login basic:ann --secret-file pw https://example.com/private.xml`,
		Args: shell.Between(1, -1, "the URL of at least one feed or page"),
		RunE: func(c *cobra.Command, urls []string) (err error) {
			if q.Interval, err = intervalFlag(every); err != nil {
				return err
			}
			if q.Login, err = p.readLogin(c.Context(), login, secretFile); err != nil {
				return err
			}
			return p.WithServer(c, true, func(ctx context.Context, s *shell.Connection) error {
				return p.addSources(ctx, s.River(user), q, urls, asJSON)
			})
		},
	})
	f := c.Flags()
	ofReader(c, &user)
	f.StringArrayVar(&q.Categories, "category", nil, "put the feed into the category with this `name`; may be repeated")
	f.StringVar(&q.Title, "title", "", "title `text`, instead of the feed's own title")
	f.StringVar(&every, "interval", "", "`time` between checks, such as 30m, instead of the feed's hints")
	f.Var(&login, "login", "`kind` of authentication (basic:NAME, token, wsse:NAME, header:NAME)")
	f.StringVar(&secretFile, "secret-file", "", "`file` with the secret of --login; - is standard input")
	f.BoolVar(&q.First, "first", false, "add the first feed of a page with several feeds")
	f.BoolVar(&asJSON, "json", false, "print one JSON object per line")
	return c
}

// intervalFlag parses the value of --every and returns the time between checks in seconds.
func intervalFlag(text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	d, err := config.ParseDuration(text)
	if err != nil || d < time.Second {
		return 0, shell.Usagef("invalid value %q for --interval: must be a time such as 30m, 6h or 1d", text)
	}
	return int64(d / time.Second), nil
}

// addSources adds the feeds one after another. If one feed fails, it prints the error and adds the
// others.
func (p *commands) addSources(ctx context.Context, r *client.River, q client.SourceRequest, urls []string, asJSON bool) error {
	failed := false
	for _, u := range urls {
		q.URL = u
		shown := withoutPassword(u)
		line := addedLine{Input: shown}
		added, err := r.AddSource(ctx, q)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			if _, answered := errors.AsType[*client.Error](err); !answered {
				return err
			}
			line.Error = &shell.InputError{Message: naming(shown, shell.Sentence(err))}
		default:
			line.AddedSource = added
		}
		failed = failed || added.Source == nil
		if err := p.printAdded(&line, asJSON); err != nil {
			return err
		}
	}
	if failed {
		return shell.ErrReported
	}
	return nil
}

// withoutPassword returns a URL without the password.
func withoutPassword(address string) string {
	if u, err := url.Parse(address); err == nil && u.User != nil {
		return u.Redacted()
	}
	return address
}

// naming prefixes a message with a name, unless the message contains it.
func naming(name, text string) string {
	if strings.Contains(text, name) {
		return text
	}
	return name + ": " + text
}

func (p *commands) printAdded(line *addedLine, asJSON bool) error {
	switch {
	case line.Error != nil:
		fmt.Fprintf(p.Err, "cloudburst: %s\n", shell.Clean(line.Error.Message))
	case line.Source == nil:
		fmt.Fprintf(p.Err, "cloudburst: %s has %s; none was added: use the URL of one feed, or add the first with --first\n",
			shell.Clean(line.Input), text.Plural(len(line.Choices), "feed"))
	}
	if asJSON {
		return shell.JSONLines(p.Out).Encode(line)
	}
	if line.Source == nil {
		t := shell.NewTable(p.Out, "URL", "TITLE", "FORMAT", "KIND")
		for _, choice := range line.Choices {
			if err := t.Row(choice.URL, choice.Title, choice.Format, choice.Kind); err != nil {
				return err
			}
		}
		return t.End()
	}
	what := "Added"
	if !line.New {
		what = "Already followed:"
	}
	_, err := fmt.Fprintf(p.Out, "%s %s, %s.\n", what, sourceName(line.Source), text.Plural(int(line.Source.Items), "item"))
	return err
}

func (p *commands) sourcesList() *cobra.Command {
	var user string
	var q client.SourceQuery
	var asJSON bool
	c := shell.ServerFlags(&cobra.Command{
		Use:   "list",
		Short: "List the followed feeds",
		Long: `Lists the followed feeds, ordered by title. The state of a feed is new (not read yet),
ok, failing, or gone (its server returned 410: the feed is no longer read, until "sources
revive").

--json prints one object per line: ` + sourceFields + `.`,
		Example: "  cloudburst sources list --broken\n  cloudburst sources list --json | jq -r 'select(.state == \"gone\") | .url'",
		Args:    shell.Between(0, 0, ""),
		RunE: p.OnServer(func(ctx context.Context, s *shell.Connection, _ []string) error {
			return p.listSources(ctx, s.River(user), q, asJSON)
		}),
	})
	f := c.Flags()
	ofReader(c, &user)
	f.StringVar(&q.Match, "match", "", "only feeds with this `text` in the URL or the title")
	f.StringVar(&q.Category, "category", "", "only feeds in the category with this `name`")
	f.BoolVar(&q.Broken, "broken", false, "only feeds that are failing, gone or moved")
	f.BoolVar(&q.Unread, "unread", false, "also count unread items")
	f.IntVar(&q.Limit, "limit", 0, "at most this `number`; 0 means all")
	f.BoolVar(&asJSON, "json", false, "print one JSON object per line")
	return c
}

func (p *commands) listSources(ctx context.Context, r *client.River, q client.SourceQuery, asJSON bool) error {
	heading := []string{"STATE", "TITLE", "CATEGORIES", "ITEMS", "NEWEST", "NEXT CHECK", "URL", "PROBLEM"}
	if q.Unread {
		heading = append(heading, "UNREAD")
	}
	return shell.PrintList(p.Out, r.Sources(ctx, q), asJSON, heading, func(s *client.Source) []string {
		row := []string{s.State, shell.Clip(s.Title, 60), strings.Join(s.Categories, ", "), fmt.Sprint(s.Items), shell.FormatTime(s.NewestAt), shell.FormatTime(s.NextAt), s.URL, problemOf(s)}
		if s.Unread != nil {
			row = append(row, fmt.Sprint(*s.Unread))
		}
		return row
	})
}

// problemOf returns the problem of a source, for the table.
func problemOf(s *client.Source) string {
	if s.Problem == "" && s.Moved != nil {
		return "moved from " + s.Moved.From
	}
	return s.Problem
}

const secretHelp = `On a terminal the command prompts for the secret and hides the input. Otherwise the
secret is the first line of standard input or the content of --secret-file. It is never
an argument, because other users of the machine can see arguments.`

// loginFlag is the value of the flag --login.
type loginFlag struct {
	kind, name string
	set        bool
}

func (l *loginFlag) String() string { return strings.TrimSuffix(l.kind+":"+l.name, ":") }

func (l *loginFlag) Type() string { return "kind" }

func (l *loginFlag) Set(text string) error {
	kind, name, _ := strings.Cut(text, ":")
	switch {
	case kind == "token" && name == "", kind == "none" && name == "":
	case (kind == "basic" || kind == "wsse" || kind == "header") && name != "":
	case strings.Count(text, ":") > 1:
		return errors.New("do not write a secret on the command line: use basic:NAME, token, wsse:NAME or header:NAME")
	default:
		return errors.New("must be basic:NAME, token, wsse:NAME or header:NAME")
	}
	l.kind, l.name, l.set = kind, name, true
	return nil
}

// readLogin reads the secret for the login; nil: --login is not set.
func (p *commands) readLogin(ctx context.Context, l loginFlag, file string) (*client.Login, error) {
	switch {
	case !l.set && file != "":
		return nil, shell.Usagef("--secret-file needs --login with the kind of authentication")
	case !l.set:
		return nil, nil
	case l.kind == "none":
		return &client.Login{}, nil
	}
	secret, err := p.readSecret(ctx, "Secret for "+l.String(), file)
	return &client.Login{Kind: l.kind, Name: l.name, Secret: secret}, err
}

// readSecret reads a secret that already exists, so it prompts only once.
func (p *commands) readSecret(ctx context.Context, what, file string) (string, error) {
	in, ok := p.In.(*os.File)
	if file != "" || !ok || !shell.IsTerminal(in) {
		secret, err := p.NewPassword(ctx, "", file)
		if err != nil {
			err = errors.New(strings.ReplaceAll(err.Error(), "password", "secret"))
		}
		return secret, err
	}
	return p.AskHidden(ctx, in, func(ask func(string) (string, error)) (string, error) { return ask(what + ": ") })
}
