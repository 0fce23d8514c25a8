package readcli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/spf13/cobra"

	"cloudburst/client"
	"cloudburst/internal/cli/shell"
	"cloudburst/internal/text"
)

func (p *commands) sourcesRemove() *cobra.Command {
	return p.forSources(&cobra.Command{
		Use:   "remove URL|ID…",
		Short: "Stop following feeds",
		Long: `Stops following feeds, named by URL or id. Starred items stay; the server deletes the
other items later, unless other users follow the feed.

--json prints one object per line and feed: ` + sourceFields + `.`,
		Example: "  cloudburst sources remove https://example.com/rss.xml",
	}, func(ctx context.Context, r *client.River, s client.Source) (client.Source, string, error) {
		gone, err := r.RemoveSource(ctx, s.ID)
		return gone, "Removed " + sourceName(&gone) + ".", err
	})
}

func (p *commands) sourcesRevive() *cobra.Command {
	return p.forSources(&cobra.Command{
		Use:   "revive URL|ID…",
		Short: "Read gone or failing feeds again",
		Long: `Reads feeds again that are gone, or that are read rarely because of errors. They are due
immediately. A feed is marked as gone again if its server still returns 410.

--json prints one object per line and feed: ` + sourceFields + `.`,
	}, func(ctx context.Context, r *client.River, s client.Source) (client.Source, string, error) {
		now, err := r.ReviveSource(ctx, s.ID)
		return now, sourceName(&now) + " will be read again.", err
	})
}

func (p *commands) sourcesUndo() *cobra.Command {
	return p.forSources(&cobra.Command{
		Use:   "undo URL|ID…",
		Short: "Undo the move of feeds to a new URL",
		Long: `Sets feeds back to the URL that they had before a permanent redirect. The server will
not move them to the new URL again automatically.

--json prints one object per line and feed: ` + sourceFields + `.`,
	}, func(ctx context.Context, r *client.River, s client.Source) (client.Source, string, error) {
		now, err := r.UndoSource(ctx, s.ID)
		return now, sourceName(&now) + " is read at its old URL again.", err
	})
}

// forSources completes a command that performs an action on each named source.
func (p *commands) forSources(c *cobra.Command, act sourceAct) *cobra.Command {
	var user string
	var asJSON bool
	c.Args = shell.Between(1, -1, "the URL or the id of at least one feed")
	c.RunE = func(c *cobra.Command, args []string) error { return p.eachSource(c, user, args, asJSON, act) }
	ofReader(c, &user)
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object per line")
	return shell.ServerFlags(c)
}

// sourceAct performs an action on one source and returns the result as a sentence.
type sourceAct func(ctx context.Context, r *client.River, s client.Source) (client.Source, string, error)

// eachSource performs an action on each named source. It prints errors and continues with
// the other sources.
func (p *commands) eachSource(c *cobra.Command, user string, names []string, asJSON bool, act sourceAct) error {
	return p.WithServer(c, false, func(ctx context.Context, s *shell.Connection) error {
		r := s.River(user)
		failed := false
		for _, name := range names {
			src, err := r.Source(ctx, name)
			text := ""
			if err == nil {
				src, text, err = act(ctx, r, src)
			}
			if _, answered := errors.AsType[*client.Error](err); answered {
				fmt.Fprintf(p.Err, "cloudburst: %s\n", shell.Clean(naming(name, shell.Sentence(err))))
				failed = true
				continue
			}
			if err != nil {
				return err
			}
			if asJSON {
				err = shell.JSONLines(p.Out).Encode(src)
			} else {
				_, err = fmt.Fprintln(p.Out, shell.Clean(text))
			}
			if err != nil {
				return err
			}
		}
		if failed {
			return shell.ErrReported
		}
		return nil
	})
}

// setFlags holds the flags of `sources set`.
type setFlags struct {
	title, every, secretFile string
	categories               []string
	none                     bool
	login                    loginFlag
	cnws                     string
	fullText                 bool
}

