// Package feedfile adds an item to a feed in a file and preserves everything else byte for byte:
// other content, comments, indentation and encoding. It only updates the build dates
// of the feed.
//
// It supports RSS of all versions, Atom and JSON Feed. Other files and broken files are rejected
// and not touched, because a file that cannot be parsed completely cannot be preserved completely.
//
// Start with [Add], which works on bytes, and [Write], which works on a file and locks it against
// concurrent writers.
package feedfile
