package writecli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"cloudburst/feed"
	"cloudburst/internal/author"
	"cloudburst/internal/cli/hubclient"
	"cloudburst/internal/cli/shell"
	"cloudburst/internal/config"
	"cloudburst/internal/fault"
	"cloudburst/internal/feedfile"
	"cloudburst/internal/text"
	"cloudburst/protocol/rsscloud"
	"cloudburst/protocol/websub"
)

// filePost is one run of the command publish.
type filePost struct {
	p *commands

	file, url, title, link, outline, format string
	reply                                   string
	categories, enclosures, enclosureURLs   []string
	clouds, hubs                            []string
	feedTitle                               string
	keep                                    int
	noPing, json                            bool
}

func (p *commands) publishFile() *cobra.Command {
	g := &filePost{p: p}
	c := &cobra.Command{
		Use:   "publish --to FILE --url FEED [TEXT|-]",
		Short: "Add a post to a feed file and notify its hubs",
		Long: `Adds a post to the feed in FILE, whose public URL is FEED, and notifies the hubs that
the feed names: each <cloud> and each WebSub hub. You need no server of your own. The
feed may be RSS, Atom or JSON Feed. The command changes only the new item and the build
dates of the feed; all other bytes stay the same. It rejects an invalid file without
changing it. If FILE does not exist, the command creates an RSS 2.0 feed with the hubs
of --cloud and --hub.

TEXT is Markdown, or the format of --format; - reads it from standard input. A post
needs no title. --outline adds the headlines of an OPML file as nested posts.

The command uploads nothing. It reads a file of --enclosure only for its type and length;
--enclosure-url is the public URL of the file, once for each file in the same order. If
an enclosure is a URL, the command requests type and length from its server.

A post without a title and without an outline has at most --write.limit characters. A
longer post is published with a warning; --write.limit-mode stop rejects it.

--json prints one object per line: first for the post file, id, format, items, dropped,
new; then for each hub feed, door, success, msg, took_ms.`,
		Example: "  cloudburst publish --to www/rss.xml --url http://example.org/rss.xml \"It is raining.\"\n  cloudburst publish --to rss.xml --url http://example.org/rss.xml -t Picture -c photos -e rain.jpg --enclosure-url http://example.org/rain.jpg",
		Args:    shell.Between(0, 1, "one TEXT, in quotes, or - for standard input"),
		RunE: func(c *cobra.Command, args []string) error {
			e, err := p.LoadConfig(c.Flags())
			if err != nil {
				return err
			}
			return g.run(c.Context(), e.Config.Write, args)
		},
	}
	f := c.Flags()
	config.AddFlags(f, "profile", "write.limit", "write.limit-mode")
	f.StringVar(&g.file, "to", "", "`FILE` that contains the feed")
	f.StringVar(&g.url, "url", "", "public `URL` of the feed")
	f.StringVarP(&g.title, "title", "t", "", "`title` of the post")
	f.StringVar(&g.link, "link", "", "`URL` of a page that the post is about")
	f.StringVar(&g.reply, "reply", "", "`URL` of the post to reply to")
	f.StringArrayVarP(&g.categories, "category", "c", nil, "`name` of a category; may be repeated")
	f.StringArrayVarP(&g.enclosures, "enclosure", "e", nil, "`FILE` or URL attached to the post; may be repeated")
	f.StringArrayVar(&g.enclosureURLs, "enclosure-url", nil, "public `URL` of a file of --enclosure; may be repeated")
	f.StringVar(&g.outline, "outline", "", "OPML `FILE` with nested posts")
	shell.ChoiceFlag(c, &g.format, "format", "format of the text", string(author.Markdown), string(author.HTML), string(author.Plain))
	f.StringArrayVar(&g.clouds, "cloud", nil, "`URL` of an rssCloud server for a new feed; may be repeated")
	f.StringArrayVar(&g.hubs, "hub", nil, "`URL` of a WebSub hub for a new feed; may be repeated")
	f.StringVar(&g.feedTitle, "feed-title", "", "`title` of a new feed (default: the host of --url)")
	f.IntVar(&g.keep, "keep", 0, "maximum `number` of items in the feed; older items are removed (default: no limit)")
	f.BoolVar(&g.noPing, "no-ping", false, "do not notify the hubs")
	f.BoolVar(&g.json, "json", false, "print one JSON object per line")
	return c
}

