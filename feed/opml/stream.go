package opml

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"cloudburst/internal/charset"
	"cloudburst/internal/scan"
)

const (
	streamPiece = 128 << 10 // number of bytes that a stream reads at a time; a tag may have half of this length
	maxWhole    = 8 << 20   // maximum bytes of a document that must be in memory as a whole
)

// Stream reads a document piece by piece, without holding it in memory. Create it with [Open].
type Stream struct {
	// Feeds is the number of subscriptions, counted in the way of [Document.Feeds].
	Feeds int

	r      io.ReadSeeker
	piece  int // number of bytes to read at a time
	limits Limits
	first  string // the first piece, from the beginning of the OPML on
	lines  int    // number of lines before first
	whole  bool   // first contains the whole document
	cut    bool   // the document exceeds the byte limit
	found  []Problem
	in     charset.Result // result of the decoding, without the text
}

// Open scans a document of any length once and prepares it for [Stream.Walk]. A document that
// is not in UTF-8, or whose outlines have no end tags, must be held in memory; of such a
// document only the first 8 MiB are read. Open returns the error of r, or a [*NotOPMLError].
func Open(r io.ReadSeeker, o *Options) (*Stream, error) {
	return openPieces(r, o, streamPiece)
}

func openPieces(r io.ReadSeeker, o *Options, piece int) (*Stream, error) {
	if o == nil {
		o = &Options{}
	}
	s := &Stream{r: r, piece: piece, limits: o.Limits.orDefaults()}
	plain, err := s.look(o.ContentType)
	if err != nil {
		return nil, err
	}
	if plain {
		if err := s.begin([]byte(s.first), s.first); err != nil {
			return nil, err
		}
		b, err := s.count()
		if err != nil {
			return nil, err
		}
		if !b.hasUnclosed() {
			return s, nil
		}
	}
	return s, s.readWhole(o.ContentType)
}

// hasUnclosed reports whether outlines lack end tags; the outlines after them would be read as
// their children.
func (b *builder) hasUnclosed() bool { return b.open > 0 || b.atEnd > 1 }

// look reads the first piece of the document. plain is true if the whole document is UTF-8
// that needs no repair.
func (s *Stream) look(contentType string) (plain bool, err error) {
	w, err := s.window()
	if err != nil {
		return false, err
	}
	for n := 0; ; n++ {
		text := w.next(s.piece)
		if n == 0 {
			s.in = charset.Decode([]byte(text), contentType)
			if s.first = s.in.Text; s.in.Name != "utf-8" || len(s.in.Problems) > 0 {
				return false, w.err
			}
			s.in.Text, contentType = "", "text/xml; charset=utf-8"
			continue
		}
		if text == "" {
			s.cut = w.cut
			return true, w.err
		}
		if in := charset.Decode([]byte(text), contentType); in.Name != "utf-8" || in.Text != text {
			return false, w.err
		}
	}
}

// readWhole reads the document into memory and repairs it.
func (s *Stream) readWhole(contentType string) error {
	if _, err := s.r.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("opml: the document cannot be read: %w", err)
	}
	limit := min(s.limits.Bytes, maxWhole)
	doc, err := io.ReadAll(io.LimitReader(s.r, int64(limit)+1))
	if err != nil {
		return fmt.Errorf("opml: the document cannot be read: %w", err)
	}
	if s.cut = len(doc) > limit; s.cut {
		doc = doc[:limit]
	}
	s.limits.Bytes, s.whole = limit, true
	s.in = charset.Decode(doc, contentType)
	text := s.in.Text
	s.in.Text, s.found = "", nil
	if err := s.begin(doc, text); err != nil {
		return err
	}
	b, err := s.count()
	if err == nil && b.hasUnclosed() {
		if closed, n := closeLeaves(s.first); n > 0 {
			s.found = append(s.found, unclosed(n))
			s.first = closed
			_, err = s.count()
		}
	}
	return err
}

// begin finds the beginning of the outline in text, which is doc after decoding.
func (s *Stream) begin(doc []byte, text string) error {
	from, skipped, err := root(doc, text)
	if err != nil {
		return err
	}
	s.first, s.lines = from, strings.Count(text[:skipped], "\n")
	if skipped > 0 {
		s.found = append(s.found, junk())
	}
	return nil
}

// count reads the document once to count its subscriptions.
func (s *Stream) count() (*builder, error) {
	s.Feeds = 0
	return s.read(func(_ []string, o *Outline) error {
		if o.FeedURL() != "" {
			s.Feeds++
		}
		return nil
	})
}

// Walk reads the document and calls visit with each subscription and each included list, in
// document order; see [Document.Feeds] and [Document.Includes]. folders contains the names of the
// enclosing folders, the outermost first. The outline that visit receives has no outlines below it
// and no unknown attributes or elements. The returned document has only its head and its problems.
// An error of visit stops the walk, and Walk returns it. You may call Walk again.
func (s *Stream) Walk(visit func(folders []string, o *Outline) error) (*Document, error) {
	b, err := s.read(visit)
	if err != nil {
		return nil, err
	}
	for _, p := range s.found {
		b.addProblem(p.Kind, p.Line, p.Message)
	}
	if s.cut {
		b.addProblem(ProblemLimit, 0, fmt.Sprintf("The document has more than %d bytes; the rest is not read.", s.limits.Bytes))
	}
	d := b.finish()
	d.Outlines, d.Encoding = nil, s.in.Name
	return d, nil
}

