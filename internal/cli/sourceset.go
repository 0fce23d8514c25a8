package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/spf13/cobra"

	"cloudburst/client"
)

func (p *Program) sourcesRemove() *cobra.Command {
	var user string
	var asJSON bool
	c := operator(&cobra.Command{
		Use:   "remove URL|ID…",
		Short: "Follow feeds no more",
		Long: `Ends following feeds, each named by its address or its id. What is starred of them
stays; the rest goes in time, unless others follow them.

--json prints one object a line and feed: ` + sourceFields + `.`,
		Example: "  cloudburst sources remove https://example.com/rss.xml",
		Args:    between(1, -1, "the URL or the id of at least one feed"),
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

func (p *Program) sourcesRevive() *cobra.Command {
	var user string
	var asJSON bool
	c := operator(&cobra.Command{
		Use:   "revive URL|ID…",
		Short: "Have feeds read again that are gone or failing",
		Long: `Has feeds read again that are gone, or that are read seldom because they fail. They
are due at once; one whose server still says that it is gone is gone again then.

--json prints one object a line and feed: ` + sourceFields + `.`,
		Args: between(1, -1, "the URL or the id of at least one feed"),
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

func (p *Program) sourcesUndo() *cobra.Command {
	var user string
	var asJSON bool
	c := operator(&cobra.Command{
		Use:   "undo URL|ID…",
		Short: "Take feeds back to the address that they were moved from",
		Long: `Takes feeds back to the address that they had before a lasting redirect moved them.
They do not move to the other one again by themselves.

--json prints one object a line and feed: ` + sourceFields + `.`,
		Args: between(1, -1, "the URL or the id of at least one feed"),
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
func (p *Program) eachSource(c *cobra.Command, user string, names []string, asJSON bool, act sourceAct) error {
	return p.with(c, false, func(ctx context.Context, s *connection) error {
		r := s.River(user)
		failed := false
		for _, name := range names {
			src, err := r.Source(ctx, name)
			text := ""
			if err == nil {
				src, text, err = act(ctx, r, src)
			}
			if _, answered := errors.AsType[*client.Error](err); answered {
				fmt.Fprintf(p.Err, "cloudburst: %s: %s\n", clean(name), sentence(err))
				failed = true
				continue
			}
			if err != nil {
				return err
			}
			if asJSON {
				err = lines(p.Out).Encode(src)
			} else {
				_, err = fmt.Fprintln(p.Out, clean(text))
			}
			if err != nil {
				return err
			}
		}
		if failed {
			return errSilent
		}
		return nil
	})
}

func (p *Program) sourcesSet() *cobra.Command {
	var user, title, every, secretFile string
	var categories []string
	var none, asJSON bool
	var login loginFlag
	c := operator(&cobra.Command{
		Use:   "set URL|ID…",
		Short: "Change how feeds are followed",
		Long: `Changes how feeds are followed: what is given, and nothing else. --title "" gives one
its own title back, --no-category takes it out of all categories, --interval none
leaves the checks to the feed, --login none reads it without a log-in.

` + secretHelp + `

--json prints one object a line and feed: ` + sourceFields + `.`,
		Example: "  cloudburst sources set https://example.com/rss.xml --category News --interval 1h",
		Args:    between(1, -1, "the URL or the id of at least one feed"),
		RunE: func(c *cobra.Command, args []string) error {
			change := client.SourceChange{}
			if c.Flags().Changed("title") {
				change.Title = &title
			}
			switch {
			case none && len(categories) > 0:
				return usagef("--no-category and --category say different things: give one of them")
			case none:
				change.Categories = &[]string{}
			case len(categories) > 0:
				change.Categories = &categories
			}
			if c.Flags().Changed("interval") {
				seconds := int64(0)
				if every != "none" {
					var err error
					if seconds, err = intervalFlag(every); err != nil {
						return err
					}
				}
				change.Interval = &seconds
			}
			if change == (client.SourceChange{}) && !login.set {
				return usagef("%s needs what to change: --title, --category, --no-category, --interval or --login", c.CommandPath())
			}
			secret, err := p.readLogin(c.Context(), login, secretFile)
			if err != nil {
				return err
			}
			return p.eachSource(c, user, args, asJSON, setSource(change, secret))
		},
	})
	f := c.Flags()
	ofReader(c, &user)
	f.StringVar(&title, "title", "", "call it by this `text`")
	f.StringArrayVar(&categories, "category", nil, "the category of this `name` and no other; may be repeated")
	f.BoolVar(&none, "no-category", false, "out of all categories")
	f.StringVar(&every, "interval", "", "the `time` between checks, such as 30m; none: what the feed asks for")
	f.Var(&login, "login", "what its server wants to see (`kind`: basic:NAME, token, wsse:NAME, header:NAME, none)")
	f.StringVar(&secretFile, "secret-file", "", "`file` that holds the secret of --login; - is standard input")
	f.BoolVar(&asJSON, "json", false, "one JSON object a line")
	return c
}

// setSource changes the login last: the source may be another one afterwards.
func setSource(change client.SourceChange, login *client.Login) sourceAct {
	return func(ctx context.Context, r *client.River, s client.Source) (client.Source, string, error) {
		var err error
		if change != (client.SourceChange{}) {
			s, err = r.ChangeSource(ctx, s.ID, change)
		}
		if err == nil && login != nil {
			s, err = r.ChangeSource(ctx, s.ID, client.SourceChange{Login: login})
		}
		return s, "Changed " + sourceName(&s) + ".", err
	}
}

const refreshAtOnce = 8 // feeds; the server has its own rule for how many of one host

func (p *Program) sourcesRefresh() *cobra.Command {
	var user string
	var all, asJSON bool
	c := operator(&cobra.Command{
		Use:   "refresh URL|ID… | --all",
		Short: "Read feeds now",
		Long: `Reads feeds now, whatever is planned, and prints what came of it. A feed is read by
hand at most once a minute, and not while its server asks to be left alone.

--json prints one object a line and feed: input, check or error; docs/river-json.md
describes them.`,
		Example: "  cloudburst sources refresh https://example.com/rss.xml\n  cloudburst sources refresh --all",
		Args:    between(0, -1, "the URL or the id of at least one feed"),
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case len(args) == 0 && !all:
				return usagef("%s needs the URL or the id of at least one feed, or --all", c.CommandPath())
			case len(args) > 0 && all:
				return usagef("--all means every feed: leave the others out")
			}
			return p.with(c, false, func(ctx context.Context, s *connection) error {
				return p.refresh(ctx, s.River(user), args, asJSON)
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
	Input string        `json:"input"` // the address; or what was named, where that is not followed
	Check *client.Check `json:"check,omitempty"`
	Error *inputError   `json:"error,omitempty"`
}

// refresh reads those that are named, or all, some at a time.
func (p *Program) refresh(ctx context.Context, r *client.River, names []string, asJSON bool) error {
	var list []client.Source
	failed := false
	out := bufio.NewWriter(p.Out)
	tell := func(l refreshLine) error {
		failed = failed || l.Error != nil
		if err := p.printRefreshed(out, &l, asJSON); err != nil {
			return err
		}
		return out.Flush()
	}
	for _, name := range names {
		s, err := r.Source(ctx, name)
		if _, answered := errors.AsType[*client.Error](err); answered {
			err = tell(refreshLine{Input: name, Error: &inputError{Message: sentence(err)}})
		} else if err == nil {
			list = append(list, s)
		}
		if err != nil {
			return err
		}
	}
	if len(names) == 0 {
		for s, err := range r.Sources(ctx, client.SourceQuery{}) {
			if err != nil {
				return err
			}
			if s.State != "gone" {
				list = append(list, s)
			}
		}
	}
	bar := newProgress(p.Err, "read")
	defer bar.end()
	done := 0
	for l := range refreshed(ctx, r, list) {
		if done++; len(list) > 1 {
			bar.at(done, len(list))
		}
		if err := tell(l); err != nil {
			return err
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if failed {
		return errSilent
	}
	return nil
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
					l.Error = &inputError{Message: sentence(err)}
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

func (p *Program) printRefreshed(out *bufio.Writer, l *refreshLine, asJSON bool) error {
	if l.Error != nil {
		fmt.Fprintf(p.Err, "cloudburst: %s: %s\n", clean(l.Input), l.Error.Message)
	}
	if asJSON {
		return lines(out).Encode(l)
	}
	if l.Check == nil {
		return nil
	}
	_, err := fmt.Fprintf(out, "%s  %s\n", clean(l.Input), clean(l.Check.Text))
	return err
}
