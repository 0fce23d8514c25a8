package feedfile

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"strings"
	"time"
)

// Namespaces of formats, and limits of the scan.
const (
	nsRDF     = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
	nsRSS10   = "http://purl.org/rss/1.0/"
	nsRSS090  = "http://my.netscape.com/rdf/simple/0.9/"
	nsChannel = "http://channel.netscape.com/rdf/simple/0.9/"
	nsAtom    = "http://www.w3.org/2005/Atom"
	nsAtom03  = "http://purl.org/atom/ns#"
	nsDC      = "http://purl.org/dc/elements/1.1/"
	maxDepth  = 200
	maxTokens = 4 << 20
)

// span is a range of bytes: from the first byte to after the last.
type span struct{ start, end int }

// shape holds the offsets of an XML feed's parts.
type shape struct {
	format string // as named in package render
	space  string // namespace of its items
	// scope holds the prefixes in scope for items.
	scope map[string]string
	items []span
	// inner is the white space before the first child of the first item.
	inner string
	// last is the end of the container's last child, after which a first item is inserted; -1: no
	// child. contentStart and contentEnd bound the container's content.
	last, contentStart, contentEnd int
	lead                           string // white space before the last child
	dates                          []dated
	seq                            *list
	head                           int // after the start tag of the element that describes the feed; 0: empty element
}

// dated is the text of an element with the build date of the feed.
type dated struct {
	span
	layout string
}

// list is the table of contents of RSS 1.0.
type list struct {
	whole  span // the whole element
	inner  int  // after its start tag
	prefix string
	name   string // as written, with prefix
	empty  bool   // an empty-element tag
	items  []span
	lead   string // white space before the first item
}

// frame is an open element.
type frame struct {
	name       xml.Name
	raw        string // as written
	start      int
	inner      int
	scope      map[string]string
	children   int
	onlyText   bool
	empty      bool
	childLead  string
	childEnd   int
	firstInner string
}

// scanner scans a document once.
type scanner struct {
	dec   *xml.Decoder
	text  string
	stack []frame
	out   *shape
	root  xml.Name
	seen  bool // whether the container of items was found
}

// scanXML finds the parts of an XML feed. The error names what is broken, or what the document is
// instead.
func scanXML(t *document) (*shape, error) {
	s := &scanner{text: t.markup(), out: &shape{last: -1, contentStart: -1, contentEnd: -1}}
	s.dec = xml.NewDecoder(strings.NewReader(s.text))
	s.dec.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil }
	if strings.Contains(s.text, "<!DOCTYPE") {
		s.dec.Entity = xml.HTMLEntity // RSS 0.91 defines HTML entities
	}
	ended := false
	for range maxTokens {
		at := int(s.dec.InputOffset())
		tok, err := s.dec.Token()
		if errors.Is(err, io.EOF) {
			ended = true
			break
		}
		if err != nil {
			return nil, &Error{Msg: "the feed is broken and was not changed: " + syntaxMessage(err), Err: err}
		}
		switch tok := tok.(type) {
		case xml.StartElement:
			err = s.begin(tok, at)
		case xml.EndElement:
			s.end(at)
		case xml.CharData:
			if len(s.stack) == 0 && strings.TrimSpace(string(tok)) != "" {
				err = refuse("the feed is broken and was not changed: there is text outside of its markup")
			}
		}
		if err != nil {
			return nil, err
		}
	}
	switch {
	case !ended:
		return nil, refuse("the feed has too many elements")
	case s.root.Local == "":
		return nil, refuse("the file is not a feed: it contains no markup")
	case s.out.format == "" || s.out.contentEnd < 0:
		return nil, refuse("the file contains %s: only RSS, Atom and JSON Feed are supported", s.describe())
	}
	return s.out, nil
}

// syntaxMessage returns a shorter text of an XML decoder error.
func syntaxMessage(err error) string {
	if e, ok := errors.AsType[*xml.SyntaxError](err); ok {
		return fmt.Sprintf("in line %d, %s", e.Line, e.Msg)
	}
	return strings.TrimPrefix(err.Error(), "xml: ")
}

func (s *scanner) describe() string {
	if s.out.format != "" {
		return "a feed without a place for items"
	}
	return fmt.Sprintf("<%s>", s.root.Local)
}

// begin handles a start tag at an offset.
func (s *scanner) begin(el xml.StartElement, at int) error {
	if len(s.stack) >= maxDepth {
		return refuse("the feed is nested more than %d levels deep", maxDepth)
	}
	f := frame{name: el.Name, start: at, inner: int(s.dec.InputOffset()), onlyText: true}
	f.raw = rawName(s.text[at:f.inner])
	f.empty = strings.HasSuffix(s.text[at:f.inner], "/>")
	parent := map[string]string{}
	if n := len(s.stack); n > 0 {
		up := &s.stack[n-1]
		up.children++
		up.onlyText = false
		lead := spaceBefore(s.text, at)
		if up.children == 1 {
			up.firstInner = lead
		}
		up.childLead = lead
		parent = up.scope
	} else if s.root.Local != "" {
		return refuse("the feed is broken and was not changed: it has two root elements")
	}
	f.scope = withPrefixes(parent, el.Attr)
	if len(s.stack) == 0 {
		s.root = el.Name
		s.identify(el)
	}
	s.stack = append(s.stack, f)
	s.classify(el)
	return nil
}

func withPrefixes(parent map[string]string, attrs []xml.Attr) map[string]string {
	scope, own := parent, false
	for _, a := range attrs {
		prefix, is := "", a.Name.Space == "" && a.Name.Local == "xmlns"
		if a.Name.Space == "xmlns" {
			prefix, is = a.Name.Local, true
		}
		if !is {
			continue
		}
		if !own {
			scope, own = maps.Clone(parent), true
		}
		scope[prefix] = a.Value
	}
	return scope
}

