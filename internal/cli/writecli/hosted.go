package writecli

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net/url"

	"github.com/spf13/cobra"

	"cloudburst/client"
	"cloudburst/internal/cli/shell"
)

func (p *commands) feed() *cobra.Command {
	c := shell.Group("feed", "Look after the feeds that users keep here",
		`Each user has a public feed, at the server's /NAME/rss.xml, and a private one for
those who have a secret, at /NAME/private/. Users save them themselves; these
commands are for who looks after the server.

Works on the running server, or on the data folder when none runs.`)
	c.AddCommand(p.feedList(), p.feedSave(), p.feedMove(), p.feedGone(), p.feedRestore(), p.feedCloud(), p.feedHints(), p.feedReaders(), p.feedSecret())
	return c
}

const feedFields = `user, name (rss or private), url, title, items, version, saved_at,
type, size, moved_to, temporary, gone, add_cloud, warning`

// whose are the flags that name a feed.
type whose struct {
	user    string
	private bool
}

func (w *whose) flags(c *cobra.Command) {
	w.userFlag(c)
	c.Flags().BoolVar(&w.private, "private", false, "the private feed instead of the public one")
}

func (w *whose) userFlag(c *cobra.Command) {
	c.Flags().StringVar(&w.user, "user", "", "`name` of the user whose feed it is")
}

func (w *whose) check(c *cobra.Command) error {
	if w.user == "" {
		return shell.Usagef("%s needs --user with the name of the user whose feed it is", c.CommandPath())
	}
	return nil
}

func (w *whose) feed() string {
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
		Long:  "Lists the feeds that users keep here, in order of their names.\n\n--json prints one object a line: " + feedFields + ".",
		Args:  shell.Between(0, 0, ""),
		RunE: func(c *cobra.Command, _ []string) error {
			return p.WithServer(c, false, func(ctx context.Context, s *shell.Connection) error {
				return p.printFeeds(s.Feeds(ctx, limit), asJSON)
			})
		},
	})
	c.Flags().IntVar(&limit, "limit", 0, "at most this `number`; 0 is all")
	c.Flags().BoolVar(&asJSON, "json", false, "one JSON object a line")
	return c
}

func (p *commands) printFeeds(list func(func(client.SavedFeed, error) bool), asJSON bool) error {
	out := bufio.NewWriter(p.Out)
	enc := shell.JSONLines(out)
	t := shell.NewTable(p.Out, "USER", "FEED", "STATE", "SAVED", "ITEMS", "BYTES", "URL", "TITLE")
	for f, err := range list {
		if err == nil && asJSON {
			err = enc.Encode(f)
		} else if err == nil {
			err = t.Row(f.User, f.Name, whereabouts(f), shell.FormatTime(&f.SavedAt), fmt.Sprint(f.Items), fmt.Sprint(f.Size), f.URL, shell.Clip(f.Title, 60))
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

// whereabouts is what becomes of a feed's readers.
func whereabouts(f client.SavedFeed) string {
	switch {
	case f.Gone:
		return "gone"
	case f.MovedTo != "":
		if f.Temporary {
			return "for now at " + f.MovedTo
		}
		return "moved to " + f.MovedTo
	}
	if f.AddCloud {
		return "served with cloud"
	}
	return "served"
}

// printed prints the feed that a command changed.
func (p *commands) printed(f client.SavedFeed, err error, asJSON bool) error {
	return p.printFeeds(func(yield func(client.SavedFeed, error) bool) { yield(f, err) }, asJSON)
}

func (p *commands) feedSave() *cobra.Command {
	var w whose
	var asJSON bool
	c := shell.ServerFlags(&cobra.Command{
		Use:   "save --user NAME FILE|-",
		Short: "Save a document as a user's feed",
		Long: `Saves a document as a user's feed, as if the user had: it is kept byte for byte,
served in every format, and its subscribers are notified (when the server starts, if
none runs). A document that is no feed, not well-formed or larger than 2 MiB changes
nothing. One that names neither a cloud nor a hub is saved with a warning; "feed cloud"
has the server add its own.

--json prints an object: ` + feedFields + `.`,
		Example: "  cloudburst feed save --user alice rss.xml",
		Args:    shell.Between(1, 1, "one FILE, or - for standard input"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := w.check(c); err != nil {
				return err
			}
			if shell.IsURL(args[0]) {
				return shell.Usagef("%s takes a FILE or -, not the URL %s", c.CommandPath(), args[0])
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
	c.Flags().BoolVar(&asJSON, "json", false, "as a JSON object")
	return c
}

// documentType is the Content-Type of a document that has none: JSON is taken only
// when somebody says that it is.
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
		Short: "Send a feed's readers to another address",
		Long: `Sends the readers of a feed to another address from now on: each address of the feed
answers with a redirect there (301), and readers replace the URL that they have. With
--temporary it is a redirect for now (302), and readers keep the URL. Nothing that was
saved is lost; "feed restore" takes it back.`,
		Args: shell.Between(1, 1, "the URL where the feed is now"),
	}, func(ctx context.Context, s *shell.Connection, w whose, args []string) (client.SavedFeed, error) {
		if temporary {
			return s.MoveFeedTemporarily(ctx, w.user, w.feed(), args[0])
		}
		return s.MoveFeed(ctx, w.user, w.feed(), args[0])
	})
	c.Flags().BoolVar(&temporary, "temporary", false, "send readers there for now (302); they keep the URL")
	return c
}

func (p *commands) feedGone() *cobra.Command {
	return p.redirection(&cobra.Command{
		Use:   "gone --user NAME",
		Short: "Tell a feed's readers that it has ended",
		Long: `Tells the readers of a feed that it has ended: each address of the feed answers 410.
Nothing that was saved is lost; "feed restore" takes it back.`,
		Args: shell.Between(0, 0, ""),
	}, func(ctx context.Context, s *shell.Connection, w whose, _ []string) (client.SavedFeed, error) {
		return s.EndFeed(ctx, w.user, w.feed())
	})
}

func (p *commands) feedRestore() *cobra.Command {
	return p.redirection(&cobra.Command{
		Use:   "restore --user NAME",
		Short: "Serve a feed again that was moved or gone",
		Long:  "Serves a feed again as it was saved, after \"feed move\" or \"feed gone\". Readers who\nhave followed a redirect do not come back by themselves.",
		Args:  shell.Between(0, 0, ""),
	}, func(ctx context.Context, s *shell.Connection, w whose, _ []string) (client.SavedFeed, error) {
		return s.RestoreFeed(ctx, w.user, w.feed())
	})
}

// redirection is a command that changes what a feed's readers are told.
func (p *commands) redirection(c *cobra.Command, call func(context.Context, *shell.Connection, whose, []string) (client.SavedFeed, error)) *cobra.Command {
	var w whose
	var asJSON bool
	c.Long += "\n\n--json prints an object: " + feedFields + "."
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := w.check(c); err != nil {
			return err
		}
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
	c.Flags().BoolVar(&asJSON, "json", false, "as a JSON object")
	return shell.ServerFlags(c)
}

// checkTarget looks at where readers are to go.
func checkTarget(raw string) error {
	u, err := url.Parse(raw)
	if err != nil || !shell.IsURL(raw) || u.Host == "" {
		return shell.Usagef("%q is not where readers can go: it needs http:// or https:// and a host", raw)
	}
	return nil
}
