package render

import (
	"strings"

	"cloudburst/feed"
)

// foreign reports whether parsers preserve an element unchanged: its vocabulary is unknown, or the
// vocabulary is known but no field holds the element.
func (w *writer) foreign(n *feed.Node, ofItem bool) bool {
	name := strings.ToLower(n.Name)
	if n.Space == "" && n.Prefix == "" { // in XML, only Atom allows elements without a namespace
		return (w.format == "atom" || w.format == "atom03") && !isCoreName(name)
	}
	if isCoreSpace(bareURI(n.Space)) || n.Prefix == "xml" || n.Prefix == "xmlns" { // an element of another vocabulary cannot have these names
		return false
	}
	s := spaceOfURI(n.Space)
	if s == spNone {
		s = spaceOfPrefix(n.Prefix)
	}
	return !hasField(s, name, ofItem) && defined(s, n, ofItem) && (s != spApp || w.format == "atom")
}

// bareURI returns a namespace URI without the parts that authors spell differently.
func bareURI(uri string) string {
	return bareLower(strings.ToLower(uri))
}

// bareLower is like bareURI for a URI whose beginning is already in lowercase.
func bareLower(u string) string {
	u = strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(u, "https://"), "http://"), "www.")
	for u != "" && (u[len(u)-1] == '/' || u[len(u)-1] == '#') { // faster than TrimRight
		u = u[:len(u)-1]
	}
	return u
}

// isCoreSpace reports whether a namespace belongs to a feed format.
func isCoreSpace(bare string) bool {
	switch bare {
	case "w3.org/2005/atom", "purl.org/atom/ns", "purl.org/rss/1.0", "my.netscape.com/rdf/simple/0.9", "channel.netscape.com/rdf/simple/0.9",
		"purl.org/net/rss1.1", "purl.org/rss/1.0/modules/rss091", "blogs.law.harvard.edu/tech/rss", "cyber.law.harvard.edu/rss":
		return true
	}
	return strings.HasPrefix(bare, "backend.userland.com/rss")
}

// spaceOfURI returns the namespace for a URI in any spelling.
func spaceOfURI(uri string) space {
	if uri == "" {
		return spNone
	}
	bare := bareURI(uri)
	for s := range spNone {
		if _, u := s.declaration(); strings.EqualFold(bareLower(u), bare) {
			return s
		}
	}
	switch bare {
	case "purl.org/dc/elements/1.0":
		return spDC
	case "purl.org/dc/dcterms":
		return spDCTerms
	case "search.yahoo.com/rss", "tools.search.yahoo.com/mrss", "video.search.yahoo.com/mrss":
		return spMedia
	case "github.com/podcastindex-org/podcast-namespace/blob/main/docs/1.0.md":
		return spPodcast
	case "creativecommons.org/ns", "creativecommons.org/ns#license":
		return spCC
	case "rsscloud.co", "rsscloud.org", "rsscloud.org/rsscloudnamespace.html", "rsscloud.co/namespace":
		return spRSSCloud
	case "purl.org/atom/app":
		return spApp
	case "a9.com/-/spec/opensearchrss/1.0":
		return spOpenSearch
	}
	return spNone
}

// hasField reports whether package feed has a field for an element of a module.
func hasField(s space, name string, ofItem bool) bool {
	var names string
	switch s {
	case spDC, spDCTerms:
		names = " title description abstract creator author contributor publisher subject rights license language date modified issued available created "
		if ofItem {
			names = " valid source" + names
		}
	case spContent:
		names = " encoded body div "
	case spXHTML:
		return ofItem && (name == "body" || name == "div")
	case spMedia, spPodcast: // the parser stores unknown elements of these vocabularies as trees
		return true
	case spITunes:
		names = " author subtitle summary keywords image link category owner new-feed-url complete title explicit block duration order " +
			"episode season episodetype type isclosedcaptioned name email "
	case spGeoRSS, spGML, spGeo:
		names = " point line linestring polygon box envelope circle where lat long lon featurename featuretypetag relationshiptag elev floor radius " +
			"multipoint multilinestring multicurve multipolygon multisurface multigeometry "
	default:
		names = fieldsOfRare(s, ofItem)
	}
	return strings.Contains(names, " "+name+" ")
}

func fieldsOfRare(s space, ofItem bool) string {
	switch s {
	case spSY:
		return " updateperiod updatefrequency updatebase "
	case spSlash:
		return " comments section department hit_parade hitparade "
	case spWFW:
		return " comment commentrss commentsrss "
	case spThr:
		return " in-reply-to total "
	case spLicense, spCC:
		return " license "
	case spSource:
		if ofItem {
			return " account markdown localtime outline inreplyto comments "
		}
		return " account self cloud "
	case spBlogChannel:
		return " blogroll mysubscriptions blink changes "
	case spRSSCloud:
		return " item "
	case spFeedburner:
		return " browserfriendly origlink origenclosurelink "
	case spAdmin:
		return " generatoragent errorreportsto "
	case spApp:
		return " edited control draft "
	case spOpenSearch:
		return " totalresults startindex itemsperpage "
	case spHistory:
		return " archive "
	}
	return ""
}

// isCoreName reports whether readers recognize an element name without a namespace, in any
// format and position.
func isCoreName(name string) bool {
	switch name {
	case "title", "description", "summary", "abstract", "subtitle", "tagline", "rights", "copyright", "content", "fullitem", "body",
		"category", "keywords", "tags", "link", "a", "guid", "id", "enclosure", "pubdate", "published", "issued", "updated", "modified",
		"lastbuilddate", "lastmod", "created", "expirationdate", "author", "managingeditor", "contributor", "webmaster", "language",
		"image", "logo", "icon", "textinput", "cloud", "generator", "info", "docs", "rating", "errorreportsto", "where", "ttl", "skiphours",
		"skipdays", "source", "comments", "item", "channel", "entry", "items", "feed", "rss", "url", "hour", "day":
		return true
	}
	return false
}
