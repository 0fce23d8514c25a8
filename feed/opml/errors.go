package opml

import "fmt"

// NotOPMLError reports a document that is not OPML, with the format that it resembles.
type NotOPMLError struct {
	// Looks is the detected format: "empty", "html", "feed", "json", "xml", "image", "pdf",
	// "zip", "gzip", "audio", "video", "text" or "binary".
	Looks string
	// Detail is the name of the root element of a feed or of other XML, as written.
	Detail string
}

// Error returns a message for people.
func (e *NotOPMLError) Error() string {
	switch e.Looks {
	case "empty":
		return "opml: this is no OPML: it is empty"
	case "html":
		return "opml: this is no OPML: it looks like an HTML page"
	case "feed":
		return fmt.Sprintf("opml: this is no OPML: it looks like a feed, whose root is <%s>", e.Detail)
	case "json":
		return "opml: this is no OPML: it looks like JSON"
	case "xml":
		return fmt.Sprintf("opml: this is no OPML: it looks like XML whose root is <%s>", e.Detail)
	case "image":
		return "opml: this is no OPML: it looks like an image"
	case "pdf", "zip", "gzip":
		return "opml: this is no OPML: it looks like a " + e.Looks + " file"
	case "text":
		return "opml: this is no OPML: it looks like plain text"
	}
	return "opml: this is no OPML: it looks like " + e.Looks + " data"
}
