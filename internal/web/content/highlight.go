package content

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"cloudburst/internal/river/search"
)

// Highlight marks the words of a search in sanitized markup, with <mark>. It changes text only: tags,
// attributes, character references and drawings stay as they are. A phrase that is split by a tag is
// not marked.
func Highlight(markup string, terms []search.Term) string {
	wanted := make([]search.Term, 0, len(terms))
	for _, t := range terms {
		if !t.Not {
			wanted = append(wanted, t)
		}
	}
	if len(wanted) == 0 || markup == "" {
		return markup
	}
	var out strings.Builder
	out.Grow(len(markup) + 100)
	foreign := 0 // number of open <svg> and <math>
	for markup != "" {
		text, rest, tag := strings.Cut(markup, "<")
		if foreign == 0 {
			highlightText(&out, text, wanted)
		} else {
			out.WriteString(text)
		}
		if !tag {
			break
		}
		n := tagLength(rest)
		switch t := rest[:n]; {
		case strings.HasPrefix(t, "svg"), strings.HasPrefix(t, "math"):
			if !strings.HasSuffix(t, "/>") {
				foreign++
			}
		case strings.HasPrefix(t, "/svg"), strings.HasPrefix(t, "/math"):
			foreign--
		}
		out.WriteString("<" + rest[:n])
		markup = rest[n:]
	}
	return out.String()
}

// tagLength returns the number of bytes up to the end of a tag, without its "<".
func tagLength(s string) int {
	quoted := false
	for i := range len(s) {
		switch {
		case s[i] == '"':
			quoted = !quoted
		case s[i] == '>' && !quoted:
			return i + 1
		}
	}
	return len(s)
}

// foundWord is a word of a text in the form that the search compares.
type foundWord struct {
	word     string
	from, to int // byte range of the word in the text
}

// highlightText writes an escaped text with its found words marked.
func highlightText(out *strings.Builder, text string, terms []search.Term) {
	words, done := wordsOf(text), 0
	for i := 0; i < len(words); {
		n := 0
		for _, t := range terms {
			if matches(words[i:], t) {
				n = max(n, len(t.Words))
			}
		}
		if n == 0 {
			i++
			continue
		}
		last := words[i+n-1]
		out.WriteString(text[done:words[i].from] + "<mark>" + text[words[i].from:last.to] + "</mark>")
		done = last.to
		i += n
	}
	out.WriteString(text[done:])
}

// matches reports whether words begins with the words of a term.
func matches(words []foundWord, t search.Term) bool {
	if len(words) < len(t.Words) {
		return false
	}
	for i, want := range t.Words {
		got := words[i].word
		if got != want && !(t.Open && i == len(t.Words)-1 && strings.HasPrefix(got, want)) {
			return false
		}
	}
	return len(t.Words) > 0
}

// wordsOf returns the words of an escaped text with their byte ranges. A character reference separates
// words.
func wordsOf(text string) (all []foundWord) {
	from := -1
	end := func(to int) {
		if from < 0 {
			return
		}
		w := foundWord{from: from, to: to}
		n := 0
		search.Split(text[from:to], func(word string, _ bool) bool {
			w.word = word
			n++
			return n < 2
		})
		if n != 1 {
			w.word = "" // the search splits it into several words, whose positions in the text are unknown
		}
		all, from = append(all, w), -1
	}
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == '&':
			end(i)
			if semicolon := strings.IndexByte(text[i:], ';'); semicolon > 0 && semicolon < 12 {
				size = semicolon + 1
			}
		case search.IsAlone(r):
			end(i)
			from = i
			end(i + size)
		case unicode.IsLetter(r), unicode.IsNumber(r), from >= 0 && unicode.Is(unicode.Mn, r):
			if from < 0 {
				from = i
			}
		default:
			end(i)
		}
		i += size
	}
	end(len(text))
	return all
}
