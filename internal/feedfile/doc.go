// Package feedfile adds a post to a feed that is a file, and leaves everything else in it
// as it is, byte for byte: what others put there, their comments, their indentation, the
// encoding. Only the dates that say when the feed was made are made anew.
//
// It knows RSS of all versions, Atom and JSON Feed. A file that is none of these, or is
// broken, is refused and not touched: what cannot be read whole cannot be kept whole.
//
// Start with [Add], which works on bytes, and [Write], which works on a file and lets two
// programs write to it at the same time.
package feedfile
