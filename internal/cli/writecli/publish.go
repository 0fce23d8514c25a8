package writecli

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"cloudburst/feed"
	"cloudburst/feed/opml"
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

// filePost is one run of publish.
type filePost struct {
	p *commands

	file, url, title, link, outline, format string
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
		Short: "Write a post into a feed that is a file, and tell its hubs",
		Long: `Writes a post into the feed in FILE, which the world reads at FEED, and then tells
the hubs that the feed names: each <cloud>, and each hub of WebSub. No server of one's
own is needed. The feed may be RSS, Atom or JSON Feed; everything in it stays as it is,
byte for byte, but for the new item and the dates that say when the feed was made. A
file that is broken is refused, and not touched. When there is no FILE a feed is made,
of RSS 2.0, which names the hubs of --cloud and --hub.

TEXT is Markdown, or what --format says; - reads it from standard input. A post needs no
title. --outline adds the headlines of an OPML file as posts within the post.

Nothing is uploaded. A file of --enclosure is for its type and length only; where the
world reads it says --enclosure-url, one for each file, in their order. An enclosure that
is a URL is asked for both.

A post without a title and without an outline has at most --write.limit characters. A
longer one is published with a warning; --write.limit-mode stop refuses it.

--json prints one object a line: of the post file, id, format, items, dropped, new; then
of each hub feed, door, success, msg, took_ms.`,
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
	f.StringVar(&g.file, "to", "", "`FILE` of the feed")
	f.StringVar(&g.url, "url", "", "`URL` at which the world reads it")
	f.StringVarP(&g.title, "title", "t", "", "`text`: title of the post")
	f.StringVar(&g.link, "link", "", "`URL` of a page that the post is about")
	f.StringArrayVarP(&g.categories, "category", "c", nil, "`name` of a category; may be repeated")
	f.StringArrayVarP(&g.enclosures, "enclosure", "e", nil, "`FILE` or URL that belongs to the post; may be repeated")
	f.StringArrayVar(&g.enclosureURLs, "enclosure-url", nil, "`URL` at which the world reads a file of --enclosure; may be repeated")
	f.StringVar(&g.outline, "outline", "", "OPML `FILE` with posts within the post")
	shell.ChoiceFlag(c, &g.format, "format", "what the text is written in", string(author.Markdown), string(author.HTML), string(author.Plain))
	f.StringArrayVar(&g.clouds, "cloud", nil, "`URL` of an rssCloud that a new feed names; may be repeated")
	f.StringArrayVar(&g.hubs, "hub", nil, "`URL` of a WebSub hub that a new feed names; may be repeated")
	f.StringVar(&g.feedTitle, "feed-title", "", "`text`: title of a new feed (default: the host of --url)")
	f.IntVar(&g.keep, "keep", 0, "most items in the feed, a `number`; the oldest go (default: all stay)")
	f.BoolVar(&g.noPing, "no-ping", false, "tell nobody")
	f.BoolVar(&g.json, "json", false, "one JSON object a line")
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
	// Feeds have seconds; more of them tell two posts of one second apart.
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

// check says what is wrong with the command line.
func (g *filePost) check() error {
	switch {
	case g.file == "":
		return shell.Usagef("publish needs --to FILE: the feed that the post goes into")
	case g.url == "":
		return shell.Usagef("publish needs --url URL: where the world reads the feed, which its hubs are told")
	case rsscloud.CheckFeedURL(g.url) != nil:
		return shell.Usagef("--url is %q: it needs http:// or https:// and a host", g.url)
	case g.link != "" && rsscloud.CheckFeedURL(g.link) != nil:
		return shell.Usagef("--link is %q: it needs http:// or https:// and a host", g.link)
	case g.keep < 0:
		return shell.Usagef("--keep is %d: it needs a number of 1 or more", g.keep)
	}
	for _, u := range g.clouds {
		if rsscloud.CloudAt(u) == (rsscloud.Cloud{}) || rsscloud.CheckFeedURL(u) != nil {
			return shell.Usagef("--cloud is %q: it needs the URL of a hub, such as http://localhost:5337", u)
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
		return shell.Usagef("publish uploads nothing: each file of --enclosure needs an --enclosure-url that says where the world reads it (there are %s and %s)",
			text.Plural(files, "file"), text.Plural(len(g.enclosureURLs), "URL"))
	}
	for _, u := range g.enclosureURLs {
		if err := shell.CheckURL(u); err != nil {
			return shell.AsUsageError(err)
		}
	}
	return nil
}

// content is the post as its author wrote it.
func (g *filePost) content(ctx context.Context, args []string) (author.Content, error) {
	c := author.Content{Title: g.title, Link: g.link, Categories: g.categories, Format: author.Format(g.format)}
	if c.Format == "" {
		c.Format = author.Markdown
	}
	if len(args) > 0 {
		c.Source = args[0]
	}
	if c.Source == "-" {
		in, err := g.p.Inputs().Read(ctx, "-", nil)
		if err != nil {
			return c, err
		}
		c.Source = strings.TrimRight(string(in.Body), "\r\n")
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
		return c, shell.Usagef("publish needs something to publish: a TEXT behind it, a --title, an --enclosure or an --outline")
	}
	return c, nil
}

func (g *filePost) readOutline(ctx context.Context, c *author.Content) error {
	in, err := g.p.Inputs().Read(ctx, g.outline, nil)
	if err != nil {
		return err
	}
	doc, err := opml.ParseBytes(in.Body, nil)
	if err != nil {
		return fmt.Errorf("%s is no outline: %w", g.outline, err)
	}
	title, nodes := author.FromOPML(doc)
	if len(nodes) == 0 {
		return fmt.Errorf("%s has no headlines in it", g.outline)
	}
	c.Outline = nodes
	if c.Title == "" {
		c.Title = title
	}
	return nil
}

// newFeed is what a feed says of itself that is not there yet.
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

// cloudAt is the cloud of a server, by the server's URL or by that of its door pleaseNotify,
// as it can be copied from what another feed says.
func cloudAt(base string) rsscloud.Cloud {
	c := rsscloud.CloudAt(base)
	if u, err := url.Parse(base); err == nil && strings.HasSuffix(strings.ToLower(u.Path), "/pleasenotify") {
		c.Path = u.EscapedPath()
	}
	return c
}

// tell prints what became of the post.
func (g *filePost) report(a feedfile.Added) error {
	for _, l := range a.Lost {
		fmt.Fprintf(g.p.Err, "cloudburst: %s\n", shell.Clean(l))
	}
	if !a.New && (len(g.clouds) > 0 || len(g.hubs) > 0 || g.feedTitle != "") {
		fmt.Fprintf(g.p.Err, "cloudburst: %s was there already, so --cloud, --hub and --feed-title changed nothing\n", shell.Clean(g.file))
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
		what = "is the first of"
	}
	_, err := fmt.Fprintf(g.p.Out, "%s %s %s (%s)\n", shell.Clean(a.ID), what, shell.Clean(g.file), text.Plural(a.Items, "item"))
	return err
}

// ping tells each hub that the feed names now.
func (g *filePost) ping(ctx context.Context) error {
	body, err := os.ReadFile(g.file)
	if err != nil {
		return err
	}
	doc, err := feed.ParseBytes(body, &feed.Options{URL: g.url})
	if err != nil {
		return fmt.Errorf("the post is in %s, but its hubs cannot be found: %w", g.file, err)
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
		fmt.Fprintf(g.p.Err, "cloudburst: the feed names no cloud and no hub, so nobody was told\n")
	case failed:
		fmt.Fprintf(g.p.Err, "cloudburst: the post is in %s; \"cloudburst ping %s\" tries again\n", shell.Clean(g.file), shell.Clean(g.url))
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

// door is one hub of a feed, and how it is told.
type endpoint struct {
	endpoint string
	err      error // why it cannot be
	report   func(ctx context.Context) (ok bool, msg string, err error)
}

// doors are the hubs that a feed names, each once.
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
				return err == nil, "The hub took it.", err
			}})
		}
	}
	return all
}

// cloudElement is a feed with one cloud, which package rsscloud reads.
func cloudElement(c feed.Cloud) string {
	var b strings.Builder
	b.WriteString("<rss><channel><cloud")
	for _, a := range [][2]string{{"domain", c.Domain}, {"port", c.Port}, {"path", c.Path}, {"registerProcedure", c.RegisterProcedure}, {"protocol", c.Protocol}} {
		fmt.Fprintf(&b, ` %s="%s"`, a[0], strings.NewReplacer("&", "&amp;", "<", "&lt;", `"`, "&quot;").Replace(a[1]))
	}
	b.WriteString("/></channel></rss>")
	return b.String()
}

// cloudDoor is how a cloud is told: in its own protocol.
func (g *filePost) cloudEndpoint(c rsscloud.Cloud, err error) endpoint {
	if err != nil {
		return endpoint{endpoint: c.Domain, err: fmt.Errorf("a cloud of the feed cannot be told: %w", err)}
	}
	at, err := c.PingURL()
	if err != nil {
		return endpoint{endpoint: c.Domain, err: fmt.Errorf("a cloud of the feed does not say where to ping: %w", err)}
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
