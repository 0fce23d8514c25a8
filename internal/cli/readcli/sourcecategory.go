package readcli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"cloudburst/client"
	"cloudburst/internal/cli/shell"
)

// categoryFlags holds the flags of `sources categories`.
type categoryFlags struct {
	user, public, private, rename, to, remove string
	asJSON                                    bool
}

func (p *commands) sourcesCategories() *cobra.Command {
	var q categoryFlags
	c := shell.ServerFlags(&cobra.Command{
		Use:   "categories",
		Short: "List the categories, or change one",
		Long: `Lists the categories, ordered by name. Each category is a river of its own. Anyone can
read a public category, its feed and its OPML list. --public creates a category that does
not exist yet.

--json prints one object per line: name, public, sources, unread.`,
		Example: "  cloudburst sources categories --public News\n  cloudburst sources categories --rename News --to Newspapers",
		Args:    shell.Between(0, 0, ""),
		RunE: func(c *cobra.Command, _ []string) error {
			acts := 0
			for _, name := range []string{"public", "private", "rename", "remove"} {
				if c.Flags().Changed(name) {
					acts++
				}
			}
			switch {
			case acts > 1:
				return shell.Usagef("--public, --private, --rename and --remove cannot be combined")
			case (q.rename == "") != (q.to == ""):
				return shell.Usagef("--rename NAME and --to NAME must be used together")
			}
			return p.WithServer(c, false, func(ctx context.Context, s *shell.Connection) error {
				return p.categories(ctx, s.River(q.user), &q)
			})
		},
	})
	f := c.Flags()
	ofReader(c, &q.user)
	f.StringVar(&q.public, "public", "", "make the category with this `name` public")
	f.StringVar(&q.private, "private", "", "make the category with this `name` private")
	f.StringVar(&q.rename, "rename", "", "rename the category with this `name`, or merge it into another")
	f.StringVar(&q.to, "to", "", "new `name` of the category")
	f.StringVar(&q.remove, "remove", "", "remove the category with this `name`; its feeds stay followed")
	f.BoolVar(&q.asJSON, "json", false, "print one JSON object per line")
	return c
}

func (p *commands) categories(ctx context.Context, r *client.River, q *categoryFlags) error {
	switch {
	case q.public != "":
		return p.ReportSuccess(r.PutCategory(ctx, q.public, client.CategoryChange{Public: new(true)}), "%s is public.\n", shell.Clean(q.public))
	case q.private != "":
		return p.ReportSuccess(r.PutCategory(ctx, q.private, client.CategoryChange{Public: new(false)}), "%s is private.\n", shell.Clean(q.private))
	case q.rename != "":
		return p.ReportSuccess(r.PutCategory(ctx, q.rename, client.CategoryChange{Name: &q.to}), "%s is renamed to %s.\n", shell.Clean(q.rename), shell.Clean(q.to))
	case q.remove != "":
		return p.ReportSuccess(r.DropCategory(ctx, q.remove), "%s is removed.\n", shell.Clean(q.remove))
	}
	return shell.PrintList(p.Out, shell.Each(r.Categories(ctx, true)), q.asJSON, []string{"NAME", "READ BY", "FEEDS", "UNREAD"}, func(c *client.Category) []string {
		by, unread := "its owner", int64(0)
		if c.Public {
			by = "everyone"
		}
		if c.Unread != nil {
			unread = *c.Unread
		}
		return []string{c.Name, by, fmt.Sprint(c.Sources), fmt.Sprint(unread)}
	})
}
