// Package markup renders what authors write: Markdown (CommonMark with the extensions of GitHub),
// HTML and plain text become sanitized HTML. Start with [Render]. [ToMarkdown] converts HTML and
// plain text to Markdown.
package markup

import (
	"html"
	"regexp"
	"strings"

	"cloudburst/internal/sanitize"
)

// Format is the format of a post's source.
type Format string

// Formats of a source. The zero value is Markdown.
const (
	Markdown Format = "markdown" // CommonMark with tables, strikethrough, task lists and bare links
	HTML     Format = "html"
	Plain    Format = "text" // plain text
)

// Unwrap removes the tags of the paragraph from HTML that is a single paragraph.
func Unwrap(s string) string {
	s = strings.TrimSpace(s)
	if in, ok := strings.CutPrefix(s, "<p>"); ok {
		if in, ok = strings.CutSuffix(in, "</p>"); ok && !strings.Contains(in, "<p>") {
			return in
		}
	}
	return s
}

// Render returns sanitized HTML of a source. Markdown beyond the limits of this package becomes
// plain text, because it would need too much time or memory.
func Render(source string, f Format) (string, error) {
	if strings.TrimSpace(source) == "" {
		return "", nil
	}
	switch f {
	case HTML:
		return strings.TrimSpace(sanitize.HTML(source)), nil
	case Plain:
		return plainToHTML(source), nil
	}
	return renderMarkdown(source)
}

// URL matches a URL in a text, without the punctuation after the URL.
var URL = regexp.MustCompile(`https?://[^\s<>"']+[^\s<>"'.,;:!?)\]}]`)

// plainToHTML converts plain text to HTML: empty lines separate paragraphs, and URLs become links.
func plainToHTML(text string) string {
	var b strings.Builder
	text = strings.ReplaceAll(text, "\r\n", "\n")
	for para := range strings.SplitSeq(text, "\n\n") {
		if para = strings.Trim(para, "\n"); strings.TrimSpace(para) == "" {
			continue
		}
		b.WriteString("<p>")
		from := 0
		for _, at := range URL.FindAllStringIndex(para, -1) {
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
