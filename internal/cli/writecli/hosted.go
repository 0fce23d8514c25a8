package writecli

import (
	"bytes"
	"context"
	"fmt"
	"net/url"

	"github.com/spf13/cobra"

	"cloudburst/client"
	"cloudburst/internal/cli/shell"
)

func (p *commands) feed() *cobra.Command {
	c := shell.Group("feed", "Manage the hosted feeds of users",
		`Each user has a public feed at /NAME/rss.xml on the server, and a private feed at
/NAME/private/ for people with a secret. Users save their feeds themselves; these
commands are for the operator of the server.

Works on the running server, or on the data folder when none runs.`)
	c.AddCommand(p.feedList(), p.feedSave(), p.feedMove(), p.feedGone(), p.feedRestore(), p.feedCloud(), p.feedHints(), p.feedReaders(), p.feedSecret())
	return c
}

const feedFields = `user, name (rss or private), url, title, items, version, saved_at,
type, size, moved_to, temporary, gone, add_cloud, warning`

// feedSelector holds the flags that select a feed.
type feedSelector struct {
	user    string
	private bool
}

func (w *feedSelector) flags(c *cobra.Command) {
	w.userFlag(c)
	c.Flags().BoolVar(&w.private, "private", false, "use the private feed instead of the public one")
}

// userFlag adds the flag for the owner, which is required.
func (w *feedSelector) userFlag(c *cobra.Command) {
	c.Flags().StringVar(&w.user, "user", "", "`name` of the feed's owner")
	c.PreRunE = func(c *cobra.Command, _ []string) error {
		if w.user == "" {
			return shell.Usagef("%s needs --user with the name of the feed's owner", c.CommandPath())
		}
		return nil
	}
}

func (w *feedSelector) feed() string {
	if w.private {
		return client.PrivateFeed
	}
	return client.PublicFeed
}

func (p *commands) feedList() *cobra.Command {
	var limit int
	var asJSON bool
	c := shell.ServerFlags(&cobra.Command{
		Use:   "list",
		Short: "List the feeds",
		Long:  "Lists the hosted feeds, ordered by name.\n\n--json prints one object per line: " + feedFields + ".",
		Args:  shell.Between(0, 0, ""),
		RunE: p.OnServer(func(ctx context.Context, s *shell.Connection, _ []string) error {
			return p.printFeeds(s.Feeds(ctx, limit), asJSON)
		}),
	})
	c.Flags().IntVar(&limit, "limit", 0, "at most this `number`; 0 means all")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object per line")
	return c
}

func (p *commands) printFeeds(list func(func(client.SavedFeed, error) bool), asJSON bool) error {
	return shell.PrintList(p.Out, list, asJSON, []string{"USER", "FEED", "STATE", "SAVED", "ITEMS", "BYTES", "URL", "TITLE"}, func(f *client.SavedFeed) []string {
		return []string{f.User, f.Name, whereabouts(*f), shell.FormatTime(&f.SavedAt), fmt.Sprint(f.Items), fmt.Sprint(f.Size), f.URL, shell.Clip(f.Title, 60)}
	})
}

// whereabouts describes whether a feed redirects its readers, and where to.
func whereabouts(f client.SavedFeed) string {
	switch {
	case f.Gone:
		return "gone"
	case f.MovedTo != "":
		if f.Temporary {
			return "temporarily at " + f.MovedTo
		}
		return "moved to " + f.MovedTo
	}
	if f.AddCloud {
		return "with added cloud"
	}
	return "served"
}

// printed prints the feed after a change.
func (p *commands) printed(f client.SavedFeed, err error, asJSON bool) error {
	if err != nil {
		return err
	}
	return p.printFeeds(shell.Each([]client.SavedFeed{f}, nil), asJSON)
}

