package item

import (
	"cmp"
	"html"
	"slices"
	"strings"
	"time"

	"cloudburst/feed"
	"cloudburst/internal/sanitize"
	"cloudburst/internal/text"
)

// Limits of the stored content of one item.
//
// spec:cloudburst#river-item-limits
const (
	maxItemTitle   = 1000 // maximum number of bytes in a title
	maxHTML        = 512 << 10
	maxURL         = 4 << 10
	maxName        = 200 // maximum number of characters in the name of an author or a category
	maxLanguage    = 35
	maxEnclosures  = 50
	maxTags        = 50
	maxAuthors     = 20
	maxNested      = 200
	maxNestedDepth = 20
)

// Converter converts items to their content. Several goroutines may use a Converter at the same
// time.
type Converter struct{ clean *sanitize.Sanitizer }

// NewConverter returns a Converter.
func NewConverter() *Converter {
	return &Converter{sanitize.New(sanitize.Options{LinkRel: sanitize.PageRel, NoClasses: true, NoStyles: true})}
}

// Content returns the content of an item. All HTML in the result is sanitized.
func (r *Converter) Content(f *feed.Feed, it *feed.Item) Content {
	left := maxNested
	c := r.contentOf(f, it, &left, 0)
	return c
}

func (r *Converter) contentOf(f *feed.Feed, it *feed.Item, left *int, depth int) Content {
	c := Content{
		Title: text.Head(Words(it.Title), maxItemTitle), Link: WebURL(it.Link), Language: text.ClipRunes(text.PlainLine(f.Language), maxLanguage),
		Published: toTime(it.Published), Updated: toTime(it.Updated),
	}
	body, summary := bodyOf(f, it)
	if len(it.Items) > 0 {
		body, summary = withoutList(body, it.Summary), false
	}
	c.HTML, c.More = r.safe(body), summary
	r.elsewhere(it, &c)
	c.Text = TextOf(c.HTML)
	if body.Language != "" {
		c.Language = text.ClipRunes(text.PlainLine(body.Language), maxLanguage)
	}
	c.Authors = authorsOf(it)
	c.Categories = tagsOf(it)
	c.Enclosures = enclosuresOf(it)
	if !strings.Contains(c.HTML, "<img") {
		c.Image = imageOf(it)
	}
	if it.Source != nil {
		c.Via = text.ClipRunes(Words(it.Source.Title), maxName)
	}
	if m := it.More; m != nil {
		c.Comments, c.CommentsFeed = WebURL(m.Comments), WebURL(m.CommentsFeed)
		if m.Language != "" {
			c.Language = text.ClipRunes(text.PlainLine(m.Language), maxLanguage)
		}
		for _, to := range m.InReplyTo {
			if c.InReplyTo = cmp.Or(WebURL(to.Href), WebURL(to.Ref)); c.InReplyTo != "" {
				break
			}
		}
		// Nested items contain the same headlines as the outlines, with more detail.
		if len(it.Items) == 0 {
			c.Nested = r.outlines(withoutHeadline(m.Outlines, &c), left, depth+1)
		}
	}
	for i := range it.Items {
		if *left <= 0 || depth >= maxNestedDepth {
			break
		}
		*left--
		c.Nested = append(c.Nested, r.contentOf(f, &it.Items[i], left, depth+1))
	}
	return c
}

// elsewhere adds the URL of a page on another site, or of the content: as the link of an item that has
// none, otherwise after its text.
//
// spec:jsonfeed11-2020#external-url
func (r *Converter) elsewhere(it *feed.Item, c *Content) {
	if it.More != nil {
		if page := WebURL(it.More.ExternalLink); c.Link == "" {
			c.Link = page
		} else if at := html.EscapeString(page); page != "" && page != c.Link && !strings.Contains(c.HTML, at) && len(c.HTML)+2*len(at) < maxHTML {
			c.HTML += r.Page(`<p><a href="` + at + `">` + at + "</a></p>")
		}
	}
	for i := range it.Content {
		c.Link = cmp.Or(c.Link, WebURL(it.Content[i].Src))
	}
}

// TextOf returns the plain text of HTML in the form of Content.Text, at most TextLongest bytes.
func TextOf(html string) string { return text.Head(sanitize.Text(html), TextLongest) }

// withoutList returns a text without the trailing list of nested items. Feeds add this list for
// readers that do not support nested items.
func withoutList(body, short feed.Text) feed.Text {
	const list = "<ul><li>"
	switch {
	case strings.HasPrefix(body.Value, list):
		return feed.Text{}
	case short.Value != "" && strings.HasPrefix(body.Value, short.Value+"\n"+list):
		return short
	}
	return body
}

// withoutHeadline returns the children of the outline if a single headline at the top repeats the
// item itself. Many outliners write such a headline.
func withoutHeadline(list []feed.Outline, c *Content) []feed.Outline {
	if len(list) != 1 {
		return list
	}
	for _, a := range list[0].Attrs {
		if a.Name != "text" {
			continue
		}
		words := text.PlainLine(TextOf(a.Value))
		if words == text.PlainLine(c.Title) || words != "" && strings.HasPrefix(text.PlainLine(c.Text), words) {
			return list[0].Outlines
		}
	}
	return list
}

