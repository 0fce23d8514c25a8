package sanitize

import "strings"

// collapse returns s with each run of white space replaced by one space and without surrounding
// white space.
func collapse(s string) string {
	if isTidy(s) {
		return s
	}
	w := wordWriter{out: make([]byte, 0, len(s))}
	w.add(s)
	return string(w.out)
}

// isTidy reports whether s has no white space except single spaces between words.
func isTidy(s string) bool {
	return s == "" || spaceAt(s, 0) == 0 && wordsEnd(s, 0, anyText) == len(s)
}

// These constants define where wordsEnd stops: anyText only at white space, beforeMarkup also at
// "<", "&" and NUL.
const (
	anyText      = 0
	beforeMarkup = highs
)

// wordsEnd returns the end of the longest part of s from i on whose words are separated by single
// spaces. stop is anyText or beforeMarkup.
func wordsEnd(s string, i int, stop uint64) int {
	for i < len(s) {
		for i+8 <= len(s) {
			w := word(s, i)
			spaces := ((w ^ ' '*ones) - ones) &^ (w ^ ' '*ones) & highs // this also matches some "!"
			angle, and := w^'<'*ones, w^'&'*ones
			markup := ((angle-ones)&^angle | (and-ones)&^and) & stop // this also matches some neighbours
			if ((w-0x20*ones)&^w|w)&highs|markup|spaces&(spaces<<8) != 0 || s[i] == ' ' && s[i-1] == ' ' {
				break
			}
			i += 8
		}
		for end := min(i+8, len(s)); i < end; i++ {
			switch wordClasses[s[i]] {
			case wordClass:
				continue
			case gapClass:
				if s[i-1] != ' ' {
					continue
				}
			case markupClass:
				if stop == anyText {
					continue
				}
			default:
				if spaceAt(s, i) == 0 {
					continue
				}
			}
			if s[i-1] == ' ' {
				i--
			}
			return i
		}
	}
	if s[i-1] == ' ' {
		i--
	}
	return i
}

// These are the classes of bytes in a text.
const (
	wordClass     = iota // the byte belongs to a word
	gapClass             // the byte is a space
	markupClass          // the byte is "<", "&" or NUL
	anySpaceClass        // the byte may begin another white space character
)

var wordClasses = makeWordClasses()

func makeWordClasses() (classes [256]uint8) {
	for _, c := range "<&\x00" {
		classes[c] = markupClass
	}
	for _, c := range "\t\n\v\f\r\u00c2\u00e1\u00e2\u00e3" {
		classes[c] = anySpaceClass
	}
	classes[' '] = gapClass
	return classes
}

// wordWriter collects text with one space between words.
type wordWriter struct {
	out []byte
	gap bool // white space follows the last written word
}

// add appends s with its white space collapsed.
func (w *wordWriter) add(s string) {
	for i := 0; i < len(s); {
		if n := spaceAt(s, i); n > 0 {
			w.gap = true
			i += n
			continue
		}
		end := wordsEnd(s, i, anyText)
		w.put(s[i:end])
		i = end
	}
}

// put appends words that are separated by single spaces.
func (w *wordWriter) put(s string) {
	if w.gap && len(w.out) > 0 {
		w.out = append(w.out, ' ')
	}
	w.gap = false
	w.out = append(w.out, s...)
}

// spaceAt returns the length of the white space character at i, 0 if there is none.
func spaceAt(s string, i int) int {
	switch c := s[i]; {
	case c > ' ' && c < 0xc2:
	case c == ' ' || '\t' <= c && c <= '\r':
		return 1
	case c == 0xc2:
		if i+1 < len(s) && (s[i+1] == 0x85 || s[i+1] == 0xa0) {
			return 2
		}
	case c >= 0xe1 && c <= 0xe3 && i+2 < len(s):
		switch s[i : i+3] {
		case "\u1680", "\u2000", "\u2001", "\u2002", "\u2003", "\u2004", "\u2005", "\u2006", "\u2007",
			"\u2008", "\u2009", "\u200a", "\u2028", "\u2029", "\u202f", "\u205f", "\u3000":
			return 3
		}
	}
	return 0
}

var textBuffers bufferPool

// fastText returns what slowText would return. ok is false if the tags of s are not ordinary.
func fastText(s string) (string, bool) {
	if len(s) > maxText || !isText(s) { // in invalid UTF-8, a tag could split a character
		return "", false
	}
	buf := textBuffers.get(len(s))
	defer textBuffers.put(buf)
	w := wordWriter{out: buf.b}
	for i := 0; i < len(s); {
		switch s[i] {
		case '&':
			is, n, ok := reference(s[i:], false)
			if !ok {
				return "", false
			}
			w.add(is)
			i += n
		case '<':
			n, isBreak := tagLength(s[i:])
			if n == 0 {
				return "", false
			}
			w.gap = w.gap || isBreak
			i += n
		case 0:
			return "", false
		default:
			if n := spaceAt(s, i); n > 0 {
				w.gap = true
				i += n
				break
			}
			end := wordsEnd(s, i, beforeMarkup)
			w.put(s[i:end])
			i = end
		}
	}
	return string(w.out), true
}

// tagLength returns the length of the tag or comment at the beginning of s. It returns 0 if parsers
// could interpret the tag differently, or if special rules apply to the text after the tag. isBreak
// reports whether the tag separates words.
func tagLength(s string) (n int, isBreak bool) {
	if strings.HasPrefix(s, "<!") {
		return commentLength(s), false
	}
	n = 1
	if strings.HasPrefix(s, "</") {
		n = 2
	}
	from := n
	for n < len(s) && ('a' <= s[n] && s[n] <= 'z' || from < n && '0' <= s[n] && s[n] <= '9') {
		n++
	}
	name := s[from:n]
	switch name {
	case "", "script", "style", "applet", "template", "title", "textarea", "iframe", "noembed", "noframes", "noscript", "xmp", "plaintext":
		return 0, false
	}
	if o := ordinaries.get(name); o != nil {
		isBreak = o.e.is(block|special) && name != "wbr"
	} else {
		isBreak = !isInline(name)
	}
	return tagEnd(s, n), isBreak
}

// tagEnd returns the end of the tag whose name ends at n, or 0 if the tag is not ordinary.
func tagEnd(s string, n int) int {
	for n < len(s) {
		switch s[n] {
		case '>':
			return n + 1
		case '/':
			if n+1 < len(s) && s[n+1] == '>' {
				return n + 2
			}
			return 0
		case ' ', '\n', '\t', '\r':
			n++
			continue
		}
		if !isSpace(s[n-1]) {
			return 0
		}
		if n = attributeEnd(s, n); n == 0 {
			return 0
		}
	}
	return 0
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

// attributeEnd returns the end of the attribute that begins at n, or 0 if the attribute is not
// ordinary.
func attributeEnd(s string, n int) int {
	from := n
	for n < len(s) && (isAlphanumeric(s[n]) || s[n] == '-' || s[n] == ':' || s[n] == '_' || s[n] == '.') {
		n++
	}
	if n == from || n+1 >= len(s) {
		return 0
	}
	if s[n] != '=' {
		return n
	}
	_, _, n = rawValue(s, n+1)
	return n
}