// rawName returns the name in a start tag as written.
func rawName(tag string) string {
	tag = strings.TrimPrefix(tag, "<")
	if i := strings.IndexAny(tag, " \t\r\n/>"); i >= 0 {
		tag = tag[:i]
	}
	return tag
}

// spaceBefore returns the white space directly before an offset.
func spaceBefore(text string, at int) string {
	head := text[:at]
	return head[len(strings.TrimRight(head, " \t\r\n")):]
}

// identify derives the format from the root element.
func (s *scanner) identify(root xml.StartElement) {
	switch {
	case root.Name.Local == "rss":
		s.out.format = "rss20"
		for _, a := range root.Attr {
			if a.Name.Local == "version" && a.Name.Space == "" {
				switch v := strings.TrimSpace(a.Value); v {
				case "0.91", "0.92", "0.93", "0.94":
					s.out.format = "rss0" + v[2:]
				}
			}
		}
	case root.Name == xml.Name{Space: nsRDF, Local: "RDF"}:
		s.out.format = "rdf"
	case root.Name == xml.Name{Space: nsAtom, Local: "feed"}:
		s.out.format = "atom"
	case root.Name == xml.Name{Space: nsAtom03, Local: "feed"}:
		s.out.format = "atom03"
	}
}

// container reports whether items belong into the open element at this depth.
func (s *scanner) container(depth int) bool {
	switch s.out.format {
	case "":
		return false
	case "rdf", "rss090", "atom", "atom03":
		return depth == 1
	}
	return depth == 2 && s.stack[1].name.Local == "channel"
}

// classify records the meaning of the innermost open element.
func (s *scanner) classify(el xml.StartElement) {
	depth := len(s.stack)
	isRDF := s.out.format == "rdf" || s.out.format == "rss090"
	if isRDF && depth == 2 && el.Name.Local == "channel" && s.out.space == "" {
		s.out.space = el.Name.Space
		if f := s.stack[1]; !f.empty {
			s.out.head = f.inner
		}
		switch el.Name.Space {
		case nsRSS090, nsChannel:
			s.out.format = "rss090"
		case nsRSS10:
		default:
			s.out.format = ""
		}
	}
	if s.container(depth) && !s.seen {
		s.seen = true
		f := &s.stack[depth-1]
		s.out.scope, s.out.contentStart = f.scope, f.inner
		if !isRDF {
			s.out.space, s.out.head = f.name.Space, f.inner
		}
	}
	if isRDF && depth == 4 && s.stack[1].name.Local == "channel" && s.stack[2].name.Local == "items" &&
		(el.Name == xml.Name{Space: nsRDF, Local: "Seq"}) && s.out.seq == nil {
		f := s.stack[3]
		prefix, _, _ := strings.Cut(f.raw, ":")
		s.out.seq = &list{inner: f.inner, prefix: prefix, name: f.raw, empty: f.empty}
	}
}

// end handles the end of the innermost element; at is the offset of its end tag.
func (s *scanner) end(at int) {
	depth := len(s.stack)
	f := s.stack[depth-1]
	whole := span{f.start, int(s.dec.InputOffset())}
	isContainer := s.container(depth) && s.isContainer(f)
	s.stack = s.stack[:depth-1]
	switch {
	case isContainer && s.out.contentEnd < 0:
		if !f.empty {
			s.out.contentEnd = at
		}
		s.out.last, s.out.lead = f.childEnd, f.childLead
		if f.children == 0 {
			s.out.last = -1
		}
	case depth > 1 && s.container(depth-1) && s.isContainer(s.stack[depth-2]):
		s.child(f, whole, at)
	case depth == 3 && s.out.format == "rdf" && s.stack[1].name.Local == "channel":
		s.date(f, at)
	case depth == 4 && s.out.seq != nil && f.inner == s.out.seq.inner:
		s.out.seq.whole = whole
	case depth == 5 && s.out.seq != nil && f.name.Space == nsRDF && f.name.Local == "li" && s.stack[3].inner == s.out.seq.inner:
		if len(s.out.seq.items) == 0 {
			s.out.seq.lead = spaceBefore(s.text, f.start)
		}
		s.out.seq.items = append(s.out.seq.items, whole)
	}
	if depth > 1 {
		s.stack[depth-2].childEnd = whole.end
	}
}

// isContainer reports the first container, if there are several.
func (s *scanner) isContainer(f frame) bool { return f.inner == s.out.contentStart }

// child handles a child of the container.
func (s *scanner) child(f frame, whole span, at int) {
	isItem := f.name.Local == "item" && f.name.Space == s.out.space
	switch s.out.format {
	case "atom", "atom03":
		isItem = f.name.Local == "entry" && f.name.Space == s.out.space
	}
	if isItem {
		if len(s.out.items) == 0 {
			s.out.inner = f.firstInner
		}
		s.out.items = append(s.out.items, whole)
		return
	}
	s.date(f, at)
}

// date records an element with the build date of the feed.
func (s *scanner) date(f frame, at int) {
	layout := ""
	switch n := f.name; {
	case n.Space == nsDC && n.Local == "date", n.Space == nsAtom && n.Local == "updated", n.Space == nsAtom03 && n.Local == "modified":
		layout = time.RFC3339
	case n.Space == s.out.space && (n.Local == "lastBuildDate" || n.Local == "pubDate") && strings.HasPrefix(s.out.format, "rss"):
		layout = time.RFC1123
	}
	if layout != "" && f.onlyText && !f.empty && !strings.Contains(s.text[f.inner:at], "<") {
		s.out.dates = append(s.out.dates, dated{span{f.inner, at}, layout})
	}
}
