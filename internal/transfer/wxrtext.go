package transfer

import (
	"html"
	"mime"
	"net/url"
	"path"
	"regexp"
	"strings"
)

var (
	blockComment = regexp.MustCompile(`(?s)<!--.*?-->`)
	caption      = regexp.MustCompile(`\[/?caption[^\]]*\]`)
	emptyLine    = regexp.MustCompile(`\n[ \t]*\n\s*`)
	startsBlock  = regexp.MustCompile(`(?i)^</?(address|article|aside|blockquote|dd|details|div|dl|dt|figcaption|figure|footer|form|h[1-6]|header|hr|iframe|li|main|nav|ol|p|pre|section|table|tbody|td|tfoot|th|thead|tr|ul|video|audio)\b`)
	paragraph    = regexp.MustCompile(`(?i)<p[\s>]`)
)

// paragraphs converts WordPress content to HTML. The content is either HTML with editor comments,
// or text in which empty lines separate paragraphs.
func paragraphs(s string) string {
	s = strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
	blocks := strings.Contains(s, "<!-- wp:")
	s = strings.TrimSpace(caption.ReplaceAllString(blockComment.ReplaceAllString(s, ""), ""))
	if blocks || paragraph.MatchString(s) || s == "" {
		return s
	}
	var b strings.Builder
	inPre := false
	for _, p := range emptyLine.Split(s, -1) {
		if p = strings.TrimSpace(p); p == "" {
			continue
		}
		low := strings.ToLower(p)
		switch {
		case inPre, startsBlock.MatchString(p):
			b.WriteString(p)
		default:
			b.WriteString("<p>" + strings.ReplaceAll(p, "\n", "<br>\n") + "</p>")
		}
		b.WriteString("\n\n")
		if open, end := strings.LastIndex(low, "<pre"), strings.LastIndex(low, "</pre"); open != end {
			inPre = open > end
		}
	}
	return strings.TrimSpace(b.String())
}

func unescape(s string) string { return strings.TrimSpace(html.UnescapeString(s)) }

// webURL returns s without surrounding white space if s is an http or https URL, otherwise "".
func webURL(s string) string {
	s = strings.TrimSpace(s)
	if u, err := url.Parse(s); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return ""
	}
	return s
}

// typeOf guesses a media type from the extension of a URL; "" if unknown.
func typeOf(at string) string {
	u, err := url.Parse(at)
	if err != nil {
		return ""
	}
	switch ext := strings.ToLower(path.Ext(u.Path)); ext {
	case ".mp3":
		return "audio/mpeg"
	case ".m4a":
		return "audio/mp4"
	case ".mp4", ".m4v":
		return "video/mp4"
	case ".webp":
		return "image/webp"
	default:
		kind, _, _ := strings.Cut(mime.TypeByExtension(ext), ";")
		return kind
	}
}
