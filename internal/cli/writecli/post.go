package writecli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"cloudburst/client"
	"cloudburst/feed/opml"
	"cloudburst/internal/api/form"
	"cloudburst/internal/author"
	"cloudburst/internal/cli/shell"
)

const postFields = `id, user, revision, state, url, slug, guid, key, created_at, updated_at,
published_at, due_at, undo_until, warning, title, source, format, html, link,
categories, enclosures, reply, card, outline, language, groups`

// posting holds the flags of the command post.
type posting struct {
	user, title, slug, at         string
	reply, link, format           string
	outline, language, key        string
	categories, enclosures, words []string // words has the descriptions of the images
	to                            []string // slugs of the groups that the post is for
	draft, asJSON                 bool
}

func (p *commands) post() *cobra.Command {
	var o posting
	c := shell.ServerFlags(&cobra.Command{
		Use:   "post [TEXT|-]",
		Short: "Publish a post and notify its subscribers",
		Long: `Creates a post of a user, publishes it and prints the URL of its page. TEXT is the text
of the post in Markdown, or in the format of --format; - reads it from standard input. A
post needs no text if it has a title, a link, a file or an outline.

-e adds a file: the command uploads a local file to the server; a file at a URL stays
there. --outline creates the post from an OPML file with nested headlines; the title of
the file becomes the title of the post. --at schedules the post, or sets a date in the
past.

--to publishes the post for a group only: it is in the private feed of that group and
nowhere else. "group list" prints the groups.

Works on the running server, or on the data folder when none runs; in that case the
server notifies subscribers when it starts.

--json prints the post: ` + postFields + `.`,
		Example: `  cloudburst post --user alice 'Good morning!'
  cloudburst post --user alice -t 'Episode 12' -c Podcast -e episode12.mp3 - <notes.md
  cloudburst post --user alice --to family 'The party is at eight.'
  cloudburst post --user alice --at '2026-12-24 18:00' 'Merry Christmas!'`,
		Args: shell.Between(0, -1, ""),
		RunE: func(c *cobra.Command, args []string) error {
			if err := o.check(args); err != nil {
				return err
			}
			change, err := p.written(c.Context(), &o, args)
			if err != nil {
				return err
			}
			return p.WithServer(c, false, func(ctx context.Context, s *shell.Connection) error { return p.publish(ctx, s, &o, change) })
		},
	})
	f := c.Flags()
	ofWriter(c, &o.user)
	f.StringVarP(&o.title, "title", "t", "", "`title` of the post; short posts have none")
	f.StringArrayVarP(&o.categories, "category", "c", nil, "`category` of the post; may be repeated")
	f.StringArrayVar(&o.to, "to", nil, "`group` of readers for whom the post is; may be repeated; without it, the post is public")
	f.StringArrayVarP(&o.enclosures, "enclosure", "e", nil, "`file` or URL of an attached file; may be repeated")
	f.StringArrayVar(&o.words, "alt", nil, "`text` alternative for an image, in the order of -e; may be repeated")
	f.StringVar(&o.outline, "outline", "", "OPML `file` with the outline of the post")
	f.BoolVar(&o.draft, "draft", false, "save the post as a draft, visible only to its author")
	f.StringVar(&o.at, "at", "", "`time` of publication, in the future or the past: 2026-12-24 18:00, 18:00, or with a zone as 2026-12-24T18:00:00Z")
	f.StringVar(&o.reply, "reply", "", "`URL` of the post to reply to")
	f.StringVar(&o.link, "link", "", "`URL` of the page that the post is about")
	shell.ChoiceFlag(c, &o.format, "format", "format of the text", "markdown", "html", "text")
	f.StringVar(&o.slug, "slug", "", "`word` at the end of the post's URL")
	f.StringVar(&o.language, "language", "", "`code` of the post's language: en, de-CH")
	f.StringVar(&o.key, "key", "", "unique `name` of this post in your program; a second call with the same name creates no second post")
	f.BoolVar(&o.asJSON, "json", false, "print the post as a JSON object")
	return c
}

// ofWriter adds the flag that selects the author.
func ofWriter(c *cobra.Command, user *string) {
	c.Flags().StringVar(user, "user", "", "`name` of the author; optional if the server has only one user")
}

