package render

import (
	"cmp"
	"slices"
	"strconv"

	"cloudburst/feed"
	"cloudburst/internal/href"
)

// item writes the members of an item.
//
// spec:jsonfeed11-2020#item-id
func (j *jsonWriter) item(it *feed.Item) {
	id := j.validText(j.id(it), "id")
	if visibleText(id) == "" {
		id = j.nearest(it)
		j.warn("id-made", "id", "JSON Feed requires an ID, and the item has none; the nearest URL is used.")
	}
	if !j.ids.add(id) {
		j.warn("id-duplicate", "id", "Another item has the same ID, so a number is added: ", short(id), ".")
		id = j.ids.another(id)
	}
	j.text("id", id)
	j.url("url", it.Link)
	more := it.More
	if more == nil {
		more = &feed.More{}
	}
	j.url("external_url", more.ExternalLink)
	j.some("title", plainOf(&it.Title))
	j.contents(it)
	switch {
	case more.Image != nil:
		j.url("image", more.Image.URL)
	case it.ITunes != nil && it.ITunes.Image != "":
		j.url("image", it.ITunes.Image)
	case it.Media != nil && len(it.Media.Thumbnails) > 0:
		j.url("image", it.Media.Thumbnails[0].URL)
	}
	j.url("banner_image", more.BannerImage)
	j.date("date_published", &it.Published)
	j.date("date_modified", &it.Updated)
	j.authors(it.Byline(), it.Unknown)
	j.tags(it.Categories)
	j.some("language", j.language(more.Language, "language"))
	j.attachments(it)
	j.extensions(it.Unknown, knownInItem)
	j.lostOfItem(it, more)
}

// contents writes the first HTML text, the first plain text, and the summary of an item. If the
// item has only a summary, the summary becomes the content.
//
// spec:jsonfeed11-2020#content
func (j *jsonWriter) contents(it *feed.Item) {
	var html, text *feed.Text
	for i := range it.Content {
		c := &it.Content[i]
		switch {
		case c.Value == "" || !isWords(c.Type):
			j.lose(lostContent, c.Value != "")
		case isHTML(c) && html == nil:
			html = c
		case !isHTML(c) && text == nil:
			text = c
		default:
			j.warn("content", "content", "JSON Feed allows one text with markup and one without; the others are omitted.")
		}
	}
	summary := &it.Summary
	if html == nil && text == nil {
		if text = summary; isHTML(summary) {
			html, text = summary, nil
		}
		summary = &feed.Text{}
	}
	if html != nil {
		j.text("content_html", html.Value)
	}
	if text != nil { // the format requires at least one of the two texts
		j.text("content_text", text.Value)
	}
	j.some("summary", plainOf(summary))
}

func (j *jsonWriter) tags(list []feed.Category) {
	begun := false
	for i := range list {
		tag := cmp.Or(list[i].Term, list[i].Label)
		j.lose(lostSchemes, list[i].Scheme != "" || list[i].Label != "" && list[i].Label != tag)
		if visibleText(tag) == "" {
			continue
		}
		if !begun {
			begun = true
			j.name("tags")
			j.open('[')
		}
		j.next()
		j.b = quoteJSON(j.b, j.validText(tag, "categories"))
	}
	if begun {
		j.shut(']')
	}
}

// attachments writes the files of an item: enclosures, remote contents, and other Media RSS
// files.
//
// spec:jsonfeed11-2020#attachments
func (j *jsonWriter) attachments(it *feed.Item) {
	files := mediaFiles(it)
	if len(files) == 0 {
		return
	}
	parts := jsonParts{list: "attachments", nodes: it.Unknown}
	j.name("attachments")
	j.open('[')
	for i := range files {
		e := &files[i]
		url := j.whole(e.URL, "enclosures")
		if url == "" {
			continue
		}
		j.next()
		j.open('{')
		j.text("url", url)
		kind := e.Type
		if visibleText(kind) == "" {
			kind = ""
			j.warn("attachment-type", "enclosures", "An attachment needs a media type, and this file has none; the type is derived from the file name: ", short(e.URL), ".")
		}
		j.text("mime_type", cmp.Or(kind, href.MediaType(e.URL), "application/octet-stream"))
		j.some("title", e.Title)
		j.number("size_in_bytes", e.Length)
		if e.Duration > 0 && e.Duration-e.Duration == 0 {
			j.name("duration_in_seconds")
			j.b = strconv.AppendFloat(j.b, e.Duration, 'f', -1, 64)
		}
		j.part(&parts, i)
		j.shut('}')
	}
	j.shut(']')
}

// mediaFiles returns the files of an item, enclosures first, without duplicate URLs.
func mediaFiles(it *feed.Item) []feed.Enclosure {
	files := it.Enclosures
	if it.ITunes != nil && it.ITunes.Seconds > 0 && len(files) > 0 && files[0].Duration == 0 {
		files = append([]feed.Enclosure(nil), files...)
		files[0].Duration = float64(it.ITunes.Seconds)
	}
	const limit = 100 // maximum number of files that are compared with each other
	files = files[:len(files):len(files)]
	add := func(e feed.Enclosure) {
		if e.URL != "" && len(files) < limit && !slices.ContainsFunc(files, func(f feed.Enclosure) bool { return f.URL == e.URL }) {
			files = append(files, e)
		}
	}
	for i := range it.Content {
		add(feed.Enclosure{URL: it.Content[i].Src, Type: it.Content[i].Type})
	}
	if it.Media == nil {
		return files
	}
	contents := func(list []feed.MediaContent) {
		for i := range list {
			m := &list[i]
			size, _ := strconv.ParseInt(m.FileSize, 10, 64)
			seconds, _ := strconv.ParseFloat(m.Duration, 64)
			add(feed.Enclosure{URL: m.URL, Type: m.Type, Title: plainOf(&m.Title), Length: size, Duration: seconds})
		}
	}
	contents(it.Media.Contents)
	for i := range it.Media.Groups {
		contents(it.Media.Groups[i].Contents)
	}
	return files
}
