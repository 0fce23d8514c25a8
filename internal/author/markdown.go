package author

import (
	"bytes"
	"html"
	"regexp"
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

// Preview returns c with its HTML as it would be published, and its length. The error is a
// fault.Invalid with the reason.
func (p *Posts) Preview(c Content) (Content, Measure, error) {
	if err := checkContent(&c); err != nil {
		return c, Measure{}, err
	}
	if err := renderContent(&c); err != nil {
		return c, Measure{}, err
	}
	return c, p.measure(&c), nil
}

// renderContent generates the HTML of a content and its nodes.
func renderContent(c *Content) error {
	rendered, err := renderSource(c.Source, c.Format)
	if err != nil {
		return err
	}
	c.HTML = rendered
	return renderNodes(c.Outline)
}

func renderNodes(nodes []Node) error {
	for i := range nodes {
		rendered, err := renderSource(nodes[i].Text, Markdown)
		if err != nil {
			return err
		}
		nodes[i].HTML = unwrapParagraph(rendered)
		if err := renderNodes(nodes[i].Nodes); err != nil {
			return err
		}
	}
	return nil
}

// unwrapParagraph removes the tags of a single paragraph.
func unwrapParagraph(s string) string {
	s = strings.TrimSpace(s)
	if in, ok := strings.CutPrefix(s, "<p>"); ok {
		if in, ok = strings.CutSuffix(in, "</p>"); ok && !strings.Contains(in, "<p>") {
			return in
		}
	}
	return s
}

// renderSource returns sanitized HTML of a source. Markdown that would need far more time or memory
// than its length is shown as plain text.
func renderSource(source string, f Format) (string, error) {
	if strings.TrimSpace(source) == "" {
		return "", nil
	}
	switch f {
	case HTML:
		return strings.TrimSpace(sanitize.HTML(source)), nil
	case Plain:
		return plainToHTML(source), nil
	}
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

var bareLink = regexp.MustCompile(`https?://[^\s<>"']+[^\s<>"'.,;:!?)\]}]`)

// plainToHTML returns text as HTML: empty lines separate paragraphs, and URLs become links.
func plainToHTML(text string) string {
	var b strings.Builder
	text = strings.ReplaceAll(text, "\r\n", "\n")
	for para := range strings.SplitSeq(text, "\n\n") {
		if para = strings.Trim(para, "\n"); strings.TrimSpace(para) == "" {
			continue
		}
		b.WriteString("<p>")
		from := 0
		for _, at := range bareLink.FindAllStringIndex(para, -1) {
			href := html.EscapeString(para[at[0]:at[1]])
			b.WriteString(escapeLines(para[from:at[0]]))
			b.WriteString(`<a href="` + href + `">` + href + `</a>`)
			from = at[1]
		}
		b.WriteString(escapeLines(para[from:]))
		b.WriteString("</p>\n")
	}
	return strings.TrimSpace(b.String())
}

func escapeLines(s string) string {
	return strings.ReplaceAll(html.EscapeString(s), "\n", "<br/>\n")
}