func (g *filePost) run(ctx context.Context, write config.Write, args []string) error {
	if err := g.check(); err != nil {
		return err
	}
	content, err := g.content(ctx, args)
	if err != nil {
		return err
	}
	posts := &author.Posts{Limit: write.Limit, LimitMode: write.LimitMode}
	content, measure, err := posts.Preview(content)
	if err == nil && write.LimitMode == author.LimitStop {
		err = measure.Refusal()
	}
	if err != nil {
		return errors.New(fault.Message(err))
	}
	now := time.Now().UTC()
	// Dates in feeds have a resolution of one second. GUIDs need a higher resolution, so that two
	// posts in one second have different GUIDs.
	id := g.url + "#" + now.Format("2006-01-02T15:04:05.000000Z")
	it := posts.Item(author.Post{GUID: id, PublishedAt: now.Truncate(time.Second), UpdatedAt: now.Truncate(time.Second), Content: content})
	it.IDFrom = feed.FromID
	added, err := feedfile.Write(ctx, g.file, &it, feedfile.Options{URL: g.url, Now: now, Keep: g.keep, New: g.newFeed()})
	if err != nil {
		return err
	}
	if warning := measure.Warning(); warning != "" {
		fmt.Fprintf(g.p.Err, "cloudburst: %s\n", warning)
	}
	if err := g.report(added); err != nil {
		return err
	}
	if g.noPing {
		return nil
	}
	return g.ping(ctx)
}

// check validates the command line.
func (g *filePost) check() error {
	switch {
	case g.file == "":
		return shell.Usagef("publish needs --to FILE: the file of the feed")
	case g.url == "":
		return shell.Usagef("publish needs --url URL: the public URL of the feed")
	case rsscloud.CheckFeedURL(g.url) != nil:
		return shell.Usagef("--url is %q: it must be an http or https URL with a host", g.url)
	case g.link != "" && rsscloud.CheckFeedURL(g.link) != nil:
		return shell.Usagef("--link is %q: it must be an http or https URL with a host", g.link)
	case g.reply != "" && rsscloud.CheckFeedURL(g.reply) != nil:
		return shell.Usagef("--reply is %q: it must be an http or https URL with a host", g.reply)
	case g.keep < 0:
		return shell.Usagef("--keep is %d: it must be 1 or more", g.keep)
	}
	for _, u := range g.clouds {
		if rsscloud.CloudAt(u) == (rsscloud.Cloud{}) || rsscloud.CheckFeedURL(u) != nil {
			return shell.Usagef("--cloud is %q: it must be the URL of a hub, such as http://localhost:5337", u)
		}
	}
	for _, u := range g.hubs {
		if err := hubclient.CheckURL("--hub", u); err != nil {
			return err
		}
	}
	files := 0
	for _, e := range g.enclosures {
		if !shell.IsURL(e) {
			files++
		}
	}
	if files != len(g.enclosureURLs) {
		return shell.Usagef("publish uploads nothing: each file of --enclosure needs its public URL in --enclosure-url (%s, %s)",
			text.Plural(files, "file"), text.Plural(len(g.enclosureURLs), "URL"))
	}
	for _, u := range g.enclosureURLs {
		if err := shell.CheckURL(u); err != nil {
			return shell.AsUsageError(err)
		}
	}
	return nil
}

// content returns the content of the post that the command line describes.
func (g *filePost) content(ctx context.Context, args []string) (author.Content, error) {
	c := author.Content{Title: g.title, Link: g.link, Categories: g.categories, Format: author.Format(g.format)}
	c.Format = cmp.Or(c.Format, author.Markdown)
	if g.reply != "" {
		c.Reply = &author.Reply{URL: g.reply}
	}
	if len(args) > 0 {
		c.Source = args[0]
	}
	if c.Source == "-" {
		text, err := g.p.readText(ctx, "-")
		if err != nil {
			return c, err
		}
		c.Source = strings.TrimRight(text, "\r\n")
	}
	if err := cmp.Or(checkText("the text", c.Source), checkText("--title", g.title), checkText("--category", g.categories...),
		checkText("--feed-title", g.feedTitle)); err != nil {
		return c, err
	}
	if g.outline != "" {
		if err := g.readOutline(ctx, &c); err != nil {
			return c, err
		}
	}
	var err error
	if c.Enclosures, err = g.files(ctx); err != nil {
		return c, err
	}
	if strings.TrimSpace(c.Source) == "" && c.Title == "" && len(c.Outline) == 0 && len(c.Enclosures) == 0 {
		return c, shell.Usagef("publish needs a TEXT, a --title, an --enclosure or an --outline")
	}
	return c, nil
}

