package search

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"cloudburst/internal/fault"
)

const (
	maxWordLen = 64 // maximum size of a word in bytes; the rest of a longer word is ignored
	maxSought  = 64 // maximum number of words per search
	minPrefix  = 3  // minimum number of letters in a prefix; a shorter prefix would match half of all words

	firstAlone = 0x0e00 // first letter of Thai; all scripts without spaces between words start here or later
)

// Split calls word for each word of a text, in lowercase and without accents, until word returns
// false. In a script without spaces between words, each letter is a word with alone set. A search
// treats several such letters as a phrase.
func Split(text string, word func(w string, alone bool) bool) {
	var b []byte
	flush := func() bool {
		if len(b) == 0 {
			return true
		}
		w := string(b)
		b = b[:0]
		return word(w, false)
	}
	for _, r := range norm.NFKD.String(strings.ToValidUTF8(text, " ")) {
		switch {
		case r < utf8.RuneSelf: // ASCII is the most frequent case, so it has a fast path
			if 'A' <= r && r <= 'Z' {
				r += 'a' - 'A'
			}
			if 'a' <= r && r <= 'z' || '0' <= r && r <= '9' {
				if len(b) < maxWordLen {
					b = append(b, byte(r))
				}
			} else if !flush() {
				return
			}
		case unicode.Is(unicode.Mn, r):
		case IsAlone(r):
			if !flush() || !word(string(r), true) {
				return
			}
		case unicode.IsLetter(r), unicode.IsNumber(r):
			if r = unicode.ToLower(r); len(b)+utf8.RuneLen(r) <= maxWordLen {
				b = utf8.AppendRune(b, r)
			}
		default:
			if !flush() {
				return
			}
		}
	}
	flush()
}

// IsAlone reports whether a letter is a word of its own, because its script has no spaces between
// words.
func IsAlone(r rune) bool {
	return r >= firstAlone && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar) && unicode.IsLetter(r)
}

// Term is one term of a search: a word, or consecutive words.
type Term struct {
	Words []string
	Open  bool // true if the last word may be a prefix
	Not   bool
}

// Terms parses the words of a search. "…" is a phrase, and -word excludes items with the word.
// fault.Invalid: there is no word to search for.
func Terms(text string) ([]Term, error) {
	var terms []Term
	found, all := false, 0
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
		found = found || !t.Not
		if all += len(t.Words); all > maxSought {
			return nil, fault.New(fault.Invalid, "A search can have at most %d words: remove some.", maxSought)
		}
		terms = append(terms, t)
	}
	if !found {
		return nil, fault.New(fault.Invalid, "A search needs at least one word of letters or digits without a minus.")
	}
	return terms, nil
}

// cutTerm cuts a word or a phrase off the start of a text.
func cutTerm(text string) (term, rest string, open bool) {
	const quotes = "\"“”„«»"
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
