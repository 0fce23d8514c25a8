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
	name   string // path, for example docs/reference/protocols.md
	blocks []block
	spans  []block // code spans in sentences; only page, line and text are set
	links  []block // targets of links and images; only page, line and text are set
	marks  map[string]bool
	text   string
}

// file returns the name of the file without its folder.
func (p page) file() string { return filepath.Base(p.name) }

// block is a fenced code block. The first line of the block states how the test handles it:
//
//	sh              run the commands to the end; variables are set for later blocks
//	sh background   run the commands until the end of the guide
//	sh elsewhere    do not run the commands; function elsewhere states the reason
//	output          the output of the previous block; … matches any text
//	http            send the request and check the response; see exchange
//	python NAME     write the file NAME and run it
//	go, text, xml NAME  write the file NAME for later blocks
//	xml, json, toml check that the data can be parsed
//
// Any other block needs an entry in function held.
type block struct {
	page       string // name of the file, for example README.md
	line       int
	kind, mode string
	text       string
}

// pages reads all pages of the documentation.
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
	line := 0 // line of the block that contains the current span
	// The error is always nil, because the walk function returns no error.
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