func (p *commands) sourcesSet() *cobra.Command {
	var user string
	var q setFlags
	var asJSON bool
	c := shell.ServerFlags(&cobra.Command{
		Use:   "set URL|ID…",
		Short: "Change settings of followed feeds",
		Long: `Changes the named settings of followed feeds. --title "" restores the feed's own title,
--no-category removes the feed from all categories, --interval none uses the feed's own
hints, --login none reads it without authentication. --full-text reads the page of each
new item and shows its text; --full-text=false ends that. --cnws names a CNWS hub that announces
changes of the feed, because feeds do not name CNWS hubs; --cnws none cancels that.

` + secretHelp + `

--json prints one object per line and feed: ` + sourceFields + `.`,
		Example: "  cloudburst sources set https://example.com/rss.xml --category News --interval 1h",
		Args:    shell.Between(1, -1, "the URL or the id of at least one feed"),
		RunE: func(c *cobra.Command, args []string) error {
			change, err := q.change(c)
			if err != nil {
				return err
			}
			secret, err := p.readLogin(c.Context(), q.login, q.secretFile)
			if err != nil {
				return err
			}
			return p.eachSource(c, user, args, asJSON, setSource(change, secret, q.hub(c)))
		},
	})
	f := c.Flags()
	ofReader(c, &user)
	f.StringVar(&q.title, "title", "", "title `text`")
	f.StringArrayVar(&q.categories, "category", nil, "only the category with this `name`; may be repeated")
	f.BoolVar(&q.none, "no-category", false, "remove from all categories")
	f.StringVar(&q.every, "interval", "", "`time` between checks, such as 30m; none: the feed's own hints")
	f.Var(&q.login, "login", "`kind` of authentication (basic:NAME, token, wsse:NAME, header:NAME, none)")
	f.StringVar(&q.secretFile, "secret-file", "", "`file` with the secret of --login; - is standard input")
	f.StringVar(&q.cnws, "cnws", "", "`URL` of a CNWS hub that announces changes of the feed; none: no hub")
	f.BoolVar(&q.fullText, "full-text", false, "read the full text of new items from their pages")
	f.BoolVar(&asJSON, "json", false, "print one JSON object per line")
	return c
}

// hub returns the value of --cnws; nil: the flag is not set.
func (q *setFlags) hub(c *cobra.Command) *string {
	switch {
	case !c.Flags().Changed("cnws"):
		return nil
	case q.cnws == "none":
		return new("")
	}
	return &q.cnws
}

// change returns the change that the flags describe, except the flags for the login and the hub.
func (q *setFlags) change(c *cobra.Command) (change client.SourceChange, err error) {
	if c.Flags().Changed("title") {
		change.Title = &q.title
	}
	switch {
	case q.none && len(q.categories) > 0:
		return change, shell.Usagef("--no-category and --category cannot be combined")
	case q.none:
		change.Categories = &[]string{}
	case len(q.categories) > 0:
		change.Categories = &q.categories
	}
	if c.Flags().Changed("interval") {
		seconds := int64(0)
		if q.every != "none" {
			if seconds, err = intervalFlag(q.every); err != nil {
				return change, err
			}
		}
		change.Interval = &seconds
	}
	if c.Flags().Changed("full-text") {
		change.FullText = &q.fullText
	}
	if c.Flags().Changed("cnws") && q.cnws == "" {
		return change, shell.Usagef("--cnws is empty: must be the URL of a hub's endpoint, or none")
	}
	if change == (client.SourceChange{}) && !q.login.set && !c.Flags().Changed("cnws") {
		return change, shell.Usagef("%s needs at least one of --title, --category, --no-category, --interval, --full-text, --login and --cnws", c.CommandPath())
	}
	return change, nil
}

// setSource applies a change to a source. It changes the login last, because a new login may create
// a new source.
func setSource(change client.SourceChange, login *client.Login, hub *string) sourceAct {
	return func(ctx context.Context, r *client.River, s client.Source) (client.Source, string, error) {
		var err error
		if change != (client.SourceChange{}) {
			s, err = r.ChangeSource(ctx, s.ID, change)
		}
		if err == nil && login != nil {
			s, err = r.ChangeSource(ctx, s.ID, client.SourceChange{Login: login})
		}
		if err == nil && hub != nil {
			s, err = r.ChangeSource(ctx, s.ID, client.SourceChange{CNWS: hub})
		}
		return s, "Changed " + sourceName(&s) + ".", err
	}
}

const refreshAtOnce = 8 // maximum number of feeds that are refreshed at the same time; the server also limits the requests per host

func (p *commands) sourcesRefresh() *cobra.Command {
	var user string
	var all, soon, asJSON bool
	c := shell.ServerFlags(&cobra.Command{
		Use:   "refresh URL|ID… | --all",
		Short: "Read feeds now",
		Long: `Reads feeds now, regardless of their schedule, and prints the results. A manual read is
possible at most once a minute, and not during a pause that the feed's server requested;
--all skips these feeds. --all --soon does not wait: the server reads the feeds within its
limits for each host.

--json prints one object per line and feed: input, check or error; docs/reference/river-json.md
describes them. With --soon it prints one object: due and sources, the number of all feeds.`,
		Example: "  cloudburst sources refresh https://example.com/rss.xml\n  cloudburst sources refresh --all\n  cloudburst sources refresh --all --soon",
		Args:    shell.Between(0, -1, "the URL or the id of at least one feed"),
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case len(args) == 0 && !all:
				return shell.Usagef("%s needs the URL or the id of at least one feed, or --all", c.CommandPath())
			case len(args) > 0 && all:
				return shell.Usagef("--all selects every feed: remove the other arguments")
			case soon && !all:
				return shell.Usagef("--soon needs --all")
			}
			return p.WithServer(c, false, func(ctx context.Context, s *shell.Connection) error {
				if soon {
					return p.refreshSoon(ctx, s.River(user), asJSON)
				}
				f := &refreshing{p: p, r: s.River(user), all: all, asJSON: asJSON, out: bufio.NewWriter(p.Out)}
				return f.run(ctx, args)
			})
		},
	})
	ofReader(c, &user)
	c.Flags().BoolVar(&all, "all", false, "read all followed feeds")
	c.Flags().BoolVar(&soon, "soon", false, "with --all: do not wait until the feeds are read")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object per line")
	return c
}

