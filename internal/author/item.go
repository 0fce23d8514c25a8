package author

import (
	"cmp"
	"encoding/json"
	"html"
	"strings"
	"time"

	"cloudburst/feed"
	"cloudburst/internal/href"
)

// itemWriter converts posts to feed items.
type itemWriter struct {
	origin string                   // URL of this server: "https://example.org"
	locate func(path string) string // see [Posts].Locate; nil: all paths are at origin
}

func (p *Posts) items() itemWriter { return itemWriter{p.origin(), p.Locate} }

// Path returns the path of a post's page by its UTC date: "/alice/2026/11/22/hello". The path is ""
// for a post that was never published or is private.
func (p *Posts) Path(post Post) string { return p.items().path(post) }

func (w itemWriter) path(post Post) string { return PathOf(post) }

// Address returns the URL of a post's page; see [Posts.Path].
func (p *Posts) Address(post Post) string { return p.items().address(post) }

func (w itemWriter) address(post Post) string {
	path := w.path(post)
	if path == "" {
		return ""
	}
	return w.at(path)
}

// at returns the URL of a path on this server.
func (w itemWriter) at(path string) string {
	if w.locate != nil {
		return w.locate(path)
	}
	return w.origin + path
}

func (p *Posts) origin() string {
	if p.Origin == nil {
		return ""
	}
	return p.Origin()
}

// absolute returns the URL of a path on this server. It returns a URL unchanged.
func (w itemWriter) absolute(ref string) string {
	if strings.HasPrefix(ref, "/") {
		return w.at(ref)
	}
	return ref
}

// Item returns a post as a feed item.
func (p *Posts) Item(post Post) feed.Item { return p.items().item(post) }

func (w itemWriter) item(post Post) feed.Item {
	var it feed.Item
	if post.Rest != nil {
		it = *post.Rest.Clone()
	}
	it.ID, it.PermaLink = post.GUID, post.PermaLink && post.State != ForGroups // a private post has no page
	it.Title = plainText(post.Title)
	it.Link = post.Link
	if it.Link == "" {
		it.Link = w.address(post)
	}
	it.Summary = htmlText(post.HTML+images(&post.Content)+cardLink(&post.Content), post.Language, w.page(post))
	it.Published = dateOf(post.PublishedAt)
	it.Updated = feed.Date{}
	if post.UpdatedAt.Sub(post.PublishedAt) >= time.Second {
		it.Updated = dateOf(post.UpdatedAt)
	}
	it.Categories = categoriesOf(post.Categories, it.Categories)
	it.Enclosures = w.enclosuresOf(post.Enclosures)
	it.Media = w.addMedia(it.Media, post.Enclosures, post.Title != "")
	it.More = moreOf(post, it.More)
	if it.More.CommentsFeed == "" {
		it.More.CommentsFeed = w.absolute(CommentsPath(post))
	}
	w.nest(&it, post)
	if excerpt := excerptOf(&post.Content); excerpt != "" && len(it.Content) == 0 {
		it.Content, it.Summary = []feed.Text{it.Summary}, plainText(excerpt)
	}
	return it
}

// excerptOf returns the excerpt that the author wrote; "": no excerpt. MetaWeblog clients store it
// in the summary of Rest, and Micropub clients in a property.
func excerptOf(c *Content) string {
	if c.Rest != nil && c.Rest.Summary.Value != "" {
		return c.Rest.Summary.Value
	}
	var summary []string
	if json.Unmarshal(c.Properties["summary"], &summary) == nil && len(summary) == 1 {
		return summary[0]
	}
	return ""
}

// images returns HTML for the images of a post that its text does not show, because many readers do
// not show enclosures.
//
// spec:cloudburst#post-images
func images(c *Content) string {
	var b strings.Builder
	for _, e := range c.Enclosures {
		if at := html.EscapeString(e.URL); strings.HasPrefix(e.Type, "image/") && !strings.Contains(c.HTML, at) {
			b.WriteString(`<p><img src="` + at + `" alt="` + html.EscapeString(e.Alt) + `"></p>`)
		}
	}
	return b.String()
}

