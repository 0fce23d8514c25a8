package feed

import (
	"strings"

	"cloudburst/internal/scan"
)

// format returns the function that reads the format of the root element; it returns nil if the root
// element is unknown. Each format has its own file and one line here.
//
// spec:datafeeds-2006#other-formats
func (p *parser) format() func() {
	switch p.r.Local {
	case "rss":
		return p.rss
	case "rdf":
		return p.rdf
	case "feed", "entry":
		if p.r.Space == nsCore {
			return p.atomFeed
		}
	case "channel":
		switch {
		case p.looksLikeCDF():
			return p.cdf
		case rdfVersion(p.r.URI(scan.Prefix(p.r.Name))) == "1.1":
			return p.rss11
		}
		return p.rssChannelAsRoot
	case "item":
		return p.rssItemAsRoot
	case "scriptingnews":
		return p.scriptingNews
	case "xml-mcf", "mcf":
		return p.mcf
	case "redirect", "newlocation":
		return p.redirect
	}
	return nil
}

// looksLikeHTMLRoot reports whether an element shows that the document is HTML. Then the search for
// a feed ends.
func looksLikeHTMLRoot(name string) bool {
	switch strings.ToLower(name) {
	case "html", "head", "body", "opml", "svg", "urlset", "sitemapindex":
		return true
	}
	return false
}

// version derives the version of the format from a namespace. If several namespaces determine a
// version, the first one counts.
func (p *parser) version(prefix, uri string) {
	if p.ns != "" {
		return
	}
	switch u := bareURI(uri); u {
	case "purl.org/rss/1.0", "www.w3.org/2005/atom", "w3.org/2005/atom", "purl.org/atom/ns", "purl.org/net/rss1.1":
		p.ns = u
	case "my.netscape.com/rdf/simple/0.9", "channel.netscape.com/rdf/simple/0.9":
		if prefix == "" {
			p.ns = u
		}
	}
}

// bareURI returns a namespace URI without the parts that authors spell differently.
func bareURI(uri string) string {
	return strings.TrimRight(strings.TrimPrefix(strings.TrimPrefix(strings.ToLower(uri), "https://"), "http://"), "/#")
}

// closes reports whether an element never occurs inside the open element, which is a short text. In
// this case the end tag of the open element is missing, and the parser closes the element.
func closes(openPrefix, open, prefix, local string) bool {
	if openPrefix != prefix && openPrefix != "" {
		return prefix == "" && hasNoContent(openPrefix, open) && ofRSS(local)
	}
	long := false
	switch open {
	case "title", "link", "guid", "id", "pubdate", "updated", "published", "modified", "issued", "created", "comments",
		"category", "language", "ttl", "docs", "lastbuilddate", "managingeditor", "webmaster", "rating":
	case "enclosure", "cloud":
		if spaceOfPrefix(openPrefix) != nsCore && openPrefix != "" {
			return false
		}
	case "description", "summary", "subtitle", "tagline", "copyright", "rights":
		long = true
	default:
		return false
	}
	if open == "category" && local == open && prefix != "" { // iTunes has categories inside categories
		return false
	}
	if personal(local) && local != "image" && (open == "managingeditor" || open == "webmaster") {
		return false
	}
	if prefix != openPrefix { // except for markup, short texts contain no elements of other vocabularies
		return !long && spaceOfPrefix(prefix) != nsXHTML && spaceOfPrefix(prefix) != nsUnknown
	}
	switch local {
	case "guid", "pubdate", "lastbuilddate", "enclosure", "skiphours", "skipdays", "textinput", "item", "entry", "managingeditor", "webmaster",
		"author", "category", "comments", "language", "ttl", "docs", "cloud", "generator", "copyright", "rating":
		return true // HTML has none of these elements
	case "title", "link", "description", "image", "updated", "published", "modified", "issued", "summary", "content", "id", "subtitle":
		return !long
	}
	return false
}

// hasNoContent reports whether an element of a module has only attributes. If such an element has
// no end tag, the author forgot the slash.
func hasNoContent(prefix, name string) bool {
	switch name {
	case "link":
		return spaceOfPrefix(prefix) == nsCore
	case "image":
		return spaceOfPrefix(prefix) == nsITunes
	case "thumbnail":
		return spaceOfPrefix(prefix) == nsMedia
	case "info":
		return spaceOfPrefix(prefix) == nsFeedburner
	}
	return false
}

// ofRSS reports whether local is an element of a channel or an item.
func ofRSS(local string) bool {
	switch local {
	case "title", "link", "description", "guid", "pubdate", "lastbuilddate", "language", "copyright", "generator", "image", "category", "author",
		"managingeditor", "webmaster", "docs", "ttl", "cloud", "comments", "enclosure", "source", "skiphours", "skipdays", "textinput":
		return true
	}
	return false
}
