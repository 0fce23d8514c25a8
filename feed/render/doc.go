// Package render writes one neutral feed in every format that people and programs read.
//
// Start with [Append] and [Formats]:
//
//	doc, warnings, err := render.Append(nil, f, "rss20", &render.Options{Self: url})
//
// f is a [feed.Feed], read by package feed from any format or made by a program; it is
// never changed. Write does the same into an [io.Writer].
//
// # What comes out
//
// The same feed gives the same bytes, always. They are valid UTF-8, and valid in the
// format whatever the feed holds: titles that look like markup, ends of sections,
// characters that XML has no place for. What a format cannot hold is left out or
// written in the nearest way it has, with a [Warning] that says so; content is never an
// error.
//
// What a format can hold comes back when the document is read: by package feed, or by
// the interpreter of the language that it is written in.
//
// # What is not made up
//
// An item without a title has none, where the format does without. Where it does not,
// the first words of the item stand there, with a warning. Dates are those of the feed;
// nothing asks the clock.
//
// Atom asks for more: an ID and a date of every entry, and somebody who wrote it. An ID
// that is no address becomes a URN made of it, the same every time; a date that is
// missing is the nearest that is known, and 1970 where none is; the author is the
// publisher, or has the name of the feed. Each of these has a warning, whose Rule ends
// in "-made".
package render