// outlines converts headlines and their children. The text of a headline may contain markup.
func (r *Converter) outlines(list []feed.Outline, left *int, depth int) (out []Content) {
	for i := range list {
		if *left <= 0 || depth > maxNestedDepth {
			break
		}
		*left--
		var c Content
		for _, a := range list[i].Attrs {
			switch a.Name {
			case "text":
				if strings.ContainsAny(a.Value, "<&") {
					c.HTML = r.safe(feed.Text{Value: a.Value, Type: "text/html"})
					c.Text = TextOf(c.HTML)
				} else {
					c.Title = text.Head(text.PlainLine(a.Value), maxItemTitle)
				}
			case "url", "htmlUrl":
				c.Link = cmp.Or(c.Link, WebURL(a.Value))
			case "created":
				c.Published, _ = feed.ParseDate(a.Value)
			}
		}
		c.Nested = r.outlines(list[i].Outlines, left, depth+1)
		out = append(out, c)
	}
	return out
}

// bodyOf returns the text to display: the content, or else the summary. The result summary is
// true if the feed has only a summary of the item.
func bodyOf(f *feed.Feed, it *feed.Item) (body feed.Text, summary bool) {
	elsewhere := false
	for i := range it.Content {
		t := it.Content[i]
		elsewhere = elsewhere || t.Src != ""
		if !isText(t) || strings.TrimSpace(t.Value) == "" {
			continue
		}
		if body.Value == "" || isHTML(t) && !isHTML(body) {
			body = t
		}
	}
	if body.Value != "" {
		return body, false
	}
	body = it.Summary
	if strings.TrimSpace(body.Value) == "" && it.ITunes != nil {
		body = it.ITunes.Summary
	}
	if strings.TrimSpace(body.Value) == "" && it.Media != nil {
		body = mediaWords(it.Media)
	}
	if body.Value == "" || !isText(body) {
		return feed.Text{}, false
	}
	// In RSS, the description usually is the whole text. In Atom and JSON Feed, a summary implies
	// that the feed does not contain the whole text.
	return body, elsewhere || f.Format == feed.Atom || f.Format == feed.JSONFeed
}

func mediaWords(m *feed.Media) feed.Text {
	if m.Description.Value != "" {
		return m.Description
	}
	for i := range m.Groups {
		if d := m.Groups[i].Description; d.Value != "" {
			return d
		}
	}
	return feed.Text{}
}

// isText reports whether a text can be displayed. Any type text/… is text, except for XML.
//
// spec:atom-rfc4287#text-content
func isText(t feed.Text) bool {
	return t.Type == "" || isHTML(t) || strings.HasPrefix(t.Type, "text/") && !strings.HasPrefix(t.Type, "text/xml") && !strings.HasSuffix(t.Type, "+xml")
}

// safe converts a text to sanitized HTML.
//
// spec:cloudburst#river-html-safe
func (r *Converter) safe(t feed.Text) string {
	s := t.Value
	if !isHTML(t) {
		s = paragraphs(s)
	}
	for limit := maxHTML; ; limit /= 2 {
		out := r.clean.HTML(text.Head(s, limit))
		if len(out) <= maxHTML {
			return out
		}
	}
}

// Page returns the sanitized HTML of a page that has absolute URLs.
func (r *Converter) Page(html string) string {
	return r.safe(feed.Text{Value: html, Type: "text/html"})
}

// paragraphs converts plain text to HTML paragraphs.
func paragraphs(s string) string {
	s = strings.TrimSpace(strings.ReplaceAll(s, "\r\n", "\n"))
	if s == "" {
		return ""
	}
	s = html.EscapeString(s)
	if !strings.Contains(s, "\n") {
		return s
	}
	var b strings.Builder
	for p := range strings.SplitSeq(s, "\n\n") {
		if p = strings.TrimSpace(p); p != "" {
			b.WriteString("<p>" + strings.ReplaceAll(p, "\n", "<br>") + "</p>")
		}
	}
	return b.String()
}

// toTime converts a date to UTC with millisecond precision.
func toTime(d feed.Date) time.Time {
	if d.UTC.IsZero() {
		return time.Time{}
	}
	return d.UTC.UTC().Truncate(time.Millisecond)
}

func authorsOf(it *feed.Item) (out []string) {
	add := func(p feed.Person) {
		name := text.ClipRunes(text.PlainLine(cmp.Or(p.Name, cmp.Or(p.Raw, p.Email))), maxName)
		if name != "" && len(out) < maxAuthors && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	for _, p := range it.Byline() {
		add(p)
	}
	if len(out) == 0 && it.ITunes != nil {
		add(feed.Person{Name: it.ITunes.Author})
	}
	return out
}

func tagsOf(it *feed.Item) (out []string) {
	for _, c := range it.Categories {
		name := text.ClipRunes(text.PlainLine(cmp.Or(c.Label, c.Term)), maxName)
		if name != "" && len(out) < maxTags && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}
