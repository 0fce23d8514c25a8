package scan

import "strings"

// lineCount counts lines up to an offset, going on from where it stopped.
type lineCount struct{ offset, line int }

// Line gives the line, from 1, of a byte offset. Offsets that come in order cost
// nothing twice.
func (r *Reader) Line(offset int) int {
	offset = min(max(offset-r.base, 0), len(r.doc))
	if offset < r.lines.offset {
		return r.baseLines + strings.Count(r.doc[:offset], "\n") + 1
	}
	r.lines.line += strings.Count(r.doc[r.lines.offset:offset], "\n")
	r.lines.offset = offset
	return r.lines.line + 1
}

// Left is how many bytes of the document are not read yet.
func (r *Reader) Left() int { return len(r.doc) - r.pos }
