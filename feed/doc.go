// Package feed parses all common feed formats into one neutral [Feed].
//
// Start with [Parse], or [ParseBytes] for a document in memory. Both take
// [Options]; nil means the defaults:
//
//	f, err := feed.Parse(resp.Body, &feed.Options{URL: url, Header: resp.Header})
//
// Formats: RSS 0.90, 0.91 (Netscape's and UserLand's), 0.92, 0.93, 0.94, 1.0 and
// 2.0; Atom 0.3 and 1.0; JSON Feed 1.0 and 1.1; CDF; scriptingNews 1.0a2 and 2.0b1;
// MCF; and documents that only state the new URL of a feed. Other vocabularies:
// Dublin Core, content, Media RSS, iTunes, Podcasting 2.0, syndication, slash, wfw,
// threading, GeoRSS, GML, W3C geo, Creative Commons, simple chapters, source,
// blogChannel, rssCloud, FeedBurner, admin, XHTML, Atom publishing, OpenSearch. Other
// elements are stored as trees in [Feed.Unknown] and [Item.Unknown].
//
// # Fidelity
//
// A text has its media type, language and base URL. A date has its original spelling
// and its parsed value. Parse invents no values: an item without a title has no title.
// Parse fills in two fields, because every program needs them: [Item.ID], whose origin
// is in [Item.IDFrom], and [Item.Link], from a guid that is a URL.
//
// # Leniency
//
// Parse returns everything that it can read. [Feed.Problems] lists each repair with its
// line and the path of its element. Only a document that is not a feed is an error: a
// [*NotFeedError], which states what the document is instead.
//
// # Safety
//
// Parse returns HTML as written unless [Options].Sanitize is set: sanitize it before you
// display it. The time to parse is proportional to the length of any document, and
// [Limits] bound the size of the result.
//
// # Compatibility
//
// Names and meanings, including the JSON names of fields, are stable: later versions may
// add fields and kinds of problems, but do not remove them or change their meaning. The
// repair of broken documents may improve.
//
// # Interoperability
//
// Where formats and authors disagree, this package follows the Python library
// feedparser: which of two elements wins, which text is HTML, what a wrong namespace
// means. There are a few differences:
//   - Items within items stay nested.
//   - An unclosed element does not swallow the elements after it.
//   - Comments in markup are removed.
package feed
