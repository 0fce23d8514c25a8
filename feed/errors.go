package feed

import (
	"strings"

	"cloudburst/feed/discover"
)

// NotFeedError reports that a document is not a feed, and what it is instead.
type NotFeedError struct {
	// Looks is the detected type of the document: "empty", "html", "json", "opml", "rdf", "xml",
	// "text", "image", "audio", "video", "pdf", "zip", "gzip" or "binary".
	Looks string
	// Detail is the root element of an XML document, or the missing part of a JSON document.
	Detail string
	// Encoding is the character encoding that the document was decoded from.
	Encoding string
	// Feeds are the feeds that an HTML page links to, the best one first.
	Feeds []discover.Link
}

// Error returns one sentence for people.
func (e *NotFeedError) Error() string { return "feed: " + e.sentence() }

func (e *NotFeedError) sentence() string {
	switch e.Looks {
	case "empty":
		return "there is no feed: the document is empty"
	case "html":
		return e.page()
	case "json":
		if e.Detail != "" {
			return "this is JSON, but no feed: " + e.Detail
		}
		return "this is JSON, but no feed: it has no version that names JSON Feed, and no items"
	case "opml":
		return "this is OPML, a list of feeds and not a feed: read it with “opml show”"
	case "rdf":
		return "this is RDF, but no feed: it has neither a channel nor items"
	case "xml":
		if e.Detail != "" {
			return "this is XML, but no feed: its root element is <" + e.Detail + ">, but <rss>, <rdf:RDF> or <feed> is expected"
		}
		return "this is XML, but no feed: it has no elements"
	case "image":
		return "this is an image, not a feed"
	case "audio", "video":
		return "this is a recording (" + e.Looks + "), not a feed"
	case "pdf":
		return "this is a PDF document, not a feed"
	case "gzip", "zip":
		return "this is a packed file (" + e.Looks + "), not a feed: unpack it first"
	case "text":
		return "this is plain text, not a feed"
	case "binary":
		return "this is binary data in an unknown format, not a feed"
	}
	return "this is not a feed: it looks like " + e.Looks + " data"
}

func (e *NotFeedError) page() string {
	if len(e.Feeds) == 0 {
		return "this is a web page, not a feed, and it names no feed"
	}
	var urls []string
	for _, l := range e.Feeds {
		if len(urls) == 5 {
			urls = append(urls, "…")
			break
		}
		urls = append(urls, l.URL)
	}
	return "this is a web page, not a feed; it names " + strings.Join(urls, ", ")
}
