package feed

import (
	"strings"

	"cloudburst/internal/scan"
)

// format gives the reader of the document whose root the parser stands on; nil for a
// root that no format has. A format is a file of its own and a line here.
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

// looksLikeHTMLRoot reports roots after which there is no point in looking further.
func looksLikeHTMLRoot(name string) bool {
	switch strings.ToLower(name) {
	case "html", "head", "body", "opml", "svg", "urlset", "sitemapindex":
		return true
	}
	return false
}

// version notes what a namespace says about the format. The first one that says
// something counts.
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

// bareURI is a namespace without what authors spell in many ways.
func bareURI(uri string) string {
	return strings.TrimRight(strings.TrimPrefix(strings.TrimPrefix(strings.ToLower(uri), "https://"), "http://"), "/#")
}

// closes says that an element never stands within the open one, a short text: so its
// end tag was forgotten, and what follows is not lost in it.
func closes(openPrefix, open, prefix, local string) bool {
	if openPrefix != prefix && openPrefix != "" {
		return prefix == "" && holdsNothing(openPrefix, open) && ofRSS(local)
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
	if open == "category" && local == open && prefix != "" { // iTunes has categories in categories
		return false
	}
	if personal(local) && local != "image" && (open == "managingeditor" || open == "webmaster") {
		return false
	}
	if prefix != openPrefix { // nothing of another vocabulary but markup stands in a text
		return !long && spaceOfPrefix(prefix) != nsXHTML && spaceOfPrefix(prefix) != nsUnknown
	}
	switch local {
	case "guid", "pubdate", "lastbuilddate", "enclosure", "skiphours", "skipdays", "textinput", "item", "entry", "managingeditor", "webmaster",
		"author", "category", "comments", "language", "ttl", "docs", "cloud", "generator", "copyright", "rating":
		return true // none of them is an element of HTML
	case "title", "link", "description", "image", "updated", "published", "modified", "issued", "summary", "content", "id", "subtitle":
		return !long
	}
	return false
}

// holdsNothing reports elements of modules that say all they have to say in attributes,
// so that one without an end tag is one whose slash was forgotten.
func holdsNothing(prefix, name string) bool {
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

// ofRSS reports what a channel and an item are made of.
func ofRSS(local string) bool {
	switch local {
	case "title", "link", "description", "guid", "pubdate", "lastbuilddate", "language", "copyright", "generator", "image", "category", "author",
		"managingeditor", "webmaster", "docs", "ttl", "cloud", "comments", "enclosure", "source", "skiphours", "skipdays", "textinput":
		return true
	}
	return false
}
