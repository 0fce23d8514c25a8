// Package feed reads every feed format there is into one neutral [Feed].
//
// Start with [Parse], or [ParseBytes] for a document in memory. Both take [Options],
// of which nil is a good choice:
//
//	f, err := feed.Parse(resp.Body, &feed.Options{URL: url, Header: resp.Header})
//
// What is read: RSS 0.90, 0.91 (Netscape's and UserLand's), 0.92, 0.93, 0.94, 1.0 and
// 2.0; Atom 0.3 and 1.0; JSON Feed 1.0 and 1.1; CDF; scriptingNews 1.0a2 and 2.0b1;
// MCF; and documents that only say where the feed went. Of other vocabularies:
// Dublin Core, content, Media RSS, iTunes, Podcasting 2.0, syndication, slash, wfw,
// threading, GeoRSS, GML, W3C geo, Creative Commons, simple chapters, source,
// blogChannel, rssCloud, FeedBurner, admin, XHTML, Atom publishing, OpenSearch. What
// is none of these is kept as a tree, in [Feed.Unknown] and [Item.Unknown].
//
// # Fidelity
//
// A text comes with its type, language and base. A date comes as written beside what
// it means. Nothing is made up: an item without a title has none. Two things are
// filled in, because every program needs them: [Item.ID], with a word on where it
// comes from, and [Item.Link], from a guid that is an address.
//
// # Leniency
//
// Anything readable comes back. What had to be repaired is listed in [Feed.Problems],
// with its line and the path of its element. Only a document that is no feed at all is
// an error: a [*NotFeedError], which says what the document looks like.
//
// # Safety
//
// HTML is handed out as it was written unless [Options].Sanitize is set: do not show
// it to anyone before it went through a sanitizer. Reading takes time proportional to
// the length of the document whatever is in it, and [Limits] bound what is kept.
//
// # Compatibility
//
// The names and meanings here, the JSON names of the fields included, stay as they
// are: fields and kinds of problems may be added, none is taken away or given another
// meaning. What a broken document is repaired to may get better.
//
// # Interoperability
//
// Where formats and authors disagree, the Python program feedparser decides: which of
// two elements wins, what is HTML, what a wrong namespace means. In a few places
// something is done that it does not do: items within items stay nested, an element
// that was not closed does not swallow those that follow, comments in markup are
// dropped with the rest of what is not for readers.
package feed
