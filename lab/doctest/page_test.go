package doctest

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	marktext "github.com/yuin/goldmark/text"
)

// page is a file of the documentation.
type page struct {
	name   string // docs/reference/protocols.md
	blocks []block
	spans  []block // code within sentences; of a block they have page, line and text
	links  []block // targets of links and images
	marks  map[string]bool
	text   string
}

// file returns the name without the folder.
func (p page) file() string { return filepath.Base(p.name) }

// block is a fenced block. Its first line states how the test handles it:
//
//	sh              it runs to its end, and must succeed; what it sets is set in the next
//	sh background   it runs until the guide is over
//	sh elsewhere    it cannot run here; function elsewhere has the reason
//	output          it is what the block before printed; … is anything
//	http            a request and its answer, which are sent: see exchange
//	python NAME     it is the file NAME, and runs as a program
//	go, text, xml NAME  it is the file NAME, which later blocks use
//	xml, json, toml it can be read as what it is
//
// Any other needs a line in held.
type block struct {
	page       string // README.md
	line       int
	kind, mode string
	text       string
}

// pages reads all of the documentation.
func pages(t *testing.T) []page {
	t.Helper()
	var names []string
	for _, pattern := range []string{"../../docs/*.md", "../../docs/*/*.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Fatal(found, err)
		}
		names = append(names, found...)
	}
	var all []page
	for _, name := range append(names, "../../README.md", "../../ARCHITECTURE.md", "../../CONTRIBUTING.md") {
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, readPage(t, strings.TrimPrefix(name, "../../"), source))
	}
	return all
}

func readPage(t *testing.T, name string, source []byte) page {
	t.Helper()
	p := page{name: name, marks: map[string]bool{}, text: string(source)}
	m := goldmark.New(goldmark.WithExtensions(extension.Table), goldmark.WithParserOptions(parser.WithAutoHeadingID()))
	at := func(offset int) int { return bytes.Count(source[:offset], []byte("\n")) + 1 }
	line := 0 // of the block of a span
	// The walker returns no error.
	_ = ast.Walk(m.Parser().Parse(marktext.NewReader(source)), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		if n.Type() == ast.TypeBlock && n.Lines().Len() > 0 {
			line = at(n.Lines().At(0).Start)
		}
		switch n := n.(type) {
		case *ast.FencedCodeBlock:
			b := block{page: p.file(), line: line - 1, text: string(n.Lines().Value(source))}
			if n.Info != nil {
				b.kind, b.mode, _ = strings.Cut(string(n.Info.Value(source)), " ")
			}
			p.blocks = append(p.blocks, b)
		case *ast.CodeBlock:
			t.Errorf("%s:%d: a block is indented; fence it and declare its kind", name, line)
		case *ast.CodeSpan:
			p.spans = append(p.spans, block{page: p.file(), line: line, text: spanText(n, source)})
		case *ast.Link:
			p.links = append(p.links, block{page: p.file(), line: line, text: string(n.Destination)})
		case *ast.Image:
			p.links = append(p.links, block{page: p.file(), line: line, text: string(n.Destination)})
		case *ast.Heading:
			if id, ok := n.AttributeString("id"); ok {
				p.marks[string(id.([]byte))] = true
			}
		}
		return ast.WalkContinue, nil
	})
	return p
}

func spanText(n *ast.CodeSpan, source []byte) string {
	var b strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if t, ok := c.(*ast.Text); ok {
			b.Write(t.Segment.Value(source))
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}