func (g *filePost) readOutline(ctx context.Context, c *author.Content) error {
	title, nodes, err := g.p.outlineOf(ctx, g.outline)
	if err != nil {
		return err
	}
	c.Outline = nodes
	c.Title = cmp.Or(c.Title, title)
	return nil
}

// newFeed returns the channel of a feed that does not exist yet.
func (g *filePost) newFeed() *feed.Feed {
	u, err := url.Parse(g.url)
	if err != nil {
		return nil
	}
	f := &feed.Feed{Title: feed.Text{Value: u.Host}, Link: u.Scheme + "://" + u.Host + "/", Generator: &feed.Generator{Name: "Cloudburst " + g.p.Version}}
	if g.feedTitle != "" {
		f.Title.Value = g.feedTitle
	}
	f.Subtitle = f.Title
	for _, base := range g.clouds {
		c := cloudAt(base)
		f.Clouds = append(f.Clouds, feed.Cloud{Domain: c.Domain, Port: fmt.Sprint(c.Port), Path: c.Path, RegisterProcedure: c.RegisterProcedure, Protocol: c.Protocol})
	}
	for _, u := range g.hubs {
		f.Hubs = append(f.Hubs, feed.Hub{Type: "WebSub", URL: u})
	}
	if len(f.Clouds) > 0 {
		f.Cloud = &f.Clouds[0]
	}
	return f
}

// cloudAt returns the cloud of a server. base is the URL of the server, or the URL of the endpoint
// pleaseNotify that other feeds contain.
func cloudAt(base string) rsscloud.Cloud {
	c := rsscloud.CloudAt(base)
	if u, err := url.Parse(base); err == nil && strings.HasSuffix(strings.ToLower(u.Path), "/pleasenotify") {
		c.Path = u.EscapedPath()
	}
	return c
}

// report prints what publish has changed in the file.
func (g *filePost) report(a feedfile.Added) error {
	for _, l := range a.Lost {
		fmt.Fprintf(g.p.Err, "cloudburst: %s\n", shell.Clean(l))
	}
	if !a.New && (len(g.clouds) > 0 || len(g.hubs) > 0 || g.feedTitle != "") {
		fmt.Fprintf(g.p.Err, "cloudburst: %s already exists; --cloud, --hub and --feed-title have no effect\n", shell.Clean(g.file))
	}
	if g.json {
		return shell.JSONLines(g.p.Out).Encode(struct {
			File    string `json:"file"`
			ID      string `json:"id"`
			Format  string `json:"format"`
			Items   int    `json:"items"`
			Dropped int    `json:"dropped"`
			New     bool   `json:"new"`
		}{g.file, a.ID, a.Format, a.Items, a.Dropped, a.New})
	}
	what := "added to"
	if a.New {
		what = "is the first post of"
	}
	_, err := fmt.Fprintf(g.p.Out, "%s %s %s (%s)\n", shell.Clean(a.ID), what, shell.Clean(g.file), text.Plural(a.Items, "item"))
	return err
}

