package writecli

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"cloudburst/client"
	"cloudburst/internal/cli/shell"
)

const versionFields = "number, saved_at, state, title, source, format, categories"

// versionCommands creates the commands for the earlier versions of posts and for the rules of an
// author.
type versionCommands struct{ *commands }

func (p versionCommands) list() *cobra.Command {
	var user string
	var asJSON bool
	c := shell.ServerFlags(&cobra.Command{
		Use: "versions NUMBER", Short: "List the earlier versions of a post",
		Long: `Lists the earlier versions of a post, the newest first, with number, time, state and first words.
At most 50 versions of a post are kept.

--json prints one object per line, with the whole text: ` + versionFields + `.`,
		Args: shell.Between(1, 1, "the NUMBER of one post, see \"posts list\""),
		RunE: func(c *cobra.Command, args []string) error {
			return p.onVersions(c, user, args[0], func(ctx context.Context, v client.Versions) error {
				return shell.PrintList(p.Out, shell.Each(v.List(ctx)), asJSON, []string{"VERSION", "SAVED", "STATE", "TEXT"}, func(v *client.PostVersion) []string {
					return []string{decimal(v.Number), shell.FormatTime(&v.SavedAt), v.State, shell.Clip(strings.Join(strings.Fields(v.Title+" "+v.Source), " "), 60)}
				})
			})
		},
	})
	ofWriter(c, &user)
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object per line")
	return c
}

func (p versionCommands) restore() *cobra.Command {
	var user string
	c := shell.ServerFlags(&cobra.Command{
		Use: "restore NUMBER VERSION", Short: "Restore an earlier version of a post",
		Long: `Saves an earlier version of a post again. The version of a published or scheduled post becomes
a draft with an unpublished change. The replaced text becomes an earlier version itself.`,
		Args: shell.Between(2, 2, "the NUMBER of a post and a VERSION, see \"posts versions\""),
		RunE: func(c *cobra.Command, args []string) error {
			n, err := strconv.ParseInt(args[1], 10, 64)
			if err != nil || n <= 0 {
				return shell.Usagef("invalid version %q: \"cloudburst posts versions %s\" prints the versions", args[1], args[0])
			}
			return p.onVersions(c, user, args[0], func(ctx context.Context, v client.Versions) error {
				post, err := v.Restore(ctx, n)
				if err != nil {
					return err
				}
				if post.ID != v.Post {
					_, err = fmt.Fprintf(p.Out, "Version %d is restored as draft %d, an unpublished change of post %d.\n", n, post.ID, v.Post)
				} else {
					_, err = fmt.Fprintf(p.Out, "Version %d of post %d is restored.\n", n, v.Post)
				}
				return err
			})
		},
	})
	ofWriter(c, &user)
	return c
}

// onVersions calls do with the earlier versions of the post that number identifies.
func (p versionCommands) onVersions(c *cobra.Command, user, number string, do func(ctx context.Context, v client.Versions) error) error {
	id, err := postNumber(number)
	if err != nil {
		return err
	}
	return p.forWriter(&user, func(ctx context.Context, s *shell.Connection, name string, _ []string) error {
		return do(ctx, client.Versions{Client: s.Client, User: name, Post: id})
	})(c, nil)
}

func (p versionCommands) rules() *cobra.Command {
	var user, short, urls, tags string
	c := shell.ServerFlags(&cobra.Command{
		Use: "rules", Short: "Show or change the rules for the texts of posts",
		Long: `Shows a user's rules for the texts of posts, after the changes that the flags request: what
happens to a short post above the limit, how a URL in the text is counted, and whether
hashtags become categories and links. The rules apply to pages, apps and this command.`,
		Args: shell.Between(0, 0, ""),
		RunE: p.forWriter(&user, func(ctx context.Context, s *shell.Connection, name string, _ []string) error {
			return p.changeRules(ctx, s, name, short, urls, tags)
		}),
	})
	ofWriter(c, &user)
	shell.ChoiceFlag(c, &short, "short", "what happens to a short post above the limit", "off", "warn", "enforce", "server")
	shell.ChoiceFlag(c, &urls, "urls", "how a URL in a text is counted: all characters, 23 characters or none", "full", "short", "free")
	shell.ChoiceFlag(c, &tags, "hashtags", "whether hashtags become categories and links", "on", "off")
	return c
}

// changeRules changes the rules whose values are not "", and prints all rules.
func (p versionCommands) changeRules(ctx context.Context, s *shell.Connection, user, short, urls, tags string) error {
	w, err := s.Writer(ctx, user)
	if err != nil {
		return err
	}
	var r client.PostRules
	if w.Rules != nil {
		r = *w.Rules
	}
	if short != "" {
		r.Short = strings.TrimSuffix(short, "server")
	}
	if urls != "" {
		r.URLs = strings.TrimSuffix(urls, "full")
	}
	if tags != "" {
		r.PlainTags = tags == "off"
	}
	if short+urls+tags != "" {
		w.Profile.Rules = &r
		if _, err := s.SetProfile(ctx, user, w.Profile); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintf(p.Out, "short     %s\nurls      %s\nhashtags  %s\n", cmp.Or(r.Short, "as write.limit-mode of the server"), cmp.Or(r.URLs, "full"), map[bool]string{true: "off", false: "on"}[r.PlainTags])
	return err
}
