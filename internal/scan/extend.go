package scan

import "strings"

// Extend appends text to the document and drops the part already read, so that a long document can
// be read in pieces. Offsets and lines still count from the beginning. Call it only while
// [Reader.Unread] reports no pending event, and only if the next token is complete in the document:
// the Reader repairs a token that is cut off as if it had no end.
func (r *Reader) Extend(text string) {
	drop := r.pos
	if r.lines.offset <= drop {
		r.lines.line += strings.Count(r.doc[r.lines.offset:drop], "\n")
		r.baseLines, r.lines.offset = r.lines.line, 0
	} else {
		r.baseLines = r.lines.line - strings.Count(r.doc[drop:r.lines.offset], "\n")
		r.lines.offset -= drop
	}
	r.doc = r.doc[drop:] + text
	r.base += drop
	r.pos, r.tok, r.quiet, r.inside = 0, r.tok-drop, r.quiet-drop, r.inside-drop
	r.absentFrom = [len(closers)]int{}
	r.cr = r.cr || strings.IndexByte(text, '\r') >= 0
	// Copy the names: they are substrings of the old document, and would keep the whole document in
	// memory.
	for i := range r.stack {
		r.stack[i].name, r.stack[i].lang = strings.Clone(r.stack[i].name), strings.Clone(r.stack[i].lang)
	}
	for i := range r.bindings {
		r.bindings[i].prefix, r.bindings[i].uri = strings.Clone(r.bindings[i].prefix), strings.Clone(r.bindings[i].uri)
	}
}

// Unread returns the unread part of the document. pending reports whether Next returns further
// events before it reads this part.
func (r *Reader) Unread() (rest string, pending bool) { return r.doc[r.pos:], r.empty || r.ends > 0 }

// From returns the document from an offset on; "" for an offset beyond the end or in the part that
// Extend dropped.
func (r *Reader) From(offset int) string {
	if offset -= r.base; offset < 0 || offset > len(r.doc) {
		return ""
	}
	return r.doc[offset:]
}

// Stop ends the document after the current event. Only the ends of open elements follow.
func (r *Reader) Stop() { r.doc = r.doc[:r.pos] }
