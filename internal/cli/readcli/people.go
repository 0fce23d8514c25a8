package readcli

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"cloudburst/client"
	"cloudburst/internal/cli/shell"
	"cloudburst/internal/sanitize"
)

func (p *commands) people() *cobra.Command {
	var user, match string
	var limit int
	var asJSON bool
	c := shell.ServerFlags(&cobra.Command{
		Use:   "people",
		Short: "List the authors of the server",
		Long: `Lists the authors of the server, newest post first, without those who chose not to be
listed. "cloudburst sources add" follows an author by the URL of the feed.

--json prints one object per line: user, name, about, avatar, page, feed, posts, last_at and
following; docs/reference/river-json.md describes them.

Works on the running server, or on the data folder when none runs.`,
		Example: "  cloudburst people --match ann\n  cloudburst people --user alice --json | jq -r 'select(.following == null) | .feed'",
		Args:    shell.Between(0, 0, ""),
		RunE: p.OnServer(func(ctx context.Context, s *shell.Connection, _ []string) error {
			heading := []string{"USER", "NAME", "POSTS", "LAST POST", "FOLLOWED", "FEED"}
			return shell.PrintList(p.Out, s.River(user).People(ctx, match, limit), asJSON, heading, personRow)
		}),
	})
	f := c.Flags()
	ofReader(c, &user)
	f.StringVar(&match, "match", "", "only authors whose names contain these `words`")
	f.IntVar(&limit, "limit", 0, "at most this `number`; 0 means all")
	f.BoolVar(&asJSON, "json", false, "print one JSON object per line")
	return c
}

func personRow(one *client.Person) []string {
	followed := "-"
	if one.Following != 0 {
		followed = "yes"
	}
	return []string{one.User, shell.Clip(oneLine(one.Name), 40), fmt.Sprint(one.Posts), shell.FormatTime(one.LastAt), followed, one.Feed}
}

func (p *commands) thread() *cobra.Command {
	var user string
	var asJSON bool
	c := shell.ServerFlags(&cobra.Command{
		Use:   "thread URL",
		Short: "Show the replies to a post",
		Long: `Shows the public replies to a post of the server or to an item of a followed feed. A reply
follows the post to which it replies, and is indented below it.

--json prints one object per line: id, parent, depth, hidden, url, at, user, name, author_url,
title, html and text; docs/reference/river-json.md describes them.

Works on the running server, or on the data folder when none runs.`,
		Example: "  cloudburst thread https://cloud.example.org/alice/2026/11/28/heron",
		Args:    shell.Between(1, 1, "the URL of a post"),
		RunE: p.OnServer(func(ctx context.Context, s *shell.Connection, args []string) error {
			return shell.PrintList(p.Out, s.River(user).Replies(ctx, args[0]), asJSON, []string{"TIME", "AUTHOR", "REPLY", "LINK"}, replyRow)
		}),
	})
	ofReader(c, &user)
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object per line")
	return c
}

func replyRow(n *client.ThreadReply) []string {
	indent := strings.Repeat("  ", min(max(n.Depth-1, 0), 20))
	if n.Hidden {
		return []string{"-", indent + "-", "(hidden)", ""}
	}
	text := oneLine(cmp.Or(n.Title, n.Text, sanitize.Text(n.HTML)))
	return []string{shell.FormatTime(n.At), indent + shell.Clip(oneLine(n.Name), 40), shell.Clip(text, 100), n.URL}
}
