package markup

import (
	"bytes"
	"strings"
	"sync"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	markdown "github.com/yuin/goldmark/renderer/html"
	reader "github.com/yuin/goldmark/text"

	"cloudburst/internal/fault"
	"cloudburst/internal/sanitize"
)

var markdownEngine = sync.OnceValue(func() goldmark.Markdown {
	return goldmark.New(
		goldmark.WithExtensions(extension.GFM),
		goldmark.WithParserOptions(parser.WithAutoHeadingID()),
		// HTML in Markdown is preserved; the result is sanitized afterwards.
		goldmark.WithRendererOptions(markdown.WithUnsafe()),
	)
})

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
