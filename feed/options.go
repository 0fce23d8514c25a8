package feed

import "net/http"

// Options change how a document is read. The zero value, and nil, mean the
// defaults.
type Options struct {
	// URL is where the document came from: relative references stand on it unless
	// the document or Content-Location says otherwise.
	URL string
	// Header is the answer's: Content-Type, Content-Location, Content-Language and
	// Link are looked at.
	Header http.Header
	// KeepRelative leaves references as they are written instead of resolving them.
	KeepRelative bool
	// Sanitize is called for every text that is HTML or XHTML and gives what to keep
	// of it. Without it, the HTML is as the author, or an attacker, wrote it.
	Sanitize func(html string) string
	// Item is called for each item when it is complete, in the order of the document;
	// false ends the reading. The item stays in the feed, as do those before it.
	Item func(*Item) bool
	// Limits of a document; zero fields mean the defaults.
	Limits Limits
}

// Limits bound what one document may make a reader do. What is beyond them is
// left out, and the feed has a problem that names the limit. Zero is the default in
// brackets, negative is no limit. There is one more that cannot be changed: what is
// kept, without the words themselves, is not more than 8 times the document and 1 MiB.
type Limits struct {
	Bytes      int // of the document in UTF-8 [5 MiB]
	Items      int // [1,000]; those within others are not counted
	Depth      int // of elements [100]; never more than 4,000
	Attributes int // of one element [256]
	Unknown    int // elements and attributes kept in Unknown trees [20,000]
	Problems   int // told one by one [100]; the rest are counted, but limits are told
}
