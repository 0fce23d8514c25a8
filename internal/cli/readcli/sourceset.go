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
	var user string
	var asJSON bool
	c := shell.ServerFlags(&cobra.Command{
		Use:   "remove URL|ID…",
		Short: "Follow feeds no more",
		Long: `Ends following feeds, each named by its address or its id. What is starred of them
stays; the rest goes in time, unless others follow them.

--json prints one object a line and feed: ` + sourceFields + `.`,
		Example: "  cloudburst sources remove https://example.com/rss.xml",
		Args:    shell.Between(1, -1, "the URL or the id of at least one feed"),
		RunE: func(c *cobra.Command, args []string) error {
			return p.eachSource(c, user, args, asJSON, func(ctx context.Context, r *client.River, s client.Source) (client.Source, string, error) {
				gone, err := r.RemoveSource(ctx, s.ID)
				return gone, "Removed " + sourceName(&gone) + ".", err
			})
		},
	})
	ofReader(c, &user)
	c.Flags().BoolVar(&asJSON, "json", false, "one JSON object a line")
	return c
}

func (p *commands) sourcesRevive() *cobra.Command {
	var user string
	var asJSON bool
	c := shell.ServerFlags(&cobra.Command{
		Use:   "revive URL|ID…",
		Short: "Have feeds read again that are gone or failing",
		Long: `Has feeds read again that are gone, or that are read seldom because they fail. They
are due at once; one whose server still says that it is gone is gone again then.

--json prints one object a line and feed: ` + sourceFields + `.`,
		Args: shell.Between(1, -1, "the URL or the id of at least one feed"),
		RunE: func(c *cobra.Command, args []string) error {
			return p.eachSource(c, user, args, asJSON, func(ctx context.Context, r *client.River, s client.Source) (client.Source, string, error) {
				now, err := r.ReviveSource(ctx, s.ID)
				return now, sourceName(&now) + " will be read again.", err
			})
		},
	})
	ofReader(c, &user)
	c.Flags().BoolVar(&asJSON, "json", false, "one JSON object a line")
	return c
}

func (p *commands) sourcesUndo() *cobra.Command {
	var user string
	var asJSON bool
	c := shell.ServerFlags(&cobra.Command{
		Use:   "undo URL|ID…",
		Short: "Take feeds back to the address that they were moved from",
		Long: `Takes feeds back to the address that they had before a lasting redirect moved them.
They do not move to the other one again by themselves.

--json prints one object a line and feed: ` + sourceFields + `.`,
		Args: shell.Between(1, -1, "the URL or the id of at least one feed"),
		RunE: func(c *cobra.Command, args []string) error {
			return p.eachSource(c, user, args, asJSON, func(ctx context.Context, r *client.River, s client.Source) (client.Source, string, error) {
				now, err := r.UndoSource(ctx, s.ID)
				return now, sourceName(&now) + " is read at its old address again.", err
			})
		},
	})
	ofReader(c, &user)
	c.Flags().BoolVar(&asJSON, "json", false, "one JSON object a line")
	return c
}

// sourceAct does something with one source, and says in a sentence what came of it.
type sourceAct func(ctx context.Context, r *client.River, s client.Source) (client.Source, string, error)

// eachSource does something with each source that is named. What fails is told and
// does not hold up the rest.
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

// setFlags are what `sources set` is told to change.
type setFlags struct {
	title, every, secretFile string
	categories               []string
	none                     bool
	login                    loginFlag
	cnws                     string
}

