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
	c := shell.Group("posts", "Look at what users wrote, delete it and bring it back",
		`What a user wrote with "cloudburst post", on the pages or with a program of theirs. Each
post has a number, from 1 on.

Works on the running server, or on the data folder when none runs.`)
	c.AddCommand(p.postsList(), p.postsShow(), p.postsDelete(), p.postsUndo())
	return c
}

func (p *commands) postsList() *cobra.Command {
	var user string
	var q client.PostQuery
	var asJSON bool
	c := shell.ServerFlags(&cobra.Command{
		Use:   "list",
		Short: "List posts, the newest first",
		Long: `Lists posts, the newest first: number, state, date, and the title or the first words.
Deleted ones are listed with --state deleted only.

--json prints one object a line: ` + postFields + `.`,
		Args: shell.Between(0, 0, ""),
		RunE: func(c *cobra.Command, _ []string) error {
			return p.WithServer(c, false, func(ctx context.Context, s *shell.Connection) error {
				name, err := writer(ctx, s, user)
				if err != nil {
					return err
				}
				return p.printPosts(s.Posts(ctx, name, q), asJSON)
			})
		},
	})
	ofWriter(c, &user)
	shell.ChoiceFlag(c, &q.State, "state", "only posts of this state", "draft", "scheduled", "published", "deleted")
	c.Flags().StringVar(&q.Category, "category", "", "only published posts of this `category`")
	c.Flags().StringVar(&q.Match, "match", "", "only posts in whose title or text these `words` are found")
	c.Flags().IntVar(&q.Limit, "limit", 0, "at most this `number`; 0 is all")
	c.Flags().BoolVar(&asJSON, "json", false, "one JSON object a line")
	return c
}

func (p *commands) printPosts(list func(func(client.Post, error) bool), asJSON bool) error {
	out := bufio.NewWriter(p.Out)
	enc := shell.JSONLines(out)
	t := shell.NewTable(p.Out, "NUMBER", "STATE", "DATE", "POST")
	for post, err := range list {
		if err == nil && asJSON {
			err = enc.Encode(post)
		} else if err == nil {
			err = t.Row(decimal(post.ID), post.State, dateOf(post), shell.Clip(wordsOf(post), 70))
		}
		if err != nil {
			return err
		}
	}
	if err := out.Flush(); err != nil {
		return err
	}
	return t.End()
}

func decimal(n int64) string { return strconv.FormatInt(n, 10) }

// dateOf is when a post was or will be published, else when it was last written on.
func dateOf(post client.Post) string {
	switch {
	case post.DueAt != nil:
		return shell.FormatTime(post.DueAt)
	case post.PublishedAt != nil:
		return shell.FormatTime(post.PublishedAt)
	}
	return shell.FormatTime(&post.UpdatedAt)
}

// wordsOf is how a person knows a post: its title or its first words.
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

// numbered is a command about one post.
func (p *commands) numbered(use, short, long string, do func(ctx context.Context, s *shell.Connection, user string, id int64) (client.Post, error),
	say func(post client.Post) error) *cobra.Command {
	var user string
	var asJSON bool
	c := shell.ServerFlags(&cobra.Command{
		Use: use, Short: short, Long: long + "\n\n--json prints the post: " + postFields + ".",
		Args: shell.Between(1, 1, "the NUMBER of one post, as \"posts list\" has it"),
		RunE: func(c *cobra.Command, args []string) error {
			id, err := strconv.ParseInt(args[0], 10, 64)
			if err != nil || id <= 0 {
				return shell.Usagef("%q is no number of a post; \"cloudburst posts list\" has them", args[0])
			}
			return p.WithServer(c, false, func(ctx context.Context, s *shell.Connection) error {
				name, err := writer(ctx, s, user)
				if err != nil {
					return err
				}
				post, err := do(ctx, s, name, id)
				if err != nil {
					return err
				}
				if asJSON {
					return shell.JSONLines(p.Out).Encode(post)
				}
				return say(post)
			})
		},
	})
	ofWriter(c, &user)
	c.Flags().BoolVar(&asJSON, "json", false, "as a JSON object")
	return c
}

func (p *commands) postsShow() *cobra.Command {
	return p.numbered("show NUMBER", "Show a post", "Shows a post: what is known of it, and its text as it was written.",
		func(ctx context.Context, s *shell.Connection, user string, id int64) (client.Post, error) {
			return s.Post(ctx, user, id)
		}, p.printPost)
}

// printPost prints a post for a person.
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
	line("Address", post.URL)
	line("About", post.Link)
	if post.Reply != nil {
		line("Answers", post.Reply.URL)
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

// cleanLines is clean for a text of several lines.
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
		"Deletes a post: it is gone from its page and from all feeds. For a minute \"posts undo\"\nbrings it back whole.",
		func(ctx context.Context, s *shell.Connection, user string, id int64) (client.Post, error) {
			return s.DeletePost(ctx, user, id, 0)
		}, func(post client.Post) error {
			_, err := fmt.Fprintf(p.Out, "Post %d of %s is deleted; \"cloudburst posts undo %d --user %s\" brings it back, for a minute.\n", post.ID, post.User, post.ID, post.User)
			return err
		})
}

func (p *commands) postsUndo() *cobra.Command {
	return p.numbered("undo NUMBER", "Take back what was last done with a post",
		"Takes back, within a minute, the last change of a post that readers saw: that it was\npublished, edited or deleted.",
		func(ctx context.Context, s *shell.Connection, user string, id int64) (client.Post, error) {
			return s.UndoPost(ctx, user, id)
		}, p.said)
}
