// Package render writes a neutral feed in every format that people and programs read.
//
// Start with [Append] and [Formats]:
//
//	doc, warnings, err := render.Append(nil, f, "rss20", &render.Options{Self: url})
//
// f is a [feed.Feed] that package feed parsed from any format, or that a program built. The
// writers never change it. [Write] does the same for an [io.Writer].
//
// # Output
//
// Output is deterministic: the same feed and options yield the same bytes. A document is
// always valid in its format, and valid UTF-8 unless the format is binary. This holds for any
// content of the feed: titles that look like markup, ends of CDATA sections, characters that
// XML forbids. If a format cannot represent a value, the writer omits the value or uses the
// nearest form, and returns a [Warning]. Content is never an error.
//
// Everything that a format can represent survives a round trip: package feed, or an
// interpreter of the document's language, reads the same values from it.
//
// # Required values
//
// The writers invent as little as possible. An item without a title stays without a title if
// the format allows that. Otherwise its first words become the title, with a warning. Dates
// come from the feed; the writers never read the clock.
//
// Atom requires more: an ID, a date and an author for every entry. An ID that is not a URI
// becomes a URN derived from it, which is the same every time. A missing date becomes the
// nearest known date, or the start of 1970 if none is known. A missing author becomes the
// publisher, or the title of the feed. Each of these has a warning whose Rule ends in "-made".
package render
