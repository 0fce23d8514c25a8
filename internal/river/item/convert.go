package item

import (
	"cmp"
	"html"
	"slices"
	"strconv"
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
	return &Converter{sanitize.New(sanitize.Options{LinkRel: "nofollow noopener noreferrer ugc", NoClasses: true, NoStyles: true})}
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

func isText(t feed.Text) bool { return t.Type == "" || t.Type == "text/plain" || isHTML(t) }

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
	for _, p := range it.Authors {
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

// enclosuresOf returns the files of an item without duplicates: its enclosures, and the audio and
// video files of its media elements.
func enclosuresOf(it *feed.Item) (out []Enclosure) {
	add := func(e Enclosure) {
		if e.URL = WebURL(e.URL); e.URL == "" || len(out) >= maxEnclosures {
			return
		}
		if i := slices.IndexFunc(out, func(o Enclosure) bool { return o.URL == e.URL }); i >= 0 {
			o := &out[i]
			o.Duration, o.Length, o.Title, o.Type = cmp.Or(o.Duration, e.Duration), cmp.Or(o.Length, e.Length), cmp.Or(o.Title, e.Title), cmp.Or(o.Type, e.Type)
			return
		}
		out = append(out, e)
	}
	for _, e := range it.Enclosures {
		add(Enclosure{URL: e.URL, Type: mediaType(e.Type), Length: max(e.Length, 0), Duration: seconds(e.Duration), Title: text.ClipRunes(text.PlainLine(e.Title), maxName)})
	}
	eachMedia(it, func(m *feed.MediaContent) {
		kind := mediaType(m.Type)
		if strings.HasPrefix(kind, "audio/") || strings.HasPrefix(kind, "video/") || kind == "" && (m.Medium == "audio" || m.Medium == "video") {
			length, _ := strconv.ParseInt(m.FileSize, 10, 64)
			length = max(length, 0)
			took, _ := strconv.ParseFloat(m.Duration, 64)
			add(Enclosure{URL: m.URL, Type: cmp.Or(kind, m.Medium+"/*"), Length: length, Duration: seconds(took), Title: text.ClipRunes(Words(m.Title), maxName)})
		}
	})
	if it.ITunes != nil && it.ITunes.Seconds > 0 {
		for i := range out {
			if e := &out[i]; strings.HasPrefix(e.Type, "audio/") || strings.HasPrefix(e.Type, "video/") {
				e.Duration = cmp.Or(e.Duration, float64(it.ITunes.Seconds))
			}
		}
	}
	return out
}

// seconds returns s if it is a plausible duration in seconds, else 0.
func seconds(s float64) float64 {
	if s > 0 && s < 1e9 {
		return s
	}
	return 0
}

// mediaType returns a normalized media type that is safe to display and to pass to a player. It
// returns "" if s is not valid.
func mediaType(s string) string {
	s, _, _ = strings.Cut(strings.ToLower(strings.TrimSpace(s)), ";")
	s = strings.TrimSpace(s)
	major, minor, ok := strings.Cut(s, "/")
	if !ok || len(s) > 100 || major == "" || minor == "" || strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789/+-._") != "" {
		return ""
	}
	return s
}

func eachMedia(it *feed.Item, do func(*feed.MediaContent)) {
	if it.Media == nil {
		return
	}
	for i := range it.Media.Contents {
		do(&it.Media.Contents[i])
	}
	for i := range it.Media.Groups {
		for j := range it.Media.Groups[i].Contents {
			do(&it.Media.Groups[i].Contents[j])
		}
	}
}

// imageOf returns the URL of an image for an item whose text contains no image.
func imageOf(it *feed.Item) string {
	var found string
	take := func(u string) {
		if found == "" {
			found = WebURL(u)
		}
	}
	if it.More != nil {
		take(ImageURL(it.More.Image))
		take(it.More.BannerImage)
	}
	eachMedia(it, func(m *feed.MediaContent) {
		if m.Medium == "image" || strings.HasPrefix(mediaType(m.Type), "image/") {
			take(m.URL)
		}
		for _, t := range m.Thumbnails {
			take(t.URL)
		}
	})
	if it.Media != nil {
		for _, t := range it.Media.Thumbnails {
			take(t.URL)
		}
		for i := range it.Media.Groups {
			for _, t := range it.Media.Groups[i].Thumbnails {
				take(t.URL)
			}
		}
	}
	for _, e := range it.Enclosures {
		if strings.HasPrefix(mediaType(e.Type), "image/") {
			take(e.URL)
		}
	}
	if it.ITunes != nil {
		take(it.ITunes.Image)
	}
	return found
}
