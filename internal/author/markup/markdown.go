package markup

import (
	"bytes"
	"strings"
	"sync"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	tasks "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	markdown "github.com/yuin/goldmark/renderer/html"
	reader "github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"cloudburst/internal/fault"
	"cloudburst/internal/sanitize"
)

var markdownEngine = sync.OnceValue(func() goldmark.Markdown {
	return goldmark.New(
		goldmark.WithExtensions(extension.Linkify, extension.Table, extension.Strikethrough),
		goldmark.WithParserOptions(parser.WithAutoHeadingID(), parser.WithInlineParsers(util.Prioritized(taskParser{extension.NewTaskCheckBoxParser()}, 0))),
		// HTML in Markdown is preserved; the result is sanitized afterwards.
		goldmark.WithRendererOptions(markdown.WithUnsafe(), renderer.WithNodeRenderers(util.Prioritized(taskBoxes{}, 100))),
	)
})

// taskParser reads the box of a task. White space must follow the box: "[x](https://x.com/)" is a link.
type taskParser struct{ parser.InlineParser }

// Parse implements parser.InlineParser.
func (p taskParser) Parse(parent ast.Node, block reader.Reader, pc parser.Context) ast.Node {
	line, _ := block.PeekLine()
	if after := len("[x]"); len(line) > after && !util.IsSpace(line[after]) {
		return nil
	}
	return p.InlineParser.Parse(parent, block, pc)
}

// taskBoxes renders the boxes of task lists as characters, because sanitized HTML has no form fields.
type taskBoxes struct{}

// RegisterFuncs implements renderer.NodeRenderer.
func (taskBoxes) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(tasks.KindTaskCheckBox, func(w util.BufWriter, _ []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
		box, ok := node.(*tasks.TaskCheckBox)
		if !ok || !entering {
			return ast.WalkContinue, nil
		}
		mark := "☐ "
		if box.IsChecked {
			mark = "☑ "
		}
		_, err := w.WriteString(mark)
		return ast.WalkContinue, err
	})
}

func renderMarkdown(source string) (string, error) {
	text := []byte(source)
	if !readable(text) {
		return plainToHTML(source), nil
	}
	doc := markdownEngine().Parser().Parse(reader.NewReader(text))
	if limit := maxLinkBytes + 16*len(text); linkBytes(doc, limit) > limit {
		return plainToHTML(source), nil
	}
	var b bytes.Buffer
	if err := markdownEngine().Renderer().Render(&b, text, doc); err != nil {
		return "", fault.Wrap(fault.Invalid, err, "The text cannot be read as Markdown.")
	}
	return strings.TrimSpace(sanitize.HTML(b.String())), nil
}
