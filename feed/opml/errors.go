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
		return "opml: not an OPML document: it is empty"
	case "html":
		return "opml: not an OPML document: it looks like an HTML page"
	case "feed":
		return fmt.Sprintf("opml: not an OPML document: it looks like a feed with the root element <%s>", e.Detail)
	case "json":
		return "opml: not an OPML document: it looks like JSON"
	case "xml":
		return fmt.Sprintf("opml: not an OPML document: it looks like XML with the root element <%s>", e.Detail)
	case "image":
		return "opml: not an OPML document: it looks like an image"
	case "pdf", "zip", "gzip":
		return "opml: not an OPML document: it looks like a " + e.Looks + " file"
	case "text":
		return "opml: not an OPML document: it looks like plain text"
	}
	return "opml: not an OPML document: it looks like " + e.Looks + " data"
}
