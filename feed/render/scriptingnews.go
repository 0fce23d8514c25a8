package render

import (
	"html"
	"slices"
	"strings"

	"cloudburst/feed"
	"cloudburst/internal/href"
)

// appendScriptingNews writes the format of Scripting News, version 2.0b1: a header, and items
// that consist of a text with linked words. A title becomes the beginning of the text and
// links to the item.
//
// spec:scriptingnews2-1999#written
func appendScriptingNews(w *writer) {
	n := news{w}
	w.root("scriptingNews")
	n.header()
	eachItem(w, w.f.Items, n.item)
	w.done("scriptingNews")
}

type news struct{ *writer }

func (n news) header() {
	f := n.f
	n.open("header")
	n.element("scriptingNewsVersion", "2.0b1")
	n.leaf("copyright", titleText(&f.Rights))
	if f.Format == feed.ScriptingNews {
		n.leaf("whichChannel", f.ID)
	} else {
		n.lose(lostIDs, f.ID != "")
	}
	n.element("channelTitle", titleText(&f.Title))
	n.element("channelDescription", subtitle(&f.Subtitle))
	n.element("channelLink", pageLink(n.writer))
	n.leaf("language", n.language(f.Language, "language"))
	s := rss{writer: n.writer, v: 91}
	s.plainEditors()
	n.dateRFC822("pubDate", &f.Published)
	n.dateRFC822("lastBuildDate", &f.Updated)
	n.leaf("docs", n.uri(f.Docs, "docs"))
	n.leaf("rating", f.Rating)
	s.skips()
	n.image()
	n.lostOfFeed()
	n.close("header")
}

// image writes the image of the channel as elements of the header.
func (n news) image() {
	img := n.f.Image
	if img == nil || img.URL == "" {
		return
	}
	n.leaf("imageTitle", img.Title)
	n.leaf("imageUrl", n.uri(img.URL, "image"))
	n.leaf("imageLink", n.uri(img.Link, "image"))
	n.leaf("imageWidth", positive(img.Width))
	n.leaf("imageHeight", positive(img.Height))
	n.leaf("imageCaption", img.Description)
}

// mark is a link and the words of the text to which it applies.
type mark struct{ url, words string }

// item writes an item. Nested items follow it, because the format has no nesting.
func (n news) item(it *feed.Item) {
	text, marks := n.words(it)
	n.open("item")
	n.element("text", text)
	for _, m := range marks {
		if url := n.uri(m.url, "links"); url != "" {
			n.open("link")
			n.element("url", url)
			n.leaf("linetext", m.words)
			n.close("link")
		}
	}
	n.close("item")
	n.lostOfItem(it)
	if len(it.Items) == 0 {
		return
	}
	n.lose(lostNested, true)
	if len(n.at) < deepest {
		eachItem(n.writer, it.Items, n.item)
	}
}

// words returns the text of an item and the links of the text. The link to the item's own page is
// first.
//
// spec:scriptingnews2-1999#linetext
func (n news) words(it *feed.Item) (text string, marks []mark) {
	body := &it.Summary
	for i := range it.Content {
		if t := &it.Content[i]; body == &it.Summary && t.Value != "" && isWords(t.Type) {
			body = t
		} else {
			n.lose(lostContent, t.Value != "" || t.Src != "")
		}
	}
	n.lose(lostContent, body != &it.Summary && it.Summary.Value != "" && it.Summary.Value != body.Value)
	title := asWords(&it.Title)
	plain, links := body.Value, []mark(nil)
	markup := isHTML(body)
	if markup {
		if s, m, ok := unlinked(body.Value); ok && !href.LooksLikeHTML(s) {
			plain, links, markup = s, m, false
		}
	} else if href.LooksLikeHTML(plain) {
		plain, markup = escapeHTML(plain), true
	}
	if title != "" {
		n.lose(lostTitles, true)
		plain = titled(title, plain, markup)
	}
	switch {
	case it.Link == "" && visibleText(plain) == "":
		n.warn("text-made", "text", "An item needs a text, and this one has none; its identifier is used.")
		plain = plainWords(it.ID)
	case it.Link == "":
	case plain == "": // if the text were empty, parsers would take the URL for the text
		plain, marks = it.Link, append(marks, mark{it.Link, it.Link})
	case len(links) > 0 && links[0].url == it.Link:
	case title != "" && escapeHTML(title) == title:
		marks = append(marks, mark{it.Link, oneLine(title)})
	case markup && title == "":
		var m mark
		plain, m = headed(plain, it.Link)
		marks = append(marks, m)
	default:
		marks = append(marks, mark{url: it.Link})
	}
	marks = append(marks, links...)
	return plain, n.related(it, marks)
}

