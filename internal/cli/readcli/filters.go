package readcli

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"cloudburst/client"
	"cloudburst/internal/cli/shell"
)

func (p *commands) filters() *cobra.Command {
	c := shell.Group("filters", "Hide, mark, star or forward new items by rules",
		`A filter hides new items, marks them as read, stars them or forwards them. It applies to
items of one feed, of one category or of all feeds that match its words.

Works on the running server, or on the data folder when none runs.`)
	c.AddCommand(p.filtersAdd(), p.filtersList(), p.filtersMove(), p.filtersRemove())
	return c
}

const filterFields = `id, name, source_id, category, conditions (field, op, not, values), hide, read,
star, forward, off, matched, last_at, applying, applied, created_at`

func (p *commands) filtersAdd() *cobra.Command {
	a := filterAddition{when: client.FilterCondition{Field: "any", Op: "word"}}
	c := shell.ServerFlags(&cobra.Command{
		Use:   "add WORD...",
		Short: "Add a filter, or preview one",
		Long: `Adds a filter for items that have one of the words. --field selects the part of the item:
any (title or text), title, text, author, category or link. --op selects the comparison:
word (a whole word), contains, or regexp (one regular expression). Case is ignored.

--preview prints which of the last 200 items the filter would have matched, and saves
nothing. --apply applies the filter to existing items too.

--json prints an object: ` + filterFields + `.
With --preview: compared, matched (id, source_id, title, link).`,
		Example: "  cloudburst filters add --hide --category News football tennis\n  cloudburst filters add --star --field author --preview \"Ann O'Neil\"",
		Args:    shell.Between(1, 50, "at least one WORD"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := a.complete(args); err != nil {
				return err
			}
			return p.WithServer(c, false, func(ctx context.Context, s *shell.Connection) error { return p.addFilter(ctx, s, &a) })
		},
	})
	a.flags(c)
	return c
}

// filterAddition has the flags of a new filter.
type filterAddition struct {
	client.FilterRequest
	user, forward   string
	when            client.FilterCondition
	preview, asJSON bool
}

// complete fills in the request from the words and flags of the command line.
func (a *filterAddition) complete(words []string) error {
	a.when.Values = words
	a.Conditions = []client.FilterCondition{a.when}
	if a.forward != "" {
		id, err := parseID(a.forward, "forwarding", "notices list")
		if err != nil {
			return err
		}
		a.Forward = id
	}
	if !a.Hide && !a.Read && !a.Star && a.Forward == 0 {
		return shell.Usagef("a filter needs an action: --hide, --read, --star or --forward")
	}
	return nil
}

// addFilter adds a filter and prints it. With --preview, it prints the effect of the filter and
// does not add it.
func (p *commands) addFilter(ctx context.Context, s *shell.Connection, a *filterAddition) error {
	if a.preview {
		found, err := s.River(a.user).PreviewFilter(ctx, a.FilterRequest)
		if err != nil {
			return err
		}
		return p.printPreview(&found, a.asJSON)
	}
	made, err := s.River(a.user).PutFilter(ctx, a.FilterRequest)
	if err != nil {
		return err
	}
	if a.asJSON {
		return shell.JSONLines(p.Out).Encode(made)
	}
	_, err = fmt.Fprintf(p.Out, "Filter %d applies to new items: %s.\n", made.ID, filterActions(&made))
	return err
}

func (a *filterAddition) flags(c *cobra.Command) {
	flags := c.Flags()
	ofReader(c, &a.user)
	shell.ChoiceFlag(c, &a.when.Field, "field", "part", "any", "title", "text", "author", "category", "link")
	shell.ChoiceFlag(c, &a.when.Op, "op", "comparison", "word", "contains", "regexp")
	flags.BoolVar(&a.when.Not, "not", false, "match items that have none of the words")
	flags.StringVar(&a.Name, "name", "", "`name` of the filter")
	flags.StringVar(&a.Source, "source", "", "only items of the feed with this `URL` or id")
	flags.StringVar(&a.Category, "category", "", "only items of feeds in the category with this `name`")
	flags.BoolVar(&a.Hide, "hide", false, "hide the items")
	flags.BoolVar(&a.Read, "read", false, "mark the items as read")
	flags.BoolVar(&a.Star, "star", false, "star the items")
	flags.StringVar(&a.forward, "forward", "", "send the items by the forwarding with this `id`")
	flags.BoolVar(&a.Apply, "apply", false, "apply the filter to existing items too")
	flags.BoolVar(&a.preview, "preview", false, "print the matching items and save nothing")
	flags.BoolVar(&a.asJSON, "json", false, "print a JSON object")
}

