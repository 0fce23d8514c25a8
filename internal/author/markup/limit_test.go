package markup

import (
	"strings"
	"testing"
)

// Short texts for which the parser would need seconds or gigabytes become plain text.
func TestHostileMarkdownIsShownAsPlainText(t *testing.T) {
	t.Parallel()
	const n = 100 << 10
	for name, source := range map[string]string{
		"quotes":            strings.Repeat(">", n) + "a",
		"quotes and spaces": strings.Repeat("> ", n/2) + "a",
		"lists":             strings.Repeat("- ", n/2) + "a",
		"numbers":           strings.Repeat("1. ", n/3) + "a",
		"quotes and lists":  strings.Repeat("> - ", n/4) + "a",
		"a wide table":      strings.Repeat("|a", 1000) + "|\n" + strings.Repeat("|-", 1000) + "|\n" + strings.Repeat("|\n", n/4),
		"a table in quotes": ">" + strings.Repeat("|a", 1000) + "|\n>" + strings.Repeat("|-", 1000) + "|\n" + strings.Repeat(">|\n", n/4),
		"a short table":     strings.Repeat("|a", 300) + "|\n" + strings.Repeat("|-", 300) + "|\n" + strings.Repeat("|\n", 300),
		"one long address":  "[a]: http://x/" + strings.Repeat("u", n/2) + "\n\n" + strings.Repeat("[a]", n/6),
		"links not ended":   strings.Repeat("[a](", n/4),
		"emphasis":          strings.Repeat("*a_b~~c", n/7),
		"brackets":          strings.Repeat("[", n/2) + strings.Repeat("]", n/2),
	} {
		got, err := Render(source, Markdown)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if want := plainToHTML(source); got != want {
			t.Errorf("%s: %.80q… instead of plain text", name, got)
		}
	}
}

func TestLongRealisticMarkdownIsParsed(t *testing.T) {
	t.Parallel()
	for name, source := range map[string]string{
		"a long list of links":   strings.Repeat("- [a page](https://example.com/page) and *more* of `it`\n", 4000),
		"a long table":           "| a | b | c |\n|---|---|---|\n" + strings.Repeat("| 1 | *2* | [3](https://example.com/) |\n", 5000),
		"many paragraphs":        strings.Repeat("Words, *more* words, **and** a [link](https://example.com/a_b) [or two](/x).\n\n", 3000),
		"a list in a list":       strings.Repeat("- a\n  - b\n    1. c\n       > d\n", 5000),
		"a block of code":        "```\n" + strings.Repeat("for (int i = 0; i < n; i++) { a[i] = *p_x; }\n", 4000) + "```\n",
		"a line across the page": strings.Repeat("- ", 40) + "\n\n" + strings.Repeat("* ", 60),
	} {
		if !readable([]byte(source)) {
			t.Errorf("%s (%d bytes) is not parsed as Markdown", name, len(source))
		}
	}
}