// ping notifies each hub that the feed in the file names.
func (g *filePost) ping(ctx context.Context) error {
	body, err := os.ReadFile(g.file)
	if err != nil {
		return err
	}
	doc, err := feed.ParseBytes(body, &feed.Options{URL: g.url})
	if err != nil {
		return fmt.Errorf("the post is in %s, but reading its hubs failed: %w", g.file, err)
	}
	failed, notified := false, false
	for _, one := range g.endpoints(doc) {
		notified = true
		r := hubclient.PingResult{Feed: g.url, Via: one.endpoint, Msg: sentenceOf(one.err), Failed: true}
		if one.err == nil {
			r = hubclient.TimePing(g.url, one.endpoint, func() (bool, string, error) { return one.report(ctx) })
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		failed = failed || !r.Success
		if err := g.p.PrintPing(r, g.json); err != nil {
			return err
		}
	}
	switch {
	case !notified:
		fmt.Fprintf(g.p.Err, "cloudburst: the feed names no cloud and no hub; no hub was notified\n")
	case failed:
		fmt.Fprintf(g.p.Err, "cloudburst: the post is in %s; run \"cloudburst ping %s\" to try again\n", shell.Clean(g.file), shell.Clean(g.url))
		return shell.ErrReported
	}
	return nil
}

func sentenceOf(err error) string {
	if err == nil {
		return ""
	}
	return shell.Sentence(err)
}

// endpoint is the ping endpoint of one hub of a feed.
type endpoint struct {
	endpoint string
	err      error // reason why the hub cannot be notified; nil: it can
	report   func(ctx context.Context) (ok bool, msg string, err error)
}

// endpoints returns the ping endpoints of the hubs that a feed names, without duplicates.
func (g *filePost) endpoints(doc *feed.Feed) []endpoint {
	var all []endpoint
	seen := map[string]bool{}
	add := func(d endpoint) {
		if !seen[d.endpoint] || d.err != nil {
			seen[d.endpoint] = true
			all = append(all, d)
		}
	}
	for _, c := range doc.Clouds {
		add(g.cloudEndpoint(rsscloud.FindCloud([]byte(cloudElement(c)), g.url)))
	}
	for _, h := range doc.Hubs {
		switch {
		case strings.EqualFold(h.Type, "rssCloud"):
			protocol, host, port, path, err := rsscloud.SplitCallback(rsscloud.HTTPPost, h.URL)
			add(g.cloudEndpoint(rsscloud.Cloud{Domain: host, Port: port, Path: path, Protocol: protocol}, err))
		case strings.EqualFold(h.Type, "WebSub"):
			add(endpoint{endpoint: h.URL, err: websub.CheckURL("The hub", h.URL), report: func(ctx context.Context) (bool, string, error) {
				client := g.p.WebSubClient()
				err := client.Publish(ctx, h.URL, g.url)
				if err != nil {
					err = hubclient.WebSubError(h.URL, err)
				}
				return err == nil, "The hub accepted the ping.", err
			}})
		}
	}
	return all
}

// cloudElement returns a minimal feed with one <cloud> element, because package rsscloud parses
// only complete feeds.
func cloudElement(c feed.Cloud) string {
	var b strings.Builder
	b.WriteString("<rss><channel><cloud")
	for _, a := range [][2]string{{"domain", c.Domain}, {"port", c.Port}, {"path", c.Path}, {"registerProcedure", c.RegisterProcedure}, {"protocol", c.Protocol}} {
		fmt.Fprintf(&b, ` %s="%s"`, a[0], strings.NewReplacer("&", "&amp;", "<", "&lt;", `"`, "&quot;").Replace(a[1]))
	}
	b.WriteString("/></channel></rss>")
	return b.String()
}

// cloudEndpoint returns the ping endpoint of a cloud and its protocol.
func (g *filePost) cloudEndpoint(c rsscloud.Cloud, err error) endpoint {
	if err != nil {
		return endpoint{endpoint: c.Domain, err: fmt.Errorf("a cloud of the feed cannot be pinged: %w", err)}
	}
	at, err := c.PingURL()
	if err != nil {
		return endpoint{endpoint: c.Domain, err: fmt.Errorf("a cloud of the feed has no valid ping endpoint: %w", err)}
	}
	protocol := c.Protocol
	if protocol != rsscloud.XMLRPC && protocol != rsscloud.SOAP {
		protocol = rsscloud.HTTPPost
	}
	return endpoint{endpoint: at, report: func(ctx context.Context) (bool, string, error) {
		client := rsscloud.Client{HTTP: g.p.HTTP, UserAgent: g.p.UserAgent()}
		r, err := client.Ping(ctx, protocol, at, g.url)
		return r.Success, r.Msg, err
	}}
}
