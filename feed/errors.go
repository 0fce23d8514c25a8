package feed

// NotFeedError says that a document is no feed at all, and what it looks like.
type NotFeedError struct {
	// Looks is one of "empty", "html", "json", "opml", "image", "pdf", "zip", "gzip",
	// "audio", "video", "text", "xml" and "binary".
	Looks string
	// Root is the root element of other XML, or a key that a JSON feed would have.
	Detail string
	// Encoding that the document was read with.
	Encoding string
	// Text is the document in UTF-8, for a further look: autodiscovery in an HTML page.
	Text string
}

// Error is a sentence for people.
func (e *NotFeedError) Error() string { return "feed: this is no feed: it looks like " + e.Looks }
