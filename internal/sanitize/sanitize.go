// Package sanitize makes HTML that strangers wrote safe to show on a page.
//
// What is allowed is a list: elements that mark text up, tables, pictures, sound
// and video, and the parts of SVG and MathML that only draw. Everything that is not
// on it goes. Scripts and styles go with their text, other elements leave theirs.
// The result is balanced, so that it cannot close an element that may hold markup, and it is what
// a browser makes of it: reading it again changes nothing.
//
// Begin with HTML, or with New where pages need links that say whom they trust;
// Text gives the words alone.
//
// # How it is made safe
//
// The builder filters the tokens of the text by one list and nests them by the rules of
// browsers, within bounds of depth and size. It copies nothing of the text itself: no
// comments, no CDATA, and it escapes every "<" that begins no tag of its own, also in
// attributes. The tests read the outcome of each hostile and each random text with a
// parser that reads as browsers do, and with the builder again: neither changes a byte.
//
// # How it is made quick
//
// Most texts have nothing to repair. A quick reader knows the few forms of ordinary
// markup, applies the same list, and writes what the builder would write. It gives up at
// the first construct that it does not know, and the builder takes over.
package sanitize

import (
	"slices"
	"sync"

	"cloudburst/internal/text"
)

// Limits of one text. Nothing that people write comes near them.
const (
	maxText  = 8 << 20 // bytes read and written; what follows is cut off
	maxDepth = 200     // elements inside each other; tags beyond it are left out
)

// Options change what New allows. The zero value is what HTML does.
type Options struct {
	// LinkRel is what the rel of every link becomes, such as "nofollow noopener
	// noreferrer ugc" on a page. Empty leaves the author's.
	LinkRel string
	// NoClasses drops class attributes, which could pick up the styles of a page.
	NoClasses bool
	// NoStyles drops style attributes, which are otherwise filtered.
	NoStyles bool
}

// Sanitizer makes HTML safe by one set of options. It is safe for concurrent use.
type Sanitizer struct {
	o Options

	longest int // bytes of a text and of its clean form
	buffers sync.Pool
}

// New makes a Sanitizer. Keep it: it reuses its buffers.
func New(o Options) *Sanitizer { return &Sanitizer{o: o, longest: maxText} }

// standard is made when it is first needed.
var standard = sync.OnceValue(func() *Sanitizer { return New(Options{}) })

// HTML gives the part of s that is safe to show, balanced, and well-formed as XML
// too. HTML(HTML(s)) is HTML(s). Text without markup comes back as it is.
func HTML(s string) string {
	if len(s) <= maxText && isPlain(s) {
		return s
	}
	return standard().HTML(s)
}

// buffer is room to write a text to.
type buffer struct{ b []byte }

// mostRoom is how large a buffer may be that is kept.
const maxPooledBuffer = 1 << 20

// borrow gives a buffer with room for n bytes. It goes back to where it is from.
func (z *Sanitizer) getBuffer(n int) *buffer {
	buf, ok := z.buffers.Get().(*buffer)
	if !ok {
		buf = new(buffer)
	}
	buf.b = slices.Grow(buf.b[:0], n)
	return buf
}

func (z *Sanitizer) putBuffer(buf *buffer) {
	if cap(buf.b) <= maxPooledBuffer {
		z.buffers.Put(buf)
	}
}

// HTML is as the function of that name, by the options of z.
func (z *Sanitizer) HTML(s string) string {
	if len(s) <= z.longest && isPlain(s) {
		return s
	}
	if out, ok := z.fastHTML(s); ok {
		return out
	}
	return z.slowHTML(s)
}

// carefully is HTML for texts that may hold any markup.
func (z *Sanitizer) slowHTML(s string) string {
	// The clean form of a text that was cut must fit too, or the next call would cut it again.
	for limit := z.longest; ; limit /= 2 {
		s = text.Head(s, limit)
		if out := z.balance(s); len(out) <= z.longest {
			return out
		}
	}
}