// headed removes the link to the page from the first words of markup, and returns this link.
func headed(s, page string) (string, mark) {
	url, words, rest, ok := anchor(s)
	if ok && url == page && words != "" && escapeHTML(words) == words && (rest == "" || !isWordLike(rest[0])) {
		return words + rest, mark{page, oneLine(words)}
	}
	return s, mark{url: page}
}

// titled returns a text that begins with its title.
func titled(title, text string, markup bool) string {
	switch {
	case text == "":
		return plainWords(title)
	case markup:
		return escapeHTML(title) + "<br><br>" + text
	case href.LooksLikeHTML(title): // otherwise the text with its title would look like HTML
		return escapeHTML(title) + "<br><br>" + escapeHTML(text)
	}
	return title + "\n\n" + text
}

// related adds the other links of an item. These links have no words in the text.
func (n news) related(it *feed.Item, marks []mark) []mark {
	for i := range it.Links {
		l := &it.Links[i]
		has := slices.ContainsFunc(marks, func(m mark) bool { return m.url == l.Href })
		switch {
		case has:
		case len(marks) > 0 && l.Rel == "related":
			marks = append(marks, mark{url: l.Href})
		default:
			n.lose(lostLinks, true)
		}
	}
	return marks
}

// unlinked parses HTML that consists only of text and links. It returns the text and the links. For
// other HTML, ok is false. It is also false if a program that searches for the words of the links
// in order would find them in another place.
func unlinked(s string) (text string, marks []mark, ok bool) {
	const limit = 200 // maximum number of links for which programs search
	var b strings.Builder
	next := 0 // offset at which the search for the next words begins
	for s != "" {
		i := strings.IndexByte(s, '<')
		if i < 0 {
			i = len(s)
		}
		b.WriteString(html.UnescapeString(s[:i]))
		if s = s[i:]; s == "" {
			break
		}
		if rest, ok := strings.CutPrefix(s, "<br>\n<br>\n"); ok {
			b.WriteString("\n\n")
			s = rest
			continue
		}
		url, words, rest, ok := anchor(s)
		if !ok || len(marks) >= limit {
			return "", nil, false
		}
		if at := strings.Index(b.String()[next:]+words, words); at != b.Len()-next || words == "" {
			return "", nil, false
		}
		b.WriteString(words)
		next = b.Len()
		marks, s = append(marks, mark{url, oneLine(words)}), rest
	}
	return b.String(), marks, len(marks) > 0 && whole(oneLine(b.String()), marks)
}

// anchor parses the link at the beginning of s. The link may contain only text.
func anchor(s string) (url, words, rest string, ok bool) {
	if !strings.HasPrefix(s, "<a href=\"") && !strings.HasPrefix(s, "<A HREF=\"") {
		return "", "", "", false
	}
	s = s[len("<a href=\""):]
	end := strings.IndexByte(s, '"')
	if end < 0 || len(s) < end+2 || s[end+1] != '>' {
		return "", "", "", false
	}
	url, s = html.UnescapeString(s[:end]), s[end+2:]
	end = strings.IndexByte(s, '<')
	if end < 0 || len(s) < end+4 || !strings.EqualFold(s[end:end+4], "</a>") {
		return "", "", "", false
	}
	words = html.UnescapeString(s[:end])
	return url, words, s[end+4:], words == strings.TrimSpace(words)
}

// oneLine replaces line breaks and repeated white space with single spaces.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// whole reports whether no link begins or ends inside a word, and whether no link's words are part
// of an earlier link. This matters because programs prefer whole words.
func whole(text string, marks []mark) bool {
	next := 0
	for _, m := range marks {
		i := strings.Index(text[next:], m.words)
		if i < 0 {
			return false
		}
		i += next
		next = i + len(m.words)
		if i > 0 && isWordLike(text[i-1]) || next < len(text) && isWordLike(text[next]) {
			return false
		}
	}
	return true
}

func isWordLike(c byte) bool { return isWordByte(c) || c >= 0x80 }

func (n news) lostOfFeed() {
	f := n.f
	n.lose(lostClouds, n.cloud() != nil)
	n.lose(lostHubs, len(n.hubs()) > 0)
	loseFeed(n.writer)
	n.loseLinks(f.Links, f.Link)
	n.lose(lostImages, f.Icon != "")
	n.lose(lostCategories, len(f.Categories) > 0)
	n.lose(lostHints, f.Hints.TTL != "")
	n.lose(lostUnknown, len(f.Unknown) > 0)
}

func (n news) lostOfItem(it *feed.Item) {
	n.lose(lostIDs, hasGUID(it))
	n.lose(lostAuthors, len(it.Byline()) > 0)
	loseItem(n.writer, it)
	n.lose(lostDates, it.Published.Raw != "" || it.Updated.Raw != "")
	n.lose(lostCategories, len(it.Categories) > 0)
	n.lose(lostEnclosures, len(it.Enclosures) > 0)
	n.loseModules(it)
}
