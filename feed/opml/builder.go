package opml

import (
	"fmt"
	"strconv"
	"strings"

	"cloudburst/internal/charset"
	"cloudburst/internal/scan"
)

// builder makes a document from the events of a scanner.
type builder struct {
	*scan.Reader
	d      Document
	lines  int // number of lines before the text that the scanner reads
	limits Limits

	prefix           string   // prefix of the root's name
	space            string   // the root's default namespace, which counts as no namespace
	reportedPrefixes []string // undeclared prefixes that have been reported already
	steps            []step   // the open elements
	pending          int      // index of the first problem whose path is not set yet
	offset           []int    // byte offsets of the problems from index pending on
	unlisted         int      // number of problems beyond the limit

	stack           []Outline // open outlines, each followed by its finished children; see outline
	order           []field   // buffer for one outline
	last            string    // attribute order of the last outline that stored one, so that equal orders share memory
	outlines        int       // number of outlines so far
	unknown         int       // number of unknown nodes and attributes so far
	hasHead         bool
	hasBody         bool
	outsideReported bool      // an outline outside <body> is already reported
	stray           strayText // stray text in <opml> and <body>
	inHeads         strayText
	// Fields for a stream: visit is the callback, source returns more text, and stopped is the
	// callback's error.
	visit   func(folders []string, o *Outline) error
	source  func(size int) string
	piece   int // number of bytes to request from source at a time
	stopped error
	open    int // number of outlines without an end tag of their own
	atEnd   int // number of outlines that the end of the document closed
}

// step is one open element in the path of a problem.
type step struct {
	name  string
	index int // number among its sibling outlines, from 1; 0 for other elements
	below int // number of child outlines so far
}

// strayText collects text at places where OPML allows none.
type strayText []string

func (w *strayText) add(s string) {
	if s = strings.Trim(s, " \t\r\n"); s != "" {
		*w = append(*w, s)
	}
}

// node appends the collected text to a list of nodes as one text node, unless it is empty.
func (w strayText) node(to []Node) []Node {
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

// scanned records a problem of the scanner. If an element just begins, the problem's path includes
// this element, although it is not open yet.
func (b *builder) scanned(kind string, offset int, message string) (more bool) {
	if !b.admitProblem() {
		return false
	}
	b.d.Problems = append(b.d.Problems, Problem{Kind: kind, Line: b.line(offset), Message: message})
	b.offset = append(b.offset, offset)
	return true
}

func (b *builder) line(offset int) int { return b.lines + b.Line(offset) }

// admitProblem counts a problem. It returns false if the problem exceeds the limit and must not be
// listed.
func (b *builder) admitProblem() bool {
	if len(b.d.Problems) >= b.limits.Problems {
		b.unlisted++
		return false
	}
	return true
}

// addProblem records a problem of the whole document, or of a line outside the OPML.
func (b *builder) addProblem(kind string, line int, message string) {
	b.problemAt(location{line: line}, kind, message)
}

// problem records a problem of the open element.
func (b *builder) problem(kind, message string) {
	b.problemAt(b.here(), kind, message)
}

// problemf is like problem, but formats the message only if the problem is listed, because a list
// may repeat one mistake ten thousand times.
func (b *builder) problemf(kind, format string, args ...any) {
	if len(b.d.Problems) >= b.limits.Problems {
		b.unlisted++
		return
	}
	b.problem(kind, fmt.Sprintf(format, args...))
}

// location is the line and path of a problem.
type location struct {
	line int
	path string
}

// here returns the location of the open element, or the zero location once the limit of problems is
// reached.
func (b *builder) here() location {
	if len(b.d.Problems) >= b.limits.Problems {
		return location{}
	}
	return location{b.line(b.Offset()), b.path()}
}

// problemAt records a problem of an element that may have ended already.
func (b *builder) problemAt(at location, kind, message string) {
	if b.admitProblem() {
		b.settle()
		b.d.Problems = append(b.d.Problems, Problem{Kind: kind, Line: at.line, Path: at.path, Message: message})
		b.pending = len(b.d.Problems)
	}
}

// settle sets the paths of the scanner's problems.
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

// settleBefore sets the path of the enclosing element for the problems that precede the element
// that now begins.
func (b *builder) settleBefore() {
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
		if step.index > 0 {
			s = append(s, '[')
			s = strconv.AppendInt(s, int64(step.index), 10)
			s = append(s, ']')
		}
	}
	return string(s)
}

// next reads the next event and updates the open steps.
func (b *builder) next() scan.Kind {
	b.readAhead()
	kind := b.Next()
	switch kind {
	case scan.Start:
		if len(b.offset) > 0 {
			b.settleBefore()
		}
		place := 0
		if b.Local == "outline" {
			if n := len(b.steps); n > 0 {
				b.steps[n-1].below++
				place = b.steps[n-1].below
			}
		}
		b.steps = append(b.steps, step{name: b.Name, index: place})
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

// skip discards the element that has begun, with all its content.
func (b *builder) skip() {
	for depth := len(b.steps); len(b.steps) >= depth; {
		if b.next() == scan.EOF {
			return
		}
	}
}

// encoding records the encoding and the problems that the decoder found.
func (b *builder) encoding(in charset.Result) {
	for _, p := range in.Problems {
		b.addProblem(p.Kind, p.Line, p.Message)
	}
}

// inOPML reports whether the element has no namespace, or the namespace of the root.
func (b *builder) inOPML() bool {
	i := strings.IndexByte(b.Name, ':')
	return i < 0 || b.prefix != "" && b.Name[:i] == b.prefix
}

// mayBegin reports whether the limits allow another outline. If not, it skips the outline.
func (b *builder) mayBegin() bool {
	if b.outlines++; b.outlines <= b.limits.Outlines {
		return true
	}
	if b.outlines == b.limits.Outlines+1 {
		b.problemf(ProblemLimit, "There are more than %d outlines; the rest is skipped.", b.limits.Outlines)
	}
	b.skip()
	return false
}

// mayKeep counts n nodes or attributes that have no field. It returns false when they exceed
// the limit.
func (b *builder) mayKeep(n int) bool {
	if b.visit != nil {
		return false // a stream does not keep unknown nodes
	}
	if b.unknown+n <= b.limits.Unknown {
		b.unknown += n
		return true
	}
	if b.unknown <= b.limits.Unknown {
		b.unknown = b.limits.Unknown + 1
		b.problemf(ProblemLimit, "There are more than %d elements and attributes that OPML does not define; the rest is omitted.", b.limits.Unknown)
	}
	return false
}
