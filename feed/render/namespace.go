package render

// space is a namespace that documents use.
type space uint8

const (
	spAtom space = iota
	spContent
	spDC
	spDCTerms
	spMedia
	spITunes
	spPodcast
	spSY
	spSlash
	spWFW
	spThr
	spGeoRSS
	spGML
	spGeo
	spLicense
	spCC
	spPSC
	spSource
	spBlogChannel
	spRSSCloud
	spFeedburner
	spAdmin
	spXHTML
	spApp
	spOpenSearch
	spRDF
	spHistory
	spNone // any other namespace
)

// declaration returns the fixed prefix of a namespace and its URI.
func (s space) declaration() (prefix, uri string) {
	switch s {
	case spAtom:
		return "atom", "http://www.w3.org/2005/Atom"
	case spContent:
		return "content", "http://purl.org/rss/1.0/modules/content/"
	case spDC:
		return "dc", "http://purl.org/dc/elements/1.1/"
	case spDCTerms:
		return "dcterms", "http://purl.org/dc/terms/"
	case spMedia:
		return "media", "http://search.yahoo.com/mrss/"
	case spITunes:
		return "itunes", "http://www.itunes.com/dtds/podcast-1.0.dtd"
	case spPodcast:
		return "podcast", "https://podcastindex.org/namespace/1.0"
	case spSY:
		return "sy", "http://purl.org/rss/1.0/modules/syndication/"
	case spSlash:
		return "slash", "http://purl.org/rss/1.0/modules/slash/"
	case spWFW:
		return "wfw", "http://wellformedweb.org/CommentAPI/"
	case spThr:
		return "thr", "http://purl.org/syndication/thread/1.0"
	case spGeoRSS:
		return "georss", "http://www.georss.org/georss"
	case spGML:
		return "gml", "http://www.opengis.net/gml"
	case spGeo:
		return "geo", "http://www.w3.org/2003/01/geo/wgs84_pos#"
	case spLicense:
		return "creativeCommons", "http://backend.userland.com/creativeCommonsRssModule"
	case spCC:
		return "cc", "http://web.resource.org/cc/"
	case spPSC:
		return "psc", "http://podlove.org/simple-chapters"
	case spSource:
		return "source", "http://source.scripting.com/"
	case spBlogChannel:
		return "blogChannel", "http://backend.userland.com/blogChannelModule"
	case spRSSCloud:
		return "rssCloud", "http://rsscloud.org/rsscloud"
	case spFeedburner:
		return "feedburner", "http://rssnamespace.org/feedburner/ext/1.0"
	case spAdmin:
		return "admin", "http://webns.net/mvcb/"
	case spXHTML:
		return "xhtml", "http://www.w3.org/1999/xhtml"
	case spApp:
		return "app", "http://www.w3.org/2007/app"
	case spOpenSearch:
		return "opensearch", "http://a9.com/-/spec/opensearch/1.1/"
	case spRDF:
		return "rdf", "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
	case spHistory:
		return "fh", "http://purl.org/syndication/history/1.0"
	}
	return "", ""
}

// spaceOfPrefix returns the namespace that has a fixed prefix.
func spaceOfPrefix(prefix string) space {
	for s := range spNone {
		if p, _ := s.declaration(); p == prefix {
			return s
		}
	}
	return spNone
}

// use marks the namespace of an element or attribute name as used, so that the root declares
// it.
func (w *writer) use(name string) {
	for i := range len(name) { // for so few bytes, a loop is faster than a search
		if name[i] == ':' && i > 0 {
			if s := spaceOfName(name, i); s != spNone {
				w.spaces |= 1 << s
			}
			return
		}
	}
}

// spaceOfName is a faster spaceOfPrefix for the prefixes that every item uses. i is the offset of
// the colon in name.
func spaceOfName(name string, i int) space {
	switch name[:i] {
	case "xml":
		return spNone
	case "dc":
		return spDC
	case "content":
		return spContent
	case "atom":
		return spAtom
	case "media":
		return spMedia
	case "itunes":
		return spITunes
	case "podcast":
		return spPodcast
	case "rdf":
		return spRDF
	case "rssCloud":
		return spRSSCloud
	case "source":
		return spSource
	}
	return spaceOfPrefix(name[:i])
}
