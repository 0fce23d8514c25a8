package render

import (
	"strings"
	"time"

	"cloudburst/feed"
)

// appendHTML writes a page with the microformats h-feed and h-entry. The page has no scripts, and
// only URLs of safe schemes such as http, https and mailto. Texts with markup are filtered by
// Options.Sanitize; if it is nil, they become plain text.
//
// spec:hfeed-2014#properties
func appendHTML(w *writer) {
	h := &htmlWriter{writer: w}
	f := w.f
	h.raw("<!DOCTYPE html>\n<html")
	h.attribute("lang", f.Language)
	h.raw(">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width\">\n<title>")
	title := h.clean(plainOf(&f.Title), "title")
	if title == "" {
		title = h.clean(f.Link, "link")
	}
	h.text(title)
	h.raw("</title>\n")
	h.relations()
	h.raw("</head>\n<body>\n<main class=\"h-feed\">\n<header>\n<h1 class=\"p-name\" dir=\"auto\">")
	h.link("u-url", f.Link, title)
	h.raw("</h1>\n")
	if f.Image != nil {
		h.image("u-photo", f.Image.URL, h.clean(f.Image.Title, "image"))
	}
	h.block("p-summary", &f.Subtitle, "description")
	h.authors(f.Authors)
	if date := w.feedDate(); !date.UTC.IsZero() {
		h.time("dt-updated", &date)
	}
	h.raw("</header>\n")
	h.items(f.Items)
	h.raw("</main>\n</body>\n</html>\n")
}

// htmlWriter writes HTML. All variable text passes through text, attribute or the sanitizer.
type htmlWriter struct{ *writer }

func (h *htmlWriter) raw(s string) { h.b = append(h.b, s...) }

// clean returns s without characters that HTML forbids.
func (h *htmlWriter) clean(s, where string) string {
	t := textWriter{h.writer}
	return t.clean(s, where)
}

// text writes s, which clean has already processed, in escaped form.
func (h *htmlWriter) text(s string) { h.b = appendHTMLText(h.b, s) }

// attribute writes an attribute into the open tag, unless the value is empty.
func (h *htmlWriter) attribute(name, value string) {
	if value = h.clean(value, name); value != "" {
		h.raw(" " + name + `="`)
		h.text(value)
		h.raw(`"`)
	}
}

func appendHTMLText(b []byte, s string) []byte {
	from := 0
	for i := range len(s) {
		with := ""
		switch s[i] {
		case '&':
			with = "&amp;"
		case '<':
			with = "&lt;"
		case '>':
			with = "&gt;"
		case '"':
			with = "&#34;"
		case '\'':
			with = "&#39;"
		case '\r':
			with = "&#13;"
		default:
			continue
		}
		b = append(append(b, s[from:i]...), with...)
		from = i + 1
	}
	return append(b, s[from:]...)
}

// relations writes links to other forms of the feed, to itself and to its hubs.
//
// spec:datafeeds-2006#autodiscovery
func (h *htmlWriter) relations() {
	for _, l := range h.o.Alternates {
		h.relation("alternate", l.Href, l.Type, l.Title)
	}
	h.relation("self", h.self(), "", "")
	for _, hub := range h.hubs() {
		if hub.Type == "WebSub" {
			h.relation("hub", hub.URL, "", "")
		}
	}
	h.relation("icon", h.f.Icon, "", "")
}

func (h *htmlWriter) relation(rel, href, kind, title string) {
	if href = webAddress(href); href != "" {
		h.raw(`<link rel="` + rel + `"`)
		h.attribute("type", kind)
		h.attribute("title", title)
		h.attribute("href", href)
		h.raw(">\n")
	}
}

// link writes a text as a link. If the URL is unsafe, it writes only the text.
func (h *htmlWriter) link(class, href, text string) {
	href = webAddress(href)
	if href == "" {
		h.text(text)
		return
	}
	h.raw("<a")
	h.attribute("class", class)
	h.attribute("href", href)
	h.raw(">")
	h.text(text)
	h.raw("</a>")
}

func (h *htmlWriter) image(class, src, alt string) {
	if src = webAddress(src); src != "" {
		h.raw(`<img class="` + class + `" alt="`)
		h.text(alt)
		h.raw(`"`)
		h.attribute("src", src)
		h.raw(">\n")
	}
}

// block writes a text of several lines, unless the text is empty.
func (h *htmlWriter) block(class string, x *feed.Text, where string) {
	if x.Value == "" {
		return
	}
	h.raw(`<div class="` + class + `" dir="auto"`)
	if x.Language != h.f.Language {
		h.attribute("lang", x.Language)
	}
	h.raw(">")
	if isHTML(x) && h.o.Sanitize != nil {
		h.raw(h.validText(h.o.Sanitize(h.validText(x.Value, where)), where))
	} else {
		h.paragraphs(h.clean(asText(x, nil), where))
	}
	h.raw("</div>\n")
}