func (p *commands) sourcesSet() *cobra.Command {
	var user string
	var q setFlags
	var asJSON bool
	c := shell.ServerFlags(&cobra.Command{
		Use:   "set URL|ID…",
		Short: "Change how feeds are followed",
		Long: `Changes how feeds are followed: what is given, and nothing else. --title "" gives one
its own title back, --no-category takes it out of all categories, --interval none
leaves the checks to the feed, --login none reads it without a log-in. --cnws names a hub
that tells of its changes by CNWS, of which feeds say nothing; --cnws none asks it no more.

` + secretHelp + `

--json prints one object a line and feed: ` + sourceFields + `.`,
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
	f.StringVar(&q.title, "title", "", "call it by this `text`")
	f.StringArrayVar(&q.categories, "category", nil, "the category of this `name` and no other; may be repeated")
	f.BoolVar(&q.none, "no-category", false, "out of all categories")
	f.StringVar(&q.every, "interval", "", "the `time` between checks, such as 30m; none: what the feed asks for")
	f.Var(&q.login, "login", "what its server wants to see (`kind`: basic:NAME, token, wsse:NAME, header:NAME, none)")
	f.StringVar(&q.secretFile, "secret-file", "", "`file` that holds the secret of --login; - is standard input")
	f.StringVar(&q.cnws, "cnws", "", "have the CNWS hub at this `address` tell of its changes; none: no more")
	f.BoolVar(&asJSON, "json", false, "one JSON object a line")
	return c
}

// hub is what --cnws says; nil: nothing.
func (q *setFlags) hub(c *cobra.Command) *string {
	switch {
	case !c.Flags().Changed("cnws"):
		return nil
	case q.cnws == "none":
		return new("")
	}
	return &q.cnws
}

// change is what the flags say, but for the login and the hub.
func (q *setFlags) change(c *cobra.Command) (change client.SourceChange, err error) {
	if c.Flags().Changed("title") {
		change.Title = &q.title
	}
	switch {
	case q.none && len(q.categories) > 0:
		return change, shell.Usagef("--no-category and --category say different things: give one of them")
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
	if c.Flags().Changed("cnws") && q.cnws == "" {
		return change, shell.Usagef("--cnws is empty: it needs the address of a hub's door, or none")
	}
	if change == (client.SourceChange{}) && !q.login.set && !c.Flags().Changed("cnws") {
		return change, shell.Usagef("%s needs what to change: --title, --category, --no-category, --interval, --login or --cnws", c.CommandPath())
	}
	return change, nil
}

// setSource changes the login last: the source may be another one afterwards.
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

const refreshAtOnce = 8 // feeds; the server has its own rule for how many of one host

func (p *commands) sourcesRefresh() *cobra.Command {
	var user string
	var all, asJSON bool
	c := shell.ServerFlags(&cobra.Command{
		Use:   "refresh URL|ID… | --all",
		Short: "Read feeds now",
		Long: `Reads feeds now, whatever is planned, and prints what came of it. A feed is read by
hand at most once a minute, and not while its server asks to be left alone: --all
leaves out those.

--json prints one object a line and feed: input, check or error; docs/river-json.md
describes them.`,
		Example: "  cloudburst sources refresh https://example.com/rss.xml\n  cloudburst sources refresh --all",
		Args:    shell.Between(0, -1, "the URL or the id of at least one feed"),
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case len(args) == 0 && !all:
				return shell.Usagef("%s needs the URL or the id of at least one feed, or --all", c.CommandPath())
			case len(args) > 0 && all:
				return shell.Usagef("--all means every feed: leave the others out")
			}
			return p.WithServer(c, false, func(ctx context.Context, s *shell.Connection) error {
				f := &refreshing{p: p, r: s.River(user), all: all, asJSON: asJSON, out: bufio.NewWriter(p.Out)}
				return f.run(ctx, args)
			})
		},
	})
	ofReader(c, &user)
	c.Flags().BoolVar(&all, "all", false, "every feed that is followed")
	c.Flags().BoolVar(&asJSON, "json", false, "one JSON object a line")
	return c
}

// refreshLine is what --json prints of one feed.
type refreshLine struct {
	Input string            `json:"input"` // the address; or what was named, where that is not followed
	Check *client.Check     `json:"check,omitempty"`
	Error *shell.InputError `json:"error,omitempty"`

	left bool // its time has not come: it was read a moment ago, or its server wants to be left alone
}

// refreshing is one run of the command.
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
			text += fmt.Sprintf("; %d could not be read", f.failed)
		}
		if f.left > 0 {
			text += fmt.Sprintf("; %d left alone, because of a check a moment ago or because the server asks for it", f.left)
		}
		fmt.Fprintln(f.p.Err, text+".")
	}
	if f.failed > 0 {
		return shell.ErrReported
	}
	return nil
}

// list are those that are named, or all that are read at all.
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

// tell prints what came of one. Of many, those whose time has not come are counted only.
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

// refreshed gives what came of each, in the order in which they are done.
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
