package discover

import (
	"net/url"
	"path"
	"slices"
	"strings"
)

// typeClass says what a media type tells about a link.
type typeClass int

const (
	noFeed     typeClass = iota // a type that is none of a feed
	noType                      // none given: the address must look like a feed
	surelyFeed                  // nothing but feeds has it
	maybeFeed                   // other things have it too: the address must look like a feed
	someXML                     // XML: as alternate of a page it is a feed, unless its name says otherwise
)

// mediaType parts a type from its parameters and brings it into lower case.
func mediaType(s string) (name, params string) {
	name, params, _ = strings.Cut(s, ";")
	return strings.ToLower(strings.TrimSpace(name)), strings.ToLower(params)
}

// classOf judges a media type, as it is declared in pages, right or wrong.
func classOf(declared string) (name string, format Format, class typeClass) {
	name, params := mediaType(declared)
	switch name {
	case "":
		return "", "", noType
	case "application/rss+xml", "application/rss", "application/x-rss+xml", "application/x-rss", "application/rssxml",
		"application/rss-xml", "text/rss", "text/rss+xml", "text/x-rss":
		return name, RSS, surelyFeed
	case "application/atom+xml", "application/x.atom+xml", "application/x-atom+xml", "application/x-atom", "application/atom",
		"application/atomxml", "text/atom", "text/atom+xml":
		// spec:atompub-rfc5023#type-entry
		if strings.Contains(strings.ReplaceAll(strings.ReplaceAll(params, " ", ""), `"`, ""), "type=entry") {
			return name, "", noFeed
		}
		return name, Atom, surelyFeed
	case "application/feed+json":
		return name, JSON, surelyFeed
	case "application/cdf", "application/x-cdf", "text/cdf", "text/x-cdf":
		return name, CDF, surelyFeed
	case "text/x-opml", "text/opml", "application/opml", "application/opml+xml", "application/xml+opml", "text/x-opml+xml", "text/opml+xml":
		return name, OPML, surelyFeed
	case "application/rdf+xml", "application/rdf", "text/rdf", "text/rdf+xml":
		return name, RDF, someXML
	case "text/xml", "application/xml", "application/x-xml":
		return name, "", someXML
	case "application/json", "text/json", "application/x-json":
		return name, JSON, maybeFeed
	}
	return name, "", noFeed
}