// refreshSoon makes all feeds due, so that the server reads them soon.
func (p *commands) refreshSoon(ctx context.Context, r *client.River, asJSON bool) error {
	got, err := r.RefreshSources(ctx)
	if err != nil {
		return err
	}
	if asJSON {
		return shell.JSONLines(p.Out).Encode(got)
	}
	_, err = fmt.Fprintf(p.Out, "The server reads %d of %s.\n", got.Due, text.Plural(got.Sources, "feed"))
	return err
}

// refreshLine is the output of --json for one feed.
type refreshLine struct {
	Input string            `json:"input"` // URL of the feed, or the argument if no followed feed matches it
	Check *client.Check     `json:"check,omitempty"`
	Error *shell.InputError `json:"error,omitempty"`

	left bool // the feed was skipped, because it was read recently or because its server requested a pause
}

// refreshing is one run of the command sources refresh.
type refreshing struct {
	p      *commands
	r      *client.River
	all    bool
	asJSON bool
	out    *bufio.Writer

	read, failed, left, items int
}

func (f *refreshing) run(ctx context.Context, names []string) error {
	list, err := f.list(ctx, names)
	if err != nil {
		return err
	}
	bar := shell.NewProgress(f.p.Err, "read")
	done := 0
	for l := range refreshed(ctx, f.r, list) {
		if done++; len(list) > 1 {
			bar.At(done, len(list))
		}
		if err := f.report(l); err != nil {
			return err
		}
	}
	bar.End()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if f.all {
		text := "Read " + text.Plural(f.read, "feed") + ": " + text.Plural(f.items, "new item")
		if f.failed > 0 {
			text += fmt.Sprintf("; %d failed", f.failed)
		}
		if f.left > 0 {
			text += fmt.Sprintf("; %d skipped because of a recent check or a pause requested by the server", f.left)
		}
		fmt.Fprintln(f.p.Err, text+".")
	}
	if f.failed > 0 {
		return shell.ErrReported
	}
	return nil
}

// list returns the feeds that names contains, or all active feeds if names is empty.
func (f *refreshing) list(ctx context.Context, names []string) (list []client.Source, err error) {
	for _, name := range names {
		s, err := f.r.Source(ctx, name)
		if _, answered := errors.AsType[*client.Error](err); answered {
			err = f.report(refreshLine{Input: name, Error: &shell.InputError{Message: shell.Sentence(err)}})
		} else if err == nil {
			list = append(list, s)
		}
		if err != nil {
			return nil, err
		}
	}
	if !f.all {
		return list, nil
	}
	for s, err := range f.r.Sources(ctx, client.SourceQuery{}) {
		if err != nil {
			return nil, err
		}
		if s.State != "gone" {
			list = append(list, s)
		}
	}
	return list, nil
}

// report prints the result of one feed. If several feeds are refreshed, report only counts skipped
// feeds.
func (f *refreshing) report(l refreshLine) error {
	switch {
	case l.Check != nil:
		f.read++
		f.items += l.Check.New
	case l.left && f.all:
		f.left++
	default:
		f.failed++
		fmt.Fprintf(f.p.Err, "cloudburst: %s\n", shell.Clean(naming(l.Input, l.Error.Message)))
	}
	if f.asJSON {
		if err := shell.JSONLines(f.out).Encode(l); err != nil {
			return err
		}
	} else if l.Check != nil {
		if _, err := fmt.Fprintf(f.out, "%s  %s\n", shell.Clean(l.Input), shell.Clean(l.Check.Text)); err != nil {
			return err
		}
	}
	return f.out.Flush()
}

// refreshed refreshes the feeds in list and returns the results in the order of completion.
func refreshed(ctx context.Context, r *client.River, list []client.Source) <-chan refreshLine {
	todo, done := make(chan client.Source), make(chan refreshLine, len(list))
	var group sync.WaitGroup
	for range min(refreshAtOnce, len(list)) {
		group.Go(func() {
			for s := range todo {
				l := refreshLine{Input: s.URL}
				if check, err := r.RefreshSource(ctx, s.ID); err != nil {
					e, answered := errors.AsType[*client.Error](err)
					l.Error, l.left = &shell.InputError{Message: shell.Sentence(err)}, answered && (e.Code == "too-many" || e.Code == "conflict")
				} else {
					l.Check = &check
				}
				done <- l
			}
		})
	}
	go func() {
		defer close(done)
		defer group.Wait()
		defer close(todo)
		for _, s := range list {
			select {
			case todo <- s:
			case <-ctx.Done():
				return
			}
		}
	}()
	return done
}
