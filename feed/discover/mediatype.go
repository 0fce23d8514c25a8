package discover

import (
	"strings"
)

// typeClass classifies a link by its media type.
type typeClass int

const (
	noFeed     typeClass = iota // not a media type of feeds
	noType                      // no type is declared: the URL must look like a feed
	surelyFeed                  // a media type that only feeds have
	maybeFeed                   // a media type of feeds and of other documents: the URL must look like a feed
	someXML                     // a general XML type: an alternate of a page is a feed unless its URL indicates another kind
)

// mediaType splits a type from its parameters and converts it to lowercase.
func mediaType(s string) (name, params string) {
	name, params, _ = strings.Cut(s, ";")
	return strings.ToLower(strings.TrimSpace(name)), strings.ToLower(params)
}

// classOf classifies a media type as pages declare it, correctly or not.
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