// notFeeds are words in the names of XML and JSON files that pages link to and that
// are something else: oEmbed, maps of sites, descriptions of people and of search.
func notFeed(u *url.URL) bool {
	name := strings.ToLower(u.Path)
	for _, word := range []string{"oembed", "wp-json", "sitemap", "wlwmanifest", "opensearch", "osd.xml", "rsd.xml", "xmlrpc",
		"foaf", "doap", "browserconfig", "crossdomain", "manifest", "license", "activity"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	// The addresses of validators and of other readers have the feed's own in them.
	rest := strings.ToLower(u.EscapedPath() + "?" + u.RawQuery)
	return strings.Contains(rest, "http:/") || strings.Contains(rest, "https:/") ||
		strings.Contains(rest, "http%3a") || strings.Contains(rest, "https%3a") || u.Query().Has("rsd")
}

// looksLikeFeed judges an address by itself.
func looksLikeFeed(u *url.URL) bool {
	if notFeed(u) {
		return false
	}
	switch dir, last := parts(u); {
	case feedName(last), feedQuery(u):
		return true
	case strings.HasSuffix(dir, "/feeds/posts/"), strings.HasSuffix(dir, "/feeds/comments/"), strings.HasSuffix(dir, "/comments/"): // Blogger
		return last == "default" || last == "full" || last == "summary"
	case strings.HasPrefix(u.Host, "feeds.") || u.Host == "feedproxy.google.com":
		return last != "" && !isFile(u)
	}
	return false
}

// parts are the folder and the last segment of an address that has a name, in lower
// case.
func parts(u *url.URL) (dir, last string) {
	return path.Split(strings.TrimRight(strings.ToLower(u.Path), "/"))
}

// feedName judges the last segment of a path.
func feedName(last string) bool {
	switch last {
	case "feed", "rss", "rss2", "atom", "atom10", "rdf", "jsonfeed", "feed.php", "rss.php", "rss2.php", "atom.php", "feed.aspx", "rss.aspx", "rss.asp",
		"atom.aspx", "rss.cfm", "rss.cgi", "rss.pl":
		return true
	}
	switch ext := path.Ext(last); ext {
	case ".rss", ".rss2", ".atom", ".cdf", ".opml":
		return true
	case ".rdf":
		return true
	case ".xml", ".json":
		words := []string{"feed", "rss", "atom", "rdf"}
		if ext == ".xml" {
			words = append(words, "index", "posts", "podcast", "blog", "news", "videos")
		}
		return slices.ContainsFunc(words, func(w string) bool { return hasWord(strings.TrimSuffix(last, ext), w) })
	}
	return false
}

// hasWord finds word at the beginning or the end of a piece of s between
// punctuation and digits: "rss" in "my-rss2" and "rssfeed", not in "grsse".
func hasWord(s, word string) bool {
	for piece := range strings.FieldsFuncSeq(s, func(r rune) bool { return r < 'a' || r > 'z' }) {
		if strings.HasPrefix(piece, word) || strings.HasSuffix(piece, word) {
			return true
		}
	}
	return false
}

// feedQuery judges what stands behind the question mark: ?feed=rss2, ?format=atom,
// ?rss.
func feedQuery(u *url.URL) bool {
	if u.RawQuery == "" {
		return false
	}
	for key, values := range u.Query() {
		switch strings.ToLower(key) {
		case "rss", "rss2", "atom", "rdf":
			return true
		case "feed", "format", "type", "alt", "output", "view", "tempskin", "action", "mode", "_format":
			for _, v := range values {
				v = strings.ToLower(v)
				if v == "feed" || v == "rdf" || hasWord(v, "rss") || hasWord(v, "atom") || v == "json" && strings.EqualFold(key, "feed") {
					return true
				}
			}
		}
	}
	return false
}

// isFile reports an address that names something else than a feed by its ending.
func isFile(u *url.URL) bool {
	_, last := parts(u)
	switch path.Ext(last) {
	case ".html", ".htm", ".xhtml", ".png", ".gif", ".jpg", ".jpeg", ".svg", ".webp", ".ico", ".css", ".js", ".pdf", ".zip", ".gz",
		".mp3", ".mp4", ".ogg", ".m4a", ".txt":
		return true
	}
	return false
}

// formatOf reads the format off an address; "" when it does not say.
func formatOf(u *url.URL) Format {
	_, last := parts(u)
	q := strings.ToLower(u.RawQuery)
	switch ext := path.Ext(last); {
	case ext == ".opml":
		return OPML
	case ext == ".rdf" || last == "rdf":
		return RDF
	case ext == ".cdf":
		return CDF
	case ext == ".json" || last == "jsonfeed":
		return JSON
	case ext == ".atom" || hasWord(last, "atom") || hasWord(q, "atom"):
		return Atom
	case ext == ".rss" || hasWord(last, "rss") || hasWord(q, "rss"):
		return RSS
	}
	return ""
}

// isComments tells the feed of what visitors say from that of what authors say. The
// words are those of weblog programs in the languages that most of them are in.
func isComments(u *url.URL, title string) bool {
	for seg := range strings.SplitSeq(strings.ToLower(u.Path), "/") {
		if seg == "comments" || seg == "comment" || strings.HasPrefix(seg, "comments.") || strings.HasPrefix(seg, "comments-") || strings.HasSuffix(seg, "-comments.xml") {
			return true
		}
	}
	if hasWord(strings.ToLower(u.RawQuery), "comments") {
		return true
	}
	title = strings.ToLower(title)
	for _, word := range []string{"comments", "comment feed", "kommentar", "kommentit", "kommentti", "commentaires", "comentarios", "comentaris", "comentários",
		"commenti", "reacties", "komentarz", "komentáře", "коммент", "комента", "yorum", "σχόλια", "コメント", "评论", "評論", "迴響", "댓글", "تعليقات", "תגובות"} {
		if strings.Contains(title, word) {
			return true
		}
	}
	return false
}