// check rejects contradictory flags and arguments.
func (o *posting) check(args []string) error {
	switch {
	case o.draft && o.at != "":
		return shell.Usagef("--draft and --at cannot be combined: a draft has no time of publication")
	case len(o.words) > len(o.enclosures):
		return shell.Usagef("there are more image descriptions (--alt: %d) than files (-e: %d)", len(o.words), len(o.enclosures))
	case len(args) > 1 && args[0] == "-":
		return shell.Usagef("- reads the text from standard input: remove the other arguments")
	case len(args) == 0 && o.title == "" && o.link == "" && len(o.enclosures) == 0 && o.outline == "":
		return shell.Usagef("the post is empty: add a TEXT, or - to read it from standard input")
	case o.outline == "-" && len(args) > 0 && args[0] == "-":
		return shell.Usagef("standard input (-) can be read only once")
	}
	return nil
}

// written returns the post that the command line describes, without the values that only the server
// knows.
func (p *commands) written(ctx context.Context, o *posting, args []string) (client.PostChange, error) {
	var c client.PostChange
	set := func(to **string, s string) {
		if s != "" {
			*to = &s
		}
	}
	text := strings.Join(args, " ")
	if text == "-" {
		var err error
		if text, err = p.readText(ctx, "-"); err != nil {
			return c, err
		}
	}
	if err := cmp.Or(checkText("the text", text), checkText("--title", o.title), checkText("--category", o.categories...),
		checkText("--alt", o.words...), checkText("--slug", o.slug)); err != nil {
		return c, err
	}
	if o.at != "" {
		at, err := parseAt(o.at, time.Now())
		if err != nil {
			return c, err
		}
		c.At = &at
	}
	if o.outline != "" {
		title, list, err := p.outlineOf(ctx, o.outline)
		if err != nil {
			return c, err
		}
		nodes := form.Nodes(list)
		c.Outline = &nodes
		set(&c.Title, title)
	}
	set(&c.Title, o.title)
	set(&c.Source, text)
	set(&c.Format, o.format)
	set(&c.Link, o.link)
	set(&c.Slug, o.slug)
	set(&c.Language, o.language)
	if len(o.categories) > 0 {
		c.Categories = &o.categories
	}
	if len(o.to) > 0 {
		c.Groups = &o.to
	}
	if o.reply != "" {
		c.Reply = &client.PostReply{URL: o.reply}
	}
	state := string(author.Published)
	if o.draft {
		state = string(author.Draft)
	}
	c.State = &state
	return c, nil
}

// parseAt parses a time. A time without a zone is in the local time zone. A time without a date is
// the next time with this hour and minute.
func parseAt(text string, now time.Time) (time.Time, error) {
	if t, err := time.Parse(time.RFC3339Nano, text); err == nil {
		return t, nil
	}
	for _, layout := range []string{"2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02"} {
		if t, err := time.ParseInLocation(layout, text, time.Local); err == nil {
			return t, nil
		}
	}
	if t, err := time.ParseInLocation("15:04", text, time.Local); err == nil {
		y, m, d := now.In(time.Local).Date()
		at := time.Date(y, m, d, t.Hour(), t.Minute(), 0, 0, time.Local)
		if !at.After(now) {
			at = at.AddDate(0, 0, 1)
		}
		return at, nil
	}
	return time.Time{}, shell.Usagef("invalid time %q for --at: write 2026-12-24 18:00, 18:00, or with a zone 2026-12-24T18:00:00Z", text)
}

// outlineOf reads an outline from an OPML file.
func (p *commands) outlineOf(ctx context.Context, name string) (title string, nodes []author.Node, err error) {
	in, err := p.Inputs().Read(ctx, name, nil)
	if err != nil {
		return "", nil, err
	}
	doc, err := opml.ParseBytes(in.Body, nil)
	if err != nil {
		return "", nil, fmt.Errorf("%s is not an outline: %w", name, err)
	}
	title, nodes = author.FromOPML(doc)
	if len(nodes) == 0 {
		return "", nil, fmt.Errorf("%s contains no headlines", name)
	}
	return title, nodes, nil
}