func (p *commands) feedSave() *cobra.Command {
	var w feedSelector
	var asJSON bool
	c := shell.ServerFlags(&cobra.Command{
		Use:   "save --user NAME FILE|-",
		Short: "Save a document as a user's feed",
		Long: `Saves a document as a user's feed, as the user could do. The server stores the document
byte for byte, serves it in every format, and notifies its subscribers (at the next
start, if no server is running). The command rejects a document that is not a feed, not
well-formed or larger than 2 MiB. It prints a warning if the document names neither a
cloud nor a hub; with "feed cloud" the server adds its own.

--json prints an object: ` + feedFields + `.`,
		Example: "  cloudburst feed save --user alice rss.xml",
		Args:    shell.Between(1, 1, "one FILE, or - for standard input"),
		RunE: func(c *cobra.Command, args []string) error {
			if shell.IsURL(args[0]) {
				return shell.Usagef("%s needs a FILE or -, not the URL %s", c.CommandPath(), args[0])
			}
			in, err := p.Inputs().Read(c.Context(), args[0], nil)
			if err != nil {
				return err
			}
			return p.WithServer(c, false, func(ctx context.Context, s *shell.Connection) error {
				f, err := s.SaveFeed(ctx, w.user, w.feed(), documentType(in.Body), in.Body)
				if err == nil && f.Warning != "" {
					fmt.Fprintf(p.Err, "cloudburst: %s\n", shell.Clean(f.Warning))
				}
				return p.printed(f, err, asJSON)
			})
		},
	})
	w.flags(c)
	c.Flags().BoolVar(&asJSON, "json", false, "print a JSON object")
	return c
}

// documentType returns the Content-Type for a document whose type the user does not state. The
// server accepts JSON only with an explicit type.
func documentType(doc []byte) string {
	doc = bytes.TrimSpace(bytes.TrimPrefix(doc, []byte("\ufeff")))
	if bytes.HasPrefix(doc, []byte("{")) {
		return "application/feed+json"
	}
	return ""
}

func (p *commands) feedMove() *cobra.Command {
	temporary := false
	c := p.redirection(&cobra.Command{
		Use:   "move --user NAME URL",
		Short: "Redirect a feed to another URL",
		Long: `Redirects all URLs of a feed to another URL permanently (301): readers replace the URL
that they have stored. With --temporary the redirect is temporary (302), and readers
keep the old URL. The saved feed is not deleted; "feed restore" ends the redirect.`,
		Args: shell.Between(1, 1, "the new URL of the feed"),
	}, func(ctx context.Context, s *shell.Connection, w feedSelector, args []string) (client.SavedFeed, error) {
		if temporary {
			return s.MoveFeedTemporarily(ctx, w.user, w.feed(), args[0])
		}
		return s.MoveFeed(ctx, w.user, w.feed(), args[0])
	})
	c.Flags().BoolVar(&temporary, "temporary", false, "redirect temporarily (302); readers keep the old URL")
	return c
}

func (p *commands) feedGone() *cobra.Command {
	return p.redirection(&cobra.Command{
		Use:   "gone --user NAME",
		Short: "Mark a feed as gone",
		Long: `Marks a feed as gone: all URLs of the feed return status 410, and readers stop polling
it. The saved feed is not deleted; "feed restore" serves it again.`,
		Args: shell.Between(0, 0, ""),
	}, func(ctx context.Context, s *shell.Connection, w feedSelector, _ []string) (client.SavedFeed, error) {
		return s.EndFeed(ctx, w.user, w.feed())
	})
}

func (p *commands) feedRestore() *cobra.Command {
	return p.redirection(&cobra.Command{
		Use:   "restore --user NAME",
		Short: "Serve a moved or gone feed again",
		Long:  "Serves a feed again as it was saved, after \"feed move\" or \"feed gone\". Readers that\nfollowed a permanent redirect do not return by themselves.",
		Args:  shell.Between(0, 0, ""),
	}, func(ctx context.Context, s *shell.Connection, w feedSelector, _ []string) (client.SavedFeed, error) {
		return s.RestoreFeed(ctx, w.user, w.feed())
	})
}

// redirection creates a command that changes the redirect of a feed.
func (p *commands) redirection(c *cobra.Command, call func(context.Context, *shell.Connection, feedSelector, []string) (client.SavedFeed, error)) *cobra.Command {
	var w feedSelector
	var asJSON bool
	c.Long += "\n\n--json prints an object: " + feedFields + "."
	c.RunE = func(c *cobra.Command, args []string) error {
		if len(args) > 0 {
			if err := checkTarget(args[0]); err != nil {
				return err
			}
		}
		return p.WithServer(c, false, func(ctx context.Context, s *shell.Connection) error {
			f, err := call(ctx, s, w, args)
			return p.printed(f, err, asJSON)
		})
	}
	w.flags(c)
	c.Flags().BoolVar(&asJSON, "json", false, "print a JSON object")
	return shell.ServerFlags(c)
}

// checkTarget validates the target of a redirect.
func checkTarget(raw string) error {
	u, err := url.Parse(raw)
	if err != nil || !shell.IsURL(raw) || u.Host == "" {
		return shell.Usagef("invalid URL %q: must start with http:// or https:// and contain a host", raw)
	}
	return nil
}