func (p *commands) printPreview(found *client.FilterPreview, asJSON bool) error {
	if asJSON {
		return shell.JSONLines(p.Out).Encode(found)
	}
	if _, err := fmt.Fprintf(p.Out, "The filter would have matched %d of the last %d items.\n", len(found.Matched), found.Compared); err != nil {
		return err
	}
	for _, m := range found.Matched {
		title := cmp.Or(m.Title, m.Link)
		if _, err := fmt.Fprintln(p.Out, shell.Clean(title)); err != nil {
			return err
		}
	}
	return nil
}

// filterActions describes what a filter does: "hide, forward 7".
func filterActions(f *client.Filter) string {
	var do []string
	for _, a := range []struct {
		on   bool
		text string
	}{{f.Hide, "hide"}, {f.Read, "read"}, {f.Star, "star"}, {f.Forward != 0, "forward " + strconv.FormatInt(f.Forward, 10)}} {
		if a.on {
			do = append(do, a.text)
		}
	}
	return strings.Join(do, ", ")
}

func filterConditions(f *client.Filter) string {
	var all []string
	for _, c := range f.Conditions {
		op := c.Op
		if c.Not {
			op = "not " + op
		}
		all = append(all, c.Field+" "+op+" "+strings.Join(c.Values, "|"))
	}
	return strings.Join(all, "; ")
}

func (p *commands) filtersList() *cobra.Command {
	var user string
	var asJSON bool
	c := shell.ServerFlags(&cobra.Command{
		Use:   "list",
		Short: "List the filters in the order in which they run",
		Long:  "Lists the filters in the order in which they run.\n\n--json prints one object per line: " + filterFields + ".",
		Args:  shell.Between(0, 0, ""),
		RunE: p.OnServer(func(ctx context.Context, s *shell.Connection, _ []string) error {
			return p.printFilters(shell.Each(s.River(user).Filters(ctx)), asJSON)
		}),
	})
	ofReader(c, &user)
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object per line")
	return c
}

func (p *commands) printFilters(list iter.Seq2[client.Filter, error], asJSON bool) error {
	return shell.PrintList(p.Out, list, asJSON, []string{"ID", "OF", "CONDITIONS", "ACTIONS", "STATE", "MATCHED", "LAST"}, func(f *client.Filter) []string {
		state := "on"
		if f.Off {
			state = "off"
		}
		return []string{strconv.FormatInt(f.ID, 10), feedsOf(f.SourceID, f.Category), filterConditions(f), filterActions(f), state, fmt.Sprint(f.Matched), shell.FormatTime(f.LastAt)}
	})
}

func (p *commands) filtersMove() *cobra.Command {
	var user string
	var asJSON bool
	c := shell.ServerFlags(&cobra.Command{
		Use:   "move ID earlier|later",
		Short: "Make a filter run one place earlier or later",
		Long:  "Makes a filter run one place earlier or later, and lists the filters in their new order.",
		Args:  shell.Between(2, 2, "the ID of one filter, then earlier or later"),
		RunE: func(c *cobra.Command, args []string) error {
			id, err := parseID(args[0], "filter", "filters list")
			if err == nil && args[1] != "earlier" && args[1] != "later" {
				err = shell.Usagef("invalid direction %q: must be earlier or later", args[1])
			}
			if err != nil {
				return err
			}
			return p.WithServer(c, false, func(ctx context.Context, s *shell.Connection) error {
				list := shell.Each(s.River(user).MoveFilter(ctx, id, args[1] == "later"))
				return p.printFilters(list, asJSON)
			})
		},
	})
	ofReader(c, &user)
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object per line")
	return c
}

func (p *commands) filtersRemove() *cobra.Command {
	var user string
	c := shell.ServerFlags(&cobra.Command{
		Use:   "remove ID",
		Short: "Remove a filter",
		Long:  "Removes a filter; \"filters list\" prints the IDs. A minute later, the items that it hid are shown again, as read.",
		Args:  shell.Between(1, 1, "the ID of one filter"),
		RunE: func(c *cobra.Command, args []string) error {
			id, err := parseID(args[0], "filter", "filters list")
			if err != nil {
				return err
			}
			return p.WithServer(c, false, func(ctx context.Context, s *shell.Connection) error {
				return p.ReportSuccess(s.River(user).DropFilter(ctx, id), "Filter %d is removed.\n", id)
			})
		},
	})
	ofReader(c, &user)
	return c
}
