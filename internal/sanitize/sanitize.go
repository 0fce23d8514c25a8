// Package sanitize makes untrusted HTML safe to show on a page.
//
// An allow list defines the output: elements that mark up text, tables, images, sound and video,
// and the parts of SVG and MathML that only draw. Everything else is removed. Scripts and styles
// are removed with their content; the content of other elements remains. The result is balanced, so
// it cannot close an element around it. Parsing the result in a browser does not change it, and
// neither does sanitizing it again.
//
// Start with HTML, or with New to set options, such as the rel of links. Text returns only the
// words.
//
// # Safety
//
// The builder filters the tokens of the text by one list and nests them by the rules of browsers,
// within limits of depth and size. It copies no comments and no CDATA, and it escapes every "<"
// that begins no tag of its own, also in attributes. The tests parse the output for each hostile
// and each random text with a parser that works like browsers, and with the builder again: neither
// changes a byte.
//
// # Performance
//
// Most texts need no repair. The fast path knows the few forms of ordinary markup, applies the same
// list, and writes what the builder would write. At an unknown construct the builder takes over,
// until the open elements are ordinary again.
package sanitize

import (
	"slices"
	"sync"

	"cloudburst/internal/text"
)

// These limits apply to one text. Real content is far smaller.
const (
	maxText  = 8 << 20 // maximum bytes of a text and of its output; the rest is cut
	maxDepth = 200     // maximum nesting of elements; deeper tags are dropped
)

// PageRel is the rel of links in the texts of other people on a page: search engines do not follow
// them, and the linked site learns nothing about the page.
const PageRel = "nofollow noopener noreferrer ugc"

// Options change what New allows. The zero value behaves like the function HTML.
type Options struct {
	// LinkRel is the rel of every link, such as [PageRel]. If LinkRel is empty, links keep the rel of
	// the author.
	LinkRel string
	// NoClasses drops class attributes, which could match the styles of a page.
	NoClasses bool
	// NoStyles drops style attributes, which are otherwise filtered, and the colours of HTML and MathML,
	// which can be unreadable on the background of a page.
	NoStyles bool
}

// Sanitizer makes HTML safe with one set of options. It is safe for concurrent use.
type Sanitizer struct {
	o Options

	longest int // maximum bytes of input and output
	buffers bufferPool
}

// New makes a Sanitizer. Reuse it, because it pools its buffers.
func New(o Options) *Sanitizer { return &Sanitizer{o: o, longest: maxText} }

// standard returns the Sanitizer with the default options. It is created on first use.
var standard = sync.OnceValue(func() *Sanitizer { return New(Options{}) })

// HTML returns the part of s that is safe to show, balanced, and well-formed as XML. HTML(HTML(s))
// equals HTML(s). Text without markup is returned unchanged.
func HTML(s string) string {
	if len(s) <= maxText && isPlain(s) {
		return s
	}
	return standard().HTML(s)
}

// buffer holds output while it is written.
type buffer struct{ b []byte }

// maxPooledBuffer is the maximum capacity, in bytes, of a buffer that is reused.
const maxPooledBuffer = 1 << 20

// bufferPool holds buffers for reuse. The zero value is empty.
type bufferPool struct{ pool sync.Pool }

// get returns an empty buffer with capacity for n bytes. Return it with put.
func (p *bufferPool) get(n int) *buffer {
	buf, ok := p.pool.Get().(*buffer)
	if !ok {
		buf = new(buffer)
	}
	buf.b = slices.Grow(buf.b[:0], n)
	return buf
}

func (p *bufferPool) put(buf *buffer) {
	if cap(buf.b) <= maxPooledBuffer {
		p.pool.Put(buf)
	}
}

// HTML is like the function HTML, with the options of z.
func (z *Sanitizer) HTML(s string) string {
	if len(s) <= z.longest && isPlain(s) {
		return s
	}
	if out, ok := z.mixedHTML(s); ok {
		return out
	}
	return z.slowHTML(s)
}

// slowHTML is like HTML for texts with any markup.
func (z *Sanitizer) slowHTML(s string) string {
	// The output for a cut text must also be within the limit. Otherwise the next call would cut
	// the output again.
	for limit := z.longest; ; limit /= 2 {
		s = text.Head(s, limit)
		if out := z.balance(s); len(out) <= z.longest {
			return out
		}
	}
}
