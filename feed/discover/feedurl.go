package discover

import (
	"net/url"
	"path"
	"slices"
	"strings"
)

// notFeed reports whether a URL names another kind of XML or JSON file that pages link to:
// oEmbed, sitemaps, descriptions of people and of search.
func notFeed(u *url.URL) bool {
	name := strings.ToLower(u.Path)
	for _, word := range []string{"oembed", "wp-json", "sitemap", "wlwmanifest", "opensearch", "osd.xml", "rsd.xml", "xmlrpc",
		"foaf", "doap", "browserconfig", "crossdomain", "manifest", "license", "activity"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	// The URLs of validators and of other readers contain the URL of the feed.
	rest := strings.ToLower(u.EscapedPath() + "?" + u.RawQuery)
	return strings.Contains(rest, "http:/") || strings.Contains(rest, "https:/") ||
		strings.Contains(rest, "http%3a") || strings.Contains(rest, "https%3a") || u.Query().Has("rsd")
}

// looksLikeFeed reports whether a URL alone looks like a feed.
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

// parts returns the folder and the last non-empty segment of a URL, in lowercase.
func parts(u *url.URL) (dir, last string) {
	return path.Split(strings.TrimRight(strings.ToLower(u.Path), "/"))
}

// feedName reports whether the last segment of a path looks like a feed.
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

// feedQuery reports whether a query looks like a feed: ?feed=rss2, ?format=atom, ?rss.
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

// isFile reports whether the extension of a URL excludes a feed.
func isFile(u *url.URL) bool {
	_, last := parts(u)
	switch path.Ext(last) {
	case ".html", ".htm", ".xhtml", ".png", ".gif", ".jpg", ".jpeg", ".svg", ".webp", ".ico", ".css", ".js", ".pdf", ".zip", ".gz",
		".mp3", ".mp4", ".ogg", ".m4a", ".txt":
		return true
	}
	return false
}

// formatOf returns the format that a URL names, or "".
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
