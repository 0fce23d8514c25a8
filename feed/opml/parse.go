package opml

import (
	"fmt"
	"io"
	"strings"

	"cloudburst/internal/charset"
	"cloudburst/internal/scan"
)

// Options change how a document is parsed. The zero value, and nil, mean the defaults.
type Options struct {
	// ContentType is the Content-Type header of the HTTP response, which may declare the
	// charset; "" if unknown.
	ContentType string
	// Limits bound the document; zero fields mean the defaults.
	Limits Limits
}

// Limits bound the resources that one document may use. The parser omits content beyond a
// limit and records a problem that names the limit. Defaults are in brackets.
type Limits struct {
	Bytes      int // bytes of the document as received [16 MiB]; negative: no limit
	Outlines   int // number of outlines [100,000]; negative: no limit
	Depth      int // depth of nested elements [100]
	Attributes int // attributes of one element [256]
	Unknown    int // elements and attributes without a field [200,000]; negative: no limit
	Problems   int // problems that are listed; further problems are only counted [100]
}

const noLimit = int(^uint(0) >> 1)

func (l Limits) orDefaults() Limits {
	for _, v := range []struct {
		value    *int
		standard int
		endless  bool
	}{
		{&l.Bytes, 16 << 20, true}, {&l.Outlines, 100_000, true}, {&l.Depth, 100, false},
		{&l.Attributes, 256, false}, {&l.Unknown, 200_000, true}, {&l.Problems, 100, false},
	} {
		switch {
		case *v.value < 0 && v.endless:
			*v.value = noLimit
		case *v.value <= 0:
			*v.value = v.standard
		}
	}
	return l
}

// Parse reads a document. It returns the error of r, or a [*NotOPMLError] when the input is
// not OPML. All other defects are listed in [Document.Problems].
func Parse(r io.Reader, o *Options) (*Document, error) {
	var limits Limits
	if o != nil {
		limits = o.Limits
	}
	if limit := int64(limits.orDefaults().Bytes); limit < int64(noLimit) {
		r = io.LimitReader(r, limit+1)
	}
	doc, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("opml: the document cannot be read: %w", err)
	}
	return ParseBytes(doc, o)
}

// ParseBytes parses a document in memory. The result refers to doc: do not change doc
// afterwards.
func ParseBytes(doc []byte, o *Options) (*Document, error) {
	if o == nil {
		o = &Options{}
	}
	limits := o.Limits.orDefaults()
	cut := len(doc) > limits.Bytes
	if cut {
		doc = doc[:limits.Bytes]
	}
	in := charset.Decode(doc, o.ContentType)
	text, skipped, err := root(doc, in.Text)
	if err != nil {
		return nil, err
	}
	b := newBuilder(text, limits)
	b.lines = strings.Count(in.Text[:skipped], "\n")
	b.encoding(in)
	if skipped > 0 {
		p := junk()
		b.addProblem(p.Kind, p.Line, p.Message)
	}
	b.read()
	if b.hasUnclosed() {
		// Repair the document only now that it is completely known: elements after an unclosed tag
		// were read as its children.
		if repaired, n := closeLeaves(text); n > 0 {
			again := newBuilder(repaired, limits)
			again.lines = b.lines
			again.encoding(in)
			p := unclosed(n)
			again.addProblem(p.Kind, p.Line, p.Message)
			again.read()
			b = again
		}
	}
	if cut {
		b.addProblem(ProblemLimit, 0, fmt.Sprintf("The document has more than %d bytes; the rest is not read.", limits.Bytes))
	}
	d := b.finish()
	d.Encoding = in.Name
	return d, nil
}

func junk() Problem {
	return Problem{Kind: ProblemJunk, Line: 1, Message: "There is something else before <opml>; it is passed over."}
}

func unclosed(n int) Problem {
	return Problem{Kind: ProblemUnclosed, Message: fmt.Sprintf("Outlines without an end tag: %d; each is read as an empty element.", n)}
}

// farthest is the maximum number of bytes of other content before <opml>.
const farthest = 64 << 10

// root finds the beginning of the outline in text, which is doc after decoding.
func root(doc []byte, text string) (from string, skipped int, err error) {
	r := scan.New(text, scan.Options{Depth: 1})
	kind := r.Next()
	for kind != scan.Start && kind != scan.EOF {
		kind = r.Next()
	}
	if kind == scan.EOF {
		return "", 0, identify(doc, text)
	}
	switch r.Local {
	case "opml", "outline":
		return text, 0, nil
	case "body":
		if strings.Contains(text, "<outline") {
			return text, 0, nil
		}
		return "", 0, &NotOPMLError{Looks: "html"}
	case "html", "head":
		return "", 0, &NotOPMLError{Looks: "html"}
	case "rss", "feed", "rdf", "channel", "scriptingnews":
		return "", 0, &NotOPMLError{Looks: "feed", Detail: r.Name}
	}
	// Other output of a server may precede the document, such as a warning or a banner.
	head := text[:min(len(text), farthest)]
	for at := r.Offset(); ; at++ {
		i := strings.Index(head[at:], "<opml")
		if i < 0 {
			break
		}
		at += i
		if rest := text[at+len("<opml"):]; rest != "" && strings.IndexByte(" \t\r\n>", rest[0]) >= 0 {
			return text[at:], at, nil
		}
	}
	if looks := identify(doc, text); looks.Looks != "xml" {
		return "", 0, looks
	}
	return "", 0, &NotOPMLError{Looks: "xml", Detail: r.Name}
}