// read reads the document once from beginning to end.
func (s *Stream) read(visit func([]string, *Outline) error) (*builder, error) {
	b := newBuilder(s.first, s.limits)
	b.visit, b.lines = visit, s.lines
	b.encoding(s.in)
	if s.whole {
		b.read()
		return b, b.stopped
	}
	w, err := s.window()
	if err != nil {
		return nil, err
	}
	w.next(s.piece) // discard the first piece, which s.first contains already
	b.source, b.piece = w.next, s.piece
	b.read()
	if b.stopped != nil {
		return nil, b.stopped
	}
	return b, w.err
}

// window opens the document at its beginning.
func (s *Stream) window() (*window, error) {
	if _, err := s.r.Seek(0, io.SeekStart); err != nil {
		return nil, fmt.Errorf("opml: the document cannot be read: %w", err)
	}
	return &window{r: s.r, left: s.limits.Bytes}, nil
}

// window returns a document piece by piece. Each piece ends at a character boundary.
type window struct {
	r    io.Reader
	left int    // number of bytes that may still be read
	part []byte // the first bytes of an incomplete character
	cut  bool   // the document exceeds the byte limit
	err  error
}

// next returns the next piece, of about size bytes. It returns "" at the end and after an error.
func (w *window) next(size int) string {
	if w.err != nil {
		return ""
	}
	buf := make([]byte, len(w.part)+min(size, w.left))
	had := copy(buf, w.part)
	n, err := io.ReadFull(w.r, buf[had:])
	w.left -= n
	buf, w.part = buf[:had+n], nil
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		w.err = fmt.Errorf("opml: the document cannot be read: %w", err)
		return ""
	}
	end := len(buf)
	for back := 1; back < utf8.UTFMax && back <= len(buf) && err == nil; back++ {
		if c := buf[len(buf)-back]; utf8.RuneStart(c) {
			if !utf8.FullRune(buf[len(buf)-back:]) {
				end = len(buf) - back
			}
			break
		}
	}
	if w.left == 0 && err == nil {
		var more [1]byte
		n, _ := io.ReadFull(w.r, more[:])
		w.cut = w.cut || n > 0
		return string(buf[:end])
	}
	w.part = buf[end:]
	return string(buf[:end])
}

// readAhead keeps enough of a stream in memory for the next event.
func (b *builder) readAhead() {
	for size := b.piece; b.source != nil; size *= 2 { // double the size, so that a long comment is not copied many times
		rest, pending := b.Unread()
		if pending || len(rest) >= b.piece/2 && !open(rest) {
			return
		}
		text := b.source(size)
		if text == "" {
			b.source = nil
			return
		}
		b.Extend(text)
		for i := range b.steps {
			b.steps[i].name = strings.Clone(b.steps[i].name)
		}
	}
}

// open reports whether the text begins with an unfinished comment, declaration or processing
// instruction.
func open(text string) bool {
	for _, kind := range [...]struct{ begin, end string }{{"<!--", "-->"}, {"<![CDATA[", "]]>"}, {"<?", "?>"}} {
		if strings.HasPrefix(text, kind.begin) {
			return !strings.Contains(text, kind.end)
		}
	}
	return false
}

// maxWords is the maximum number of stray texts of a streamed outline that may become its name.
const maxWords = 20

// pass reads an outline of a stream. It calls visit as soon as the outline's name is known.
// Until the outline ends, only the data that its children need is kept.
func (b *builder) pass() {
	at, begin, depth := len(b.stack), b.Offset(), len(b.steps)
	b.stack = append(b.stack, Outline{})
	b.outlineAttrs(&b.stack[at])
	visited := b.stack[at].Text != ""
	if visited {
		b.hand(at, nil)
	}
	var text strayText
	for len(b.steps) >= depth {
		switch b.next() {
		case scan.Text:
			if !visited && len(text) < maxWords && !b.IsSpace() {
				text.add(b.Chars())
			}
		case scan.Start:
			switch ours := b.inOPML(); {
			case ours && b.Local == "outline":
				if !visited {
					visited = true
					b.hand(at, text)
				}
				o := &b.stack[at]
				*o = Outline{Text: strings.Clone(o.label()), IsComment: o.IsComment}
				b.outline()
			case ours && (b.Local == "body" || b.Local == "head"):
				b.child()
			default:
				b.skip()
			}
		}
	}
	b.ended(begin)
	if !visited {
		b.hand(at, text)
	}
	b.stack[at] = Outline{}
	b.stack = b.stack[:at]
}

// hand passes the outline at an index of the stack to visit. It skips an outline that is commented
// out, or that refers to neither a feed nor a list. text is the name of the outline if it has no
// other name.
func (b *builder) hand(at int, text strayText) {
	o := &b.stack[at]
	if o.Text == "" {
		o.Text = strings.Join(text, " ")
	}
	if b.stopped != nil || o.FeedURL() == "" && o.IncludeURL() == "" {
		return
	}
	var folders []string
	for i := range b.stack[:at+1] {
		if b.stack[i].IsComment {
			return
		}
		if i < at {
			folders = append(folders, b.stack[i].label())
		}
	}
	if b.stopped = b.visit(folders, o); b.stopped != nil {
		b.source = nil
		b.Stop()
	}
}