// publish uploads the files, sends the post and prints the URL of the post.
func (p *commands) publish(ctx context.Context, s *shell.Connection, o *posting, c client.PostChange) error {
	user, err := writer(ctx, s, o.user)
	if err != nil {
		return err
	}
	// Let the server check the post before any file is uploaded.
	if _, err := s.PreviewPost(ctx, user, c); err != nil {
		return err
	}
	if err := readable(o.enclosures); err != nil {
		return err
	}
	var files []client.PostEnclosure
	for i, name := range o.enclosures {
		e := client.PostEnclosure{URL: name}
		if !shell.IsURL(name) {
			if e, err = p.upload(ctx, s, user, name); err != nil {
				return err
			}
		}
		if i < len(o.words) {
			e.Alt = o.words[i]
		}
		files = append(files, e)
	}
	if len(files) > 0 {
		c.Enclosures = &files
	}
	made, err := s.CreatePost(ctx, user, c, o.key)
	if err != nil {
		return err
	}
	if made.Warning != "" {
		fmt.Fprintf(p.Err, "cloudburst: %s\n", shell.Clean(made.Warning))
	}
	if o.asJSON {
		return shell.JSONLines(p.Out).Encode(made)
	}
	return p.printResult(made)
}

// printResult prints the URL of a published post, or the state and time of any other post.
func (p *commands) printResult(made client.Post) (err error) {
	switch {
	case made.State == string(author.Published):
		_, err = fmt.Fprintln(p.Out, made.URL)
	case made.State == string(author.Scheduled):
		_, err = fmt.Fprintf(p.Out, "Post %d of %s is published at %s.\n", made.ID, made.User, shell.FormatTime(made.DueAt))
	case made.State == string(author.ForGroups):
		_, err = fmt.Fprintf(p.Out, "Post %d of %s is published for: %s.\n", made.ID, made.User, strings.Join(made.Groups, ", "))
	default:
		_, err = fmt.Fprintf(p.Out, "Post %d of %s is a %s.\n", made.ID, made.User, made.State)
	}
	return err
}

// writer returns the name of the author: name, or the only user of the server if name is "".
func writer(ctx context.Context, s *shell.Connection, name string) (string, error) {
	if name != "" {
		return name, nil
	}
	var names []string
	for u, err := range s.Users(ctx, 2) {
		if err != nil {
			return "", err
		}
		names = append(names, u.Name)
	}
	switch len(names) {
	case 0:
		return "", errors.New("there are no users yet: add one with \"cloudburst user add NAME\"")
	case 1:
		return names[0], nil
	}
	return "", shell.Usagef("there are several users: name the author with --user")
}

// readable checks that all files can be read, before the first upload.
func readable(names []string) error {
	for _, name := range names {
		if shell.IsURL(name) {
			continue
		}
		info, err := os.Stat(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return shell.NoSuchFile(name)
		case err != nil:
			return fmt.Errorf("%s cannot be read: %w", name, shell.PlainPathError(err))
		case !info.Mode().IsRegular():
			return fmt.Errorf("%s is not a regular file", name)
		}
	}
	return nil
}

// upload sends a file and shows the progress on a terminal.
func (p *commands) upload(ctx context.Context, s *shell.Connection, user, name string) (client.PostEnclosure, error) {
	f, err := os.Open(name)
	if err != nil {
		return client.PostEnclosure{}, fmt.Errorf("%s cannot be read: %w", name, shell.PlainPathError(err))
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return client.PostEnclosure{}, fmt.Errorf("%s cannot be read: %w", name, shell.PlainPathError(err))
	}
	base := filepath.Base(name)
	r := &watched{Reader: f, name: base, size: info.Size()}
	if shell.IsTerminal(p.Err) {
		r.to = p.Err
	}
	stored, err := s.Upload(ctx, user, base, "", info.Size(), r)
	r.end()
	if err != nil {
		return client.PostEnclosure{}, fmt.Errorf("%s cannot be uploaded: %w", name, err)
	}
	return client.PostEnclosure{URL: stored.Path, Type: stored.Type, Length: stored.Size}, nil
}

// watched is a reader that displays the progress of reading a file.
type watched struct {
	io.Reader
	to         io.Writer // output of the progress; nil: the progress is not displayed
	name       string
	size, done int64
	shown      time.Time
}

func (w *watched) Read(b []byte) (int, error) {
	n, err := w.Reader.Read(b)
	w.done += int64(n)
	if now := time.Now(); w.to != nil && w.size > 0 && now.Sub(w.shown) > 200*time.Millisecond {
		w.shown = now
		_, _ = fmt.Fprintf(w.to, "\r%s: %d %%\033[K", shell.Clean(w.name), 100*w.done/w.size)
	}
	return n, err
}

// end removes the progress display.
func (w *watched) end() {
	if !w.shown.IsZero() {
		_, _ = fmt.Fprint(w.to, "\r\033[K")
	}
}
