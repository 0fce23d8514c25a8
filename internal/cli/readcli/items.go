package readcli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"cloudburst/client"
	"cloudburst/internal/cli/shell"
)

const itemFields = `id, seq, at, fetched_at, title, link, html,
text, source and more; docs/reference/river-json.md describes them`

// itemFlags adds the flags that select items.
func itemFlags(c *cobra.Command, q *client.ItemQuery, user *string) {
	f := c.Flags()
	ofReader(c, user)
	f.StringVar(&q.Source, "source", "", "only items of the feed with this `URL` or id")
	f.StringVar(&q.Category, "category", "", "only items in the category with this `name`")
	f.StringVar(&q.Match, "search", "", "only items with all of these `words`; you can use \"a phrase\", -word, feed:… and category:…")
	f.BoolVar(&q.Starred, "starred", false, "only starred items")
	f.BoolVar(&q.Unread, "unread", false, "only unread items")
}

func (p *commands) items() *cobra.Command {
	var user string
	var q client.ItemQuery
	var asJSON bool
	c := shell.ServerFlags(&cobra.Command{
		Use:   "items",
		Short: "List the items of the followed feeds",
		Long: `Lists items, the newest first, with time of arrival, feed, title or first words, and
link.

--json prints one object per line: ` + itemFields + `.

Works on the running server, or on the data folder when none runs.`,
		Example: "  cloudburst items --category News --limit 10\n  cloudburst items --json --search 'feed:example -sponsored' | jq -r .link",
		Args:    shell.Between(0, 0, ""),
		RunE: p.OnServer(func(ctx context.Context, s *shell.Connection, _ []string) error {
			return p.listItems(ctx, s.River(user), q, asJSON)
		}),
	})
	itemFlags(c, &q, &user)
	c.Flags().IntVarP(&q.Limit, "limit", "n", 50, "at most this `number`; 0 means all")
	c.Flags().BoolVar(&q.Oldest, "oldest", false, "list the oldest first")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object per line")
	return c
}

func (p *commands) listItems(ctx context.Context, r *client.River, q client.ItemQuery, asJSON bool) error {
	return shell.PrintList(p.Out, r.Items(ctx, q), asJSON, []string{"TIME", "FEED", "ITEM", "LINK"}, itemRow)
}

// itemRow returns the table row of an item.
func itemRow(it *client.Item) []string {
	return []string{it.At.Local().Format("2006-01-02 15:04"), shell.Clip(oneLine(it.Source.Title), 40), itemName(it, 100), it.Link}
}

// itemName returns the title of an item. For an item without a title, it returns the first words of
// the text.
func itemName(it *client.Item, limit int) string {
	name := cmp.Or(oneLine(it.Title), oneLine(it.Text))
	if name == "" && len(it.Enclosures) > 0 {
		name = oneLine(it.Enclosures[0].URL)
	}
	name = shell.Clip(name, limit)
	if it.WithdrawnAt != nil {
		name += " (withdrawn)"
	}
	return name
}

// oneLine returns a text on one line, with single spaces and without control characters.
func oneLine(s string) string { return strings.Join(strings.Fields(shell.Clean(s)), " ") }

// printItemLine prints an item on one line, for output that is not a terminal.
func printItemLine(w io.Writer, it *client.Item) error {
	row := itemRow(it)
	for i := range row {
		row[i] = shell.Clean(row[i])
	}
	_, err := fmt.Fprintln(w, strings.Join(row, "\t"))
	return err
}
