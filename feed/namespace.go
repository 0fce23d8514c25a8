package feed

import "strings"

// Numbers of known namespaces.
const (
	nsCore    = iota // elements without a namespace, or of RSS, Atom or CDF
	nsUnknown        // a declared namespace that is not in this list
	nsDC
	nsDCTerms
	nsContent
	nsMedia
	nsITunes
	nsPodcast
	nsSY
	nsSlash
	nsWFW
	nsThr
	nsGeoRSS
	nsGML
	nsGeo
	nsLicense // creativeCommons, for RSS
	nsCC      // Creative Commons, for RDF
	nsPSC
	nsSource
	nsBlogChannel
	nsRSSCloud
	nsFeedburner
	nsAdmin
	nsXHTML
	nsApp
	nsOpenSearch
	nsRDF
	nsHistory // feed history, RFC 5005
	nsSVG
	nsMathML
)

// spaceOf returns the number of a namespace. Authors misspell URIs, so case, the scheme and
// a final slash are ignored. An unknown URI with a well-known prefix counts as the namespace
// of that prefix.
func spaceOf(prefix, uri string) int {
	if n, ok := spaceOfURI(uri); ok {
		return n
	}
	if n := spaceOfPrefix(prefix); n != nsUnknown {
		return n
	}
	return nsUnknown
}

func spaceOfURI(uri string) (int, bool) {
	u := strings.ToLower(uri)
	u = strings.TrimPrefix(strings.TrimPrefix(u, "https://"), "http://")
	u = strings.TrimPrefix(u, "www.")
	u = strings.TrimRight(u, "/#")
	if strings.HasPrefix(u, "backend.userland.com/rss") {
		return nsCore, true
	}
	switch u {
	case "blogs.law.harvard.edu/tech/rss", "cyber.law.harvard.edu/rss", "cyber.law.harvard.edu/rss/rss.html",
		"purl.org/rss/1.0", "my.netscape.com/rdf/simple/0.9", "channel.netscape.com/rdf/simple/0.9",
		"my.netscape.com/publish/formats/rss-0.91.dtd", "purl.org/rss/1.0/modules/rss091", "purl.org/net/rss1.1",
		"w3.org/2005/atom", "purl.org/atom/ns", "purl.org/pie", "purl.org/echo", "purl.org/net/atom/ns", "rss",
		"example.com/newformat", "example.com/necho", "uri/of/echo/namespace", "w3.org/tr/note-cdfsubmit.html":
		return nsCore, true
	case "purl.org/dc/elements/1.1", "purl.org/dc/elements/1.0", "purl.org/metadata/dublin_core":
		return nsDC, true
	case "purl.org/dc/terms", "purl.org/dc/dcterms":
		return nsDCTerms, true
	case "purl.org/rss/1.0/modules/content":
		return nsContent, true
	case "search.yahoo.com/mrss", "tools.search.yahoo.com/mrss", "video.search.yahoo.com/mrss", "search.yahoo.com/rss", "search.yahoo.com/mrss/mrss.xml":
		return nsMedia, true
	case "itunes.com/dtds/podcast-1.0.dtd", "example.com/dtds/podcast-1.0.dtd", "itunes.apple.com/dtds/podcast-1.0.dtd":
		return nsITunes, true
	case "podcastindex.org/namespace/1.0", "github.com/podcastindex-org/podcast-namespace/blob/main/docs/1.0.md", "podcastindex.org/namespace/1.0.md":
		return nsPodcast, true
	case "purl.org/rss/1.0/modules/syndication":
		return nsSY, true
	case "purl.org/rss/1.0/modules/slash":
		return nsSlash, true
	case "wellformedweb.org/commentapi":
		return nsWFW, true
	case "purl.org/syndication/thread/1.0", "purl.org/rss/1.0/modules/threading":
		return nsThr, true
	case "georss.org/georss", "georss.org/georss/10":
		return nsGeoRSS, true
	case "opengis.net/gml":
		return nsGML, true
	case "w3.org/2003/01/geo/wgs84_pos":
		return nsGeo, true
	}
	return spaceOfRareURI(u)
}

