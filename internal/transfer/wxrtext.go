package transfer

import (
	"html"
	"mime"
	"net/url"
	"path"
	"regexp"
	"strings"
)

// blockTags are the elements that cannot be inside a paragraph.
const blockTags = `(address|article|aside|blockquote|dd|details|div|dl|dt|figcaption|figure|footer|form|h[1-6]|header|hr|iframe|li|main|nav|ol|p|pre|section|table|tbody|td|tfoot|th|thead|tr|ul|video|audio)`

var (
	blockComment = regexp.MustCompile(`(?s)<!--.*?-->`)
	caption      = regexp.MustCompile(`\[/?caption[^\]]*\]`)
	emptyLine    = regexp.MustCompile(`\n[ \t]*\n\s*`)
	startsBlock  = regexp.MustCompile(`(?i)^</?` + blockTags + `\b`)
	blockLine    = regexp.MustCompile(`(?i)\n[ \t]*</?` + blockTags + `\b`)
	endsBlock    = regexp.MustCompile(`(?i)</` + blockTags + `\s*>$`)
)

// paragraphs converts WordPress content to HTML. The content is either HTML with editor comments,
// or text in which empty lines separate paragraphs, with or without some HTML.
func paragraphs(s string) string {
	s = strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
	blocks := strings.Contains(s, "<!-- wp:")
	s = strings.TrimSpace(caption.ReplaceAllString(blockComment.ReplaceAllString(s, ""), ""))
	if blocks {
		return s
	}
	var b strings.Builder
	inPre := false
	for s != "" {
		chunk, gap, rest := s, "", ""
		if at := emptyLine.FindStringIndex(s); at != nil {
			chunk, gap, rest = s[:at[0]], s[at[0]:at[1]], s[at[1]:]
		}
		if inPre || startsBlock.MatchString(chunk) {
			b.WriteString(chunk)
		} else {
			b.WriteString(wrapText(chunk))
		}
		b.WriteString(gap)
		low := strings.ToLower(chunk)
		if open, end := strings.LastIndex(low, "<pre"), strings.LastIndex(low, "</pre"); open != end {
			inPre = open > end
		}
		s = rest
	}
	return b.String()
}

// wrapText makes the lines of s before the first line that begins with a block a paragraph. The
// paragraph has no end tag if its text ends the element that contains it.
func wrapText(s string) string {
	text, blocks := s, ""
	if at := blockLine.FindStringIndex(s); at != nil {
		text, blocks = s[:at[0]], s[at[0]:]
	}
	if text = strings.TrimSpace(text); text == "" {
		return blocks
	}
	end := "</p>"
	if endsBlock.MatchString(text) {
		end = ""
	}
	return "<p>" + strings.ReplaceAll(text, "\n", "<br>\n") + end + blocks
}

// oneLine returns s with single spaces instead of each run of white space.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

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
