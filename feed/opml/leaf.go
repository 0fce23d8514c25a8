package opml

import "strings"

// closeLeaves closes the subscriptions in doc that have no end tag, and returns the result and
// their number. If the document closes no outline at all, every outline is a leaf. It is called for
// documents that are known to be broken. It must distinguish a subscription that contains other
// outlines from a subscription whose end tag is missing.
func closeLeaves(doc string) (string, int) {
	all, folders := true, 0
	for tag := range tags(doc) {
		if tag.closed {
			all = false
		} else if !hasURL(doc[tag.begin:tag.end]) {
			folders++
		}
	}
	ends := strings.Count(doc, "</outline")
	all = all && ends == 0
	var b strings.Builder
	n, done := 0, 0
	for tag := range tags(doc) {
		if tag.closed || !all && !hasURL(doc[tag.begin:tag.end]) {
			continue
		}
		// An end tag directly after the start tag belongs to this outline, unless the folders need
		// all end tags.
		after := strings.TrimLeft(doc[tag.end:min(len(doc), tag.end+200)], " \t\r\n")
		if ends > folders && strings.HasPrefix(after, "</outline") {
			continue
		}
		b.WriteString(doc[done : tag.end-1])
		b.WriteByte('/')
		done = tag.end - 1
		n++
	}
	b.WriteString(doc[done:])
	return b.String(), n
}

// span is the position of a start tag. end is the offset after its >.
type span struct {
	begin, end int
	closed     bool // the tag has the form <outline …/>
}

// tags iterates over the start tags of outlines.
func tags(doc string) func(func(span) bool) {
	const opener = "<outline"
	return func(yield func(span) bool) {
		for at := 0; ; {
			i := strings.Index(doc[at:], opener)
			if i < 0 {
				return
			}
			begin := at + i
			end := tagEnd(doc, begin+len(opener))
			if doc[end-1] == '>' && !yield(span{begin, end, doc[end-2] == '/'}) {
				return
			}
			at = end
		}
	}
}

// tagEnd returns the offset after the > of a tag, ignoring quoted values. If the next tag or
// the end of the document comes first, it returns that offset.
func tagEnd(doc string, i int) int {
	for i < len(doc) {
		switch c := doc[i]; c {
		case '>':
			return i + 1
		case '<':
			return i
		case '"', '\'':
			// Skip a quote that has no counterpart.
			n := strings.IndexByte(doc[i+1:min(len(doc), i+1+longestValue)], c)
			if n >= 0 {
				i += n + 1
			}
		}
		i++
	}
	return i
}

// longestValue is the maximum distance to a closing quote, in bytes. Without this limit, a document
// with many single quotes would take very long.
const longestValue = 4096

func hasURL(tag string) bool {
	const name = "xmlurl"
	for i := 0; i+len(name) <= len(tag); i++ {
		if tag[i]|0x20 == 'x' && strings.EqualFold(tag[i:i+len(name)], name) {
			return true
		}
	}
	return false
}
