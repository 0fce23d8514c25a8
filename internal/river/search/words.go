package search

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
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
