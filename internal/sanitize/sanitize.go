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
// The tokens of the text are filtered and nested properly by rules of this package,
// which bound depth and size. The result goes through bluemonday, then through a
// parser that reads as browsers do; the tree is held against the same list once
// more, and written. Nothing of the text itself is copied: no comments, no CDATA,
// every "<" that is not one of our tags is escaped, also in attributes. When the
// outcome is not its own outcome after a few rounds, all markup is given up and the
// words remain.
//
// # How it is made quick
//
// Most texts have nothing to repair. A quick reader knows the few forms in which they
// come, of which every reader makes the same, and writes what would come of all that
// is said above; it applies the same list. It gives up at whatever it does not know.
// The same reader looks at what was nested properly: where that is ordinary now, the
// other checks would change nothing, and are spared.
package sanitize

import (
	"slices"
	"sync"
	"unicode/utf8"

	"github.com/microcosm-cc/bluemonday"
)

// Limits of one text. Nothing that people write comes near them.
const (
	longestText = 8 << 20 // bytes read and written; what follows is cut off
	deepest     = 200     // elements inside each other; tags beyond it are left out
	mostRounds  = 4
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
	o      Options
	policy *bluemonday.Policy

	longest int // bytes of a text and of what it becomes
	room    sync.Pool

	thorough bool // for tests: trust nothing that the quick reader says
}

// New makes a Sanitizer. This takes much longer than a text does: keep it.
func New(o Options) *Sanitizer { return &Sanitizer{o: o, policy: policy(), longest: longestText} }

// standard is made when it is first needed.
var standard = sync.OnceValue(func() *Sanitizer { return New(Options{}) })

// HTML gives the part of s that is safe to show, balanced, and well-formed as XML
// too. HTML(HTML(s)) is HTML(s). Text without markup comes back as it is.
func HTML(s string) string {
	if len(s) <= longestText && isPlain(s) {
		return s
	}
	return standard().HTML(s)
}

// buffer is room to write a text to.
type buffer struct{ b []byte }

// mostRoom is how large a buffer may be that is kept.
const mostRoom = 1 << 20

// borrow gives a buffer with room for n bytes. It goes back to where it is from.
func (z *Sanitizer) borrow(n int) *buffer {
	buf, ok := z.room.Get().(*buffer)
	if !ok {
		buf = new(buffer)
	}
	buf.b = slices.Grow(buf.b[:0], n)
	return buf
}

func (z *Sanitizer) giveBack(buf *buffer) {
	if cap(buf.b) <= mostRoom {
		z.room.Put(buf)
	}
}

// HTML is as the function of that name, by the options of z.
func (z *Sanitizer) HTML(s string) string {
	if len(s) <= z.longest && isPlain(s) {
		return s
	}
	if out, ok := z.quickly(s); ok {
		return out
	}
	return z.carefully(s)
}

// carefully is HTML for texts that anything may be in.
func (z *Sanitizer) carefully(s string) string {
	// What is cut must not become too long again: it would be cut again the next time.
	for most := z.longest; ; most /= 2 {
		s = cut(s, most)
		if out := z.settle(s); len(out) <= z.longest {
			return out
		}
	}
}

// settle cleans s until that changes nothing.
func (z *Sanitizer) settle(s string) string {
	for range mostRounds {
		clean := z.balance(s)
		if !z.thorough && z.isOrdinary(clean) {
			return clean // reading it again would change nothing
		}
		again, ok := z.reread(clean)
		if ok && again == clean {
			return clean
		}
		s = again
	}
	return string(appendText(nil, Text(s)))
}

// cut is s without what is beyond most bytes, and without half a character.
func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most]
}
