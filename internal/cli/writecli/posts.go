package writecli

import (
	"bufio"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"cloudburst/client"
	"cloudburst/internal/cli/shell"
	"cloudburst/internal/sanitize"
)

func (p *commands) posts() *cobra.Command {
	c := shell.Group("posts", "List, show, delete and restore posts, and set rules for them",
		`These commands manage posts from "cloudburst post", from the web pages and from other
programs. The posts of each user are numbered from 1.

Works on the running server, or on the data folder when none runs.`)
	c.AddCommand(p.postsList(), p.postsShow(), p.postsDelete(), p.postsUndo(), versionCommands{p}.list(), versionCommands{p}.restore(), versionCommands{p}.rules())
	return c
}

func (p *commands) postsList() *cobra.Command {
	var user string
	var q client.PostQuery
	var asJSON bool
	c := shell.ServerFlags(&cobra.Command{
		Use:   "list",
		Short: "List posts, the newest first",
		Long: `Lists posts, the newest first, with number, state, date, and title or first words.
Deleted posts are listed only with --state deleted.

--json prints one object per line: ` + postFields + `.`,
		Args: shell.Between(0, 0, ""),
		RunE: p.forWriter(&user, func(ctx context.Context, s *shell.Connection, name string, _ []string) error {
			return p.printPosts(s.Posts(ctx, name, q), asJSON)
		}),
	})
	ofWriter(c, &user)
	shell.ChoiceFlag(c, &q.State, "state", "only posts in this state", "draft", "scheduled", "published", "private", "deleted")
	c.Flags().StringVar(&q.Category, "category", "", "only published posts of this `category`")
	c.Flags().StringVar(&q.Match, "match", "", "only posts with these `words` in title or text")
	c.Flags().IntVar(&q.Limit, "limit", 0, "at most this `number`; 0 means all")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object per line")
	return c
}

func (p *commands) printPosts(list func(func(client.Post, error) bool), asJSON bool) error {
	return shell.PrintList(p.Out, list, asJSON, []string{"NUMBER", "STATE", "DATE", "POST"}, func(post *client.Post) []string {
		return []string{decimal(post.ID), post.State, dateOf(*post), shell.Clip(wordsOf(*post), 70)}
	})
}

func decimal(n int64) string { return strconv.FormatInt(n, 10) }

// dateOf formats the past or future time of publication. For a post without such a time, it formats
// the time of the last change.
func dateOf(post client.Post) string {
	switch {
	case post.DueAt != nil:
		return shell.FormatTime(post.DueAt)
	case post.PublishedAt != nil:
		return shell.FormatTime(post.PublishedAt)
	}
	return shell.FormatTime(&post.UpdatedAt)
}

// wordsOf returns the title of a post. For a post without a title, it returns the first words of
// the text.
func wordsOf(post client.Post) string {
	for _, s := range []string{post.Title, strings.Join(strings.Fields(sanitize.Text(post.HTML)), " "), post.Link} {
		if s != "" {
			return s
		}
	}
	if len(post.Outline) > 0 {
		return sanitize.Text(post.Outline[0].HTML)
	}
	for _, e := range post.Enclosures {
		return e.URL
	}
	return ""
}

// postNumber parses the number of a post.
func postNumber(text string) (int64, error) {
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || id <= 0 {
		return 0, shell.Usagef("invalid post number %q: \"cloudburst posts list\" prints the numbers", text)
	}
	return id, nil
}

// numbered creates a command for one post, which the argument identifies by its number.
func (p *commands) numbered(use, short, long string, do func(ctx context.Context, s *shell.Connection, user string, id int64) (client.Post, error),
	show func(post client.Post) error) *cobra.Command {
	var user string
	var asJSON bool
	c := shell.ServerFlags(&cobra.Command{
		Use: use, Short: short, Long: long + "\n\n--json prints the post: " + postFields + ".",
		Args: shell.Between(1, 1, "the NUMBER of one post, see \"posts list\""),
		RunE: func(c *cobra.Command, args []string) error {
			id, err := postNumber(args[0])
			if err != nil {
				return err
			}
			return p.forWriter(&user, func(ctx context.Context, s *shell.Connection, name string, _ []string) error {
				post, err := do(ctx, s, name, id)
				if err != nil {
					return err
				}
				if asJSON {
					return shell.JSONLines(p.Out).Encode(post)
				}
				return show(post)
			})(c, args)
		},
	})
	ofWriter(c, &user)
	c.Flags().BoolVar(&asJSON, "json", false, "print a JSON object")
	return c
}

func (p *commands) postsShow() *cobra.Command {
	return p.numbered("show NUMBER", "Show a post", "Shows the properties of a post and its original text.",
		func(ctx context.Context, s *shell.Connection, user string, id int64) (client.Post, error) {
			return s.Post(ctx, user, id)
		}, p.printPost)
}

// printPost prints a post as text.
func (p *commands) printPost(post client.Post) error {
	out := bufio.NewWriter(p.Out)
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(out, "%-10s %s\n", name, shell.Clean(value))
		}
	}
	line("Post", decimal(post.ID)+" of "+post.User+", "+post.State)
	line("Title", post.Title)
	line("Date", dateOf(post))
	line("URL", post.URL)
	line("About", post.Link)
	if post.Reply != nil {
		line("Reply to", post.Reply.URL)
	}
	line("Categories", strings.Join(post.Categories, ", "))
	for _, e := range post.Enclosures {
		line("File", strings.TrimSpace(e.URL+" "+e.Type))
	}
	if post.Source != "" {
		fmt.Fprintf(out, "\n%s\n", cleanLines(post.Source))
	}
	if len(post.Outline) > 0 {
		fmt.Fprintln(out)
		printNodes(out, post.Outline, 0)
	}
	return out.Flush()
}

func printNodes(out *bufio.Writer, nodes []client.PostNode, depth int) {
	for _, n := range nodes {
		words := n.Text
		if n.Title != "" {
			words = strings.TrimSpace(n.Title + ": " + n.Text)
		}
		fmt.Fprintf(out, "%s- %s\n", strings.Repeat("  ", depth), shell.Clean(words))
		printNodes(out, n.Nodes, depth+1)
	}
}

// cleanLines applies shell.Clean to each line of a text.
func cleanLines(text string) string {
	var b strings.Builder
	for i, line := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(shell.Clean(line))
	}
	return b.String()
}

func (p *commands) postsDelete() *cobra.Command {
	return p.numbered("delete NUMBER", "Delete a post",
		"Deletes a post: its page and its entries in all feeds are removed. Within a minute,\n\"posts undo\" restores it completely.",
		func(ctx context.Context, s *shell.Connection, user string, id int64) (client.Post, error) {
			return s.DeletePost(ctx, user, id, 0)
		}, func(post client.Post) error {
			_, err := fmt.Fprintf(p.Out, "Post %d of %s is deleted; \"cloudburst posts undo %d --user %s\" restores it within a minute.\n", post.ID, post.User, post.ID, post.User)
			return err
		})
}

func (p *commands) postsUndo() *cobra.Command {
	return p.numbered("undo NUMBER", "Undo the last change of a post",
		"Undoes the last publication, edit or deletion of a post, within a minute after it.",
		func(ctx context.Context, s *shell.Connection, user string, id int64) (client.Post, error) {
			return s.UndoPost(ctx, user, id)
		}, p.printResult)
}
