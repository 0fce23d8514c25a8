package opml

import "strings"

// closeLeaves gives doc with the subscriptions closed that are not, and how many
// those are. Where not a single outline is closed, all are leaves. This is for
// documents that are known to be broken: a subscription with others in it is told
// from one that was not closed by nothing.
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
		// An end right behind it is its own, unless the folders need them all.
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

// span is where a start tag stands; end is behind its >.
type span struct {
	begin, end int
	closed     bool // <outline …/>
}

// tags finds the start tags of outlines.
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

// tagEnd gives the offset behind the > of a tag, passing over quoted values, or
// where the next tag or the document's end comes first.
func tagEnd(doc string, i int) int {
	for i < len(doc) {
		switch c := doc[i]; c {
		case '>':
			return i + 1
		case '<':
			return i
		case '"', '\'':
			// A quote without its other is passed over by itself.
			n := strings.IndexByte(doc[i+1:min(len(doc), i+1+longestValue)], c)
			if n >= 0 {
				i += n + 1
			}
		}
		i++
	}
	return i
}

// longestValue bounds looking for the end of a value, so that many quotes that
// never end cost no more than this each.
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