func spaceOfRareURI(u string) (int, bool) {
	switch u {
	case "backend.userland.com/creativecommonsrssmodule", "cyber.law.harvard.edu/rss/creativecommonsrssmodule.html":
		return nsLicense, true
	case "web.resource.org/cc", "creativecommons.org/ns#license", "creativecommons.org/ns":
		return nsCC, true
	case "podlove.org/simple-chapters":
		return nsPSC, true
	case "source.scripting.com", "source.smallpict.com/2014/07/12/thesourcenamespace.html":
		return nsSource, true
	case "backend.userland.com/blogchannelmodule":
		return nsBlogChannel, true
	case "rsscloud.org", "rsscloud.co", "rsscloud.org/rsscloudnamespace.html", "rsscloud.co/namespace":
		return nsRSSCloud, true
	case "rssnamespace.org/feedburner/ext/1.0":
		return nsFeedburner, true
	case "webns.net/mvcb":
		return nsAdmin, true
	case "w3.org/1999/xhtml":
		return nsXHTML, true
	case "w3.org/2007/app", "purl.org/atom/app":
		return nsApp, true
	case "a9.com/-/spec/opensearch/1.1", "a9.com/-/spec/opensearchrss/1.0":
		return nsOpenSearch, true
	case "w3.org/1999/02/22-rdf-syntax-ns":
		return nsRDF, true
	case "purl.org/syndication/history/1.0":
		return nsHistory, true
	case "w3.org/2000/svg":
		return nsSVG, true
	case "w3.org/1998/math/mathml":
		return nsMathML, true
	}
	return nsUnknown, false
}

// spaceOfPrefix returns the namespace of a prefix that is undeclared or has an unknown URI.
func spaceOfPrefix(prefix string) int {
	switch strings.ToLower(prefix) {
	case "dc":
		return nsDC
	case "dcterms":
		return nsDCTerms
	case "content":
		return nsContent
	case "media":
		return nsMedia
	case "itunes":
		return nsITunes
	case "podcast":
		return nsPodcast
	case "sy":
		return nsSY
	case "slash":
		return nsSlash
	case "wfw":
		return nsWFW
	case "thr":
		return nsThr
	case "georss":
		return nsGeoRSS
	case "gml":
		return nsGML
	case "geo":
		return nsGeo
	case "creativecommons":
		return nsLicense
	case "cc":
		return nsCC
	case "psc":
		return nsPSC
	case "source":
		return nsSource
	case "blogchannel":
		return nsBlogChannel
	case "rsscloud":
		return nsRSSCloud
	case "feedburner":
		return nsFeedburner
	case "admin":
		return nsAdmin
	case "xhtml":
		return nsXHTML
	case "app":
		return nsApp
	case "opensearch", "opensearchrss":
		return nsOpenSearch
	case "atom", "atom10", "a10", "rss":
		return nsCore
	case "rdf":
		return nsRDF
	case "fh":
		return nsHistory
	}
	return nsUnknown
}

// space is like spaceOf for the scanner. If the root, a channel or an item declares an unknown
// default namespace, it counts as the namespace of the format. Elsewhere it counts as another
// vocabulary.
func (p *parser) space(prefix, uri string, depth int) int {
	p.version(prefix, uri)
	n := spaceOf(prefix, uri)
	switch {
	case uri == "" && prefix == "":
		return nsCore
	case uri == "":
		p.problem(ProblemNamespace, p.r.Offset(), "The prefix "+short(prefix)+" is not declared"+map[bool]string{true: "; its elements are kept as they are.", false: "; its usual namespace is assumed."}[n == nsUnknown])
	case n == nsUnknown && prefix == "" && (depth == 1 || p.structural()):
		return nsCore
	}
	return n
}

// structural reports whether an element belongs to the structure of a feed and means nothing else
// in other vocabularies.
func (p *parser) structural() bool {
	switch p.r.Local {
	case "channel", "item", "entry", "feed", "rss":
		return true
	}
	return false
}
