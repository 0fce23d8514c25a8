package readcli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"cloudburst/client"
	"cloudburst/internal/cli/shell"
	"cloudburst/internal/text"
)

func (p *commands) opmlImport() *cobra.Command {
	var user string
	var o client.OPMLOptions
	var wait, asJSON bool
	c := shell.ServerFlags(&cobra.Command{
		Use:   "import FILE|URL|-",
		Short: "Follow the feeds of a list",
		Long: `Follows the feeds of an OPML document: a file, a URL (which the server reads), or
standard input for -. Folders become categories. The server stores the feeds in batches:
after an interruption the stored feeds stay, and you can run the import again. The
running server reads the feeds afterwards; --wait waits until each is read once.

With --follow the server also follows the list itself: it follows feeds that are added
to the list and stops following feeds that are removed from it.

--json prints an object: title, found, added, had, over_limit, limit, lists, skipped,
problems.`,
		Example: `  cloudburst opml import subscriptions.opml
  cloudburst opml import --follow --category Rivers https://example.org/rivers.opml`,
		Args: shell.Between(1, 1, "one FILE or URL, or - for standard input"),
		RunE: func(c *cobra.Command, args []string) error {
			var doc io.Reader
			switch {
			case shell.IsURL(args[0]):
				o.URL = args[0]
			case o.Follow:
				return shell.Usagef("--follow needs a URL: the server cannot read a file again")
			default:
				in, err := p.Inputs().Read(c.Context(), args[0], nil)
				if err != nil {
					return err
				}
				doc = bytes.NewReader(in.Body)
			}
			return p.WithServer(c, true, func(ctx context.Context, s *shell.Connection) error {
				return p.importOPML(ctx, s, user, doc, o, wait, asJSON)
			})
		},
	})
	ofReader(c, &user)
	c.Flags().StringVar(&o.Category, "category", "", "also put all feeds into the category with this `name`")
	c.Flags().BoolVar(&o.Follow, "follow", false, "also follow changes of the list")
	c.Flags().BoolVar(&wait, "wait", false, "wait until the server has read each feed once")
	c.Flags().BoolVar(&asJSON, "json", false, "print a JSON object")
	return c
}

func (p *commands) importOPML(ctx context.Context, s *shell.Connection, user string, doc io.Reader, o client.OPMLOptions, wait, asJSON bool) error {
	bar := shell.NewProgress(p.Err, "imported")
	o.Progress = bar.At
	r := s.River(user)
	res, err := r.ImportOPML(ctx, doc, o)
	bar.End()
	if err != nil {
		if res.Added > 0 {
			fmt.Fprintf(p.Err, "cloudburst: %s added, %d already followed.\n", text.Plural(res.Added, "feed"), res.Existing)
		}
		return err
	}
	for _, problem := range res.Problems {
		fmt.Fprintf(p.Err, "cloudburst: %s\n", shell.Clean(problem))
	}
	if asJSON {
		err = shell.JSONLines(p.Out).Encode(res)
	} else {
		err = p.printImported(&res, o.Follow)
	}
	if err != nil {
		return err
	}
	if !s.Running {
		if res.Added+res.Lists > 0 {
			fmt.Fprintln(p.Err, "No server is running: the next start (cloudburst serve) reads the feeds.")
		}
		return nil
	}
	if wait {
		if err := p.awaitRead(ctx, r, res.Found); err != nil {
			return err
		}
	}
	p.printHowToWatch(ctx, s, user)
	return nil
}

func (p *commands) printImported(res *client.ImportedOPML, follow bool) error {
	line := "Found " + text.Plural(res.Found, "feed")
	if title := oneLine(res.Title); title != "" {
		line += " in “" + shell.Clip(title, 100) + "”"
	}
	line += fmt.Sprintf(": %d new, %d already followed", res.Added, res.Existing)
	if res.Skipped > 0 {
		line += fmt.Sprintf(", %d without a usable URL", res.Skipped)
	}
	if res.OverLimit > 0 {
		line += fmt.Sprintf(", %d over the limit of %d", res.OverLimit, res.Limit)
	}
	switch {
	case follow:
		line += "; changes of the list are followed"
	case res.Lists > 0:
		line += "; " + text.Plural(res.Lists, "list") + " in it followed"
	}
	_, err := fmt.Fprintln(p.Out, line+".")
	return err
}

// awaitRead waits until the server has read each feed once. It queries the server at intervals that
// grow with the waiting time.
func (p *commands) awaitRead(ctx context.Context, r *client.River, found int) error {
	bar := shell.NewProgress(p.Err, "read")
	defer bar.End()
	for {
		asked := time.Now()
		left := 0
		for src, err := range r.Sources(ctx, client.SourceQuery{}) {
			if err != nil {
				return err
			}
			if src.State == "new" {
				left++
			}
		}
		bar.At(max(found-left, 0), found)
		if left == 0 {
			return nil
		}
		if err := shell.Wait(ctx, max(200*time.Millisecond, 10*time.Since(asked))); err != nil {
			return err
		}
	}
}

// printHowToWatch prints which page or command shows new items.
func (p *commands) printHowToWatch(ctx context.Context, s *shell.Connection, user string) {
	command := "cloudburst river"
	if user != "" {
		command += " --user " + user
	}
	text := "Watch them arrive: " + command
	if st, err := s.Status(ctx); err == nil && st.PublicURL != "" {
		text += ", or " + shell.Clean(st.PublicURL) + "/river"
	}
	fmt.Fprintln(p.Err, text)
}
