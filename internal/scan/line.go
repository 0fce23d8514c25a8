package scan

import "strings"

// lineCount is a running count: line is the number of line ends before offset.
type lineCount struct{ offset, line int }

// Line returns the line, from 1, of a byte offset. Calls with ascending offsets are fastest.
func (r *Reader) Line(offset int) int {
	offset = min(max(offset-r.base, 0), len(r.doc))
	if offset < r.lines.offset {
		return r.baseLines + strings.Count(r.doc[:offset], "\n") + 1
	}
	r.lines.line += strings.Count(r.doc[r.lines.offset:offset], "\n")
	r.lines.offset = offset
	return r.lines.line + 1
}

// UnreadLen returns the number of unread bytes.
func (r *Reader) UnreadLen() int { return len(r.doc) - r.pos }
