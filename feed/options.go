package feed

import "net/http"

// Options change how Parse reads a document. The zero value, and nil, mean the defaults.
type Options struct {
	// URL is the URL of the document. Relative references are resolved against it
	// unless the document or Content-Location declares another base. References in the
	// HTML of an RSS or JSON Feed item are resolved against the page of the item.
	URL string
	// Header is the header of the HTTP response. Parse uses Content-Type,
	// Content-Location, Content-Language and Link.
	Header http.Header
	// KeepRelative leaves relative references as written instead of resolving them.
	KeepRelative bool
	// Sanitize is called for every text that is HTML or XHTML and returns the HTML to
	// use. If Sanitize is nil, HTML stays as the author, or an attacker, wrote it.
	Sanitize func(html string) string
	// Item is called for each complete item, in document order. If Item returns false, Parse stops;
	// then the feed contains this item and all items before it.
	Item func(*Item) bool
	// Limits bound the size of the result; zero fields mean the defaults.
	Limits Limits
}

// Limits bound the work and the memory that one document can cause. Parse leaves out content beyond
// a limit and adds a problem that names the limit. Zero means the default in brackets, a negative
// value means no limit. There is also a fixed limit: a feed, without the texts themselves, uses at
// most 8 times the length of the document plus 1 MiB.
type Limits struct {
	Bytes      int // length of the document in UTF-8 [5 MiB]
	Items      int // number of items, without nested items [1,000]
	Depth      int // nesting of elements [100]; at most 4,000
	Attributes int // attributes of one element [256]
	Unknown    int // elements and attributes in Unknown trees [20,000]
	Problems   int // problems listed one by one [100]; further problems are only counted, except reached limits
}