// cardLink returns HTML with the link of a post's card; "" if the text already contains the link.
//
// spec:cloudburst#link-card
func cardLink(c *Content) string {
	if c.Card == nil {
		return ""
	}
	at := html.EscapeString(c.Card.URL)
	if strings.Contains(c.HTML, `href="`+at+`"`) || c.Link == c.Card.URL {
		return ""
	}
	return `<p><a href="` + at + `">` + html.EscapeString(cmp.Or(c.Card.Title, c.Card.URL)) + `</a></p>`
}

func moreOf(post Post, m *feed.More) *feed.More {
	if m == nil {
		m = &feed.More{}
	}
	if post.Format == Markdown {
		m.Markdown = post.Source
	}
	if post.Language != "" {
		m.Language = post.Language
	}
	if r := post.Reply; r != nil {
		to := feed.InReplyTo{Ref: r.GUID, Href: r.URL, Source: r.Feed}
		if to.Ref == "" {
			to.Ref = r.URL
		}
		m.InReplyTo = []feed.InReplyTo{to}
	}
	return m
}

func categoriesOf(labels []string, rest []feed.Category) []feed.Category {
	var all []feed.Category
	for _, l := range labels {
		c := feed.Category{Term: l}
		for _, r := range rest { // an imported category keeps its domain
			if r.Term == l {
				c = r
			}
		}
		all = append(all, c)
	}
	return all
}

func (w itemWriter) enclosuresOf(list []Enclosure) []feed.Enclosure {
	var all []feed.Enclosure
	for _, e := range list {
		all = append(all, feed.Enclosure{URL: w.absolute(e.URL), Type: e.Type, Length: e.Length, Title: e.Title, Duration: e.Duration})
	}
	return all
}

// Channel returns posts as a feed of the writer w. The feed lacks its own URL, cloud and hubs.
func (p *Posts) Channel(w Writer, posts []Post) *feed.Feed {
	f := &feed.Feed{
		Format: feed.RSS, Version: "2.0", Title: plainText(w.Title), Subtitle: plainText(w.Blurb), Language: w.Language,
		Link: p.items().at("/" + w.User + "/"), Docs: "https://cyber.harvard.edu/rss/rss.html",
	}
	if f.Title.Value == "" {
		f.Title.Value = w.User
	}
	if w.Avatar != "" {
		f.Image = &feed.Image{URL: p.items().absolute(w.Avatar), Title: f.Title.Value, Link: f.Link}
	}
	f.Hints = w.Hints.of()
	if w.User != "" {
		f.Authors = []feed.Person{p.Person(w)}
	}
	var newest time.Time
	for _, post := range posts {
		it := p.Item(post)
		// An imported post keeps its authors, unless the author is the writer, whose name may have
		// changed.
		if a := it.Authors; w.User != "" && (len(a) == 0 || len(a) == 1 && a[0].URL == f.Authors[0].URL) {
			it.Authors = f.Authors
		}
		if post.UpdatedAt.After(newest) {
			newest = post.UpdatedAt
		}
		f.Items = append(f.Items, it)
	}
	f.Updated = dateOf(newest)
	return f
}

func dateOf(t time.Time) feed.Date {
	if t.IsZero() {
		return feed.Date{}
	}
	return feed.Date{UTC: t.UTC().Truncate(time.Second)}
}

func plainText(s string) feed.Text {
	if s == "" {
		return feed.Text{}
	}
	return feed.Text{Value: s, Type: "text/plain"}
}

// htmlText returns HTML as a feed text. References in the HTML are resolved against the URL page.
func htmlText(s, language, page string) feed.Text {
	if s == "" {
		return feed.Text{}
	}
	return feed.Text{Value: onPage(s, page), Type: "text/html", Language: language}
}

// onPage resolves references in HTML against the page of a post, as browsers do.
func onPage(s, page string) string { return href.HTML(s, href.New(page)) }

// page returns the URL of a post's page, or of this server for a post without a page.
func (w itemWriter) page(post Post) string {
	if url := w.address(post); url != "" {
		return url
	}
	return w.origin + "/"
}
