package writecli

import (
	"context"

	"github.com/spf13/cobra"

	"cloudburst/client"
	"cloudburst/internal/cli/shell"
)

const groupFields = `slug, name, description, url, deleted_at`

func (p *commands) group() *cobra.Command {
	c := shell.Group("group", "Manage groups of readers with private feeds",
		`A group is a list of readers. Posts for a group ("post --to") are in the private feed of
the group only; its readers open it with a secret ("feed secret add --group").

Works on the running server, or on the data folder when none runs.`)
	c.AddCommand(p.groupList(), p.groupAdd(), p.groupRename(), p.groupRemove(), p.groupRestore())
	return c
}

// forWriter returns the run function of a command for an author. The author is *user, or the only
// user of the server if *user is "".
func (p *commands) forWriter(user *string, do func(ctx context.Context, s *shell.Connection, name string, args []string) error) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		return p.WithServer(c, false, func(ctx context.Context, s *shell.Connection) error {
			name, err := writer(ctx, s, *user)
			if err != nil {
				return err
			}
			return do(ctx, s, name, args)
		})
	}
}

// withGroups returns the run function of a command for the groups of an author; see forWriter.
func (p *commands) withGroups(user *string, do func(ctx context.Context, g client.Groups, args []string) error) func(*cobra.Command, []string) error {
	return p.forWriter(user, func(ctx context.Context, s *shell.Connection, name string, args []string) error {
		return do(ctx, client.Groups{Client: s.Client, User: name}, args)
	})
}

func (p *commands) groupList() *cobra.Command {
	var user string
	var asJSON bool
	c := shell.ServerFlags(&cobra.Command{
		Use:   "list",
		Short: "List the groups of an author",
		Long:  "Lists the groups of an author, including deleted ones.\n\n--json prints one object per line: " + groupFields + ".",
		Args:  shell.Between(0, 0, ""),
		RunE: p.withGroups(&user, func(ctx context.Context, groups client.Groups, _ []string) error {
			return shell.PrintList(p.Out, shell.Each(groups.List(ctx)), asJSON, []string{"SLUG", "NAME", "DELETED", "URL"}, func(g *client.Group) []string {
				return []string{g.Slug, shell.Clip(g.Name, 60), shell.FormatTime(g.DeletedAt), g.URL}
			})
		}),
	})
	ofWriter(c, &user)
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object per line")
	return c
}

func (p *commands) groupAdd() *cobra.Command {
	var user, slug, description string
	c := shell.ServerFlags(&cobra.Command{
		Use:     "add NAME",
		Short:   "Create a group",
		Long:    "Creates a group and prints the URL of its private feed. Without --slug, the slug is made from NAME.",
		Example: `  cloudburst group add --user alice Family`,
		Args:    shell.Between(1, 1, "the NAME of one group"),
		RunE: p.withGroups(&user, func(ctx context.Context, groups client.Groups, args []string) error {
			g, err := groups.Add(ctx, client.Group{Slug: slug, Name: args[0], Description: description})
			return p.ReportSuccess(err, "%s\t%s\n", g.Slug, g.URL)
		}),
	})
	ofWriter(c, &user)
	c.Flags().StringVar(&slug, "slug", "", "`word` that identifies the group in URLs and commands; it never changes")
	c.Flags().StringVar(&description, "description", "", "`text` for the readers, shown in the feed")
	return c
}

func (p *commands) groupRename() *cobra.Command {
	var user, description string
	c := shell.ServerFlags(&cobra.Command{
		Use:   "rename SLUG NAME",
		Short: "Change the name of a group",
		Long:  "Changes the name and the description of a group. Its slug, URLs and secrets stay the same.",
		Args:  shell.Between(2, 2, "the SLUG of a group and its new NAME"),
		RunE: p.withGroups(&user, func(ctx context.Context, groups client.Groups, args []string) error {
			_, err := groups.Change(ctx, args[0], args[1], description)
			return err
		}),
	})
	ofWriter(c, &user)
	c.Flags().StringVar(&description, "description", "", "`text` for the readers, shown in the feed")
	return c
}

func (p *commands) groupRemove() *cobra.Command {
	var user string
	c := shell.ServerFlags(&cobra.Command{
		Use:   "delete SLUG",
		Short: "Delete a group",
		Long: `Deletes a group: its private feed is no longer served. Its posts stay private and visible to the
author only, and "group restore" brings the group back with its readers.`,
		Args: shell.Between(1, 1, "the SLUG of one group"),
		RunE: p.withGroups(&user, func(ctx context.Context, groups client.Groups, args []string) error {
			return p.ReportSuccess(groups.Remove(ctx, args[0]), "The group %s is deleted; \"group restore %s\" restores it.\n", args[0], args[0])
		}),
	})
	ofWriter(c, &user)
	return c
}

func (p *commands) groupRestore() *cobra.Command {
	var user string
	c := shell.ServerFlags(&cobra.Command{
		Use:   "restore SLUG",
		Short: "Restore a deleted group",
		Long:  "Restores a deleted group with its secrets and posts.",
		Args:  shell.Between(1, 1, "the SLUG of one group"),
		RunE: p.withGroups(&user, func(ctx context.Context, groups client.Groups, args []string) error {
			_, err := groups.Restore(ctx, args[0])
			return err
		}),
	})
	ofWriter(c, &user)
	return c
}
