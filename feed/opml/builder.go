package opml

import (
	"fmt"
	"strconv"
	"strings"

	"cloudburst/internal/charset"
	"cloudburst/internal/scan"
)

// builder makes a document of the events of a scanner.
type builder struct {
	*scan.Reader
	d      Document
	lines  int // before it
	limits Limits

	prefix  string   // of the root's name
	space   string   // the root's default namespace, which counts as none
	loose   []string // prefixes without a declaration that were told
	steps   []step   // the open elements
	pending int      // problems from here on have no path yet
	offset  []int    // of those
	more    int      // problems that are not told

	stack    []Outline // open outlines, each behind those finished before it: see outline
	order    []field   // room for one outline
	last     string    // the order that was written down last
	outlines int       // so far
	unknown  int       // so far
	hasHead  bool
	hasBody  bool
	outside  bool  // an outline outside of the body was told
	words    words // in opml and body
	inHeads  words
	// Of a stream: what it goes to, what gives more of it, and why visit ended it.
	visit   func(folders []string, o *Outline) error
	source  func(size int) string
	piece   int // bytes to ask source for
	stopped error
	open    int // outlines that something else than their own end tag closed
	atEnd   int // those that the end of the document closed
}

// step is one of the open elements, for the paths of problems.
type step struct {
	name  string
	place int // among the outlines around it, from 1; 0 for other elements
	below int // outlines in it so far
}

// words collects text that stands where none belongs.
type words []string

func (w *words) add(s string) {
	if s = strings.Trim(s, " \t\r\n"); s != "" {
		*w = append(*w, s)
	}
}

// node makes one piece of it, or nothing.
func (w words) node(to []Node) []Node {
	if len(w) == 0 {
		return to
	}
	return append(to, Node{Text: strings.Join(w, " ")})
}

func newBuilder(text string, l Limits) *builder {
	b := &builder{limits: l}
	b.Reader = scan.New(text, scan.Options{Depth: l.Depth, Attributes: l.Attributes, Problem: b.scanned})
	return b
}

// scanned takes a problem of the scanner. An element that is just beginning belongs
// to its path, but is not open yet.
func (b *builder) scanned(kind string, offset int, message string) (more bool) {
	if !b.room() {
		return false
	}
	b.d.Problems = append(b.d.Problems, Problem{Kind: kind, Line: b.line(offset), Message: message})
	b.offset = append(b.offset, offset)
	return true
}

func (b *builder) line(offset int) int { return b.lines + b.Line(offset) }

// room counts a problem, and reports whether it is told.
func (b *builder) room() bool {
	if len(b.d.Problems) >= b.limits.Problems {
		b.more++
		return false
	}
	return true
}

// tell has a problem with the document as a whole, or with a place outside of it.
func (b *builder) report(kind string, line int, message string) {
	b.problemAt(place{line: line}, kind, message)
}

// problem has one with the open element.
func (b *builder) problem(kind, message string) {
	b.problemAt(b.here(), kind, message)
}

// problemf is problem with a message that is made only if it is told: a list may have
// the same mistake ten thousand times.
func (b *builder) problemf(kind, format string, args ...any) {
	if len(b.d.Problems) >= b.limits.Problems {
		b.more++
		return
	}
	b.problem(kind, fmt.Sprintf(format, args...))
}

// place is where a problem is.
type place struct {
	line int
	path string
}

// here is the open element, as long as anything is told.
func (b *builder) here() place {
	if len(b.d.Problems) >= b.limits.Problems {
		return place{}
	}
	return place{b.line(b.Offset()), b.path()}
}

// problemAt has one with an element that may have ended meanwhile.
func (b *builder) problemAt(at place, kind, message string) {
	if b.room() {
		b.settle()
		b.d.Problems = append(b.d.Problems, Problem{Kind: kind, Line: at.line, Path: at.path, Message: message})
		b.pending = len(b.d.Problems)
	}
}

// settle gives the scanner's problems their path.
func (b *builder) settle() {
	if b.pending == len(b.d.Problems) {
		return
	}
	path := b.path()
	for i := b.pending; i < len(b.d.Problems); i++ {
		b.d.Problems[i].Path = path
	}
	b.pending, b.offset = len(b.d.Problems), b.offset[:0]
}

// begun gives those that lie before the element that begins the path around it.
func (b *builder) begun() {
	path, i := b.path(), 0
	for i < len(b.offset) && b.offset[i] < b.Offset() {
		b.d.Problems[b.pending+i].Path = path
		i++
	}
	b.pending += i
	b.offset = b.offset[i:]
}

func (b *builder) path() string {
	var s []byte
	for i, step := range b.steps {
		if i > 0 {
			s = append(s, '/')
		}
		s = append(s, step.name...)
		if step.place > 0 {
			s = append(s, '[')
			s = strconv.AppendInt(s, int64(step.place), 10)
			s = append(s, ']')
		}
	}
	return string(s)
}

// next goes on, and keeps the steps.
func (b *builder) next() scan.Kind {
	b.readAhead()
	kind := b.Next()
	switch kind {
	case scan.Start:
		if len(b.offset) > 0 {
			b.begun()
		}
		place := 0
		if b.Local == "outline" {
			if n := len(b.steps); n > 0 {
				b.steps[n-1].below++
				place = b.steps[n-1].below
			}
		}
		b.steps = append(b.steps, step{name: b.Name, place: place})
		if len(b.offset) > 0 {
			b.settle()
		}
	case scan.End:
		if len(b.offset) > 0 {
			b.settle()
		}
		b.steps = b.steps[:len(b.steps)-1]
	default:
		if len(b.offset) > 0 {
			b.settle()
		}
	}
	return kind
}

// skip passes over the element that has begun.
func (b *builder) skip() {
	for depth := len(b.steps); len(b.steps) >= depth; {
		if b.next() == scan.EOF {
			return
		}
	}
}

// encoding takes over what the decoding found.
func (b *builder) encoding(in charset.Result) {
	for _, p := range in.Problems {
		b.report(p.Kind, p.Line, p.Message)
	}
}

// ours reports that the element has no namespace, or the root's.
func (b *builder) ours() bool {
	i := strings.IndexByte(b.Name, ':')
	return i < 0 || b.prefix != "" && b.Name[:i] == b.prefix
}

// mayBegin reports that an outline within its limit begins; else it is passed over.
func (b *builder) mayBegin() bool {
	if b.outlines++; b.outlines <= b.limits.Outlines {
		return true
	}
	if b.outlines == b.limits.Outlines+1 {
		b.problemf(ProblemLimit, "There are more than %d outlines; the rest is passed over.", b.limits.Outlines)
	}
	b.skip()
	return false
}

// mayKeep counts n pieces that have no field of their own.
func (b *builder) mayKeep(n int) bool {
	if b.visit != nil {
		return false // a stream keeps nothing that has no field
	}
	if b.unknown+n <= b.limits.Unknown {
		b.unknown += n
		return true
	}
	if b.unknown <= b.limits.Unknown {
		b.unknown = b.limits.Unknown + 1
		b.problemf(ProblemLimit, "There are more than %d elements and attributes that OPML does not have; the rest is left out.", b.limits.Unknown)
	}
	return false
}
