package render

import (
	"strings"

	"cloudburst/feed"
)

// madeTitle returns the first words of an item, for formats that require a title.
func (w *writer) madeTitle(it *feed.Item, texts ...*feed.Text) string {
	if title := w.titleWords(texts...); title != "" {
		return titleText(&feed.Text{Value: title})
	}
	if it.Link != "" {
		return it.Link
	}
	return it.ID
}

// titleWords returns the first words of an item's texts, as the title of an item that has none. It
// returns "" if the texts contain no words.
func (w *writer) titleWords(texts ...*feed.Text) string {
	w.warn("title-made", "title", titleOf(w.format), " requires a title, and the item has none; its first words are used.")
	for _, t := range texts {
		if t != nil {
			if s := FirstWords(asWords(t), TitleLength); s != "" {
				return s
			}
		}
	}
	return ""
}

// pageLink returns the page of the feed or, with a warning, the nearest URL.
func pageLink(w *writer) string {
	link := w.uri(w.f.Link, "link")
	if link == "" {
		format, _, _ := strings.Cut(titleOf(w.format), " ")
		w.warn("link-missing", "link", "The feed has no link to its page, which ", format, " requires.")
		if link = w.uri(w.self(), "link"); link == "" {
			return w.madeAddress(w.f.ID)
		}
	}
	return link
}

// madeLink returns a URL for an item without a link, for formats that require one.
func (w *writer) madeLink(it *feed.Item) string {
	w.warn("link-made", "link", titleOf(w.format), " requires a link, and the item has none; the nearest URL is used.")
	return w.nearest(it)
}

// nearest returns the URL of a file of the item or, if it has none, the page of the feed with a
// fragment that is unique for the item. The ID is that URL if it begins with the page and a fragment.
func (w *writer) nearest(it *feed.Item) string {
	if it.PermaLink && isWeb(it.ID) && validIRI(it.ID) {
		return w.quietly(it.ID)
	}
	if len(it.Enclosures) > 0 {
		if link := w.quietly(it.Enclosures[0].URL); link != "" {
			return link
		}
	}
	page := w.quietly(w.f.Link)
	if page == "" {
		page = w.quietly(w.self())
	}
	if page == "" {
		return w.madeAddress(it.ID)
	}
	if it.ID == "" || strings.IndexByte(page, '#') >= 0 {
		return page
	}
	if strings.HasPrefix(it.ID, page+"#") && validIRI(it.ID) {
		return w.quietly(it.ID)
	}
	return page + "#" + strings.NewReplacer("#", "%23", "[", "%5B", "]", "%5D").Replace(escapeIRI(it.ID, true))
}
