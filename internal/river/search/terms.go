package search

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"cloudburst/internal/fault"
)

// Term is one term of a search: a word, or consecutive words.
type Term struct {
	Words []string
	Open  bool // true if the last word may be a prefix
	Not   bool
}

// Terms parses the words of a search. "…" is a phrase, and -word excludes items with the word.
// If all terms have Not, the caller decides whether it accepts the search; see NoWords.
// fault.Invalid: there is no word.
func Terms(text string) ([]Term, error) {
	var terms []Term
	all := 0
	for text = strings.TrimLeftFunc(text, unicode.IsSpace); text != ""; text = strings.TrimLeftFunc(text, unicode.IsSpace) {
		var t Term
		if rest := strings.TrimPrefix(text, "-"); rest != text && rest != "" && !strings.HasPrefix(rest, "-") {
			text, t.Not = rest, true
		}
		var word string
		word, text, t.Open = cutTerm(text)
		alone := false
		Split(word, func(w string, one bool) bool {
			t.Words, alone = append(t.Words, w), one
			return len(t.Words) <= maxSought
		})
		if len(t.Words) == 0 {
			continue
		}
		t.Open = t.Open && !t.Not && strings.TrimSpace(text) == "" && !alone && utf8.RuneCountInString(t.Words[len(t.Words)-1]) >= minPrefix
		if all += len(t.Words); all > maxSought {
			return nil, fault.New(fault.Invalid, "A search can have at most %d words: remove some.", maxSought)
		}
		terms = append(terms, t)
	}
	if len(terms) == 0 {
		return nil, NoWords()
	}
	return terms, nil
}

// NoWords returns the error of a search without a word that items must contain.
func NoWords() error {
	return fault.New(fault.Invalid, "A search needs at least one word of letters or digits without a minus, or a term such as is:unread.")
}

// cutTerm cuts a word or a phrase off the start of a text.
func cutTerm(text string) (term, rest string, open bool) {
	if first, size := utf8.DecodeRuneInString(text); strings.ContainsRune(quotes, first) {
		text = text[size:]
		if end := strings.IndexAny(text, quotes); end >= 0 {
			_, size = utf8.DecodeRuneInString(text[end:])
			return text[:end], text[end+size:], false
		}
		return text, "", false
	}
	end := strings.IndexFunc(text, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(quotes, r) })
	if end < 0 {
		end = len(text)
	}
	return text[:end], text[end:], true
}
