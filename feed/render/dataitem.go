package render

import (
	"cmp"

	"cloudburst/feed"
)

// items adds items with their nested items.
func (t *tree) items(key string, list []feed.Item) {
	if len(list) > 0 && !t.canNest(key) {
		return
	}
	t.list(key)
	eachItem(t.w, list, func(it *feed.Item) {
		t.object("")
		t.item(it)
		t.end()
	})
	if len(list) > 0 {
		t.end()
		return
	}
	t.open = t.open[:len(t.open)-1] // keep the list even if it is empty
}

// item adds the fields of the item model in the specification, and then all other fields. A missing
// field of the model becomes "".
//
// spec:datafeeds-2006#model
func (t *tree) item(it *feed.Item) {
	body := bodyOf(it)
	t.words("title", &it.Title)
	t.put("link", it.Link)
	t.put("body", body.Value)
	t.put("body_type", bodyType(body))
	t.date("date", itemDate(it))
	t.put("guid", t.w.guid(it))
	author := t.w.authorOf(it)
	t.put("author", nameOf(&author))
	t.put("author_url", author.URL)

	t.some("id", it.ID)
	t.flag("permalink", it.PermaLink)
	t.someDate("published", it.Published)
	t.someDate("updated", it.Updated)
	if it.Summary.Value != body.Value {
		t.some("summary", it.Summary.Value)
		if it.Summary.Value != "" {
			t.put("summary_type", bodyType(&it.Summary))
		}
	}
	t.people("authors", it.Byline())
	t.people("contributors", it.Contributors)
	t.categories(it.Categories)
	t.enclosures(it.Enclosures)
	t.contents(it.Content)
	t.source(it.Source)
	t.more(it.More)
	t.itunes(it.ITunes)
	t.media(it.Media)
	if len(it.Items) > 0 {
		t.items("items", it.Items)
	}
	t.unknown(it.Unknown)
	t.attributes(attrsOf(it))
}

// authorOf returns the first author of an item or, if it has none, of the feed. If the author
// has no page, the page of the feed is used.
func (w *writer) authorOf(it *feed.Item) feed.Person {
	author := feed.Person{}
	if by := it.Byline(); len(by) > 0 {
		author = by[0]
	} else if len(w.f.Authors) > 0 {
		author = w.f.Authors[0]
	}
	if author.URL == "" && nameOf(&author) != "" {
		author.URL = w.f.Link
	}
	return author
}

// itemDate returns the item's publication date, or else the date of its last change.
func itemDate(it *feed.Item) feed.Date {
	if it.Published.UTC.IsZero() && (!it.Updated.UTC.IsZero() || it.Published.Raw == "") {
		return it.Updated
	}
	return it.Published
}

// bodyOf returns the text of an item: the first content that has markup, or else the first content,
// or else the summary.
func bodyOf(it *feed.Item) *feed.Text {
	var body *feed.Text
	for i := range it.Content {
		c := &it.Content[i]
		if c.Value == "" {
			continue
		}
		if isHTML(c) {
			return c
		}
		if body == nil {
			body = c
		}
	}
	if body == nil {
		return &it.Summary
	}
	return body
}

// bodyType returns the media type of a text, which is never "".
func bodyType(x *feed.Text) string {
	if x.Value == "" {
		return ""
	}
	return cmp.Or(x.Type, "text/plain")
}

func (t *tree) enclosures(list []feed.Enclosure) {
	maps(t, "enclosures", list, func(e *feed.Enclosure) {
		t.some("url", e.URL)
		t.some("type", e.Type)
		t.count("length", e.Length)
		t.some("title", e.Title)
		if e.Duration > 0 {
			t.float("duration", e.Duration)
		}
	})
}

// contents adds all texts of an item, if there are several or if one is remote.
func (t *tree) contents(list []feed.Text) {
	if len(list) == 0 || len(list) == 1 && list[0].Src == "" {
		return
	}
	maps(t, "contents", list, func(c *feed.Text) {
		t.some("value", c.Value)
		t.some("type", c.Type)
		t.some("language", c.Language)
		t.some("src", c.Src)
	})
}

// source adds the original feed of an item.
func (t *tree) source(s *feed.Source) {
	if s == nil {
		return
	}
	t.object("source")
	t.some("title", plainOf(&s.Title))
	t.some("link", s.Link)
	t.some("url", s.URL)
	t.some("id", s.ID)
	t.someDate("updated", s.Updated)
	t.extension(s.Extension)
	t.end()
}

// more adds the fields that few items have.
func (t *tree) more(m *feed.More) {
	if m == nil {
		return
	}
	t.some("language", m.Language)
	if m.Image != nil {
		t.some("image", m.Image.URL)
	}
	t.some("banner_image", m.BannerImage)
	t.some("external_link", m.ExternalLink)
	t.some("comments", m.Comments)
	t.some("comments_feed", m.CommentsFeed)
	if m.CommentCount != nil && *m.CommentCount >= 0 {
		t.int("comment_count", int64(*m.CommentCount))
	}
	t.someDate("expires", m.Expires)
	t.flag("draft", m.Draft)
	t.wordsIfAny("rights", &m.Rights)
	t.texts("licenses", m.Licenses)
	t.some("markdown", m.Markdown)
	t.places(m.Where)
	maps(t, "in_reply_to", m.InReplyTo, func(r *feed.InReplyTo) {
		t.some("ref", r.Ref)
		t.some("href", r.Href)
	})
}

// itunes adds the podcast fields.
func (t *tree) itunes(p *feed.ITunes) {
	if p == nil {
		return
	}
	t.object("itunes")
	t.some("title", p.Title)
	t.some("subtitle", p.Subtitle)
	t.some("summary", plainOf(&p.Summary))
	t.some("author", p.Author)
	t.some("image", p.Image)
	t.texts("keywords", p.Keywords)
	t.categories(p.Categories)
	t.some("explicit", p.Explicit)
	t.some("block", p.Block)
	t.some("duration", p.Duration)
	t.count("seconds", int64(p.Seconds))
	t.some("episode", p.Episode)
	t.some("season", p.Season)
	t.some("type", p.Type)
	t.end()
}

// media adds the files and images of Media RSS, including those in groups.
func (t *tree) media(m *feed.Media) {
	if m == nil {
		return
	}
	t.object("media")
	t.some("title", plainOf(&m.Title))
	t.some("description", plainOf(&m.Description))
	t.list("thumbnails")
	t.thumbnails(m.Thumbnails)
	for i := range m.Groups {
		t.thumbnails(m.Groups[i].Thumbnails)
	}
	t.end()
	t.list("contents")
	t.mediaContents(m.Contents)
	for i := range m.Groups {
		t.mediaContents(m.Groups[i].Contents)
	}
	t.end()
	t.end()
}

func (t *tree) thumbnails(list []feed.MediaThumbnail) {
	for i := range list {
		m := &list[i]
		t.object("")
		t.some("url", m.URL)
		t.some("width", m.Width)
		t.some("height", m.Height)
		t.end()
	}
}

func (t *tree) mediaContents(list []feed.MediaContent) {
	for i := range list {
		m := &list[i]
		t.object("")
		t.some("url", m.URL)
		t.some("type", m.Type)
		t.some("medium", m.Medium)
		t.some("length", m.FileSize)
		t.some("duration", m.Duration)
		t.some("width", m.Width)
		t.some("height", m.Height)
		t.some("title", plainOf(&m.Title))
		t.list("thumbnails")
		t.thumbnails(m.Thumbnails)
		t.end()
		t.end()
	}
}