// paragraphs writes a text. An empty line begins a new paragraph, and line breaks are preserved.
func (h *htmlWriter) paragraphs(s string) {
	open := false
	for line := range strings.Lines(s) {
		if line = strings.TrimSpace(line); line == "" {
			if open {
				h.raw("</p>")
			}
			open = false
			continue
		}
		if open {
			h.raw("<br>\n")
		} else {
			h.raw("<p>")
		}
		open = true
		h.text(line)
	}
	if open {
		h.raw("</p>")
	}
}

// authors writes each person once.
func (h *htmlWriter) authors(list []feed.Person) {
	for i := range list {
		if !isRepeated(list, i) {
			h.author(&list[i])
		}
	}
}

func (h *htmlWriter) author(p *feed.Person) {
	name := h.clean(nameOf(p), "authors")
	if name == "" {
		return
	}
	href := p.URL
	if href == "" && p.Email != "" {
		href = "mailto:" + p.Email
	}
	h.raw(`<p>By <span class="p-author h-card" dir="auto">`)
	if webAddress(href) == "" {
		h.raw(`<span class="p-name">`)
		h.text(name)
		h.raw("</span>")
	} else {
		h.link("p-name u-url", href, name)
	}
	h.raw("</span></p>\n")
}

func (h *htmlWriter) time(class string, d *feed.Date) {
	if !h.moment(d, "date") {
		return
	}
	h.raw(`<p><time class="` + class + `" datetime="`)
	h.b = appendRFC3339(h.b, d.UTC.Truncate(time.Second)) // HTML allows no more than milliseconds, and a page needs only seconds
	h.raw(`">` + d.UTC.UTC().Format("2 January 2006, 15:04 UTC") + "</time></p>\n")
}

func (h *htmlWriter) items(list []feed.Item) {
	const deepest = 60 // browsers limit nesting to a few hundred levels
	for i := range list {
		h.enter(i)
		it := &list[i]
		h.raw("<article class=\"h-entry\"")
		if it.More != nil && it.More.Language != h.f.Language {
			h.attribute("lang", it.More.Language)
		}
		h.raw(">\n")
		h.item(it)
		if len(h.at) < deepest {
			h.items(it.Items)
		} else if len(it.Items) > 0 {
			h.warn("depth", "items", "This is nested deeper than programs can read; the nested content is omitted.")
		}
		h.raw("</article>\n")
		h.leave()
	}
}

func (h *htmlWriter) item(it *feed.Item) {
	title := h.clean(plainOf(&it.Title), "title")
	if title != "" {
		h.raw(`<h2 class="p-name" dir="auto">`)
		h.link("u-url", it.Link, title)
		h.raw("</h2>\n")
	}
	h.authors(it.Byline())
	if !it.Published.UTC.IsZero() {
		h.time("dt-published", &it.Published)
	}
	if !it.Updated.UTC.IsZero() && !it.Updated.UTC.Equal(it.Published.UTC) {
		h.time("dt-updated", &it.Updated)
	}
	body := bodyOf(it)
	if it.Summary.Value != "" && it.Summary.Value != body.Value {
		h.block("p-summary", &it.Summary, "summary")
	}
	h.block("e-content", body, "content")
	h.files(it)
	if len(it.Categories) > 0 {
		h.raw("<p>")
		for i := range it.Categories {
			if name := h.clean(categoryName(&it.Categories[i]), "categories"); name != "" {
				h.raw(`<span class="p-category" dir="auto">`)
				h.text(name)
				h.raw("</span> ")
			}
		}
		h.raw("</p>\n")
	}
	if title == "" && webAddress(it.Link) != "" {
		h.raw("<p>")
		h.link("u-url", it.Link, h.clean(it.Link, "link"))
		h.raw("</p>\n")
	}
	if uid := h.clean(h.guid(it), "guid"); uid != "" {
		h.raw(`<data class="u-uid"`)
		h.attribute("value", uid)
		h.raw("></data>\n")
	}
}

// files writes the files of an item as links, so that opening the page loads none of them.
func (h *htmlWriter) files(it *feed.Item) {
	for i := range it.Enclosures {
		e := &it.Enclosures[i]
		if webAddress(e.URL) == "" {
			continue
		}
		class := "u-enclosure"
		switch kind, _, _ := strings.Cut(e.Type, "/"); kind {
		case "audio":
			class = "u-audio"
		case "video":
			class = "u-video"
		case "image":
			class = "u-photo"
		}
		text := e.Title
		if text == "" {
			text = e.URL
		}
		h.raw("<p>")
		h.link(class, e.URL, h.clean(text, "enclosures"))
		h.text(h.clean(aboutFile(e), "enclosures"))
		h.raw("</p>\n")
	}
}
