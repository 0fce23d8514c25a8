package markup

import (
	"html"
	"regexp"
	"strconv"
	"strings"

	"cloudburst/internal/sanitize"
)

// ToMarkdown converts a text in the format f to Markdown that renders like the text. It returns a
// text without markup unchanged.
func ToMarkdown(text string, f Format) string {
	if text = strings.TrimSpace(text); f == Markdown || f == "" || hasNoMarkup(text) {
		return text
	}
	want, err := Render(text, f)
	if err != nil {
		return text
	}
	for _, s := range []string{text, anchor.ReplaceAllStringFunc(text, markdownLink)} {
		if got, err := Render(s, Markdown); err == nil && Unwrap(got) == Unwrap(want) {
			return s
		}
	}
	if f == Plain {
		text = html.EscapeString(strings.Join(strings.Fields(text), " "))
	}
	return escapeMarkdown(text)
}

var anchor = regexp.MustCompile(`<a href="([^"<>()\s]+)"(?: rel="[^"<>]*")?>([^<>\[\]]+)</a>`)

// markdownLink converts an HTML link to Markdown.
func markdownLink(tag string) string {
	m := anchor.FindStringSubmatch(tag)
	href := html.UnescapeString(m[1])
	if html.UnescapeString(m[2]) == href {
		return href
	}
	return "[" + m[2] + "](" + href + ")"
}

// hasNoMarkup reports whether a text contains no characters that have a meaning in Markdown.
func hasNoMarkup(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c|0x20 && c|0x20 <= 'z', c >= 0x80, i > 0 && (c == ' ' || c == ',' || c == '?' || c == '\''):
		default:
			return false
		}
	}
	return true
}

// startsBlock reports whether the character c begins a Markdown block if it follows the text
// before.
func startsBlock(before string, c byte) bool {
	if c == '.' || c == ')' {
		return before != "" && strings.Trim(before, "0123456789") == ""
	}
	return before == "" && strings.IndexByte("#+-=>", c) >= 0
}

// escapeMarkdown replaces the characters that have a meaning in Markdown with character references,
// except in HTML tags.
func escapeMarkdown(s string) string {
	var b strings.Builder
	for first := true; s != ""; first = false {
		if s[0] == '<' {
			n := sanitize.TagEnd(s)
			b.WriteString(s[:n])
			s = s[n:]
			continue
		}
		n := strings.IndexByte(s, '<')
		if n < 0 {
			n = len(s)
		}
		for i := range n {
			c := s[i]
			if strings.IndexByte("\\`*_[]~|:@", c) >= 0 || first && startsBlock(s[:i], c) || c == '.' && i > 2 && strings.EqualFold(s[i-3:i], "www") {
				b.WriteString("&#" + strconv.Itoa(int(c)) + ";")
				continue
			}
			b.WriteByte(c)
		}
		s = s[n:]
	}
	return b.String()
}
